"""What components Discord takes, where, and how long.

https://docs.discord.com/developers/components/reference
"""

from tests.standins.discord.wire import Json, objects, one, walk, wrong

ROW, BUTTON, INPUT, SECTION, DISPLAY, THUMBNAIL = 1, 2, 4, 9, 10, 11
GALLERY, FILE, SEPARATOR, CONTAINER, LABEL = 12, 13, 14, 17, 18
SELECTS = frozenset({3, 5, 6, 7, 8})
LINK, PREMIUM = 5, 6
IN_CONTAINER = frozenset({ROW, SECTION, DISPLAY, GALLERY, FILE, SEPARATOR})
TOP = IN_CONTAINER | {CONTAINER}
LENGTHS = (("custom_id", 1, 100), ("label", 0, 80), ("url", 1, 512), ("placeholder", 0, 150))


def check_rows(components: list[Json]) -> None:
    """Refuse what does not go below a message of words: anything but five rows."""
    if len(components) > 5:
        raise wrong("components", "Must be 5 or fewer in length.")
    for number, each in enumerate(components):
        if each.get("type") != ROW:
            raise wrong(f"components.{number}.type", "Value of field must be one of (1,).")
        _row(each, f"components.{number}")
    _ids(components)


def check_v2(components: list[Json], files: list[str]) -> None:
    """Refuse what does not make up a message of components."""
    if sum("type" in each for each in walk(components)) > 40:
        raise wrong("components", "The total number of components must be 40 or fewer.")
    for number, each in enumerate(components):
        if each.get("type") not in TOP:
            raise wrong(
                f"components.{number}.type", f"Value of field must be one of {sorted(TOP)}."
            )
        _one(each, f"components.{number}", files)
    displays = [str(e.get("content")) for e in walk(components) if e.get("type") == DISPLAY]
    if sum(map(len, displays)) > 4000:
        raise wrong("components", "The total length of displayable text must be 4000 or fewer.")
    _ids(components)


def _one(component: Json, at: str, files: list[str]) -> None:
    match component.get("type"):
        case 1:
            _row(component, at)
        case 9:
            _section(component, at, files)
        case 10:
            _long(component, "content", at, 1, 4000)
        case 13:
            _file(component, at, files)
        case 17:
            _container(component, at, files)
        case _:
            _small(component, at)


def _small(component: Json, at: str) -> None:
    if component["type"] == GALLERY and not 1 <= len(objects(component.get("items"))) <= 10:
        raise wrong(f"{at}.items", "Must be between 1 and 10 in length.")
    if component["type"] == SEPARATOR and component.get("spacing", 1) not in (1, 2):
        raise wrong(f"{at}.spacing", "Value of field must be one of (1, 2).")


def _container(component: Json, at: str, files: list[str]) -> None:
    inner = objects(component.get("components"))
    if not inner:
        raise wrong(f"{at}.components", "This field is required")
    color = component.get("accent_color")
    if color is not None and not 0 <= int(color) <= 0xFFFFFF:
        raise wrong(f"{at}.accent_color", "Must be between 0 and 16777215.")
    for number, each in enumerate(inner):
        where = f"{at}.components.{number}"
        if each.get("type") not in IN_CONTAINER:
            raise wrong(f"{where}.type", f"Value of field must be one of {sorted(IN_CONTAINER)}.")
        _one(each, where, files)


def _section(component: Json, at: str, files: list[str]) -> None:
    inner, accessory = objects(component.get("components")), one(component.get("accessory"))
    if not 1 <= len(inner) <= 3:
        raise wrong(f"{at}.components", "Must be between 1 and 3 in length.")
    for number, each in enumerate(inner):
        if each.get("type") != DISPLAY:
            raise wrong(f"{at}.components.{number}.type", "Value of field must be one of (10,).")
        _one(each, f"{at}.components.{number}", files)
    if accessory.get("type") == BUTTON:
        _button(accessory, f"{at}.accessory")
    elif accessory.get("type") != THUMBNAIL:
        raise wrong(f"{at}.accessory", "This field is required")


def _file(component: Json, at: str, files: list[str]) -> None:
    url = str(one(component.get("file")).get("url", ""))
    if not url.startswith("attachment://") or url.removeprefix("attachment://") not in files:
        raise wrong(f"{at}.file.url", "The referenced attachment was not found.")


def _row(row: Json, at: str) -> None:
    inner = objects(row.get("components"))
    kinds = {each.get("type") for each in inner}
    if not 1 <= len(inner) <= (5 if kinds == {BUTTON} else 1):
        raise wrong(f"{at}.components", "Must be between 1 and 5 in length.")
    for number, each in enumerate(inner):
        where = f"{at}.components.{number}"
        if each.get("type") == BUTTON:
            _button(each, where)
        elif each.get("type") in SELECTS:
            _lengths(each, where)
        else:
            raise wrong(f"{where}.type", "Value of field is not one that can stand here.")


def _button(button: Json, at: str) -> None:
    _lengths(button, at)
    style, has_id, has_url = button.get("style"), "custom_id" in button, bool(button.get("url"))
    if style not in range(1, 7):
        raise wrong(f"{at}.style", "Value of field must be one of (1, 2, 3, 4, 5, 6).")
    if style == LINK and (has_id or not has_url):
        raise wrong(at, "A link button has a url and no custom_id.")
    if style not in (LINK, PREMIUM) and (has_url or not has_id):
        raise wrong(f"{at}.custom_id", "A custom id is required")
    if style != PREMIUM and not (button.get("label") or button.get("emoji")):
        raise wrong(f"{at}.label", "Either a label or an emoji is required")


def check_modal(modal: Json) -> None:
    """Refuse a form that Discord does not show."""
    _long(modal, "title", "data", 1, 45)
    _long(modal, "custom_id", "data", 1, 100)
    parts = objects(modal.get("components"))
    if not 1 <= len(parts) <= 5:
        raise wrong("data.components", "Must be between 1 and 5 in length.")
    for number, part in enumerate(parts):
        _part(part, f"data.components.{number}")
    _ids(parts)


def _part(part: Json, at: str) -> None:
    match part.get("type"):
        case 1:
            inner = objects(part.get("components"))
            if [each.get("type") for each in inner] != [INPUT]:
                raise wrong(f"{at}.components", "A row of a form has one text input.")
            _long(inner[0], "label", f"{at}.components.0", 1, 45)
            _input(inner[0], f"{at}.components.0")
        case 10:
            _long(part, "content", at, 1, 4000)
        case 18:
            _long(part, "label", at, 1, 45)
            if part.get("description"):
                _long(part, "description", at, 1, 100)
            _input(one(part.get("component")), f"{at}.component")
        case _:
            raise wrong(f"{at}.type", "Value of field is not one that can stand here.")


def _input(given: Json, at: str) -> None:
    _long(given, "custom_id", at, 1, 100)
    if given.get("type") in SELECTS:
        _select(given, at)
    if given.get("type") != INPUT:
        return
    if given.get("style") not in (1, 2):
        raise wrong(f"{at}.style", "Value of field must be one of (1, 2).")
    for key, most in (("placeholder", 100), ("value", 4000)):
        if given.get(key) is not None:
            _long(given, key, at, 0, most)
    if not 0 <= int(given.get("min_length") or 0) <= int(given.get("max_length") or 4000) <= 4000:
        raise wrong(f"{at}.max_length", "Must be between 1 and 4000.")


def _select(given: Json, at: str) -> None:
    options = objects(given.get("options"))
    if given["type"] == 3 and not 1 <= len(options) <= 25:
        raise wrong(f"{at}.options", "Must be between 1 and 25 in length.")
    for number, each in enumerate(options):
        for key in ("label", "value"):
            _long(each, key, f"{at}.options.{number}", 1, 100)
    if sum(bool(each.get("default")) for each in options) > int(given.get("max_values", 1)):
        raise wrong(f"{at}.options", "Too many options are the default.")


def _lengths(component: Json, at: str) -> None:
    for key, least, most in LENGTHS:
        if component.get(key) is not None:
            _long(component, key, at, least, most)


def _long(given: Json, key: str, at: str, least: int, most: int) -> None:
    value = given.get(key)
    if not isinstance(value, str) or not least <= len(value) <= most:
        raise wrong(f"{at}.{key}", f"Must be between {least} and {most} in length.")


def _ids(components: list[Json]) -> None:
    ids = [str(each["custom_id"]) for each in walk(components) if "custom_id" in each]
    if len(set(ids)) < len(ids):
        raise wrong("components", "Component custom id cannot be duplicated")

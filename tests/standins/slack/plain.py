"""What a person reads in a message: rich text as plain lines, and the buttons."""

from tests.standins.slack.wire import Json, objects, unescaped, walk

INLINE = {
    "text": ("text", "", ""),
    "user": ("user_id", "<@", ">"),
    "usergroup": ("usergroup_id", "<!subteam^", ">"),
    "broadcast": ("range", "<!", ">"),
    "channel": ("channel_id", "<#", ">"),
    "emoji": ("name", ":", ":"),
}
"""What is shown of an element, and what stands around it."""


def text_of(message: Json) -> str:
    """Return all that a message shows, without its buttons."""
    blocks = objects(message.get("blocks"))
    if not blocks:
        return unescaped(str(message.get("markdown_text") or message.get("text") or ""))
    return "\n".join(line for block in blocks for line in _block(block))


def buttons_of(message: Json) -> list[Json]:
    """Return the buttons in the order in which they stand, each with the `block_id` around it."""
    return [
        {**element, "block_id": block.get("block_id")}
        for block in objects(message.get("blocks"))
        for element in walk(block)
        if element.get("type") == "button"
    ]


def pressed(message: Json, what: str) -> Json:
    """Return the one button that is meant: by its label, its `action_id` or the verb in that."""
    buttons = buttons_of(message)
    for name in (label, _id, _rest, _verb):
        found = [each for each in buttons if name(each) == what]
        if len(found) == 1:
            return found[0]
    there = [(label(each), each["action_id"]) for each in buttons]
    raise AssertionError(f"no one button is {what!r}; there are {there}")


def label(button: Json) -> str:
    """Return what stands on a button."""
    return str(button["text"]["text"])


def _id(button: Json) -> str:
    return str(button["action_id"])


def _rest(button: Json) -> str:
    return _id(button).partition(":")[2]


def _verb(button: Json) -> str:
    return _rest(button).partition(":")[0]


def _block(block: Json) -> list[str]:
    """Return the lines of a block: of its label, its text, its fields, its elements."""
    if block.get("type") == "rich_text":
        return [line for part in objects(block["elements"]) for line in _part(part)]
    if block.get("type") == "markdown":
        return [str(block["text"])]
    if block.get("type") == "context":
        return [" ".join(_said(each) for each in objects(block["elements"]))]
    texts = [block[key] for key in ("label", "text") if key in block]
    return [_said(each) for each in [*texts, *objects(block.get("fields"))]]


def _said(text: Json) -> str:
    found = str(text["text"])
    return unescaped(found) if text["type"] == "mrkdwn" else found


def _part(part: Json) -> list[str]:
    match part["type"]:
        case "rich_text_list":
            deep, ordered = "  " * int(part.get("indent", 0)), part["style"] == "ordered"
            first = 1 + int(part.get("offset", 0))
            return [
                f"{deep}{f'{first + number}.' if ordered else '•'} {_line(item)}"
                for number, item in enumerate(objects(part["elements"]))
            ]
        case "rich_text_quote":
            return [f"> {line}" for line in _line(part).split("\n")]
        case _:
            return [_line(part)]


def _line(part: Json) -> str:
    return "".join(_inline(element) for element in objects(part["elements"]))


def _inline(element: Json) -> str:
    if element["type"] == "link":
        return str(element.get("text") or element["url"])
    if element["type"] == "date":
        return str(element.get("fallback") or element["timestamp"])
    key, before, after = INLINE[element["type"]]
    return f"{before}{element[key]}{after}"

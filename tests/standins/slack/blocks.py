"""What Slack accepts as the blocks of a message or a view."""

from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

from tests.standins.slack import rich_text
from tests.standins.slack.elements import button, label, longer, text
from tests.standins.slack.wire import Json, SlackSays, objects, walk

Wrong: TypeAlias = Iterator[str]
MARKDOWN, ALL_TEXT, ID = 12_000, 13_200, 255
KEYS = {
    "section": {"text", "fields", "accessory", "expand"},
    "header": {"text", "level"},
    "actions": {"elements"},
    "context": {"elements"},
    "divider": set[str](),
    "rich_text": {"elements"},
    "markdown": {"text"},
    "input": {"label", "element", "hint", "optional", "dispatch_action"},
}


def complete(blocks: list[Json]) -> None:
    """Give every block and button an id that has none, as Slack does."""
    for number, block in enumerate(blocks):
        block.setdefault("block_id", f"made{number}")
        for place, element in enumerate(objects(block.get("elements"))):
            if element.get("type") == "button":
                element.setdefault("action_id", f"made{place}")


def checked(blocks: object, *, most: int, allowed: set[str], error: str) -> list[Json]:
    """Return the blocks where Slack takes them; raise what it says otherwise."""
    found = objects(blocks)
    if not isinstance(blocks, list) or len(found) != len(cast("list[object]", blocks)):
        raise SlackSays("invalid_blocks_format")
    problems = [*_together(found, most), *_each(found, allowed)]
    if problems:
        raise SlackSays(error, *problems)
    complete(found)
    return found


def short(blocks: list[Json]) -> list[Json]:
    """Return the blocks of a message; raise where they are too long together."""
    texts = [each["text"] for each in walk(blocks) if isinstance(each.get("text"), str)]
    if sum(map(len, texts)) > ALL_TEXT:
        raise SlackSays("msg_blocks_too_long")
    return blocks


def _together(blocks: list[Json], most: int) -> Wrong:
    if len(blocks) > most:
        yield f"no more than {most} items allowed [json-pointer:/blocks]"
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    if len(set(ids)) < len(ids):
        yield "`block_id` already exists [json-pointer:/blocks]"
    markdown = sum(len(str(each.get("text"))) for each in blocks if each.get("type") == "markdown")
    if markdown > MARKDOWN:
        yield f"must be less than {MARKDOWN + 1} characters [json-pointer:/blocks]"


def _each(blocks: list[Json], allowed: set[str]) -> Wrong:
    for number, block in enumerate(blocks):
        kind, at = str(block.get("type")), f"/blocks/{number}"
        if kind not in allowed:
            yield f"unsupported type: {kind} [json-pointer:{at}/type]"
            continue
        for key in block.keys() - KEYS[kind] - {"type", "block_id"}:
            yield f"invalid additional property: {key} [json-pointer:{at}]"
        yield from longer(block.get("block_id"), ID, f"{at}/block_id")
        yield from RULES[kind](block, at)
        yield from _same_action(block, at)


def _same_action(block: Json, at: str) -> Wrong:
    ids = [each["action_id"] for each in walk(block) if each.get("action_id")]
    if len(set(ids)) < len(ids):
        yield f"`action_id` already exists [json-pointer:{at}]"


def _section(block: Json, at: str) -> Wrong:
    fields = objects(block.get("fields"))
    if not block.get("text") and not fields:
        yield f"must define either `text` or `fields` [json-pointer:{at}]"
    if block.get("text"):
        yield from text(block["text"], 3000, f"{at}/text")
    if len(fields) > 10:
        yield f"no more than 10 items allowed [json-pointer:{at}/fields]"
    for number, each in enumerate(fields):
        yield from text(each, 2000, f"{at}/fields/{number}")
    if block.get("accessory"):
        yield from button(block["accessory"], f"{at}/accessory")


def _header(block: Json, at: str) -> Wrong:
    yield from label(block.get("text"), 150, f"{at}/text")


def _actions(block: Json, at: str) -> Wrong:
    elements = objects(block.get("elements"))
    if not 1 <= len(elements) <= 25:
        yield f"must have 1 to 25 items [json-pointer:{at}/elements]"
    for number, each in enumerate(elements):
        yield from button(each, f"{at}/elements/{number}")


def _context(block: Json, at: str) -> Wrong:
    elements = objects(block.get("elements"))
    if not 1 <= len(elements) <= 10:
        yield f"must have 1 to 10 items [json-pointer:{at}/elements]"
    for number, each in enumerate(elements):
        yield from text(each, 3000, f"{at}/elements/{number}")


def _markdown(block: Json, at: str) -> Wrong:
    if not block.get("text"):
        yield f"missing required field: text [json-pointer:{at}]"


def _input(block: Json, at: str) -> Wrong:
    yield from label(block.get("label"), 2000, f"{at}/label")
    if block.get("hint"):
        yield from label(block["hint"], 2000, f"{at}/hint")
    element = block.get("element")
    if not isinstance(element, dict):
        yield f"missing required field: element [json-pointer:{at}]"
    else:
        yield from longer(cast("Json", element).get("action_id"), ID, f"{at}/element/action_id")


def _divider(_block: Json, _at: str) -> Wrong:
    yield from ()


RULES: dict[str, Callable[[Json, str], Wrong]] = {
    "section": _section,
    "header": _header,
    "actions": _actions,
    "context": _context,
    "divider": _divider,
    "rich_text": rich_text.wrong,
    "markdown": _markdown,
    "input": _input,
}
IN_MESSAGES = set(RULES) - {"input"}
IN_VIEWS = set(RULES) - {"markdown"}

"""The one command grammar: a word, then arguments by place, by name or as flags.

Whatever could be read in two ways is refused, and no sentence repeats a value that somebody typed.
"""

import re
import shlex
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias, get_args, get_origin

from core.canonical import LARGEST_INTEGER, Json, JsonObject, encode
from core.display import one_line
from core.errors import Incorrect, Invalid
from core.tools import Tool, Toolbox
from core.transcript import ToolCall

BUILT_IN = frozenset(
    {"approve", "ask", "break-glass", "deny", "handover", "help", "lift", "pause", "resume", "stop"}
)
"""Words that mean something by themselves; no tool may be called like them."""

_LONGEST = 12_000
_WORD = r"""(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*+")++"""
_LINE = re.compile(rf"(?:\s*+{_WORD})*+\s*+")

Argument: TypeAlias = tuple[str | None, str]
"""A name, or None where the place decides, and the text of the value."""

_Spelling: TypeAlias = tuple[re.Pattern[str], Callable[[str], Json], str, str]
_SPELLINGS: dict[object, _Spelling] = {
    str: (re.compile(r"(?s:.*)"), str, "TEXT", "text"),
    int: (re.compile(r"-?0*[0-9]{1,16}"), int, "INTEGER", "a whole number in digits, such as 5"),
    float: (
        re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?"),
        float,
        "NUMBER",
        "a decimal number in digits, such as 0.5",
    ),
    bool: (re.compile("true|false"), "true".__eq__, "true|false", "true or false"),
}


def is_stop(text: str) -> bool:
    """Whether a whole message is the word by which somebody stops a thread; "stop the deploy" is not."""
    return text.strip().casefold() in {"stop", "!stop", "/stop"}


def after_mark(text: str) -> str | None:
    """Return what follows the `!` of a command; None where the text does not begin like one."""
    return text[1:] if re.match(r"![A-Za-z]", text) else None


def parse(text: str, toolbox: Toolbox) -> ToolCall | None:
    """Read `WORD arguments`; None where no tool has that name, `Incorrect` where it is misused."""
    word, rest = [*text[:_LONGEST].split(maxsplit=1), "", ""][:2]
    tool = next((tool for tool in toolbox if tool.name == word), None)
    if tool is None:
        return None
    if len(text) > _LONGEST or len(text.strip().splitlines()) > 1:
        raise _wrong(tool, f"a command is one line of at most {_LONGEST} characters")
    if not _LINE.fullmatch(rest):
        raise _wrong(tool, "a quote is not closed, or nothing follows a backslash")
    given = [_argument(tool, raw) for raw in re.findall(_WORD, rest)]
    return ToolCall(id="call_1", tool=tool.name, arguments=_bind(tool, given))


def assigned(text: str) -> tuple[tuple[str, str], ...] | None:
    """Return the names and values that `NAME=VALUE …` spells; None where it is anything else.

    Quotes keep blanks in a value, as in a command.
    """
    if len(text) > _LONGEST or len(text.splitlines()) > 1 or not _LINE.fullmatch(text):
        return None
    words: list[str] = re.findall(_WORD, text)
    if not all(map(is_assigned, words)):
        return None
    return tuple((name, _unquoted(value)) for name, _, value in (w.partition("=") for w in words))


def is_assigned(text: str) -> bool:
    """Whether a text is a name that an argument can have, and behind a `=` its value."""
    name, equals, _ = text.partition("=")
    return bool(equals) and text[0] != "-" and name.replace("-", "_").isidentifier()


def typed(tool: Tool, name: str, text: str) -> Json:
    """Return the value that a text spells for a parameter; raise `Incorrect` where it spells none."""
    closed = choices(tool, name)
    if closed:
        if text not in closed:
            raise _wrong(tool, f"it must be exactly one of {', '.join(closed)}", name)
        return closed[text]
    pattern, convert, _, expected = _spelling(tool, name)
    value = convert(text) if pattern.fullmatch(text) else None
    if value is None or (isinstance(value, int) and abs(value) > LARGEST_INTEGER):
        raise _wrong(tool, f"it must be {expected}", name)
    return value


def choices(tool: Tool, name: str) -> dict[str, Json]:
    """Return the closed choices of a parameter by their spelling; none where it is open."""
    kind = kind_of(tool, name)
    values: tuple[Json, ...] = get_args(kind) if get_origin(kind) is Literal else ()
    return {_spelt(value): value for value in values}


def choices_of(tool: Tool, name: str) -> tuple[str, ...]:
    """Return every way to spell a value where those are few, yes and no among them; else none."""
    return ("true", "false") if kind_of(tool, name) is bool else tuple(choices(tool, name))


def expected(tool: Tool, name: str) -> str:
    """Return what has to be typed for an open parameter."""
    return _spelling(tool, name)[3]


def kind_of(tool: Tool, name: str) -> object:
    """Return the declared type of a parameter, which may be a `Literal`."""
    fields = tool.parameters.model_fields.items()
    return next((f.annotation for key, f in fields if (f.alias or key) == name), None)


def usage(tool: Tool) -> str:
    """Return how the command is written, `restart-web env=staging|prod`."""
    return one_line(" ".join([tool.name, *(_usage(tool, name) for name in tool.names)]))


def check(toolbox: Toolbox) -> None:
    """Raise `Invalid` for a tool that cannot be a command; call this once, at the start."""
    words = Counter(tool.name for tool in toolbox)
    for tool in toolbox:
        if tool.name in BUILT_IN:
            raise Invalid(f"`{tool.name}` is a word of Sayso's own. Rename that runbook.")
        if words[tool.name] > 1:
            raise Invalid(f"Two tools have the command word `{tool.name}`. Rename one of them.")
        for name in tool.names:
            _check_parameter(tool, name)


def _check_parameter(tool: Tool, name: str) -> None:
    kind = kind_of(tool, name)
    if get_origin(kind) is not Literal and kind not in _SPELLINGS:
        raise Invalid(f"{tool.name}: `{name}` is of a type that nobody can type. Give it another.")
    if len(choices(tool, name)) != len(get_args(kind)):
        raise Invalid(f"{tool.name}: two choices of `{name}` are spelt alike. Remove one of them.")


def _argument(tool: Tool, raw: str) -> Argument:
    """Tell place, name and flag apart before any quote is taken away: quoted text is a value."""
    flag = raw.startswith("--")
    name, equals, value = raw.removeprefix("--").partition("=")
    if not flag and not (equals and name.replace("-", "_").isidentifier()):
        return None, _unquoted(raw)
    if name not in tool.names:
        shown = f" `{name}`" if re.fullmatch(r"[!-~]{1,40}", name) and "`" not in name else " that"
        raise _wrong(tool, f"there is no argument{shown}; a value with a = goes in quotes")
    if not equals and kind_of(tool, name) is not bool:
        raise _wrong(tool, f"it needs a value, as in {name}=VALUE", name)
    return name, _unquoted(value) if equals else "true"


def _bind(tool: Tool, given: Sequence[Argument]) -> JsonObject:
    """Names first; then the words without a name, in declared order, for what is left."""
    found: dict[str, Json] = {}
    for name, text in given:
        if name in found:
            raise _wrong(tool, "it stands there twice", name)
        if name is not None:
            found[name] = typed(tool, name, text)
    left = [name for name in tool.names if name not in found]
    pairs = zip(left, _by_place(tool, given, left), strict=False)
    return found | {name: typed(tool, name, text) for name, text in pairs}


def _by_place(tool: Tool, given: Sequence[Argument], left: Sequence[str]) -> list[str]:
    """Return the words without a name; a text declared last takes the rest of the line."""
    places = [n for n, (name, _) in enumerate(given) if name is None]
    words = [given[n][1] for n in places]
    if len(words) <= len(left):
        return words
    rest = bool(left) and left[-1] == tool.names[-1] and kind_of(tool, left[-1]) is str
    if not rest or any(name for name, _ in given[places[len(left) - 1] :]):
        raise _wrong(tool, "there are more words than arguments; names and flags go before text")
    return [*words[: len(left) - 1], " ".join(words[len(left) - 1 :])]


def _unquoted(raw: str) -> str:
    return "".join(shlex.split(raw))


def _spelt(value: Json) -> str:
    return value if isinstance(value, str) else encode(value)


def _spelling(tool: Tool, name: str) -> _Spelling:
    found = _SPELLINGS.get(kind_of(tool, name))
    if found is None:
        raise _wrong(tool, "there is no such argument, or nobody can type its value")
    return found


def _usage(tool: Tool, name: str) -> str:
    closed = "|".join(shlex.quote(choice) for choice in choices(tool, name))
    shown = f"{name}={closed or _spelling(tool, name)[2]}"
    return f"[{shown}]" if name in tool.defaults else shown


def _wrong(tool: Tool, problem: str, name: str | None = None) -> Incorrect:
    where = f"`{name}`: " if name else ""
    return Incorrect(
        f"{tool.name}: {where}{one_line(problem)}. Write it like this: {usage(tool)}", argument=name
    )

"""What answers where no model is configured: phrases act, everything else gets suggestions."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, product

from core.commands import choices, kind_of, usage
from core.dictated import to_a_person
from core.display import one_line
from core.errors import Incorrect
from core.phrases import JOINTS, fitting, interpret
from core.ports import Listener
from core.prompt import Prompt
from core.tools import Tool, Toolbox
from core.transcript import Called, Entry, Heard, Move, Returned, Say, Use
from core.words import POLITE, fold, negates

NOTHING = "No model is configured here, and there is no operation that you can use here."
HELP = (
    "No model is configured here, so I act only on texts like these, word for word, and did nothing "
    "now. You can type: "
)
LISTED = "No model is configured here. You can ask for these, word for word:"
NO_APPROVAL = (
    "No text approves anything. Use what stands under the request: its Approve button, `/approve ID` "
    "in a chat at a terminal, or `sayso approve ID` in a shell."
)
_ASSENT = (
    "approve approved approving yes yep yeah yup y ok okay sure lgtm confirm confirmed agreed go "
    "ahead do it ship +1 :+1 :white_check_mark \U0001f44d \u2705"
)

_MOST_SUGGESTIONS = 5
_MOST_FORMS = 20
_MOST_CHOICES = 3
_READ = 2_000
_MOST_WORDS = 50
_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}")


class GrammarModel:
    """The `Model` that needs no model: it never guesses."""

    generative = False

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """Act on what was heard last, or say what the tools returned."""
        del conclude, hear  # it is never asked to: it only passes on what the tools said
        return move(entries, prompt.tools)


def move(entries: Sequence[Entry], tools: Toolbox) -> Say | Use:
    """Return the next move of a turn; the same entries always give the same one."""
    heard = next((e.text for e in reversed(entries) if isinstance(e, Heard)), "")
    match entries[-1] if entries else None:
        case Heard(text=text):
            made = sum(len(entry.calls) for entry in entries if isinstance(entry, Called))
            calls = interpret(text, tools, first=made + 1)
            return Use(calls=calls) if calls else answer(text, tools)
        case Returned(results=results):
            failed = any(result.correctable for result in results)
            said = "\n".join(map(to_a_person, results))
            return Say(text=said, suggestions=suggestions(heard, tools) if failed else ())
        case _:
            return answer("", tools)


def answer(text: str, tools: Toolbox) -> Say:
    """Return what can be typed; nothing in it tells what else there is, or repeats the text."""
    if not tools.tools:
        return Say(text=NOTHING)
    if _approves(_words(text)):
        return Say(text=NO_APPROVAL)
    if [word.casefold() for word in _words(text)] == ["help"]:
        return Say(text="\n".join([LISTED, *map(_told, tools)]))
    forms = [f"`{one_line(form)}`" for tool in tools for form in _forms(tool)]
    more = ["and more: `help` lists all."] if len(forms) > _MOST_FORMS else []
    listed = ", ".join([*forms[:_MOST_FORMS], *more])
    return Say(text=HELP + listed, suggestions=suggestions(text, tools))


def suggestions(text: str, tools: Toolbox) -> tuple[str, ...]:
    """Return complete texts that could have been meant, the likeliest first."""
    words = _words(text)
    folded = frozenset(map(fold, words))
    known = ((tool, phrase) for tool in tools for phrase in tool.phrases)
    ranked = sorted(known, key=lambda pair: -len(folded & _related(*pair)))
    texts = (filled for tool, phrase in ranked for filled in _filled(tool, phrase, words))
    return tuple(islice(dict.fromkeys(texts), _MOST_SUGGESTIONS))


def _approves(words: Sequence[str]) -> bool:
    said = [word for word in map(fold, words) if word not in POLITE]
    return bool(said) and (
        said[0] in {"approve", "approved", "lgtm"} or frozenset(_ASSENT.split()).issuperset(said)
    )


def _words(text: str) -> list[str]:
    """Return the words of a text, each once, without the punctuation around them."""
    words = (word.strip(",.;:!?\"'()") for word in text[:_READ].split())
    return list(islice(dict.fromkeys(filter(None, words)), _MOST_WORDS))


def _forms(tool: Tool) -> tuple[str, ...]:
    return tool.phrases or (f"!{usage(tool)}",)


def _told(tool: Tool) -> str:
    """Return how a tool is asked for, and what it does, in a line."""
    forms = " or ".join(f"`{one_line(form)}`" for form in _forms(tool))
    return f"{forms}: {one_line(tool.summary)}"


def _fixed(phrase: str) -> frozenset[str]:
    return frozenset(fold(_PLACEHOLDER.sub(" ", phrase)).split())


def _related(tool: Tool, phrase: str) -> frozenset[str]:
    return _fixed(phrase) | frozenset(tool.name.split("-"))


def _filled(tool: Tool, phrase: str, words: Sequence[str]) -> Iterator[str]:
    """Yield the phrase with everything filled in; nothing where that is not certain."""
    names = [name for name in dict.fromkeys(_PLACEHOLDER.findall(phrase)) if name]
    for values in product(*(_options(tool, name, phrase, words) for name in names)):
        yield _with(phrase, dict(zip(names, values, strict=True)))


def _with(phrase: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda match: values[match[1]] if match[1] else match[0][0], phrase)


def _options(tool: Tool, name: str, phrase: str, words: Sequence[str]) -> list[str]:
    closed = ["true", "false"] if kind_of(tool, name) is bool else list(choices(tool, name))
    options = [word for word in words if word in closed] or closed
    if not closed and not _fixed(phrase).isdisjoint(map(fold, words)):
        options = [word for word in words if _could_be(tool, name, phrase, word)][:2]
    most = _MOST_CHOICES if closed else 1
    sound = all(option.split() == [option] and not negates(option) for option in options)
    # What is left open cannot be sent as it stands; the list of forms shows it with its name.
    return options if sound and len(options) <= most else []


def _could_be(tool: Tool, name: str, phrase: str, word: str) -> bool:
    if fold(word) in _fixed(phrase) | POLITE | JOINTS or negates(word):
        return False
    try:
        fitting(tool, name, word)
    except Incorrect:
        return False
    return True

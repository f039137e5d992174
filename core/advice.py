"""What is allowed in a runbook and still unwise: a line for each, for whoever writes it."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations

from core.commands import choices
from core.display import one_line
from core.documents import Document, Path
from core.durations import words
from core.errors import Incorrect
from core.params import Param
from core.phrases import fitting
from core.runbooks import Runbook
from core.step_kinds import AnyForm
from core.tools import Effect, Tool
from core.words import Word, fold, splits, words_of

LONGEST_TITLE = 150
"""Characters, where a platform allows the fewest."""
_MOST_CHOICES = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A sound runbook as it is written, with its lines."""

    runbook: Runbook
    document: Document

    def forms(self) -> Iterator[tuple[Path, AnyForm]]:
        """Yield each step, and what looks, with where it stands."""
        for number, step in enumerate(self.runbook.steps):
            yield ("steps", number), step
        for name in ("preview", "verify"):
            form = getattr(self.runbook, name)
            if form is not None:
                yield (name,), form

    def told(self, path: Path, problem: str) -> str:
        """Return one line with file, line and field."""
        return self.document.error(path, problem).shown


def of_one(source: Source) -> Iterator[str]:
    """Yield what is unwise in one runbook by itself."""
    runbook = source.runbook
    if len(runbook.summary) > LONGEST_TITLE:
        problem = f"a card's title holds {LONGEST_TITLE} characters. Make it shorter."
        yield source.told(("summary",), problem)
    for name, param in runbook.params.items():
        unbounded = _unbounded(param)
        if unbounded:
            yield source.told(("params", name), unbounded)
    for number, step in enumerate(runbook.steps):
        if "timeout" not in step.model_fields_set:
            problem = f"it has {words(step.timeout)}. Write how long it may take."
            yield source.told(("steps", number, "timeout"), problem)
    if runbook.effect is Effect.WRITE:
        yield from _of_write(source)


def _of_write(source: Source) -> Iterator[str]:
    if source.runbook.lock is None:
        problem = "two approved runs of it may run at once. Name what one of them needs for itself."
        yield source.told(("lock",), problem)
    if source.runbook.verify is None:
        problem = "nothing shows whether a step that was cut has happened. Add a read that does."
        yield source.told(("verify",), problem)


def of_all(sources: Sequence[Source]) -> Iterator[str]:
    """Yield phrases that can be read as another runbook's too: such a text is not taken at all."""
    every = [
        (source, number, phrase, source.runbook.tool(definition=""))
        for source in sources
        for number, phrase in enumerate(source.runbook.phrases)
    ]
    for (_, _, first, whose), (source, number, phrase, tool) in combinations(every, 2):
        if whose.name != tool.name and _alike(first, whose, phrase, tool):
            problem = (
                f'this and "{one_line(first, 80)}" of {whose.name} may be one text, which then means '
                "neither. Change a word."
            )
            yield source.told(("phrases", number), problem)


def _unbounded(param: Param) -> str | None:
    if param.enum is not None or param.type == "boolean":
        return None
    if param.type != "string":
        return "any large number passes. Give it a maximum." if param.maximum is None else None
    if param.pattern is None and "max_length" not in param.model_fields_set:
        return (
            f"any {param.max_length} characters pass. Give it an enum, a pattern or a max_length."
        )
    return None


def _alike(one: str, its: Tool, other: str, whose: Tool) -> bool:
    """Whether one text may be both phrases."""
    pairs = words_of(one), words_of(other)
    return len(pairs[0]) == len(pairs[1]) and all(
        _may_be(first, its, second, whose) for first, second in zip(*pairs, strict=True)
    )


def _may_be(one: Word, its: Tool, other: Word, whose: Tool) -> bool:
    """Whether one word may be both; where both are open, everything but their beginnings and ends."""
    if (spelt := _spellings(one, its)) is not None:
        return any(_takes(other, whose, text) for text in spelt)
    if (spelt := _spellings(other, whose)) is not None:
        return any(_takes(one, its, text) for text in spelt)
    (first, *_, last), (begins, *_, ends) = (*one, one[-1]), (*other, other[-1])
    return _either(str.startswith, first[0], begins[0]) and _either(str.endswith, last[0], ends[0])


def _spellings(word: Word, tool: Tool) -> list[str] | None:
    """Return all that a word may be; None where it is open."""
    found = [""]
    for fixed, name in word:
        parts = [fixed] if name is None else [*choices(tool, name)]
        found = [text + part for text in found for part in parts]
        if not 0 < len(found) <= _MOST_CHOICES:
            return None
    return found


def _takes(word: Word, tool: Tool, text: str) -> bool:
    """Whether a word may be this text, with values that its tool accepts."""
    for given in splits(word, text, fold(text)):
        with suppress(Incorrect):
            for name, value in given.items():
                fitting(tool, name, value)
            return True
    return False


def _either(fits: Callable[[str, str], bool], one: str, other: str) -> bool:
    return fits(one, other) or fits(other, one)

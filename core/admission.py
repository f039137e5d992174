"""What becomes of each call of a step before anything runs: admitted, or answered with why not."""

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from core.calls import Step, said
from core.canonical import Json, digest
from core.display import sound
from core.errors import Incorrect, Refused, SaysoError
from core.fitting import REFUSED_BYTES, cut
from core.redaction import Redactor
from core.tools import QUESTION, RESERVED, Checked, Effect, Toolbox
from core.trail import Stage
from core.transcript import AgentText, Result, ToolCall

Admitted: TypeAlias = Checked | Result
"""A call that may be made, or why it may not."""

_TWO = "Not run: two calls have one id. Make them again, each with an id of its own."
_SEEN = (
    "Not run again: you made this very call before in this turn. Use what came of it, make another "
    "one, or answer."
)
_QUESTION = (
    f"{QUESTION}: `question`: it has to be the only argument, a text with at least one word. Call it "
    "again with that corrected."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """One call of a step."""

    call: ToolCall
    outcome: Admitted
    mark: str
    """What two calls have in common that are the same."""
    stage: Stage = Stage.SCHEMA
    """How far it came here."""
    why: str = ""
    """Why it may not be made, for the record: without words of whoever made it."""
    repeats: bool = False

    @property
    def refused(self) -> Result | None:
        """Return why it may not be made, where it may not."""
        return self.outcome if isinstance(self.outcome, Result) else None

    def checked(self, effect: Effect) -> Checked | None:
        """Return the call where it may be made and its tool has this effect."""
        one = self.outcome
        return one if isinstance(one, Checked) and one.tool.effect is effect else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Against what calls are checked."""

    known: Toolbox
    """All that there are; a name that is not among them is unknown to everybody."""
    tools: Toolbox
    """Those that whoever asks may use here."""
    defaults: Mapping[str, Json]
    generative: bool
    """A model made them: it has to explain itself, and gets nothing by repeating itself."""
    redactor: Redactor


def at_least(step: Step, rules: Rules) -> int:
    """Return how many of the calls of a step count, whatever comes of checking them."""
    if not rules.generative or step.ambiguous:
        return len(step.calls)
    return len({_raw(call, ambiguous=False) for call in step.calls})


def admissions(step: Step, rules: Rules, seen: AbstractSet[str]) -> tuple[Admission, ...]:
    """Check every call of a step; `seen` are the marks of the calls that were made before."""
    marks = set(seen)
    found = list[Admission]()
    for call in step.calls:
        one = _admission(call, rules, ambiguous=step.ambiguous)
        repeats = rules.generative and not step.ambiguous and one.mark in marks
        found.append(_repeated(one) if repeats else one)
        marks.add(one.mark)
    return tuple(found)


def question(step: Step) -> ToolCall | None:
    """Return the call that asks the person, where a step asks exactly one proper question."""
    asking = [call for call in step.calls if call.tool == QUESTION]
    sole = len(asking) == 1 and not step.ambiguous and not asking[0].fault
    return asking[0] if sole and question_text(asking[0]) else None


def question_text(call: ToolCall) -> str:
    """Return what a call asks; empty where it asks nothing that could be put to a person."""
    match call.arguments:
        case {"question": str(text), **others} if not others:
            return sound(text).strip()
        case _:
            return ""


def agent_text(
    step: Step, gated: AbstractSet[str], about: AgentText, redactor: Redactor
) -> AgentText:
    """Return what is said about the gated calls, each text once, a line for each."""
    calls = [call for call in step.calls if call.id in gated]
    texts = {
        name: (getattr(about, name), *(call.arguments.get(name, "") for call in calls))
        for name in RESERVED
    }
    return AgentText(**{name: said(_lines(found), redactor) for name, found in texts.items()})


def refusal(call: str, error: SaysoError, redactor: Redactor) -> Result:
    """Return the result of a call that was refused, with the reason: masked before it is cut."""
    correctable = isinstance(error, Incorrect)
    text = cut(redactor.head(sound(error.shown), REFUSED_BYTES)[0], REFUSED_BYTES)
    return Result(call=call, text=text, failed=True, correctable=correctable)


def _lines(texts: Iterable[object]) -> str:
    return "\n".join(dict.fromkeys(filter(None, (sound(str(text)).strip() for text in texts))))


def _admission(call: ToolCall, rules: Rules, *, ambiguous: bool) -> Admission:
    raw = _raw(call, ambiguous=ambiguous)
    if ambiguous:
        twice = Result(call=call.id, text=_TWO, failed=True)
        return Admission(call=call, outcome=twice, mark=raw, stage=Stage.KNOWN, why=_TWO)
    try:
        checked = _checked(call, rules)
    except Refused as error:
        outcome, stage = refusal(call.id, error, rules.redactor), _reached(call, rules)
        return Admission(call=call, outcome=outcome, mark=raw, stage=stage, why=error.logged)
    mark = digest({"tool": call.tool, "arguments": checked.arguments})
    return Admission(call=call, outcome=checked, mark=mark)


def _raw(call: ToolCall, *, ambiguous: bool) -> str:
    """Return the mark of a call as it was made."""
    # Of a fault the values are gone, so that nobody can say whether two are the same.
    unlike = call.id if call.fault or ambiguous else ""
    return digest({"tool": call.tool, "raw": call.arguments, "unlike": unlike})


def _reached(call: ToolCall, rules: Rules) -> Stage:
    """Return the stage at which a call was refused. It is told to nobody who is not an operator."""
    if call.tool in rules.tools.names or call.tool == QUESTION:
        return Stage.SCHEMA
    return Stage.ALLOWED if call.tool in rules.known.names else Stage.KNOWN


def _checked(call: ToolCall, rules: Rules) -> Checked:
    if call.tool == QUESTION and rules.generative:
        raise Incorrect(_QUESTION)
    tool = rules.tools[call.tool]
    if call.fault:
        raise Incorrect(
            f"{tool.name}: {call.fault} Call it again with that corrected.",
            logged=f"{tool.name}: its arguments could not be read.",
        )
    own = {name: value for name, value in call.arguments.items() if name not in RESERVED}
    if tool.effect is Effect.WRITE:
        _explained(call, required=rules.generative)
    return tool.check(own, rules.defaults)


def _explained(call: ToolCall, *, required: bool) -> None:
    """Raise `Incorrect` unless what is said about a gated call is text, and why it is made is there."""
    for name in RESERVED:
        text = call.arguments.get(name, "")
        missing = required and name == RESERVED[0] and not str(text).strip()
        if missing or not isinstance(text, str):
            raise Incorrect(
                f"{call.tool}: `{name}`: a text is expected that says so in words. Call it again "
                "with that corrected."
            )


def _repeated(one: Admission) -> Admission:
    """Answer a call that was made before. Beside gated calls a second read is no obstacle."""
    read = one.checked(Effect.READ) is not None
    note = Result(call=one.call.id, text=_SEEN, failed=not read)
    return replace(one, outcome=note, why=_SEEN, repeats=True)

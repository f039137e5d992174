"""How a turn ends: for exactly one reason, which software names, and with words for people."""

from dataclasses import dataclass
from enum import StrEnum

from core.transcript import Entry, Stop


class Reason(StrEnum):
    """Why a turn ended; each turn has exactly one. It is stored by its value."""

    ANSWERED = "answered"
    ASKED = "asked"
    """The model has a question; the reply goes on with the task."""
    PROPOSED = "proposed"
    REFUSED_BY_MODEL = "refused_by_model"
    MAX_TURNS = "max_turns"
    MAX_TOOL_CALLS = "max_tool_calls"
    MAX_TOKENS = "max_tokens"
    MAX_SECONDS = "max_seconds"
    REPEATED_CALL = "repeated_call"
    TRUNCATED = "truncated"
    CONTEXT_EXCEEDED = "context_exceeded"
    MODEL_UNAVAILABLE = "model_unavailable"
    GUARDRAIL_INPUT = "guardrail:input"
    GUARDRAIL_CONTEXT = "guardrail:context"
    GUARDRAIL_TOOL = "guardrail:tool"
    GUARDRAIL_OUTPUT = "guardrail:output"
    STOPPED = "stopped"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a turn ended, what to say about it, and the request that it opened, if it did."""

    reason: Reason
    text: str
    suggestions: tuple[str, ...] = ()
    request: str | None = None
    entries: tuple[Entry, ...] = ()
    """What to append to the conversation's transcript: it is `whole`, however the turn ended."""


STOPS = {
    Stop.REFUSED: Reason.REFUSED_BY_MODEL,
    Stop.TRUNCATED: Reason.TRUNCATED,
    Stop.CONTEXT_EXCEEDED: Reason.CONTEXT_EXCEEDED,
    Stop.UNKNOWN: Reason.ERROR,
}
"""How a message that is not whole ends the turn."""

WHOLE = (Reason.ANSWERED, Reason.ASKED, Reason.PROPOSED)
"""The ends in which the model had its say about all that it heard."""

LIMITS = {
    Reason.MAX_TURNS: "this took more steps than one turn may have",
    Reason.MAX_TOOL_CALLS: "this needs more tool calls than one turn may make",
    Reason.MAX_TOKENS: "this took more of the model than one turn may use",
    Reason.MAX_SECONDS: "this took longer than one turn may take",
}
"""The limits that allow a concluding message, and how to say that one was hit."""

_FORCED = {
    Reason.MAX_SECONDS: f"I stopped: {LIMITS[Reason.MAX_SECONDS]}. Nothing was changed.",
    Reason.REFUSED_BY_MODEL: (
        "The model declined to answer this. Nothing was changed; put it in other words, or type the "
        "command yourself."
    ),
    Reason.REPEATED_CALL: (
        "I stopped: the model kept asking for what it had been answered or refused. Nothing was "
        "changed; ask in other words."
    ),
    Reason.TRUNCATED: (
        "The model's message was cut off, so nothing of it was used. Nothing was changed; ask for "
        "less at once."
    ),
    Reason.CONTEXT_EXCEEDED: (
        "This is more than the model can take in at once. Nothing was changed; start a new "
        "conversation, or ask for less at once."
    ),
    Reason.MODEL_UNAVAILABLE: "The model did not answer. Nothing was changed; try again in a while.",
    Reason.ERROR: (
        "The model's message could not be used. Nothing was changed; ask again, in other words if "
        "it happens twice."
    ),
    Reason.STOPPED: "Stopped. Nothing was changed.",
}
UNFORESEEN = (
    "I could not answer this: something failed that nobody foresaw. Nothing was changed; an operator "
    "finds it in the log."
)
"""The sentence for an error that was no message of the model."""

_GUARDED = {
    Reason.GUARDRAIL_INPUT: ("Not answered", "Nothing was changed; ask in other words."),
    Reason.GUARDRAIL_CONTEXT: (
        "Not answered",
        "Nothing was changed; start a new conversation, because this one holds what stopped it.",
    ),
    Reason.GUARDRAIL_TOOL: (
        "Not proposed",
        "Nobody was asked and nothing was changed; ask for something else.",
    ),
    Reason.GUARDRAIL_OUTPUT: ("Not answered", "Nothing was changed; ask for something else."),
}


def guarded(reason: Reason, why: str) -> str:
    """Return the sentences for an end that a guardrail wanted; `why` is its own, without full stop."""
    what, then = _GUARDED[reason]
    return f"{what}: {why}. {then}"


def forced(reason: Reason) -> str:
    """Return the sentence for an end in which neither the model nor a guardrail has a say."""
    return _FORCED.get(reason) or f"I stopped: {LIMITS[reason]}. Ask for less at once."


def incomplete(reason: Reason, text: str) -> str:
    """Return a concluding message as it is posted: software says first that it is not the whole."""
    return f"(incomplete: {LIMITS[reason]})\n{text}"

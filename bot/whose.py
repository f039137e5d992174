"""Whose calls a turn makes: a model's, a person's own, or those of their agent elsewhere."""

from dataclasses import replace
from typing import cast

from core import canonical, dictated
from core.canonical import JsonObject
from core.dictated import Dictated, Whose
from core.outcomes import Outcome, Reason
from core.ports import Model
from core.toolset import Channel
from core.transcript import Entry, Returned, ToolCall
from core.wishes import Relayed


def relayed(wish: Relayed) -> Dictated:
    """Return what decides for an agent elsewhere: the one call that it made."""
    arguments = cast("JsonObject", canonical.parse(wish.arguments))
    call = ToolCall(id="call_1", tool=wish.tool, arguments=arguments)
    return Dictated(call, whose=Whose.AGENT)


def channel(model: Model) -> Channel:
    """Return where tools are offered to whatever decides: an agent elsewhere is a model too."""
    return Channel.TOOL if model.generative or _is_agent(model) else Channel.COMMAND


def kept(fresh: tuple[Entry, ...], model: Model, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Return what to append: what no model of ours decided is kept as done by others (C28)."""
    if model.generative:
        return (*fresh, *entries)
    return (*fresh, *dictated.by_person(entries, Whose.AGENT if _is_agent(model) else Whose.PERSON))


def told(outcome: Outcome, model: Model) -> Outcome:
    """Return how a turn ends: for an agent elsewhere, a call that failed is no answer."""
    returned = [entry for entry in outcome.entries if isinstance(entry, Returned)]
    failed = any(result.failed for entry in returned for result in entry.results)
    wrong = failed and _is_agent(model) and outcome.reason is Reason.ANSWERED
    return replace(outcome, reason=Reason.ERROR) if wrong else outcome


def _is_agent(model: Model) -> bool:
    return isinstance(model, Dictated) and model.whose is Whose.AGENT

"""The JSON that scripts rely on. Keys may be added, none removed or renamed."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from approvals.grants import Grant
from approvals.models import Request, Run, Verification, Whole
from bot.ask import Answered
from bot.stop import Stopped
from core import cards, durations, exports
from core.audit import Broken, Intact
from core.cards import Card
from core.conversations import Said, Turn
from core.erasing import ERASED, Erased
from core.exports import Export
from core.plans import Plan
from core.tools import Tool

Object: TypeAlias = dict[str, Any]
Draw: TypeAlias = Callable[[Card], str]


def answered(one: Answered, draw: Draw) -> Object:
    """Return what `sayso ask` prints."""
    return {
        "conversation": one.conversation,
        "turn": one.turn,
        "reason": one.reason.value,
        "text": one.text,
        "suggestions": list(one.suggestions),
        "run": run(one.run) if one.run else None,
        "request": request(one.request, draw) if one.request else None,
    }


def request(one: Request, draw: Draw) -> Object:
    """Return one request."""
    return {
        "id": one.id,
        "state": one.state.value,
        "conversation": one.conversation,
        "requester": one.requester,
        "editors": list(one.editors),
        "became": one.became,
        "plan": f"p_{one.plan_sha256[:12]}",
        "plan_sha256": one.plan_sha256,
        "votes": len(one.votes),
        "voters": list(one.voters),
        "quorum": one.rule.quorum,
        "opened_at": one.opened_at.isoformat(),
        "expires_at": one.expires_at.isoformat(),
        "times_asked": one.times_asked,
        "ended_by": one.ended_by,
        "reason": one.reason,
        "broken_by": one.broken_by,
        "card": draw(one.card),
        "calls": [{"tool": call.tool, "arguments": dict(call.arguments)} for call in one.plan.calls]
        if one.is_intact
        else [],
    }


def run(one: Run) -> Object:
    """Return one run."""
    return {
        "id": one.id,
        "state": one.state.value,
        "conversation": one.conversation,
        "request": one.request,
        "plan": one.plan,
        "started_at": one.started_at.isoformat(),
        "ended_at": one.ended_at.isoformat() if one.ended_at else None,
        "steps": [
            {
                "index": step.index,
                "tool": step.tool,
                "state": step.state.value,
                "exit_code": step.exit_code,
                "output": step.output,
                "note": step.note,
                "whole": _whole(step.whole) if step.whole else None,
            }
            for step in one.steps
        ],
    }


def _whole(one: Whole) -> Object:
    stored = one.stored
    return {
        "bytes": stored.bytes if stored else None,
        "sha256": stored.sha256 if stored else None,
        "why_not": one.why_not or None,
        "is_gone": one.is_gone,
    }


def grant(one: Grant, plan: Plan | None) -> Object:
    """Return one standing grant; what it lets run stands on the card of its request."""
    return {
        "id": one.id,
        "state": one.state.value,
        "request": one.request,
        "requester": one.requester,
        "proposer": one.proposer,
        "place": one.place,
        "used": one.used,
        "uses": one.most,
        "for": durations.words(one.lasts),
        "until": one.until.isoformat() if one.until else None,
        "plan_sha256": one.plan_sha256,
        "proposed_at": one.proposed_at.isoformat(),
        "ended_by": one.ended_by,
        "reason": one.reason,
        "calls": [{"tool": call.tool, "arguments": dict(call.arguments)} for call in plan.calls]
        if plan
        else [],
    }


def verified(seen: Verification) -> Object:
    """Return what `sayso resolve --verify` prints; the exit code is null where it did not exit."""
    ended = seen.ended
    return {
        "run": run(seen.run),
        "verify": {
            "exit_code": ended.exit_code,
            "output": ended.output,
            "ending": ended.ending.value,
        },
    }


def stopped(one: Stopped, draw: Draw) -> Object:
    """Return what `sayso stop` prints."""
    return {
        "stopped": {
            "turns": len(one.turns),
            "processes": one.killed,
            "steps_unknown": one.steps_cut,
            "requests_revoked": len(one.requests),
            "messages_kept": len(one.kept),
        },
        "runs": [run(each) for each in one.runs],
        "turns": [turn(each) for each in one.turns],
        "pending": [_either(each, draw) for each in one.pending],
        "choices": [_either(each, draw) for each in one.choices],
    }


def _either(one: Turn | Run | Request, draw: Draw) -> Object:
    match one:
        case Run():
            return run(one)
        case Request():
            return request(one, draw)
        case Turn():
            return turn(one)


def turn(one: Turn) -> Object:
    """Return one message, how its turn ended, if it has, and which other turn answered it, if one did."""
    return {
        "turn": one.id,
        "conversation": one.conversation,
        "asked_by": one.principal,
        "asked": one.wish.shown,
        "reason": one.reason.value if one.reason else None,
        "absorbed_by": one.absorbed_by,
    }


def tool(one: Tool) -> Object:
    """Return one operation of the catalogue."""
    return {
        "name": one.name,
        "summary": one.summary,
        "effect": one.effect.value,
        "risk": one.risk,
        "phrases": list(one.phrases),
        "arguments": one.schema(),
    }


def audit(verdict: Intact | Broken) -> Object:
    """Return what `sayso audit verify` prints."""
    match verdict:
        case Intact(entries=entries, head=head):
            return {"ok": True, "entries": entries, "head": head}
        case Broken(first_bad=first_bad, why=why):
            return {"ok": False, "first_bad": first_bad, "why": why}


def conversation(name: str, said: Sequence[Said], waiting: Sequence[Turn], draw: Draw) -> Object:
    """Return a conversation, oldest first, its cards as plain text; then what is not answered yet."""
    return {
        "conversation": name,
        "entries": [
            {
                "at": one.at.isoformat(),
                "kind": one.kind,
                "author": one.author,
                "text": text_of(one, draw),
            }
            for one in said
        ],
        "waiting": [turn(one) for one in waiting],
    }


def exported(one: Export) -> Object:
    """Return a whole conversation; `core.exports.rebuilt` reads its transcript back."""
    return {
        "schema": exports.SCHEMA,
        "conversation": one.conversation,
        "tenant": one.tenant,
        "place": asdict(one.place),
        "opened_at": one.opened_at.isoformat(),
        "erased_at": one.erased_at.isoformat() if one.erased_at else None,
        "transcript": exports.transcript(one.transcript),
        "entries": [
            {"at": said.at.isoformat(), "kind": said.kind, "author": said.author, "text": said.text}
            for said in one.entries
        ],
        "turns": [
            turn(each)
            | {
                "text": each.text,
                "suggestions": list(each.suggestions),
                "request": each.request,
                "schedule": each.schedule,
            }
            for each in one.turns
        ],
        "happenings": [asdict(each) | {"at": each.at.isoformat()} for each in one.happenings],
        "requests": list(one.requests),
        "runs": list(one.runs),
    }


def erased(one: Erased) -> Object:
    """Return what `sayso erase` prints: rows with content by table, and the digest in the audit log."""
    return {
        "conversation": one.conversation,
        "removed": dict(one.removed),
        "sha256": one.sha256,
    }


def text_of(said: Said, draw: Draw) -> str:
    """Return what was said as text, or that it was erased."""
    if not said.text:
        return ERASED
    return draw(cards.decode(said.text)) if said.kind == "card" else said.text

"""What arrives in a conversation while one of its turns runs, as far as that turn may know of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals import entitlement
from approvals.gate import Gate
from approvals.policy import Authority
from core import commands
from core.conversations import Conversations, Turn, Words
from core.mailbox import Mailbox, Message


def mailbox_of(turn: Turn, conversations: Conversations, gate: Gate) -> Mailbox:
    """Return the mailbox of a turn, with nothing in it yet."""
    behind = _Behind(turn=turn, conversations=conversations, gate=gate)
    return Mailbox(speaker=turn.principal, arrivals=behind)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Behind:
    """The messages that wait behind a turn: words of people who may still say them here."""

    turn: Turn
    conversations: Conversations
    gate: Gate

    async def __call__(self) -> Sequence[Message]:
        here = self.turn
        waiting = await self.conversations.waiting(here.tenant, here.conversation)
        authority = self.gate.authority()
        return [
            Message(id=one.turn.id, speaker=one.turn.principal, text=one.turn.wish.shown)
            for one in waiting
            if not one.runs and _is_said(one.turn) and _may_say(authority, one.turn)
        ]


def _is_said(turn: Turn) -> bool:
    """Whether somebody said something to the agent; everything else is done as it was asked for.

    A command means exactly itself, and what a schedule asks for is counted by its own turn.
    """
    match turn.wish:
        case Words(text=text):
            is_command = commands.after_mark(text) is not None or commands.is_stop(text)
            return not is_command and turn.schedule is None
        case _:
            return False


def _may_say(authority: Authority, turn: Turn) -> bool:
    person = authority.directory.find(turn.tenant, turn.principal)
    return person is not None and entitlement.may_chat(authority, person, turn.place)

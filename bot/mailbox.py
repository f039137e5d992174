"""What arrives in a conversation while one of its turns runs, as far as that turn may know of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from approvals import entitlement
from approvals.gate import Gate
from approvals.policy import Authority
from core import commands
from core.conversations import Conversations, Turn
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
        found = await self.conversations.arrived(self.turn)
        said = [one for one in found if not _is_command(one.text)]
        if not said:
            return ()
        authority = await self.gate.acting.standings.named(
            self.gate.acting.authority(), self.turn.tenant
        )
        return [one for one in said if self._may_say(authority, one)]

    def _may_say(self, authority: Authority, one: Message) -> bool:
        person = authority.directory.find(self.turn.tenant, one.speaker)
        return person is not None and entitlement.may_chat(authority, person, self.turn.place)


def _is_command(text: str) -> bool:
    """Whether somebody typed a command: it means exactly itself, so it is answered by itself."""
    return commands.after_mark(text) is not None or commands.is_stop(text)

"""Everybody's terminals: what is for one of them is shown there and nowhere else."""

from collections.abc import Callable
from dataclasses import dataclass

from core.deliveries import Chat, Drafted, Message, reader_of
from core.errors import Unavailable
from core.events import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminals:
    """Implements `core.deliveries.Chat` for the terminals of all processes, of which one may be here.

    What is for one that is gone is dropped: nobody will read it, and the conversation keeps it.
    """

    me: str
    """This process, as `core.jobs.Engine` names it."""
    is_dead: Callable[[str], bool]
    here: Chat | None = None
    """This process's own terminal, where it has one."""

    async def post(
        self,
        place: Place,
        message: Message,
        *,
        key: str,
        again: bool = False,
        drafted: Drafted | None = None,
    ) -> str:
        """See the port."""
        del drafted  # no terminal shows any
        if self.here and self.shows(place):
            return await self.here.post(place, message, key=key, again=again)
        self._must_be_gone(place)
        return key

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """Show nothing yet: see `adapters.console.chat`."""
        del place, text, again
        return drafted.key

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        if self.here and self.shows(place):
            await self.here.edit(place, posted, message)
        else:
            self._must_be_gone(place)

    def shows(self, place: Place) -> bool:
        """Whether something at a place could be shown by this process: elsewhere than at a terminal, all."""
        return reader_of(place) in (None, self.me)

    def _must_be_gone(self, place: Place) -> None:
        reader = reader_of(place)
        if reader and not self.is_dead(reader):
            raise Unavailable("Another process has that terminal.")

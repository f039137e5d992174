"""Terminals of other processes."""

from collections.abc import Callable
from dataclasses import dataclass

from core.deliveries import Message, reader_of
from core.errors import Unavailable
from core.events import Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """Implements `core.deliveries.Chat` for terminals of other processes: nothing can be shown there.

    What is for one that is gone is dropped: nobody will read it, and the conversation keeps it.
    """

    is_dead: Callable[[str], bool]

    async def post(self, place: Place, message: Message, *, key: str) -> str:
        """See the port."""
        del message
        self._must_be_gone(place)
        return key

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        del posted, message
        self._must_be_gone(place)

    def _must_be_gone(self, place: Place) -> None:
        reader = reader_of(place)
        if reader and not self.is_dead(reader):
            raise Unavailable("Another process has that terminal.")

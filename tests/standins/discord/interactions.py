"""One thing that somebody did with the app: a command, a button or a form, and what they saw of it."""

from dataclasses import dataclass, field

from tests.standins.discord import plain
from tests.standins.discord.times import Time
from tests.standins.discord.wire import Json
from tests.standins.discord.world import Message

COMMAND, COMPONENT, SUBMIT = 2, 3, 5
"""https://docs.discord.com/developers/interactions/receiving-and-responding"""
ANSWER, THINKING, SILENCE, UPDATE, MODAL = 4, 5, 6, 7, 9
FIRST_WITHIN, TOKEN_FOR = 3.0, 15 * 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Modal:
    """A form that somebody has before them."""

    now: Json
    user: str
    channel: str
    message: str | None
    """The message whose button opened it."""

    @property
    def title(self) -> str:
        """Return what stands above it."""
        return str(self.now["title"])

    @property
    def custom_id(self) -> str:
        """Return what comes back with it."""
        return str(self.now["custom_id"])


@dataclass(kw_only=True, eq=False)
class Interaction:
    """What was sent to the app, and what came of it."""

    id: str
    token: str
    kind: int
    user: str
    channel: str
    time: Time
    born: float
    sent: Json = field(default_factory=dict[str, object])
    """As it went out."""
    sessions: int = 0
    """How many sessions it was sent to."""
    answer: Json | None = None
    """The first answer, as it came."""
    answered_after: float | None = None
    """How many seconds that took."""
    source: Message | None = None
    """The message that was pressed, or whose form was sent."""
    original: Message | None = None
    """What `@original` means."""
    is_loading: bool = False
    """Whether Discord still shows that the app thinks."""
    shown: list[Message] = field(default_factory=list[Message])
    """Every message that was made by its answers, in order."""
    modal: Modal | None = None

    @property
    def is_late(self) -> bool:
        """Whether the time for a first answer is over."""
        return self.time.now() - self.born > FIRST_WITHIN

    @property
    def is_dead(self) -> bool:
        """Whether its token is worth nothing any more."""
        return self.time.now() - self.born > TOKEN_FOR

    @property
    def failed(self) -> bool:
        """Whether the person reads that the interaction failed."""
        return self.answer is None and self.is_late

    @property
    def answered(self) -> bool:
        """Whether there was a first answer."""
        return self.answer is not None

    @property
    def is_over(self) -> bool:
        """Whether the person waits no longer: it failed, or nothing is loading."""
        return self.failed or (self.answered and not self.is_loading)

    @property
    def said(self) -> list[str]:
        """Return what the answers say now, without those that are gone or still loading."""
        if self.failed:
            return ["This interaction failed"]
        there = [each for each in self.shown if not each.gone]
        return [plain.text_of(each.now) for each in there if not self._loads(each)]

    @property
    def alone(self) -> list[str]:
        """Return what only this person reads."""
        there = [each for each in self.shown if each.only_for and not each.gone]
        return [plain.text_of(each.now) for each in there if not self._loads(each)]

    def _loads(self, message: Message) -> bool:
        return self.is_loading and message is self.original

"""Slack as a platform: everything of it, put together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from adapters.platforms.takes import Takes
from adapters.platforms.tasks import Tasks
from adapters.slack.account import Account
from adapters.slack.app import app_of, through
from adapters.slack.chat import SlackChat
from adapters.slack.findings import Bot
from adapters.slack.follow import Following
from adapters.slack.http import Listener, no_secret
from adapters.slack.intake import Intake, Patience
from adapters.slack.membership import Membership
from adapters.slack.people import SlackRoster
from adapters.slack.posted import Finder
from adapters.slack.scopes import lacking
from adapters.slack.setup import SlackSetup
from adapters.slack.sockets import Pace, Sockets
from adapters.slack.statuses import Statuses
from adapters.slack.surfaces import Surfaces
from adapters.slack.telling import Telling
from adapters.slack.uploads import Uploads
from adapters.slack.web import Web
from adapters.slack.windows import Windows
from core.errors import SaysoError
from core.platforms import Desk

DRAINS_WITHIN = 5.0
"""Seconds in which what was taken in has to come to its end on leaving."""


@dataclass(slots=True, kw_only=True)
class SlackPlatform:
    """Implements `core.platforms.Platform`."""

    setup: SlackSetup
    patience: Patience = field(default_factory=Patience)
    pace: Pace = field(default_factory=Pace)
    drains_within: float = DRAINS_WITHIN
    web: Web = field(init=False, repr=False)
    account: Account = field(init=False, repr=False)
    tasks: Tasks = field(default_factory=Tasks)
    address: tuple[str, int] | None = None
    """Where it listens in HTTP mode, while it does."""
    roster: SlackRoster = field(init=False, repr=False)
    _statuses: Statuses = field(init=False, repr=False)
    _chat: SlackChat = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Put together what needs no connection."""
        self.web = Web(setup=self.setup)
        self.account = Account(setup=self.setup, web=self.web)
        # A token belongs to one workspace: where several are listed, Slack says which.
        team = min(self.setup.teams) if len(self.setup.teams) == 1 else ""
        self.roster = SlackRoster(self.web, team=team, groups=self.setup.groups)
        self._statuses = Statuses(web=self.web, tasks=self.tasks)
        self._chat = SlackChat(
            web=self.web,
            finder=Finder(web=self.web, account=self.account),
            uploads=Uploads(web=self.web),
            statuses=self._statuses,
        )

    @property
    def chat(self) -> SlackChat:
        """See the port."""
        return self._chat

    @asynccontextmanager
    async def connected(self, desk: Desk) -> AsyncIterator[None]:
        """See the port."""
        async with self.web.opened():
            bot = await self.account.bot()
            intake = self._intake(desk, bot)
            way_in = self._sockets if self.setup.listen is None else self._listening
            async with way_in(bot, intake):
                try:
                    yield
                finally:
                    intake.is_leaving = True
                    await self.tasks.drain(self.drains_within)

    async def check(self) -> tuple[str, ...]:
        """See the port."""
        async with self.web.opened():
            try:
                await self.account.bot()
                granted = await self.web.scopes()
            except SaysoError as error:
                return (error.shown,)
            wrong = lacking(granted) if granted else ()
            return (*wrong, *await self._unreachable())

    async def _unreachable(self) -> tuple[str, ...]:
        """Return why nothing could come in. Whether Slack reaches us over HTTP, only Slack knows."""
        try:
            if self.setup.listen is not None:
                no_secret(self.setup)
            else:
                await self._try_socket()
        except SaysoError as error:
            return (error.shown,)
        return ()

    async def _try_socket(self) -> None:
        sockets = Sockets(web=self.web, handle=_nothing, tasks=self.tasks, pace=self.pace)
        await sockets.close(await sockets.open())

    @asynccontextmanager
    async def _sockets(self, bot: Bot, intake: Intake) -> AsyncIterator[None]:
        handle = through(app_of(self.web, bot, intake))
        sockets = Sockets(web=self.web, handle=handle, tasks=self.tasks, pace=self.pace)
        async with sockets.opened():
            yield

    @asynccontextmanager
    async def _listening(self, bot: Bot, intake: Intake) -> AsyncIterator[None]:
        listener = Listener(setup=self.setup, app=app_of(self.web, bot, intake))
        async with listener.opened():
            self.address = listener.address
            try:
                yield
            finally:
                self.address = None

    def _intake(self, desk: Desk, bot: Bot) -> Intake:
        return Intake(
            bot=bot,
            desk=desk,
            tasks=self.tasks,
            takes=Takes(tasks=self.tasks),
            follow=Following(
                telling=Telling(web=self.web), statuses=self._statuses, tasks=self.tasks
            ),
            windows=Windows(web=self.web, desk=desk),
            surfaces=Surfaces(web=self.web, desk=desk, team=bot.team),
            membership=Membership(web=self.web, tasks=self.tasks),
            changed=self.roster.changed,
            mentions_only=self.setup.mentions_only,
            patience=self.patience,
        )


async def _nothing(*_: object) -> None:
    """Take nothing, and acknowledge nothing: Slack delivers it to whoever is really there."""

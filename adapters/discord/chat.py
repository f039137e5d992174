"""Posts and edits on Discord: every message once, whatever happens on the way."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import discord

from adapters.discord import finding
from adapters.discord.direct import undecided
from adapters.discord.drawn import Drawn
from adapters.discord.finding import Finder, Found
from adapters.discord.marks import file_of
from adapters.discord.messages import draw, unfinished
from adapters.discord.naming import thread_name
from adapters.discord.pieces import Pieces
from adapters.discord.posts import At, Posts
from adapters.discord.refusals import UNKNOWN_MESSAGE, code_of, is_unclear
from adapters.discord.rest import Rest
from adapters.discord.threads import Threads
from adapters.platforms.tasks import Tasks
from adapters.platforms.tasks import failed as log_failure
from core.deliveries import Drafted, Message, Opening, Text
from core.errors import Refused, SaysoError, Unavailable
from core.events import OPENS, Place

_SOON = timedelta(seconds=5)
"""For so long an answer waits to take the place of its draft; then it is posted below, and that removed."""
_TYPING = 2.0
"""Seconds that are spent on showing that something is being written."""
_ELSEWHERE = "The Discord server in which this was asked belongs to nobody here."


@dataclass(slots=True, kw_only=True)
class DiscordChat:
    """Implements `core.deliveries.Chat`. The id of a message is those of its pieces, with commas."""

    rest: Rest
    tasks: Tasks = field(default_factory=Tasks)
    threads: Threads = field(init=False)
    finder: Finder = field(init=False)
    posts: Posts = field(init=False)
    pieces: Pieces = field(init=False)
    _unclear: set[str] = field(default_factory=set[str], init=False)
    """What was tried in this process, and may be there in part."""
    _longer: dict[str, dict[int, str]] = field(
        default_factory=dict[str, dict[int, str]], init=False
    )
    """The pieces that edits have added below messages, by the id of these."""

    def __post_init__(self) -> None:
        """Connect what it is made of."""
        self.threads = Threads(rest=self.rest)
        self.finder = Finder(rest=self.rest)
        self.posts = Posts(rest=self.rest, threads=self.threads)
        self.pieces = Pieces(posts=self.posts)

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
        self._must_be_ours(place)
        if isinstance(message, Opening):
            return await self._opened(place, message, key, again=again)
        at = await self._at(place)
        return await self._posted(at, place, message, key, again=again, drafted=drafted)

    async def draft(self, place: Place, text: str, *, drafted: Drafted, again: bool = False) -> str:
        """See the port."""
        self._must_be_ours(place)
        at = await self._at(place)
        piece = await asyncio.to_thread(unfinished, text)
        message = drafted.message
        if message is None and again:
            message = await self._draft(at, drafted)
        if message is None:
            return await self.pieces.send(at, piece, drafted.key)
        await self.pieces.update(at, message, piece)
        return message

    async def edit(self, place: Place, posted: str, message: Message) -> None:
        """See the port."""
        self._must_be_ours(place)
        at = await self._at(place)
        ids = posted.split(",")
        pieces = await self._drawn(place, message)
        for one, piece in zip(ids, pieces, strict=False):
            await self.pieces.update(at, one, piece)
        for one in ids[len(pieces) :]:
            await self.posts.remove(at, one)
        more = pieces[len(ids) :]
        if more or posted in self._longer:
            await self._more(at, posted, more)

    async def typing(self, place: Place) -> None:
        """Show for some seconds that something is being written there, if that can be."""

        async def shown(client: discord.Client) -> None:
            await client.get_partial_messageable(at.id).typing()

        try:
            self._must_be_ours(place)
            at = await self._at(place)
            await self.rest.call("show typing", shown, on=at.channel, within=_TYPING)
        except SaysoError as error:
            log_failure(error)

    async def _opened(self, place: Place, message: Opening, key: str, *, again: bool) -> str:
        """Open a thread from what was asked, where that is a message, and else from a new one."""
        name = thread_name(message.text)
        thread = await self._opened_from(place, name)
        if thread is None:
            at = At(channel=place.channel, posting="post in a channel")
            ids = await self._posted(at, place, message, key, again=again)
            thread = await self.threads.open(place.channel, ids.split(",")[0], name)
        asker = message.asker
        if asker is not None and (asker.platform, asker.workspace) == (
            place.platform,
            place.workspace,
        ):
            # Nobody waits for it: until the caller has noted whose thread it is, what is said there is nobody's.
            self.tasks.start(self.threads.add(thread, asker.user))
        return thread

    async def _opened_from(self, place: Place, name: str) -> str | None:
        """Return the thread of the message that asked; None where there is none such."""
        asked = (place.thread or "").removeprefix(OPENS)
        if not (asked.isascii() and asked.isdecimal()):
            return None
        try:
            return await self.threads.open(place.channel, asked, name)
        except Refused as error:
            if code_of(error) != UNKNOWN_MESSAGE:
                raise
            return None

    async def _posted(
        self,
        at: At,
        place: Place,
        message: Message,
        key: str,
        *,
        again: bool,
        drafted: Drafted | None = None,
    ) -> str:
        pieces = await self._drawn(place, message)
        looks = again or key in self._unclear
        found = await self._found(at, message, pieces, key) if looks else Found(pieces={})
        self._unclear.add(key)
        try:
            if drafted and _takes_over(message, pieces) and 0 not in found.pieces:
                found.pieces.update(await self._instead(at, drafted, pieces[0], key))
            await self.pieces.missing(at, message, pieces, key, found)
            if drafted:
                await self._take_back(at, drafted, besides=found.pieces[0])
        except SaysoError as error:
            if not found.pieces and not is_unclear(error):
                self._unclear.discard(key)
            raise
        self._unclear.discard(key)
        return ",".join(found.pieces[number] for number in range(len(pieces)))

    async def _instead(self, at: At, drafted: Drafted, piece: Drawn, key: str) -> Mapping[int, str]:
        """Put a piece in the place of a draft and return it as the first; nothing where it cannot be soon."""
        message = drafted.message or await self._draft(at, drafted)
        try:
            is_there = message is not None and await self.pieces.update(at, message, piece, key)
        except Unavailable as error:
            if error.after is None or error.after <= _SOON:
                raise
            return {}
        return {0: message} if message is not None and is_there else {}

    async def _take_back(self, at: At, drafted: Drafted, *, besides: str) -> None:
        """Remove a draft whose place was not taken."""
        message = drafted.message or await self._draft(at, drafted)
        if message not in (None, besides):
            await self.posts.remove(at, message)

    async def _draft(self, at: At, drafted: Drafted) -> str | None:
        there = await self.finder.newest(at.channel)
        return finding.draft(self.pieces.may_be(drafted.key, there))

    async def _found(self, at: At, message: Message, pieces: Sequence[Drawn], key: str) -> Found:
        there = self.pieces.may_be(key, await self.finder.newest(at.channel))
        file = file_of(key, message)
        if isinstance(message, Opening):
            return finding.opening(there, pieces[0], file)
        return finding.posted(there, key, pieces, file)

    async def _more(self, at: At, posted: str, pieces: Sequence[Drawn]) -> None:
        """Bring up to date what is below a message, as an edit before left it there."""
        key = f"more:{posted}"
        if posted not in self._longer:
            there = self.pieces.may_be(key, await self.finder.newest(at.channel))
            self._longer[posted] = finding.posted(there, key, pieces, "").pieces
        await self.pieces.more(at, key, pieces, self._longer[posted])

    async def _at(self, place: Place) -> At:
        """Return where messages go: into the thread, to one person alone, or into the channel."""
        if place.thread is None:
            channel = await self.threads.direct(place.channel)
            return At(channel=channel, posting="write to one person")
        if not place.is_opened:
            return At(channel=place.channel, posting="post in a channel")
        if place.thread == place.channel:
            return At(channel=place.channel, posting="write to one person")
        return At(channel=place.thread)

    async def _drawn(self, place: Place, message: Message) -> tuple[Drawn, ...]:
        """Draw a message: what a model wrote may take seconds to read, and no click waits for that."""
        is_direct = place.thread in (None, place.channel)
        shown = undecided(message) if is_direct else message
        return await asyncio.to_thread(draw, shown, guild=place.workspace)

    def _must_be_ours(self, place: Place) -> None:
        """Raise where a place is in a server that belongs to no tenant; direct messages are in none."""
        is_direct = place.thread in (None, place.channel)
        if place.workspace not in self.rest.setup.guilds and (place.workspace or not is_direct):
            raise Unavailable(_ELSEWHERE)


def _takes_over(message: Message, pieces: Sequence[Drawn]) -> bool:
    """Whether a message takes the place of a draft: Discord tells nobody of a mention in an edit."""
    return isinstance(message, Text) and not pieces[0].mentions

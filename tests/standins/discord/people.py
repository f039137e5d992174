"""What people and other programs write, press and send, and the sessions are told of."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.standins.discord import acts, plain, posting, shapes, threads
from tests.standins.discord.gateway import created
from tests.standins.discord.interactions import COMMAND, Interaction, Modal
from tests.standins.discord.messages import replies
from tests.standins.discord.state import State
from tests.standins.discord.wire import Json, copied
from tests.standins.discord.world import GUILD, Message, World


@dataclass(kw_only=True)
class People:
    """Each method does it in the world, and returns the message as it is then.

    What is done with the app itself returns the interaction, which gathers what came of it.
    """

    state: State
    send: Callable[[Interaction], None]
    """Sends an interaction to the app."""

    @property
    def world(self) -> World:
        """Return where they are."""
        return self.state.world

    async def slash(self, user: str, channel: str, name: str, **options: object) -> Interaction:
        """Type a slash command, with its options by their names."""
        self._must(user, channel)
        may = self.world.guild_of(channel) is None or self.world.may(
            channel, "use_application_commands", user
        )
        assert may, f"{user} may use no commands in {channel}"
        data = acts.command(self.world, channel, name, options)
        return self._do(acts.Done(kind=COMMAND, user=user, channel=channel, data=data))

    async def presses(
        self, user: str, message: Json, what: str, *, stale: bool = False
    ) -> Interaction:
        """Press a button by its label, its `custom_id` or its verb, as the message is now.

        `stale`: as the given message has it, which somebody still has before them.
        """
        kept = self._found(message)
        self._must(user, kept.channel)
        assert kept.only_for in (None, user), "nobody else sees that message"
        button = plain.pressed(message if stale else kept.now, what)
        return self._do(acts.press(user, kept, button))

    async def forges(self, user: str, message: Json, custom_id: str) -> Interaction:
        """Send a press on a button that the message does not have."""
        return self._do(acts.press(user, self._found(message), {"custom_id": custom_id}))

    async def submits(self, user: str, modal: Modal | None, **fields: str) -> Interaction:
        """Send a form, with what was written into its fields by their `custom_id`."""
        assert modal is not None, "there is no form"
        assert modal.user == user, "it is somebody else's form"
        source = self.world.messages[modal.message] if modal.message else None
        return self._do(acts.submit(modal, fields, source))

    def _do(self, done: acts.Done) -> Interaction:
        act = acts.begin(self.state, done)
        self.send(act)
        return act

    async def writes(self, user: str, channel: str, text: str) -> Json:
        """Write a message: in a channel, a thread or direct messages."""
        self._must(user, channel)
        threads.revive(self.world, channel, user)
        author = self.world.users[user]
        body: Json = {"content": text, "allowed_mentions": None}
        return copied(posting.make(self.world, channel, author, body).now)

    async def mentions(self, user: str, channel: str, text: str) -> Json:
        """Mention the bot: `{bot}` in the text is where, in front where it stands nowhere."""
        marked = text if "{bot}" in text else f"{{bot}} {text}"
        return await self.writes(user, channel, marked.replace("{bot}", f"<@{self.world.bot}>"))

    async def dms(self, user: str, text: str) -> Json:
        """Write to the bot alone."""
        return await self.writes(user, self.world.dm(user), text)

    async def replies(self, user: str, message: Json, text: str, *, ping: bool = True) -> Json:
        """Reply to a message; without `ping` its writer is not told."""
        to = self._found(message)
        self._must(user, to.channel)
        threads.revive(self.world, to.channel, user)
        allowed = {"parse": ["users", "roles", "everyone"], "replied_user": ping}
        body: Json = {"content": text, "allowed_mentions": allowed}
        author = self.world.users[user]
        return copied(posting.make(self.world, to.channel, author, body, **replies(to)).now)

    async def edits(self, message: Json, text: str) -> Json:
        """Give a message other words, as its writer."""
        return copied(posting.edit(self.world, self._found(message), {"content": text}).now)

    async def unfurls(self, message: Json) -> Json:
        """Have Discord draw a preview below a message: told as an update that nobody made."""
        kept = self._found(message)
        kept.now["embeds"] = [{"type": "link", "url": "https://example.com/", "title": "x"}]
        self.world.tell("MESSAGE_UPDATE", posting.delivered(self.world, kept))
        return copied(kept.now)

    async def deletes(self, message: Json) -> None:
        """Take a message away."""
        posting.remove(self.world, self._found(message))

    async def bot_writes(self, channel: str, text: str, *, bot: str = "500000000000000090") -> Json:
        """Have another bot write."""
        guild = self.world.guild_of(channel)
        if bot not in self.world.users:
            self.world.person(bot, "other", guild=guild or GUILD, bot=True)
        return await self.writes(bot, channel, text)

    async def webhook_writes(self, channel: str, text: str) -> Json:
        """Have a webhook post: its author is nobody's account."""
        hook = "500000000000000091"
        author = shapes.user(hook, "hook", bot=True) | {"global_name": None}
        body: Json = {"content": text}
        return copied(posting.make(self.world, channel, author, body, webhook_id=hook).now)

    async def opens_thread(
        self, user: str, channel: str, name: str, message: Json | None = None
    ) -> str:
        """Begin a thread, from a message or from none; return its id."""
        root = self._found(message) if message else None
        self._must(user, channel)
        return str(threads.begin(self.world, channel, name, owner=user, message=root)["id"])

    async def opens_post(self, user: str, forum: str, title: str, text: str) -> str:
        """Write a post in a forum; return the id of its thread."""
        author = self.world.users[user]
        return str(threads.post(self.world, forum, title, author, {"content": text})["id"])

    async def archives(self, thread: str, *, locked: bool = False) -> None:
        """Put a thread away, as Discord does in time; `locked` as only a moderator can."""
        threads.change(self.world, thread, archived=True, locked=locked)

    async def locks(self, thread: str) -> None:
        """Lock a thread that goes on to be shown, as only a moderator can."""
        threads.change(self.world, thread, locked=True)

    async def changes_roles(self, user: str, *roles: str, guild: str = GUILD) -> None:
        """Give somebody these roles and no others."""
        member = self.world.guilds[guild].members[user]
        member["roles"] = list(roles)
        self.world.tell("GUILD_MEMBER_UPDATE", {**copied(member), "guild_id": guild})

    async def brings(self, user: str, guild: str) -> None:
        """Bring the bot into a server that there is by now, where that is told as new."""
        self.world.brought[guild] = user
        told = created(self.world, guild)
        del told["unavailable"]
        self.world.tell("GUILD_CREATE", {**told, "guild_id": guild})

    async def sends_away(self, guild: str = GUILD) -> None:
        """Send the bot out of a server, which it has not seen since."""
        self.world.guilds[guild].members.pop(self.world.bot)
        self.world.tell("GUILD_DELETE", {"id": guild, "guild_id": guild})

    async def leaves(self, user: str, guild: str = GUILD) -> None:
        """Have somebody leave a server."""
        del self.world.guilds[guild].members[user]
        gone = {"guild_id": guild, "user": self.world.users[user]}
        self.world.tell("GUILD_MEMBER_REMOVE", gone)

    def _found(self, message: Json) -> Message:
        kept = self.world.messages[str(message["id"])]
        assert not kept.gone, "that message is gone"
        return kept

    def _must(self, user: str, channel: str) -> None:
        """Fail where somebody could not write there."""
        partner = self.world.partner(channel)
        assert partner in (None, user), "these are somebody else's direct messages"
        may = self.world.may(channel, "view_channel", user)
        assert partner or may, f"{user} does not see {channel}"

"""What Sayso asks Discord about people, servers and the app, as Discord answers it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adapters.discord.rest import Rest
from core.canonical import JsonObject

_MOST_SERVERS = 200
"""So many of its servers Discord names at once."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Asks through the one REST client. The answers are not yet believed; errors are those of `Rest`."""

    rest: Rest

    async def user(self) -> str:
        """Return the user id that Sayso has."""
        return await self.rest.user()

    async def application(self) -> Mapping[str, object]:
        """Return the app that the token belongs to."""
        return {**await self.rest.call("log in", lambda client: client.http.application_info())}

    async def guilds(self) -> Sequence[Mapping[str, object]]:
        """Return the first servers that Sayso is in, without their roles."""
        told = await self.rest.call(
            "read a server",
            lambda client: client.http.get_guilds(_MOST_SERVERS, with_counts=False),
        )
        return [{**one} for one in told]

    async def guild(self, guild: str) -> Mapping[str, object]:
        """Return a server with its roles."""
        told = await self.rest.call(
            "read a server",
            lambda client: client.http.get_guild(guild, with_counts=False),
            on=guild,
        )
        return {**told}

    async def channels(self, guild: str) -> Sequence[Mapping[str, object]]:
        """Return the channels of a server that Sayso can see."""
        told = await self.rest.call(
            "read a server", lambda client: client.http.get_all_guild_channels(guild), on=guild
        )
        return [{**one} for one in told]

    async def member(self, guild: str, user: str) -> Mapping[str, object]:
        """Return a member of a server."""
        told = await self.rest.call(
            "read a member", lambda client: client.http.get_member(guild, user), on=guild
        )
        return {**told}

    async def commands(self, application: str) -> Sequence[Mapping[str, object]]:
        """Return the commands that are registered for every server."""
        told = await self.rest.call(
            "write commands", lambda client: client.http.get_global_commands(application)
        )
        return [{**one} for one in told]

    async def register(self, application: str, commands: Sequence[JsonObject]) -> None:
        """Register these commands for every server, and no others any more."""
        given = [{**one} for one in commands]
        await self.rest.call(
            "write commands",
            lambda client: client.http.bulk_upsert_global_commands(application, given),
        )

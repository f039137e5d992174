"""The same client before a judge that somebody else wrote: simcord, which enforces Discord's limits."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import discord
import simcord

from adapters.discord import declared
from adapters.discord.catching_up import CatchingUp
from adapters.discord.client import Client, Habits, Inflow, Shard
from adapters.discord.hearing import Hearing
from adapters.discord.intake import Intake
from adapters.discord.lanes import Lanes
from adapters.discord.messages import draw
from adapters.discord.replies import Replies
from adapters.discord.setup import DiscordSetup
from adapters.discord.views import layout
from adapters.discord.whoever import Whoever
from adapters.platforms.takes import Takes
from adapters.platforms.tasks import Tasks
from core.errors import Refused
from core.events import Approve, Ask, Deny
from core.platforms import Event, Told
from tests.discord_scene import REQUEST, asking
from tests.fakes.chat import FakeChat
from tests.fakes.desk import FakeDesk


@dataclass(kw_only=True)
class Court:
    """simcord with somebody in a server, and Sayso's client there."""

    env: simcord.Env
    desk: FakeDesk
    guilds: set[str]
    alice: "simcord.MemberActor"
    ops: "simcord.ChannelHandle"

    async def card(self) -> discord.Message:
        """Have the card stand in the channel, as Sayso posts it."""
        channel = self.env.bot.get_channel(self.ops.id)
        assert isinstance(channel, discord.TextChannel)
        [drawn] = draw(asking(), guild=str(channel.guild.id))
        return await channel.send(view=layout(drawn.components))


class Slow(FakeDesk):
    """A desk that needs five seconds for everything."""

    async def take(self, event: Event) -> Told:
        await asyncio.sleep(5)
        return await super().take(event)


@asynccontextmanager
async def in_session(desk: FakeDesk | None = None) -> AsyncGenerator[Court]:
    """Let there be Alice in a channel with Sayso, whose commands are known."""
    desk, guilds = desk or FakeDesk(), set[str]()
    bot = client_of(desk, guilds)
    async with simcord.run(bot) as env:
        guild = env.create_guild(name="acme")
        ops = guild.create_text_channel("ops")
        alice = guild.add_member(env.create_user("alice"))
        await bot.tree.sync()
        await env.settle()
        guilds.add(str(guild.id))
        yield Court(env=env, desk=desk, guilds=guilds, alice=alice, ops=ops)


def client_of(desk: FakeDesk, guilds: "set[str]") -> Client:
    """Return the client as the platform makes it, but with a chat that is a fake."""
    setup = DiscordSetup(token="fake", guilds=guilds)  # type: ignore[arg-type]
    tasks, chat = Tasks(), FakeChat()
    takes, us = Takes(tasks=tasks), Whoever(setup=setup, user="1")
    hearing = Hearing(
        desk=desk,
        us=us,
        tasks=tasks,
        takes=takes,
        lanes=Lanes(tasks=tasks),
        replies=Replies(chat=chat, show_typing=nothing),
        parent=nowhere,
    )
    inflow = Inflow(
        intake=Intake(desk=desk, us=us, tasks=tasks, takes=takes),
        hearing=hearing,
        tasks=tasks,
        people_seen=lambda _: None,
        guild_seen=us.saw,
        catching_up=CatchingUp(hearing=hearing, guilds=guilds),
    )
    return Client(setup, Shard(number=0, of=1), inflow, Habits(before_identify=nothing))


async def nothing(_: object) -> None:
    """Do nothing."""


async def nowhere(_: str) -> None:
    """Know of no thread."""


async def test_a_command_is_answered_in_time_and_alone() -> None:
    async with in_session() as court:
        court.desk.says = [Refused("You may not ask here.")]

        asked = await court.alice.slash(court.ops, "ask", text="restart web")

        assert isinstance(court.desk.events[0], Ask)
        assert asked.acknowledged
        assert asked.ephemeral
        assert "You may not ask here." in str(asked.response.components if asked.response else "")


async def test_the_commands_that_are_declared_are_those_that_are_there() -> None:
    async with in_session() as court:
        bot = court.env.bot
        assert isinstance(bot, Client)
        tree: list[object] = [each.to_dict(bot.tree) for each in bot.tree.get_commands()]

        assert not declared.differs(declared.payload(), tree)
        assert set(court.alice.available_commands(court.ops)) == {"ask", "stop", "sayso"}


async def test_a_button_of_a_card_is_taken_and_leaves_the_card_alone() -> None:
    async with in_session() as court:
        card = await court.card()

        pressed = await court.alice.click(card, label="Approve")

        [event] = court.desk.events
        assert isinstance(event, Approve)
        assert event.request == REQUEST
        assert pressed.acknowledged


async def test_every_card_still_answers_after_the_bot_was_restarted() -> None:
    async with in_session() as court:
        cards = [await court.card() for _ in range(3)]

        await court.env.restart_bot(client_of(court.desk, court.guilds))
        for card in cards:
            assert (await court.alice.click(card, label="Approve")).acknowledged

        assert [type(event) for event in court.desk.events] == [Approve] * 3


async def test_deny_opens_a_form_that_discord_takes() -> None:
    async with in_session() as court:
        shown = await court.alice.click(await court.card(), label="Deny")
        sent = await court.alice.submit_modal(shown, {"reason": "not on a Friday"})

        [event] = court.desk.events
        assert isinstance(event, Deny)
        assert event.reason == "not on a Friday"
        assert sent.acknowledged


async def test_all_of_a_long_plan_is_within_discords_limits() -> None:
    async with in_session() as court:
        court.desk.says = [Told(card=asking(plan=tuple(f"restart web {n}" for n in range(2_000))))]

        shown = await court.alice.click(await court.card(), label="Review full plan")

        assert shown.ephemeral
        assert shown.response is not None
        assert len(shown.response.attachments) == 1


async def test_p33_a_desk_that_needs_five_seconds_has_the_answer_later() -> None:
    async with in_session(Slow(says=[Refused("You may not ask here.")])) as court:
        asked = await court.alice.slash(court.ops, "ask", text="restart web")
        await court.env.advance_time(2.5)
        assert asked.deferred
        assert asked.ephemeral
        await court.env.advance_time(3)

        assert "You may not ask here." in str(asked.response.components if asked.response else "")

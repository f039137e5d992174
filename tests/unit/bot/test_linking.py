"""What each side of a link is told, alone, and what becomes of a job that comes too late."""

from collections.abc import AsyncGenerator
from dataclasses import replace

import pytest

from approvals.linking import LinkingAccounts
from bot.linking import LinkingDesk, Telling
from core.deliveries import Text
from core.errors import Invalid, Unavailable
from core.events import LinkDeed, LinkWish, Place
from core.jobs import Job, LeaseLost, Replay
from core.links import LINK, read_code
from core.platforms import Told
from core.principals import Identity
from tests.bots import Bots
from tests.builders import TENANT
from tests.fakes.chat import FakeChat
from tests.fakes.hold import FakeHold
from tests.gates import BOB_ON_SLACK, World, who
from tests.stores import Stores, jobs_of

X = Identity(platform="discord", workspace="G1", user="500")


@pytest.fixture
async def world(stores: Stores) -> AsyncGenerator[World]:
    world = World(stores)
    world.linking = True
    yield world
    await Bots(world).at_rest()


async def take(world: World, who_: Identity, what: LinkDeed, given: str = "") -> Told:
    accounts = LinkingAccounts(links=world.stores.links, acting=world.gate.acting)
    wish = LinkWish(identity=who_, what=what, given=given)
    return await LinkingDesk(accounts=accounts).take(wish)


async def asked(world: World, on: Identity = BOB_ON_SLACK) -> str:
    """Come as far as to the question; return the id of the link."""
    offered = await take(world, on, "offer")
    [code] = {word for word in offered.text.split() if read_code(word)}
    claimed = await take(world, X, "claim", code)
    assert claimed.text.startswith("You would act as bob. Confirm only if that is you")
    assert [(b.label, b.verb) for b in claimed.buttons] == [
        ("Confirm", "link_yes"),
        ("Refuse", "link_no"),
    ]
    told = await take(world, X, "confirm", claimed.buttons[0].request)
    assert told == Told(
        text="bob is asked now, where they wrote `link`. Until they confirm there as well, nothing "
        "counts."
    )
    return claimed.buttons[0].request


async def delivered(world: World, chats: dict[str, FakeChat], *, is_lost: bool = False) -> None:
    """Do the newest job of a link."""
    row = (await jobs_of(world.stores, LINK))[-1]
    name, state = row["id"].removeprefix(f"{LINK}:").split(":")
    job = Job(
        id=row["id"], kind=LINK, tenant=TENANT, payload={"link": name, "state": state},
        replay=Replay.SAFE, lane=None, fence=1, attempt=1,
    )  # fmt: skip
    telling = Telling(links=world.stores.links, chats=chats)
    await telling(FakeHold(job, is_lost=is_lost))


async def test_the_first_side_is_asked_alone_and_then_the_other_is_told(world: World) -> None:
    slack, discord = FakeChat(), FakeChat()
    chats = {"slack": slack, "discord": discord}
    link = await asked(world)
    for _ in range(2):
        await delivered(world, chats)
    [(place, message)] = slack.shown.values()
    assert place == Place(platform="slack", workspace="T1", channel="U2")
    assert isinstance(message, Text)
    assert message.text.startswith(
        "The Discord account 500 in G1 wants to act as you, bob, with all that you may do here."
    )
    assert {button.request for button in message.buttons} == {link}
    made = await take(world, BOB_ON_SLACK, "confirm", link)
    assert made.text == (
        "The Discord account 500 in G1 is yours now: it is you, bob, and one vote. `unlink` ends that."
    )
    await delivered(world, chats)
    [(place, message)] = discord.shown.values()
    assert place == Place(platform="discord", workspace="G1", channel="500")
    assert isinstance(message, Text)
    assert "here you act as bob now" in message.text
    ended = await take(world, who("bob"), "end")
    assert ended.text == "The Discord account 500 in G1 is not bob any more."
    assert (await take(world, who("bob"), "end")).text == "Nothing was linked, so nothing ends."


async def test_whoever_is_asked_at_a_terminal_sees_it_in_the_list(world: World) -> None:
    link = await asked(world, who("bob"))
    await delivered(world, {"console": FakeChat(fails=[LeaseLost("never")])})
    shown = await take(world, who("bob"), "show")
    assert "wants to act as you, bob" in shown.text
    assert f"link confirm {link}" in shown.text
    assert [button.request for button in shown.buttons] == [link, link]
    assert (await take(world, who("carol"), "show")).text == "Nothing is linked to you."
    assert (await take(world, who("bob"), "refuse", link)).text == "Nothing was linked."
    await take(world, who("bob"), "confirm", await asked(world, who("bob")))
    shown = await take(world, who("bob"), "show")
    assert shown == Told(text="The Discord account 500 in G1 is linked to you, bob.")


async def test_a_question_that_was_answered_is_not_asked_any_more(world: World) -> None:
    slack = FakeChat()
    link = await asked(world)
    await take(world, X, "refuse", link)
    await delivered(world, {"slack": slack})
    assert slack.messages == []


async def test_where_there_is_no_such_platform_or_the_job_is_lost_nothing_is_posted(
    world: World,
) -> None:
    slack = FakeChat()
    await asked(world)
    await delivered(world, {})
    with pytest.raises(LeaseLost):
        await delivered(world, {"slack": slack}, is_lost=True)
    assert slack.messages == []


async def test_a_token_that_is_wrong_only_puts_it_off(world: World) -> None:
    slack = FakeChat(fails=[Invalid("The token is wrong.")])
    await asked(world)
    with pytest.raises(Unavailable, match="The token is wrong"):
        await delivered(world, {"slack": slack})
    await delivered(world, {"slack": slack})
    assert len(slack.messages) == 1


async def test_an_account_is_named_in_one_line_whatever_it_is_called(world: World) -> None:
    slack, odd = FakeChat(), replace(X, user="5\n*bob*")
    offered = await take(world, BOB_ON_SLACK, "offer")
    [code] = {word for word in offered.text.split() if read_code(word)}
    claimed = await take(world, odd, "claim", code)
    await take(world, odd, "confirm", claimed.buttons[0].request)
    await delivered(world, {"slack": slack})
    [message] = slack.messages
    assert isinstance(message, Text)
    assert len(message.text.splitlines()) == 2

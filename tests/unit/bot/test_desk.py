"""What people do on a platform goes through one door each, and they alone are told what came of it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace

import pytest

from approvals.linking import OFF
from approvals.models import State
from bot import wiring
from bot.wiring import App, Seams
from core.cards import Button
from core.deliveries import Asking, Opening, Progress, Text
from core.errors import Refused
from core.events import (
    OPENS,
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edited,
    Invited,
    LinkWish,
    Lookup,
    Place,
    ResolveRun,
    Review,
    Stop,
    StopHere,
    StopRun,
    TakeUp,
    WantOutput,
)
from core.platforms import Event, Told
from core.principals import Identity
from tests.fakes.chat import FakeChat
from tests.jobs import soon
from tests.sayso import Sayso

NOBODYS = Told(is_nobodys=True)
OPS = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread="17.1")
ELSEWHERE = replace(OPS, thread="18.1")
GONE = "There is no such request. Copy its id from the card, or ask again for what you need."


def who(name: str, workspace: str = "T0TEAM") -> Identity:
    return Identity(platform="slack", workspace=workspace, user=f"U0{name.upper()}")


ALICE, BOB, CAROL, MALLORY = map(who, ("alice", "bob", "carol", "mallory"))


@dataclass(kw_only=True)
class Front:
    """The desk of an app that serves, and the chat it talks in."""

    app: App
    chat: FakeChat
    asked: int = 0
    names: list[str] = field(default_factory=list[str])

    async def take(self, event: Event) -> Told:
        return await self.app.desk.take(event)

    async def ask(self, text: str, who: Identity = ALICE, place: Place = OPS) -> Told:
        self.asked += 1
        return await self.take(
            Ask(identity=who, place=place, text=text, deliveries=(f"msg:{self.asked}",))
        )

    async def until(self, kind: type, number: int = 1) -> list[object]:
        """Wait until so many messages of a kind are to be read."""

        async def there() -> bool:
            return sum(isinstance(one, kind) for one in self.chat.messages) >= number

        await soon(there)
        return [one for one in self.chat.messages if isinstance(one, kind)]

    async def request(self, text: str = "append alpha", number: int = 1) -> str:
        """Have alice ask for something that needs people; return its request."""
        await self.ask(text)
        cards = await self.until(Asking, number)
        assert isinstance(cards[-1], Asking)
        return cards[-1].card.buttons[0].request

    async def refusal(self, event: Event) -> str:
        with pytest.raises(Refused) as told:
            await self.take(event)
        return told.value.shown


@pytest.fixture
async def front(empty: Sayso) -> AsyncGenerator[Front]:
    async with _served(empty) as served:
        yield served


@asynccontextmanager
async def _served(sayso: Sayso) -> AsyncGenerator[Front]:
    chat, stop = FakeChat(), asyncio.Event()
    async with wiring.opened(sayso.folder / "sayso.yml", Seams(chats={"slack": chat})) as app:
        serving = asyncio.create_task(app.engine.serve(stop))
        try:
            yield Front(app=app, chat=chat)
        finally:
            stop.set()
            await serving


# Asking


async def test_c58_a_message_is_answered_in_its_thread(front: Front) -> None:
    assert await front.ask("show ledger") == Told()
    [answer] = await front.until(Text)
    assert isinstance(answer, Text)
    assert {place for place, _ in front.chat.shown.values()} == {OPS}


async def test_i9_the_same_message_under_another_id_is_answered_once(front: Front) -> None:
    asks = Ask(identity=ALICE, place=OPS, text="show ledger", deliveries=("msg:1", "event:1"))
    await front.take(asks)
    await front.take(replace(asks, deliveries=("msg:1", "event:2")))
    await front.take(replace(asks, deliveries=("event:2",)))
    front.asked = 10
    await front.ask("append alpha")
    await front.until(Asking)
    assert [*map(type, front.chat.messages)] == [Text, Asking]


async def test_c58_what_is_asked_outside_of_a_thread_opens_one(front: Front) -> None:
    await front.ask("show ledger", place=replace(OPS, thread=f"{OPENS}1"))
    await front.until(Text)
    assert front.chat.messages[0] == Opening(author="alice", text="show ledger", asker=ALICE)
    places = [place.thread for place, _ in front.chat.shown.values()]
    assert places == [f"{OPENS}1", "m1"]


async def test_words_in_a_thread_that_is_nobodys_of_ours_are_not_heard(front: Front) -> None:
    stranger = who("nobody")
    for person in (ALICE, stranger):
        said = Ask(identity=person, place=OPS, text="append alpha", known_only=True)
        assert await front.take(said) == NOBODYS
        assert await front.take(StopHere(identity=person, place=OPS, known_only=True)) == NOBODYS
        looks = Lookup(identity=person, place=OPS, at="runs", known_only=True)
        assert await front.take(looks) == NOBODYS
        wants = WantOutput(
            identity=person, place=OPS, run="r_0123456789abcdef", index=0, known_only=True
        )
        assert await front.take(wants) == NOBODYS
    assert await front.app.records.requests() == []
    assert [entry.kind for entry in await front.app.records.audit()] == []


async def test_c58_words_in_a_thread_of_ours_are_heard_without_a_mention(front: Front) -> None:
    await front.ask("show ledger")
    await front.until(Text)
    said = Ask(identity=BOB, place=OPS, text="append alpha", known_only=True)
    await front.take(said)
    await front.until(Asking)


async def test_what_somebody_altered_who_is_in_no_workspace_of_ours_says_nothing(
    front: Front,
) -> None:
    there = replace(OPS, workspace="T0OTHER")
    said = Ask(identity=who("alice", "T0OTHER"), place=there, text="help", known_only=True)
    assert await front.take(said) == NOBODYS


async def test_x12_a_suggestion_asks_what_it_says_once_and_only_where_it_was_made(
    front: Front,
) -> None:
    await front.ask("restart webb in staging")
    [answer] = await front.until(Text)
    assert isinstance(answer, Text)
    assert answer.turn is not None
    takes = TakeUp(identity=ALICE, place=OPS, turn=answer.turn, number=0, deliveries=("trigger:1",))
    gone = "That suggestion is not there any more. Say what you need in words."
    assert await front.refusal(replace(takes, place=ELSEWHERE)) == gone
    assert await front.refusal(replace(takes, number=len(answer.suggestions))) == gone
    assert await front.refusal(replace(takes, number=-1)) == gone
    assert await front.refusal(replace(takes, turn="t_0")) == gone
    await front.take(takes)
    await front.take(takes)
    await front.until(Asking)
    [request] = await front.app.records.requests()
    assert request.requester == "alice"


# Deciding


async def test_i5_a_yes_counts_for_who_may_and_is_a_constant_answer_for_who_may_not(
    front: Front,
) -> None:
    name = await front.request()
    for known in (name, "0" * 32, "no id at all"):
        assert await front.refusal(Approve(identity=MALLORY, request=known)) == GONE
    told = await front.take(Approve(identity=BOB, request=name))
    assert told == Told(text="Your yes counts: 1 of 1 vote.")
    reports = [one for one in await front.until(Text) if isinstance(one, Text)]
    assert "succeeded" in reports[-1].text


async def test_a_no_ends_it_and_asking_again_makes_a_new_card(front: Front) -> None:
    name = await front.request()
    told = await front.take(Deny(identity=BOB, request=name, reason="not now"))
    assert told == Told(text="Your no counts: nothing of it runs.")
    again = AskAgain(identity=BOB, request=name, place=OPS, deliveries=("trigger:7",))
    assert (
        await front.refusal(replace(again, place=None))
        == "Press this in the thread of the request."
    )
    await front.take(again)
    await front.take(again)
    await front.until(Asking, 2)
    states = {one.id: one.state for one in await front.app.records.requests()}
    assert sorted(states.values()) == [State.DENIED, State.OPEN]


async def test_p23_whoever_may_see_a_request_sees_all_of_it(front: Front) -> None:
    name = await front.request()
    told = await front.take(Review(identity=BOB, request=name))
    assert told.card is not None
    assert told.card.card.buttons[0].request == name
    assert await front.refusal(Review(identity=MALLORY, request=name)) == GONE


async def test_p10_an_edited_request_is_told_on_its_card_once_and_changes_nothing(
    front: Front,
) -> None:
    name = await front.request()
    edited = Edited(identity=ALICE, place=OPS, delivery="msg:1", text="append beta")
    for one in (edited, edited, replace(edited, identity=BOB), replace(edited, delivery="msg:9")):
        assert await front.take(one) == Told()

    async def noted() -> bool:
        cards = [one for one in front.chat.messages if isinstance(one, Asking)]
        return "was edited; the plan was not." in cards[0].status

    await soon(noted)
    assert len(front.chat.edits) == 1
    await front.take(Approve(identity=BOB, request=name))
    await front.until(Text)
    [request] = await front.app.records.requests()
    assert (request.state, len(request.plan.calls)) == (State.SPENT, 1)


async def test_p10_an_edit_that_changes_no_word_is_nothing(front: Front) -> None:
    await front.request()
    same = Edited(identity=ALICE, place=OPS, delivery="msg:1", text="append alpha")
    assert await front.take(same) == Told()
    [request] = await front.app.records.requests()
    assert request.edited_at is None
    await front.take(replace(same, text=""))  # it was taken back
    [request] = await front.app.records.requests()
    assert request.edited_at


async def test_p10_an_edit_of_any_other_message_is_nobodys_business(front: Front) -> None:
    await front.request()
    for somebody in (who("eve"), MALLORY):
        other = Edited(identity=somebody, place=OPS, delivery="msg:9", text="lunch at noon")
        assert await front.take(other) == Told()
        assert await front.take(replace(other, place=replace(OPS, workspace="T9"))) == Told()


# Stopping


async def test_p03_a_stop_in_a_thread_means_that_conversation(front: Front) -> None:
    name = await front.request()
    idle = StopHere(identity=ALICE, place=ELSEWHERE)
    assert (await front.take(idle)).text == "Nothing was asked here, so there is nothing to stop."
    told = await front.take(StopHere(identity=ALICE, place=OPS))
    assert told.text == "1 request withdrawn"
    assert await front.refusal(Approve(identity=BOB, request=name)) != GONE


async def test_p03_several_things_are_listed_with_a_button_each_and_a_button_stops_one(
    front: Front,
) -> None:
    first = await front.request()
    await front.ask("append beta", place=ELSEWHERE)
    await front.until(Asking, 2)
    told = await front.take(Stop(identity=ALICE))
    assert told.text.startswith("Several things run or wait.")
    assert len(told.buttons) == 2
    assert {button.verb for button in told.buttons} == {"stop"}
    assert all(len(button.request) == 34 for button in told.buttons)
    chosen = _about(told, "alpha")
    assert (await front.take(StopRun(identity=ALICE, request=chosen.request))).text == (
        "1 request withdrawn"
    )
    states = {one.id: one.state for one in await front.app.records.requests()}
    assert states.pop(first) is State.REVOKED
    assert [*states.values()] == [State.OPEN]


def _about(told: Told, word: str) -> Button:
    [found] = [button for button in told.buttons if word in button.label]
    return found


async def test_p03_the_button_below_a_run_stops_that_run_and_its_unknown_step_is_resolved(
    front: Front,
) -> None:
    name = await front.request("slow append beta 30")
    await front.take(Approve(identity=BOB, request=name))
    await front.until(Progress)
    told = await front.take(StopRun(identity=BOB, request=name))
    assert "1 step unknown" in told.text
    verify = ResolveRun(identity=BOB, request=name, found="verify")
    assert (await front.take(verify)).text.startswith("It was looked at")
    ends = replace(verify, found="did_not")
    assert (await front.take(ends)).text == "Your word ends it."
    assert await front.refusal(ends) == (
        "Nothing of that run is unknown any more. Look at its report."
    )
    assert await front.refusal(replace(ends, identity=MALLORY)) == GONE


async def test_a_turn_that_is_not_there_is_nothing_to_stop(front: Front) -> None:
    told = await front.take(StopRun(identity=ALICE, request="t_0"))
    assert told.text == "Nothing was asked here, so there is nothing to stop."


# Looking


async def test_what_waits_is_listed_for_who_may_know_with_a_look_at_each(front: Front) -> None:
    name = await front.request()
    looks = Lookup(identity=BOB, place=OPS, at="requests")
    told = await front.take(looks)
    assert [button.request for button in told.buttons] == [name]
    assert "Open: 0 of 1 vote" in told.text
    nothing = await front.take(replace(looks, identity=MALLORY))
    assert nothing == Told(text="Nothing waits that you may know of.")
    assert (await front.take(replace(looks, at="runs"))).text == "Nothing ran that you may know of."


async def test_a_home_shows_what_waits_and_what_ran(front: Front) -> None:
    name = await front.request()
    home = await front.app.desk.home(BOB)
    assert [card.card.buttons[0].request for card in home.waits] == [name]
    assert home.runs == ()
    assert "restart-web: Restart the web service" in home.greeting
    await front.take(Approve(identity=BOB, request=name))
    await front.until(Text)
    home = await front.app.desk.home(BOB)
    assert home.waits == ()
    assert len(home.runs) == 1
    assert "append-word" in home.runs[0]


async def test_help_says_what_one_may_do_and_an_invitation_what_all_may(front: Front) -> None:
    looks = Lookup(identity=BOB, place=OPS, at="help")
    told = (await front.take(looks)).text
    assert "deploy: Deploy a version in two steps. You may ask for it and approve it." in told
    assert "show-ledger: Show the last lines of the ledger. You may look." in told
    mallory = (await front.take(replace(looks, identity=MALLORY))).text
    assert mallory.startswith("Nothing is set up that you may use here.")
    hello = (await front.take(Invited(identity=ALICE, place=OPS))).text
    assert hello.startswith("Hello, I am Sayso.")
    assert "approved by bob and carol." in hello
    nowhere = Invited(identity=ALICE, place=replace(OPS, workspace="T0OTHER"))
    assert "nobody's here" in (await front.take(nowhere)).text


async def test_a_link_is_not_begun_where_nobody_called_sayso_or_where_it_is_not_allowed(
    front: Front,
) -> None:
    wish = LinkWish(identity=ALICE, what="offer", place=OPS, known_only=True)
    assert await front.take(wish) == Told(is_nobodys=True)
    await front.ask("show ledger")
    assert await front.refusal(wish) == OFF
    assert await front.refusal(replace(wish, known_only=False)) == OFF

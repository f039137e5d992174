"""What was said reaches its thread: once, in order, and as it stands when it gets there."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from hashlib import sha256

import pytest

from adapters.storage import jobs
from adapters.storage.deliveries import Deliveries
from approvals import cards, reports
from approvals.models import Request, Run, State, Whole
from core.artifacts import Stored
from core.conversations import TurnEnd
from core.deliveries import EDIT, POST, Asking, Text
from core.errors import Invalid, Refused, SaysoError, Unavailable
from core.events import Place
from core.jobs import LeaseLost
from core.outcomes import Reason
from core.roster import Freshness
from core.standing import Why
from tests.bots import Bots
from tests.builders import CONVERSATION, THREAD, a_new_turn, a_proposal
from tests.fakes.chat import FakeChat
from tests.fakes.clock import FrozenClock
from tests.fakes.hold import FakeHold
from tests.fakes.roster import FakeRoster
from tests.gates import APPEND, BOB_ON_SLACK, HIGH, HOUR, World
from tests.jobs import QUICK, soon
from tests.stores import (
    LEASE,
    OTHER_TENANT,
    OWNER,
    SUCCEEDED,
    Stores,
    answering,
    heard,
    jobs_of,
    notice,
    stepped,
)

THERE = "c_thread"
OTHER_THREAD = replace(THREAD, thread="18.1")
DOWN = Unavailable("Slack is out of reach.")
SHUT_OUT = Invalid("Slack does not accept slack.bot_token.")


@pytest.fixture
def chat() -> FakeChat:
    return FakeChat()


@pytest.fixture
async def bots(stores: Stores, chat: FakeChat) -> AsyncGenerator[Bots]:
    """Begin a thread in which nothing was said to anybody yet."""
    await heard(stores, a_new_turn("t_thread", opens=THERE, place=THREAD))
    bots = Bots(World(stores), chats={"slack": chat})
    yield bots
    await bots.at_rest()


async def tell(
    bots: Bots, *texts: str, place: Place = THREAD, suggestions: tuple[str, ...] = ()
) -> None:
    """Answer something in a thread, so many times."""
    for text in texts:
        end = TurnEnd(reason=Reason.ANSWERED, text=text, suggestions=suggestions)
        new = a_new_turn(f"t_that_says_{text}", opens=f"c_{place.thread}", place=place)
        await bots.world.stores.conversations.end(await answering(bots.world.stores, new, end))


async def ask(bots: Bots) -> Request:
    """Have a card be on its way to the thread."""
    call = APPEND.check({"word": "alpha"}, {})
    return await bots.world.ask(a_proposal(call, conversation=THERE, turn="t_thread"))


async def states(bots: Bots) -> list[str]:
    return [row["state"] for row in await jobs_of(bots.world.stores, POST, EDIT)]


async def delivered(bots: Bots, clock: FrozenClock | None = None) -> None:
    """Serve until nothing is left to be delivered; time passes where there is a clock."""
    async with bots.serving():
        await all_ended(bots, clock)


async def all_ended(bots: Bots, clock: FrozenClock | None = None) -> None:
    async def is_over() -> bool:
        if clock:
            clock.pass_by(timedelta(seconds=1))
        return not {"queued", "running"} & set(await states(bots))

    await soon(is_over)


async def held(bots: Bots, owner: str = "dies") -> FakeHold:
    """Claim the first delivery that waits."""
    [job] = await bots.world.stores.database.transact(
        lambda now: jobs.claim(now, owner, LEASE, [POST, EDIT], most=1, only=None)
    )
    return FakeHold(job)


def texts(chat: FakeChat) -> list[str]:
    return [m.text for m in chat.messages if isinstance(m, Text)]


def verbs(message: object) -> set[str]:
    assert isinstance(message, Asking)
    return {button.verb for button in message.card.buttons}


# Once, in order


async def test_what_is_said_is_posted_to_its_thread_in_order(bots: Bots, chat: FakeChat) -> None:
    await tell(bots, "one", "two", "three")
    await delivered(bots)
    assert texts(chat) == ["one", "two", "three"]
    assert {place for place, _ in chat.shown.values()} == {THREAD}
    assert await states(bots) == ["done"] * 3


async def test_what_people_say_is_not_posted_back_to_them(bots: Bots, chat: FakeChat) -> None:
    await heard(bots.world.stores, a_new_turn("t_more", "hello?", place=THREAD))
    await delivered(bots)
    assert chat.messages == []


async def test_what_has_no_thread_is_not_delivered(bots: Bots) -> None:
    end = TurnEnd(reason=Reason.ANSWERED, text="On the console.")
    new = a_new_turn("t_3", conversation=CONVERSATION)
    await bots.world.stores.conversations.end(await answering(bots.world.stores, new, end))
    assert await states(bots) == []


async def test_c47_a_delivery_whose_process_died_before_it_was_told_is_posted_once(
    bots: Bots, chat: FakeChat
) -> None:
    await tell(bots, "one", "two")
    chat.forgets = 1
    dying = asyncio.create_task(bots.delivering.post(await held(bots)))

    async def arrived() -> bool:
        return bool(chat.shown)

    await soon(arrived)
    dying.cancel()
    await asyncio.wait([dying])
    bots.dead.add("dies")
    await delivered(bots)
    assert texts(chat) == ["one", "two"]
    assert chat.tries == 3


async def test_what_was_posted_is_not_posted_again(bots: Bots, chat: FakeChat) -> None:
    await tell(bots, "one")
    hold = await held(bots)
    await bots.delivering.post(hold)
    await bots.delivering.post(hold)
    assert (texts(chat), chat.tries) == (["one"], 1)


async def test_two_who_serve_post_everything_once_and_in_order(bots: Bots, chat: FakeChat) -> None:
    numbers = [str(n) for n in range(10)]
    await tell(bots, *numbers)
    async with bots.serving("one"), bots.serving("two"):
        await all_ended(bots)
    assert (texts(chat), chat.tries) == (numbers, 10)


async def test_i14_a_delivery_of_another_tenant_finds_nothing(bots: Bots, chat: FakeChat) -> None:
    await ask(bots)
    hold = await held(bots)
    await bots.delivering.post(FakeHold(replace(hold.job, tenant=OTHER_TENANT)))
    await bots.delivering.post(
        FakeHold(replace(hold.job, payload={"conversation": THERE, "seq": 99}))
    )
    await bots.delivering.post(hold)
    about = replace(hold.job, tenant=OTHER_TENANT, payload={"request": "0" * 32})
    await bots.delivering.edit(FakeHold(about))
    assert (chat.tries, chat.edits) == (1, [])


# Platforms that fail


@pytest.mark.parametrize("error", [DOWN, SHUT_OUT], ids=["down", "shut out"])
async def test_a_platform_that_fails_is_tried_again_and_nothing_overtakes(
    bots: Bots,
    chat: FakeChat,
    clock: FrozenClock,
    caplog: pytest.LogCaptureFixture,
    error: SaysoError,
) -> None:
    await tell(bots, "one", "two")
    chat.fail([error] * 5)
    await delivered(bots, clock)
    assert (texts(chat), chat.tries) == (["one", "two"], 7)
    assert caplog.text.count(error.shown) == 5


async def test_while_one_thread_waits_another_does_not(
    bots: Bots, chat: FakeChat, clock: FrozenClock
) -> None:
    await tell(bots, "one", "two")
    down = FakeChat(fails=[DOWN] * 10_000)
    bots.chats["discord"] = down
    there = Place(platform="discord", workspace="G1", channel="ops", thread="9")
    await tell(bots, "stuck", "behind it", place=there)
    async with bots.serving():

        async def arrived() -> bool:
            return len(chat.messages) == 2

        await soon(arrived)
        assert texts(chat) == ["one", "two"]
        await soon(partial(has_tried, bots))
        assert (await states(bots))[2:] == ["queued", "queued"]
        down.fails.clear()
        await all_ended(bots, clock)
    assert texts(down) == ["stuck", "behind it"]


async def has_tried(bots: Bots) -> bool:
    """Whether a delivery was put back."""
    return any(row["tries"] for row in await jobs_of(bots.world.stores, POST, EDIT))


async def test_platforms_that_are_down_leave_room_for_whatever_else_is_to_be_done(
    bots: Bots, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.bots.QUICK", replace(QUICK, most=2))
    bots.chats["slack"] = FakeChat(fails=[DOWN] * 10_000)
    for number in range(4):
        await tell(bots, f"number {number}", place=replace(THREAD, thread=f"9{number}"))
    request = await bots.world.granted()
    async with bots.serving():
        await bots.ended(request)
    assert (await bots.job(request), len(bots.world.effects())) == ("done", 1)
    assert set(await states(bots)) == {"queued"}


@pytest.mark.parametrize("where", ["entry", "posted"])
async def test_a_database_that_is_busy_delays_a_delivery_and_it_is_posted_once(
    bots: Bots, chat: FakeChat, clock: FrozenClock, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    request = await ask(bots)
    real, failures = getattr(Deliveries, where), list[str]()

    async def moody(self: Deliveries, *given: object) -> object:
        if not failures:
            failures.append(where)
            raise Unavailable("The database is busy.")
        return await real(self, *given)

    monkeypatch.setattr(Deliveries, where, moody)
    await delivered(bots, clock)
    assert (failures, await states(bots)) == ([where], ["done"])
    assert len(chat.messages) == 1
    # Where it is was written down, so that it is redrawn.
    denied = await bots.world.deny("bob", request)
    await delivered(bots, clock)
    card = chat.messages[0]
    assert isinstance(card, Asking)
    assert card.status == cards.status(denied)


@pytest.mark.parametrize("end", ["denied", "expired"])
async def test_p07_a_card_whose_request_ended_while_its_platform_was_down_is_posted_as_it_is_then(
    bots: Bots, chat: FakeChat, clock: FrozenClock, end: str
) -> None:
    request = await ask(bots)
    chat.fail([DOWN] * 2)
    async with bots.serving():
        await soon(partial(has_tried, bots))
        if end == "denied":
            await bots.world.deny("bob", request)
        else:
            clock.pass_by(HOUR)
        await all_ended(bots, clock)
    ended = await bots.world.now(request)
    assert ended.state == end
    card = chat.messages[0]
    assert isinstance(card, Asking)
    assert card.status == cards.status(ended)
    assert not verbs(card) & {"approve", "edit", "deny"}


async def test_what_a_platform_refuses_is_given_up_and_the_next_is_posted(
    bots: Bots, chat: FakeChat
) -> None:
    await tell(bots, "one", "two")
    chat.fail([Refused("The channel is archived.")])
    await delivered(bots)
    assert texts(chat) == ["two"]
    assert await states(bots) == ["failed", "done"]


async def test_p45_p51_what_a_revoked_token_held_up_is_posted_once_that_is_corrected(
    bots: Bots, chat: FakeChat, clock: FrozenClock
) -> None:
    await tell(bots, "one", "two")
    chat.fail([Invalid("Slack does not accept slack.bot_token.")] * 3)
    await delivered(bots, clock)
    assert texts(chat) == ["one", "two"]
    assert await states(bots) == ["done", "done"]


async def test_p45_a_card_is_drawn_anew_once_the_token_is_corrected(
    bots: Bots, chat: FakeChat, clock: FrozenClock
) -> None:
    request = await ask(bots)
    await delivered(bots)
    await bots.world.deny("bob", request)
    chat.fail([Invalid("Slack does not accept slack.bot_token.")] * 3)
    await delivered(bots, clock)
    card = chat.messages[0]
    assert isinstance(card, Asking)
    assert card.status == cards.status(await bots.world.now(request))


async def test_a_file_that_cannot_be_read_just_now_only_puts_a_card_off(
    bots: Bots, chat: FakeChat
) -> None:
    await ask(bots)
    hold = await held(bots)
    bots.world.unreadable = Invalid("sayso.yml cannot be read.")
    with pytest.raises(Unavailable, match=r"sayso\.yml cannot be read"):
        await bots.delivering.post(hold)
    bots.world.unreadable = None
    await bots.delivering.post(hold)
    assert [isinstance(message, Asking) for message in chat.messages] == [True]


async def test_what_is_for_a_platform_that_is_not_configured_holds_nothing_up(
    bots: Bots, chat: FakeChat, caplog: pytest.LogCaptureFixture
) -> None:
    there = Place(platform="discord", workspace="G1", channel="ops", thread="9")
    await tell(bots, "lost", "lost too", place=there)
    await tell(bots, "one")
    await delivered(bots)
    assert texts(chat) == ["one"]
    assert await states(bots) == ["failed", "failed", "done"]
    assert caplog.text.count("discord is not configured") == 2


async def test_p35_who_lost_the_delivery_posts_nothing(bots: Bots, chat: FakeChat) -> None:
    await tell(bots, "one")
    hold = await held(bots)
    hold.is_lost = True
    with pytest.raises(LeaseLost):
        await bots.delivering.post(hold)
    assert chat.tries == 0


# Cards and answers


async def test_suggestions_travel_with_an_answer(bots: Bots, chat: FakeChat) -> None:
    await tell(bots, "one", suggestions=("append one", "append two"))
    await delivered(bots)
    given = ("append one", "append two")
    assert chat.messages == [Text(text="one", suggestions=given, turn="t_that_says_one")]


async def test_a_card_is_posted_with_its_buttons_and_where_it_is(
    bots: Bots, chat: FakeChat
) -> None:
    request = await ask(bots)
    await delivered(bots)
    status = cards.status(request)
    wanted = (BOB_ON_SLACK,)
    card, _ = cards.drawn(request, None)
    assert chat.messages == [Asking(card=card, status=status, wanted=wanted)]
    assert verbs(chat.messages[0]) == {"approve", "edit", "deny"}


async def test_whoever_may_approve_as_a_platform_says_is_wanted_and_nobody_who_left(
    bots: Bots, chat: FakeChat
) -> None:
    on_slack = {name: replace(BOB_ON_SLACK, user=name) for name in ("bob", "carol", "dave")}
    bots.world.on_slack = on_slack
    bots.world.groups["dave"] = set()
    roster = FakeRoster(members={"ops": {"dave"}}, gone={"bob": Why.DEACTIVATED})
    bots.world.rosters = {"slack": roster}
    await roster.standings(on_slack.values(), Freshness.RECENT)
    await ask(bots)
    await delivered(bots)
    [card] = chat.messages
    assert isinstance(card, Asking)
    assert card.wanted == (on_slack["carol"], on_slack["dave"])


async def test_p07_a_reminder_is_brought_to_the_mind_of_whoever_is_waited_for(
    bots: Bots, chat: FakeChat
) -> None:
    request = await ask(bots)
    await bots.world.stores.requests.remind(request.tenant, request.id, "Still waiting.")
    await delivered(bots)
    assert chat.messages[-1] == Text(text="Still waiting.", is_note=True, wanted=(BOB_ON_SLACK,))


async def test_p07_a_reminder_that_comes_too_late_reminds_nobody(
    bots: Bots, chat: FakeChat
) -> None:
    request = await ask(bots)
    await bots.world.stores.requests.remind(request.tenant, request.id, "Still waiting.")
    await bots.world.deny("bob", request)
    await delivered(bots)
    assert Text(text="Still waiting.", is_note=True) in chat.messages


async def test_p07_a_card_that_is_posted_after_its_request_ended_has_nothing_to_decide(
    bots: Bots, chat: FakeChat
) -> None:
    request = await ask(bots)
    denied = await bots.world.deny("bob", request)
    post = await held(bots)
    await bots.delivering.post(post)
    [card] = chat.messages
    assert isinstance(card, Asking)
    assert card.status == cards.status(denied)
    assert not verbs(card) & {"approve", "edit", "deny"}


async def test_p07_a_card_that_was_posted_is_redrawn_when_its_request_ends(
    bots: Bots, chat: FakeChat
) -> None:
    request = await ask(bots)
    await delivered(bots)
    denied = await bots.world.deny("bob", request)
    await delivered(bots)
    card, *after = chat.messages
    assert isinstance(card, Asking)
    assert card.status == cards.status(denied)
    assert not verbs(card) & {"approve", "edit", "deny"}
    assert [isinstance(message, Text) for message in after] == [True]  # the note that says so
    assert {(place, posted) for place, posted, _ in chat.edits} == {(THREAD, "m1")}


async def test_a_vote_of_several_is_drawn_and_leaves_the_buttons(
    bots: Bots, chat: FakeChat
) -> None:
    call = HIGH.check({"word": "alpha"}, {})
    request = await bots.world.ask(a_proposal(call, conversation=THERE, turn="t_thread"))
    await delivered(bots)
    voted = await bots.world.approve("bob", request)
    await delivered(bots)
    [card] = chat.messages
    assert isinstance(card, Asking)
    assert (voted.state, card.status) == (State.OPEN, cards.status(voted))
    assert verbs(card) == {"approve", "edit", "deny"}


async def test_a_card_that_could_not_be_posted_is_not_redrawn(bots: Bots, chat: FakeChat) -> None:
    request = await ask(bots)
    chat.fail([Refused("The channel is archived.")])
    await bots.world.deny("bob", request)
    await delivered(bots)
    assert chat.edits == []
    assert [isinstance(message, Text) for message in chat.messages] == [True]


@pytest.mark.parametrize("error", [DOWN, SHUT_OUT], ids=["down", "shut out"])
async def test_an_edit_that_fails_is_tried_again(
    bots: Bots, chat: FakeChat, clock: FrozenClock, error: SaysoError
) -> None:
    request = await ask(bots)
    await delivered(bots)
    await bots.world.deny("bob", request)
    chat.fail([error] * 3)
    await delivered(bots, clock)
    card = chat.messages[0]
    assert isinstance(card, Asking)
    assert card.status == cards.status(await bots.world.now(request))


async def test_i4_x2_c49_the_report_of_an_unknown_run_lets_people_say_what_happened(
    bots: Bots, chat: FakeChat
) -> None:
    request = await bots.world.approve("bob", await ask(bots))
    spent = await bots.world.spend(request)
    assert await bots.world.stores.runs.begin_step(spent.run, 0)
    await notice(bots.world.stores, OWNER)
    await delivered(bots)
    card, report = chat.messages
    assert isinstance(card, Asking)
    assert isinstance(report, Text)
    assert (
        card.status == f"{cards.status(await bots.world.now(request))} Run {spent.run.id}: unknown."
    )
    assert not verbs(card) & {"approve", "edit", "deny"}
    assert {button.verb for button in report.buttons} == {"verify", "happened", "did_not", "again"}
    assert {button.request for button in report.buttons} == {request.id}


async def test_c55_the_report_that_was_posted_is_the_one_that_the_store_gives(
    bots: Bots, chat: FakeChat
) -> None:
    decided = await bots.approve("bob", await ask(bots))
    await delivered(bots)
    assert decided.run is not None
    rebuilt = await bots.world.stores.runs.run(decided.request.tenant, decided.run.id)
    assert rebuilt is not None
    assert chat.messages[-1] == Text(text=reports.report(rebuilt), is_report=True)


async def test_the_report_of_a_run_that_went_well_leaves_nothing_to_say(
    bots: Bots, chat: FakeChat
) -> None:
    await bots.approve("bob", await ask(bots))
    await delivered(bots)
    card, report = chat.messages
    assert isinstance(card, Asking)
    assert card.status.endswith(": succeeded.")
    assert isinstance(report, Text)
    assert report.buttons == ()


# All that a step printed


ALL = b"one\ntwo\n"


async def wanted(bots: Bots, *, data: bytes | None = ALL) -> Run:
    """Have somebody want all that a step of a run in the thread printed; so much of it lies there."""
    stores = bots.world.stores
    spent = await bots.world.spend(await bots.world.approve("bob", await ask(bots)))
    stored = Stored(bytes=len(ALL), sha256=sha256(ALL).hexdigest())
    end = replace(SUCCEEDED, whole=Whole(stored=stored))
    run = await stepped(stores, spent.run, end)
    if data is not None:
        bots.artifacts.files[f"{run.id}.0"] = data
    await stores.runs.show_output(run, 0, principal="bob")
    return run


def notes(chat: FakeChat) -> list[Text]:
    return [
        m for m in chat.messages if isinstance(m, Text) and m.text.startswith("bob asked for all")
    ]


async def test_c85_all_that_a_step_printed_comes_as_a_file_of_a_note(
    bots: Bots, chat: FakeChat
) -> None:
    await wanted(bots)
    await delivered(bots)
    [note] = notes(chat)
    assert (note.document, note.is_note) == (ALL.decode(), True)


@pytest.mark.parametrize(
    ("data", "why"), [(None, "Its file is missing"), (b"other", "its digest is another one")]
)
async def test_c85_what_is_not_there_any_more_is_told_in_its_place(
    bots: Bots, chat: FakeChat, data: bytes | None, why: str
) -> None:
    await wanted(bots, data=data)
    await delivered(bots)
    [note] = notes(chat)
    assert note.document is None
    assert why in note.text


async def test_a_folder_that_cannot_be_read_is_tried_again(
    bots: Bots, chat: FakeChat, clock: FrozenClock
) -> None:
    await wanted(bots)
    bots.artifacts.fails = Unavailable("It cannot be read now.")
    async with bots.serving():

        async def was_tried() -> bool:
            clock.pass_by(timedelta(seconds=1))
            rows = await jobs_of(bots.world.stores, POST)
            return any(row["state"] == "queued" and row["fence"] > 1 for row in rows)

        await soon(was_tried)
        assert notes(chat) == []
        bots.artifacts.fails = None
        await all_ended(bots, clock)
    assert [note.document for note in notes(chat)] == [ALL.decode()]

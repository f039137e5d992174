"""`core.deliveries.Deliveries`, and what leaves a delivery: each sentence, on every database."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.transactions import Row
from approvals import cards
from approvals.models import Request, StepEnd
from core.cards import encode
from core.conversations import TurnEnd
from core.deliveries import EDIT, POST, Deliveries, Delivery, Posted, lane_of, post_of
from core.events import Place
from core.outcomes import Reason
from tests.builders import (
    CONVERSATION,
    PLACE,
    TENANT,
    THREAD,
    a_checked,
    a_new_request,
    a_new_turn,
    a_rule,
)
from tests.fakes.clock import FrozenClock
from tests.stores import (
    OTHER_TENANT,
    SUCCEEDED,
    UNKNOWN,
    Act,
    Prepare,
    Stores,
    answering,
    everything,
    granted,
    heard,
    jobs_of,
    opened,
    said_in,
    spend,
    stepped,
    whole_or_nothing,
)

HERE = "c_thread"
SAYS = TurnEnd(reason=Reason.ANSWERED, text="It is there.")
HOUR = timedelta(hours=1)
TWO = a_rule(quorum=2)


@pytest.fixture
async def thread(stores: Stores) -> Stores:
    """Return the stores, with a conversation in a thread in which alice asked something."""
    await heard(stores, a_new_turn("t_thread", opens=HERE, place=THREAD))
    return stores


@pytest.fixture
def deliveries(thread: Stores) -> Deliveries:
    return thread.deliveries


async def _answers(stores: Stores, turn: str, text: str, place: Place = THREAD) -> None:
    """Have a message answered with a text: entries of both."""
    end = replace(SAYS, text=text)
    await stores.conversations.end(
        await answering(stores, a_new_turn(turn, opens=f"c_{turn}", place=place), end)
    )


async def _left(stores: Stores, *, since: int = 0) -> list[Row]:
    """Return the deliveries that were queued, but for the first so many."""
    return (await jobs_of(stores, POST, EDIT))[since:]


def _asks(word: str = "alpha", *, supersedes: str | None = None, quorum: int = 2) -> Act:
    """Return what asks for something in the thread."""
    new = a_new_request(
        a_checked(word), conversation=HERE, rule=a_rule(quorum), supersedes=supersedes
    )
    return lambda on: on.requests.open(new)


async def _open(stores: Stores) -> Request:
    return await opened(stores, a_new_request(conversation=HERE, rule=TWO))


# What leaves a delivery


async def test_what_sayso_says_in_a_thread_leaves_one_delivery(thread: Stores) -> None:
    assert await _left(thread) == []  # what people ask is there already
    await _answers(thread, "t_1a", "It is there.")
    (job,) = await _left(thread)
    names = ("id", "kind", "tenant", "payload", "replay", "lane", "state", "owner")
    assert [job[name] for name in names] == [
        post_of(HERE, 3),
        POST,
        TENANT,
        '{"conversation":"c_thread","seq":3}',
        "safe",
        lane_of(HERE),
        "queued",
        None,
    ]
    entry = await thread.deliveries.entry(TENANT, HERE, 3)
    assert entry is not None
    assert (entry.kind, entry.text) == ("answered", "It is there.")


async def test_deliveries_are_queued_in_the_order_in_which_things_were_said(
    thread: Stores,
) -> None:
    for number in range(12):
        await _answers(thread, f"t_{100 - number}", f"text {number}")
    found = await _left(thread)
    assert [row["id"] for row in found] == [post_of(HERE, 3 + 2 * n) for n in range(12)]
    assert {row["lane"] for row in found} == {lane_of(HERE)}


async def test_a_turn_that_answers_nothing_leaves_no_delivery(thread: Stores) -> None:
    await heard(thread, a_new_turn("t_1a", place=THREAD))
    assert await _left(thread) == []


async def test_each_thread_has_a_lane_of_its_own(thread: Stores) -> None:
    await _answers(thread, "t_1a", "here")
    await _answers(thread, "t_1b", "there", replace(THREAD, thread="17.2"))
    assert [row["lane"] for row in await _left(thread)] == [lane_of(HERE), lane_of("c_t_1b")]


async def test_where_there_is_no_thread_nothing_is_delivered(stores: Stores) -> None:
    await _answers(stores, "t_1a", "It is there.", replace(THREAD, thread=None))
    request = await granted(stores)
    spent = await spend(stores, request)
    assert spent is not None
    await stepped(stores, spent.run, SUCCEEDED)
    denied = await opened(stores)
    await stores.requests.deny(TENANT, denied.id, principal="bob", reason="no")
    assert await said_in(stores, CONVERSATION, "report")
    assert await said_in(stores, CONVERSATION, "note")
    assert await _left(stores) == []


@pytest.mark.parametrize("end", [SUCCEEDED, UNKNOWN], ids=["succeeded", "unknown"])
async def test_the_report_of_a_run_is_delivered_and_its_card_redrawn(
    thread: Stores, end: StepEnd
) -> None:
    request = await granted(thread, a_new_request(conversation=HERE))
    spent = await spend(thread, request)
    assert spent is not None
    since = len(await _left(thread))
    run = await stepped(thread, spent.run, end)
    edit, post = await _left(thread, since=since)
    assert (post["id"], edit["kind"]) == (post_of(HERE, 4), EDIT)
    (report,) = await said_in(thread, HERE, "report")
    assert await thread.deliveries.entry(TENANT, HERE, 4) == Delivery(
        place=THREAD, kind="report", text=report, about=run.id, posted=None, asker="alice"
    )


async def test_the_report_of_what_a_person_resolved_is_delivered_too(thread: Stores) -> None:
    request = await granted(thread, a_new_request(conversation=HERE))
    spent = await spend(thread, request)
    assert spent is not None
    run = await stepped(thread, spent.run, UNKNOWN)
    since = len(await _left(thread))
    await thread.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    assert [row["kind"] for row in await _left(thread, since=since)] == [EDIT, POST]
    assert len(await said_in(thread, HERE, "report")) == 2


Change = Callable[[Stores, Request], Awaitable[object]]


async def _vote(stores: Stores, request: Request) -> object:
    return await stores.requests.vote(TENANT, request.id, principal="carol")


async def _deny(stores: Stores, request: Request) -> object:
    return await stores.requests.deny(TENANT, request.id, principal="bob", reason="no")


async def _once_agreed(stores: Stores) -> Request:
    request = await _open(stores)
    return (await stores.requests.vote(TENANT, request.id, principal="bob")).request


async def _granted(stores: Stores) -> Request:
    return (
        await stores.requests.vote(TENANT, (await _once_agreed(stores)).id, principal="dave")
    ).request


async def _spent(stores: Stores, request: Request) -> None:
    assert await spend(stores, request)


CHANGES: Mapping[str, tuple[Callable[[Stores], Awaitable[Request]], Change, Sequence[str]]] = {
    "vote": (_open, _vote, [EDIT]),
    "grant": (_once_agreed, _vote, [EDIT]),
    "spend": (_granted, _spent, [EDIT, POST]),
    "deny": (_open, _deny, [POST, EDIT]),
    "revoke": (
        _open,
        lambda on, request: on.requests.revoke(
            TENANT, request.id, principal="bob", reason="stopped"
        ),
        [POST, EDIT],
    ),
    "supersede": (
        _open, lambda on, request: _asks("beta", supersedes=request.id)(on), [EDIT, POST]
    ),
    "repeat": (_open, lambda on, _: _asks()(on), [EDIT]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
async def test_whatever_becomes_of_a_request_redraws_its_card_behind_the_earlier_deliveries(
    thread: Stores, change: str
) -> None:
    prepare, act, expected = CHANGES[change]
    request = await prepare(thread)
    since = len(await _left(thread))
    assert since
    await act(thread, request)
    found = await _left(thread, since=since)
    assert [row["kind"] for row in found] == expected
    assert {row["lane"] for row in found} == {lane_of(HERE)}
    (edit,) = [row for row in found if row["kind"] == EDIT]
    payload = f'{{"conversation":"c_thread","request":"{request.id}"}}'
    assert (edit["tenant"], edit["payload"], edit["replay"]) == (TENANT, payload, "safe")


async def test_a_request_that_reaches_its_time_says_so_and_redraws_its_card(
    thread: Stores, clock: FrozenClock
) -> None:
    request = await _open(thread)
    await opened(thread)  # in a conversation that has no thread
    clock.pass_by(HOUR)
    since = len(await _left(thread))
    await thread.requests.expire()
    assert [row["kind"] for row in await _left(thread, since=since)] == [POST, EDIT]
    ended = await thread.requests.get(TENANT, request.id)
    assert ended is not None
    assert await said_in(thread, HERE, "note") == [cards.expired(ended)]
    await thread.requests.expire()
    assert len(await _left(thread)) == since + 2


@pytest.mark.parametrize("act", [_vote, _deny], ids=["vote", "deny"])
async def test_what_changes_nothing_redraws_nothing(thread: Stores, act: Change) -> None:
    request = await _open(thread)
    await thread.requests.revoke(TENANT, request.id, principal="bob", reason="stopped")
    before = await everything(thread.database)
    await act(thread, request)
    assert await everything(thread.database) == before


# I11: whole transactions


async def _answering(stores: Stores) -> Act:
    answers = await answering(stores, a_new_turn("t_1a", place=THREAD), SAYS)
    return lambda on: on.conversations.end(answers)


async def _asking(_: Stores) -> Act:
    return _asks()


async def _denying(stores: Stores) -> Act:
    request = await _open(stores)
    return lambda on: _deny(on, request)


async def _voting(stores: Stores) -> Act:
    request = await _open(stores)
    return lambda on: _vote(on, request)


WHOLE: Mapping[str, tuple[Prepare, Sequence[str]]] = {
    "answer": (_answering, [POST]),
    "card": (_asking, [POST]),
    "vote": (_voting, [EDIT]),
    "denial": (_denying, [POST, EDIT]),
}


@pytest.mark.parametrize("what", WHOLE)
async def test_i11_what_is_said_and_its_delivery_are_one_transaction(
    thread: Stores, what: str
) -> None:
    prepare, expected = WHOLE[what]
    act = await prepare(thread)
    since = len(await _left(thread))
    assert await whole_or_nothing(thread, act) > len(("read", "entry", "job", "commit"))
    assert [row["kind"] for row in await _left(thread, since=since)] == expected


# entry


async def test_an_entry_comes_with_where_it_belongs(thread: Stores) -> None:
    request = await _open(thread)
    assert await thread.deliveries.entry(TENANT, HERE, 1) == Delivery(
        place=THREAD,
        kind="asked",
        text="append alpha",
        about="t_thread",
        posted=None,
        asker="alice",
    )
    assert await thread.deliveries.entry(TENANT, HERE, 2) == Delivery(
        place=THREAD,
        kind="card",
        text=encode(request.card),
        about=request.id,
        posted=None,
        asker="alice",
    )
    elsewhere = await thread.deliveries.entry(TENANT, CONVERSATION, 1)
    assert elsewhere is not None
    assert elsewhere.place == PLACE


@pytest.mark.parametrize(
    ("tenant", "conversation", "seq"),
    [(TENANT, HERE, 2), (TENANT, HERE, 0), (TENANT, "c_none", 1), (OTHER_TENANT, HERE, 1)],
)
async def test_i14_an_entry_that_is_not_there_and_one_of_another_tenant_are_none(
    deliveries: Deliveries, tenant: str, conversation: str, seq: int
) -> None:
    assert await deliveries.entry(tenant, conversation, seq) is None


# posted


async def test_what_was_posted_is_kept_and_the_first_time_counts(thread: Stores) -> None:
    await _answers(thread, "t_1a", "It is there.")
    for message in ("m1", "m2"):
        await thread.deliveries.posted(TENANT, HERE, 3, message)
        entry = await thread.deliveries.entry(TENANT, HERE, 3)
        assert entry is not None
        assert entry.posted == "m1"
    other = await thread.deliveries.entry(TENANT, HERE, 2)
    assert other is not None
    assert other.posted is None


# card


async def test_a_card_is_found_once_it_was_posted(thread: Stores) -> None:
    request = await _open(thread)
    other = await opened(thread, a_new_request(a_checked("beta"), conversation=HERE))
    assert await thread.deliveries.card(TENANT, request.id) is None
    await thread.deliveries.posted(TENANT, HERE, 2, "m1")
    await thread.deliveries.posted(TENANT, HERE, 3, "m2")
    card = thread.deliveries.card
    assert await card(TENANT, request.id) == Posted(place=THREAD, message="m1")
    assert await card(TENANT, other.id) == Posted(place=THREAD, message="m2")
    assert await card(OTHER_TENANT, request.id) is None
    assert await card(TENANT, "0" * 32) is None


async def test_what_else_was_said_about_a_request_is_not_its_card(thread: Stores) -> None:
    request = await _open(thread)
    await _deny(thread, request)
    assert await said_in(thread, HERE, "note")
    await thread.deliveries.posted(TENANT, HERE, 3, "the note")
    assert await thread.deliveries.card(TENANT, request.id) is None


async def test_what_is_for_a_terminal_is_kept_for_the_process_that_has_it(stores: Stores) -> None:
    terminal = Place(platform="console", workspace="local", channel="console", thread="me:1")
    await _answers(stores, "t_terminal", "It is there.", terminal)
    await _answers(stores, "t_elsewhere", "It is there.")
    assert [job["owner"] for job in await _left(stores)] == ["me", None]

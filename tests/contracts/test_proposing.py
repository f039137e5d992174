"""`ApprovalStore.open` for a turn that proposes: request, transcript and both ends are one transaction."""

from dataclasses import replace

import pytest

from adapters.storage.opening import MOST_OPEN
from approvals import cards
from approvals.models import EXPIRE, Denial, Request, State
from approvals.proposals import NewRequest
from core.cards import encode
from core.conversations import TURN, Closing, Said, Turn, TurnEnd
from core.errors import Refused
from core.jobs import JobState, LeaseLost
from core.outcomes import Reason
from core.tools import Checked
from core.transcript import AgentText
from tests.builders import CONVERSATION, TENANT, a_checked, a_new_request, a_new_turn, a_rule
from tests.fakes.clock import START
from tests.stores import (
    LOST,
    OTHER_CONVERSATION,
    Stores,
    answering,
    everything,
    facts_of,
    granted,
    heard,
    jobs_of,
    kept_plan,
    log_of,
    logged_by,
    lose,
    now,
    opened,
    said_in,
)

SEEN = TurnEnd(reason=Reason.PROPOSED, text="three words")


async def _answers(stores: Stores, turn: str = "t_new", end: TurnEnd = SEEN) -> Closing:
    """Return a turn of alice's that is about to propose, and to end with that."""
    return await answering(stores, a_new_turn(turn, conversation=CONVERSATION), end)


def _proposes(
    answers: Closing, *calls: Checked, about: AgentText | None = None, supersedes: str | None = None
) -> NewRequest:
    return a_new_request(
        *calls, turn=answers.turn.id, about=about, supersedes=supersedes, closing=answers
    )


async def _now(stores: Stores, turn: Turn) -> Turn:
    found = await stores.conversations.turn(turn.tenant, turn.id)
    assert found is not None
    return found


async def _said(stores: Stores) -> list[tuple[str, str, str]]:
    """Return what was said since the conversation was opened."""
    found = (await stores.records.said(CONVERSATION))[1:]
    assert {one.at for one in found} <= {START}
    return [_of(one) for one in found]


def _of(said: Said) -> tuple[str, str, str]:
    return said.kind, said.author, said.text


async def _job(stores: Stores, answers: Closing) -> JobState:
    """Return the state of the job that answers the turn."""
    (found,) = [row for row in await jobs_of(stores, TURN) if row["id"] == answers.job.id]
    return JobState(found["state"])


async def test_a_proposal_ends_its_turn_and_the_job_of_that(stores: Stores) -> None:
    answers = await _answers(stores)
    request = await opened(stores, _proposes(answers))
    assert (request.state, request.turn) == (State.OPEN, "t_new")
    assert await _now(stores, answers.turn) == replace(
        answers.turn, reason=Reason.PROPOSED, text="three words", request=request.id
    )
    assert await _job(stores, answers) is JobState.DONE


async def test_what_was_asked_and_seen_is_said_before_the_card(stores: Stores) -> None:
    request = await opened(stores, _proposes(await _answers(stores)))
    assert await _said(stores) == [
        ("asked", "alice", "append alpha"),
        ("answered", "sayso", "three words"),
        ("card", "sayso", encode(request.card)),
    ]


async def test_where_nothing_was_seen_only_the_card_answers(stores: Stores) -> None:
    await opened(stores, _proposes(await _answers(stores, end=replace(SEEN, text=""))))
    assert [kind for kind, _, _ in await _said(stores)] == ["asked", "card"]


async def test_i11_a_proposal_is_one_transaction(stores: Stores) -> None:
    new = _proposes(await _answers(stores))
    entries = await logged_by(stores, lambda on: on.requests.open(new))
    assert [entry.kind for entry in entries] == ["turn.ended", "request.opened"]
    assert facts_of(entries[0]) == {"principal": "alice", "turn": "t_new", "reason": "proposed"}
    assert len(await stores.records.requests()) == 1
    assert len(await jobs_of(stores, EXPIRE)) == 1


async def test_a_request_leaves_one_job_for_the_moment_at_which_it_ends(stores: Stores) -> None:
    request = await opened(stores)
    again = await opened(stores)
    assert again.times_asked == 2
    (job,) = await jobs_of(stores, EXPIRE)
    expected = (f"expire:{request.id}", TENANT, f'{{"request":"{request.id}"}}', "safe", "queued")
    names = ("id", "tenant", "payload", "replay", "state")
    assert tuple(job[name] for name in names) == expected
    assert (job["run_at"], job["lane"]) == ("2026-03-01T10:30:00.000000Z", None)
    assert request.expires_at.isoformat() == "2026-03-01T10:30:00+00:00"


async def test_where_no_turn_proposes_none_ends(stores: Stores) -> None:
    answers = await _answers(stores)
    await opened(stores, a_new_request(turn=answers.turn.id))
    assert await _now(stores, answers.turn) == answers.turn
    assert await _job(stores, answers) is JobState.RUNNING


async def test_i13_a_denial_leaves_the_turn_open(stores: Stores) -> None:
    denied = await opened(stores)
    await stores.requests.deny(TENANT, denied.id, principal="bob", reason="not now")
    answers = await _answers(stores)
    before = await everything(stores.database)
    refused = await stores.requests.open(_proposes(answers))
    assert refused == Denial(tool="append-word", by="bob", reason="not now")
    assert await everything(stores.database) == before
    await stores.conversations.end(
        replace(answers, end=TurnEnd(reason=Reason.ANSWERED, text="bob denied it."))
    )
    assert (await _now(stores, answers.turn)).text == "bob denied it."


async def test_what_is_refused_leaves_the_turn_open(stores: Stores) -> None:
    answers = await _answers(stores)
    new = _proposes(answers)
    await kept_plan(stores, TENANT, new.plan.id, "0" * 64, "another plan")
    before = await everything(stores.database)
    with pytest.raises(Refused, match="same short id"):
        await stores.requests.open(new)
    assert await everything(stores.database) == before


@pytest.mark.parametrize("how", LOST)
async def test_a_claim_that_was_lost_opens_nothing(stores: Stores, how: str) -> None:
    answers = await _answers(stores)
    await lose(stores, answers.job, how)
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.requests.open(_proposes(answers))
    assert await everything(stores.database) == before


async def test_a_turn_that_was_told_to_end_opens_nothing_and_ends_as_stopped(
    stores: Stores,
) -> None:
    answers = await _answers(stores)
    await stores.conversations.stop(answers.turn, principal="bob")
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.requests.open(_proposes(answers))
    assert await everything(stores.database) == before
    await stores.conversations.end(answers)
    assert (await _now(stores, answers.turn)).reason is Reason.STOPPED


async def test_what_was_proposed_is_not_proposed_again_by_whoever_did_not_hear_of_it(
    stores: Stores,
) -> None:
    answers = await _answers(stores)
    await opened(stores, _proposes(answers))
    before = await everything(stores.database)
    with pytest.raises(LeaseLost):
        await stores.requests.open(_proposes(answers))
    await stores.conversations.end(answers)
    assert await everything(stores.database) == before


async def test_what_supersedes_another_ends_it_with_the_turn(stores: Stores) -> None:
    old = await opened(stores, a_new_request(a_checked("beta")))
    answers = await _answers(stores)
    new = _proposes(answers, supersedes=old.id)
    entries = await logged_by(stores, lambda on: on.requests.open(new))
    kinds = ["request.superseded", "turn.ended", "request.opened"]
    assert [entry.kind for entry in entries] == kinds
    assert (await now(stores, old)).state is State.SUPERSEDED
    assert (await _now(stores, answers.turn)).request == new.id


# The twin


@pytest.mark.parametrize("voters", [(), ("bob",)], ids=["open", "granted"])
async def test_c32_what_waits_already_ends_the_turn_and_says_so(
    stores: Stores, voters: tuple[str, ...]
) -> None:
    first = await granted(stores, None, *voters) if voters else await opened(stores)
    answers = await _answers(stores)
    entries = await logged_by(stores, lambda on: on.requests.open(_proposes(answers)))
    assert [entry.kind for entry in entries] == ["request.repeated", "turn.ended"]
    twin = await now(stores, first)
    assert twin.times_asked == 2
    told = f"three words\nThat waits already. {cards.status(twin)}"
    assert await _now(stores, answers.turn) == replace(
        answers.turn, reason=Reason.PROPOSED, text=told, request=first.id
    )
    assert (await _said(stores))[-2:] == [
        ("asked", "alice", "append alpha"),
        ("answered", "sayso", told),
    ]
    assert len(await said_in(stores, CONVERSATION, "card")) == 1
    assert await _job(stores, answers) is JobState.DONE


async def test_c32_the_twin_shows_the_new_agent_text_and_the_turn_ends_with_it(
    stores: Stores,
) -> None:
    first = await opened(stores, a_new_request(rule=a_rule(2), about=AgentText(rationale="one")))
    answers = await _answers(stores, end=replace(SEEN, text=""))
    again = await stores.requests.open(
        replace(_proposes(answers, about=AgentText(rationale="two")), rule=a_rule(2))
    )
    assert isinstance(again, Request)
    assert (again.id, again.about.rationale) == (first.id, "two")
    ended = await _now(stores, answers.turn)
    assert ended.text == f"That waits already. {cards.status(again)}"


@pytest.mark.parametrize("how", LOST)
async def test_c32_a_claim_that_was_lost_does_not_count_the_twin(stores: Stores, how: str) -> None:
    first = await opened(stores)
    answers = await _answers(stores)
    await lose(stores, answers.job, how)
    with pytest.raises(LeaseLost):
        await stores.requests.open(_proposes(answers))
    assert (await now(stores, first)).times_asked == 1


async def test_two_turns_that_propose_the_same_leave_one_card(stores: Stores) -> None:
    one = await opened(stores, _proposes(await _answers(stores, "t_one")))
    other = await opened(stores, _proposes(await _answers(stores, "t_two")))
    assert (one.id, other.times_asked) == (other.id, 2)
    assert [kind for kind, _, _ in await _said(stores)] == [
        "asked", "answered", "card", "asked", "answered"
    ]  # fmt: skip
    await heard(stores, a_new_turn("t_three", conversation=OTHER_CONVERSATION))
    assert [entry.kind for entry in await log_of(stores)].count("request.opened") == 1


async def test_p08_only_so_many_requests_of_a_conversation_wait_and_a_twin_is_none_more(
    stores: Stores,
) -> None:
    first = await opened(stores, a_new_request(a_checked("first")))
    for number in range(MOST_OPEN - 1):
        await opened(stores, a_new_request(a_checked(f"w{number}")))
    with pytest.raises(Refused) as told:
        await stores.requests.open(a_new_request(a_checked("more")))
    assert told.value.shown == (
        "Not proposed: 5 requests of this conversation wait for people already. Have one of them "
        "approved or denied, or withdraw them all with the word stop, and ask again."
    )
    twin = await opened(stores, a_new_request(a_checked("first")))
    assert (twin.id, twin.times_asked) == (first.id, 2)
    elsewhere = a_new_request(a_checked("more"), conversation=OTHER_CONVERSATION)
    await opened(stores, elsewhere)
    again = a_new_request(a_checked("again"), supersedes=first.id)
    assert (await opened(stores, again)).state is State.OPEN
    await stores.requests.deny(TENANT, twin.id, principal="bob", reason="")
    assert len(await stores.requests.live(TENANT, CONVERSATION)) == MOST_OPEN

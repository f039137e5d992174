"""`approvals.store.Receipts`: each sentence of the port, on every database."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.storage.receipts import BROKEN, ERASED, RUNNING, UNKNOWN
from adapters.storage.transactions import log, rows
from approvals.models import Run, StepEnd, StepState, Verification
from approvals.receipts import MADE, Receipt, check, concerns
from core import audit, canonical
from core.audit import Intact
from core.canonical import sha256
from core.errors import Refused
from tests.builders import (
    CONVERSATION,
    TENANT,
    a_checked,
    a_new_request,
    a_new_turn,
    a_rule,
    a_tool,
)
from tests.fakes.clock import FrozenClock
from tests.fakes.runner import exited
from tests.receipts import ACCOUNT, KEY, issued, values_of
from tests.stores import (
    FAILED,
    OTHER_CONVERSATION,
    OTHER_TENANT,
    SUCCEEDED,
    THEIR_CONVERSATION,
    Closable,
    Stores,
    claimed,
    erasing,
    everything,
    facts_of,
    granted,
    heard,
    log_of,
    notice,
    now,
    opened,
    running,
    stepped,
)
from tests.stores import UNKNOWN as CUT

TWO = a_rule(2)
LONG = a_new_request(a_checked(tool=a_tool(steps=3)))
A_MOMENT = timedelta(seconds=1)


async def ran(stores: Stores, *ends: object, steps: int = 1) -> Run:
    """Return a run that has ended, after so many steps."""
    run = await running(stores, a_new_request(a_checked(tool=a_tool(steps=steps))))
    return await stepped(stores, run, *ends)  # type: ignore[arg-type]  # ends of steps


async def receipt_of(stores: Stores, run: Run) -> Receipt:
    """Return a receipt that holds, as it is read from its file."""
    return check((await issued(stores, run.id)).text, key=KEY.public)


def kinds(receipt: Receipt) -> list[str]:
    """Return what was told, in order."""
    return [entry.kind for entry in receipt.audit]


def states(receipt: Receipt) -> tuple[str, list[str]]:
    """Return where the run and its steps are."""
    return receipt.run.state.value, [step.state.value for step in receipt.steps]


@pytest.mark.parametrize(
    ("ends", "state"),
    [
        ([FAILED, SUCCEEDED, FAILED], "failed"),
        ([FAILED, SUCCEEDED, SUCCEEDED], "failed"),
        ([SUCCEEDED, SUCCEEDED, SUCCEEDED], "succeeded"),
        ([FAILED], "cancelled"),
    ],
)
async def test_a_receipt_tells_of_steps_that_ran_behind_a_failed_one(
    stores: Stores, ends: list[StepEnd], state: str
) -> None:
    tool = a_tool(steps=3, on_failure="continue")
    run = await stepped(stores, await running(stores, a_new_request(a_checked(tool=tool))), *ends)
    if state == "cancelled":
        await stores.runs.cancel(run, why="stopped")
    rest = ["not_run"] * (3 - len(ends))
    assert states(await receipt_of(stores, run)) == (state, [*(e.state for e in ends), *rest])


async def test_a_receipt_tells_how_a_run_with_a_failed_step_was_resolved(stores: Stores) -> None:
    tool = a_tool(steps=2, on_failure="continue")
    run = await running(stores, a_new_request(a_checked(tool=tool)))
    run = await stepped(stores, run, FAILED, CUT)
    await stores.runs.resolve(TENANT, run.id, 1, happened=True, principal="bob")
    assert states(await receipt_of(stores, run)) == ("failed", ["failed", "succeeded"])


async def test_x10_a_receipt_holds_all_from_the_plan_to_the_head(
    stores: Stores, clock: FrozenClock
) -> None:
    new = a_new_request(a_checked("alpha"), a_checked("beta", tool=a_tool(steps=2)), rule=TWO)
    request = await opened(stores, new)
    clock.pass_by(A_MOMENT)
    await stores.requests.attempt_refused(TENANT, principal="eve", request=request.id, why="No.")
    await stores.requests.vote(TENANT, request.id, principal="carol")
    clock.pass_by(A_MOMENT)
    run = await running_of(stores, request.id, "bob")
    clock.pass_by(A_MOMENT)
    await stepped(stores, run, SUCCEEDED, SUCCEEDED, FAILED)
    made = await issued(stores, run.id)
    receipt = check(made.text, key=KEY.public, head=made.receipt.head.hash)
    assert receipt == made.receipt
    assert receipt.plan.body == new.plan.canonical
    assert receipt.plan.sha256 == new.plan.sha256
    assert (receipt.request.id, receipt.request.tenant) == (request.id, TENANT)
    assert (receipt.request.requester, receipt.request.card_sha256) == (
        "alice",
        request.card_sha256,
    )
    assert receipt.request.place.channel == "terminal"
    assert receipt.request.rule.rules_sha256 == new.plan.rules
    assert [vote.principal for vote in receipt.votes] == ["carol", "bob"]
    assert states(receipt) == ("failed", ["succeeded", "succeeded", "failed"])
    assert [step.exit_code for step in receipt.steps] == [0, 0, 1]
    assert [step.output_sha256 for step in receipt.steps] == [
        sha256("done\n"), sha256("done\n"), sha256("no\n"),
    ]  # fmt: skip
    assert kinds(receipt) == [
        "request.opened", "attempt.refused", "vote.cast", "vote.cast", "request.granted",
        "run.started", *["step.begun", "step.ended"] * 3, "run.ended",
    ]  # fmt: skip
    assert set(receipt.audit) < set(await log_of(stores))


async def running_of(stores: Stores, request: str, last: str) -> Run:
    """Have the last vote be cast, and the request be spent."""
    voted = await stores.requests.vote(TENANT, request, principal=last)
    spent = await stores.requests.spend(
        voted.request, job=await claimed(stores, voted.request), run="r_1"
    )
    assert spent
    return spent.run


async def test_a_receipt_is_noted_and_that_entry_is_its_head(stores: Stores) -> None:
    run = await ran(stores, SUCCEEDED)
    made = await issued(stores, run.id)
    newest = (await log_of(stores))[-1]
    assert newest == made.receipt.head == await stores.records.head()
    assert (newest.kind, newest.tenant) == (MADE, TENANT)
    sealed = {n: v for n, v in values_of(made.text).items() if n not in {"head", "signature"}}
    assert facts_of(newest) == {
        "principal": "sayso",
        "account": ACCOUNT,
        "request": run.request,
        "run": run.id,
        "receipt_sha256": canonical.digest(sealed),
    }
    again = await receipt_of(stores, run)
    assert kinds(again)[-1] == MADE
    assert again.head.prev == newest.hash


async def test_no_output_is_in_a_receipt(stores: Stores) -> None:
    run = await ran(stores, replace(SUCCEEDED, output="quagga"))
    assert "quagga" not in (await issued(stores, run.id)).text


async def _failed(stores: Stores) -> Run:
    return await ran(stores, SUCCEEDED, FAILED, steps=3)


async def _unknown(stores: Stores) -> Run:
    return await ran(stores, SUCCEEDED, CUT, steps=3)


async def _died(stores: Stores) -> Run:
    run = await running(stores, LONG)
    await stepped(stores, run, SUCCEEDED)
    assert await stores.runs.begin_step(run, 1)
    await notice(stores, stores.owner)
    return run


async def _happened(stores: Stores) -> Run:
    run = await ran(stores, CUT)
    await stores.runs.verified(
        Verification(run=run, index=0, principal="bob", ended=exited(0, "there"))
    )
    return await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")


async def _happened_but_not_the_rest(stores: Stores) -> Run:
    run = await ran(stores, CUT, steps=2)
    return await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")


async def _did_not(stores: Stores) -> Run:
    run = await ran(stores, SUCCEEDED, CUT, steps=2)
    return await stores.runs.resolve(TENANT, run.id, 1, happened=False, principal="bob")


async def _stopped(stores: Stores) -> Run:
    run = await running(stores, LONG)
    await stepped(stores, run, SUCCEEDED)
    await stores.runs.stop(run, principal="carol")
    return await stores.runs.cancel(run, why="stopped")


async def _cancelled_by_its_step(stores: Stores) -> Run:
    return await ran(stores, replace(CUT, state=StepState.CANCELLED), steps=2)


async def _resumed(stores: Stores) -> Run:
    request = await granted(stores)
    run = await stores.requests.spend(request, job=await claimed(stores, request), run="r_1")
    assert run
    await notice(stores, stores.owner)
    spent = await stores.requests.resume(request, job=await claimed(stores, request))
    assert spent
    return await stepped(stores, spent.run, SUCCEEDED)


async def _asked_again_and_reminded(stores: Stores) -> Run:
    request = await opened(stores)
    await opened(
        stores, a_new_request(about=replace(a_new_request().proposal.about, rationale="x"))
    )
    await stores.requests.remind(TENANT, request.id, "It waits.")
    return await stepped(stores, await running_of(stores, request.id, "bob"), SUCCEEDED)


async def _edited_while_it_waited(stores: Stores) -> Run:
    request = await opened(stores)
    await stores.requests.edited(TENANT, request.id)
    return await stepped(stores, await running_of(stores, request.id, "bob"), SUCCEEDED)


async def _edited_once_it_was_granted(stores: Stores) -> Run:
    request = await granted(stores)
    await stores.requests.edited(TENANT, request.id)
    spent = await stores.requests.spend(request, job=await claimed(stores, request), run="r_1")
    assert spent
    return await stepped(stores, spent.run, SUCCEEDED)


async def _by_its_requester(stores: Stores) -> Run:
    new = a_new_request(rule=a_rule(1, requester_may_vote=True))
    return await stepped(stores, await running(stores, new, "alice"), SUCCEEDED)


async def _of_two_risks(stores: Stores) -> Run:
    calls = a_checked("a"), a_checked("b", tool=a_tool("wipe", risk="high"))
    new = a_new_request(*calls, rule=a_rule(1, name="medium+high"))
    return await stepped(stores, await running(stores, new), SUCCEEDED, SUCCEEDED)


@pytest.mark.parametrize(
    ("story", "state", "steps"),
    [
        (_failed, "failed", ["succeeded", "failed", "not_run"]),
        (_unknown, "unknown", ["succeeded", "unknown", "not_run"]),
        (_died, "unknown", ["succeeded", "unknown", "not_run"]),
        (_happened, "succeeded", ["succeeded"]),
        (_happened_but_not_the_rest, "failed", ["succeeded", "not_run"]),
        (_did_not, "failed", ["succeeded", "not_run"]),
        (_stopped, "cancelled", ["succeeded", "not_run", "not_run"]),
        (_cancelled_by_its_step, "cancelled", ["cancelled", "not_run"]),
        (_resumed, "succeeded", ["succeeded"]),
        (_asked_again_and_reminded, "succeeded", ["succeeded"]),
        (_edited_while_it_waited, "succeeded", ["succeeded"]),
        (_edited_once_it_was_granted, "succeeded", ["succeeded"]),
        (_by_its_requester, "succeeded", ["succeeded"]),
        (_of_two_risks, "succeeded", ["succeeded", "succeeded"]),
    ],
)
async def test_whatever_became_of_a_run_its_receipt_holds(
    stores: Stores, story: Callable[[Stores], Awaitable[Run]], state: str, steps: list[str]
) -> None:
    run = await story(stores)
    receipt = await receipt_of(stores, run)
    assert states(receipt) == (state, steps)
    facts = {entry: facts_of(entry) for entry in await log_of(stores) if entry != receipt.head}
    about = [
        e for e, f in facts.items() if f.get("request") == run.request or f.get("run") == run.id
    ]
    assert set(receipt.audit) == set(about)


async def test_votes_of_one_moment_hold_in_whatever_order_they_came(stores: Stores) -> None:
    run = await running(stores, a_new_request(rule=TWO), "zoe", "bob")
    receipt = await receipt_of(stores, await stepped(stores, run, SUCCEEDED))
    assert {vote.principal for vote in receipt.votes} == {"bob", "zoe"}


async def test_a_run_that_has_not_ended_has_no_receipt(stores: Stores) -> None:
    run = await running(stores)
    with pytest.raises(Refused, match="has not ended") as refused:
        await issued(stores, run.id)
    assert refused.value.shown == RUNNING


async def test_an_unknown_run_has_no_receipt(stores: Stores) -> None:
    for name in ("r_none", "", CONVERSATION):
        with pytest.raises(Refused) as refused:
            await issued(stores, name)
        assert refused.value.shown == UNKNOWN


@pytest.mark.parametrize("is_shared", [False, True])
async def test_a_run_that_was_erased_has_no_receipt(stores: Stores, is_shared: bool) -> None:  # noqa: FBT001 - a parameter
    run = await ran(stores, SUCCEEDED)
    if is_shared:  # then its plan is kept
        await opened(stores, a_new_request(conversation=OTHER_CONVERSATION, turn="t_2"))
    await erasing(stores).erase(CONVERSATION, account=ACCOUNT)
    before = await everything(stores.database)
    with pytest.raises(Refused) as refused:
        await issued(stores, run.id)
    assert refused.value.shown == ERASED
    assert await everything(stores.database) == before
    await heard(stores, a_new_turn("t_3", conversation=CONVERSATION))
    assert await receipt_of(stores, await ran(stores, SUCCEEDED))


async def test_i14_nothing_of_another_tenant_is_in_a_receipt(stores: Stores) -> None:
    theirs = a_new_request(
        a_checked("theirs"),
        tenant=OTHER_TENANT,
        conversation=THEIR_CONVERSATION,
        turn="t_theirs",
        requester="quagga",
    )
    request = await opened(stores)
    await stores.requests.attempt_refused(
        OTHER_TENANT, principal="quagga", request=request.id, why="There is no such request."
    )
    their_run = await running(stores, theirs)
    run = await running_of(stores, request.id, "bob")
    await stepped(stores, their_run, SUCCEEDED)
    await stores.database.transact(
        lambda now: log(now, OTHER_TENANT, "vote.cast", "quagga", request=request.id, run=run.id)
    )
    await stepped(stores, run, SUCCEEDED)
    text = (await issued(stores, run.id)).text
    ours = {entry.hash for entry in check(text).audit} | {check(text).head.hash}
    for entry in await log_of(stores):
        assert (entry.hash in ours) == (
            entry.tenant == TENANT and _is_of(entry.body, request.id, run.id)
        )
    assert OTHER_TENANT not in text
    assert "quagga" not in text
    assert theirs.id not in text
    assert their_run.id not in text


def _is_of(body: str, *names: str) -> bool:
    return any(name in body for name in names)


async def test_another_request_of_the_tenant_is_not_in_a_receipt(stores: Stores) -> None:
    other = await opened(stores, a_new_request(a_checked("beta")))
    run = await ran(stores, SUCCEEDED)
    await stores.requests.deny(TENANT, other.id, principal="bob", reason="no")
    assert other.id not in (await issued(stores, run.id)).text


async def test_what_became_of_a_request_that_was_asked_again_is_not_in_the_new_ones_receipt(
    stores: Stores,
) -> None:
    old = await opened(stores, a_new_request(a_checked("beta")))
    run = await running(stores, a_new_request(supersedes=old.id))
    receipt = await receipt_of(stores, await stepped(stores, run, SUCCEEDED))
    assert "request.superseded" in {entry.kind for entry in await log_of(stores)}
    assert "request.superseded" not in kinds(receipt)
    assert old.id in receipt.audit[0].body


async def test_only_what_is_told_of_this_request_and_run_concerns_its_receipt(
    stores: Stores,
) -> None:
    run = await ran(stores, SUCCEEDED)
    request = await now(stores, await opened(stores, a_new_request(a_checked("beta"))))
    ours = replace(request, id=run.request)
    [entry] = [one for one in await log_of(stores) if one.kind == "run.started"]
    assert concerns(entry, ours, run)
    assert not concerns(entry, request, replace(run, id="r_other"))
    assert not concerns(replace(entry, tenant=OTHER_TENANT), ours, run)
    assert not concerns(replace(entry, kind="conversation.erased"), ours, run)
    assert not concerns(replace(entry, kind="attempt.refused"), ours, run)
    assert not concerns(replace(entry, body="[]"), ours, run)


async def test_entries_that_come_between_the_check_and_the_receipt_are_checked_too(
    stores: Stores,
) -> None:
    run = await ran(stores, CUT)
    before = audit.verify(await stores.records.audit())
    assert isinstance(before, Intact)
    await stores.runs.resolve(TENANT, run.id, 0, happened=True, principal="bob")
    made = await issued(stores, run.id, since=before)
    assert states(check(made.text)) == ("succeeded", ["succeeded"])


@pytest.mark.parametrize("lost", [0, 1, 5])
async def test_a_log_that_is_not_the_one_that_was_checked_is_refused(
    stores: Stores, lost: int
) -> None:
    run = await ran(stores, SUCCEEDED)
    whole = audit.verify(await stores.records.audit())
    assert isinstance(whole, Intact)
    other = Intact(entries=whole.entries + lost, head="f" * 64)
    before = await everything(stores.database)
    with pytest.raises(Refused) as refused:
        await issued(stores, run.id, since=other)
    assert refused.value.shown == BROKEN.format(other.entries)
    assert await everything(stores.database) == before


async def test_a_log_whose_new_entries_do_not_hold_is_refused(stores: Stores) -> None:
    run = await ran(stores, SUCCEEDED)
    whole = audit.verify(await stores.records.audit())
    assert isinstance(whole, Intact)
    await stores.database.transact(
        lambda _: rows(
            "INSERT INTO audit VALUES (:seq, 'now', 'acme', 'odd', '{}', 'x', 'y')",
            seq=whole.entries + 1,
        )
    )
    with pytest.raises(Refused) as refused:
        await issued(stores, run.id, since=whole)
    assert refused.value.shown == BROKEN.format(whole.entries + 1)


async def test_an_entry_that_is_no_json_breaks_nothing(stores: Stores) -> None:
    run = await ran(stores, SUCCEEDED)
    whole = audit.verify(await stores.records.audit())
    assert isinstance(whole, Intact)
    await stores.database.transact(
        lambda _: rows(
            "INSERT INTO audit VALUES (:seq, 'now', 'acme', 'vote.cast', :body, 'x', 'y')",
            seq=whole.entries + 1, body=f"{run.id} {{",
        )
    )  # fmt: skip
    with pytest.raises(Refused, match="does not hold from entry"):
        await issued(stores, run.id, since=whole)


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (
            "INSERT INTO vote SELECT id, 'mallory', opened_at, NULL FROM request",
            "The votes are not",
        ),
        ("UPDATE run SET state = 'failed'", "The run's state"),
        ("UPDATE step SET output = 'other'", "Step 0 did not go"),
        ("UPDATE step SET exit_code = 1", "Step 0 did not go"),
        ("UPDATE request SET requester = 'mallory'", "Audit entry"),
        ("UPDATE conversation SET channel = 'elsewhere'", r"\(request.opened\) does not fit"),
        (
            "UPDATE request SET rule = replace(rule, ':false', ':true')",
            r"\(request.opened\) does not fit",
        ),
        ("UPDATE request SET card = '{}'", "stored plan is not the one"),
        ("UPDATE plan SET body = body || ' '", "stored plan is not the one"),
    ],
)
async def test_what_was_altered_behind_its_back_makes_no_receipt_and_no_entry(
    stores: Stores, statement: str, why: str
) -> None:
    run = await ran(stores, SUCCEEDED)
    await stores.database.transact(lambda _: rows(statement))
    before = await everything(stores.database)
    with pytest.raises(Refused, match=why):
        await issued(stores, run.id)
    assert await everything(stores.database) == before


async def test_the_newest_entry_is_read_without_all_the_others(
    stores: Stores, clock: FrozenClock
) -> None:
    await opened(stores)
    clock.pass_by(A_MOMENT)
    assert await stores.records.head() == (await log_of(stores))[-1]


async def test_an_empty_log_has_no_newest_entry(database: Closable) -> None:
    assert await Stores(database).records.head() is None

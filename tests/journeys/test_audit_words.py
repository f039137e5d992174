"""The audit log, from which nothing is erased, holds nobody's words: neither people's nor a model's."""

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import timedelta

import pytest

from bot import authority
from core import plans
from core.errors import SaysoError
from core.events import Approve, Ask, Deny, ProposeGrant, RevokeGrant, Stop
from core.transcript import AgentText, Say, ToolCall
from tests.hostile import LOOK, Team, append, call, person, team, use
from tests.sayso import Sayso

MARK = "quagga"
RULE = '    - {effect: allow, action: "chat:ask", groups: [everyone]}\n'
ALLOWED = RULE + '    - {effect: allow, action: "tool:read", resource: "tool:*", groups: [eng]}\n'
SHOUT = """
summary: Print a word, fail with it, and depend on a file of that name.
risk: low
params:
  word: {type: string}
fingerprints: [{file: "{word}.txt"}]
steps:
  - run: [sh, -c, 'echo "$0"; echo "$0" >&2; exit 3', "{word}"]
"""
SHOW = """
summary: Show a word and fail.
effect: read
params:
  word: {type: string}
steps:
  - run: [sh, -c, 'echo "$0"; echo "$0" >&2; exit 3', "{word}"]
"""
PLACE = authority.CONSOLE_PLACE
ABOUT = AgentText(rationale=MARK, limitations=MARK, alternatives=MARK)


async def refused(doing: Awaitable[object]) -> str:
    with pytest.raises(SaysoError) as told:
        await doing
    return told.value.shown


async def said(acme: Team) -> str:
    """Have people and the model say it in every way in which nothing is asked of anybody."""
    look = call("show-word", {"word": MARK}, id=MARK)
    tools = (
        call("remember", {"text": MARK}, id="2"),
        call("remind_me", {"when": "1h", "text": MARK}, id="3"),
        ToolCall(id="4", tool="task", arguments={"intent": MARK, "topic": "pivot"}),
        call(MARK, id="5"),
        call("show-ledger", {MARK: MARK}, id="6"),
        ToolCall(id="7", tool="append-word", arguments={}, fault=MARK),
        call("cancel_reminder", {"id": MARK}, id="8"),
        call("forget", {"id": MARK}, id="9"),
    )
    end = Say(text=MARK, suggestions=(MARK,))
    answered = await acme.ask(use(look, *tools, text=MARK), end, text=f"find {MARK}")
    assert MARK in answered.text
    here = answered.conversation
    for command in (f"!remember {MARK}", f"!recall {MARK}", f"!{MARK}", f"!forget {MARK}"):
        await acme.ask(here=here, text=command)
    await acme.ask(use(ToolCall(id="q", tool="ask_user", arguments={"question": MARK})), here=here)
    return here


async def tried(acme: Team) -> None:
    """Have people give it for whatever has a name."""
    ask = Ask(identity=person("alice"), place=PLACE, text=MARK)
    inbox, deciding, resolving = acme.app.inbox, acme.app.deciding, acme.app.resolving
    await refused(inbox.ask(Ask(identity=person("alice"), place=PLACE, text=MARK, profile=MARK)))
    await refused(
        inbox.ask(Ask(identity=person("alice"), place=PLACE, text=MARK, conversation=MARK))
    )
    await refused(inbox.ask(Ask(identity=person(MARK), place=PLACE, text=MARK)))
    await refused(inbox.ask_again(ask, MARK))
    await refused(deciding.approve(Approve(identity=person("bob"), request=MARK), asyncio.Event()))
    await refused(deciding.deny(Deny(identity=person("bob"), request=MARK, reason=MARK)))
    await refused(resolving.verify(person("bob"), MARK, 0))
    await acme.app.stopping.stop(Stop(identity=person("bob"), conversation=MARK))


async def decided(acme: Team, here: str) -> None:
    """Have plans proposed about it, denied for it, revoked because of it, and run with it."""
    shout = call("shout", {"word": MARK}, id="s")
    denied = (await acme.ask(use(append(MARK), about=ABOUT), here=here)).request
    assert denied
    await acme.deny(denied, reason=MARK)
    answered = await acme.ask(use(append(MARK)), Say(text="No."), here=here)
    assert answered.request is None
    assert MARK in await refused(acme.deny(denied, reason=MARK))
    assert MARK in await refused(acme.approve(denied))
    revoked = await acme.propose(shout, here=here)
    await edited(acme, "one")
    assert MARK in await refused(acme.approve(revoked))
    assert MARK in await refused(acme.approve(revoked))
    ask = Ask(identity=person("alice"), place=PLACE, text=MARK, conversation=here)
    plan = plans.read(revoked.plan.canonical)
    answered = await acme.app.asking.answer(
        await acme.app.inbox.ask_plan(ask, plan), asyncio.Event()
    )
    assert MARK in answered.text
    await acme.approve(await acme.propose(shout, LOOK, here=here))


async def allowed(acme: Team) -> None:
    """Have a standing grant about it proposed, used, refused because of it, and revoked."""
    shout, granting = call("shout", {"word": MARK}, id="s"), acme.app.granting
    shown = await acme.propose(shout)
    event = ProposeGrant(identity=person("bob"), request=shown.id, uses=2, lasts=timedelta(hours=1))
    made = await granting.propose(event, asyncio.Event())
    answered = await acme.ask(use(shout))
    assert answered.run
    assert answered.run.under
    await edited(acme, "two")
    assert MARK in await refused(granting.propose(event, None))
    await refused(granting.propose(replace(event, request=MARK), None))
    await refused(granting.take(RevokeGrant(identity=person("bob"), grant=MARK)))
    await granting.take(RevokeGrant(identity=person("bob"), grant=made.id))


async def edited(acme: Team, text: str) -> None:
    """Change the file that the plans about it depend on."""
    file = acme.sayso.folder / "work" / f"{MARK}.txt"
    await asyncio.to_thread(file.write_text, text, "utf-8")


async def test_c77_whatever_people_and_models_say_the_audit_log_holds_none_of_it(
    empty: Sayso,
) -> None:
    empty.edit("sayso.yml", RULE, ALLOWED)
    empty.edit(
        "sayso.yml",
        "model: {provider: grammar}",
        f"toolsets: {{memory: {{retention: 30d, most: 20}}, reminders: }}\n"
        f"guardrails:\n  - {{stage: output, pattern: 'zebra', reason: 'no {MARK} here'}}",
    )
    empty.runbook("shout", SHOUT)
    empty.runbook("show-word", SHOW)
    async with team(empty) as acme:
        here = await said(acme)
        await acme.ask(Say(text="a zebra"), here=here)
        await tried(acme)
        await decided(acme, here)
        await allowed(acme)
    for table, column in (
        ("entry", "text"), ("transcript", "body"), ("happening", "body"), ("memory", "text"),
        ("reminder", "text"), ("frame", "intent"), ("turn", "suggestions"), ("request", "reason"),
        ("denial", "reason"), ("step", "output"), ("plan", "body"),
    ):  # fmt: skip
        assert empty.sql(f"SELECT 1 FROM {table} WHERE {column} LIKE '%{MARK}%'"), table
    kinds = {kind for (kind,) in empty.sql("SELECT kind FROM audit")}
    assert kinds >= {"attempt.refused", "request.denied", "request.revoked", "run.ended"}
    assert kinds >= {"grant.proposed", "grant.activated", "grant.used", "grant.revoked"}
    entries = empty.sql("SELECT * FROM audit")
    assert [entry for entry in entries if MARK in repr(entry)] == []

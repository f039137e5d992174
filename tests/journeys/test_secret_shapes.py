"""P-25: a credential in any of its usual shapes gets on no card, into no record and to no model."""

import base64
from collections.abc import AsyncGenerator

import pytest

from adapters.console import draw
from core.transcript import Say
from tests.canaries import in_files
from tests.hostile import Team, append, call, team, use
from tests.recited import NOTE
from tests.sayso import Sayso

KNOWN = "kestrel-7f3d9-sparrow"
# Put together here, so that no scanner takes it for a real one.
KEY = "sk-" + "proj-" + "a1B2c3D4" * 4
PASSWORD = "w4gtail-81c2e"
SHAPES = {
    "a header of curl": f'curl -H "Authorization: Bearer {KEY}" https://api.example/v1',
    "an address of a database": f"psql postgres://deploy:{PASSWORD}@db.example/live",
    "a here document": f"cat >.env <<END\nAPI_KEY={PASSWORD}\nEND",
    "a token inside base64": base64.b64encode(f"deploy:{KNOWN}".encode()).decode(),
    "a token for a URL": f"https://api.example/?q={KNOWN}",
}
SECRETS = {"known": KNOWN, "key": KEY, "password": PASSWORD}


@pytest.fixture
async def acme(empty: Sayso) -> AsyncGenerator[Team]:
    empty.runbook("note", NOTE)
    (empty.folder / "secret.txt").write_text(KNOWN, "utf-8")
    empty.configure("secrets: {KNOWN: 'file:secret.txt'}")
    async with team(empty) as opened:
        yield opened


def heard(acme: Team) -> dict[str, list[str]]:
    """Return where any of it is, besides the file that it comes from."""
    seen = {repr(entry) for entries in acme.model.seen for entry in entries}
    found = in_files(acme.sayso.folder, SECRETS, but={"secret.txt"})
    return {**found, **{one: [] for one in seen if any(s in one for s in SECRETS.values())}}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_p25_in_an_argument_it_is_refused_before_there_is_a_card(
    acme: Team, shape: str
) -> None:
    told = await acme.refused_results(call("note", {"text": shape}))
    assert not [one for one in told if any(secret in one for secret in SECRETS.values())]
    assert heard(acme) == {}
    await acme.runs_once_approved()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_p25_in_a_message_it_is_masked_and_nothing_is_done_with_it(
    acme: Team, shape: str
) -> None:
    answered = await acme.ask(Say(text="done"), text=f"note {shape}")
    assert answered.request is None
    assert heard(acme) == {}
    await acme.runs_once_approved()


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
async def test_p25_in_what_a_model_says_it_is_masked_on_the_card_and_in_the_answer(
    acme: Team, shape: str
) -> None:
    answered = await acme.ask(use(append(rationale=shape, limitations=shape), text=shape))
    assert answered.request is not None
    drawn = draw(answered.request.card)
    assert not [secret for secret in SECRETS.values() if secret in drawn]
    said = await acme.ask(Say(text=f"so: {shape}"), here=answered.conversation)
    assert not [secret for secret in SECRETS.values() if secret in said.text]
    assert heard(acme) == {}

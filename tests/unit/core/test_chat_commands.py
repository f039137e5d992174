"""The words that mean the same everywhere, and everything that is only like them."""

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.chat_commands import Heard, Meaning, ask, read
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edit,
    LinkDeed,
    LinkWish,
    Lookup,
    Place,
    ProposeGrant,
    RevokeGrant,
    Stop,
    StopHere,
    UndoRun,
    WantOutput,
)
from core.principals import Identity
from core.terminal import Mistyped

ALICE = Identity(platform="slack", workspace="T0TEAM", user="U0ALICE")
PLACE = Place(platform="slack", workspace="T0TEAM", channel="C0OPS", thread="1.2")
HEARD = Heard(identity=ALICE, place=PLACE, in_thread=True, deliveries=("msg:C0OPS:1.2",))
ID = "0123456789abcdef" * 2
GRANT = f"g_{ID}"


def link(what: LinkDeed, given: str = "") -> LinkWish:
    return LinkWish(identity=ALICE, what=what, given=given, place=PLACE)


def wish(text: str) -> Ask:
    return Ask(identity=ALICE, place=PLACE, text=text, deliveries=("msg:C0OPS:1.2",))


LINKED = "l_" + "0123456789abcdef" * 2
RUN = "r_0123456789abcdef"
OUTPUT = WantOutput(identity=ALICE, place=PLACE, run=RUN, index=0)
UNDO = UndoRun(identity=ALICE, run=RUN, place=PLACE, deliveries=("msg:C0OPS:1.2",))
AGAIN = AskAgain(identity=ALICE, request=ID, place=PLACE, deliveries=("msg:C0OPS:1.2",))
MEANINGS: dict[str, Meaning] = {
    "stop": StopHere(identity=ALICE, place=PLACE),
    " STOP\n": StopHere(identity=ALICE, place=PLACE),
    "!stop": StopHere(identity=ALICE, place=PLACE),
    "/stop": StopHere(identity=ALICE, place=PLACE),
    "stop all": Stop(identity=ALICE, everything=True),
    "!stop all": Stop(identity=ALICE, everything=True),
    "stop c_0123456789abcdef": Stop(identity=ALICE, conversation="c_0123456789abcdef"),
    f"approve {ID}": Approve(identity=ALICE, request=ID),
    f"!Approve {ID.upper()}": Approve(identity=ALICE, request=ID),
    f"approve `{ID}`": Approve(identity=ALICE, request=ID),
    f"deny {ID}": Deny(identity=ALICE, request=ID),
    f"deny {ID} not  now": Deny(identity=ALICE, request=ID, reason="not  now"),
    f"deny {ID}\nnot now,\nlater": Deny(identity=ALICE, request=ID, reason="not now,\nlater"),
    f"again {ID}": AGAIN,
    f"edit {ID} word=beta": Edit(identity=ALICE, request=ID, values=(("word", "beta"),)),
    f"!Edit `{ID.upper()}`  2  word='two words' other-file=a=b": Edit(
        identity=ALICE,
        request=ID,
        values=(("word", "two words"), ("other-file", "a=b")),
        call=2,
    ),
    f'edit {ID} word="" other="2"': Edit(
        identity=ALICE, request=ID, values=(("word", ""), ("other", "2"))
    ),
    f"grant {ID} 5 1h": ProposeGrant(identity=ALICE, request=ID, uses=5, lasts=timedelta(hours=1)),
    f"!grant `{ID}` 1 1h30m": ProposeGrant(
        identity=ALICE, request=ID, uses=1, lasts=timedelta(minutes=90)
    ),
    f"revoke {GRANT}": RevokeGrant(identity=ALICE, grant=GRANT),
    f"!Revoke `{GRANT.upper()}`": RevokeGrant(identity=ALICE, grant=GRANT),
    "grants": Lookup(identity=ALICE, place=PLACE, at="grants"),
    "help": Lookup(identity=ALICE, place=PLACE, at="help"),
    "!help": Lookup(identity=ALICE, place=PLACE, at="help"),
    "requests": Lookup(identity=ALICE, place=PLACE, at="requests"),
    "runs": Lookup(identity=ALICE, place=PLACE, at="runs"),
    "link": link("offer"),
    "!Link ABCDE-fghjk": link("claim", "ABCDE-fghjk"),
    f"link Confirm {LINKED}": link("confirm", LINKED),
    f"link refuse `{LINKED.upper().replace('L_', 'l_')}`": link("refuse", LINKED),
    "links": link("show"),
    "unlink": link("end"),
    "unlink Slack": link("end", "slack"),
    f"output {RUN} 0": OUTPUT,
    f"!Output `{RUN}` 12": replace(OUTPUT, index=12),
    f"output `{RUN} 0`": OUTPUT,
    f"undo {RUN}": UNDO,
    f"!Undo `{RUN}`": UNDO,
    f"undo {ID}": replace(UNDO, run=ID),
    "ask help": wish("help"),
    "ask two\nlines": wish("two\nlines"),
}
MESSAGES = [
    "", "  ", "!", "!!stop", "stop the deploy", "st\u200bop", "\u200bstop", "stop web", "stop now",
    "stop c_", "stop all of it", "!nice work", "nice work", "!runbook args", "help me", "runs are slow",
    "requests fail", "grant bob access", "grants for bob", "revoke the token", "revoked", "again, please", "again web", "again 0123456789ab-web", "link the docs", "link abcde", f"link maybe {LINKED}", "link confirm it", "links are broken", "unlink it", "unlink slack now", "edit the config", "edit web=1", "editing", "undo", "undo it", "undo the deploy", "output", "output of the build", f"output {RUN}", f"output {RUN} 0 please", f"output {RUN} -1", f"output {RUN}0 0", f"output {RUN} 12345", f"undo {RUN} please", f"undo {RUN}0", "yes", "lgtm", "lgtm 👍", "ok, approve", f"> approve {ID}",
    f"\u201capprove {ID}\u201d", f"please approve {ID}", f"approved {ID}", ID, "asking", "! stop", "/approve",
]  # fmt: skip
MISTYPED = [
    "approve", "!approve", "approve it", "approve the deploy", f"approve {ID} {ID}", f"approve {ID[:-1]}",
    f"approve {ID} please", f"approve {ID} 123456", f"!approve {ID} 123 456", "enrol", "!enrol", f"approve {ID}\nand the other", f"approve {ID}0", "deny", "deny it", "deny not now",
    "edit", f"edit {ID}", f"edit {ID} 2", f"edit {ID} beta", f"edit {ID} word=beta and more",
    f"edit {ID} word='open", f"edit {ID} 1x=2", f"edit {ID} --word=beta", f"edit {ID[:-1]} word=beta",
    f"edit {ID} word=beta\nother=2", f"edit {ID} =beta", f"edit {ID} word={'x' * 13_000}",
    f"deny {ID[:-1]} no", "again", f"again {ID[:-1]}", "grant", "revoke",
    f"grant {ID}", f"grant {ID} 5", f"grant {ID} 5 soon", f"grant {ID} 0 1h", f"grant {ID} x 1h",
    f"grant {ID} 5 1h now", f"grant {ID[:-1]} 5 1h", f"grant {ID} 1000000 1h", f"revoke {GRANT[:-1]}",
    f"revoke {GRANT} now", f"again {ID} {ID}", "ask", "!ask  ",
]  # fmt: skip


@pytest.mark.parametrize("text", MEANINGS)
def test_a_word_means_one_thing(text: str) -> None:
    assert read(text, HEARD) == MEANINGS[text]


@pytest.mark.parametrize("text", MESSAGES)
def test_what_is_only_like_a_word_is_a_message(text: str) -> None:
    assert read(text, HEARD) is None


@pytest.mark.parametrize("text", MISTYPED)
def test_p39_what_may_be_meant_to_decide_decides_nothing_and_is_told_how(text: str) -> None:
    said = read(text, HEARD)
    assert isinstance(said, Mistyped)
    assert text.removeprefix("!").split()[0].lower() in said.sentence
    assert ID[:12] not in said.sentence


@pytest.mark.parametrize("text", ["link", "link ABCDE-FGHJK", "links", "!unlink"])
def test_c65_what_everybody_could_read_is_not_answered_there(text: str) -> None:
    said = read(text, replace(HEARD, alone=False))
    assert isinstance(said, Mistyped)
    assert "/sayso link" in said.sentence
    assert read("link the docs", replace(HEARD, alone=False)) is None


def test_a_link_that_nobody_addressed_to_sayso_counts_only_where_it_is_known() -> None:
    assert read("!link", replace(HEARD, known_only=True)) == replace(link("offer"), known_only=True)


def test_outside_of_a_thread_stop_means_what_may_be_stopped() -> None:
    assert read("stop", replace(HEARD, in_thread=False)) == Stop(identity=ALICE)


def test_what_nobody_addressed_to_sayso_counts_only_where_it_is_known() -> None:
    heard = replace(HEARD, known_only=True)
    assert read("!stop", heard) == StopHere(identity=ALICE, place=PLACE, known_only=True)
    assert read("!runs", heard) == Lookup(identity=ALICE, place=PLACE, at="runs", known_only=True)
    assert read("!ask health", heard) == replace(wish("health"), known_only=True)


def test_what_is_no_word_can_be_asked_as_it_stands() -> None:
    assert ask(" !nice work ", HEARD) == wish("!nice work")
    assert isinstance(ask("  ", HEARD), Mistyped)


@given(st.text())
def test_p39_only_the_word_and_an_id_decide(text: str) -> None:
    assert not isinstance(read(text, HEARD), Approve | Deny | Edit | AskAgain | UndoRun)


@given(st.text(), st.text())
def test_p39_nothing_around_it_decides_either(before: str, after: str) -> None:
    found = read(f"{before}approve {ID}{after}", HEARD)
    is_alone = not before.strip().removeprefix("!") and not after.strip().strip("`").strip()
    assert not isinstance(found, Approve) or is_alone

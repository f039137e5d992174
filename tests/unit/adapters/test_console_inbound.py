"""What a typed line means. Pure: the same line from the same seat always means the same."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.console.inbound import read
from core.events import (
    Approve,
    Ask,
    AskAgain,
    Deny,
    Edit,
    LinkWish,
    Place,
    ProposeGrant,
    RevokeGrant,
    Stop,
    UndoRun,
    WantOutput,
)
from core.principals import Identity
from core.rulings import BreakGlass, HandOver, Lift, Pause, Resume
from core.terminal import (
    Bare,
    Become,
    Begin,
    Leave,
    Look,
    Mistyped,
    Resolve,
    Seat,
    Show,
    Typed,
)

ALICE = Identity(platform="console", workspace="local", user="alice")
PLACE = Place(platform="console", workspace="local", channel="console", thread="me:1")
SEAT = Seat(identity=ALICE, place=PLACE, conversation="c_1")
ID = "0123456789abcdef" * 2


def ask(text: str) -> Ask:
    return Ask(identity=ALICE, place=PLACE, text=text, conversation="c_1")


MEANINGS: dict[str, Typed | None] = {
    "": None,
    "  \t ": None,
    "restart web": ask("restart web"),
    "  restart web \n": ask("restart web"),
    "stop the deploy": ask("stop the deploy"),
    "!restart-service web": ask("!restart-service web"),
    "restart web\nand worker": ask("restart web\nand worker"),
    "/ask /etc is full": ask("/etc is full"),
    "/ask two\nlines": ask("two\nlines"),
    "stop": Stop(identity=ALICE, conversation="c_1"),
    "!stop": Stop(identity=ALICE, conversation="c_1"),
    "/stop": Stop(identity=ALICE, conversation="c_1"),
    "/stop c_2": Stop(identity=ALICE, conversation="c_2"),
    "/stop all": Stop(identity=ALICE, everything=True),
    "/approve": Bare(verb="approve"),
    "/APPROVE": Bare(verb="approve"),
    f"/approve {ID}": Approve(identity=ALICE, request=ID),
    "/approve nonsense": Approve(identity=ALICE, request="nonsense"),
    f"/approve {ID} 123456": Approve(identity=ALICE, request=ID, code="123456"),
    f"/approve {ID} 123 456": Approve(identity=ALICE, request=ID, code="123 456"),
    "/deny": Bare(verb="deny"),
    "/deny not now": Bare(verb="deny", reason="not now"),
    f"/deny {ID}": Deny(identity=ALICE, request=ID),
    f"/deny {ID}\tnot  now": Deny(identity=ALICE, request=ID, reason="not  now"),
    f"/deny {ID}\u00a0not now": Deny(identity=ALICE, request=ID, reason="not now"),
    f"/deny {ID.upper()} not now": Deny(identity=ALICE, request=ID, reason="not now"),
    f"/deny {ID} not now": Deny(identity=ALICE, request=ID, reason="not now"),
    "/show": Show(),
    f"/show {ID}": Show(request=ID),
    f"/edit {ID} word=beta": Edit(identity=ALICE, request=ID, values=(("word", "beta"),)),
    f"/edit {ID} 2 word='a b'": Edit(identity=ALICE, request=ID, values=(("word", "a b"),), call=2),
    "/again": Bare(verb="again"),
    f"/again {ID}": AskAgain(identity=ALICE, request=ID),
    "/link": LinkWish(identity=ALICE, what="offer"),
    "/link ABCDE-FGHJK": LinkWish(identity=ALICE, what="claim", given="ABCDE-FGHJK"),
    "/links": LinkWish(identity=ALICE, what="show"),
    "/unlink discord": LinkWish(identity=ALICE, what="end", given="discord"),
    "/undo r_1": UndoRun(identity=ALICE, run="r_1"),
    "/output r_0123456789abcdef 2": WantOutput(
        identity=ALICE, place=SEAT.place, run="r_0123456789abcdef", index=2
    ),
    "/resolve verify": Resolve(found="verify"),
    "/resolve happened": Resolve(found="happened"),
    "/resolve r_1 2 did-not": Resolve(found="did_not", run="r_1", index=2),
    "/pause": Pause(identity=ALICE, place=SEAT.place),
    "/pause an incident": Pause(identity=ALICE, place=SEAT.place, reason="an incident"),
    "/resume": Resume(identity=ALICE, place=SEAT.place),
    "/lift": Lift(identity=ALICE, place=SEAT.place, conversation="c_1"),
    "/lift c_2": Lift(identity=ALICE, place=SEAT.place, conversation="c_2"),
    f"/break-glass {ID} it burns": BreakGlass(identity=ALICE, request=ID, reason="it burns"),
    f"/handover {ID} bob": HandOver(identity=ALICE, request=ID, to="bob"),
    "/as bob": Become(name="bob"),
    "/new": Begin(),
    "/help": Look(at="help"),
    "/history": Look(at="history"),
    "/requests": Look(at="requests"),
    "/runs": Look(at="runs"),
    "/grants": Look(at="grants"),
    "/sayso": Look(at="help"),
    "/sayso grants": Look(at="grants"),
    f"/grant {ID} 5 1h": ProposeGrant(identity=ALICE, request=ID, uses=5, lasts=timedelta(hours=1)),
    f"/revoke g_{ID}": RevokeGrant(identity=ALICE, grant=f"g_{ID}"),
    "/quit": Leave(),
}
MISTYPED = [
    "/dance", "/", "//", "/ approve", "/approve this and that", f"/approve {ID} 12345", f"/approve {ID} 1234567", f"/approve {ID} {ID}",
    f"/approve {ID}\n/approve {ID}", "/edit", f"/edit {ID}", "/edit word=beta", "/again this and that", "/show this and that", "/deny no\nand no", f"/deny {ID[:-1]} no", f"/deny {ID}0 no", "/stop\nall", "/resolve", "/resolve maybe",
    "/output", "/output r_1", "/output r_0123456789abcdef", "/output r_0123456789abcdef x", "/output r_0123456789abcdef 0 please",
    "/resolve r_1 verify", "/resolve r_1 one verify", "/resolve r_1 12345 verify", "/as", "/as bob carol",
    "/resume now", "/lift c_1 c_2", "/break-glass", f"/break-glass {ID}", f"/handover {ID}", "/handover bob",
    "/new now", "/quit now", "/grant", "/grant bob access", f"/grant {ID} 5", "/revoke", "/revoke it", "/grants all", "/history all", "/stop this and that", "/ask",
]  # fmt: skip


@pytest.mark.parametrize("line", MEANINGS)
def test_a_line_means_one_thing(line: str) -> None:
    assert read(line, SEAT) == MEANINGS[line]


@pytest.mark.parametrize("line", MISTYPED)
def test_what_is_no_command_is_never_taken_for_one_or_for_a_wish(line: str) -> None:
    assert isinstance(read(line, SEAT), Mistyped)


def test_a_sentence_about_a_wrong_line_repeats_nothing_of_it() -> None:
    said = read("/dance\x1b[31m", SEAT)
    assert isinstance(said, Mistyped)
    assert "dance" not in said.sentence


def test_what_no_store_takes_is_replaced() -> None:
    assert read("a\udc80\0b", SEAT) == ask("a\ufffd\ufffdb")


@given(st.text())
def test_only_a_command_decides(line: str) -> None:
    found = read(line, SEAT)
    decides = isinstance(found, Approve | Deny | AskAgain | Bare | Resolve)
    assert not decides or line.strip().startswith("/")


@pytest.mark.parametrize("line", ["/resume", "/pause deploy day", "/link", "/stop all"])
def test_what_other_platforms_call_sayso_s_own_words_means_the_same_here(line: str) -> None:
    assert read(f"/sayso {line[1:]}", SEAT) == read(line, SEAT)


@pytest.mark.parametrize("line", ["/grant bob access", "/revoke it", f"/grant {ID} 5", "/revoke"])
def test_a_word_that_is_there_is_never_called_unknown(line: str) -> None:
    meant = read(line, SEAT)
    assert isinstance(meant, Mistyped)
    assert f"Write `{line.split(maxsplit=1)[0][1:]} ID" in meant.sentence

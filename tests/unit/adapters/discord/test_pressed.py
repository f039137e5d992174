"""Buttons and forms: what they carry is passed on, and believed by nobody here."""

import pytest

from adapters.discord.findings import Act, AskCode, AskWhy, Finding, Ignored, Sentence
from adapters.discord.inbound import read
from adapters.discord.pressed import TEMPLATE
from core.cards import Verb
from core.events import (
    Approve,
    AskAgain,
    Deny,
    LinkWish,
    Place,
    ResolveRun,
    Review,
    RevokeGrant,
    StopRun,
    TakeUp,
    UndoRun,
)
from core.platforms import Event
from core.principals import Identity
from tests.discord_seen import (
    ALICE,
    CHANNEL,
    DIRECT,
    GUILD,
    ID,
    IN_CHANNEL,
    IN_DIRECT,
    INTERACTION,
    SAYSO,
    THREAD,
    TURN,
    press,
    submit,
)

WHO = Identity(platform="discord", workspace=GUILD, user=ALICE)
HERE = Place(platform="discord", workspace=GUILD, channel=CHANNEL, thread=THREAD)
PRIVATE = Place(platform="discord", workspace=GUILD, channel=DIRECT, thread=DIRECT)
ONCE = (f"interaction:{INTERACTION}",)
PRESSED: dict[Verb, Event] = {
    "approve": Approve(identity=WHO, request=ID),
    "review": Review(identity=WHO, request=ID),
    "again": AskAgain(identity=WHO, request=ID, place=HERE, deliveries=ONCE),
    "link_yes": LinkWish(identity=WHO, what="confirm", given=ID),
    "link_no": LinkWish(identity=WHO, what="refuse", given=ID),
    "undo": UndoRun(identity=WHO, run=ID, place=HERE, deliveries=ONCE),
    "stop": StopRun(identity=WHO, request=ID),
    "verify": ResolveRun(identity=WHO, request=ID, found="verify"),
    "happened": ResolveRun(identity=WHO, request=ID, found="happened"),
    "did_not": ResolveRun(identity=WHO, request=ID, found="did_not"),
    "revoke": RevokeGrant(identity=WHO, grant=ID),
}


def read_press(custom_id: str) -> Finding:
    return read(press(custom_id), SAYSO)


@pytest.mark.parametrize("verb", PRESSED)
def test_a_button_means_one_thing(verb: Verb) -> None:
    assert read_press(f"sayso:{verb}:{ID}") == Act(event=PRESSED[verb])
    assert read_press(f"sayso:{verb}:{ID}:2") == Act(event=PRESSED[verb])


def test_p28_a_button_is_about_the_request_that_it_carries() -> None:
    other = ID[::-1]
    assert read_press(f"sayso:approve:{other}") == Act(event=Approve(identity=WHO, request=other))


def test_deny_asks_why_and_the_form_denies() -> None:
    assert read_press(f"sayso:deny:{ID}") == AskWhy(request=ID, identity=WHO)
    assert read(submit(f"sayso:deny:{ID}", reason="  not <now>\0 "), SAYSO) == Act(
        event=Deny(identity=WHO, request=ID, reason="not <now>\ufffd")
    )
    assert read(submit(f"sayso:deny:{ID}", other="x"), SAYSO) == Act(
        event=Deny(identity=WHO, request=ID)
    )


def test_c41_approve_asks_for_a_code_and_the_form_approves_with_it() -> None:
    assert read_press(f"sayso:approve_code:{ID}") == AskCode(request=ID, identity=WHO)
    given = read(submit(f"sayso:approve_code:{ID}", code="123 456\0" + "x" * 99), SAYSO)
    assert isinstance(given, Act)
    assert isinstance(given.event, Approve)
    assert (given.event.request, len(given.event.code)) == (ID, 64)
    assert given.event.code.startswith("123 456\ufffd")
    assert read(submit(f"sayso:approve_code:{ID}", other="x"), SAYSO) == Act(
        event=Approve(identity=WHO, request=ID)
    )


def test_p02_a_suggestion_is_taken_up_once_where_it_stands() -> None:
    taken = TakeUp(identity=WHO, place=HERE, turn=TURN, number=2, deliveries=ONCE)
    assert read_press(f"sayso:suggest:{TURN}:2") == Act(event=taken)


def test_outside_of_threads_what_is_asked_again_opens_one() -> None:
    found = read(press(f"sayso:again:{ID}", IN_CHANNEL), SAYSO)
    assert isinstance(found, Act)
    assert isinstance(found.event, AskAgain)
    assert found.event.place == Place(
        platform="discord", workspace=GUILD, channel=CHANNEL, thread=f"opens:i{INTERACTION}"
    )


@pytest.mark.parametrize(
    "verb",
    [
        "approve",
        "approve_code",
        "deny",
        "review",
        "again",
        "undo",
        "verify",
        "happened",
        "did_not",
        "revoke",
    ],
)
def test_c61_no_button_decides_in_a_direct_message(verb: Verb) -> None:
    found = read(press(f"sayso:{verb}:{ID}", IN_DIRECT), SAYSO)
    assert isinstance(found, Sentence)
    assert found.text.startswith("Nothing was decided")


def test_c61_no_form_decides_in_a_direct_message() -> None:
    for verb in ("deny", "approve_code"):
        found = read(submit(f"sayso:{verb}:{ID}", IN_DIRECT, reason="no", code="123456"), SAYSO)
        assert isinstance(found, Sentence)
        assert found.text.startswith("Nothing was decided")


def test_a_direct_message_can_be_stopped_in_and_asked_in() -> None:
    assert read(press(f"sayso:stop:{TURN}", IN_DIRECT), SAYSO) == Act(
        event=StopRun(identity=WHO, request=TURN)
    )
    taken = TakeUp(identity=WHO, place=PRIVATE, turn=TURN, number=0, deliveries=ONCE)
    assert read(press(f"sayso:suggest:{TURN}:0", IN_DIRECT), SAYSO) == Act(event=taken)


@pytest.mark.parametrize("carried", ["nonsense", ID.upper(), ID + "0", "0", "x" * 64])
def test_p09_what_is_no_id_is_passed_on_for_the_gate_to_refuse(carried: str) -> None:
    assert read_press(f"sayso:approve:{carried}") == Act(
        event=Approve(identity=WHO, request=carried)
    )


ODD = [
    "",
    "approve",
    "other:approve:1",
    f"sayso:dance:{ID}",
    "sayso:approve",
    "sayso:approve:",
    "sayso:approve:\u202e",
    "sayso:approve:1\n",
    f"sayso:approve:{ID}:x",
    f"sayso:approve:{ID}:1000",
    f"sayso:approve:{'x' * 65}",
    f"xsayso:approve:{ID}",
    f"sayso:suggest:{TURN}",
]


@pytest.mark.parametrize("custom_id", ODD)
def test_what_is_no_button_of_ours_is_ignored(custom_id: str) -> None:
    assert isinstance(read_press(custom_id), Ignored)


@pytest.mark.parametrize("custom_id", [*ODD, f"sayso:approve:{ID}", f"sayso:review:{ID}"])
def test_what_is_no_form_of_ours_is_ignored(custom_id: str) -> None:
    assert isinstance(read(submit(custom_id, reason="x"), SAYSO), Ignored)


def test_what_a_button_of_ours_carries_fits_into_what_discord_takes() -> None:
    longest = f"sayso:{'x' * 20}:{'x' * 64}:100"
    assert TEMPLATE.fullmatch(longest)
    assert len(longest) <= 100

"""What a person reads in a message of our own Discord."""

import pytest

from tests.standins.discord import Json
from tests.standins.discord.plain import buttons_of, files_of, labels_of, pressed, text_of

APPROVE: Json = {"type": 2, "style": 3, "label": "Approve", "custom_id": "sayso:approve:r1"}
DENY: Json = {"type": 2, "style": 4, "label": "Deny", "custom_id": "sayso:deny:r1"}
SEE: Json = {"type": 2, "style": 5, "label": "See", "url": "https://example.com/"}
GONE: Json = {"type": 2, "style": 2, "emoji": {"name": "⏹"}, "custom_id": "x", "disabled": True}
CARD: Json = {
    "content": "",
    "components": [
        {
            "type": 17,
            "components": [
                {"type": 10, "content": "first"},
                {
                    "type": 9,
                    "components": [{"type": 10, "content": "second"}],
                    "accessory": SEE,
                },
                {"type": 14},
                {"type": 1, "components": [APPROVE, DENY, GONE]},
            ],
        },
        {"type": 10, "content": "third"},
    ],
    "attachments": [{"filename": "plan.txt"}],
}


def test_words_come_first_then_components_in_their_order() -> None:
    assert text_of(CARD) == "first\nsecond\nthird"
    assert text_of({"content": "words", "components": []}) == "words"


def test_buttons_are_named_by_what_stands_on_them() -> None:
    assert len(buttons_of(CARD)) == 4
    assert labels_of(CARD) == ["See", "Approve", "Deny"]
    assert files_of(CARD) == ["plan.txt"]


@pytest.mark.parametrize("what", ["Deny", "sayso:deny:r1", "deny"])
def test_a_button_is_meant_by_its_label_its_id_or_its_verb(what: str) -> None:
    assert pressed(CARD, what) == DENY


@pytest.mark.parametrize(("what", "why"), [("See", "no one button"), ("⏹", "greyed out")])
def test_what_cannot_be_pressed_is_not(what: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        pressed(CARD, what)

"""Ed25519: only who holds the key signs, and only what was signed holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.signatures import Key, is_signed

# RFC 8032, section 7.1, test 1.
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
SIGNATURE = (
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
    "d25bf5f0595bbe24655141438e7a100b"
)
ORDER = 2**252 + 27742317777372353535851937790883648493


def test_it_is_ed25519_as_the_standard_has_it() -> None:
    key = Key(seed=bytes.fromhex(SEED))
    assert (key.public, key.sign("")) == (PUBLIC, SIGNATURE)
    assert is_signed("", public=PUBLIC, signature=SIGNATURE)


@given(st.text(), st.text())
def test_a_signature_is_of_one_text_and_one_key(text: str, other: str) -> None:
    key, signature = Key.new(), Key(seed=bytes.fromhex(SEED)).sign(text)
    assert is_signed(text, public=PUBLIC, signature=signature)
    assert is_signed(other, public=PUBLIC, signature=signature) is (other == text)
    assert not is_signed(text, public=key.public, signature=signature)
    assert not is_signed(text, public=PUBLIC, signature=key.sign(text))


def test_no_two_keys_are_the_same_and_none_shows_its_seed() -> None:
    one, other = Key.new(), Key.new()
    assert one.public != other.public
    assert one.seed.hex() not in repr(one)
    assert str(one.seed) not in repr(one)


def test_a_signature_has_one_spelling() -> None:
    number = int.from_bytes(bytes.fromhex(SIGNATURE[64:]), "little") + ORDER
    other = SIGNATURE[:64] + number.to_bytes(32, "little").hex()
    assert not is_signed("", public=PUBLIC, signature=other)


@pytest.mark.parametrize(
    "public",
    ["00" * 32, "01" + "00" * 31, "ff" * 32, "ec" + "ff" * 30 + "7f", "ed" + "ff" * 30 + "7f"],
)
def test_a_key_that_is_none_signs_nothing(public: str) -> None:
    # With a point of small order as key, this signature would be one of every text.
    assert not is_signed("", public=public, signature="01" + "00" * 63)
    assert not is_signed("", public=public, signature=SIGNATURE)

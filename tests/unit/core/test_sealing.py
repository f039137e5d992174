"""What is kept encrypted is read with its key and for what it is about, and in no other way."""

import pytest

from core.canonical import Json, JsonObject
from core.errors import Refused
from core.sealing import seal, unseal
from core.signatures import Key

KEY = Key(seed=b"k" * 32)
BOB: JsonObject = {"tenant": "acme", "principal": "bob"}


def test_what_was_sealed_is_read_again() -> None:
    sealed = seal("JBSWY3DP", KEY, about=BOB)
    assert unseal(sealed, KEY, about=BOB) == "JBSWY3DP"
    assert "JBSWY3DP" not in bytes.fromhex(sealed).decode("latin-1")


def test_the_same_is_never_sealed_alike() -> None:
    assert seal("x", KEY, about=BOB) != seal("x", KEY, about=BOB)


@pytest.mark.parametrize(
    "about", [{**BOB, "principal": "eve"}, {**BOB, "tenant": "globex"}, {}, "bob", None]
)
def test_for_anything_else_it_cannot_be_read(about: Json) -> None:
    with pytest.raises(Refused):
        unseal(seal("x", KEY, about=BOB), KEY, about=about)


def test_with_another_key_it_cannot_be_read() -> None:
    with pytest.raises(Refused):
        unseal(seal("x", KEY, about=BOB), Key.new(), about=BOB)


@pytest.mark.parametrize("place", [0, 30, -1])
def test_what_was_changed_cannot_be_read(place: int) -> None:
    sealed = bytearray(bytes.fromhex(seal("x", KEY, about=BOB)))
    sealed[place] ^= 1
    with pytest.raises(Refused):
        unseal(sealed.hex(), KEY, about=BOB)


@pytest.mark.parametrize("garbage", ["", "00", "zz", "JBSWY3DP"])
def test_garbage_cannot_be_read(garbage: str) -> None:
    with pytest.raises(Refused):
        unseal(garbage, KEY, about=BOB)


def test_it_is_not_the_seed_that_seals() -> None:
    """The key that signs receipts seals nothing by itself."""
    from nacl.exceptions import CryptoError  # noqa: PLC0415 - beside what it is about
    from nacl.secret import Aead  # noqa: PLC0415

    sealed = bytes.fromhex(seal("x", KEY, about="y"))
    with pytest.raises(CryptoError):
        Aead(KEY.seed).decrypt(sealed, b'"y"')

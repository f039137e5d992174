"""Encryption of what is kept: bound to what it is about, so that no row can stand in for another."""

from nacl.encoding import RawEncoder
from nacl.exceptions import CryptoError
from nacl.hash import blake2b
from nacl.secret import Aead

from core import canonical
from core.canonical import Json
from core.errors import Refused
from core.signatures import Key

_PURPOSE = b"sayso sealing 1"


class Unsealable(Refused):
    """What was kept cannot be read: another key sealed it, it is about something else, or it was changed."""


def seal(text: str, key: Key, *, about: Json) -> str:
    """Return the text encrypted, in hex; nobody reads it without the key and what it is about."""
    return bytes(_box(key).encrypt(text.encode(), _bound(about))).hex()


def unseal(sealed: str, key: Key, *, about: Json) -> str:
    """Return the text; raise `Unsealable` where this is not what this key sealed about this."""
    try:
        return _box(key).decrypt(bytes.fromhex(sealed), _bound(about)).decode()
    except (CryptoError, ValueError) as error:
        raise Unsealable(
            "What is kept encrypted cannot be read with the key that is there."
        ) from error


def _box(key: Key) -> Aead:
    # A key of its own: what is sealed says nothing about what signs, nor the other way round.
    return Aead(
        blake2b(b"", digest_size=Aead.KEY_SIZE, key=key.seed, person=_PURPOSE, encoder=RawEncoder)
    )


def _bound(about: Json) -> bytes:
    return canonical.encode(about).encode()

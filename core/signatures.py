"""Ed25519 signatures: whoever holds a key said exactly this text."""

import secrets
from dataclasses import dataclass, field

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

SEED_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A key that signs. Its seed never leaves the key's file."""

    seed: bytes = field(repr=False)

    @classmethod
    def new(cls) -> "Key":
        """Return a key that nobody else has."""
        return cls(seed=secrets.token_bytes(SEED_BYTES))

    @property
    def public(self) -> str:
        """Return what others check signatures with, as 64 hex digits."""
        return bytes(SigningKey(self.seed).verify_key).hex()

    def sign(self, text: str) -> str:
        """Return the signature, as 128 hex digits; the same text always has the same one."""
        return SigningKey(self.seed).sign(text.encode()).signature.hex()


def is_signed(text: str, *, public: str, signature: str) -> bool:
    """Whether this text was signed with the key of which this is the public part, both in hex."""
    try:
        VerifyKey(bytes.fromhex(public)).verify(text.encode(), bytes.fromhex(signature))
    except BadSignatureError:
        return False
    return True

"""Headers of requests as an operator writes them: text, and a secret behind it where one is needed. Pure."""

import re
from collections.abc import Mapping

from core import placeholders
from core.canonical import JsonObject
from core.errors import Incorrect
from core.plans import Header

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_OURS = frozenset({
    "host", "content-length", "transfer-encoding", "connection", "idempotency-key", "te", "trailer",
    "upgrade", "expect", "keep-alive", "accept-encoding", "proxy-authorization", "proxy-connection",
})  # fmt: skip
"""What frames a request, or names its step: software's own."""
_SECRET = re.compile(r"(.*)\{([A-Z][A-Z0-9_]*)\}", re.DOTALL)
_HELD = re.compile(r"\{[^{}]*\}")
_ALONE = re.compile(r"[!-~](?:[ -~]*[!-~])?")
_IN_FRONT = re.compile(r"(?:[!-~][ -~]*)?")


def split(template: str) -> tuple[str, str | None]:
    """Return the text of a header, and the name of the secret that stands at its end, if one does."""
    found = _SECRET.fullmatch(template)
    return (found[1], found[2]) if found else (template, None)


def must_be_sound(headers: Mapping[str, str], secrets: tuple[str, ...]) -> None:
    """Raise `ValueError` for headers that cannot be sent by a step that lists these secrets."""
    _must_have_names(headers)
    used = set[str]()
    for name, template in headers.items():
        text, secret = split(template)
        if not _fits(_HELD.sub("x", text), secret):
            raise ValueError(f"{name}: a header holds visible characters of ASCII alone")
        if secret and secret not in secrets:
            raise ValueError(f"{name}: {secret} is not among the `secrets` of the step")
        used |= {secret} if secret else set()
    for secret in sorted(set(secrets) - used):
        raise ValueError(f"the secret {secret} stands at the end of no header")


def _must_have_names(headers: Mapping[str, str]) -> None:
    if len({name.lower() for name in headers}) < len(headers):
        raise ValueError("a header stands in it twice; its name means the same in capital letters")
    for name in headers:
        if not _NAME.fullmatch(name):
            raise ValueError(f"{name!a} cannot be the name of a header")
        if name.lower() in _OURS:
            raise ValueError(f"Sayso itself writes {name}; leave it out")


def fill(name: str, template: str, arguments: JsonObject) -> Header:
    """Return a header as it will be sent; raise `Incorrect` where a value does not fit into one."""
    text, secret = split(template)
    filled = placeholders.fill(text, arguments)
    if not _fits(filled, secret):
        raise Incorrect(
            f"The header {name} would hold something else than visible characters of ASCII. Use "
            "another value."
        )
    return Header(name=name, text=filled, secret=secret)


def is_value(secret: str) -> bool:
    """Whether a secret can stand at the end of a header."""
    return bool(_ALONE.fullmatch(secret))


def _fits(text: str, secret: str | None) -> bool:
    return bool((_IN_FRONT if secret else _ALONE).fullmatch(text))

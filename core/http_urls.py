"""Addresses of requests as an operator writes them, and what parameters may become in them. Pure."""

import re
from urllib.parse import quote, unquote

from core import hosts, placeholders
from core.canonical import Json, JsonObject, encode
from core.errors import Incorrect
from core.hosts import Host

_PARTS = re.compile(r"(https?)://([^/?#\\]*)([^?#]*)(\?[^#]*)?(#.*)?", re.DOTALL)
_PLAIN = re.compile(r"(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2}|\{[^{}]*\})*")
_HELD = re.compile(r"\{[^{}]*\}")
_STEPS = re.compile(r"[/\\]")
_LONGEST = 8000


def must_be_sound(template: str) -> None:
    """Raise `ValueError` for what cannot be the address of a request, with placeholders in it."""
    found = _PARTS.fullmatch(template)
    if not found:
        raise ValueError("write it as http://HOST/PATH or https://HOST/PATH")
    scheme, authority, path, query, fragment = found.groups()
    if fragment is not None:
        raise ValueError("what follows a # is never sent; leave it out, or write %23")
    if "@" in authority:
        raise ValueError("no user and no password may stand in it; put a secret into a header")
    if "{" in authority or "}" in authority:
        raise ValueError("a placeholder may stand in its path and behind its ? alone")
    hosts.read(authority, hosts.PORTS[scheme])
    if not path and query is not None:
        raise ValueError("write a / in front of the ?")
    if not _PLAIN.fullmatch(path + (query or "")):
        raise ValueError("a character in it has to be percent-encoded, such as a space as %20")
    if _leads_away(_HELD.sub("x", path)):
        raise ValueError("it must not hold . or .. as a part of its path")


def fill(template: str, arguments: JsonObject) -> str:
    """Return the address with each value inside its own part of it; raise `Incorrect` where it is not."""
    front, path, query = _split(template)
    quoted = {name: quote(_word(value), safe="") for name, value in arguments.items()}
    filled = placeholders.fill(path, quoted)
    pairs = zip(path.split("/"), filled.split("/"), strict=True)
    if _leads_away(filled) or any(part and not now for part, now in pairs):
        raise Incorrect(
            "A part of the address would be empty or lead elsewhere. Use another value."
        )
    whole = f"{front}{filled or '/'}{placeholders.fill(query, quoted)}"
    if len(whole) > _LONGEST:
        raise Incorrect(f"The address would be longer than {_LONGEST} characters. Use less.")
    return whole


def host_of(url: str) -> tuple[str, Host]:
    """Return the scheme of a sound address and its host; raise `ValueError` where it is not sound."""
    must_be_sound(url)
    scheme, _, rest = url.partition("://")
    return scheme, hosts.read(re.split("[/?]", rest, maxsplit=1)[0], hosts.PORTS[scheme])


def _split(template: str) -> tuple[str, str, str]:
    """Return what stands in front of the path, the path, and the query with its question mark."""
    found = _PARTS.fullmatch(template)
    if not found:
        raise Incorrect("This is not the address of a request.")
    scheme, authority, path, query, _ = found.groups()
    return f"{scheme}://{authority}", path, query or ""


def _word(value: Json) -> str:
    return value if isinstance(value, str) else encode(value)


def _leads_away(path: str) -> bool:
    """Whether a server that decodes a path, however often, would leave the folder that it names."""
    before = None
    while path != before:
        # Some take what follows a semicolon for something else.
        if any(part.partition(";")[0] in {".", ".."} for part in _STEPS.split(path)):
            return True
        before, path = path, unquote(path)
    return False

"""Secrets that sing: what they look like in every usual encoding, and where any of that turned up."""

import base64
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

LEAST = 8
"""Characters of a secret in a row that count as some of it."""
_BETWEEN = re.compile(rb"\x1b\[[0-9;]*m|(?:\\+u001b|\\+x1b)\[[0-9;]*m|\\+[rn]|\s+")
"""What may stand between the characters of a secret, as it is or as JSON and logs write it."""


def pieces(secret: str) -> Iterator[bytes]:
    """Yield everything that shows as much of a secret that it would be known."""
    raw = secret.encode()
    # Any so many characters in a row, from its second half too.
    yield from (raw[at : at + LEAST] for at in range(len(raw) - LEAST + 1))
    yield quote(secret, safe="").encode()
    yield raw.hex().encode()
    for lead in range(3):
        encoded = base64.b64encode(b"\0" * lead + raw).rstrip(b"=")
        yield encoded[(lead * 4 + 2) // 3 : -1]
        yield base64.urlsafe_b64encode(b"\0" * lead + raw).rstrip(b"=")[(lead * 4 + 2) // 3 : -1]


def buried(secret: str) -> str:
    """Return a text of which only the ends are shown, with a secret in its middle: as it is and wrapped."""
    filler = [f"{number:04} {'.' * 60}" for number in range(600)]
    encoded = base64.b64encode(f"to {secret} as agreed".encode()).decode()
    parts = [encoded[at : at + 9] for at in range(0, len(encoded), 9)]
    folded = [secret[at : at + 7] for at in range(0, len(secret), 7)]
    return "\n".join([*filler, secret, *parts, *folded, f"so it is {secret}, is it?", *filler])


def sings(data: bytes, secrets: Mapping[str, str]) -> list[str]:
    """Return the names of the secrets of which something is in these bytes."""
    joined = _BETWEEN.sub(b"", data)
    return [
        name
        for name, secret in secrets.items()
        if any(piece in data or piece in joined for piece in pieces(secret))
    ]


def in_files(folder: Path, secrets: Mapping[str, str], but: set[str]) -> dict[str, list[str]]:
    """Return each file below a folder that holds something of a secret, but for those that have to."""
    files = (file for file in folder.rglob("*") if file.is_file())
    found = {
        str(file.relative_to(folder)): sings(file.read_bytes(), secrets)
        for file in files
        if str(file.relative_to(folder)) not in but
    }
    return {name: names for name, names in found.items() if names}

"""What a server said of a tool when somebody accepted it: kept as JSON text, known by its SHA-256."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from core import canonical
from core.canonical import JsonObject
from core.errors import Refused

MOST_BYTES = 16 * 1024
_NAME = re.compile(r"[A-Za-z0-9_./-]{1,64}")
_PARTS = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """All that decides what a tool is taken for."""

    values: JsonObject

    @property
    def name(self) -> str:
        """Return what the server calls it."""
        return str(self.values["name"])

    @property
    def about(self) -> str:
        """Return what the server says of it: anybody's words."""
        return str(self.values.get("description") or self.values.get("title") or "")

    @property
    def schema(self) -> JsonObject:
        """Return the JSON schema of its arguments."""
        return cast("JsonObject", self.values["inputSchema"])

    @property
    def sha256(self) -> str:
        """Return its digest."""
        return canonical.digest(self.values)

    @property
    def text(self) -> str:
        """Return what stands for it in a file: ASCII, in one line."""
        return json.dumps(self.values, sort_keys=True, separators=(",", ":"))


def of(values: Mapping[str, object]) -> Definition:
    """Return a definition; raise `Refused` where it is none that can be accepted."""
    kept = {name: value for name, value in values.items() if value is not None}
    known = cast("JsonObject", kept)
    if not set(kept) <= set(_PARTS) or not _NAME.fullmatch(str(kept.get("name", ""))):
        raise Refused("it has no name that can be used, or says more than a tool can say.")
    if not isinstance(kept.get("inputSchema"), Mapping):
        raise Refused("it has no schema of its arguments.")
    if len(canonical.encode(known).encode()) > MOST_BYTES:
        raise Refused(f"it has more than {MOST_BYTES} bytes.")
    return Definition(values=known)


def read(text: str) -> Definition:
    """Return the definition that stands in a file; raise `Refused` where it is none."""
    values = canonical.parse(text)
    if not isinstance(values, Mapping):
        raise Refused("it is no definition of a tool.")
    return of(values)

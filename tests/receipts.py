"""Receipts of runs in a test's database, and files as a forger would make them."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from adapters.storage.receipts import Receipts
from approvals.receipts import Issued
from approvals.receipts.document import asked_digest
from core import audit, canonical
from core.audit import Intact
from core.canonical import Json
from core.signatures import Key
from tests.stores import Stores

KEY = Key(seed=b"k" * 32)
FORGER = Key(seed=b"f" * 32)
ACCOUNT = "operator"

Values: TypeAlias = dict[str, Any]
Change: TypeAlias = Callable[[Values], object]


async def issued(stores: Stores, run: str, *, since: Intact | None = None) -> Issued:
    """Return a receipt of a run, as `sayso receipt` makes it."""
    found = since or audit.verify(await stores.records.audit())
    assert isinstance(found, Intact)
    receipts = Receipts(stores.database)
    return await receipts.issue(run, key=KEY, account=ACCOUNT, since=found)


def values_of(text: str) -> Values:
    """Return what stands in a receipt."""
    values: Values = json.loads(text)
    return values


def forged(text: str, change: Change) -> str:
    """Change a receipt, and make every hash and the signature in it fit again, with another key."""
    values = values_of(text)
    values["key"] = FORGER.public
    change(values)
    prev = None
    for entry in values["audit"]:
        prev = _resealed(entry, prev)
    head = values["head"]
    body: object = json.loads(head["body"])
    if isinstance(body, dict):
        known = cast("dict[str, Json]", body)
        content = {n: v for n, v in values.items() if n not in {"head", "signature"}}
        head["body"] = canonical.encode({**known, "receipt_sha256": canonical.digest(content)})
    _resealed(head, prev)
    return signed(values, FORGER)


def signed(values: Values, key: Key) -> str:
    """Return the text of a receipt's file with a signature that fits."""
    text = canonical.encode({n: v for n, v in values.items() if n != "signature"})
    return f"{canonical.encode({**values, 'signature': key.sign(text)})}\n"


def _resealed(entry: Values, before: tuple[int, str] | None) -> tuple[int, str]:
    """Give an entry the hash that its content has, after its neighbour's."""
    if before and before[0] + 1 == entry["seq"]:
        entry["prev"] = before[1]
    entry["hash"] = audit.seal(**{n: v for n, v in entry.items() if n != "hash"})
    return entry["seq"], entry["hash"]


def telling(values: Values, kind: str, number: int = 0) -> Values:
    """Return one of the entries of a kind."""
    found: list[Values] = [entry for entry in values["audit"] if entry["kind"] == kind]
    return found[number]


def say(values: Values, kind: str, number: int = 0, **facts: object) -> None:
    """Have an entry say something else; `...` takes a fact away."""
    entry = telling(values, kind, number)
    body: Values = {**json.loads(entry["body"]), **facts}
    entry["body"] = canonical.encode({n: v for n, v in body.items() if v is not ...})


def note(values: Values) -> None:
    """Have the first entry hold the digest of what was asked as the receipt has it now."""
    say(values, "request.opened", request_sha256=asked_digest(values["request"]))

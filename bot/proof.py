"""`sayso verify`: checks a receipt with nothing but its file. No database, no configuration, no network."""

from pathlib import Path

from approvals.cards import names
from approvals.receipts import Receipt, check
from bot.printed import Printed
from core.display import one_line
from core.errors import Refused

_LARGEST = 64 * 2**20
_MUST_BE_ONE = (
    "This file cannot be read as a receipt. Name one that `sayso receipt RUN --output FILE` wrote."
)


def verify(config: Path, *, receipt: Path, key: str | None, head: str | None) -> Printed:
    """Check a receipt; raise `Refused` with the one sentence that names what does not hold."""
    del config
    found = check(_text(receipt), key=key, head=head)
    return Printed(object=_object(found), text=_sentence(found, key=key, head=head))


def _text(file: Path) -> str:
    try:
        if not file.is_file() or file.stat().st_size > _LARGEST:
            raise Refused(_MUST_BE_ONE)
        return file.read_bytes().decode()
    except (OSError, ValueError) as error:  # a path may hold what no path can
        raise Refused(_MUST_BE_ONE, error=repr(error)) from error


def _object(found: Receipt) -> dict[str, object]:
    return {
        "ok": True,
        "run": found.run.id,
        "state": found.run.state.value,
        "request": found.request.id,
        "tenant": found.request.tenant,
        "plan": found.plan.id,
        "plan_sha256": found.plan.sha256,
        "requester": found.request.requester,
        "editors": [*found.request.editors],
        "voters": [vote.principal for vote in found.votes],
        "key": found.key,
        "head": found.head.hash,
    }


def _sentence(found: Receipt, *, key: str | None, head: str | None) -> str:
    """Say what was proved, and which of the demands it met. Whoever signed it chose the names, so they are shown as one line."""
    whose = "the key that you demand" if key else f"the key {found.key}, if that is theirs,"
    told = (
        f"The receipt holds: {whose} says that run {found.run.id} of plan {found.plan.sha256} "
        f"{_ENDED[found.run.state.value]}, asked for by {found.request.requester}"
        f"{_edited(found)} and approved by {names([vote.principal for vote in found.votes])}, up to the head {found.head.hash}"
        f"{', which is the one that you demand' if head else ''}."
    )
    return one_line(told, 2000)


def _edited(found: Receipt) -> str:
    editors = found.request.editors
    return f", edited by {names(editors)}" if editors else ""


_ENDED = {
    "succeeded": "succeeded",
    "failed": "failed",
    "cancelled": "was cancelled",
    "unknown": "ended as unknown",
}

"""What an answer to a request has to be, and what of it was not so. Pure."""

import json
from collections.abc import Iterator

from core import pointers
from core.canonical import Json, encode
from core.display import json_text
from core.errors import Refused
from core.plans import Answer, HttpStep

_SHOWN = 80


def status_fault(step: HttpStep, status: int) -> str | None:
    """Say that a status is not one of those that are expected; None where it is."""
    if status in step.statuses:
        return None
    return f"status {status}, expected {' or '.join(map(str, step.statuses))}"


def fault(step: HttpStep, body: bytes | None) -> str | None:
    """Say what the JSON of an answer does not hold; None where it holds all, or nothing is asked of it.

    `body` is None where the answer could not be read.
    """
    if not step.answers:
        return None
    try:
        value: Json = json.loads(body or b"")
    except (ValueError, RecursionError):
        return "its answer is not JSON"
    return next(_faults(step, value), None)


def _faults(step: HttpStep, value: Json) -> Iterator[str]:
    for answer in step.answers:
        found = pointers.at(value, pointers.parse(answer.path))
        if not found:
            yield f"there is no {json_text(answer.path)} in its answer"
        elif not _is(found[0], answer):
            yield (
                f"{json_text(answer.path)} is {_shown(found[0])}, expected {_shown(answer.equals)}"
            )


def _is(value: Json, answer: Answer) -> bool:
    try:
        return encode(value) == encode(answer.equals)  # type: ignore[arg-type]  # JSON of another name
    except Refused:
        return False  # such as an integer beyond 2^53, which no plan can expect


def _shown(value: object) -> str:
    try:
        text = json_text(value)  # type: ignore[arg-type]  # came as JSON
    except ValueError:
        text = "no number"  # NaN and infinity, which are no JSON but which some send
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"

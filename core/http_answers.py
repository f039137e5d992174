"""What an answer to a request has to be, and what of it was not so. Pure."""

import json
from collections.abc import Iterator

from core import pointers
from core.canonical import Json, encode
from core.display import json_text
from core.errors import Refused
from core.plans import Answer, HttpStep
from core.redaction import Redactor

_SHOWN = 80


def status_fault(step: HttpStep, status: int) -> str | None:
    """Say that a status is not one of those that are expected; None where it is."""
    if status in step.statuses:
        return None
    return f"status {status}, expected {' or '.join(map(str, step.statuses))}"


def fault(step: HttpStep, body: bytes, redactor: Redactor) -> str | None:
    """Say what the JSON of an answer does not hold; None where it holds all, or nothing is asked of it."""
    if not step.answers:
        return None
    try:
        value: Json = json.loads(body)
    except (ValueError, RecursionError):
        return "its answer is not JSON"
    return next(_faults(step, value, redactor), None)


def _faults(step: HttpStep, value: Json, redactor: Redactor) -> Iterator[str]:
    for answer in step.answers:
        place = json_text(answer.path)
        found = pointers.at(value, pointers.parse(answer.path))
        if not found:
            yield f"there is no {place} in its answer"
        elif not _is(found[0], answer):
            yield f"{place} is {_seen(found[0], redactor)}, expected {_expected(answer)}"


def _is(value: Json, answer: Answer) -> bool:
    try:
        return encode(value) == encode(answer.equals)
    except Refused:
        return False  # such as an integer beyond 2^53, which no plan can expect


def _expected(answer: Answer) -> str:
    text = json_text(answer.equals)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _seen(value: Json, redactor: Redactor) -> str:
    """Return what somebody answered, without secrets: those are looked for before anything is escaped."""
    match value:
        case str():
            return json_text(redactor.head(value, _SHOWN)[0][:_SHOWN])
        case bool() | None:
            return json_text(value)
        case int() | float():
            return f"{value:.12g}"
        case _:
            return "a list" if isinstance(value, list) else "a mapping"

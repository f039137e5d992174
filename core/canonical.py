"""JSON with exactly one spelling (RFC 8785), and a parser that accepts nothing ambiguous.

Equal values have equal bytes and so one hash; what two parsers could read differently (duplicate
keys, NaN, integers that a double cannot hold, lone surrogates) is refused instead of repaired.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, TypeAlias

import rfc8785

from core.errors import Refused

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"
JsonObject: TypeAlias = Mapping[str, Json]

LARGEST_INTEGER = 2**53 - 1
_ATOMS = frozenset({str, bool, type(None)})
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def encode(value: Json) -> str:
    """Return the canonical text of a value; raise `Refused` where it has none."""
    try:
        return _quick(value) if _is_simple(value) else rfc8785.dumps(_plain(value)).decode()
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, RecursionError) as error:
        raise Refused(
            "These values have no exact JSON form (NaN, infinity, an integer beyond 2^53, broken "
            "text or too much nesting). Write large ids as text.",
            error=str(error),
        ) from error


def digest(value: Json) -> str:
    """Return the SHA-256 of the canonical text, as 64 hex digits."""
    return sha256(encode(value))


def sha256(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes, as 64 hex digits."""
    return hashlib.sha256(text.encode()).hexdigest()


def parse(text: str) -> Json:
    """Read JSON strictly; raise `Refused` for whatever two readers could understand differently."""
    try:
        value: Json = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_constant=_no_constant,
            parse_int=_exact_integer,
        )
    except RecursionError as error:
        raise Refused("This JSON is nested too deeply.") from error
    except ValueError as error:
        raise Refused("This is not valid JSON.", error=str(error)) from error
    encode(value)
    return value


def _quick(value: Json) -> str:
    """Return the text of a simple value, as RFC 8785 has it, from the encoder that is fast."""
    text = _ENCODER.encode(value)
    text.encode()  # refuses half characters
    return text


def _is_simple(value: Json) -> bool:
    """Return whether a value holds nothing that the standard encoder would write in another way.

    Those are numbers with a fraction, large integers, and names that sort otherwise as UTF-16.
    """
    kind = type(value)
    if kind in _ATOMS:
        return True
    if kind is int:
        return -LARGEST_INTEGER <= value <= LARGEST_INTEGER  # type: ignore[operator]  # an int
    if kind is dict:
        return _are_names(value) and _are_simple(value.values())  # type: ignore[arg-type, union-attr]  # a dict
    return kind in {list, tuple} and _are_simple(value)  # type: ignore[arg-type]  # a sequence


def _are_simple(values: Iterable[Json]) -> bool:
    # A loop: `all` of a generator takes twice as long, and everything that is kept passes here.
    for value in values:  # noqa: SIM110
        if type(value) not in _ATOMS and not _is_simple(value):
            return False
    return True


def _are_names(names: Iterable[object]) -> bool:
    return all(type(name) is str and name.isascii() for name in names)


def _plain(value: Json) -> Json:
    """Turn any mapping or sequence into the dict or list that the encoder knows."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) > LARGEST_INTEGER:
        # It would be written as an integer that `parse` has to refuse.
        raise rfc8785.IntegerDomainError(int(value))
    return value


def _without_duplicates(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Refused("This JSON names one key twice.")
    return found


def _no_constant(name: str) -> NoReturn:
    raise Refused("NaN and infinity are not JSON.", name=name)


def _exact_integer(digits: str) -> int:
    # Bounded before int(), which takes quadratic time (and refuses beyond 4,300 digits).
    if len(digits) > len(str(-LARGEST_INTEGER)) or abs(int(digits)) > LARGEST_INTEGER:
        raise Refused("This JSON holds an integer beyond 2^53. Write large ids as text.")
    return int(digits)

"""The words by which people link accounts: what they mean, on every platform and at a terminal. Pure."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from core.events import LinkDeed
from core.ids import is_link_id
from core.links import read_code

_Deed: TypeAlias = tuple[LinkDeed, str]
_ANSWERS: Mapping[str, LinkDeed] = {"confirm": "confirm", "refuse": "refuse"}
_PLATFORMS = frozenset({"slack", "discord", "console"})


def deed(word: str, rest: str) -> _Deed | None:
    """Return what `link`, `links` or `unlink` with this behind it means; None for anything else."""
    return _READERS[word](rest.split())


def _link(given: list[str]) -> _Deed | None:
    match [one.strip("`") for one in given]:
        case []:
            return "offer", ""
        case [code] if read_code(code):
            return "claim", code
        case [answer, link] if answer.lower() in _ANSWERS and is_link_id(link.lower()):
            return _ANSWERS[answer.lower()], link.lower()
        case _:
            return None


def _unlink(given: list[str]) -> _Deed | None:
    match [one.lower() for one in given]:
        case []:
            return "end", ""
        case [platform] if platform in _PLATFORMS:
            return "end", platform
        case _:
            return None


_READERS: Mapping[str, Callable[[list[str]], _Deed | None]] = {
    "link": _link,
    "links": lambda given: None if given else ("show", ""),
    "unlink": _unlink,
}

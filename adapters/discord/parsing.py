"""discord.py's reading of what the gateway says: what it cannot read is left out, and ends nothing."""

from collections.abc import Callable, MutableMapping
from typing import Any, TypeAlias

from adapters.platforms.tasks import log

Parser: TypeAlias = Callable[[Any], None]
_SESSION = frozenset({"READY", "RESUMED"})
"""Without these there is no session: where one cannot be read, another has to begin."""
_PRESS = "INTERACTION_CREATE"


def forgive(parsers: MutableMapping[str, Parser]) -> None:
    """Have each parser leave out what it cannot read, instead of ending the connection.

    Anybody may write what is odd, and a day has only so many sessions.
    """
    for name, parser in parsers.items():
        if name not in _SESSION:
            parsers[name] = _forgiving(name, parser)


def _forgiving(name: str, parser: Parser) -> Parser:
    def parse(data: Any) -> None:  # noqa: ANN401 - discord.py's
        if _could(name, parser, data) or name != _PRESS or "message" not in data:
            return
        # What was pressed is known without the message, and whoever pressed waits for an answer.
        _could(name, parser, {key: data[key] for key in data.keys() - {"message"}})

    return parse


def _could(name: str, parser: Parser, data: Any) -> bool:  # noqa: ANN401 - discord.py's
    try:
        parser(data)
    except Exception as error:  # noqa: BLE001 - whatever it is, what comes next can be read
        log.warning("discord: %s could not be read: %s", name, type(error).__name__)
        return False
    return True

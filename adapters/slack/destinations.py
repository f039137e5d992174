"""Where anything may be sent: to Slack, over TLS, or to whatever stands in for it. Pure."""

from urllib.parse import SplitResult, urlsplit

_DOMAIN = ".slack.com"


def is_slacks(url: str, base_url: str | None) -> bool:
    """Whether an address that came from outside is Slack's own, or at the configured one.

    Whoever could name another would learn what Sayso says, or have it ask around inside a network.
    """
    there = _read(url)
    if there is None:
        return False
    if base_url is not None:
        here = _read(base_url)
        return here is not None and _origin(here) == _origin(there)
    host, port = there.hostname or "", _port(there)
    return there.scheme == "https" and port == 443 and host.endswith(_DOMAIN)  # noqa: PLR2004


def _read(url: str) -> SplitResult | None:
    """Return the parts; None where two readers could disagree about them."""
    if any(character <= " " or character in "\\\x7f" for character in url):
        return None
    try:
        parts = urlsplit(url)
        _port(parts)
    except ValueError:
        return None
    return None if parts.username is not None or parts.password is not None else parts


def _origin(parts: SplitResult) -> tuple[str, str, int | None]:
    return parts.scheme, parts.hostname or "", _port(parts)


def _port(parts: SplitResult) -> int | None:
    return parts.port or {"https": 443, "http": 80}.get(parts.scheme)

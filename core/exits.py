"""What the exit code of a command says, in words."""

import signal

_SHELL = 128
"""Added to a signal's number by whoever passes on that a command of theirs was ended by it."""
_CODES = {
    2: "often wrong arguments",
    126: "a program was found that may not be started",
    127: "a program was not found",
}
_SIGNALS = {
    "SIGHUP": "whoever it belonged to went away",
    "SIGINT": "it was interrupted",
    "SIGILL": "it crashed",
    "SIGABRT": "it gave up on itself",
    "SIGBUS": "it crashed",
    "SIGFPE": "it crashed in a calculation",
    "SIGKILL": "it was killed, perhaps for want of memory",
    "SIGSEGV": "it crashed",
    "SIGPIPE": "nobody read what it wrote any more",
    "SIGTERM": "it was asked to stop",
    "SIGXCPU": "its processor time was used up",
    "SIGXFSZ": "it wrote a larger file than it may",
    "SIGSYS": "it asked the system for what it may not have",
}


def in_words(code: int) -> str:
    """Return an exit code with what it usually means; minus a signal's number is that signal."""
    if code < 0:
        return _signal(-code) or f"signal {-code}"
    meaning = _CODES.get(code) or (_signal(code - _SHELL) if code > _SHELL else None)
    return f"exit code {code}, {meaning}" if meaning else f"exit code {code}"


def _signal(number: int) -> str | None:
    """Return a signal's name and what it means; None for a number that has no name."""
    try:
        name = signal.Signals(number).name
    except ValueError:
        return None
    return f"{name}: {_SIGNALS[name]}" if name in _SIGNALS else name

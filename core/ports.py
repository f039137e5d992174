"""What an adapter puts between Sayso and the outside: a clock, models, commands, secrets and files.

The other ports stand beside what they are about. Chats: `core.deliveries`. Jobs: `core.jobs`. What is
stored: `core.artifacts`, `core.conversations`, `core.deliveries`, `core.erasing`, `core.frame`,
`core.leases`, `core.memories`, `core.rates`, `core.reminders`, `approvals.brakes` and `approvals.store`.
"""

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeAlias

from core import exits
from core.plans import Step
from core.prompt import Prompt
from core.signatures import Key
from core.transcript import Entry, Move


class Clock(Protocol):
    """Now, so that tests can choose it."""

    def now(self) -> datetime:
        """Return the time in UTC."""
        ...


Listener: TypeAlias = Callable[[str], None]
"""Is told the pieces of what somebody says, as they come; neither raises nor takes long."""


class Draft(Protocol):
    """Shows an answer while it is being written."""

    def anew(self) -> Listener:
        """Begin anew and return what hears it: whoever heard what was begun before is heard no more."""
        ...


class Model(Protocol):
    """Something that decides the next move of a turn."""

    @property
    def generative(self) -> bool:
        """Return whether it writes texts of its own.

        Such a model is given what `core.declarations` declares, within the bytes that a prompt may
        have; it has to explain what it wants to change, must not repeat itself, and may conclude.
        Any other one only passes on what a person or a tool said.
        """
        ...

    async def next_move(
        self,
        entries: Sequence[Entry],
        prompt: Prompt,
        *,
        conclude: bool = False,
        hear: Listener | None = None,
    ) -> Move:
        """Return one move; raise `Unavailable` where nothing came back, so that it can be tried again.

        A message that broke off is `Broken`, never an error. To `conclude`, it may only say
        something; the tools are declared all the same, since they are part of what it has read.
        What it says may be heard piece by piece: none of that counts until the move is returned.
        """
        ...


Pieces: TypeAlias = Callable[[], AsyncIterator[bytes]]
"""Begins to give something large from its start, piece by piece."""


class Ending(StrEnum):
    """How a step ended. Whatever is no command has no exit code, so there are words for its ends too."""

    EXITED = "exited"
    TIMED_OUT = "timed_out"
    TOO_MUCH_OUTPUT = "too_much_output"
    NOT_STARTED = "not_started"
    """Provably nothing happened: there was no such program, or it could not be started."""
    ANSWERED = "answered"
    """Whoever was asked answered as expected."""
    ANSWERED_OTHERWISE = "answered_otherwise"
    """They answered, and not as expected."""
    BROKEN_OFF = "broken_off"
    """They may have done it: what they answered was not heard to its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A step is over, and so is everything that it started."""

    ending: Ending
    exit_code: int | None
    """None unless it exited; minus the signal's number where a signal ended it."""
    output: str
    """Standard output and error together, head and tail where it was long, secrets masked."""
    note: str = ""
    """What there is to say of its end, such as `status 503, expected 200`; secrets masked."""
    whole: Pieces | None = field(default=None, compare=False, repr=False)
    """All of it, where that is more: masked, in UTF-8, as often as it is asked for."""

    @property
    def succeeded(self) -> bool:
        """Whether it did what it was to do."""
        exited = self.ending is Ending.EXITED and self.exit_code == 0
        return exited or self.ending is Ending.ANSWERED


_ENDINGS = {
    Ending.TIMED_OUT: "it ran longer than its time limit",
    Ending.TOO_MUCH_OUTPUT: "it printed more than its output limit",
    Ending.NOT_STARTED: "it could not be started",
    Ending.ANSWERED: "it answered as expected",
    Ending.ANSWERED_OTHERWISE: "it did not answer as expected",
    Ending.BROKEN_OFF: "its answer broke off",
}


def ending_in_words(ended: Ended) -> str:
    """Say how a step ended."""
    if ended.ending is not Ending.EXITED:
        return ended.note or _ENDINGS[ended.ending]
    return exits.in_words(ended.exit_code or 0)


Tail: TypeAlias = Callable[[], tuple[str, ...]]
"""Returns the last whole lines that a command has printed, masked and made visible as `Ended.output`.

What may be the beginning of a secret of several lines is held back until more is known.
"""
Hear: TypeAlias = Callable[[Tail], None]
"""Is told that a command has printed more; costs next to nothing until somebody asks for the tail."""


class Runner(Protocol):
    """Runs the steps of runbooks, and nothing else."""

    @property
    def backend(self) -> str:
        """Return the name that stands in a plan: how a command is kept from everything else."""
        ...

    def obstacle(self, step: Step) -> str | None:
        """Say what would keep this step from starting, in a sentence; None where nothing would."""
        ...

    async def run(self, step: Step, *, step_id: str, hear: Hear | None = None) -> Ended:
        """Run one step to its end. Cancelling this kills the command before it returns.

        `hear` must neither raise nor take long.
        """
        ...


class Secrets(Protocol):
    """The secrets that steps may name. Whatever is looked at is masked everywhere from then on."""

    def fault(self, name: str) -> str | None:
        """Say why a secret has no value, as far as a quick look tells; None where it may have one."""
        ...

    async def values(self, names: Collection[str]) -> Mapping[str, str]:
        """Return the value that each has now, fit to be masked and to be passed on.

        Raises `Invalid` or `Unavailable` with a sentence that names the secret and holds no value.
        """
        ...


class Processes(Protocol):
    """The commands that run on this machine, whichever process of ours started them."""

    def kill(self, name: str) -> int:
        """Kill whatever runs under a step's name, or a turn's; return how many processes that were."""
        ...


class Files(Protocol):
    """What lies in the working folder."""

    async def sha256(self, file: str) -> str | None:
        """Return the digest of a file's content, None where there is no such file.

        Raises `Unavailable` where it cannot be read: could-not-check is never "unchanged".
        """
        ...


class Sources(Protocol):
    """The files of the functions that steps may call, found without running anything of them."""

    async def sha256(self, function: str) -> str | None:
        """Return the digest of the file that `package.module:name` is in, None where there is none.

        Raises `Unavailable` where it cannot be read: could-not-check is never "unchanged".
        """
        ...


class Keys(Protocol):
    """Who keeps the key that signs receipts."""

    def key(self) -> Key:
        """Return the key, making it where there is none yet; two at once get the same one.

        Raises `Invalid` where what is kept is no key: nothing is ever written over it.
        """
        ...

    def kept(self) -> Key | None:
        """Return the key, or None where none was made yet."""
        ...


class Heads(Protocol):
    """A place outside the database where heads of the audit log are noted, one a line.

    It may be on a disk that hangs, and then a call of it does.
    """

    def fault(self) -> str | None:
        """Say why no head can be noted there and what to do, as far as a look tells; else None."""
        ...

    def last(self) -> str:
        """Return the newest line, empty where there is none; raise `Unavailable` where that failed."""
        ...

    def append(self, line: str) -> None:
        """Add a line; raise `Unavailable` where that failed."""
        ...

"""Second factors at a terminal: how somebody gets one, and is asked for a code of it.

What a second factor is made of is shown on the terminal, to whoever enrols, and nowhere else.
"""

import io
import sys
from dataclasses import dataclass
from pathlib import Path

import click
import segno

from approvals.factors import Failed
from bot import settings, typist, wiring
from bot.opened import with_app
from bot.printed import Printed
from bot.wiring import App
from core.errors import Refused
from core.one_time_codes import Secret
from core.principals import Principal

_NO_TERMINAL = "Run this in a terminal: it shows what nobody else may see, so it goes into no file and no pipe."
_NONE = "{} has no second factor. People get one with: sayso enrol"
_SHOWN = """\
Scan this with an authenticator app, or type it in. Nobody else may see it, and it is shown only now.

{code}
Key: {key}
Address: {uri}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Enrolling:
    """Who enrols, and whether that replaces what they have."""

    who: Principal
    again: bool


def enrol(file: Path, *, name: str | None, reset: str | None) -> Printed:
    """Give somebody a second factor; with `reset`, take away one that was lost."""
    if reset is not None:
        return _reset(file, reset)
    if not _is_seen():
        raise Refused(_NO_TERMINAL)
    one = _who(file, name)
    old = _asked("A code of the second factor that you have now") if one.again else None
    secret = Secret.new()
    _show(secret, one.who)
    code = _asked("The code that the app shows now")
    return _kept(file, name, secret, (code, old))


def asked_for(file: Path, request: str, name: str | None) -> str:
    """Return the code that somebody types, where a request demands one; nothing where it does not."""
    if not _is_seen() or not _is_demanded(file, request, name):
        return ""
    return _asked("The code of your second factor", hidden=True)


def _is_seen() -> bool:
    """Whether somebody types here, and sees what standard error is told: nothing else gets it."""
    return all(one is not None and one.isatty() for one in (sys.stdin, sys.stderr))


def _is_demanded(file: Path, request: str, name: str | None) -> bool:
    found = list[bool]()

    async def deed(app: App) -> Printed:
        identity = typist.identity(app, name)
        _, principal, seen = await app.looking.gate.seen(identity, request)
        enrolled = await app.looking.gate.factors.enrolled(principal.tenant)
        found.append(seen.rule.second_factor and principal.id in enrolled)
        return Printed(object={}, text="")

    with_app(file, deed)
    return found[0]


def _who(file: Path, name: str | None) -> _Enrolling:
    found = list[_Enrolling]()

    async def deed(app: App) -> Printed:
        gate = app.looking.gate
        _, who = await gate.acting.admit(typist.identity(app, name), "enrolments")
        again = who.id in await gate.factors.enrolled(who.tenant)
        found.append(_Enrolling(who=who, again=again))
        return Printed(object={}, text="")

    with_app(file, deed)
    return found[0]


def _kept(file: Path, name: str | None, secret: Secret, codes: tuple[str, str | None]) -> Printed:
    async def deed(app: App) -> Printed:
        gate, (code, old) = app.looking.gate, codes
        _, who = await gate.acting.who(typist.identity(app, name))
        failed = await gate.factors.enrol(who.tenant, who.id, secret, code=code, old=old)
        if isinstance(failed, Failed):
            await gate.acting.refuse(who, "", failed.why)
        return Printed(
            object={"enrolled": {"principal": who.id, "tenant": who.tenant}},
            text=f"{who.id} has a second factor now. Each code counts once.",
        )

    return with_app(file, deed)


def _reset(file: Path, person: str) -> Printed:
    async def deed(app: App) -> Printed:
        tenants = await app.looking.gate.factors.reset(person, account=wiring.account())
        if not tenants:
            raise Refused(_NONE.format(person))
        return Printed(
            object={"reset": {"principal": person, "tenants": tenants}},
            text=f"{person} has no second factor any more, and can enrol one: sayso enrol",
        )

    return with_app(file, deed)


def _show(secret: Secret, who: Principal) -> None:
    uri = secret.uri(who.id, f"Sayso {who.tenant}")
    code = "" if settings.terminal_wishes().dumb else _drawn(uri)
    click.echo(_SHOWN.format(code=code, key=secret.base32, uri=uri), err=True)


def _drawn(uri: str) -> str:
    drawn = io.StringIO()
    segno.make(uri, error="l", micro=False).terminal(drawn, compact=True)
    return drawn.getvalue()


def _asked(what: str, *, hidden: bool = False) -> str:
    try:
        found: str = click.prompt(what, hide_input=hidden, err=True, default="", show_default=False)
    except click.Abort:
        found = ""
    if not found.strip():
        raise Refused("Nothing was done, since no code was typed.")
    return found

"""People at a terminal and with a real authenticator app: its codes are those of this very moment."""

import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from core.one_time_codes import Secret
from tests.sayso import Sayso
from tests.terminal import typing

STEP = 30
SHOWN = r"Key: ([A-Z2-7]{32})\n"


def guard(sayso: Sayso, risk: str = "low:   ") -> None:
    """Have what is of a risk take a second factor."""
    sayso.edit("sayso.yml", f"{risk} {{", f"{risk} {{second_factor: true, ")


def code(app: Secret, *, ahead: int = 0) -> str:
    """Return what the app shows now, or so many steps ahead."""
    return app.code(int(time.time()) // STEP + ahead)


def wrong(app: Secret) -> str:
    """Return a code that the app does not show around now."""
    near = {code(app, ahead=ahead) for ahead in range(-4, 5)}
    return next(one for one in map(str, range(713_905, 713_925)) if one not in near)


def enrol(sayso: Sayso, who: str = "bob", env: Mapping[str, str] | None = None) -> Secret:
    """Have somebody enrol at a terminal; return what their app has scanned."""
    with typing("enrol", "--as", who, folder=sayso.folder, env=env) as terminal:
        app = Secret(base32=terminal.finds(SHOWN))
        assert "█▄" in terminal.seen
        terminal.sees(f"otpauth://totp/Sayso%20acme:{who}?secret={app.base32}")
        terminal.sees("The code that the app shows now")
        terminal.types(code(app), f"{who} has a second factor now. Each code counts once.")
        assert terminal.leaves() == 0
    return app


def forget_use(sayso: Sayso) -> None:
    """Have the codes of now be unused, so that nobody waits for others."""
    sayso.sql("UPDATE factor SET last_step = 0")


def everywhere(folder: Path) -> bytes:
    """Return all that lies in the folder."""
    found = list[bytes]()
    for file in folder.rglob("*"):
        with suppress(IsADirectoryError):
            found.append(file.read_bytes())
    return b"\n".join(found)

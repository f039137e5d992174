"""What the commands about standing grants do: one function a command, with the options it was given."""

from datetime import timedelta
from pathlib import Path

from approvals.grants import GrantState
from bot import contract, serving
from bot.grant import listed
from bot.opened import with_app
from bot.printed import Printed
from bot.typist import identity
from bot.wiring import App
from core.events import ProposeGrant, RevokeGrant


def grant(file: Path, *, request: str, uses: int, lasts: timedelta, name: str | None) -> Printed:
    """Propose a standing grant of exactly what a request showed."""

    async def deed(app: App) -> Printed:
        stop = serving.signalled()
        who = identity(app, name)
        event = ProposeGrant(identity=who, request=request, uses=uses, lasts=lasts)
        made = await app.granting.propose(event, stop)
        told = (
            "Look at: sayso grants"
            if made.state is GrantState.ACTIVE
            else f"It needs votes: sayso approve {made.request}"
        )
        return Printed(
            object={"grant": contract.grant(made, await app.granting.granting.plan_of(made))},
            text=f"Standing grant {made.id} is {made.state.value}. {told}",
        )

    return with_app(file, deed)


def grants(file: Path, *, name: str | None) -> Printed:
    """List standing grants: those that somebody may know of, or all for the operator."""

    async def deed(app: App) -> Printed:
        granting = app.granting.granting
        if name is None:
            found = [one for tenant in app.settings.tenants for one in await granting.every(tenant)]
        else:
            found = await granting.known(identity(app, name))
        return Printed(
            object={"grants": [contract.grant(one, plan) for one, plan in found]},
            text=listed(found),
        )

    return with_app(file, deed)


def grants_revoke(file: Path, *, grant: str, name: str | None) -> Printed:
    """Revoke a standing grant."""

    async def deed(app: App) -> Printed:
        event = RevokeGrant(identity=identity(app, name), grant=grant)
        revoked = await app.granting.granting.revoke(event)
        return Printed(
            object={"grant": contract.grant(revoked, await app.granting.granting.plan_of(revoked))},
            text=f"Standing grant {revoked.id} is revoked. It lets nothing run any more.",
        )

    return with_app(file, deed)

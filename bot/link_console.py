"""What the commands about links do, as the account that types."""

from pathlib import Path

from bot import linking
from bot.contract import Object
from bot.opened import with_app
from bot.printed import Printed
from bot.typist import identity
from bot.wiring import App
from core.audit import moment
from core.links import Link, Linking
from core.principals import Identity


def link(file: Path, *, code: str, confirm: str, refuse: str, name: str | None) -> Printed:
    """Give a code, take one, or take the answer to a question."""

    async def deed(app: App) -> Printed:
        who, accounts = identity(app, name), app.desk.linking.accounts
        if confirm:
            confirmed = await accounts.confirm(who, confirm)
            return _one(confirmed, linking.confirmed(confirmed))
        if refuse:
            return _one(await accounts.refuse(who, refuse), linking.NO)
        if code:
            claimed = await accounts.claim(who, code)
            return _one(claimed, linking.claimed(claimed).text)
        offered = await accounts.offer(who)
        return _one(offered.linking, linking.offered(offered), code=offered.code)

    return with_app(file, deed)


def links(file: Path, *, name: str | None) -> Printed:
    """List what is linked, and what waits for a yes."""

    async def deed(app: App) -> Printed:
        mine = await app.desk.linking.accounts.mine(identity(app, name))
        return Printed(
            object={
                "links": [_link(one) for one in mine.links],
                "waiting": [_linking(one) for one in mine.waiting],
            },
            text=linking.shown(mine).text,
        )

    return with_app(file, deed)


def unlink(file: Path, *, platform: str, name: str | None) -> Printed:
    """End links."""

    async def deed(app: App) -> Printed:
        ended = await app.desk.linking.accounts.unlink(identity(app, name), platform.lower())
        return Printed(
            object={"unlinked": [_link(one) for one in ended]}, text=linking.unlinked(ended)
        )

    return with_app(file, deed)


def _one(one: Linking, text: str, **more: str) -> Printed:
    return Printed(object={"link": {**_linking(one), **more}}, text=text)


def _linking(one: Linking) -> Object:
    return {
        "id": one.id,
        "state": one.state.value,
        "principal": one.principal,
        "rests_on": _named(one.rests_on),
        "account": _named(one.account) if one.account else None,
        "expires_at": moment(one.expires_at),
    }


def _link(one: Link) -> Object:
    return {
        "principal": one.principal,
        "account": _named(one.account),
        "rests_on": _named(one.rests_on),
    }


def _named(one: Identity) -> str:
    return f"{one.platform}/{one.workspace}/{one.user}"

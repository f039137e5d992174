"""Links and how they come to be. Implements `core.links.Links`."""
# ruff: noqa: S608 - nothing but constants becomes SQL

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from adapters.storage import jobs
from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Transaction,
    Value,
    log,
    rows,
    sql,
    text_of,
    time_of,
)
from core.jobs import NewJob, Replay
from core.links import LASTS, LINK, Link, Linking, LinkState
from core.principals import STRANGER, Identity

_KEPT = timedelta(days=1)
"""For how long it is kept how one that is over went."""
_THIS = "tenant = :tenant AND id = :id AND expires_at > :now"
_ACCOUNT = "platform = :platform AND workspace = :workspace AND account = :account"
_LIVE = "state IN ('offered', 'claimed', 'asked')"


@dataclass(frozen=True, slots=True)
class Links:
    """One database's links."""

    database: Database

    async def made(self, tenant: str) -> list[Link]:
        """See the port."""
        return await self.database.transact(lambda _: _made(tenant))

    async def get(self, tenant: str, linking: str) -> Linking | None:
        """See the port."""
        return await self.database.transact(lambda now: _get(now, tenant, linking))

    async def waiting(self, tenant: str, principal: str) -> list[Linking]:
        """See the port."""
        return await self.database.transact(lambda now: _waiting(now, tenant, principal))

    async def offer(
        self, tenant: str, linking: str, code: str, *, principal: str, rests_on: Identity
    ) -> Linking:
        """See the port."""
        return await self.database.transact(
            lambda now: _offer(now, tenant, (linking, code), principal, rests_on)
        )

    async def claim(self, tenant: str, code: str, account: Identity) -> Linking | None:
        """See the port."""
        return await self.database.transact(lambda now: _claim(now, tenant, code, account))

    async def ask(self, tenant: str, linking: str, account: Identity) -> Linking | None:
        """See the port."""
        return await self.database.transact(lambda now: _ask(now, tenant, linking, account))

    async def make(
        self, tenant: str, linking: str, *, principal: str, platform: str
    ) -> Linking | None:
        """See the port."""
        return await self.database.transact(
            lambda now: _make(now, tenant, linking, principal, platform)
        )

    async def refuse(
        self, tenant: str, linking: str, *, principal: str = "", account: Identity | None = None
    ) -> Linking | None:
        """See the port."""
        return await self.database.transact(
            lambda now: _refuse(now, tenant, linking, principal, account)
        )

    async def end(
        self, tenant: str, principal: str, *, account: Identity | None = None, platform: str = ""
    ) -> list[Link]:
        """See the port."""
        return await self.database.transact(
            lambda now: _end(now, tenant, principal, account, platform)
        )

    async def lose(self, tenant: str, links: Sequence[Link]) -> None:
        """See the port."""
        await self.database.transact(lambda now: _lose(now, tenant, links))


def _made(tenant: str) -> Transaction[list[Link]]:
    found = yield from rows(
        "SELECT * FROM link WHERE tenant = :tenant ORDER BY made_at, platform, workspace, account",
        tenant=tenant,
    )
    return [_link(row) for row in found]


def _get(now: datetime, tenant: str, linking: str) -> Transaction[Linking | None]:
    found = yield from rows(
        f"SELECT * FROM linking WHERE {_THIS}",
        tenant=tenant, id=linking, now=text_of(now),
    )  # fmt: skip
    return _linking(found[0]) if found else None


def _waiting(now: datetime, tenant: str, principal: str) -> Transaction[list[Linking]]:
    found = yield from rows(
        "SELECT * FROM linking WHERE tenant = :tenant AND principal = :principal"
        " AND state = 'asked' AND expires_at > :now ORDER BY expires_at, id",
        tenant=tenant, principal=principal, now=text_of(now),
    )  # fmt: skip
    return [_linking(row) for row in found]


def _offer(
    now: datetime, tenant: str, new: tuple[str, str], principal: str, on: Identity
) -> Transaction[Linking]:
    yield sql("DELETE FROM linking WHERE expires_at <= :over", over=text_of(now - _KEPT))
    yield from _drop(now, tenant, principal)
    linking, code = new
    found = yield from rows(
        "INSERT INTO linking (id, tenant, code, principal, on_platform, on_workspace, on_account,"
        " state, expires_at) VALUES (:id, :tenant, :code, :principal, :on_platform, :on_workspace,"
        " :on_account, 'offered', :until) RETURNING *",
        id=linking, tenant=tenant, code=code, principal=principal, on_platform=on.platform,
        on_workspace=on.workspace, on_account=on.user, until=text_of(now + LASTS),
    )  # fmt: skip
    yield from log(now, tenant, "link.offered", principal, link=linking, on=_named(on))
    return _linking(found[0])


def _drop(now: datetime, tenant: str, principal: str) -> Transaction[None]:
    """End what is on its way to somebody; of what was over by itself the log says nothing."""
    dropped = yield from rows(
        "UPDATE linking SET state = 'ended'"
        f" WHERE tenant = :tenant AND principal = :principal AND {_LIVE} RETURNING *",
        tenant=tenant, principal=principal,
    )  # fmt: skip
    lived = [row for row in dropped if time_of(row["expires_at"]) > now]
    for row in sorted(lived, key=lambda row: row["id"]):
        yield from _logged(now, "link.dropped", principal, [row])


def _claim(now: datetime, tenant: str, code: str, account: Identity) -> Transaction[Linking | None]:
    found = yield from rows(
        "UPDATE linking SET state = 'claimed', platform = :platform, workspace = :workspace,"
        " account = :account WHERE tenant = :tenant AND code = :code AND state = 'offered'"
        " AND expires_at > :now AND NOT EXISTS (SELECT 1 FROM link WHERE link.tenant = :tenant"
        " AND link.platform = :platform AND link.workspace = :workspace AND link.account = :account)"
        " RETURNING *",
        tenant=tenant, code=code, now=text_of(now), **_of(account),
    )  # fmt: skip
    return (yield from _logged(now, "link.claimed", STRANGER, found))


def _ask(
    now: datetime, tenant: str, linking: str, account: Identity
) -> Transaction[Linking | None]:
    found = yield from rows(
        "UPDATE linking SET state = 'asked', expires_at = :until"
        f" WHERE {_THIS} AND state = 'claimed' AND {_ACCOUNT} RETURNING *",
        tenant=tenant, id=linking, now=text_of(now), until=text_of(now + LASTS), **_of(account),
    )  # fmt: skip
    asked = yield from _logged(now, "link.asked", STRANGER, found)
    if asked:
        yield from jobs.submit(now, _telling(asked))
    return asked


def _make(
    now: datetime, tenant: str, linking: str, principal: str, platform: str
) -> Transaction[Linking | None]:
    found = yield from rows(
        f"UPDATE linking SET state = 'made' WHERE {_THIS} AND state = 'asked'"
        " AND principal = :principal AND on_platform = :platform AND NOT EXISTS (SELECT 1 FROM link"
        " WHERE link.tenant = :tenant AND link.platform = linking.platform"
        " AND link.workspace = linking.workspace"
        " AND (link.account = linking.account OR link.principal = linking.principal)) RETURNING *",
        tenant=tenant, id=linking, now=text_of(now), principal=principal, platform=platform,
    )  # fmt: skip
    made = yield from _logged(now, "link.made", principal, found)
    if made:
        yield sql(
            "INSERT INTO link (tenant, platform, workspace, account, principal, on_platform,"
            " on_workspace, on_account, made_at) SELECT tenant, platform, workspace, account, principal,"
            " on_platform, on_workspace, on_account, :now FROM linking WHERE id = :id",
            id=linking, now=text_of(now),
        )  # fmt: skip
        yield from jobs.submit(now, _telling(made))
    return made


def _refuse(
    now: datetime, tenant: str, linking: str, principal: str, account: Identity | None
) -> Transaction[Linking | None]:
    """End it by a no: of the account while it is claimed or asked, of the person at any time before."""
    by = f"({_ACCOUNT})" if account else "principal = :principal"
    who = _of(account) if account else {"principal": principal}
    found = yield from rows(
        f"UPDATE linking SET state = 'refused' WHERE {_THIS} AND {_LIVE} AND {by} RETURNING *",
        tenant=tenant, id=linking, now=text_of(now), **who,
    )  # fmt: skip
    return (yield from _logged(now, "link.refused", principal or STRANGER, found))


def _end(
    now: datetime, tenant: str, principal: str, account: Identity | None, platform: str
) -> Transaction[list[Link]]:
    which = f" AND {_ACCOUNT}" if account else " AND platform = :platform" if platform else ""
    who = _of(account) if account else {"platform": platform} if platform else {}
    found = yield from rows(
        f"DELETE FROM link WHERE tenant = :tenant AND principal = :principal{which} RETURNING *",
        tenant=tenant, principal=principal, **who,
    )  # fmt: skip
    yield from _drop(now, tenant, principal)
    ended = sorted(map(_link, found), key=str)
    for link in ended:
        yield from log(now, tenant, "link.ended", principal, account=_named(link.account))
    return ended


def _lose(now: datetime, tenant: str, links: Sequence[Link]) -> Transaction[None]:
    for link in links:
        found = yield from rows(
            f"DELETE FROM link WHERE tenant = :tenant AND principal = :principal AND {_ACCOUNT}"
            " AND on_platform = :on_platform AND on_workspace = :on_workspace"
            " AND on_account = :on_account RETURNING account",
            tenant=tenant, principal=link.principal, on_platform=link.rests_on.platform,
            on_workspace=link.rests_on.workspace, on_account=link.rests_on.user, **_of(link.account),
        )  # fmt: skip
        if found:
            yield from log(
                now, tenant, "link.lost", SYSTEM, account=_named(link.account), whose=link.principal
            )


def _logged(
    now: datetime, kind: str, who: str, found: Sequence[Row]
) -> Transaction[Linking | None]:
    if not found:
        return None
    one = _linking(found[0])
    account = _named(one.account) if one.account else None
    yield from log(now, one.tenant, kind, who, link=one.id, account=account, whose=one.principal)
    return one


def _telling(one: Linking) -> NewJob:
    return NewJob(
        id=f"{LINK}:{one.id}:{one.state}",
        kind=LINK,
        tenant=one.tenant,
        payload={"link": one.id, "state": one.state.value},
        replay=Replay.SAFE,
    )


def _of(account: Identity) -> dict[str, Value]:
    return {
        "platform": account.platform,
        "workspace": account.workspace,
        "account": account.user,
    }


def _named(one: Identity) -> str:
    return f"{one.platform}/{one.workspace}/{one.user}"


def _identity(row: Row, before: str = "") -> Identity:
    return Identity(
        platform=row[f"{before}platform"],
        workspace=row[f"{before}workspace"],
        user=row[f"{before}account"],
    )


def _link(row: Row) -> Link:
    return Link(account=_identity(row), principal=row["principal"], rests_on=_identity(row, "on_"))


def _linking(row: Row) -> Linking:
    return Linking(
        id=row["id"],
        tenant=row["tenant"],
        principal=row["principal"],
        rests_on=_identity(row, "on_"),
        account=_identity(row) if row["account"] else None,
        state=LinkState(row["state"]),
        expires_at=time_of(row["expires_at"]),
    )

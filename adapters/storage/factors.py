"""Second factors. Implements `approvals.factors.Factors`."""

from dataclasses import dataclass
from datetime import datetime

from adapters.storage.transactions import (
    SYSTEM,
    Database,
    Row,
    Transaction,
    changed,
    log,
    rows,
    text_of,
    time_of,
)
from approvals import factors
from approvals.factors import LOCK, MOST_WRONG, CodeSpent, Failed, RightCode
from core import sealing
from core.canonical import JsonObject
from core.one_time_codes import Secret, begin_of, matching
from core.ports import Keys
from core.sealing import Unsealable
from core.signatures import Key


@dataclass(frozen=True, slots=True)
class Factors:
    """One database's second factors, and the key that they are encrypted with."""

    database: Database
    keys: Keys

    async def check(
        self, tenant: str, principal: str, code: str, *, since: datetime | None
    ) -> RightCode | Failed:
        """See the port."""
        key = self.keys.kept()
        return await self.database.transact(
            lambda now: _check(now, (tenant, principal), code, since, key)
        )

    async def enrol(
        self, tenant: str, principal: str, secret: Secret, *, code: str, old: str | None
    ) -> Failed | None:
        """See the port."""
        key, whose = self.keys.key(), (tenant, principal)
        sealed = sealing.seal(secret.base32, key, about=_about(*whose))

        def work(now: datetime) -> Transaction[Failed | None]:
            step = matching(secret, code, now)
            if step is None:
                return Failed(why=factors.NOT_OF_NEW)
            new = _New(sealed=sealed, step=step)
            return (yield from _enrol(now, whose, new, old, key))

        return await self.database.transact(work)

    async def enrolled(self, tenant: str) -> frozenset[str]:
        """See the port."""
        found = await self.database.transact(
            lambda _: rows("SELECT principal FROM factor WHERE tenant = :tenant", tenant=tenant)
        )
        return frozenset(row["principal"] for row in found)

    async def reset(self, principal: str, *, account: str) -> int:
        """See the port."""
        return await self.database.transact(lambda now: _reset(now, principal, account))


@dataclass(frozen=True, slots=True, kw_only=True)
class _New:
    """A second factor that is to be kept."""

    sealed: str
    step: int


_Whose = tuple[str, str]


def take(now: datetime, tenant: str, principal: str, held: RightCode) -> Transaction[None]:
    """Use up a code with what it decides; raise `CodeSpent` where it may not be used any more.

    One condition decides, so that of two decisions with one code exactly one counts.
    """
    taken = yield from changed(
        "UPDATE factor SET last_step = :step, wrong = 0 WHERE tenant = :tenant"
        " AND principal = :principal AND sealed = :sealed AND last_step < :step"
        " AND (locked_until IS NULL OR locked_until <= :now) RETURNING principal",
        step=held.step, tenant=tenant, principal=principal, sealed=held.sealed, now=text_of(now),
    )  # fmt: skip
    if not taken:
        raise CodeSpent(factors.USED)


def _check(
    now: datetime, whose: _Whose, code: str, since: datetime | None, key: Key | None
) -> Transaction[RightCode | Failed]:
    # The row is locked first, so that on every database guesses at once are counted one by one.
    found = yield from _row(whose)
    if not found:
        return Failed(why=factors.NOT_ENROLLED)
    until = found[0]["locked_until"]
    if until and time_of(until) > now:
        return Failed(why=factors.locked(time_of(until) - now))
    try:
        secret = _opened(found[0], whose, key)
    except Unsealable:
        return Failed(why=factors.UNREADABLE)
    step = matching(secret, code, now)
    if step is None:
        return (yield from _wrong(now, whose))
    return _judged(found[0], step, since, now)


def _judged(row: Row, step: int, since: datetime | None, now: datetime) -> RightCode | Failed:
    why = factors.judged(step, row["last_step"], since=since, now=now)
    return Failed(why=why) if why else RightCode(step=step, sealed=row["sealed"], at=begin_of(step))


def _row(whose: _Whose) -> Transaction[list[Row]]:
    return rows(
        "UPDATE factor SET wrong = wrong WHERE tenant = :tenant AND principal = :principal"
        " RETURNING *",
        tenant=whose[0], principal=whose[1],
    )  # fmt: skip


def _opened(row: Row, whose: _Whose, key: Key | None) -> Secret:
    if key is None:
        raise Unsealable(factors.UNREADABLE)
    return Secret(base32=sealing.unseal(row["sealed"], key, about=_about(*whose)))


def _about(tenant: str, principal: str) -> JsonObject:
    return {"kind": "second factor", "tenant": tenant, "principal": principal}


def _wrong(now: datetime, whose: _Whose) -> Transaction[Failed]:
    """Count a wrong code; the last that may be wrong locks."""
    counted = yield from rows(
        "UPDATE factor SET wrong = (wrong + 1) % :most,"
        " locked_until = CASE WHEN wrong + 1 >= :most THEN :until END"
        " WHERE tenant = :tenant AND principal = :principal RETURNING wrong, locked_until",
        most=MOST_WRONG, until=text_of(now + LOCK), tenant=whose[0], principal=whose[1],
    )  # fmt: skip
    is_locked = counted[0]["locked_until"] is not None
    left = 0 if is_locked else MOST_WRONG - counted[0]["wrong"]
    yield from log(now, whose[0], "factor.wrong", whose[1], left=left)
    if not is_locked:
        return Failed(why=factors.wrong(left))
    yield from log(now, whose[0], "factor.locked", whose[1], until=text_of(now + LOCK))
    return Failed(why=factors.locked(LOCK))


def _enrol(
    now: datetime, whose: _Whose, new: _New, old: str | None, key: Key
) -> Transaction[Failed | None]:
    before = yield from _row(whose)
    if before and not old:
        return Failed(why=factors.ALREADY)
    if before:
        held = yield from _check(now, whose, old or "", None, key)
        if isinstance(held, Failed):
            return held
    # Nobody else can have changed what was locked above; one that was not there is inserted once.
    kept = yield from changed(
        "INSERT INTO factor (tenant, principal, sealed, enrolled_at, last_step, wrong)"
        " VALUES (:tenant, :principal, :sealed, :now, :step, 0)"
        " ON CONFLICT (tenant, principal) DO UPDATE SET sealed = excluded.sealed,"
        " enrolled_at = excluded.enrolled_at, last_step = excluded.last_step, wrong = 0"
        " WHERE factor.sealed = :before RETURNING principal",
        tenant=whose[0], principal=whose[1], sealed=new.sealed, now=text_of(now), step=new.step,
        before=before[0]["sealed"] if before else "",
    )  # fmt: skip
    if not kept:
        return Failed(why=factors.CHANGED)
    yield from log(now, whose[0], "factor.enrolled", whose[1], again=bool(before))
    return None


def _reset(now: datetime, principal: str, account: str) -> Transaction[int]:
    forgotten = yield from rows(
        "DELETE FROM factor WHERE principal = :principal RETURNING tenant", principal=principal
    )
    for tenant in sorted(row["tenant"] for row in forgotten):
        yield from log(now, tenant, "factor.reset", SYSTEM, person=principal, account=account)
    return len(forgotten)

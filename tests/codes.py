"""People with an authenticator app: who enrolled, and the codes that it shows them."""

from core.one_time_codes import STEP, Secret, step_at
from tests.builders import TENANT
from tests.fakes.clock import FrozenClock
from tests.stores import Stores

APP = Secret(base32="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
OTHER_APP = Secret(base32="JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def code(clock: FrozenClock, secret: Secret = APP, *, ahead: int = 0) -> str:
    """Return what an app shows now, or so many steps ahead."""
    return secret.code(step_at(clock.now()) + ahead)


def wrong(clock: FrozenClock, *secrets: Secret) -> str:
    """Return six digits that no app of these shows around now."""
    here = step_at(clock.now())
    shown = {s.code(here + away) for s in (APP, *secrets) for away in (-2, -1, 0, 1, 2)}
    return next(digits for digits in map(str, range(713_905, 713_925)) if digits not in shown)


async def enrolled(
    stores: Stores, clock: FrozenClock, who: str = "bob", *, tenant: str = TENANT, app: Secret = APP
) -> None:
    """Have somebody enrol, a step ago."""
    failed = await stores.factors.enrol(tenant, who, app, code=code(clock, app), old=None)
    assert failed is None
    clock.pass_by(STEP)

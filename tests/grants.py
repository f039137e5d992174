"""Standing grants on real stores: ways to propose one, to have it begin, and to use it."""

from dataclasses import replace
from datetime import timedelta

from approvals.grants import Grant, GrantState
from approvals.models import Request, Rule
from approvals.proposals import NewRequest
from core import ids
from core.plans import Standing
from core.tools import Checked
from tests.builders import CONVERSATION, PLACE, TENANT, a_new_request, a_plan
from tests.stores import Stores, granted, opened, spend

HOUR = timedelta(hours=1)


def a_proposed(
    *calls: Checked,
    uses: int = 3,
    lasts: timedelta = HOUR,
    requester: str = "alice",
    conversation: str = CONVERSATION,
    place: str = PLACE.resource,
    rule: Rule | None = None,
    tenant: str = TENANT,
) -> NewRequest:
    """Return a request that asks for a standing grant, ready to be opened."""
    plan = a_plan(*calls)
    standing = Standing(
        plan=plan.sha256,
        requester=requester,
        place=place,
        uses=uses,
        lasts_ms=int(lasts / timedelta(milliseconds=1)),
        proposer="bob",
    )
    new = a_new_request(
        *calls,
        plan=replace(plan, standing=standing),
        requester=requester,
        conversation=conversation,
        rule=rule,
        tenant=tenant,
    )
    return replace(new, grant=ids.grant_id())


def a_use(grant: Grant | str, *calls: Checked, **given: str) -> NewRequest:
    """Return a request that a grant was found to cover, ready to be opened."""
    name = grant if isinstance(grant, str) else grant.id
    return replace(a_new_request(*calls, **given), grant=name)  # type: ignore[arg-type]


async def proposed(stores: Stores, new: NewRequest | None = None) -> Grant:
    """Return a grant that waits for people."""
    request = await opened(stores, new or a_proposed())
    return await made_by(stores, request)


async def made_by(stores: Stores, request: Request) -> Grant:
    """Return the grant that a request asks for."""
    grant = await stores.grants.made_by(request.tenant, request.id)
    assert grant is not None
    return grant


async def active(stores: Stores, new: NewRequest | None = None, *voters: str) -> Grant:
    """Return an active grant that these people agreed to."""
    request = await granted(stores, new or a_proposed(), *voters)
    assert await spend(stores, request) is None
    grant = await made_by(stores, request)
    assert grant.state is GrantState.ACTIVE
    return grant


async def now(stores: Stores, grant: Grant) -> Grant:
    """Return a grant as it is now."""
    found = await stores.grants.get(grant.tenant, grant.id)
    assert found is not None
    return found


async def used(stores: Stores, grant: Grant, *calls: Checked, **given: str) -> Request:
    """Return a request that was opened under a grant and waits to run."""
    request = await opened(stores, a_use(grant, *calls, **given))
    assert request.under
    assert request.under.grant == grant.id
    return request

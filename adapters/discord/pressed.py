"""Buttons that were pressed and forms that were submitted. Pure.

What a button or a form carries came back through Discord, and is not believed by anybody here.
"""

import re
from collections.abc import Callable, Mapping

from adapters.discord.edit_forms import values
from adapters.discord.findings import AskCode, AskWhy, Finding, Us
from adapters.discord.seen import Pressed, Submitted
from adapters.discord.whereabouts import NOT_HERE, UNCLEAR, UNKNOWN, Spot, is_id, meant, spot
from core.display import sound
from core.events import (
    Approve,
    AskAgain,
    BeginEdit,
    Deny,
    Edit,
    LinkWish,
    ResolveRun,
    Review,
    RevokeGrant,
    StopRun,
    TakeUp,
    UndoRun,
)
from core.platforms import Event
from core.principals import Identity

TEMPLATE = re.compile(
    r"sayso:(?P<verb>[a-z_]{1,20}):(?P<id>[A-Za-z0-9_-]{1,64})(?::(?P<number>[0-9]{1,3}))?"
)
"""All that a button or a form of ours carries."""
REASON = "reason"
"""The one field of the form that asks why somebody denies."""
CODE = "code"
"""The one field of the form that asks for a code of a second factor."""
_LONGEST_CODE = 64


def button(seen: Pressed, us: Us) -> Finding:
    """Read a button of ours."""
    found = TEMPLATE.fullmatch(seen.custom_id)
    if found is None:
        return UNKNOWN
    at = _spot(seen, us)
    return _pressed(found, seen, at) if isinstance(at, Spot) else at


def form(seen: Submitted, us: Us) -> Finding:
    """Read a form of ours: why somebody denies, what they change, or a code with which they approve."""
    found = TEMPLATE.fullmatch(seen.custom_id)
    if found is None or found["verb"] not in {"deny", "edit", "approve_code"}:
        return UNKNOWN
    at = _spot(seen, us)
    if not isinstance(at, Spot):
        return at
    if found["verb"] == "edit":
        given = tuple((name, text and sound(text)) for name, text in values(seen.fields))
        return meant(Edit(identity=at.identity, request=found["id"], values=given), at)
    if found["verb"] == "approve_code":
        code = sound(seen.fields.get(CODE, ""))[:_LONGEST_CODE]
        return meant(Approve(identity=at.identity, request=found["id"], code=code), at)
    reason = sound(seen.fields.get(REASON, "")).strip()
    return meant(Deny(identity=at.identity, request=found["id"], reason=reason), at)


def _spot(seen: Pressed | Submitted, us: Us) -> Spot | Finding:
    at = spot(seen.by, seen.where, us, opens=f"i{seen.interaction}")
    return at if not isinstance(at, Spot) or is_id(seen.interaction) else UNCLEAR


def _pressed(found: re.Match[str], seen: Pressed, at: Spot) -> Finding:
    verb, carried = found["verb"], found["id"]
    once = (f"interaction:{seen.interaction}",)
    match verb:
        case "deny" | "approve_code":
            form = AskWhy if verb == "deny" else AskCode
            return NOT_HERE if at.is_direct else form(request=carried, identity=at.identity)
        case "suggest":
            return _suggestion(carried, found["number"], once, at)
        case "again":
            again = AskAgain(identity=at.identity, request=carried, place=at.place, deliveries=once)
            return meant(again, at)
        case "undo":
            undo = UndoRun(identity=at.identity, run=carried, place=at.place, deliveries=once)
            return meant(undo, at)
        case _:
            made = _MADE.get(verb)
            return meant(made(at.identity, carried), at) if made else UNKNOWN


def _suggestion(turn: str, number: str | None, once: tuple[str, ...], at: Spot) -> Finding:
    if number is None:
        return UNCLEAR
    event = TakeUp(
        identity=at.identity, place=at.place, turn=turn, number=int(number), deliveries=once
    )
    return meant(event, at)


_MADE: Mapping[str, Callable[[Identity, str], Event]] = {
    "approve": lambda who, request: Approve(identity=who, request=request),
    "edit": lambda who, request: BeginEdit(identity=who, request=request),
    "review": lambda who, request: Review(identity=who, request=request),
    "revoke": lambda who, grant: RevokeGrant(identity=who, grant=grant),
    "stop": lambda who, request: StopRun(identity=who, request=request),
    "verify": lambda who, request: ResolveRun(identity=who, request=request, found="verify"),
    "happened": lambda who, request: ResolveRun(identity=who, request=request, found="happened"),
    "did_not": lambda who, request: ResolveRun(identity=who, request=request, found="did_not"),
    "link_yes": lambda who, link: LinkWish(identity=who, what="confirm", given=link),
    "link_no": lambda who, link: LinkWish(identity=who, what="refuse", given=link),
}

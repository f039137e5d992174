"""Windows: why somebody denies, all of a plan, a sentence; and the home of the app."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from adapters.platforms import literal
from adapters.slack import buttons, cards, rich_text, splitting
from adapters.slack.rich_text import text
from core.canonical import JsonObject
from core.deliveries import Asking
from core.display import one_line
from core.platforms import Home

DENY, REVIEW, APPROVE = "sayso:deny", "sayso:review", "sayso:approve_code"
REASON, CODE = "reason", "code"
_LONGEST_REASON = 300
"""What the gate keeps of a reason."""
_LONGEST_CODE = 20
"""Six digits, and the blanks that apps put between them."""
_LARGEST = 200_000
"""Bytes of a view. Slack refuses one above 250,000."""
_OF_A_BLOCK = 3_000
_MOST_BLOCKS = 95
_TITLE = 24
_MOST_WAITING = 20
_LONGEST_LINE = 300
_TOO_LONG = (
    "This plan is too long to be shown here, and what cannot be shown cannot be approved here. "
    "All of it is in the file below its card."
)


def deny(request: str, private: str, what: str = "") -> JsonObject:
    """Return the window that asks why somebody denies; `what` says what that is, in a line."""
    asked = [text(one_line(what, _LONGEST_LINE), "bold"), text("\n")] if what.strip() else []
    return {
        **_window(DENY, "Deny", private),
        "submit": rich_text.plain("Deny", _TITLE),
        "blocks": [
            rich_text.block(
                [rich_text.section([*asked, text(f"Request {one_line(request, 64)}")])]
            ),
            {
                "type": "input",
                "block_id": REASON,
                "optional": True,
                "label": rich_text.plain("Why? The agent and everybody here will read it.", 200),
                "element": {
                    "type": "plain_text_input",
                    "action_id": REASON,
                    "multiline": True,
                    "max_length": _LONGEST_REASON,
                },
            },
        ],
    }


def code(request: str, private: str) -> JsonObject:
    """Return the window that asks for a code of somebody's second factor; to submit it is a yes."""
    about = text(f"Request {one_line(request, 64)}")
    return {
        **_window(APPROVE, "Approve", private),
        "submit": rich_text.plain("Approve", _TITLE),
        "blocks": [rich_text.block([rich_text.section([about])]), _asks_code()],
    }


def _asks_code() -> JsonObject:
    return {
        "type": "input",
        "block_id": CODE,
        "label": rich_text.plain("Code of your second factor", 200),
        "hint": rich_text.plain(
            "Six digits that your authenticator app shows now. Each counts once, and only if it is "
            "newer than the request.", 200,
        ),
        "element": {
            "type": "plain_text_input",
            "action_id": CODE,
            "max_length": _LONGEST_CODE,
            "focus_on_load": True,
        },
    }  # fmt: skip


def review(told_card: Asking, private: str) -> JsonObject:
    """Return all of a plan; approved from here when, and only when, the card could be approved."""
    window = _window(REVIEW, "Review full plan", private)
    if not shows(told_card):
        return {**window, "blocks": _too_long(told_card)}
    submit: JsonObject = (
        {"submit": rich_text.plain("Approve", _TITLE)}
        if cards.can_be_approved(told_card.card)
        else {}
    )
    asks = [_asks_code()] if cards.takes_code(told_card.card) else []
    return {**window, **submit, "blocks": [*islice(_all(told_card), _MOST_BLOCKS + 2), *asks]}


def shows(asking: Asking) -> bool:
    """Return whether a window can show all of a card."""
    card = asking.card
    if sum(map(len, (*card.plan, *card.preview, *card.unchecked))) > _LARGEST:
        return False  # at once: who pressed the button waits
    shown = [*islice(_all(asking), _MOST_BLOCKS + 2)]
    return len(shown) <= _MOST_BLOCKS and len(json.dumps(shown)) <= _LARGEST


def _all(asking: Asking) -> Iterator[JsonObject]:
    yield rich_text.header(one_line(asking.card.title, 150) or "…")
    for group in splitting.packed(cards.parts(_unasked(asking), ""), _OF_A_BLOCK):
        yield rich_text.block(splitting.elements(group))


def _unasked(asking: Asking) -> Asking:
    return replace(asking, wanted=())


def _too_long(asking: Asking) -> list[JsonObject]:
    short = cards.shortened(_unasked(asking), "")
    said = rich_text.block([rich_text.section([text(_TOO_LONG, "bold")])])
    groups = splitting.packed(cards.parts(short, ""), _OF_A_BLOCK)
    return [said, *(rich_text.block(splitting.elements(group)) for group in islice(groups, 10))]


def says(title: str, words: str) -> JsonObject:
    """Return a window that says one thing, in the place of another."""
    whole = literal.shown(words)
    shown = whole[: rich_text.reach(whole, _OF_A_BLOCK)]
    return {
        "type": "modal",
        "title": rich_text.plain(one_line(title) or "Sayso", _TITLE),
        "close": rich_text.plain("Close", _TITLE),
        "blocks": [rich_text.block([rich_text.section([text(shown or "…")])])],
    }


def _window(callback: str, title: str, private: str) -> JsonObject:
    return {
        "type": "modal",
        "callback_id": callback,
        "private_metadata": private,
        "title": rich_text.plain(title, _TITLE),
        "close": rich_text.plain("Close", _TITLE),
    }


def home(what: Home, team: str) -> JsonObject:
    """Return what waits for somebody and what runs."""
    shown = what.waits[:_MOST_WAITING]
    return {
        "type": "home",
        "blocks": [
            _lines([what.greeting or "…"]),
            *_waits(shown, len(what.waits) - len(shown), team),
            rich_text.header("Runs"),
            _lines(what.runs[:_MOST_WAITING] or ("Nothing runs.",)),
        ],
    }


def no_home(words: str) -> JsonObject:
    """Return why somebody is not shown what waits and what runs: nothing looks empty that is not."""
    return {"type": "home", "blocks": [_lines([words])]}


def _waits(waits: Sequence[Asking], more: int, team: str) -> Iterator[JsonObject]:
    yield rich_text.header("Waits for you")
    if not waits:
        yield _lines(["Nothing waits for you."])
    rows = iter(buttons.drawn_apart([cards.looked_at(one).card.buttons for one in waits]))
    for one in waits:
        status = one_line(one.status, _LONGEST_LINE)
        title = one_line(one.card.title, _LONGEST_LINE) or "…"
        said = splitting.Part(runs=(text(f"{title}\n", "bold"), *rich_text.dated(status)))
        yield rich_text.block(splitting.elements([said, *cards.wanted(one, team)]))
        yield from next(rows)
    if more:
        yield _lines([f"{more} more wait."])


def _lines(lines: Sequence[str]) -> JsonObject:
    runs = [text(one_line(line, 1_000) or "…") for line in lines]
    joined = [part for run in runs for part in (run, text("\n"))][:-1]
    return rich_text.block([rich_text.section(joined)])

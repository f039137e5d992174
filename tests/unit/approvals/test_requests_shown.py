"""A request on a card: all that is sent and all that has to come back, and no secret in any of it."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from approvals import secrecy
from approvals.fresh_cards import Shown, card_for
from core.canonical import JsonObject
from core.plans import Answer, Header, HttpStep
from core.redaction import Redactor
from core.tools import Work
from core.transcript import AgentText
from tests.builders import a_checked, a_plan, a_rule, a_tool
from tests.requests import request

UNTIL = datetime(2026, 3, 1, tzinfo=UTC)
SECRET = "Zq7-Rk2_Wm9xT4bN8vL1"


def line(step: HttpStep) -> str:
    """Return the line of a card that tells of a step."""
    checked = a_checked()
    plan = a_plan(checked)
    plan = replace(plan, calls=(replace(plan.calls[0], steps=(step,)),))
    about = Shown(
        requester="alice", checked=(checked,), about=AgentText(), rule=a_rule(), approvers=("bob",),
        previews=(),
    )  # fmt: skip
    return card_for(plan, about, "a" * 32, UNTIL).plan[1]


def exposed(step: HttpStep) -> str | None:
    """Say what of a call that comes down to this step is a secret."""

    def expand(_: JsonObject) -> Work:
        return Work(steps=(step,))

    tool = replace(a_tool(), expand=expand)
    return secrecy.exposed((a_checked(tool=tool),), Redactor.of([SECRET]))


def test_the_shortest_request_says_what_has_to_come_back_and_for_how_long_it_may_take() -> None:
    assert (
        line(request("http://a/", seconds=5)) == '  0. GET "http://a/", expecting 200, at most 5s'
    )


def test_i6_all_that_is_sent_and_expected_is_on_the_card() -> None:
    step = request(
        "http://a/<b>?c=`d`",
        "POST",
        headers=(
            Header(name="X-<@U1>", text="é\n"),
            Header(name="Authorization", text="Bearer ", secret="API_TOKEN"),
        ),
        body='{"a": "<!channel>"}',
        statuses=(200, 204),
        answers=(Answer(path="/a&b", equals={"c": [1, None]}), Answer(path="", equals="\u202e")),
        secrets=("API_TOKEN",),
    )
    assert line(step) == (
        '  0. POST "http://a/\\u003cb\\u003e?c=\\u0060d\\u0060", header "X-\\u003c\\u0040U1\\u003e" "\\u00e9\\n", '
        'header "Authorization" "Bearer " and the secret "API_TOKEN", body "{\\"a\\": '
        '\\"\\u003c!channel\\u003e\\"}", expecting 200 or 204 and "/a\\u0026b" being {"c": [1, null]} and '
        '"" being "\\u202e", at most 20s, secrets ["API_TOKEN"]'
    )


@pytest.mark.parametrize(
    "given",
    [
        {"url": f"http://a/{SECRET}"},
        {"body": f'{{"key": "{SECRET}"}}'},
        {"headers": (Header(name="X-Key", text=SECRET),)},
        {"headers": (Header(name="Api-Key", text="hunter2hunter2"),)},
    ],
)
def test_i12_nobody_is_asked_about_a_request_that_holds_a_secret(given: dict[str, Any]) -> None:
    step = replace(request("http://a/"), **given)
    said = exposed(step)
    assert said is not None
    assert "what it would run looks like a secret" in said
    assert SECRET not in said


def test_a_request_that_only_names_its_secret_holds_none() -> None:
    header = Header(name="Authorization", text="Bearer ", secret="API_TOKEN")
    step = request("http://a/", headers=(header,), secrets=("API_TOKEN",))
    assert exposed(step) is None

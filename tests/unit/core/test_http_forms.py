"""Requests as runbooks hold them: what they become, and what cannot be one."""

from typing import Any

import pytest

from core import http_headers, http_urls, runbooks
from core.canonical import Json
from core.errors import Incorrect, Invalid
from core.hosts import Host
from core.plans import Answer, Header, HttpStep

HEAD = """\
name: x
summary: X.
params:
  text: {type: string, min_length: 0}
  count: {type: integer}
  often: {type: number}
  really: {type: boolean}
steps:
"""
ARGUMENTS: dict[str, Json] = {"text": "a b", "count": 3, "often": 0.5, "really": True}


def filled(http: str, more: str = "", **arguments: Json) -> HttpStep:
    tool = runbooks.tool(f"{HEAD}  - http: {http}\n{more}", "x.yml")
    [step] = tool.expand({**ARGUMENTS, **arguments}).steps
    assert isinstance(step, HttpStep)
    return step


def refusal(http: str, more: str = "") -> str:
    with pytest.raises(Invalid) as refused:
        runbooks.tool(f"{HEAD}  - http: {http}\n{more}", "x.yml")
    return refused.value.shown


def test_the_shortest_request_there_is() -> None:
    assert filled('{get: "https://api.example.com"}') == HttpStep(
        method="GET", url="https://api.example.com/", headers=(), body=None, statuses=(200,), answers=(),
        timeout_ms=60_000, secrets=(),
    )  # fmt: skip


def test_the_contracts_example() -> None:
    step = filled('{get: "http://127.0.0.1:9000/{text}/health", expect: 200}', text="web")
    assert (step.method, step.url, step.statuses) == (
        "GET", "http://127.0.0.1:9000/web/health", (200,),
    )  # fmt: skip
    assert step.network


def test_everything_that_a_request_may_say() -> None:
    step = filled(
        '{post: "https://a.example:8443/v1/{text}?n={count}&t={text}", headers: {X-Text: "is {text}!", '
        'Authorization: "Bearer {API_TOKEN}"}, json: {text: "{text}", all: ["{count}", "{often}", "{really}", '
        '"{{{count}}}"], "{{": null}, expect: {status: [200, 201], json: {/a/0: "{count}", "": {b: 1.0}}}}',
        "    timeout: 5s\n    secrets: [API_TOKEN]\n",
    )
    assert step == HttpStep(
        method="POST",
        url="https://a.example:8443/v1/a%20b?n=3&t=a%20b",
        headers=(
            Header(name="Content-Type", text="application/json"),
            Header(name="X-Text", text="is a b!"),
            Header(name="Authorization", text="Bearer ", secret="API_TOKEN"),
        ),
        body='{"all":[3,0.5,true,"{3}"],"text":"a b","{{":null}',
        statuses=(200, 201),
        answers=(Answer(path="/a/0", equals=3), Answer(path="", equals={"b": 1.0})),
        timeout_ms=5000,
        secrets=("API_TOKEN",),
    )


@pytest.mark.parametrize(
    ("given", "kind", "body"),
    [
        ("json: null", "application/json", "null"),
        ("json: []", "application/json", "[]"),
        ('json: "{count}"', "application/json", "3"),
        ('body: "n={count}"', "text/plain; charset=utf-8", "n=3"),
        ('body: "x", headers: {content-type: text/csv}', "text/csv", "x"),
        ("headers: {X: y}, get: null", "", None),
    ],
)
def test_what_is_sent_has_its_type(given: str, kind: str, body: str | None) -> None:
    step = filled(f'{{put: "http://a/", {given}}}')
    assert step.body == body
    kinds = [one.text for one in step.headers if one.name.lower() == "content-type"]
    assert kinds == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("http", "problem"),
    [
        ("{}", "steps.0.http: write one of get, post, put, patch, delete, head, with the address"),
        ('{get: "http://a/", put: "http://a/"}', "steps.0.http: write one of get, post, put"),
        ('{get: "http://a/", json: null}', "steps.0.http: a get sends no `json`; leave it out"),
        ('{head: "http://a/", expect: {json: {/a: 1}}}', "a head brings no JSON; leave it out"),
        ('{head: "http://a/", body: x}', "steps.0.http: a head sends no `body`; leave it out"),
        (
            '{put: "http://a/", body: x, json: 1}',
            "it has `json` and `body`, and may have one of them",
        ),
        (
            '{get: "http://a/{text"}',
            "steps.0.http.get: a character in it has to be percent-encoded",
        ),
        ('{put: "http://a/", body: "{"}', "steps.0.http: a brace is open"),
        ('{get: "http://a/{API_TOKEN}"}', "a secret may stand at the end of a header's text alone"),
        (
            '{put: "http://a/", body: "{API_TOKEN}"}',
            "a secret may stand at the end of a header's text",
        ),
        (
            '{put: "http://a/", json: ["{API_TOKEN}"]}',
            "a secret may stand at the end of a header's text",
        ),
        (
            '{get: "http://a/", headers: {X: "{API_TOKEN} x"}}',
            "a secret may stand at the end of a header's",
        ),
        (
            '{get: "http://a/", headers: {X: "{A}{B}"}}',
            "a secret may stand at the end of a header's",
        ),
        (
            '{get: "http://a/", headers: {X: "{API_TOKEN}"}}',
            "X: API_TOKEN is not among the `secrets`",
        ),
        ('{get: "http://a/{other}"}', "{other} is not one of its params"),
        ('{get: "http://a/", headers: {X: "{other}"}}', "{other} is not one of its params"),
        ('{get: "http://a/", expect: {json: {/a: "{other}"}}}', "{other} is not one of its params"),
        (
            '{get: "http://a/", expect: {json: {a: 1}}}',
            "write where a value stands as in /items/0/name",
        ),
        (
            '{get: "http://a/", expect: 99}',
            "steps.0.http.expect: it must be greater than or equal to 200",
        ),
        ('{get: "http://a/", expect: []}', "steps.0.http.expect.status: "),
        ('{get: "http://a/", expect: {statis: 200}}', "steps.0.http.expect.statis: "),
        ('{get: "http://a/", heders: {}}', "steps.0.http.heders: "),
        ('{get: "http://a/", headers: {"X y": z}}', "'X y' cannot be the name of a header"),
        ('{get: "http://a/", headers: {"X:y": z}}', "'X:y' cannot be the name of a header"),
        ('{get: "http://a/", headers: {X: a, x: b}}', "a header stands in it twice"),
        ('{get: "http://a/", headers: {HOST: a}}', "Sayso itself writes HOST; leave it out"),
        (
            '{get: "http://a/", headers: {Content-Length: "1"}}',
            "Sayso itself writes Content-Length",
        ),
        (
            '{get: "http://a/", headers: {Idempotency-Key: a}}',
            "Sayso itself writes Idempotency-Key",
        ),
        (
            '{get: "http://a/", headers: {X: "a\\r\\nY: z"}}',
            "X: a header holds visible characters of ASCII",
        ),
        ('{get: "http://a/", headers: {X: "ü"}}', "X: a header holds visible characters of ASCII"),
        ('{get: "http://a/", headers: {X: ""}}', "X: a header holds visible characters of ASCII"),
        ('{get: "http://a/", headers: {X: " a"}}', "X: a header holds visible characters of ASCII"),
    ],
)
def test_what_cannot_be_a_request_is_refused_with_line_and_field(http: str, problem: str) -> None:
    said = refusal(http)
    assert said.startswith(("x.yml:9: steps", "x.yml:8: steps"))
    assert problem in said


def test_a_secret_that_no_header_ends_with_is_refused() -> None:
    said = refusal('{get: "http://a/"}', "    secrets: [API_TOKEN]\n")
    assert "the secret API_TOKEN stands at the end of no header" in said


def test_a_step_is_a_request_or_something_else_and_never_both() -> None:
    assert "it has run and http, and may have one of them" in refusal(
        '{get: "http://a/"}', "    run: [ls]\n"
    )


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("ftp://a/", "write it as http://HOST/PATH or https://HOST/PATH"),
        ("HTTP://a/", "write it as http://HOST/PATH or https://HOST/PATH"),
        ("//a/", "write it as http://HOST/PATH or https://HOST/PATH"),
        ("http:///a", "this is not the name of a host"),
        ("http://a/#b", "what follows a # is never sent"),
        ("http://a#b", "what follows a # is never sent"),
        ("http://a:b@c/", "no user and no password may stand in it"),
        ("http://{text}/", "a placeholder may stand in its path and behind its \\? alone"),
        ("http://a:{count}/", "a placeholder may stand in its path and behind its \\? alone"),
        ("http://a?b", "write a / in front of the \\?"),
        ("http://a/ b", "a character in it has to be percent-encoded"),
        ("http://a/ü", "a character in it has to be percent-encoded"),
        ("http://a/%2", "a character in it has to be percent-encoded"),
        ("http://a/{{b}}", "a character in it has to be percent-encoded"),
        ("http://a/\\b", "a character in it has to be percent-encoded"),
        ("http://a/?b\n", "a character in it has to be percent-encoded"),
        ("http://a/../b", "it must not hold . or .. as a part of its path"),
        ("http://a/b/.", "it must not hold . or .. as a part of its path"),
        ("http://a/%2e%2E/b", "it must not hold . or .. as a part of its path"),
        ("http://a/b/..;x", "it must not hold . or .. as a part of its path"),
        ("http://a:99999/", "a port is a number"),
    ],
)
def test_what_is_no_address_of_a_request_is_refused(url: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        http_urls.must_be_sound(url)
    with pytest.raises(ValueError, match=problem):
        http_urls.host_of(url)


@pytest.mark.parametrize(
    "url",
    ["http://a", "http://a/?", "http://a/...", "http://a/.b/c..", "http://a//b", "http://a/?../.."],
)
def test_what_only_looks_odd_is_an_address(url: str) -> None:
    http_urls.must_be_sound(url)
    assert http_urls.fill(url, {}) == (url if url != "http://a" else "http://a/")


@pytest.mark.parametrize(
    ("http", "given"),
    [
        ('{get: "http://a/{text}"}', {"text": ".."}),
        ('{get: "http://a/{text}"}', {"text": ""}),
        ('{get: "http://a/.{text}/b"}', {"text": "."}),
        ('{get: "http://a/b?{text}"}', {"text": "x" * 8001}),
        ('{get: "http://a/", headers: {X: "{text}"}}', {"text": "ü"}),
        ('{get: "http://a/", headers: {X: "{text}"}}', {"text": "a\nb"}),
        ('{get: "http://a/", headers: {X: "{text}"}}', {"text": ""}),
    ],
)
def test_a_value_that_does_not_fit_in_can_be_corrected(http: str, given: dict[str, Any]) -> None:
    with pytest.raises(Incorrect, match=r"value|less"):
        filled(http, **given)


def test_a_plan_that_names_no_address_is_refused() -> None:
    with pytest.raises(Incorrect, match="not the address of a request"):
        http_urls.fill("nowhere", {})


def test_a_part_that_was_empty_as_it_was_written_may_be_so() -> None:
    assert http_urls.fill("http://a/b//{text}?q={text}", {"text": "c"}) == "http://a/b//c?q=c"
    assert http_urls.fill("http://a/b?q={text}", {"text": ""}) == "http://a/b?q="


@pytest.mark.parametrize(
    ("url", "scheme", "host"),
    [
        ("http://a.example", "http", Host(name="a.example", port=80)),
        ("https://a.example/b?c=https://d", "https", Host(name="a.example", port=443)),
        ("https://a.example:8443/", "https", Host(name="a.example", port=8443)),
        ("http://[::1]:80/", "http", Host(name="::1", port=80)),
    ],
)
def test_a_request_goes_to_the_host_in_front_of_its_path(url: str, scheme: str, host: Host) -> None:
    assert http_urls.host_of(url) == (scheme, host)


@pytest.mark.parametrize(
    ("secret", "can"),
    [
        ("a", True),
        ("a b~!", True),
        ("", False),
        (" a", False),
        ("a ", False),
        ("a\nb", False),
        ("ü", False),
    ],
)
def test_a_secret_ends_a_header_where_every_character_of_it_may_stand_there(
    secret: str, *, can: bool
) -> None:
    assert http_headers.is_value(secret) is can

"""A step that is a request, from the card to the report: the service sees what was shown, once."""

import asyncio
import json
import signal
from collections.abc import AsyncGenerator

import pytest

from tests.sayso import Done, Object, Sayso
from tests.standins.service import Service, replies, says, service, silence

TOKEN = "Zq7-Rk2_Wm9xT4bN8vL1"
SCALE = """
summary: Scale a service.
effect: write
risk: low
params:
  service: {{type: string, max_length: 40}}
  count: {{type: integer, maximum: 9}}
phrases: ["scale {{service}} to {{count}}"]
steps:
  - http:
      put: "http://{host}/services/{{service}}?by=sayso"
      headers: {{Authorization: "Bearer {{API_TOKEN}}"}}
      json: {{count: "{{count}}"}}
      expect: {{status: [200, 202], json: {{/count: "{{count}}"}}}}
    timeout: 20s
    secrets: [API_TOKEN]
verify:
  http: {{get: "http://{host}/services/{{service}}", expect: 200}}
"""
HEALTH = """
summary: Ask whether a service is well.
effect: read
params: {{service: {{type: string, max_length: 40}}}}
phrases: ["how is {{service}}"]
steps:
  - http: {{get: "http://{host}/{{service}}/health", expect: 200}}
    timeout: 20s
"""


@pytest.fixture
async def here(empty: Sayso) -> AsyncGenerator[Service]:
    async with service(replies(200, b'{"count": 3}\n')) as one:
        empty.runbook("scale", SCALE.format(host=one.host))
        empty.runbook("health", HEALTH.format(host=one.host))
        (empty.folder / "token").write_text(TOKEN, "utf-8")
        empty.configure(f'http: {{private: ["{one.host}"]}}')
        empty.configure('secrets: {API_TOKEN: "file:token"}')
        yield one


async def asked(sayso: Sayso, text: str = "scale web to 3", who: str = "alice") -> Object:
    return await asyncio.to_thread(sayso.ask, text, who)


async def ran(sayso: Sayso, *words: str, who: str | None = None) -> Done:
    return await asyncio.to_thread(sayso.run, *words, as_=who)


async def test_what_was_shown_is_sent_once_and_the_answer_is_reported(
    empty: Sayso, here: Service
) -> None:
    turn = await asked(empty)
    assert here.connections == 0
    card = turn["request"]["card"]
    assert (
        f'0. PUT "http://{here.host}/services/web?by=sayso", header "Content-Type" "application/json", '
        'header "Authorization" "Bearer " and the secret "API_TOKEN", body "{\\"count\\":3}", expecting '
        '200 or 202 and "/count" being 3, at most 20s, secrets ["API_TOKEN"]'
    ) in card
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    [step] = done.run["steps"]
    assert (done.code, done.run["state"]) == (0, "succeeded")
    assert (step["state"], step["exit_code"], step["note"]) == ("succeeded", None, "status 200")
    assert step["output"] == '{"count": 3}\n'
    [sent] = here.asked
    assert sent.line == "PUT /services/web?by=sayso HTTP/1.1"
    assert sent.header("Authorization") == f"Bearer {TOKEN}"
    assert sent.header("Idempotency-Key") == f"{done.run['id']}.0"
    assert json.loads(sent.body) == {"count": 3}
    verified = await ran(empty, "audit", "verify")
    assert verified.json["ok"] is True
    shown = await ran(empty, "receipt", done.run["id"], "--output", "receipt.json")
    proved = await ran(empty, "verify", "receipt.json", "--key", shown.json["key"])
    assert (shown.code, proved.code) == (0, 0), proved


async def test_c94_a_request_has_one_key_at_every_try_and_no_other_step_or_run_has_it(
    empty: Sayso, here: Service
) -> None:
    twice = SCALE.replace(
        "    timeout: 20s\n    secrets",
        "    timeout: 20s\n    retry: {{times: 2, wait: 1ms}}\n    secrets",
    )
    again = '  - {{http: {{post: "http://{host}/done", expect: 201}}, timeout: 20s}}\nverify:'
    empty.runbook("scale", twice.replace("verify:", again).format(host=here.host))
    answers = iter([503, 503, 200, 201, 200, 201])

    async def answer(writer: asyncio.StreamWriter) -> None:
        await replies(next(answers), b'{"count": 3}')(writer)

    here.answer = answer
    runs: list[str] = []
    for tries in ("try 3 of 3: status 200", "status 200"):
        turn = await asked(empty)
        done = await ran(empty, "approve", turn["request"]["id"], who="bob")
        assert (done.code, [step["note"] for step in done.run["steps"]]) == (
            0,
            [tries, "status 201"],
        )
        runs.append(done.run["id"])
    first, second = runs
    assert [one.header("Idempotency-Key") for one in here.asked] == [
        f"{first}.0", f"{first}.0", f"{first}.0", f"{first}.1", f"{second}.0", f"{second}.1",
    ]  # fmt: skip


async def test_an_answer_that_was_not_expected_fails_with_its_status(
    empty: Sayso, here: Service
) -> None:
    here.answer = replies(503, b"try later\n")
    turn = await asked(empty)
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    [step] = done.run["steps"]
    assert (done.code, done.run["state"], step["state"]) == (1, "failed", "failed")
    assert (step["note"], step["output"]) == ("status 503, expected 200 or 202", "try later\n")
    said = await ran(empty, "conversation", turn["conversation"])
    report = said.json["entries"][-1]["text"]
    assert "  0. scale failed: status 503, expected 200 or 202\n     try later\n" in report
    assert "exit code" not in report


async def test_i4_a_connection_that_ends_leaves_it_unknown_until_verify_and_a_person_say(
    empty: Sayso, here: Service
) -> None:
    here.answer = says()
    turn = await asked(empty)
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    [step] = done.run["steps"]
    assert (done.run["state"], step["state"]) == ("unknown", "unknown")
    assert step["note"] == "the connection ended before an answer came"
    here.answer = replies(200, b'{"count": 3}\n')
    seen = await ran(empty, "resolve", done.run["id"], "0", "--verify", who="bob")
    assert seen.json["verify"] == {
        "exit_code": None,
        "output": '{"count": 3}\n',
        "ending": "answered",
    }
    assert [one.line.split()[0] for one in here.asked] == ["PUT", "GET"]
    happened = await ran(empty, "resolve", done.run["id"], "0", "--happened", who="bob")
    assert happened.run["state"] == "succeeded"


async def test_c49_time_that_is_over_once_it_was_sent_leaves_it_unknown_and_a_person_decides(
    empty: Sayso, here: Service
) -> None:
    here.answer = silence
    empty.edit("runbooks/scale.yml", "timeout: 20s", "timeout: 1s")
    turn = await asked(empty)
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    assert (done.code, done.run["state"]) == (1, "unknown")
    assert done.run["steps"][0]["note"] == "its time was over"
    said = await ran(empty, "conversation", turn["conversation"])
    report = said.json["entries"][-1]["text"]
    assert f"sayso resolve {done.run['id']} 0 --happened (or --did-not)" in report
    ended = await ran(empty, "resolve", done.run["id"], "0", "--did-not", who="bob")
    assert ended.run["state"] == "failed"
    assert here.connections == 1


async def test_nothing_was_sent_where_nobody_listens_and_that_is_a_failure(
    empty: Sayso, here: Service
) -> None:
    turn = await asked(empty)
    here.server.close()
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    [step] = done.run["steps"]
    assert (done.run["state"], step["note"]) == ("failed", "nothing was sent")
    assert "connection refused" in step["output"]


async def test_a_stop_closes_the_connection_at_once_and_the_step_is_unknown(
    empty: Sayso, here: Service
) -> None:
    here.answer = silence
    turn = await asked(empty)
    running = empty.start("approve", turn["request"]["id"], as_="bob")
    await asyncio.wait_for(here.came.wait(), 20)
    stopped = await ran(empty, "stop", turn["conversation"], who="bob")
    assert stopped.json["stopped"]["steps_unknown"] == 1
    await asyncio.wait_for(here.left.wait(), 10)
    done = await asyncio.to_thread(running.done)
    assert done.run["state"] == "unknown"
    assert here.connections == 1


async def test_c47_a_request_in_which_the_process_dies_is_unknown_and_never_repeated(
    empty: Sayso, here: Service
) -> None:
    here.answer = silence
    turn = await asked(empty)
    running = empty.start("approve", turn["request"]["id"], as_="bob")
    await asyncio.wait_for(here.came.wait(), 20)
    await asyncio.to_thread(running.signal, signal.SIGKILL)
    found = await ran(empty, "runs")
    [run] = found.json["runs"]
    assert (run["state"], run["steps"][0]["state"]) == ("unknown", "unknown")
    assert here.connections == 1


async def test_a_read_asks_at_once_and_says_why_where_it_failed(
    empty: Sayso, here: Service
) -> None:
    here.answer = replies(200, b"well\n")
    done = await ran(empty, "ask", "how is web", who="alice")
    assert (done.json["reason"], done.json["text"]) == ("answered", "well")
    here.answer = replies(404)
    done = await ran(empty, "ask", "how is web", who="alice")
    assert done.json["text"] == "health failed: status 404, expected 200."


async def test_c26_nobody_is_asked_where_the_network_is_off(empty: Sayso, here: Service) -> None:
    empty.configure("execution: {network: false}")
    done = await ran(empty, "ask", "scale web to 3", who="alice")
    assert "scale needs the network, which is switched off here." in done.json["text"]
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]
    assert here.connections == 0


async def test_nobody_is_asked_about_a_host_that_is_not_listed(empty: Sayso, here: Service) -> None:
    empty.edit("sayso.yml", here.host, "127.0.0.1:1")
    done = await ran(empty, "ask", "scale web to 3", who="alice")
    assert f"No request may be sent to {here.host}. An operator has to list it" in done.json["text"]
    assert empty.sql("SELECT count(*) FROM request") == [(0,)]
    checked = await ran(empty, "check")
    [one, *_] = [line for line in checked.json["problems"] if "scale.yml" in line]
    assert one.startswith(
        f"runbooks/scale.yml:12: steps.0.http.put: No request may be sent to {here.host}."
    )


async def test_i3_a_host_that_is_struck_off_the_list_revokes_what_is_open(
    empty: Sayso, here: Service
) -> None:
    turn = await asked(empty)
    empty.edit("sayso.yml", here.host, "127.0.0.1:1")
    done = await ran(empty, "approve", turn["request"]["id"], who="bob")
    assert "No request may be sent to" in done.refusal
    assert empty.state(turn["request"]["id"]) == "revoked"
    assert here.connections == 0

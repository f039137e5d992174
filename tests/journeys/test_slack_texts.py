"""P-01, P-18, P-19 and P-48: whatever a text is like, it arrives whole, dead and as it was typed."""

import re
from collections.abc import AsyncGenerator, Iterator

import pytest
import pytest_asyncio

from core.display import json_text
from tests import recited
from tests.recited import lines, numbered
from tests.standins.slack import Json
from tests.standins.slack.plain import text_of
from tests.standins.slack.wire import walk
from tests.team import ALICE, BOB, CAROL, OPS, Team, served

pytestmark = pytest.mark.asyncio(loop_scope="module")
PINGS = """\
@everyone @here <!channel> <!here|here> <!subteam^S0SRE> <@U0CAROL> <#C0OPS> &lt;!here&gt;
[safe](https://evil.example/?q=secret) ![x](https://evil.example/p.png) https://evil.example/bare
<https://evil.example|label> `<!channel>` mailto:a@evil.example :tada:
```
<!channel> ``` <@U0CAROL>
```
"""
WRITES = ("chat.postMessage", "chat.update", "chat.postEphemeral")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Team]:
    async with served(tmp_path_factory.mktemp("texts") / "acme") as made:
        recited.runbooks(made.sayso)
        work = made.sayso.folder / "work"
        (work / "pings.txt").write_text(PINGS, "utf-8")
        yield made
        nothing_refused(made)
        dead(made)


def nothing_refused(acme: Team) -> None:
    """Check that Slack took every call."""
    answers = [(one.method, one.answer) for one in acme.slack.web.calls]
    assert [(name, told) for name, told in answers if told and not told["ok"]] == []


def dead(acme: Team) -> None:
    """Check of every call that nothing in it is fetched, and that only Sayso itself mentions."""
    for method in WRITES:
        for call in acme.slack.calls(method):
            assert call.body["unfurl_links"] is False, call
            assert call.body["unfurl_media"] is False, call
            assert "link_names" not in call.body
            assert live(call.body) <= {ALICE, BOB, CAROL}, call
            assert not re.search(r"<[@!#h]", call.body["text"]), call


def live(body: Json) -> set[str]:
    """Return whatever mentions, shows something from elsewhere or hides where it goes."""
    return {*_live(body)}


def _live(body: Json) -> Iterator[str]:
    for one in walk(body.get("blocks")):
        match one.get("type"):
            case "user":
                yield str(one["user_id"])
            case "link" if one.keys() <= {"type", "url", "style"}:
                pass  # it shows where it goes, and goes there only when somebody presses it
            case "usergroup" | "broadcast" | "channel" | "link" | "image" | "markdown" | "mrkdwn":
                yield str(one)
            case _:
                pass


def written(acme: Team, thread: str) -> str:
    """Return all that Sayso said in a thread below its root, piece after piece."""
    pieces = [
        text_of(one)
        for one in acme.slack.messages(OPS, thread)
        if one.get("bot_id") and one["ts"] != thread
    ]
    return "\n".join(pieces)


async def test_p01_a_command_of_3001_characters_is_shown_to_its_last(acme: Team) -> None:
    command = "a" * 2991 + "; rm -rf /"
    thread, card = await acme.proposed(ALICE, f"!shell '{command}'")
    assert len(command) == 3001
    assert text_of(card).replace("\n", "").count(command) >= 1
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger()[-1] == command
    await acme.slack.until(lambda: acme.cards(thread) == [])


async def test_p01_a_plan_of_50_kb_is_approved_only_where_all_of_it_is_shown(acme: Team) -> None:
    thread = await acme.asks(ALICE, "large")
    await acme.reads(thread, "Approve to run: large")
    card = acme.slack.messages(OPS, thread)[-1]
    assert acme.slack.buttons(card) == ["Review full plan", "Deny"]
    assert "sha256 " in text_of(card)
    await acme.slack.hands.click(BOB, OPS, card["ts"], "Review full plan")
    await acme.slack.until(lambda: acme.slack.views(BOB))
    [view] = acme.slack.views(BOB)
    shown = "".join(line.strip() for line in text_of(view).splitlines())
    assert "x" * 50_000 + "LAST" in shown
    assert (await acme.slack.hands.submit_view(BOB, view["id"], {})).acked
    await acme.reads(thread, "succeeded")
    assert acme.sayso.sql("SELECT count(*) FROM run WHERE state = 'succeeded'")[0][0] >= 1


async def test_c59_an_answer_of_12012_characters_arrives_whole_and_in_order(acme: Team) -> None:
    thread = await acme.asks(ALICE, "print 12012")
    await acme.reads(thread, "END")
    assert lines(written(acme, thread)) == lines(numbered(12_012))
    assert all(len(text_of(one)) <= 10_000 for one in acme.slack.messages(OPS, thread))


async def test_p01_of_an_answer_of_40001_characters_what_is_cut_is_told(acme: Team) -> None:
    thread = await acme.asks(ALICE, "print 40001")
    await acme.reads(thread, "END")
    said = lines(written(acme, thread))
    [cut] = [number for number, line in enumerate(said) if line.endswith(" bytes left out]")]
    whole = lines(numbered(40_001))
    assert said[: cut - 1] == whole[: cut - 1]
    last = said[cut + 1 :]
    assert last == whole[whole.index(last[0]) :][: len(last)]
    assert len("\n".join(said)) > 32_000


async def test_p18_p48_nothing_that_a_tool_prints_mentions_links_or_is_fetched(
    acme: Team,
) -> None:
    thread = await acme.asks(ALICE, "recite pings")
    await acme.reads(thread, "https://evil.example/bare")
    said = written(acme, thread)
    for text in ("@everyone", "<!channel>", "<@U0CAROL>", "<!subteam^S0SRE>", "<!here>"):
        assert text in said
    answer = acme.slack.messages(OPS, thread)[-1]
    assert live(answer) == set()


async def test_p18_nothing_that_somebody_asks_for_mentions_anybody_on_the_card(
    acme: Team,
) -> None:
    text = "<!channel> @here https://evil.example <#C0OPS>"
    thread, card = await acme.proposed(ALICE, f"!shell '{text}'")
    assert json_text(text) in text_of(card)
    assert text in acme.slack.thread(OPS, thread)[0]
    assert live(card) == {BOB, CAROL}
    assert live(acme.slack.messages(OPS, thread)[0]) == {ALICE}
    await acme.clicks(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger()[-1] == text


@pytest.mark.parametrize(
    ("typed", "ran"),
    [
        ("echo a && b < c > d", "echo a && b < c > d"),
        ("echo a &amp;&amp; b &lt;c", "echo a &amp;&amp; b &lt;c"),
        ("tab\\tand `ticks` *stars* _lines_ ~no~", "tab\\tand `ticks` *stars* _lines_ ~no~"),
    ],
)
async def test_p19_what_was_typed_is_what_runs(acme: Team, typed: str, ran: str) -> None:
    direct = await acme.slack.people.say(BOB, BOB, f'!shell "{typed}"')
    card = await acme.card(direct.ts, channel=BOB)
    assert json_text(ran) in text_of(card)
    await acme.slack.hands.click(BOB, BOB, card["ts"], "Approve")
    await acme.reads(direct.ts, "succeeded", channel=BOB)
    assert acme.sayso.ledger()[-1] == ran


@pytest.mark.parametrize(
    ("raw", "ran"),
    [
        ("mail <mailto:x@y.example|x@y.example>", "mail x@y.example"),
        ("get <http://a.example|a.example>", "get a.example"),
        ("get <https://a.example/?q=1&amp;r=2>", "get https://a.example/?q=1&r=2"),
        ("echo &amp;lt;", "echo &lt;"),
    ],
)
async def test_p19_what_slack_made_of_it_is_undone_once(acme: Team, raw: str, ran: str) -> None:
    direct = await acme.slack.people.say(BOB, BOB, f"!shell '{raw}'", raw=True)
    card = await acme.card(direct.ts, channel=BOB)
    await acme.slack.hands.click(BOB, BOB, card["ts"], "Approve")
    await acme.reads(direct.ts, "succeeded", channel=BOB)
    assert acme.sayso.ledger()[-1] == ran


async def test_p30_what_cannot_be_seen_is_refused_and_what_looks_alike_is_warned_of(
    acme: Team,
) -> None:
    thread = await acme.asks(ALICE, "!shell 'a\u202eb\u200bc'")
    await acme.reads(thread, "it must not contain U+202E RIGHT-TO-LEFT OVERRIDE.")
    assert "\u202e" not in acme.slack.thread(OPS, thread)[0]
    _, card = await acme.proposed(ALICE, "!shell 'host.ex\u0430mple'")
    assert "an argument contains U+0430 CYRILLIC SMALL LETTER A." in text_of(card)
    assert "ex\\u0430mple" in text_of(card)

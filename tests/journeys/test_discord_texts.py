"""P-01, P-18, P-19 and P-48: whatever a text is like, it arrives whole, dead and as it was typed."""

import re
from collections.abc import AsyncGenerator, Iterator

import pytest
import pytest_asyncio

from core.display import json_text
from tests import recited
from tests.recited import lines, numbered
from tests.server import Server, server
from tests.standins.discord import ALICE, BOB, BOT, CAROL, OPS, Interaction, Json
from tests.standins.discord.interactions import Modal
from tests.standins.discord.pings import SUPPRESSED, V2
from tests.standins.discord.plain import text_of
from tests.standins.discord.web import Call
from tests.standins.discord.world import BOT_ROLE

pytestmark = pytest.mark.asyncio(loop_scope="module")
TEXTS = ("POST /channels/{channel}/messages", "PATCH /channels/{channel}/messages/{message}")
ANSWERS = (
    "POST /interactions/{interaction}/{token}/callback",
    "PATCH /webhooks/{app}/{token}/messages/{message}",
)
SHOWN = re.compile(r"(?:answer|plan|report)-[0-9a-f]{12}\.txt|plan\.txt")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
LIVE = re.compile(r"(?<!\\)<(?:@|#|/|a?:|id:)|(?<!\\)@(?:everyone|here)|(?<![<\\])\bhttps?://")
PINGS = f"""\
@everyone @here <@&{BOT_ROLE}> <@{CAROL}> <@!{CAROL}> <#{OPS}> </stop:{BOT}> <a:x:{BOT}> <id:guide>
[safe](https://evil.example/?q=secret) ![x](https://evil.example/p.png) https://evil.example/bare
<https://evil.example> `@everyone` [a](<https://evil.example/hidden>) discord.gg/evil
```
@everyone ``` <@{CAROL}>
```
"""
PINGING = """
summary: "@everyone <@500000000000000003> https://evil.example/summary"
risk: low
phrases: ["ping @everyone https://evil.example/phrase"]
steps:
  - run: [python3, -c, "print('@everyone <@500000000000000003> https://evil.example/printed', flush=True); import os, time\nwhile not os.path.exists('seen'): time.sleep(0.01)"]
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def acme(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server]:
    async with server(tmp_path_factory.mktemp("texts") / "acme") as made:
        made.declared()
        made.discord.world.lets(BOT_ROLE, "mention_everyone")
        recited.runbooks(made.sayso)
        made.sayso.runbook("pinging", PINGING)
        work = made.sayso.folder / "work"
        (work / "pings.txt").write_text(PINGS, "utf-8")
        (work / "fence.txt").write_text(FENCED, "utf-8")
        (work / "emoji.txt").write_text("\N{GRINNING FACE}" * 2000, "utf-8")
        await made.serve()
        yield made
        nothing_refused(made)
        dead(made)


FENCED = "".join(
    ["Before.\n\n```python\n", *(f"line {n:05d}\n" for n in range(400)), "```\n\nAfter, END\n"]
)


def nothing_refused(acme: Server) -> None:
    """Check that Discord took every call."""
    calls = [(one.route, one.status, one.answer) for one in acme.discord.web.calls]
    assert [one for one in calls if one[1] is None or one[1] >= 400] == []


def dead(acme: Server) -> None:
    """Check of every call that nobody is told but whom Sayso means, and that nothing is fetched."""
    bodies = [(call, call.body) for route in TEXTS for call in acme.discord.calls(route)]
    bodies += [(call, data) for call in answers(acme) if (data := _data(call))]
    assert bodies
    for call, body in bodies:
        allowed = body["allowed_mentions"]
        assert allowed.get("parse") == [], call
        assert {*map(str, allowed.get("users", ()))} <= {ALICE, BOB, CAROL}, call
        assert not allowed.get("roles"), call
        assert not allowed.get("replied_user"), call
        is_file_alone = call.files and not body.get("content")
        assert is_file_alone or int(body["flags"]) & (SUPPRESSED | V2), call
        assert all(SHOWN.fullmatch(name) for name in call.files), call
        assert not body.get("embeds"), call
        assert live(body) <= {ALICE, BOB, CAROL}, (live(body), call)
    for call in acme.discord.calls("PATCH /channels/{channel}/messages/{message}"):
        assert not call.body["allowed_mentions"].get("users"), call
    everybody = {user for told in acme.discord.pinged for user in told.users}
    assert everybody <= {ALICE, BOB, CAROL}
    assert not any(told.everyone or told.roles for told in acme.discord.pinged)
    assert acme.discord.previews == []


def answers(acme: Server) -> list[Call]:
    """Return every answer to an interaction that says something."""
    return [call for route in ANSWERS for call in acme.discord.calls(route)]


def _data(call: Call) -> Json:
    """Return the message in an answer; nothing where it has none, as a form."""
    data: Json = call.body.get("data", {}) if "type" in call.body else call.body
    return data if "content" in data or ("flags" in data and "components" in data) else {}


def live(message: Json) -> set[str]:
    """Return whom a message mentions, and what in it a client makes something of, outside of code."""
    return {*_live(CODE.sub("", text_of(message)))}


def _live(words: str) -> Iterator[str]:
    for found in LIVE.finditer(words):
        user = re.match(r"<@([0-9]+)>", words[found.start() :])
        yield user[1] if user else words[found.start() :][:40]


def written(acme: Server, thread: str) -> list[str]:
    """Return the messages that Sayso wrote in a thread."""
    there = acme.discord.messages(thread)
    return [text_of(one) for one in there if one["author"]["id"] == BOT]


async def reviewed(acme: Server, thread: str) -> Interaction:
    """Have Bob review the plan of the last card in a thread; return what he alone sees."""
    await acme.reads(thread, "Approve to run: ")
    card = acme.discord.messages(thread)[-1]
    assert acme.discord.buttons(card) == ["Review full plan", "Deny"]
    assert "sha256 " in text_of(card)
    return await acme.presses(BOB, card, "Review full plan")


async def approved(acme: Server, thread: str, act: Interaction) -> str:
    """Have Bob approve what he reviewed; return all of the plan, which was a file."""
    [message] = act.shown
    assert acme.discord.buttons(message.now) == ["Approve", "Deny"]
    assert message.now["components"][-1]["file"]["url"] == "attachment://plan.txt"
    [(name, whole)] = acme.discord.files(message.now).items()
    assert name == "plan.txt"
    await acme.presses(BOB, message.now, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.cards(thread) == []
    return whole.decode()


async def test_p01_a_command_of_3001_characters_is_shown_to_its_last_and_approved_there(
    acme: Server,
) -> None:
    command = "a" * 2991 + "; rm -rf /"
    assert len(command) == 3001
    thread = await acme.asks(ALICE, f"!shell '{command}'")
    plan = await approved(acme, thread, await reviewed(acme, thread))
    assert plan.replace("\n", "").count(command) >= 1
    assert acme.sayso.ledger()[-1] == command


async def test_p01_a_plan_of_50_kb_is_approved_only_where_all_of_it_is_shown(acme: Server) -> None:
    thread = await acme.asks(ALICE, "large")
    card = await reviewed(acme, thread)
    assert acme.cards(thread) == []
    plan = await approved(acme, thread, card)
    shown = "".join(line.strip() for line in plan.splitlines())
    assert "x" * 50_000 + "LAST" in shown


async def test_c59_an_answer_of_8008_characters_arrives_whole_and_in_order(acme: Server) -> None:
    thread = await acme.asks(ALICE, "print 8008")
    await acme.reads(thread, "END")
    pieces = written(acme, thread)
    assert lines("\n".join(pieces)) == lines(numbered(8008))
    assert all(len(piece) <= 2000 for piece in pieces)


@pytest.mark.parametrize("size", [12_012, 40_001])
async def test_p01_c59_an_answer_that_is_too_long_is_a_file_and_what_is_cut_is_told(
    acme: Server, size: int
) -> None:
    thread = await acme.asks(ALICE, f"print {size}")

    def files() -> list[bytes]:
        there = acme.discord.messages(thread)
        return [file for one in there for file in acme.discord.files(one).values()]

    await acme.discord.until(files)
    [piece, *_] = written(acme, thread)
    assert piece.endswith("-# This is the beginning. All of it is in the file below.")
    whole, said = lines(numbered(size)), lines(piece)[:-1]
    assert said == whole[: len(said)]
    [file] = files()
    found = lines(file.decode())
    if size == 12_012:
        assert found == whole
        return
    [cut] = [number for number, line in enumerate(found) if line.endswith(" bytes left out]")]
    assert found[: cut - 1] == whole[: cut - 1]
    last = found[cut + 1 :]
    assert last == whole[whole.index(last[0]) :][: len(last)]
    assert len(file) > 32_000


async def test_c59_a_fence_is_opened_again_in_every_piece_and_emoji_count_twice(
    acme: Server,
) -> None:
    thread = await acme.asks(ALICE, "recite fence")
    await acme.reads(thread, "After, END")
    first, *middle, last = written(acme, thread)
    assert first.startswith("Before.\n```python\nline 00000\n")
    assert last.endswith("\n```\nAfter, END")
    for piece in (first, *middle, last):
        assert piece.count("```") == 2
        assert "\n\n```" not in piece.removeprefix("Before.\n")
    assert all(piece.startswith("```python\n") for piece in (*middle, last))
    said = [line for line in "\n".join([first, *middle, last]).splitlines() if "line " in line]
    assert said == [f"line {n:05d}" for n in range(400)]
    other = await acme.asks(ALICE, "recite emoji")
    await acme.discord.until(
        lambda: "".join(written(acme, other)).count("\N{GRINNING FACE}") == 2000
    )
    assert all(len(piece.encode("utf-16-le")) <= 4000 for piece in written(acme, other))


async def test_p18_p48_nothing_that_a_tool_prints_mentions_links_or_is_fetched(
    acme: Server,
) -> None:
    thread = await acme.asks(ALICE, "recite pings")
    await acme.reads(thread, "https://evil.example/bare")
    [said] = written(acme, thread)
    for text in ("@everyone", "@here", f"<@{CAROL}>", f"<@&{BOT_ROLE}>", f"<#{OPS}>"):
        assert text in said.replace("\\", "")
    assert live({"content": said}) == set()


async def test_p18_p48_nothing_of_a_card_its_run_its_thread_its_form_and_its_buttons_does(
    acme: Server,
) -> None:
    before = len(acme.discord.pinged)
    thread = await acme.mentions(ALICE, f"blub @everyone <@{CAROL}> https://evil.example/blub")
    assert "@everyone @Carol" in acme.discord.world.channels[thread]["name"]
    await acme.reads(thread, "You could ask:")
    suggests = acme.discord.messages(thread)[-1]
    await acme.presses(ALICE, suggests, "ping @everyone https://evil.example/phrase")
    card = await acme.card(thread)
    assert live(card) == {BOB, CAROL}
    asked = await acme.presses(BOB, card, "Deny")
    assert isinstance(asked.modal, Modal)
    assert not LIVE.search(asked.modal.title)
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "evil.example/printed")
    (acme.sayso.folder / "work" / "seen").touch()
    await acme.reads(thread, "### Report")
    [opened] = acme.discord.calls("POST /channels/{channel}/messages/{message}/threads")[-1:]
    assert "allowed_mentions" not in opened.body
    told = {user for one in acme.discord.pinged[before:] for user in one.users}
    assert told == {BOB, CAROL}


async def test_p18_nothing_that_somebody_asks_for_mentions_anybody(acme: Server) -> None:
    text = f"x @everyone <@&{BOT_ROLE}> <#{OPS}> https://evil.example **b**"
    thread, card = await acme.proposed(ALICE, f"!shell '{text}'")
    ran = f"x @everyone @{BOT_ROLE} #{OPS} https://evil.example **b**"
    assert json_text(ran) in text_of(card)
    assert live(card) == {BOB, CAROL}
    [opening] = [one for one in acme.discord.messages(OPS) if one["id"] == thread]
    assert live(opening) == {ALICE}
    denied = await acme.denies(BOB, card, f"@everyone <@{CAROL}> https://evil.example/why")
    assert denied.answered
    await acme.reads(thread, "Denied")


@pytest.mark.parametrize(
    ("typed", "ran"),
    [
        ("echo a && b < c > d", "echo a && b < c > d"),
        ("echo a &amp;&amp; b &lt;c", "echo a &amp;&amp; b &lt;c"),
        ("tab\\tand `ticks` *stars* _lines_ ~~no~~ ||x||", None),
        (f"wall <@{CAROL}> in <#{OPS}>", "wall @Carol in #ops"),
        (f"show `<@{CAROL}>` and \\<#{OPS}>", None),
        ("get <https://a.example/?q=1&r=2>", "get https://a.example/?q=1&r=2"),
        ("see <:tada:900000000000000007> at <t:0:R>", "see :tada: at 1970-01-01 00:00:00 UTC"),
    ],
)
async def test_p19_what_was_typed_is_what_runs(acme: Server, typed: str, ran: str | None) -> None:
    thread = await acme.mentions(ALICE, f'!shell "{typed}"')
    card = await acme.card(thread)
    assert json_text(ran or typed) in text_of(card)
    await acme.presses(BOB, card, "Approve")
    await acme.reads(thread, "succeeded")
    assert acme.sayso.ledger()[-1] == (ran or typed)


async def test_p30_what_cannot_be_seen_is_refused_and_what_looks_alike_is_warned_of(
    acme: Server,
) -> None:
    thread = await acme.asks(ALICE, "!shell 'a\u202eb\u200bc'")
    await acme.reads(thread, "it must not contain U+202E RIGHT-TO-LEFT OVERRIDE.")
    [opening] = [one for one in acme.discord.messages(OPS) if one["id"] == thread]
    assert "\u202e" not in text_of(opening)
    assert "\u202e" not in acme.discord.world.channels[thread]["name"]
    _, card = await acme.proposed(ALICE, "!shell 'host.ex\u0430mple'")
    assert "an argument contains U+0430 CYRILLIC SMALL LETTER A." in text_of(card)
    assert "ex\\u0430mple" in text_of(card)

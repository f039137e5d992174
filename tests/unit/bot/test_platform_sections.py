"""The section `slack`: one way in, secrets by reference alone, and tokens sent nowhere unsafe."""

import pytest

from bot import settings, wiring
from bot.platform_sections import is_safe
from bot.wiring import platforms
from core.errors import Invalid, Unavailable
from tests.sayso import Sayso

SOCKETS = 'bot_token: "env:B", app_token: "env:A"'
HTTP = 'bot_token: "env:B", signing_secret: "env:S", listen: "127.0.0.1:3000"'


def read(sayso: Sayso, section: str, platform: str = "slack") -> settings.Settings:
    file = sayso.folder / "sayso.yml"
    file.write_text(f"{file.read_text('utf-8')}{platform}: {{{section}}}\n", "utf-8")
    return settings.read(file)


@pytest.mark.parametrize("section", [SOCKETS, HTTP, f"{SOCKETS}, groups: {{sre: [S0SRE]}}"])
def test_either_way_in_is_enough(empty: Sayso, section: str) -> None:
    assert read(empty, section).slack is not None


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ('bot_token: "env:B"', "it needs app_token"),
        ('bot_token: "env:B", signing_secret: "env:S"', "it needs app_token"),
        (f'{SOCKETS}, listen: "127.0.0.1:1"', "write app_token for Socket Mode, or"),
        ('bot_token: "xoxb-1", app_token: "env:A"', "slack.bot_token"),
        (f'{HTTP}, base_url: "http://slack.example.org/api/"', "write an https address"),
        (f'{SOCKETS}, threads: "some"', "slack.threads"),
        (f'{SOCKETS}, colour: "red"', "slack.colour"),
        (HTTP.replace("127.0.0.1:3000", "3000"), "slack.listen"),
    ],
)
def test_anything_else_is_told_with_its_line(empty: Sayso, section: str, said: str) -> None:
    with pytest.raises(Invalid) as told:
        read(empty, section)
    assert said in told.value.shown
    assert told.value.shown.startswith("sayso.yml:")


def test_the_environment_cannot_say_where_tokens_go_or_who_is_in_a_group(
    empty: Sayso, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAYSO_SLACK__BASE_URL", "https://elsewhere.example.org/api/")
    with pytest.raises(Invalid, match="SAYSO_SLACK__BASE_URL"):
        read(empty, SOCKETS)


BOT = 'token: "env:D"'


@pytest.mark.parametrize(
    "section",
    [
        BOT,
        f'{BOT}, threads: mentions, groups: {{sre: ["800000000000000001"]}}',
        f'{BOT}, api_url: "http://127.0.0.1:9/api/v10", gateway_url: "ws://127.0.0.1:9/gw/"',
    ],
)
def test_a_bot_of_discord_needs_its_token_alone(empty: Sayso, section: str) -> None:
    assert read(empty, section, "discord").discord is not None


@pytest.mark.parametrize(
    ("section", "said"),
    [
        ("threads: all", "discord.token"),
        ('token: "MTk4"', "discord.token"),
        (f'{BOT}, threads: "some"', "discord.threads"),
        (f"{BOT}, groups: {{sre: [800000000000000001]}}", "discord.groups.sre"),
        (f'{BOT}, groups: {{sre: ["ops"]}}', "discord.groups.sre"),
        (
            f'{BOT}, groups: {{sre: ["700000000000000001"]}}',
            "groups.sre: 700000000000000001 is a server, and everybody has that role",
        ),
        (f'{BOT}, api_url: "http://discord.example.org/api"', "write an address with https"),
        (f'{BOT}, gateway_url: "https://gateway.discord.gg"', "write an address with wss"),
        (f'{BOT}, gateway_url: "ws://gateway.discord.gg"', "write an address with wss"),
    ],
)
def test_anything_else_about_discord_is_told_with_its_line(
    empty: Sayso, section: str, said: str
) -> None:
    with pytest.raises(Invalid) as told:
        read(empty, section, "discord")
    assert said in told.value.shown
    assert told.value.shown.startswith("sayso.yml:")


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://slack.com/api/", True),
        ("http://127.0.0.1:9/api/", True),
        ("http://[::1]:9/api/", True),
        ("http://localhost:9/api/", True),
        ("http://10.0.0.1/api/", False),
        ("ftp://127.0.0.1/", False),
        ("https:///api/", False),
        ("slack.com/api/", False),
    ],
)
def test_tokens_go_over_tls_or_to_this_machine(url: str, safe: bool) -> None:  # noqa: FBT001 - a table
    assert is_safe(url) is safe


LACKS = "slack.bot_token: env:B cannot be read. Set it, or correct where it comes from."


@pytest.mark.parametrize("command", ["run", "chat"])
def test_whoever_serves_needs_the_secrets(empty: Sayso, command: str) -> None:
    read(empty, SOCKETS)
    done = empty.run(command, plain=True, as_="alice" if command == "chat" else None)
    assert (done.code, done.err.splitlines()[-1]) == (2, LACKS)


def test_a_check_names_what_is_lacking(empty: Sayso) -> None:
    read(empty, SOCKETS)
    done = empty.run("check")
    assert (done.code, done.json["problems"]) == (2, [LACKS])


def test_whoever_only_looks_asks_or_stops_needs_no_secrets(sayso: Sayso) -> None:
    read(sayso, SOCKETS)
    assert len(sayso.run("requests").json["requests"]) == 4
    assert sayso.run("runs").code == 0
    assert sayso.run("stop", "all", as_="alice").json["stopped"]["requests_revoked"] == 3
    denied = sayso.run("deny", sayso.id("slow"), "--reason", "no", as_="bob")
    assert denied.json["request"]["state"] == "denied"


def test_whoever_approves_is_told_that_slack_cannot_be_asked_about_them(sayso: Sayso) -> None:
    read(sayso, SOCKETS)
    done = sayso.run("approve", sayso.id("alpha"), as_="bob")
    kind, told = done.error
    assert kind == "unavailable"
    assert "slack could not be asked about bob" in told.lower()
    assert "its tokens cannot be read here" in told
    assert sayso.state(sayso.id("alpha")) == "open"


async def test_what_is_to_be_posted_is_left_for_whoever_has_the_secrets(empty: Sayso) -> None:
    read(empty, SOCKETS)
    async with wiring.opened(empty.folder / "sayso.yml") as app:
        chat = app.platforms["slack"].chat
        for does in (chat.post, chat.edit, chat.draft):
            with pytest.raises(Unavailable, match="env:B cannot be read"):
                await does(None, None)  # type: ignore[call-arg,arg-type]  # pyright: ignore[reportCallIssue,reportArgumentType]


def test_secrets_that_can_be_read_are_masked_though_another_cannot(
    empty: Sayso, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A", "xapp-of-the-app-token")
    configured = read(empty, SOCKETS)
    assert platforms.secrets(configured, empty.folder) == ("xapp-of-the-app-token",)

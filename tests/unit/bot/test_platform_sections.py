"""The section `slack`: one way in, secrets by reference alone, and tokens sent nowhere unsafe."""

from pathlib import Path

import pytest

from bot import settings
from bot.platform_sections import is_safe
from core.errors import Invalid
from tests.sayso import Sayso

SOCKETS = 'bot_token: "env:B", app_token: "env:A"'
HTTP = 'bot_token: "env:B", signing_secret: "env:S", listen: "127.0.0.1:3000"'


def read(sayso: Sayso, section: str) -> settings.Settings:
    file = sayso.folder / "sayso.yml"
    file.write_text(f"{file.read_text('utf-8')}slack: {{{section}}}\n", "utf-8")
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


@pytest.mark.parametrize(
    ("url", "safe"),
    [
        ("https://slack.com/api/", True),
        ("http://127.0.0.1:9/api/", True),
        ("http://[::1]:9/api/", True),
        ("http://localhost:9/api/", True),
        ("http://127.0.0.1:9/api", False),
        ("http://10.0.0.1/api/", False),
        ("ftp://127.0.0.1/", False),
        ("https:///api/", False),
        ("slack.com/api/", False),
    ],
)
def test_tokens_go_over_tls_or_to_this_machine(url: str, safe: bool) -> None:  # noqa: FBT001 - a table
    assert is_safe(url) is safe


def test_a_secret_that_is_not_there_is_told_by_its_name(empty: Sayso, tmp_path: Path) -> None:
    del tmp_path
    read(empty, SOCKETS)
    done = empty.run("runs")
    assert done.error == (
        "invalid",
        "slack.bot_token: env:B cannot be read. Set it, or correct where it comes from.",
    )

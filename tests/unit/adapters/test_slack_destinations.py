"""Where anything may be sent (C63)."""

import pytest

from adapters.slack.destinations import is_slacks

FAKE = "http://127.0.0.1:8080/api/"


@pytest.mark.parametrize(
    "url",
    [
        "https://hooks.slack.com/commands/T1/2/3",
        "https://files.slack.com/upload/v1/x",
        "https://HOOKS.slack.com:443/x",
    ],
)
def test_slacks_own_addresses_are(url: str) -> None:
    assert is_slacks(url, None)


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.slack.com/x",
        "https://hooks.slack.com:8443/x",
        "https://slack.com.evil.example/x",
        "https://evilslack.com/x",
        "https://hooks.slack.com@evil.example/x",
        "https://user:pw@hooks.slack.com/x",
        "https://evil.example\\@hooks.slack.com/x",
        "https://evil.example#.slack.com",
        "https://evil.example/.slack.com",
        "https://hooks.slack.com:99999/x",
        "https://hooks.slack.com:x/x",
        "https://[::1/x",
        "https://hooks.slack.com\n.evil.example/x",
        "https://127.0.0.1/x",
        "ftp://hooks.slack.com/x",
        "file:///etc/passwd",
        "hooks.slack.com/x",
        "",
    ],
)
def test_no_other_address_is(url: str) -> None:
    assert not is_slacks(url, None)


def test_what_stands_in_for_slack_is_the_only_one_then() -> None:
    assert is_slacks("http://127.0.0.1:8080/response/x", FAKE)
    assert not is_slacks("http://127.0.0.1:8081/response/x", FAKE)
    assert not is_slacks("https://127.0.0.1:8080/response/x", FAKE)
    assert not is_slacks("http://localhost:8080/response/x", FAKE)
    assert not is_slacks("https://hooks.slack.com/x", FAKE)
    assert not is_slacks("http://127.0.0.1:8080/", "no address at all")

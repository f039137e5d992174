"""C41: one-time codes by time, and which proof is fresh. Pure."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from core.one_time_codes import STEP, Secret, begin_of, digits, is_fresh, masked, matching, step_at

RFC = Secret(base32="GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
"""The secret of RFC 6238's own examples."""
NOW = datetime(2026, 3, 1, 9, 30, 10, tzinfo=UTC)
HERE = step_at(NOW)
A_MOMENT = timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("at", "code"),
    [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")],
)
def test_codes_are_those_of_the_standard(at: int, code: str) -> None:
    time = datetime.fromtimestamp(at, UTC)
    assert RFC.code(step_at(time)) == code
    assert matching(RFC, code, time) == step_at(time)


def test_a_step_is_half_a_minute_and_begins_where_the_one_before_ends() -> None:
    begun = begin_of(HERE)
    assert begun <= NOW < begun + STEP
    assert step_at(begun) == HERE
    assert step_at(begun - A_MOMENT) == HERE - 1
    assert begin_of(HERE + 1) - begun == timedelta(seconds=30)


@pytest.mark.parametrize("away", [-1, 0, 1])
def test_a_clock_may_be_off_by_one_step(away: int) -> None:
    assert matching(RFC, RFC.code(HERE + away), NOW) == HERE + away


@pytest.mark.parametrize("away", [-3, -2, 2, 3])
def test_a_clock_may_not_be_off_by_more(away: int) -> None:
    assert matching(RFC, RFC.code(HERE + away), NOW) is None


def test_a_code_of_two_steps_is_that_of_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    def code(_: Secret, step: int) -> str:
        return "111111" if step <= HERE else "222222"

    monkeypatch.setattr(Secret, "code", code)
    assert matching(RFC, "111111", NOW) == HERE


@pytest.mark.parametrize("given", ["123456", " 123 456 ", "12 34 56"])
def test_the_blanks_of_an_app_are_left_out(given: str) -> None:
    assert digits(given) == "123456"


@pytest.mark.parametrize(
    "given",
    [
        "",
        "12345",
        "1234567",
        "12345a",
        "１２３４５６",
        "٣٤٥٦٧٨",
        "-12345",
        "123456" + " " * 20,
        "12.456",
    ],
)
def test_anything_else_is_no_code(given: str) -> None:
    assert digits(given) is None
    assert matching(RFC, given, NOW) is None


def test_no_secret_stands_in_a_repr_and_no_two_are_alike() -> None:
    one, other = Secret.new(), Secret.new()
    assert one != other
    assert one.base32 not in repr(one)
    assert len(one.base32) == 32


def test_an_app_reads_who_and_where_out_of_the_address() -> None:
    uri = RFC.uri("bob", "Sayso acme")
    assert uri == f"otpauth://totp/Sayso%20acme:bob?secret={RFC.base32}&issuer=Sayso%20acme"


@pytest.mark.parametrize(
    "at", [None, True, False, float("nan"), float("inf"), 0, 1e18, "now", NOW.replace(tzinfo=None)]
)
def test_c41_what_is_no_moment_is_never_fresh(at: object) -> None:
    assert not is_fresh(at, since=NOW - timedelta(days=1), now=NOW)


def test_c41_a_proof_is_newer_than_the_request_and_not_to_come() -> None:
    def fresh(at: datetime) -> bool:
        return is_fresh(at, since=NOW - timedelta(minutes=1), now=NOW)

    assert not fresh(NOW - timedelta(minutes=1))
    assert fresh(NOW - timedelta(minutes=1) + A_MOMENT)
    assert fresh(NOW)
    assert fresh(NOW + STEP)
    assert not fresh(NOW + STEP + A_MOMENT)
    assert fresh(NOW.astimezone(timezone(timedelta(hours=9))))


ID = "0123456789abcdef" * 2


@pytest.mark.parametrize("written", ["123456", "123 456"])
def test_a_code_beside_the_id_of_a_request_is_masked(written: str) -> None:
    assert masked(f"approve {ID} {written}") == f"approve {ID} [code]"
    assert masked(f"{written}, for `{ID.upper()}`!") == f"[code], for `{ID.upper()}`!"


@pytest.mark.parametrize(
    "text",
    ["approve 123456", f"approve {ID}", f"approve {ID} 1234567", f"{ID}ab 123456", f"{ID} a123456"],
)
def test_anything_else_is_left_as_it_is(text: str) -> None:
    assert masked(text) == text

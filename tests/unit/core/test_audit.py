"""The audit log: whatever is done to it is found at the first entry that is wrong, and never crashes."""

import hashlib
from dataclasses import replace
from datetime import UTC, datetime
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import canonical
from core.audit import GENESIS, Broken, Entry, Intact, moment, seal, time_of, verify
from tests.fakes.clock import START

NOT_ITS_HASH = "its content does not match its hash"
NOT_AFTER = "it does not follow from the entry before it"


def chain(length: int, *, start: str = GENESIS, first: int = 1, text: str = "x") -> list[Entry]:
    entries: list[Entry] = []
    prev = start
    for seq in range(first, first + length):
        body = canonical.encode({"principal": "alice", "text": text, "n": seq})
        known = {"at": f"2026-03-01T09:30:{seq:02}Z", "tenant": "acme", "kind": "k", "body": body}
        sealed = seal(seq=seq, prev=prev, **known)
        entries.append(Entry(seq=seq, prev=prev, hash=sealed, **known))
        prev = sealed
    return entries


LOG = chain(5)


def test_i11_an_untouched_log_is_intact() -> None:
    assert verify(LOG) == Intact(entries=5, head=LOG[-1].hash)
    assert verify(iter(LOG)) == verify(LOG)
    assert verify([]) == Intact(entries=0, head=GENESIS)


def test_the_hash_covers_every_field_with_its_length_after_a_zero_byte() -> None:
    entry = LOG[0]
    hasher = hashlib.sha256(b"\0")
    for field in (GENESIS, "1", entry.at, "acme", "k", entry.body):
        hasher.update(len(field.encode()).to_bytes(8, "big") + field.encode())
    assert entry.hash == hasher.hexdigest()


def test_moving_a_character_from_one_field_to_the_next_changes_the_hash() -> None:
    known = {"at": "t", "body": "{}", "prev": GENESIS}
    one = seal(seq=1, tenant="acme", kind="run", **known)
    assert seal(seq=1, tenant="acm", kind="erun", **known) != one


@pytest.mark.parametrize("index", range(5))
@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("at", "2027-01-01T00:00:00Z", NOT_ITS_HASH),
        ("tenant", "globex", NOT_ITS_HASH),
        ("kind", "other", NOT_ITS_HASH),
        ("body", '{"principal":"mallory"}', NOT_ITS_HASH),
        ("hash", "f" * 64, NOT_ITS_HASH),
        ("prev", "f" * 64, NOT_AFTER),
    ],
)
def test_an_edited_entry_is_named(index: int, field: str, value: str, why: str) -> None:
    entries = list(LOG)
    entries[index] = replace(entries[index], **{field: value})  # type: ignore[arg-type]  # the table's columns
    assert verify(entries) == Broken(first_bad=index + 1, why=why)


def test_an_edited_entry_with_a_new_hash_breaks_the_one_after_it() -> None:
    entries = list(LOG)
    edited = replace(entries[1], body="{}")
    known = {"at": edited.at, "tenant": edited.tenant, "kind": edited.kind, "body": edited.body}
    entries[1] = replace(edited, hash=seal(seq=2, prev=edited.prev, **known))
    assert verify(entries) == Broken(first_bad=3, why=NOT_AFTER)


@pytest.mark.parametrize("index", range(4))
def test_a_deleted_entry_is_missing(index: int) -> None:
    entries = LOG[:index] + LOG[index + 1 :]
    assert verify(entries) == Broken(first_bad=index + 1, why=f"entry {index + 1} is missing")


def test_a_deleted_entry_whose_place_the_next_one_took_does_not_follow() -> None:
    entries = [LOG[0], replace(LOG[2], seq=2)]
    assert verify(entries) == Broken(first_bad=2, why=NOT_AFTER)


@pytest.mark.parametrize("order", [o for o in permutations(range(4)) if o != (0, 1, 2, 3)])
def test_any_other_order_is_found_at_its_first_entry(order: tuple[int, ...]) -> None:
    wrong = next(place for place, number in enumerate(order) if place != number)
    found = verify([LOG[number] for number in order])
    assert isinstance(found, Broken)
    assert found.first_bad == wrong + 1


def test_an_inserted_or_repeated_entry_is_found() -> None:
    forged = chain(1, start=LOG[1].hash, first=3, text="forged")
    assert verify([*LOG[:2], *forged, *LOG[2:]]) == Broken(first_bad=4, why="entry 4 is missing")
    assert verify([*LOG[:2], LOG[1], *LOG[2:]]) == Broken(first_bad=3, why="entry 3 is missing")


def test_a_log_that_was_replaced_whole_holds_together_but_not_with_the_noted_head() -> None:
    other = chain(7, text="forged")
    assert isinstance(verify(other), Intact)
    assert isinstance(verify(other, head=LOG[-1].hash), Broken)


@pytest.mark.parametrize("kept", range(5))
def test_a_tail_that_was_cut_off_is_found_by_a_head_that_was_noted_earlier(kept: int) -> None:
    cut = LOG[:kept]
    assert isinstance(verify(cut), Intact)
    assert verify(cut, head=LOG[-1].hash) == Broken(
        first_bad=kept + 1, why="the log does not contain that head: its end is missing"
    )


@pytest.mark.parametrize("head", [GENESIS, *(entry.hash for entry in LOG)])
def test_a_log_that_has_grown_since_its_head_was_noted_is_intact(head: str) -> None:
    assert verify(LOG, head=head) == Intact(entries=5, head=LOG[-1].hash)


@pytest.mark.parametrize("checked", range(6))
def test_a_log_can_be_checked_on_from_what_was_intact(checked: int) -> None:
    before = verify(LOG[:checked])
    assert isinstance(before, Intact)
    assert verify(LOG[checked:], since=before) == verify(LOG)
    assert verify(LOG[checked:], since=before, head=before.head) == verify(LOG)
    assert verify(LOG[checked:], since=Intact(entries=checked + 1, head=before.head)) != verify(LOG)
    odd = verify(LOG[checked:], since=Intact(entries=checked, head="f" * 64))
    assert odd == (
        Broken(first_bad=checked + 1, why=NOT_AFTER)
        if checked < len(LOG)
        else Intact(entries=5, head="f" * 64)
    )


@given(st.datetimes(timezones=st.timezones()))
def test_a_moment_is_text_that_sorts_as_time_and_is_read_back(time: datetime) -> None:
    try:
        text = moment(time)
        exact = time.astimezone(UTC)  # a time that comes twice in its own zone equals no other
    except OverflowError:
        return  # beyond the first or last year, in UTC
    assert time_of(text) == exact
    assert len(text) == len("2026-03-01T09:30:00.000000Z")
    assert (text < moment(START)) == (exact < START)


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-03-01T09:30:00Z", "2026-03-01T09:30:00.0000000Z", "2026-02-30T09:30:00.000000Z",
     "2026-03-01T09:30:00.000000+00:00", "2026-3-1T09:30:00.000000Z", "2026-03-01T09:30:00.00000Z",
     "2026-03-01T09:30:00.000000Z\n", "\u0662026-03-01T09:30:00.000000Z"],
)  # fmt: skip
def test_any_other_text_is_no_moment(text: str) -> None:
    with pytest.raises(ValueError, match=r"time|format|remains|range"):
        time_of(text)


@pytest.mark.parametrize("field", ["seq", "at", "tenant", "kind", "body", "prev", "hash"])
@pytest.mark.parametrize(
    "value", [None, 2.0, True, b"bytes", ["x"], {"x": 1}, float("nan"), object()]
)
def test_a_field_of_another_type_is_named_and_nothing_raises(field: str, value: object) -> None:
    entries = list(LOG)
    entries[1] = replace(entries[1], **{field: value})  # type: ignore[arg-type]  # wrong on purpose
    assert verify(entries) == Broken(first_bad=2, why="a field has the wrong type")


def test_a_text_where_the_number_belongs_has_the_wrong_type() -> None:
    odd = replace(LOG[0], seq="1")  # type: ignore[arg-type]  # wrong on purpose
    assert verify([odd]) == Broken(first_bad=1, why="a field has the wrong type")


@pytest.mark.parametrize(
    "body",
    [
        "",
        "no json",
        '{"a": 1}',
        '{"b":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a":1.0}',
        '{"a":NaN}',
        '{"a":9007199254740993}',
        '{"a":"\\u0041"}',
        '{"a":"\ud800"}',
        '{"\\udc00":1}',
        "[" * 100_000,
        "\ufeff{}",
        "\0",
    ],
    ids=lambda body: repr(body[:20]),
)
def test_a_body_that_is_sealed_but_not_canonical_is_named_and_nothing_raises(body: str) -> None:
    known = {"at": "t", "tenant": "acme", "kind": "k", "body": body}
    entry = Entry(seq=1, prev=GENESIS, hash=seal(seq=1, prev=GENESIS, **known), **known)
    assert verify([entry]) == Broken(first_bad=1, why="its body is not canonical JSON")


anything = st.none() | st.booleans() | st.integers() | st.floats() | st.binary() | st.text()


@given(st.lists(st.tuples(*[anything] * 7), max_size=3))
def test_whatever_lies_in_the_table_is_judged_and_never_raises(
    rows: list[tuple[object, ...]],
) -> None:
    names = ("seq", "at", "tenant", "kind", "body", "prev", "hash")
    entries = [Entry(**dict(zip(names, row, strict=True))) for row in rows]  # type: ignore[arg-type]  # wrong on purpose
    found = verify(entries)
    assert found == (Intact(entries=0, head=GENESIS) if not rows else found)
    assert not rows or isinstance(found, Broken)


@given(st.integers(0, 4), st.sampled_from(["at", "tenant", "kind", "body"]), st.text())
def test_no_text_can_stand_in_for_another(index: int, field: str, text: str) -> None:
    entries = list(LOG)
    changed = replace(entries[index], **{field: text})  # type: ignore[arg-type]  # one of its texts
    entries[index] = changed
    if changed != LOG[index]:
        assert verify(entries) == Broken(first_bad=index + 1, why=NOT_ITS_HASH)

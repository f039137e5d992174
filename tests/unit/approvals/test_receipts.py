"""A receipt is believed only where everything in it fits, whoever made it and whatever was changed."""

import json
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeAlias, cast

import pytest
from hypothesis import example, given
from hypothesis import settings as effort
from hypothesis import strategies as st

from approvals.receipts import check
from approvals.receipts.document import read
from core import audit, canonical
from core.audit import GENESIS
from core.canonical import Json, sha256
from core.errors import Refused
from core.plans import HttpStep
from tests.receipts import (
    FORGER,
    KEY,
    Change,
    Values,
    forged,
    note,
    say,
    signed,
    telling,
    values_of,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "receipts"
TEXT = (FIXTURES / "resolved.json").read_text("utf-8")
"""Two calls with three steps; asked for twice, two votes; the last step was unknown and is resolved."""
HEAD = values_of(TEXT)["head"]["hash"]
Where: TypeAlias = tuple[str | int, ...]
"""Where a value of a receipt is."""


def refusal(text: str, **demanded: str) -> str:
    """Return the sentence with which a receipt is refused: one, for people."""
    with pytest.raises(Refused) as refused:
        check(text, **demanded)
    shown = refused.value.shown
    assert refused.value.kind == "refused"
    assert "\n" not in shown
    assert shown.isprintable()
    assert shown[0].isupper()
    return shown


def unplan(values: Values, **changes: Json) -> None:
    """Have another plan in a receipt, and its hash wherever that stands."""
    plan: dict[str, Json] = json.loads(values["plan"]["body"])
    body = canonical.encode({**plan, **changes})
    digest = sha256(body)
    values["plan"] = {"body": body, "sha256": digest, "id": f"p_{digest[:12]}"}
    say(values, "request.opened", plan_sha256=digest)
    say(values, "run.started", plan_sha256=digest)


# what holds


@pytest.mark.parametrize("name", ["resolved.json", "deployed.json"])
def test_x10_a_receipt_of_an_older_version_holds_for_ever(name: str) -> None:
    text = (FIXTURES / name).read_text("utf-8")
    receipt = check(text)
    assert check(text, key=receipt.key.upper(), head=receipt.head.hash.upper()) == receipt
    assert receipt.run.state == "succeeded"
    assert len(receipt.votes) == 2
    assert canonical.sha256(receipt.plan.body) == receipt.plan.sha256


def test_what_a_forger_made_with_another_key_holds_together_and_is_refused_with_the_key() -> None:
    text = forged(TEXT, lambda _: None)
    assert check(text).key == FORGER.public
    assert "another key" in refusal(text, key=KEY.public)
    assert "its head is not the one" in refusal(text, head=HEAD)


@pytest.mark.parametrize("key", ["", "0" * 64, "not a key", KEY.public[:-1], f"{KEY.public} "])
def test_any_other_key_is_refused(key: str) -> None:
    assert check(TEXT, key=KEY.public)
    assert "another key" in refusal(TEXT, key=key)


@pytest.mark.parametrize("head", ["", GENESIS, HEAD[:-1], values_of(TEXT)["head"]["prev"]])
def test_any_other_head_is_refused(head: str) -> None:
    assert check(TEXT, head=HEAD)
    assert "head" in refusal(TEXT, head=head)


# what was changed


def test_x10_a_flipped_bit_is_refused_wherever_it_is() -> None:
    data = TEXT.encode()
    for place in range(0, len(data), 7):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 7
        refusal(changed.decode("ascii"))


@given(st.integers(0, len(TEXT) - 1), st.characters(max_codepoint=255))
@effort(max_examples=500)
def test_x10_no_character_can_be_another_one(place: int, character: str) -> None:
    changed = f"{TEXT[:place]}{character}{TEXT[place + 1 :]}"
    if changed != TEXT:
        refusal(changed)


@given(st.integers(0, len(TEXT)), st.text(max_size=3))
@effort(max_examples=100)
def test_nothing_can_be_put_in_or_taken_out(place: int, text: str) -> None:
    if text:
        refusal(f"{TEXT[:place]}{text}{TEXT[place:]}")
    if place < len(TEXT):
        refusal(TEXT[:place])


@pytest.mark.parametrize("spelt", [TEXT.rstrip("\n"), f" {TEXT}", f"{TEXT}\n", TEXT + TEXT])
def test_there_is_one_way_to_write_a_receipt(spelt: str) -> None:
    refusal(spelt)


def test_the_same_values_in_another_order_are_refused() -> None:
    values = dict(reversed(values_of(TEXT).items()))
    shown = refusal(f"{json.dumps(values, separators=(',', ':'))}\n")
    assert shown == "This receipt was changed: it is not written in its one exact form."


@pytest.mark.parametrize(
    "garbage",
    [
        "", "\n", "null", "[]", "1", '"receipt"', "{}", "{", "\ufeff{}", "\0", "\ud800", "[" * 100_000,
        '{"a":' * 100_000, '{"schema":1e999}', '{"schema":' + "9" * 100_000 + "}", '{"a":1,"a":1}',
        '{"schema":"sayso.receipt/2"}', '{"schema":NaN}', '{"\\ud800":1}',
    ],
    ids=lambda garbage: repr(garbage[:20]),
)  # fmt: skip
def test_what_is_no_receipt_is_refused_and_nothing_breaks(garbage: str) -> None:
    assert "This is not a receipt" in refusal(garbage)


def paths(value: object, path: Where = ()) -> list[Where]:
    """Return where every value of a receipt is."""
    inner: list[tuple[Where, object]] = []
    if isinstance(value, dict):
        inner = [((*path, name), one) for name, one in cast("Values", value).items()]
    elif isinstance(value, list):
        inner = [((*path, place), one) for place, one in enumerate(cast("list[object]", value))]
    found = [path] if path else []
    for where, one in inner:
        found += paths(one, where)
    return found


def at(values: Values, path: Where) -> Any:  # noqa: ANN401 - as it is in the file
    """Return what is there."""
    inside: Any = values
    for part in path:
        inside = inside[part]
    return inside


PLACES = paths(values_of(TEXT))
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 1.5, 2**53 - 1, "", "x", "\u202e\u0000", "0" * 64, "9999-12-31T23:59:59.999999Z",
    [], [[]], {}, {"a": 1}, ...,
)  # fmt: skip


@given(st.sampled_from(PLACES), st.sampled_from(ODD))
@example(("audit", 0, "body"), '{"principal":"alice"}')
@example(("audit", 0, "body"), "[]")
@example(("head", "body"), "null")
@effort(max_examples=600)
def test_whatever_a_forger_puts_in_it_is_judged_and_nothing_breaks(
    path: Where, odd: object
) -> None:
    def change(values: Values) -> None:
        inside = at(values, path[:-1])
        if odd is ...:
            del inside[path[-1]]
        else:
            inside[path[-1]] = odd

    try:
        text = forged(TEXT, change)
    except (KeyError, TypeError, AttributeError, ValueError, Refused):
        values = values_of(TEXT)
        change(values)
        text = signed(values, FORGER)
    with suppress(Refused):
        assert check(text).key == FORGER.public


@given(st.sampled_from(PLACES))
@effort(max_examples=100)
def test_an_unknown_field_is_refused_wherever_it_is(path: Where) -> None:
    values = values_of(TEXT)
    inside = at(values, path)
    if isinstance(inside, dict):
        inside["more"] = 1
        assert "more" in refusal(signed(values, FORGER))


def test_an_unknown_field_at_the_top_is_refused() -> None:
    assert '"more" is missing, unknown' in refusal(forged(TEXT, lambda v: v.update(more=1)))


# what does not fit, though every hash and the signature do


def _plan_bytes(values: Values) -> None:
    values["plan"]["body"] = values["plan"]["body"].replace("alpha", "gamma")


def _no_plan(values: Values) -> None:
    values["plan"] = {"body": "{}", "sha256": sha256("{}"), "id": f"p_{sha256('{}')[:12]}"}


def _nothing_planned(values: Values) -> None:
    unplan(values, calls=[])
    values["steps"] = []


def _fewer_steps(values: Values) -> None:
    del values["steps"][-1]


def _quorum_of_none(values: Values) -> None:
    values["request"]["rule"]["quorum"] = 0
    values["votes"] = []


def _the_requester_votes(values: Values) -> None:
    values["votes"][0]["principal"] = "alice"


def _an_editor_votes(values: Values) -> None:
    values["request"]["editors"] = [values["votes"][0]["principal"]]


def _another_editor(values: Values) -> None:
    values["request"]["editors"] = ["mallory"]


def _one_person_twice(values: Values) -> None:
    values["votes"][0]["principal"] = values["votes"][1]["principal"]


def _neighbours_swapped(values: Values) -> None:
    entries = values["audit"]
    entries[0], entries[1] = entries[1], entries[0]


def _set_back(values: Values) -> None:
    telling(values, "vote.cast")["at"] = "2026-03-01T09:00:00.000000Z"


def _no_time(values: Values) -> None:
    telling(values, "vote.cast")["at"] = "2026-02-30T09:30:00.000000Z"


def _other_tenant(values: Values) -> None:
    telling(values, "vote.cast")["tenant"] = "globex"


def _odd_kind(values: Values) -> None:
    telling(values, "vote.cast")["kind"] = "turn.ended"


def _no_body(values: Values) -> None:
    telling(values, "vote.cast")["body"] = "{} "


def _at_the_front(values: Values) -> None:
    values["audit"][0]["seq"] = 1


def _before_the_front(values: Values) -> None:
    values["audit"][0]["seq"] = 0


def _others_receipt(values: Values) -> None:
    values["head"]["kind"] = "run.ended"


def _others_run(values: Values) -> None:
    body = json.loads(values["head"]["body"])
    values["head"]["body"] = canonical.encode({**body, "run": "r_other"})


FAULTS: dict[str, tuple[Change, str]] = {
    "plan bytes": (_plan_bytes, "The plan's bytes do not have the hash"),
    "no plan": (_no_plan, "is no plan that this version knows"),
    "nothing planned": (_nothing_planned, "The plan has no steps"),
    "plan id": (lambda v: v["plan"].update(id="p_000000000000"), "short id"),
    "fewer steps": (_fewer_steps, "The steps that ran are not the steps of the plan"),
    "another tool": (lambda v: v["steps"][0].update(tool="other"), "The steps that ran are not"),
    "numbers": (lambda v: v["steps"][0].update(index=1), "not numbered one after another"),
    "rules": (lambda v: v["request"]["rule"].update(rules_sha256=GENESIS), "digest of the rules"),
    "rule": (lambda v: v["request"]["rule"].update(name="low"), "not that of the plan's risks"),
    "lifetime": (lambda v: v["request"]["rule"].update(expires_ms=1), "did not live for as long"),
    "twice": (_one_person_twice, "Somebody's vote is counted twice"),
    "requester": (_the_requester_votes, "The requester voted"),
    "editor": (_an_editor_votes, "or somebody who edited it"),
    "an editor who was none": (_another_editor, "request.opened"),
    "quorum": (lambda v: v["request"]["rule"].update(quorum=3), "Fewer people agreed"),
    "no quorum": (_quorum_of_none, "request.rule.quorum"),
    "nobody": (lambda v: v["votes"].clear(), "Fewer people agreed"),
    "tenant": (_other_tenant, "of another tenant, or of a kind"),
    "kind": (_odd_kind, "of another tenant, or of a kind"),
    "body": (_no_body, "Audit entry 12 does not hold: its body is not canonical JSON"),
    "no time": (_no_time, "Audit entry 12 has no proper time"),
    "order": (_neighbours_swapped, "Audit entry 7 is not in its order"),
    "first": (_at_the_front, "not where a log begins"),
    "before the first": (_before_the_front, "not where a log begins"),
    "clock": (_set_back, "Audit entry 12 is older than the one before it"),
    "card": (lambda v: v["request"].update(card_sha256=GENESIS), "The card, or how often"),
    "times asked": (lambda v: v["request"].update(times_asked=1), "The card, or how often"),
    "vote time": (lambda v: v["votes"][0].update(at=v["votes"][1]["at"]), "The votes are not"),
    "voter": (lambda v: v["votes"][0].update(principal="dave"), "The votes are not those"),
    "state": (lambda v: v["run"].update(state="failed"), "The run's state or its times"),
    "start": (lambda v: v["run"].update(started_at=v["run"]["ended_at"]), "state or its times"),
    "end": (lambda v: v["run"].update(ended_at=v["run"]["started_at"]), "state or its times"),
    "step state": (lambda v: v["steps"][2].update(state="unknown"), "Step 2 did not go"),
    "exit code": (lambda v: v["steps"][0].update(exit_code=None), "Step 0 did not go"),
    "output": (lambda v: v["steps"][1].update(output_sha256=GENESIS), "Step 1 did not go"),
    "step start": (lambda v: v["steps"][1].update(started_at=None), "Step 1 did not go"),
    "step end": (lambda v: v["steps"][1].update(ended_at=None), "Step 1 did not go"),
    "head": (_others_receipt, "not the entry that was made for this receipt"),
    "head's run": (_others_run, "not the entry that was made for this receipt"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_does_not_fit_is_named_though_all_hashes_do(name: str) -> None:
    change, why = FAULTS[name]
    assert why in refusal(forged(TEXT, change))


def test_the_first_entry_of_a_log_follows_the_genesis() -> None:
    def first(seq: int) -> Change:
        return lambda values: values["audit"][0].update(seq=seq, prev=GENESIS)

    assert check(forged(TEXT, first(1)))
    assert check(forged(TEXT, first(2)))  # what lies before it is not for the file to tell
    for seq in (0, -1):
        assert "not where a log begins" in refusal(forged(TEXT, first(seq)))


def test_an_entry_that_does_not_follow_its_neighbour_is_named() -> None:
    values = values_of(TEXT)
    entry = telling(values, "vote.cast", 1)
    other = values_of(forged(TEXT, lambda v: telling(v, "vote.cast").update(kind="x")))
    values["audit"][values["audit"].index(entry)] = telling(other, "vote.cast")
    assert telling(values, "vote.cast", 1)["seq"] == 13
    assert "Audit entry 13 does not follow" in refusal(signed(values, FORGER))


def test_an_entry_whose_content_was_changed_is_named() -> None:
    values = values_of(TEXT)
    telling(values, "vote.cast")["at"] = "2026-03-01T09:30:04.000001Z"
    assert "Audit entry 12 does not hold: its content does not match" in refusal(
        signed(values, FORGER)
    )


def test_what_is_not_as_it_was_sealed_is_refused_even_with_the_right_signature() -> None:
    values = values_of(forged(TEXT, _saying("attempt.refused", why="Another reason.")))
    head = values["head"]
    sealed = json.loads(values_of(TEXT)["head"]["body"])["receipt_sha256"]
    body = canonical.encode({**json.loads(head["body"]), "receipt_sha256": sealed})
    head["body"] = body
    head["hash"] = audit.seal(**{n: v for n, v in head.items() if n != "hash"})
    assert "not as it was sealed in its head" in refusal(signed(values, KEY))
    values = values_of(TEXT)
    values["key"] = FORGER.public
    assert "not as it was sealed in its head" in refusal(signed(values, FORGER))


def test_a_signature_of_somebody_else_is_refused() -> None:
    values = values_of(TEXT)
    values["signature"] = values_of(signed(values, FORGER))["signature"]
    assert "The signature is not that" in refusal(f"{canonical.encode(values)}\n")


# what only the signer could claim


FACTS = [path for path in PLACES if path[0] in {"plan", "request", "votes", "run", "steps"}]
LEAVES = [path for path in FACTS if not isinstance(at(values_of(TEXT), path), dict | list)]
ENDS = ("succeeded", "failed", "unknown", "not_run", "cancelled")


def others(value: object) -> list[Any]:
    """Return values of the same kind that are as good as this one, as far as anybody can see."""
    if isinstance(value, int):  # a bool too
        return [not value] if value is True or value is False else [value + 1, value - 1, 0]
    if value is None:
        return [0, 1, "other", "2026-03-01T09:30:14.000000Z"]
    text = cast("str", value)
    if text in ENDS:
        return [end for end in ENDS if end != text]
    if text.startswith("2026-"):
        return [f"{text[:-2]}1Z", f"2025{text[4:]}", None]
    return [GENESIS, "other", f"{text}2"]


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_x10_no_fact_can_be_another_one_though_whoever_signs_says_so(path: Where) -> None:
    def change(values: Values) -> None:
        at(values, path[:-1])[path[-1]] = other

    for other in others(at(values_of(TEXT), path)):
        if other != at(values_of(TEXT), path):
            refusal(forged(TEXT, change))


def _longer(values: Values) -> None:
    values["request"]["rule"]["expires_ms"] += 3_600_000
    values["request"]["expires_at"] = "2026-03-01T11:30:00.000000Z"


CLAIMS: dict[str, Change] = {
    "another channel": lambda v: v["request"]["place"].update(channel="elsewhere"),
    "another platform": lambda v: v["request"]["place"].update(platform="slack"),
    "another workspace": lambda v: v["request"]["place"].update(workspace="T2"),
    "a thread": lambda v: v["request"]["place"].update(thread="1"),
    "the requester might vote": lambda v: v["request"]["rule"].update(requester_may_vote=True),
    "it lived for longer": _longer,
}


@pytest.mark.parametrize("name", CLAIMS)
def test_x10_what_was_asked_is_what_was_noted_when_it_was_asked(name: str) -> None:
    assert "(request.opened) does not fit" in refusal(forged(TEXT, CLAIMS[name]))


def test_what_was_asked_may_be_anything_that_was_noted() -> None:
    def noted(values: Values) -> None:
        values["request"]["place"]["channel"] = "elsewhere"
        note(values)

    assert check(forged(TEXT, noted)).request.place.channel == "elsewhere"


# values that only look like others


def twins(value: object) -> list[Any]:
    """Return what some reader takes for the same: true for 1, a text for a number, a list for its one item."""
    found: list[Any] = [[value], {"0": value}]
    if isinstance(value, bool):
        found += [int(value), str(value).lower(), float(value)]
    elif isinstance(value, int):
        found += [bool(value), str(value), value + 0.5]
    elif value is None:
        found += [False, 0, "", "null"]
    elif isinstance(value, str):
        found += [list(value), {}, True, None]
    return found


OPTIONAL: dict[str | int, tuple[type, ...]] = {
    "thread": (str, type(None)),
    "exit_code": (int, type(None)),
    "started_at": (type(None),),
    "ended_at": (type(None),),
}
"""What may also stand in a field, as far as its type goes."""


def test_x10_no_field_can_be_of_another_type() -> None:
    for path in PLACES:
        value = at(values_of(TEXT), path)
        for twin in [] if isinstance(value, dict | list) else twins(value):
            if type(twin) in OPTIONAL.get(path[-1], ()):
                continue
            values = values_of(TEXT)
            at(values, path[:-1])[path[-1]] = twin
            text = f"{canonical.encode(values)}\n"
            assert "This is not a receipt" in refusal(text), (path, twin)


READ = {
    "request.opened": {
        "principal", "request", "conversation", "plan_sha256", "quorum", "request_sha256",
    },
    "request.reminded": {"request"},
    "request.repeated": {"principal", "request", "card_sha256"},
    "attempt.refused": {"given_sha256"},
    "vote.cast": {"principal", "request"},
    "request.granted": {"request"},
    "run.started": {"request", "run", "plan_sha256", "voters"},
    "run.resumed": {"request", "run"},
    "run.stop_asked": {"run"},
    "step.begun": {"run", "index"},
    "step.ended": {"run", "index", "state", "exit_code", "output_sha256"},
    "run.ended": {"run", "state"},
    "step.verified": {"run", "index"},
    "step.resolved": {"run", "index", "happened"},
    "receipt.made": {"request", "run"},
}  # fmt: skip
"""What entries tell that this receipt rests on; its card is that of the last time it was asked for."""


def _worded(number: int, body: str) -> Change:
    return lambda values: values["audit"][number].update(body=body)


@pytest.mark.parametrize("number", range(len(values_of(TEXT)["audit"])))
def test_x10_no_fact_of_an_entry_can_be_of_another_type(number: int) -> None:
    entry = values_of(TEXT)["audit"][number]
    body: Values = json.loads(entry["body"])
    changed = [
        canonical.encode({**body, name: twin})
        for name in READ[entry["kind"]]
        for twin in twins(body[name])
    ]
    assert changed
    for text in changed:
        refusal(forged(TEXT, _worded(number, text)))


@pytest.mark.parametrize(("quorum", "said"), [(1, True), (1, 1.5), (1, "1"), (2, True)])
def test_a_quorum_is_a_number_and_nothing_that_equals_one(quorum: int, said: object) -> None:
    def change(values: Values) -> None:
        values["request"]["rule"]["quorum"] = quorum
        say(values, "request.opened", quorum=said)
        note(values)

    assert "(request.opened) does not fit" in refusal(forged(TEXT, change))


@pytest.mark.parametrize("said", [False, "0", 0.5, [0], None])
def test_an_exit_code_is_a_number_and_nothing_that_equals_one(said: object) -> None:
    change = _saying("step.ended", exit_code=said)
    assert "(step.ended) does not fit" in refusal(forged(TEXT, change))


@pytest.mark.parametrize(("code", "fits"), [(None, True), (0, False), (3, False)])
def test_a_request_that_succeeded_has_no_exit_code(code: int | None, *, fits: bool) -> None:
    step = HttpStep(
        method="PUT", url="http://a/", headers=(), body=None, statuses=(200,), answers=(), timeout_ms=1,
        secrets=(),
    )  # fmt: skip

    def change(values: Values) -> None:
        calls = json.loads(values["plan"]["body"])["calls"]
        said = asdict(step)
        del said["retry"], said["on_failure"]  # as a plan leaves out what says nothing
        calls[0]["steps"][0] = said
        unplan(values, calls=calls)
        say(values, "step.ended", exit_code=code)
        values["steps"][0].update(exit_code=code)

    if fits:
        assert check(forged(TEXT, change)).steps[0].exit_code is None
    else:
        assert "(step.ended) does not fit" in refusal(forged(TEXT, change))


def test_what_failed_with_true_did_not_fail_with_one() -> None:
    def change(values: Values) -> None:
        say(values, "step.ended", 2, state="failed", exit_code=True)
        values["steps"][2].update(state="failed", exit_code=1)

    assert "(step.ended) does not fit" in refusal(forged(TEXT, change))


@pytest.mark.parametrize("voters", [[["bob"], "carol"], [7, "carol"], [None, "carol"]])
def test_voters_are_names_and_nothing_that_reads_like_one(voters: list[Any]) -> None:
    def change(values: Values) -> None:
        spelt = str(voters[0])
        say(values, "vote.cast", 1, principal=spelt)
        values["votes"][1]["principal"] = spelt
        say(values, "run.started", voters=voters)

    assert "(run.started) does not fit" in refusal(forged(TEXT, change))


@pytest.mark.parametrize("name", ["quorum", "expires_ms"])
def test_no_rule_has_a_number_of_none(name: str) -> None:
    def change(values: Values) -> None:
        values["request"]["rule"][name] = 0
        if name == "expires_ms":
            values["request"]["expires_at"] = values["request"]["opened_at"]
        say(values, "request.opened", quorum=values["request"]["rule"]["quorum"])
        note(values)

    assert f'"request.rule.{name}" is missing, unknown or does not fit' in refusal(
        forged(TEXT, change)
    )


# stories that cannot be true


def _without(kind: str, number: int = 0) -> Change:
    return lambda values: values["audit"].remove(telling(values, kind, number))


def _saying(kind: str, number: int = 0, **facts: object) -> Change:
    return lambda values: say(values, kind, number, **facts)


def _moved(kind: str, to: int) -> Change:
    """Have an entry be told at another place, numbered and timed as if it had been there."""

    def change(values: Values) -> None:
        entries = values["audit"]
        entry = telling(values, kind)
        entries.remove(entry)
        entries.insert(to, entry)
        _numbered(values)

    return change


def _told_again(kind: str, number: int = 0) -> Change:
    def change(values: Values) -> None:
        entry = telling(values, kind, number)
        values["audit"].insert(values["audit"].index(entry) + 1, dict(entry))
        _numbered(values)

    return change


def _one_more_vote(values: Values) -> None:
    """Have somebody vote after all that was needed had been cast."""
    more = dict(telling(values, "vote.cast"))
    values["audit"].insert(values["audit"].index(telling(values, "request.granted")) + 1, more)
    more["body"] = canonical.encode({"principal": "dave", "request": values["request"]["id"]})
    _numbered(values)


def _numbered(values: Values) -> None:
    """Number all entries anew; the times of what stands in the receipt too are their own."""
    entries = [*values["audit"], values["head"]]
    times = sorted(entry["at"] for entry in entries)
    for seq, (entry, at) in enumerate(zip(entries, times, strict=True), 7):
        entry.update(seq=seq, at=at)


def _late(kind: str) -> Change:
    def change(values: Values) -> None:
        entries = values["audit"]
        for entry in (*entries[entries.index(telling(values, kind)) :], values["head"]):
            entry["at"] = values["request"]["expires_at"]
        values["votes"][0]["at"] = values["request"]["expires_at"]

    return change


def _edited(to: int, **facts: object) -> Change:
    """Have the message that asked for it be edited, as the entry at a place tells."""

    def change(values: Values) -> None:
        entry = dict(telling(values, "request.repeated"), kind="request.edited")
        said: Values = {"principal": "alice", "request": values["request"]["id"], **facts}
        values["audit"].insert(to, {**entry, "body": canonical.encode(said)})
        _numbered(values)

    return change


def _edited_twice(values: Values) -> None:
    _edited(1)(values)
    _edited(2)(values)


OTHER = "0" * 32
STORIES: dict[str, tuple[Change, str]] = {
    "never opened": (_without("request.opened"), "request.reminded"),
    "opened by another": (_saying("request.opened", principal="mallory"), "request.opened"),
    "opened another": (_saying("request.opened", request=OTHER), "request.opened"),
    "opened elsewhere": (_saying("request.opened", conversation="c_2"), "request.opened"),
    "opened another plan": (_saying("request.opened", plan_sha256=GENESIS), "request.opened"),
    "opened with another quorum": (_saying("request.opened", quorum=1), "request.opened"),
    "opened twice": (_told_again("request.opened"), "request.opened"),
    "opened at another time": (
        lambda v: telling(v, "request.opened").update(at="2026-03-01T09:29:59.000000Z"),
        "request.opened",
    ),
    "repeated by another": (_saying("request.repeated", principal="mallory"), "request.repeated"),
    "repeated too early": (_moved("request.repeated", 0), "request.repeated"),
    "repeated too late": (_moved("request.repeated", -1), "request.repeated"),
    "reminded too late": (_moved("request.reminded", -1), "request.reminded"),
    "reminded of another": (_saying("request.reminded", request=OTHER), "request.reminded"),
    "edited too early": (_edited(0), "request.edited"),
    "edited too late": (_edited(12), "request.edited"),
    "edited twice": (_edited_twice, "request.edited"),
    "edited by another": (_edited(1, principal="mallory"), "request.edited"),
    "edited another": (_edited(1, request=OTHER), "request.edited"),
    "refused another": (_saying("attempt.refused", given_sha256=GENESIS), "attempt.refused"),
    "refused too early": (_moved("attempt.refused", 0), "attempt.refused"),
    "voted twice": (_told_again("vote.cast"), "vote.cast"),
    "voted on another": (_saying("vote.cast", request=OTHER), "vote.cast"),
    "voted by nobody": (_saying("vote.cast", principal=...), "vote.cast"),
    "voted too late": (_late("vote.cast"), "vote.cast"),
    "voted when nobody could any more": (_one_more_vote, "vote.cast"),
    "voted after all agreed": (_moved("vote.cast", 7), "request.granted"),
    "never granted": (_without("request.granted"), "run.started"),
    "granted another": (_saying("request.granted", request=OTHER), "request.granted"),
    "granted twice": (_told_again("request.granted"), "request.granted"),
    "another run": (_saying("run.started", run="r_other"), "run.started"),
    "another plan ran": (_saying("run.started", plan_sha256=GENESIS), "run.started"),
    "other voters": (_saying("run.started", voters=["bob"]), "run.started"),
    "no voters": (_saying("run.started", voters="bob"), "run.started"),
    "started twice": (_told_again("run.started"), "run.started"),
    "started too late": (_late("run.started"), "run.started"),
    "resumed too late": (_moved("run.resumed", 9), "run.resumed"),
    "resumed too early": (_moved("run.resumed", 7), "run.resumed"),
    "a step before the run": (_moved("step.begun", 7), "step.begun"),
    "an end of no step": (_saying("step.ended", index=9), "step.ended"),
    "resolved before the run ended": (_moved("step.resolved", 16), "step.resolved"),
    "resumed another": (_saying("run.resumed", run="r_other"), "run.resumed"),
    "stopped too early": (_moved("run.stop_asked", 6), "run.stop_asked"),
    "stopped another": (_saying("run.stop_asked", run="r_other"), "run.stop_asked"),
    "no step": (_saying("step.begun", index=3), "step.begun"),
    "a step that is true": (_saying("step.begun", 1, index=True), "step.begun"),
    "a step of another run": (_saying("step.begun", run="r_other"), "step.begun"),
    "a step before its turn": (_saying("step.begun", index=1), "step.begun"),
    "a step twice": (_saying("step.begun", 1, index=0), "step.begun"),
    "a step after the end": (_moved("step.begun", -1), "step.ended"),
    "a step that had not begun": (_without("step.begun"), "step.ended"),
    "no such end": (_saying("step.ended", state="running"), "step.ended"),
    "an end that is a list": (_saying("step.ended", state=[]), "step.ended"),
    "succeeded with a fault": (_saying("step.ended", exit_code=1), "step.ended"),
    "failed without one": (_saying("step.ended", state="failed"), "step.ended"),
    "another end of the run": (_saying("run.ended", state="succeeded"), "run.ended"),
    "the end of another run": (_saying("run.ended", run="r_other"), "run.ended"),
    "ended twice": (_told_again("run.ended"), "run.ended"),
    "verified no step": (_saying("step.verified", index=7), "step.verified"),
    "verified too early": (_moved("step.verified", 6), "step.verified"),
    "resolved what was known": (_saying("step.resolved", index=0), "step.resolved"),
    "resolved no step": (_saying("step.resolved", index=-1), "step.resolved"),
    "resolved by neither": (_saying("step.resolved", happened=1), "step.resolved"),
    "resolved twice": (_told_again("step.resolved"), "step.resolved"),
    "a receipt too early": (_moved("receipt.made", 7), "receipt.made"),
    "a receipt of another": (_saying("receipt.made", run="r_other"), "receipt.made"),
}


@pytest.mark.parametrize("name", STORIES)
def test_a_story_that_cannot_be_true_is_refused_at_its_first_entry(name: str) -> None:
    change, kind = STORIES[name]
    shown = refusal(forged(TEXT, change))
    assert f"({kind}) does not fit what was told before it" in shown, shown


@pytest.mark.parametrize("body", ["null", "[]", "1", '"x"'])
def test_an_entry_that_says_nothing_does_not_fit(body: str) -> None:
    text = forged(TEXT, lambda v: telling(v, "vote.cast").update(body=body))
    assert "does not fit" in refusal(text)


def test_a_story_that_ends_too_early_does_not_tell_how_the_run_ended() -> None:
    def change(values: Values) -> None:
        values["audit"] = values["audit"][:12]

    assert "The run's state or its times" in refusal(forged(TEXT, change))


def test_a_fact_that_a_later_version_adds_changes_nothing() -> None:
    assert check(forged(TEXT, lambda v: say(v, "vote.cast", more="x")))


def test_a_receipt_is_read_as_it_stands() -> None:
    found = read(TEXT)
    assert found.sealed == json.loads(values_of(TEXT)["head"]["body"])["receipt_sha256"]
    assert '"signature"' not in found.signed

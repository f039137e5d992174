"""200 broken messages: the turn ends by name, nothing runs that may not, and no value is repeated."""

import asyncio
import math
import random
from collections.abc import Iterator
from typing import Any

import pytest

from core.canonical import encode
from core.limits import Limits, prompt_bytes
from core.outcomes import Reason
from core.redaction import Redactor
from core.transcript import (
    Broken,
    Called,
    Move,
    Pause,
    Returned,
    Say,
    Spoke,
    Stop,
    ToolCall,
    Use,
    Wire,
)  # fmt: skip
from tests.scene import Proposals, Scene

CANARY = "C4n4ryV4lue"
"""Stands in every argument's value, and may stand in no error."""
SECRET = "C4n4ryS3cret"
"""May stand anywhere in a message, and is kept nowhere."""
SEEDS = range(200)
IDS = (
    "",
    "1",
    "1",
    "2",
    "\0",
    "a b",
    "../..",
    "\ud800",
    "ä",
    "x" * 10_000,
    "call_1",
    "call_2",
    SECRET,
)
NAMES = (
    "look", "look", "append-word", "append-word", "no-such", "", "LOOK", "look\n", "ask_user",
    "\ud800", "a" * 5_000, "__class__", "_unnamed_", "look; rm -rf /", f"look.{SECRET}",
)  # fmt: skip
KEYS = (
    "word", "file", "loud", "question", "rationale", "limitations", "alternatives", "user", "token",
    "", "__proto__", "word\0", "\ud800", "\u202e", "k" * 3_000, SECRET,
)  # fmt: skip
FAULTS = (
    "", "", "", "This is not valid JSON.", "This JSON names one key twice.\n\x1b[2J", f"At {SECRET}.",
)  # fmt: skip
ESCAPED = SECRET.replace("r", "\\u0072")


def value(rng: random.Random, depth: int = 0) -> Any:  # noqa: ANN401 - junk has any type
    plain: list[Any] = [
        SECRET, CANARY, f"{CANARY}\0\x1b[2J", f"@everyone {CANARY}", CANARY * 400, f"{CANARY}\ud800",
        0, -1, 2**53, 10**400, 1.0, math.nan, math.inf, True, None, "", " ", "\u202e",
    ]  # fmt: skip
    if depth > 3 or rng.random() < 0.6:
        return rng.choice(plain)
    if rng.random() < 0.1:
        deep: Any = CANARY
        for _ in range(rng.choice((10, 63, 64, 65, 500, 5_000))):
            deep = [deep]
        return deep
    if rng.random() < 0.5:
        return [value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(KEYS): value(rng, depth + 1) for _ in range(rng.randrange(4))}


def sound_call(rng: random.Random) -> ToolCall:
    word = {"word": f"{CANARY}{rng.randrange(50)}"}
    arguments: dict[str, dict[str, Any]] = {
        "look": word,
        "append-word": {**word, "rationale": CANARY},
        "ask_user": {"question": CANARY},
    }
    tool = rng.choice(("look", "look", "look", "append-word", "ask_user"))
    return ToolCall(id=f"s{rng.randrange(10**6)}", tool=tool, arguments=arguments[tool])


def tool_call(rng: random.Random) -> ToolCall:
    """Return a call that is mostly broken; a sound one now and then goes beside those."""
    if rng.random() < 0.4:
        return sound_call(rng)
    names = rng.sample(KEYS, rng.randrange(4))
    return ToolCall(
        id=rng.choice(IDS),
        tool=rng.choice(NAMES),
        arguments={name: value(rng) for name in names},
        fault=rng.choice(FAULTS),
    )


def moves(rng: random.Random) -> Iterator[Move]:
    """Yield a broken message and what else a turn could be made of."""
    while True:
        calls = tuple(tool_call(rng) for _ in range(rng.randrange(5)))
        content = rng.choice(("", "[]", f"\ud800{CANARY}", f'["{ESCAPED}"]', ESCAPED))
        use = Use(
            calls=calls, text=rng.choice(("", "\0\ud800", SECRET)), wire=Wire(content=content)
        )
        others: list[Move] = [
            Pause(wire=Wire(content=content)),
            Broken(stop=rng.choice(list(Stop)), text=CANARY),
            Say(text=rng.choice(("", "ok", "\0\ud800", SECRET)), suggestions=(SECRET,)),
        ]
        yield use if rng.random() < 0.9 else rng.choice(others)


@pytest.mark.parametrize("seed", SEEDS)
async def test_c9_a_broken_message_never_breaks_a_turn(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret, a seed
    scene = Scene(
        generative=True,
        limits=Limits(seconds=30, argument_bytes=2_000, prompt_bytes=30_000),
        proposals=Proposals(),
        redactor=Redactor.of([SECRET]),
    )
    stream = moves(rng)
    outcome, asked = await scene.turn(*(next(stream) for _ in range(9)))
    assert outcome.reason in set(Reason) - {Reason.STOPPED, Reason.MODEL_UNAVAILABLE}
    assert 1 <= len(asked.seen) <= 9
    assert_nothing_ran_that_may_not(scene)
    assert SECRET not in repr((outcome, asked.seen, scene.runner.step_ids))
    assert ESCAPED not in "".join(
        entry.content for entry in outcome.entries if isinstance(entry, Called | Spoke)
    )
    for entry in outcome.entries:
        assert_can_be_kept(entry)
        if isinstance(entry, Returned):
            assert not any(CANARY in result.text for result in entry.results if result.failed)
    assert CANARY not in outcome.text or outcome.reason is not Reason.ERROR
    assert all(prompt_bytes(seen) <= scene.limits.prompt_bytes for seen in asked.seen)
    assert outcome.text.isprintable() or outcome.reason is not Reason.ERROR


def assert_nothing_ran_that_may_not(scene: Scene) -> None:
    """Reads ran whose arguments were accepted; nothing else did, and no other argument got through."""
    for argv in scene.runner.ran:
        assert argv[0] == "look"
    for step_id in scene.runner.step_ids:
        assert step_id.isascii()
        assert step_id.isprintable()
    assert len(set(scene.runner.step_ids)) == len(scene.runner.step_ids)
    for calls, _ in scene.proposals.made:
        for checked in calls:
            assert checked.tool.name == "append-word"
            assert set(checked.arguments) <= {"word", "file", "loud"}


def assert_can_be_kept(entry: object) -> None:
    if isinstance(entry, Called):
        ids = [call.id for call in entry.calls]
        assert len(set(ids)) == len(ids)
        for call in entry.calls:
            encode({"id": call.id, "tool": call.tool, "arguments": call.arguments})
            assert "\0" not in call.tool + call.fault


async def test_the_fuzz_reaches_reads_plans_questions_and_limits() -> None:
    reasons, ran = set[Reason](), 0
    for seed in SEEDS:
        scene = Scene(generative=True, limits=Limits(seconds=30, argument_bytes=2_000))
        stream = moves(random.Random(seed))  # noqa: S311 - no secret, a seed
        outcome, _ = await scene.turn(*(next(stream) for _ in range(9)))
        reasons.add(outcome.reason)
        ran += len(scene.runner.ran)
        await asyncio.sleep(0)
    assert ran > 5
    assert {Reason.PROPOSED, Reason.MAX_TOOL_CALLS, Reason.ERROR, Reason.ANSWERED} <= reasons
    assert {Reason.ASKED, Reason.TRUNCATED, Reason.REFUSED_BY_MODEL} <= reasons

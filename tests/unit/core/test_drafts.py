"""What a model says is heard while it says it, where it may be read before the turn ends."""

import asyncio
from dataclasses import dataclass, field

from core.errors import Unavailable
from core.guardrails import Guards
from core.limits import Limits
from core.outcomes import Reason
from core.ports import Listener
from core.transcript import Move, Say
from tests.fakes.model import Aloud, in_pieces
from tests.scene import Scene, call, use


@dataclass
class Heard:
    """Implements `core.ports.Draft`: what was heard since each time that it began anew."""

    drafts: list[list[str]] = field(default_factory=list[list[str]])

    def anew(self) -> Listener:
        pieces = list[str]()
        self.drafts.append(pieces)
        return pieces.append

    @property
    def texts(self) -> list[str]:
        return ["".join(pieces) for pieces in self.drafts]


def passes(_: object) -> None:
    """Let everything pass."""


async def test_an_answer_is_heard_piece_by_piece() -> None:
    heard = Heard()
    outcome, model = await Scene(generative=True, draft=heard).turn(
        in_pieces("It ", "is ", "there.")
    )
    assert heard.drafts == [["It ", "is ", "there."]]
    assert (outcome.text, model.heard) == ("It is there.", [True])


async def test_nobody_hears_a_model_that_only_passes_on_what_tools_said() -> None:
    heard = Heard()
    _, model = await Scene(draft=heard).turn(in_pieces("It is there."))
    assert (heard.drafts, model.heard) == ([], [False])


async def test_nobody_hears_an_answer_that_a_guardrail_is_to_see_first() -> None:
    heard = Heard()
    guards = Guards(output=(lambda _: "no",))
    outcome, model = await Scene(generative=True, draft=heard, guards=guards).turn(in_pieces("Oh."))
    assert (heard.drafts, model.heard) == ([], [False])
    assert outcome.reason is Reason.GUARDRAIL_OUTPUT


async def test_a_guardrail_of_something_else_keeps_no_answer_from_being_heard() -> None:
    heard = Heard()
    guards = Guards(input=(passes,), context=(passes,), tool=(passes,))
    await Scene(generative=True, draft=heard, guards=guards).turn(in_pieces("Oh."))
    assert heard.texts == ["Oh."]


async def test_a_model_that_is_asked_again_begins_anew() -> None:
    async def breaks(hear: Listener) -> Move:
        hear("It is th")
        raise Unavailable("The model is out of reach.")

    heard = Heard()
    outcome, _ = await Scene(generative=True, draft=heard).turn(Aloud(breaks), in_pieces("It is."))
    assert (heard.texts, outcome.text) == (["It is th", "It is."], "It is.")


async def test_words_beside_a_call_are_heard_and_then_it_begins_anew() -> None:
    async def looks(hear: Listener) -> Move:
        hear("Let me look.")
        return use(call("look"))

    heard = Heard()
    await Scene(generative=True, draft=heard).turn(Aloud(looks), in_pieces("It is there."))
    assert heard.texts == ["Let me look.", "It is there."]


async def test_closing_words_are_heard_too() -> None:
    heard = Heard()
    scene = Scene(generative=True, draft=heard, limits=Limits(seconds=10, turns=1))
    await scene.turn(use(call("look")), in_pieces("As far as I came."))
    assert heard.texts == ["", "As far as I came."]


async def test_a_call_that_came_too_late_is_a_draft_of_its_own() -> None:
    """Whoever shows drafts can tell it from the next, so nothing late gets into that."""

    async def hangs(hear: Listener) -> Move:
        hear("Still")
        try:
            await asyncio.Event().wait()
        finally:
            hear(" there")
        return Say(text="never")

    heard = Heard()
    scene = Scene(generative=True, draft=heard, limits=Limits(seconds=1, conclusion_seconds=0.5))
    outcome, _ = await scene.turn(Aloud(hangs), in_pieces("As far as I came."))
    assert outcome.reason is Reason.MAX_SECONDS
    assert heard.texts == ["Still there", "As far as I came."]

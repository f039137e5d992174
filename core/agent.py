"""The bounded loop: look, look, then an answer or a proposal. It performs no effect and the model controls no exit."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from core.admission import Rules
from core.asking import Asking
from core.calls import ids_of
from core.canonical import Json
from core.display import sound
from core.errors import Refused
from core.gateway import Access, Gateway
from core.guardrails import Guarding, Guards
from core.limits import Limits, prompt_bytes
from core.loop import Course
from core.mailbox import Mail, no_mail
from core.outcomes import Outcome, Reason
from core.ports import Model, Runner
from core.progress import Progress
from core.prompt import Prompt
from core.reading import Reading
from core.redaction import Redactor
from core.stepping import Propose, Stepping
from core.tools import Caller, Toolbox
from core.trail import Trail, untold
from core.transcript import Entry, Heard, Move, Returned, Say, ToolCall, Use, whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one turn may use. Who asks is nowhere in here, so no argument can change it."""

    turn: str
    """Names what it runs; of another claim of the same turn it is another one."""
    caller: Caller
    prompt: Prompt
    defaults: Mapping[str, Json]
    known: Toolbox | None = None
    """All tools that there are, where those of the prompt are not all."""
    access: Access = field(default_factory=Access)
    guards: Guards = field(default_factory=Guards)
    trail: Trail = untold
    mail: Mail = no_mail
    """Tells a model that writes of what arrived while it worked."""
    watch: Callable[[tuple[Entry, ...]], None] = lambda _: None
    """Is shown what the turn has appended so far, so that it is known where somebody cuts it."""


@dataclass(frozen=True, slots=True)
class Dictated:
    """A `Model` for a command that a person typed: that call, then what came of it."""

    call: ToolCall

    @property
    def generative(self) -> bool:
        """See the port."""
        return False

    async def next_move(
        self, entries: Sequence[Entry], prompt: Prompt, *, conclude: bool = False
    ) -> Move:
        """Make the one call, then say its result as it is."""
        del prompt, conclude
        last = entries[-1]
        if isinstance(last, Returned):
            return Say(text="\n".join(result.text for result in last.results))
        return Use(calls=(self.call,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Lets a model move until it answers, asks, proposes or runs into a limit."""

    runner: Runner
    redactor: Redactor
    limits: Limits
    pauses: Sequence[float] = (0.5, 2.0)
    """Seconds before a model that did not answer is asked again, each time."""

    async def turn(
        self,
        heard: Heard,
        *,
        model: Model,
        session: Session,
        propose: Propose,
        history: Sequence[Entry] = (),
    ) -> Outcome:
        """Answer one message and return how it ended; failures are outcomes, not exceptions.

        `history` is what the conversation's turns before appended.
        """
        try:
            course = self._course(heard, model, session, history, propose)
        except Refused as error:
            return Outcome(reason=Reason.ERROR, text=error.shown, entries=(heard,))
        outcome = await course.run()
        told = course.stepping.gateway.told(outcome.text)
        return outcome if outcome.request else replace(outcome, text=told)

    def _course(
        self,
        heard: Heard,
        model: Model,
        session: Session,
        history: Sequence[Entry],
        propose: Propose,
    ) -> Course:
        """Return a turn at its start; raise `Refused` where the transcript is none."""
        before = whole(history)
        # Nothing is sent anywhere by what only passes on words, so nobody needs to know how much.
        size = prompt_bytes(before) + session.prompt.bytes if model.generative else 0
        progress = Progress(history=before, bytes=size, taken=ids_of(before), watch=session.watch)
        now, limits = asyncio.get_running_loop().time(), self.limits
        asking = Asking(
            model=model,
            prompt=session.prompt,
            turn=session.turn,
            pauses=self.pauses,
            trail=session.trail,
        )
        reading = Reading(
            runner=self.runner,
            turn=session.turn,
            caller=session.caller,
            most=limits.result_bytes,
            trail=session.trail,
        )
        rules = Rules(
            known=session.known or session.prompt.tools,
            tools=session.prompt.tools,
            defaults=session.defaults,
            generative=model.generative,
        )
        deadline = now + limits.seconds - (limits.reserve if model.generative else 0)
        guarding = Guarding(
            guards=session.guards, redactor=self.redactor, trail=session.trail, turn=session.turn
        )
        stepping = Stepping(
            limits=limits,
            redactor=self.redactor,
            gateway=Gateway(
                rules=rules, access=session.access, trail=session.trail, redactor=self.redactor
            ),
            reading=reading,
            progress=progress,
            propose=propose,
            guarding=guarding,
            deadline=deadline,
        )
        return Course(
            heard=replace(heard, text=sound(heard.text)),
            limits=limits,
            redactor=self.redactor,
            generative=model.generative,
            asking=asking,
            guarding=guarding,
            stepping=stepping,
            progress=progress,
            mail=session.mail if model.generative else no_mail,
            deadline=deadline,
            end=now + limits.seconds,
        )

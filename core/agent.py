"""The bounded loop: look, look, then an answer or a proposal. It performs no effect and the model controls no exit."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.admission import Rules
from core.asking import Asking
from core.calls import Names
from core.canonical import Json
from core.display import sound
from core.errors import Refused
from core.gateway import Access, Gateway
from core.guardrails import Guarding
from core.limits import Limits
from core.loop import Brief, Course
from core.mailbox import Mail, no_mail
from core.outcomes import Outcome, Reason
from core.past import NOTHING, Past
from core.ports import Draft, Model, Runner
from core.progress import Progress
from core.prompt import Prompt
from core.reading import Reading
from core.redaction import Redactor
from core.stepping import Propose, Stepping
from core.tools import Caller, Toolbox
from core.trail import Trail
from core.transcript import Entry, Heard


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What one turn may use. Who asks is nowhere in here, so no argument can change it."""

    turn: str
    """Names what it runs; of another claim of the same turn it is another one."""
    end: float
    """When the turn's time is over, on the loop's clock: it began before a model was asked."""
    limits: Limits
    spent: int
    """Tokens that were used for the turn already."""
    caller: Caller
    prompt: Prompt
    defaults: Mapping[str, Json]
    known: Toolbox
    """All tools that there are: those of the prompt need not be all."""
    access: Access
    guarding: Guarding
    trail: Trail
    brief: Brief
    mail: Mail
    """Tells a model that writes of what arrived while it worked."""
    watch: Callable[[tuple[Entry, ...]], None]
    """Is shown what the turn has appended so far, so that it is known where somebody cuts it."""
    draft: Draft | None = None
    """Shows an answer while it is written, where it may be shown before it was checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """Lets a model move until it answers, asks, proposes or runs into a limit."""

    runner: Runner
    redactor: Redactor
    pauses: Sequence[float] = (0.5, 2.0)
    """Seconds before a model that did not answer is asked again, each time."""

    async def turn(
        self,
        heard: Heard,
        *,
        model: Model,
        session: Session,
        propose: Propose,
        history: Past = NOTHING,
    ) -> Outcome:
        """Answer one message and return how it ended; failures are outcomes, not exceptions.

        `history` is what the conversation's turns before appended.
        """
        try:
            course = self._course(heard, model, session, history, propose)
        except Refused as error:
            return Outcome(reason=Reason.ERROR, text=error.shown)
        return await course.run()

    def asking(
        self, model: Model, prompt: Prompt, turn: str, trail: Trail, draft: Draft | None = None
    ) -> Asking:
        """Return what asks a model on behalf of a turn."""
        return Asking(
            model=model, prompt=prompt, turn=turn, pauses=self.pauses, trail=trail, draft=draft
        )

    def _course(
        self,
        heard: Heard,
        model: Model,
        session: Session,
        history: Past,
        propose: Propose,
    ) -> Course:
        """Return a turn at its start; raise `Refused` where the transcript is none."""
        stepping = self._stepping(model, session, _progress(model, session, history), propose)
        return Course(
            heard=replace(heard, text=sound(heard.text)),
            brief=session.brief,
            limits=session.limits,
            redactor=self.redactor,
            generative=model.generative,
            asking=self.asking(
                model, session.prompt, session.turn, session.trail, _draft(model, session)
            ),
            guarding=session.guarding,
            stepping=stepping,
            progress=stepping.progress,
            mail=session.mail if model.generative else no_mail,
            deadline=stepping.deadline,
            end=session.end,
        )

    def _stepping(
        self, model: Model, session: Session, progress: Progress, propose: Propose
    ) -> Stepping:
        """Return what takes the steps of a turn."""
        limits = session.limits
        return Stepping(
            limits=limits,
            redactor=self.redactor,
            gateway=Gateway(
                rules=self._rules(model, session),
                access=session.access,
                trail=session.trail,
                redactor=self.redactor,
            ),
            reading=Reading(
                runner=self.runner,
                turn=session.turn,
                caller=session.caller,
                most=limits.result_bytes,
                trail=session.trail,
                redactor=self.redactor,
            ),
            progress=progress,
            propose=propose,
            guarding=session.guarding,
            deadline=session.end - (limits.reserve if model.generative else 0),
        )

    def _rules(self, model: Model, session: Session) -> Rules:
        """Return what a call has to keep to."""
        return Rules(
            known=session.known,
            tools=session.prompt.tools,
            defaults=session.defaults,
            generative=model.generative,
            redactor=self.redactor,
        )


def _draft(model: Model, session: Session) -> Draft | None:
    """Return what shows an answer early: nothing where a guardrail is to see it before anybody does."""
    judged = bool(session.guarding.guards.output)
    return session.draft if model.generative and not judged else None


def _progress(model: Model, session: Session, history: Past) -> Progress:
    """Return what a turn begins with; raise `Refused` where that is no transcript."""
    # Nothing is sent anywhere by what only passes on words, so nobody needs to know how much.
    size = history.bytes + session.prompt.says.bytes if model.generative else 0
    return Progress(
        limits=session.limits,
        history=history.sent,
        bytes=size,
        names=Names(turn=session.caller.turn, before=history.ids),
        tokens=session.spent,
        watch=session.watch,
    )

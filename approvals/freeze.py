"""Makes a plan out of calls: the one function used before a card is shown and again before it runs.

Since both moments run the same code, "has anything changed" is a comparison of bytes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from approvals.policy import Authority
from core import ids
from core.canonical import sha256
from core.errors import Refused
from core.plans import Call, Fingerprint, Plan, PythonStep, Step
from core.ports import Files, Runner, Sources, ending_in_words
from core.tools import Checked, Work


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """A plan, and what its previews printed, which binds only where the runbook says so."""

    plan: Plan
    previews: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Freezer:
    """Looks at the world once for each call, and at nothing twice."""

    runner: Runner
    files: Files
    sources: Sources
    folder: str
    """The working folder as the configuration names it, so that a plan means the same elsewhere."""

    async def freeze(self, calls: Sequence[Checked], authority: Authority, *, who: str) -> Frozen:
        """Return the plan of these calls as everything is now; raise `Refused` for what cannot run.

        `who` is the turn or the request for which it looks: dry runs are named after it.
        """
        rules = authority.policy.digest(
            [checked.tool.resource for checked in calls], [checked.tool.risk for checked in calls]
        )
        frozen, previews = list[Call](), list[str]()
        for checked in calls:
            work = await self._pinned(checked.tool.expand(checked.arguments))
            self._must_start(checked, work)
            preview = await self._preview(checked, work.preview, who) if work.preview else ""
            previews.append(preview)
            frozen.append(await self._call(checked, work, preview))
        plan = Plan(
            calls=tuple(frozen), folder=self.folder, sandbox=self.runner.backend, rules=rules
        )
        return Frozen(plan=plan, previews=tuple(filter(None, previews)))

    async def _pinned(self, work: Work) -> Work:
        """Return the work with each function that it calls bound to what its file holds now."""
        return replace(
            work,
            steps=tuple([await self._step(step) for step in work.steps]),
            verify=await self._step(work.verify) if work.verify else None,
            preview=await self._step(work.preview) if work.preview else None,
        )

    async def _step(self, step: Step) -> Step:
        if not isinstance(step, PythonStep):
            return step
        return replace(step, source=await self.sources.sha256(step.function))

    def _must_start(self, checked: Checked, work: Work) -> None:
        """Refuse what would certainly not start, so that nobody is asked in vain."""
        verify = [work.verify] if work.verify else []
        for step in (*work.steps, *verify):
            obstacle = self.runner.obstacle(step)
            if obstacle:
                raise Refused(f"{checked.tool.name}: {obstacle}")

    async def _preview(self, checked: Checked, step: Step, who: str) -> str:
        obstacle = self.runner.obstacle(step)
        if obstacle:
            raise Refused(f"{checked.tool.name}: the preview cannot run. {obstacle}")
        ended = await self.runner.run(step, step_id=ids.look_id(who))
        if not ended.succeeded:
            why = ending_in_words(ended)
            raise Refused(f"{checked.tool.name}: the preview failed ({why}), so nobody was asked.")
        return ended.output

    async def _call(self, checked: Checked, work: Work, preview: str) -> Call:
        return Call(
            tool=checked.tool.name,
            arguments=dict(checked.arguments),  # type: ignore[arg-type]  # JSON, as `check` made sure
            definition=checked.tool.definition,
            risk=checked.tool.risk,
            steps=work.steps,
            verify=work.verify,
            lock=work.lock,
            fingerprints=tuple(
                [
                    Fingerprint(file=file, sha256=await self.files.sha256(file))
                    for file in work.fingerprints
                ]
            ),
            preview=sha256(preview) if work.preview_binds else None,
        )

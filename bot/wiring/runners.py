"""Who runs the steps of runbooks, as the configuration says."""

from pathlib import Path

from adapters.sandbox.plain import PlainRunner
from adapters.steps import NoRunner, StepRunner
from bot.absent import NoSandbox
from bot.settings import Settings
from core.ports import Runner, Secrets
from core.redaction import Redactor

_NOT_YET = NoRunner("Steps of this kind cannot run here.")


def runner_of(configured: Settings, *, work: Path, secrets: Secrets, redactor: Redactor) -> Runner:
    """Return what runs steps in the working folder; it runs nothing where no sandbox is chosen."""
    if configured.sandbox.backend != "none":
        return NoSandbox()
    plain = PlainRunner(folder=work, secrets=secrets, redactor=redactor)
    return StepRunner(backend=plain.backend, commands=plain, http=_NOT_YET, python=_NOT_YET)

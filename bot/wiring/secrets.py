"""Where the secrets come from that steps may name, as the configuration says."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from adapters.secret_commands import SecretCommand
from adapters.secret_sources import SecretSources
from bot import settings
from bot.settings import Settings
from core.errors import Invalid
from core.redaction import Redactor


def secrets_of(configured: Settings, home: Path, redactor: Redactor) -> SecretSources:
    """Return what reads the secrets, those at hand known already to whoever masks.

    Raises `Invalid` for one of those that cannot be read, or cannot be one.
    """
    references = _references(configured)
    for name, value in settings.secret_values(references, home).items():
        redactor.learn(name, value)
    return SecretSources(
        at_hand={
            name: partial(settings.secret, f"secrets.{name}", source, home)
            for name, source in references.items()
        },
        commands=_commands(configured, home),
        redactor=redactor,
    )


def secret_faults(configured: Settings, home: Path) -> Iterator[tuple[str, str]]:
    """Yield the names of secrets that have no value, as far as a look tells, each with what is wrong."""
    for name, source in _references(configured).items():
        try:
            settings.secret("", source, home)
        except Invalid as error:
            yield name, error.shown.removeprefix(": ")
    for name, command in _commands(configured, home).items():
        if not command.is_there:
            yield (
                name,
                (
                    "its command starts no program here. Write the whole path of one that is neither in "
                    "/usr/bin nor in /bin."
                ),
            )
        for missing in set(configured.secrets[name].environment) - set(command.environment):
            yield name, f"its command needs {missing}, which is not set. Set it, or correct it."


def _references(configured: Settings) -> Mapping[str, str]:
    return {n: one.reference for n, one in configured.secrets.items() if one.reference}


def _commands(configured: Settings, home: Path) -> Mapping[str, SecretCommand]:
    return {
        name: SecretCommand(
            argv=one.command,
            folder=home,
            timeout=one.timeout,
            environment=settings.variables(one.environment),
        )
        for name, one in configured.secrets.items()
        if one.command
    }

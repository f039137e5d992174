"""Where the secrets come from that steps may name, as the configuration says."""

from functools import partial
from pathlib import Path

from adapters.secret_sources import SecretSources
from bot import settings
from bot.settings import Settings
from core.redaction import Redactor


def secrets_of(configured: Settings, home: Path, redactor: Redactor) -> SecretSources:
    """Return what reads the secrets, those at hand known already to whoever masks.

    Raises `Invalid` for one that cannot be read, or cannot be one.
    """
    for name, value in settings.secret_values(configured.secrets, home).items():
        redactor.learn(name, value)
    return SecretSources(
        at_hand={
            name: partial(settings.secret, f"secrets.{name}", source, home)
            for name, source in configured.secrets.items()
        },
        redactor=redactor,
    )

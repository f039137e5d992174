"""The sections of `sayso.yml` that say where everything is kept."""

from datetime import timedelta
from pathlib import Path
from typing import Annotated
from urllib.parse import parse_qsl, urlsplit

from pydantic import BeforeValidator, ByteSize, Field, field_validator

from bot.sections import Reference, Section
from core.counts import Count, no_boolean
from core.durations import Duration
from core.sizes import Size

_FILE = "sqlite:"
_SHARED = "postgresql://"


class StorageSection(Section):
    """Where everything is kept."""

    url: str = Field(
        default="sqlite:data/sayso.db",
        json_schema_extra={"pattern": "^(sqlite:(?!:memory:$)|postgresql://).+"},
    )
    """`sqlite:` and a path, relative to the folder of `sayso.yml`; or `postgresql://` and a database
    that several machines may share, such as `postgresql://sayso@db.example.org/sayso`.
    """
    password: Reference | None = None
    """Where the password of PostgreSQL comes from. It never stands in the address."""
    connections: Annotated[int, BeforeValidator(no_boolean), Field(ge=2, le=100)] = 8
    """So many connections to PostgreSQL may be open at once."""

    @field_validator("url")
    @classmethod
    def _names_a_database(cls, url: str) -> str:
        if url.startswith(_SHARED):
            return _address(url)
        if not url.startswith(_FILE) or url.removeprefix(_FILE) in {"", ":memory:"}:
            raise ValueError(
                "write sqlite: and a path, such as sqlite:data/sayso.db, or postgresql:// and a "
                "database"
            )
        return url

    @property
    def is_shared(self) -> bool:
        """Whether other machines may use it too."""
        return self.url.startswith(_SHARED)

    @property
    def path(self) -> Path:
        """Return the database's file; of one that is shared, where one would be."""
        return Path("data/sayso.db" if self.is_shared else self.url.removeprefix(_FILE))


def _address(url: str) -> str:
    """Return an address; raise `ValueError` where it is none, or holds a password."""
    parts = urlsplit(url)
    given = {name for name, _ in parse_qsl(parts.query)}
    if parts.password or "password" in given:
        raise ValueError("take the password out, and write where it comes from: password: env:NAME")
    if parts.port == 0 or not (parts.netloc or "host" in given):
        raise ValueError("name the host, as in postgresql://sayso@db.example.org/sayso")
    return url


class ArtifactsSection(Section):
    """What is kept of steps that print more than is shown: all of it, masked, in a file of its own."""

    folder: Path | None = None
    """Relative to the folder of `sayso.yml`; else `artifacts` beside the database."""
    most_bytes: Size = ByteSize(8 * 2**20)
    """What one step may have kept; of one that prints more, nothing is."""
    most_per_run: Count = Field(default=20, ge=0, le=1000)
    """How many steps of one run may; with 0, nothing is kept."""
    keep: Duration = timedelta(days=30)
    """For how long. `sayso run` removes what is older."""

    def beside(self, database: Path) -> Path:
        """Return the folder: beside the database, where the file names none."""
        return self.folder or database.with_name("artifacts")

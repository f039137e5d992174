"""Which database everything is kept in: a file here, or PostgreSQL, and what people are told of it."""

import sys
from pathlib import Path

import pytest

from adapters import processes
from bot import faults, settings
from bot.settings import Settings
from bot.storage_sections import StorageSection
from bot.wiring.storage import death_in, passwords, storage
from core.errors import Invalid

SHARED = "postgresql://sayso@db.example.org:5432/sayso"
HELD = "what is held"


def read(folder: Path, storage: str) -> Settings:
    file = folder / "sayso.yml"
    file.write_text(f"sandbox: {{backend: none}}\nstorage: {{{storage}}}\n", "utf-8")
    return settings.read(file)


@pytest.mark.parametrize(
    "url",
    [SHARED, "postgresql:///sayso?host=/run/postgresql", "postgresql://a,b/sayso?sslmode=require"],
)
def test_any_address_of_postgresql_names_a_database(tmp_path: Path, url: str) -> None:
    section = read(tmp_path, f'url: "{url}"').storage
    assert (section.url, section.is_shared) == (url, True)
    assert section.path.parent == Path("data")


@pytest.mark.parametrize(
    ("storage", "said"),
    [
        ("url: 'postgresql://sayso:hunter2@db/sayso'", "storage.url: take the password out"),
        ("url: 'postgresql://db/sayso?password=hunter2'", "storage.url: take the password out"),
        ("url: 'postgresql:///sayso'", "storage.url: name the host"),
        ("url: 'postgresql://db:port/sayso'", "storage.url: "),
        ("url: 'postgres://db/sayso'", "storage.url: write sqlite: and a path"),
        ("connections: 1", "storage.connections: "),
        ("connections: true", "storage.connections: write a number"),
        ("password: hunter2", "storage.password: "),
    ],
)
def test_what_names_no_database_is_refused_and_not_repeated(
    tmp_path: Path, storage: str, said: str
) -> None:
    with pytest.raises(Invalid) as caught:
        read(tmp_path, storage)
    assert said in caught.value.shown
    assert "hunter2" not in caught.value.shown


def test_i12_a_password_is_read_where_it_is_and_a_missing_one_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = read(tmp_path, f"url: '{SHARED}', password: 'env:SAYSO_TEST_PASSWORD'")
    monkeypatch.setenv("SAYSO_TEST_PASSWORD", HELD)
    assert passwords(configured.storage, tmp_path) == (HELD,)
    monkeypatch.delenv("SAYSO_TEST_PASSWORD")
    told = [one for one in faults.problems(tmp_path / "sayso.yml", configured) if "password" in one]
    assert told == [
        "sayso.yml:2: storage.password: env:SAYSO_TEST_PASSWORD cannot be read."
        " Set it, or correct where it comes from."
    ]


def test_on_a_database_of_several_machines_another_boot_is_not_a_dead_one() -> None:
    other = processes.me().replace(processes.me().partition("/")[0], "0" * 8)
    assert death_in(StorageSection())(other)
    assert not death_in(StorageSection(url=SHARED))(other)
    gone = "/".join([*processes.me().split("/")[:2], "1", "1"])
    assert death_in(StorageSection(url=SHARED))(gone)
    assert not death_in(StorageSection(url=SHARED))("no owner")


async def test_c92_without_the_extra_postgres(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [one for one in sys.modules if one.startswith("adapters.storage.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "asyncpg", None)
    with pytest.raises(Invalid, match=r"sayso\[postgres\]"):
        async with storage(StorageSection(url=SHARED), tmp_path):
            raise AssertionError
    async with storage(StorageSection(), tmp_path) as database:
        assert await database.changes() >= 0

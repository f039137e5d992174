"""`core.ports.Secrets`, of files, of commands and on the fake: what is looked at is masked, for good."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from adapters.secret_commands import SecretCommand
from adapters.secret_sources import SecretSources
from bot import settings
from core.errors import SaysoError
from core.exact_values import LONGEST, ROTATIONS
from core.ports import Secrets
from core.redaction import MASK, Redactor
from tests.fakes.secrets import FakeSecrets

FIRST, SECOND = "hunter2hunter2", "swordfish-9"


@dataclass(kw_only=True)
class Safe:
    """Secrets that can be rotated, and what masks them."""

    secrets: Secrets
    redactor: Redactor
    put: Callable[[str, str], object]


def of_files(folder: Path) -> Safe:
    redactor = Redactor.of(())
    names = ("FLEET", "OTHER")
    read = {n: partial(settings.secret, f"secrets.{n}", f"file:{n}", folder) for n in names}
    return Safe(
        secrets=SecretSources(at_hand=read, commands={}, redactor=redactor),
        redactor=redactor,
        put=lambda name, value: (folder / name).write_text(value, "utf-8"),
    )


def of_commands(folder: Path) -> Safe:
    redactor = Redactor.of(())
    commands = {
        name: SecretCommand(
            argv=("cat", str(folder / name)),
            folder=folder,
            timeout=timedelta(seconds=20),
            environment={},
        )
        for name in ("FLEET", "OTHER")
    }
    return Safe(
        secrets=SecretSources(at_hand={}, commands=commands, redactor=redactor),
        redactor=redactor,
        put=lambda name, value: (folder / name).write_text(value, "utf-8"),
    )


def of_fakes(folder: Path) -> Safe:
    del folder
    redactor = Redactor.of(())
    fake = FakeSecrets(redactor=redactor)
    return Safe(secrets=fake, redactor=redactor, put=fake.now.__setitem__)


@pytest.fixture(params=[of_files, of_commands, of_fakes])
def safe(request: pytest.FixtureRequest, tmp_path: Path) -> Safe:
    made: Safe = request.param(tmp_path)
    return made


async def test_only_the_named_ones_are_returned_each_as_it_is_now(safe: Safe) -> None:
    safe.put("FLEET", FIRST)
    safe.put("OTHER", SECOND)
    assert await safe.secrets.values(["FLEET"]) == {"FLEET": FIRST}
    assert await safe.secrets.values(()) == {}
    safe.put("FLEET", SECOND)
    assert await safe.secrets.values(["FLEET", "OTHER"]) == {"FLEET": SECOND, "OTHER": SECOND}


async def test_i12_what_was_returned_is_masked_also_after_it_was_rotated(safe: Safe) -> None:
    text = f"{FIRST} and {SECOND}"
    safe.put("FLEET", FIRST)
    assert safe.redactor.text(text) == text
    await safe.secrets.values(["FLEET"])
    assert safe.redactor.text(text) == f"{MASK} and {SECOND}"
    safe.put("FLEET", SECOND)
    await safe.secrets.values(["FLEET"])
    assert safe.redactor.text(text) == f"{MASK} and {MASK}"


@pytest.mark.parametrize("made", [of_files, of_fakes])
def test_i12_what_was_only_looked_at_is_masked_too(
    made: Callable[[Path], Safe], tmp_path: Path
) -> None:
    safe = made(tmp_path)
    safe.put("FLEET", FIRST)
    assert safe.secrets.fault("FLEET") is None
    assert safe.redactor.text(FIRST) == MASK


@pytest.mark.parametrize(
    "value", [None, "", "short", "a\0b-value", "x" * (LONGEST + 1)], ids=lambda v: str(v)[:9]
)
async def test_without_a_value_that_can_be_masked_a_sentence_names_the_secret(
    safe: Safe, value: str | None
) -> None:
    if value is not None:
        safe.put("FLEET", value)
    with pytest.raises(SaysoError) as caught:
        await safe.secrets.values(["FLEET"])
    # What takes long to look at is not looked at before it is needed.
    for said in filter(None, (safe.secrets.fault("FLEET"), caught.value.shown)):
        assert "FLEET" in said
        assert said.endswith(".")
        assert not value or value not in said


async def test_one_that_nobody_has_set_up_is_named_as_well(safe: Safe) -> None:
    assert "NOBODYS" in str(safe.secrets.fault("NOBODYS"))
    with pytest.raises(SaysoError, match="NOBODYS"):
        await safe.secrets.values(["NOBODYS"])


async def test_of_one_that_is_another_at_each_look_the_last_ones_stay_masked(safe: Safe) -> None:
    values = [f"value-{n:04}" for n in range(ROTATIONS + 2)]
    safe.put("OTHER", FIRST)
    await safe.secrets.values(["OTHER"])
    for value in values:
        safe.put("FLEET", value)
        await safe.secrets.values(["FLEET"])
    masked = [value for value in values if safe.redactor.text(value) == MASK]
    assert masked == values[2:]
    assert safe.redactor.text(FIRST) == MASK


@pytest.mark.parametrize("made", [of_files, of_fakes])
def test_without_a_value_at_hand_a_look_says_so(
    made: Callable[[Path], Safe], tmp_path: Path
) -> None:
    assert "FLEET" in str(made(tmp_path).secrets.fault("FLEET"))

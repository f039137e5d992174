"""What a step can do with and without the sandbox: each is tried, and compared with docs/threat-model.md."""

import sys
from collections.abc import Generator

import pytest

from tests.probe_table import BOMB, PROBES, Probe, Scene, bomb, outcome, scene, written
from tests.sayso import BACKENDS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the sandbox is for Linux")


@pytest.fixture(scope="module")
def where() -> Generator[Scene]:
    with scene() as found:
        yield found


def stands(what: str, backend: str) -> str:
    """Return what the document says."""
    return written()[what][1 + BACKENDS.index(backend)]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.what)
def test_what_a_step_tries_comes_to_what_the_document_says(
    where: Scene, probe: Probe, backend: str
) -> None:
    assert outcome(where, probe, backend) == stands(probe.what, backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_attack_34_a_sandbox_holds_only_so_many_processes(backend: str) -> None:
    assert bomb(backend) == stands(BOMB, backend)


def test_the_document_holds_exactly_what_is_tried() -> None:
    assert [*written()] == [*(probe.what for probe in PROBES), BOMB]

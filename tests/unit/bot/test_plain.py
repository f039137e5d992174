"""What people read on a terminal, where a command says it in words of its own."""

import pytest

from adapters.storage.erasing import PARTS
from bot import plain
from core.erasing import Erased


@pytest.mark.parametrize("number", [1, 2])
def test_what_was_erased_is_told_in_words_whatever_table_held_it(number: int) -> None:
    removed = {part.table: number for part in PARTS}
    told = plain.erased(Erased(conversation="c_1", removed=removed, sha256="0" * 64))
    assert told.count(f"{number} ") == len(PARTS)
    for table in ("frozen", "frame", "happening", "transcript,", "turn,"):
        assert f"{number} {table}" not in told


def test_one_and_several_are_told_apart() -> None:
    removed = {"entry": 2, "turn": 1}
    told = plain.erased(Erased(conversation="c_1", removed=removed, sha256="0" * 64))
    assert told.startswith("Erased, and cleared out of the files: 2 entries, 1 message. The audit")

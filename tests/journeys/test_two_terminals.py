"""I14, P-26: two people at two terminals of one machine: each is shown what is for theirs alone."""

from tests.sayso import Sayso, until
from tests.terminal import typing

NOTHING = "Nothing ran that you may know of."
CARD = r"/approve ([0-9a-f]{32})"


def test_i14_what_is_for_a_terminal_that_died_is_shown_on_nobody_elses(empty: Sayso) -> None:
    with typing("chat", "--as", "alice", folder=empty.folder) as alice:
        alice.sees("alice>")
        alice.types("append alpha")
        request = alice.finds(CARD)
        alice.process.kill()
        alice.process.wait()
    assert empty.run("approve", "--no-wait", request, as_="bob").code == 0
    with typing("chat", "--as", "mallory", folder=empty.folder) as mallory:
        mallory.sees("mallory>")
        until(lambda: empty.sql("SELECT 1 FROM run WHERE state = 'succeeded'"))
        until(lambda: not empty.sql("SELECT 1 FROM job WHERE kind = 'post' AND state = 'queued'"))
        mallory.types("/runs", NOTHING)
        assert "append-word" not in mallory.seen, mallory.seen


def test_i14_where_a_run_is_and_what_it_prints_is_shown_at_nobody_elses_terminal(
    empty: Sayso,
) -> None:
    with (
        typing("chat", "--as", "alice", folder=empty.folder) as alice,
        typing("chat", "--as", "mallory", folder=empty.folder) as mallory,
    ):
        alice.sees("alice>")
        mallory.sees("mallory>")
        alice.types("slow append alpha 8")
        request = alice.finds(CARD)
        assert empty.run("approve", "--no-wait", request, as_="bob").code == 0
        until(lambda: empty.sql("SELECT 1 FROM run WHERE state <> 'running'"))
        alice.sees("succeeded: slow-append.")
        mallory.types("/runs", NOTHING)
        assert "slow-append" not in mallory.seen, mallory.seen

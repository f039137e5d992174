"""Wishes as they stand in a conversation."""

from core.wishes import Relayed, Undone


def test_a_call_of_an_agent_is_shown_on_one_line_as_what_it_is() -> None:
    wish = Relayed(tool="append\nword", arguments='{"word":"alpha"}')
    assert wish.shown == '(over MCP: append word {"word":"alpha"})'


def test_what_is_to_be_undone_is_shown_by_its_run() -> None:
    assert Undone(run="r_1").shown == "(undo: run r_1)"

"""Wishes as they stand in a conversation."""

from core.wishes import Relayed


def test_a_call_of_an_agent_is_shown_on_one_line_as_what_it_is() -> None:
    wish = Relayed(tool="append\nword", arguments='{"word":"alpha"}')
    assert wish.shown == '(over MCP: append word {"word":"alpha"})'

"""What Slack is told of what it delivered, as Bolt wants it said."""

from slack_bolt.response import BoltResponse

from adapters.platforms.takes import Outcome
from adapters.slack import edit_view, telling, views
from core.errors import Incorrect, SaysoError
from core.events import Edit
from core.platforms import Event


def taken() -> BoltResponse:
    """Return the answer that Slack need not deliver it again."""
    return BoltResponse(status=200, body="")


def not_taken() -> BoltResponse:
    """Return the answer after which Slack delivers it again; in Socket Mode it gets none at all."""
    return BoltResponse(status=503, body="")


def said(outcome: Outcome) -> BoltResponse:
    """Return the answer to a command that says to that person what came of it."""
    message = telling.drawn(outcome)
    if message is None:
        return taken()
    return BoltResponse(status=200, body=dict(telling.private(message)))


def in_window(outcome: Outcome, event: Event) -> BoltResponse:
    """Return the answer to a form: it closes, says what to correct in it, or why it was not taken."""
    if isinstance(outcome, Incorrect) and isinstance(event, Edit) and event.values:
        return BoltResponse(status=200, body=dict(edit_view.errors(outcome, event)))
    if not isinstance(outcome, SaysoError):
        return taken()
    title = "Not done"
    view = views.says(title, outcome.shown)
    return BoltResponse(status=200, body={"response_action": "update", "view": view})

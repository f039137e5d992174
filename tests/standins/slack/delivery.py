"""One thing that Slack delivered to the app, and what came back."""

from dataclasses import dataclass, replace

from tests.standins.slack.wire import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What was sent, and whether the app acknowledged it in time."""

    envelope: str
    kind: str
    """`events_api`, `slash_commands` or `interactive`."""
    payload: Json
    acked: bool = False
    answer: Json | None = None
    """What the acknowledgement carried, such as a `response_action`."""
    status: int | None = None
    """The status that an app reached by HTTP answered with."""
    attempt: int = 0

    def acknowledged(self, answer: Json | None, status: int | None = None) -> "Delivery":
        """Return the same with what came back."""
        return replace(self, acked=True, answer=answer, status=status)

    @property
    def ts(self) -> str:
        """Return the id of the message that a delivered event is about."""
        return str(self.payload["event"]["ts"])

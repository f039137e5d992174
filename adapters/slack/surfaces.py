"""What Slack shows of Sayso outside of messages: the Home tab, and what one could ask."""

from dataclasses import dataclass
from typing import assert_never

from adapters.platforms.tasks import failed
from adapters.slack import views
from adapters.slack.findings import HomeOpened, PromptsWanted
from adapters.slack.web import Web
from core.errors import SaysoError
from core.platforms import Desk
from core.principals import Identity

PROMPTS = (
    ("What can you do here?", "help"),
    ("What waits for me?", "requests"),
    ("What runs?", "runs"),
)
"""What is offered to whoever opens a conversation with Sayso: a title, and what it sends."""


@dataclass(slots=True, kw_only=True)
class Surfaces:
    """Draws them when Slack says that somebody looks; raises as `Web` and the desk do."""

    web: Web
    desk: Desk
    team: str

    async def show(self, opened: HomeOpened | PromptsWanted) -> None:
        """Draw what somebody has opened."""
        match opened:
            case HomeOpened(identity=identity):
                await self.home(identity)
            case PromptsWanted():
                await self.prompts(opened)
            case _:
                assert_never(opened)

    async def home(self, identity: Identity) -> None:
        """Show somebody what waits for them and what runs; why not, where they are not to see it."""
        try:
            view = views.home(await self.desk.home(identity), self.team)
        except SaysoError as error:
            failed(error)
            view = views.no_home(error.shown)
        await self.web.write("views.publish", {"user_id": identity.user, "view": view})

    async def prompts(self, wanted: PromptsWanted) -> None:
        """Offer what one could ask."""
        offered = [{"title": title, "message": message} for title, message in PROMPTS]
        body = {
            "channel_id": wanted.channel,
            "thread_ts": wanted.thread,
            "prompts": offered,
        }
        await self.web.write("assistant.threads.setSuggestedPrompts", body)

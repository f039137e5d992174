"""Who Sayso is in a Slack workspace: asked once."""

import asyncio
import re
from dataclasses import dataclass, field

from adapters.slack import payload
from adapters.slack.findings import Bot
from adapters.slack.setup import SlackSetup
from adapters.slack.web import Answer, Web
from core.errors import Invalid, Refused


@dataclass(slots=True, kw_only=True)
class Account:
    """Finds out which bot the token belongs to, and whether that may serve here."""

    setup: SlackSetup
    web: Web
    _bot: Bot | None = None
    _asking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def bot(self) -> Bot:
        """Return who the token is; raise `Invalid` for a workspace that belongs to no tenant."""
        async with self._asking:
            if self._bot is None:
                self._bot = await self._asked()
        return self._bot

    async def _asked(self) -> Bot:
        answer = await self.web.write("auth.test", {})
        team, user, bot = (_text(answer, key) for key in ("team_id", "user_id", "bot_id"))
        if not bot:
            raise Invalid("slack.bot_token is no bot's token: those begin with xoxb-.")
        if team not in self.setup.teams:
            raise Invalid(
                f"slack.bot_token belongs to the workspace {team or 'of nobody'}, which no tenant "
                "owns. Name it under the tenant's workspaces, or use the token of another."
            )
        return Bot(team=team, user=user, bot_id=bot, app=await self._app(bot))

    async def _app(self, bot: str) -> str:
        """Return the id of the app, and empty where Slack does not say.

        Then nothing is lost: only for this app are its socket opened and its requests signed.
        """
        named = re.match(r"xapp-[0-9]+-(A[A-Z0-9]+)-", self.setup.app_token or "")
        if named:
            return named[1]
        try:
            answer = await self.web.read("bots.info", {"bot": bot})
        except Refused:
            return ""
        return _text(payload.of(answer.get("bot")), "app_id")


def _text(answer: Answer, key: str) -> str:
    return payload.name(answer, key)

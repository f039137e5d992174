"""One call of a tool of a server, and what is known of it afterwards.

Whatever came before the call was sent did nothing. Whatever came after it may have happened, unless the
server answered: it is unknown then, and nobody tries it again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from mcp import Client, types
from mcp.shared.exceptions import MCPError

from adapters.mcp import servers
from core import canonical
from core.errors import Refused
from core.plans import ToolStep
from core.ports import Ended, Ending

_DRIFTED = (
    "The server {server} says something else of {tool} than when it was accepted, so nothing was sent. "
    "Look with `sayso mcp probe {server}`."
)
_BEFORE = {types.METHOD_NOT_FOUND, types.INVALID_PARAMS, types.PARSE_ERROR, -32020, -32021, -32022}
"""Errors that say that the tool did not begin."""


@dataclass(slots=True, kw_only=True)
class CallOfTool:
    """One call on its way."""

    step: ToolStep
    sent: bool = False
    """Whether it may have happened."""
    drifted: bool = False
    ended: Ended | None = None
    """What the server answered, whatever goes wrong while it is left."""

    async def made(self, asking: Client) -> Ended:
        """Make it, if the tool is what was accepted."""
        async with asking:
            if not await self._is_as_accepted(asking):
                self.drifted = True
                told = _DRIFTED.format(server=self.step.server, tool=self.step.tool)
                return not_sent(told)
            self.sent = True
            # Not the client's own `call_tool`, which may send twice.
            self.ended = _of(
                await asking.session.call_tool(
                    self.step.tool, dict(self.step.arguments), allow_input_required=True
                )
            )
        return self.ended

    def failed(self, error: BaseException) -> Ended:
        """Say what an error of the SDK means for the call."""
        if self.ended:
            return self.ended
        leaves = [*_leaves(error)]
        if not self.sent:
            told = next((one.shown for one in leaves if isinstance(one, Refused)), "")
            why = f"The server {self.step.server} did not answer as an MCP server does"
            return not_sent(f"{why}: {told}" if told else f"{why}.")
        [first, *more] = leaves
        if isinstance(first, MCPError) and not more and first.code in _BEFORE:
            return _otherwise("the server refused the call")
        return Ended(
            ending=Ending.BROKEN_OFF, exit_code=None, output="", note="the server gave no answer"
        )

    async def _is_as_accepted(self, asking: Client) -> bool:
        found = (await servers.listed(asking)).get(self.step.tool)
        return found is not None and servers.definition(found).sha256 == self.step.definition


def not_sent(why: str) -> Ended:
    """Return the end of a call that was not made."""
    return Ended(ending=Ending.NOT_STARTED, exit_code=None, output=why, note="nothing was sent")


def _otherwise(note: str, text: str = "") -> Ended:
    return Ended(ending=Ending.ANSWERED_OTHERWISE, exit_code=None, output=text, note=note)


def _of(result: types.CallToolResult | types.InputRequiredResult) -> Ended:
    if isinstance(result, types.InputRequiredResult):
        return _otherwise("the server wanted an answer to a question, and gets none from Sayso")
    text = "\n".join(_texts(result))
    if result.is_error:
        return _otherwise("the tool said that it failed", text)
    return Ended(ending=Ending.ANSWERED, exit_code=None, output=text)


def _texts(result: types.CallToolResult) -> Iterator[str]:
    for one in result.content:
        yield one.text if isinstance(one, types.TextContent) else f"[{one.type}, not shown]"
    if not result.content and result.structured_content is not None:
        yield canonical.encode(result.structured_content)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _leaves(one)
    else:
        yield error

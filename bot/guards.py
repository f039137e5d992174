"""The guardrails of the configuration, as checks of the loop."""

from collections.abc import Iterable

from bot.agent_sections import GuardrailSection
from core.guardrails import Guards
from core.patterns import Pattern


def guards_of(sections: Iterable[GuardrailSection]) -> Guards:
    """Return a check for each line, in the order of the file."""
    found: dict[str, list[Pattern]] = {"input": [], "context": [], "tool": [], "output": []}
    for one in sections:
        found[one.stage].append(Pattern(pattern=one.pattern, reason=one.reason))
    return Guards(**{stage: tuple(patterns) for stage, patterns in found.items()})

"""Guards that say what a test wrote down, and remember what they were asked about."""

from dataclasses import dataclass, field

from core.guardrails import Context, Guards, Input, Output, Payload, Proposed

STAGES: dict[type[Payload], str] = {
    Input: "input",
    Context: "context",
    Proposed: "tool",
    Output: "output",
}


@dataclass
class FakeGuards:
    """One guard of each stage; each time it says the next of what is written down for it, then None."""

    says: dict[str, list[object]] = field(default_factory=dict[str, list[object]])
    """By stage; an exception is raised."""
    seen: list[Payload] = field(default_factory=list[Payload])

    async def __call__(self, payload: Payload) -> str | None:
        """Remember the payload and say what is next."""
        self.seen.append(payload)
        left = self.says.get(STAGES[type(payload)])
        said = left.pop(0) if left else None
        if isinstance(said, Exception):
            raise said
        return said  # type: ignore[return-value]  # a test may have it say anything

    @property
    def guards(self) -> Guards:
        """Return the guards."""
        return Guards(input=(self,), context=(self,), tool=(self,), output=(self,))

    @property
    def stages(self) -> list[str]:
        """Return the stages at which something was checked, in order."""
        return [STAGES[type(payload)] for payload in self.seen]

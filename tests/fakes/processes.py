"""The commands of this machine, none of which there is."""

from dataclasses import dataclass, field


@dataclass
class FakeProcesses:
    """Implements `core.ports.Processes`: keeps the names of what it was to kill."""

    killed: list[str] = field(default_factory=list[str])

    def kill(self, name: str) -> int:
        """See the port."""
        self.killed.append(name)
        return 0

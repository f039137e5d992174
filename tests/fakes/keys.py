"""A key that lies in no file."""

from dataclasses import dataclass

from core.signatures import Key


@dataclass(kw_only=True)
class FakeKeys:
    """Implements `core.ports.Keys`."""

    made: Key | None = None

    def key(self) -> Key:
        """See the port."""
        self.made = self.made or Key.new()
        return self.made

    def kept(self) -> Key | None:
        """See the port."""
        return self.made

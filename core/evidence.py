"""What came of the calls of one step: a result for each of them, whatever happens."""

from dataclasses import dataclass, field

from core.admission import Admission
from core.calls import Step
from core.tools import Checked, Effect
from core.transcript import Called, Result, Returned


@dataclass(slots=True, kw_only=True)
class Evidence:
    """One step and what came of its calls so far."""

    step: Step
    made: tuple[Admission, ...]
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    open: set[str] = field(default_factory=set[str])
    """The calls that may be made again as they are."""

    def of(self, effect: Effect) -> dict[str, Checked]:
        """Return the calls that may be made and have this effect."""
        found = ((one.call.id, one.checked(effect)) for one in self.made)
        return {key: checked for key, checked in found if checked}

    def entries(self, otherwise: str) -> tuple[Called, Returned]:
        """Return the step with one result for each call; `otherwise` for one that has none."""
        return self.step.kept, Returned(
            results=tuple(
                self.results.get(call.id) or Result(call=call.id, text=otherwise, failed=True)
                for call in self.step.calls
            )
        )

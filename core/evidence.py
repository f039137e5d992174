"""What came of the calls of one step: a result for each of them, whatever happens."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from core.admission import Admission
from core.calls import Step
from core.fitting import cut, fitted, trimmed
from core.redaction import Redactor
from core.tools import Checked, Effect
from core.transcript import Called, Entry, Result, Returned


@dataclass(slots=True, kw_only=True)
class Evidence:
    """One step and what came of its calls so far."""

    step: Step
    made: tuple[Admission, ...]
    redactor: Redactor
    results: dict[str, Result] = field(default_factory=dict[str, Result])
    open: set[str] = field(default_factory=set[str])
    """The calls that may be made again as they are."""
    _searched: dict[str, str] = field(default_factory=dict[str, str])

    def of(self, effect: Effect) -> dict[str, Checked]:
        """Return the calls that may be made and have this effect."""
        found = ((one.call.id, one.checked(effect)) for one in self.made)
        return {key: checked for key, checked in found if checked}

    def found(self, keys: Iterable[str]) -> str:
        """Return what came of these calls, as far as something did, for people."""
        texts = (self._masked(self.results[key].text) for key in keys if key in self.results)
        return cut("\n".join(texts))

    def entries(self, otherwise: str, room: int) -> tuple[Entry, ...]:
        """Return the step with one result for each call, as it is kept in so many bytes.

        `otherwise` is the result of a call that has none.
        """
        results = (
            self.results.get(call.id) or Result(call=call.id, text=otherwise, failed=True)
            for call in self.step.calls
        )
        masked = tuple(replace(one, text=self._masked(one.text)) for one in results)
        return fitted(self._kept(), Returned(results=masked), room)

    def _masked(self, text: str) -> str:
        """Return a text without secrets; each is searched once, however often it is needed."""
        if text not in self._searched:
            self._searched[text] = self.redactor.text(text)
        return self._searched[text]

    def _kept(self) -> Called:
        """Return the calls as they are kept, the refused ones without large arguments."""
        refused = {one.call.id for one in self.made if one.refused}
        kept = self.step.kept
        calls = tuple(trimmed(call) if call.id in refused else call for call in kept.calls)
        return kept if calls == kept.calls else replace(kept, calls=calls, content="")

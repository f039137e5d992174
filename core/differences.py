"""What made a plan another one since it was shown, in words for a card. Pure."""

from collections.abc import Iterator, Mapping

from core.plans import Call, Plan, PythonStep


def difference(before: Plan, now: Plan) -> str | None:
    """Say what made the plan another one since it was shown, or None where nothing did."""
    if before.sha256 == now.sha256:
        return None
    if before.standing != now.standing:
        return "the standing grant that it asks for became another one"
    if (before.sandbox, before.folder) != (now.sandbox, now.folder):
        return "the place where it would run changed"
    for old, new in zip(before.calls, now.calls, strict=False):
        if old != new:
            return next(_of_call(old, new))
    return "the rules that decide it changed" if before.rules != now.rules else "its calls changed"


def _of_call(old: Call, new: Call) -> Iterator[str]:
    """Yield what differs, whatever explains most first."""
    if old.definition != new.definition:
        yield f"the runbook {old.tool} was edited"
    yield from (f"the file {one} changed" for one in _changed(_held(old), _held(new)))
    yield from (f"the code of {one} changed" for one in _changed(_code(old), _code(new)))
    if old.preview != new.preview:
        yield f"the preview of {old.tool} changed"
    if old.lock != new.lock:
        yield f"what {old.tool} waits for changed"
    yield f"what {old.tool} would do changed"


def _changed(old: Mapping[str, str | None], new: Mapping[str, str | None]) -> Iterator[str]:
    return (name for name, digest in new.items() if digest != old.get(name, digest))


def _held(call: Call) -> Mapping[str, str | None]:
    return {f.file: f.sha256 for f in call.fingerprints}


def _code(call: Call) -> Mapping[str, str | None]:
    steps = (*call.steps, call.verify)
    return {step.function: step.source for step in steps if isinstance(step, PythonStep)}

"""The program that calls one function. It is given to an interpreter as text, so it imports nothing of ours.

Its arguments are the function, `package.module:name`, and the file that this has to come from; those
of the function stand on its standard input, as JSON. What the function prints is the output, and so
is what it returns, as JSON. Where it raises, the exit code is 1 and the output says what and where:
never with which words, since nobody knows what they hold.
"""

import asyncio
import importlib
import importlib.util
import inspect
import json
import sys
import traceback


def main() -> None:
    """Call it."""
    function, file = sys.argv[1:]
    module, _, name = function.partition(":")
    arguments = json.load(sys.stdin)
    try:
        spec = importlib.util.find_spec(module)
        if spec is None or spec.origin != file:
            sys.exit(f"{module} would come from elsewhere than its file, so it was not called.")
        value = getattr(importlib.import_module(module), name)(**arguments)
        if inspect.iscoroutine(value):
            value = asyncio.run(value)
    except Exception as error:  # noqa: BLE001 - whatever it is, it ends the step
        sys.exit(_told(error, file))
    if value is not None:
        sys.stdout.write(_written(value, function) + "\n")


def _told(error: Exception, file: str) -> str:
    """Say what was raised, and in which line: the last one of the function's own file, if there is any."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == file]
    where = (own or frames)[-1]
    return f"{type(error).__name__} in line {where.lineno} of {where.filename}"


def _written(value: object, function: str) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        sys.exit(f"{function} returned what cannot be written as JSON.")


if __name__ == "__main__":
    main()

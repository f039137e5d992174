"""What of a turn is kept, so that no turn takes the room that the next message needs."""

from dataclasses import replace

from core.canonical import encode
from core.limits import prompt_bytes
from core.transcript import Called, Entry, Noted, Result, Returned, Spoke, ToolCall

TEXT_BYTES = 32 * 1024
"""Of what a model says at once: of each text that is posted, shown on a card or kept."""
REFUSED_BYTES = 4 * 1024
"""Of the arguments of a call that was refused, and of the reason."""
SHORT_BYTES = 1024
_DROPPED = (
    "What came of this does not fit into what is left of the conversation and was dropped. Ask for "
    "less, or let the person start a new conversation."
)
_LEFT_OUT = "(What was said here does not fit into what is left of the conversation.)"


def cut(text: str, most: int = TEXT_BYTES) -> str:
    """Return a text that has at most so many bytes, and words that say so where it had more."""
    raw = text.encode()
    if len(raw) <= most:
        return text
    return f"{raw[:most].decode(errors='ignore')}\n(Cut here: there was more than {most} bytes.)"


def trimmed(call: ToolCall) -> ToolCall:
    """Return a call that was refused as it is kept: without its arguments where they are large."""
    large = len(encode(call.arguments).encode()) > REFUSED_BYTES
    return replace(call, arguments={}) if large else call


def fitted(called: Called, returned: Returned, room: int) -> tuple[Entry, ...]:
    """Return a step as it is kept in so many bytes: whole, with fewer results, or as notes."""
    bare = Called(calls=tuple(replace(call, arguments={}) for call in called.calls))
    for step in (called, bare):
        kept = (step, _fewer(step, returned, room))
        if prompt_bytes(kept) <= room:
            return kept
    said = cut("\n".join(dict.fromkeys(one.text for one in returned.results)), SHORT_BYTES)
    count = len(called.calls)
    return (
        Noted(text=f"A step (calls: {count}) was too large to be kept. What came of it:\n{said}"),
    )


def fitted_words(words: Spoke, room: int) -> Spoke:
    """Return an answer as it is kept in so many bytes: whole, or that there was one."""
    for kept in (words, Spoke(text=words.text)):
        if prompt_bytes((kept,)) <= room:
            return kept
    return Spoke(text=_LEFT_OUT)


def _fewer(step: Called, returned: Returned, room: int) -> Returned:
    """Leave out the largest results until the others fit beside the step."""
    short = {one.call: _shorter(one) for one in returned.results}
    left = room - prompt_bytes((step, Returned(results=tuple(short.values()))))
    for one in sorted(returned.results, key=_size):
        more = _size(one) - _size(short[one.call])
        if more <= left:
            short[one.call] = one
            left -= more
    return Returned(results=tuple(short.values()))


def _shorter(one: Result) -> Result:
    dropped = Result(call=one.call, text=_DROPPED, failed=True, correctable=True)
    return min(one, dropped, key=_size)


def _size(one: Result) -> int:
    return prompt_bytes((Returned(results=(one,)),))

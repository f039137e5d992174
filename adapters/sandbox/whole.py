"""All that a command printed, as people may see it, without holding up anybody meanwhile."""

import asyncio
import codecs
from collections.abc import AsyncIterator

from adapters.sandbox.output import Masking
from core.piecewise import pieces

_PIECE = 64 * 1024
"""Bytes that are decoded at once."""


async def whole(printed: bytearray, masking: Masking) -> AsyncIterator[bytes]:
    """Yield it piece by piece in UTF-8. Nothing of a secret is in it, not the beginning of one either."""
    text = await _decoded(printed)
    reach, held = max(masking.spare(), masking.redactor.reach), ""
    made = pieces(text, masking.cleaned, reach=reach)
    # In a thread: to look for secrets in one piece takes longer than others are to wait.
    while (piece := await asyncio.to_thread(next, made, None)) is not None:
        held += piece
        # What may be the beginning of a secret at the very end is held back until that is known.
        ready, held = held[:-reach], held[-reach:]
        yield ready.encode()
    yield masking.without_stump(held).encode()


async def _decoded(printed: bytearray) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    parts = list[str]()
    for start in range(0, len(printed), _PIECE):
        parts.append(decoder.decode(printed[start : start + _PIECE]))
        await asyncio.sleep(0)
    return "".join([*parts, decoder.decode(b"", final=True)])

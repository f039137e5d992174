"""All that a step printed or was answered, as people may see it, without holding up anybody meanwhile."""

import asyncio
import codecs
from collections.abc import AsyncIterator
from functools import partial

from adapters.sandbox.output import Masking, Output
from core.piecewise import pieces
from core.ports import Pieces

_PIECE = 64 * 1024
"""Bytes that are decoded at once."""


def all_of(output: Output, masking: Masking) -> Pieces | None:
    """Return what gives all of it; None where what is shown of it is all."""
    return partial(whole, output.everything, masking) if output.is_cut else None


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

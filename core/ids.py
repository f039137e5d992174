"""Ids. What a button may carry is a secret; everything else only has to be unique and easy to read out."""

import re
import secrets

_REQUEST = re.compile(r"[0-9a-f]{32}")
_GRANT = re.compile(r"g_[0-9a-f]{32}")
_RUN = re.compile(r"r_[0-9a-f]{16}")
_LINK = re.compile(r"l_[0-9a-f]{32}")
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""None that is easily taken for another."""
_ALMOST = re.compile(r"[0-9a-f]{12,}")


def request_id() -> str:
    """Return 32 lowercase hex digits: 128 random bits, the only thing that a button carries."""
    return secrets.token_hex(16)


def is_request_id(text: str) -> bool:
    """Whether a text has the form that `request_id` gives, and nothing else."""
    return bool(_REQUEST.fullmatch(text))


def resembles_request_id(text: str) -> bool:
    """Whether somebody meant a text to be a request's id: no reason and no name begins so."""
    return bool(_ALMOST.fullmatch(text))


def conversation_id() -> str:
    """Return a new id for a conversation, `c_…`."""
    return f"c_{secrets.token_hex(8)}"


def turn_id() -> str:
    """Return a new id for a turn, `t_…`: a button may carry it, so it has 128 random bits too."""
    return f"t_{secrets.token_hex(16)}"


def run_id() -> str:
    """Return a new id for a run, `r_…`."""
    return f"r_{secrets.token_hex(8)}"


def link_id() -> str:
    """Return a new id for a link on its way, `l_…`: a button carries it, so it has 128 random bits."""
    return f"l_{secrets.token_hex(16)}"


def is_link_id(text: str) -> bool:
    """Whether a text has the form that `link_id` gives, and nothing else."""
    return bool(_LINK.fullmatch(text))


def code() -> str:
    """Return a code that people type, of 50 random bits: good once, for minutes, and for little."""
    letters = "".join(secrets.choice(_LETTERS) for _ in range(10))
    return f"{letters[:5]}-{letters[5:]}"


def is_run_id(text: str) -> bool:
    """Whether a text has the form that `run_id` gives, and nothing else."""
    return bool(_RUN.fullmatch(text))


def plan_id(sha256: str) -> str:
    """Return the short name of a plan: the same content always has the same one."""
    return f"p_{sha256[:12]}"


def grant_id() -> str:
    """Return a new id for a standing grant, `g_…`: a button may carry it, so it has 128 random bits too."""
    return f"g_{secrets.token_hex(16)}"


def is_grant_id(text: str) -> bool:
    """Whether a text has the form that `grant_id` gives, and nothing else."""
    return bool(_GRANT.fullmatch(text))


def step_id(run: str, index: int) -> str:
    """Return the stable name of one step, which an effect may use as its idempotency key."""
    return f"{run}.{index}"


def look_id(who: str) -> str:
    """Return a name for one preview or verify of a turn, a request or a run, so that ending it can touch no other."""
    return f"{who}.look_{secrets.token_hex(8)}"


def edit_id(request: str) -> str:
    """Return a name for one change of a posted card."""
    return f"edit:{request}:{secrets.token_hex(4)}"

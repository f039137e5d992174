"""The tools of Sayso's own toolsets: reads that answer inside this process."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict, create_model

from core.params import Param
from core.tools import Look, Tool, answering


def own_tool(
    name: str,
    summary: str,
    params: Mapping[str, Param],
    look: Look,
    *,
    posts: str | None = None,
) -> Tool:
    """Return a tool with these parameters, described like those of a runbook."""
    fields: dict[str, Any] = {f"p_{key}": param.annotation(key) for key, param in params.items()}
    config = ConfigDict(extra="forbid", strict=True, frozen=True, title=name)
    parameters: type[BaseModel] = create_model("Arguments", __config__=config, **fields)
    return replace(answering(name, summary, parameters, look), posts=posts)

"""Every sentence that stands in the code, for tests of pages that repeat some of them."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ("bot", "core", "approvals", "adapters/platforms")


@cache
def said(package: str) -> str:
    """Return every text in a package and those that it rests on, with … where something is filled in."""
    found = list[str]()
    for each in (package, *OURS):
        for file in sorted((ROOT / each).rglob("*.py")):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                match node:
                    case ast.Constant(value=str(text)):
                        found.append(text)
                    case ast.JoinedStr(values=parts):
                        found.append("".join(map(_part, parts)))
                    case _:
                        pass
    return "\n".join(found)


def _part(part: ast.expr) -> str:
    is_text = isinstance(part, ast.Constant) and isinstance(part.value, str)
    return str(part.value) if is_text and isinstance(part, ast.Constant) else "…"


def explained(page: str) -> list[str]:
    """Return the sentences that the last table of a page explains."""
    [table] = re.findall(r"^\| it says \|.*?\n\|---\|---\|\n(.*)", page, re.DOTALL | re.MULTILINE)
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def unsaid(sentences: list[str], package: str) -> list[str]:
    """Return the parts of sentences that the code says nowhere."""
    parts = [part.strip() for sentence in sentences for part in sentence.split("…")]
    return [part for part in parts if part and part not in said(package)]

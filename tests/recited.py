"""Runbooks that print, recite and run whatever a test wants to see arrive."""

from tests.sayso import Sayso

SHELL = """
summary: Run a command line.
risk: low
params:
  line: {type: string, max_length: 9000}
phrases: ["shell {line}"]
steps:
  - run: [python3, append.py, ledger.txt, "{line}"]
"""
NOTE = """
summary: Note any text.
risk: low
params:
  text: {type: string, max_length: 1000}
phrases: ["note {text}"]
steps:
  - run: [python3, append.py, ledger.txt, "{text}"]
"""
LARGE = """
summary: Do much at once.
risk: low
phrases: ["large"]
steps:
  - run: [python3, -c, "#PAYLOAD"]
"""
PRINT = """
summary: Print as many characters as wanted.
effect: read
params:
  size: {type: integer}
phrases: ["print {size}"]
steps:
  - run: [python3, numbered.py, "{size}"]
"""
NUMBERED = """
import sys

size = int(sys.argv[1])
text = "".join(f"line {number:05d}\\n" for number in range(size // 11 + 1))
print(text[: size - 3] + "END", end="")
"""
RECITE = """
summary: Recite what stands in a file.
effect: read
params:
  name: {type: string, pattern: "^[a-z]{1,20}$"}
phrases: ["recite {name}"]
steps:
  - run: [cat, "{name}.txt"]
"""


def runbooks(sayso: Sayso) -> None:
    """Let there be these runbooks. `recite` reads files of the working folder."""
    for name, text in (("shell", SHELL), ("print", PRINT), ("recite", RECITE)):
        sayso.runbook(name, text)
    sayso.runbook("large", LARGE.replace("PAYLOAD", "x" * 50_000 + "LAST"))
    (sayso.folder / "work" / "numbered.py").write_text(NUMBERED, "utf-8")


def lines(text: str) -> list[str]:
    """Return the lines; where a message ends and the next begins is none of them."""
    return [line for line in text.splitlines() if line]


def numbered(size: int) -> str:
    """Return what the runbook prints."""
    text = "".join(f"line {number:05d}\n" for number in range(size // 11 + 1))
    return f"{text[: size - 3]}END"

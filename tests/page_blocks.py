"""The blocks of code on a page: its Python with what it shows below, and its commands.

A page of ``docs/tutorials`` has cells in place of blocks, which the build of the pages runs, too.
"""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(
    r"^```(?:python|\{code-cell\})\n(?:---\n.*?^---\n)?(?P<code>.*?)^```$(?:\s*^```text\n(?P<shown>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(r"^( *)```[^\n]*\n.*?^\1```$", re.MULTILINE | re.DOTALL)
CONSOLE = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TYPED = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)
"""A line of a block for a console, with those that go on behind a backslash."""
INDENTED = re.compile(r"^ {4}((?=(?:aomultirl|make|pip|python|pytest) )(?:.*\\\n)*.*)", re.MULTILINE)
"""The same in a block that is only indented."""


class Block(NamedTuple):
    """A block of Python on a page.

    code
        what it does.
    shown
        what the page says that it prints; empty where nothing is shown.
    """

    code: str
    shown: str


def python_of(page: str | Path) -> list[Block]:
    """The blocks of Python of a page, by its path in the project."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = [Block(found["code"], found["shown"] or "") for found in BLOCK.finditer(text)]
    assert len(blocks) == len(re.findall(r"^ *```(?:python|\{code-cell\})", text, re.MULTILINE)), page
    return blocks


def commands_of(page: str | Path) -> list[str]:
    """The command lines of a page, each on one line without its comment; two that ``&&`` joins are two."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = CONSOLE.findall(text)
    assert len(blocks) == len(re.findall(r"^ *```console", text, re.MULTILINE)), page
    lines = [line for block in blocks for line in TYPED.findall(block)]
    lines += INDENTED.findall(FENCE.sub("", text))
    whole = (re.sub(r"\s+# .*", "", line.replace("\\\n", " ")) for line in lines)
    return [" ".join(part.split()) for line in whole for part in line.split(" && ")]

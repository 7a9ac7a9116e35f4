"""Pages as they are rendered: paragraphs, rows of tables and comments of code, and the numbers that they state.

A number is written in digits, or in words: before what it counts ("ten seconds", "half a billion", "seven of nine",
"ten runs"), where it says how many do something ("six do not hold", "it is best in seven."), or from thirteen on.
What :mod:`stated.exempt` lists is none.  Marks are comments of HTML, of which :mod:`stated.marks` says what they may
say; what a mark belongs to is a matter of how a page is divided, so they are read here.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt  # comes with rich, which the commands need
from markdown_it.tree import SyntaxTreeNode

from stated.exempt import blank

ROOT = Path(__file__).parents[2]
COMMENT = re.compile(r"<!--\s+(.*?)\s+-->\s*", re.DOTALL)
BEGINS, UNTIL = re.compile(r"made by [^;]*"), "until here"
"""What comments say at the two ends of a part which a script writes."""
COUNT = re.findall(
    r"\w+",
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety half",
)
"""Numbers that pages write in words."""
_WORD = rf"(?:{'|'.join(COUNT)})"
_TWO, _THREE, _LARGE = ("|".join(COUNT[least:-1]) for least in (2, 3, 13))
"""Words from two, from three and from thirteen on."""
_DONE = "do|does|did|hold|holds|held|fail|fails|failed|are|were|earn|earns|end|ended"
_RUN = "runs|seeds|claims|agents|learners|environments|states"
_UNIT = "(?:milliseconds?|nanoseconds?|seconds?|minutes?|hours?|times|percent|points|nats|orders of magnitude)"
_SIGN = "[-\N{MINUS SIGN}]?"
DIGITS = re.compile(rf"(?<![\w.]){_SIGN}\d[\d,]*(?<!,)(?:\.\d+)?(?:e{_SIGN}\d+|\^\d+|[⁰¹²³⁴⁵⁶⁷⁸⁹]+)?")
IN_WORDS = re.compile(
    rf"\b{_WORD} {_UNIT}\b"
    rf"|\b(?!one |half ){_WORD} of (?:the )?{_WORD}\b"
    r"|\b(?:a|two|three|nine) (?:thirds?|quarters?|fifth|tenths?) of\b"
    r"|\b(?:some|under an?|within an?|half an?) (?:second|minute|hour)s?\b"
    rf"|\b(?:some|an?|half a|{_WORD}) (?:hundred|thousand|million|billion)s?\b"
    rf"|\b(?:{_LARGE})\b(?!-)"
    rf"|\b(?:{_THREE})(?: (?:reported|development|random))? (?:{_RUN})\b"
    rf"|(?<!best )(?<!last )(?<!first )(?<!other )\b(?:{_TWO})(?= (?:{_DONE}|in (?:one|{_TWO}))\b|[.,;)](?:\s|$))",
    re.IGNORECASE,
)


PROSE = ("{glossary}",)
"""Fences whose text is read by people as it stands."""


class Number(NamedTuple):
    """A number that a page states.

    start, end
        its place in the text of the page.
    line
        of the page, counted from 1.
    sentence
        the sentence, or the row of a table, that it stands in.
    """

    start: int
    end: int
    line: int
    sentence: str


class Mark(NamedTuple):
    """A comment of a page that stands behind numbers.

    line
        of the page, counted from 1.
    words
        what the comment says.
    start, end
        what it belongs to, in the text of the page.
    """

    line: int
    words: str
    start: int
    end: int


class _Part(NamedTuple):
    """Lines of a page that a mark may belong to, from the first until before the last, and what they say."""

    first: int
    last: int
    text: str


class Page:
    """A page of Markdown: its text, the numbers that it states, and its marks."""

    def __init__(self, name: str, text: str | None = None) -> None:
        self.name = name
        self.text = (ROOT / name).read_text(encoding="utf-8") if text is None else text
        self._lines = self.text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))
        tree = SyntaxTreeNode(MarkdownIt("commonmark").enable("table").parse(self.text))
        self.numbers = [number for piece in self._pieces(tree) for number in self._stated(*piece)]
        self.marks = list(self._marked(tree))

    def _pieces(self, node: SyntaxTreeNode) -> Iterator[tuple[int, list[str]]]:
        """The first line, and what is said there: paragraphs, headings, rows, and the comments of code."""
        for child in node.children:
            first, last = child.map or (0, 0)
            if child.type in ("paragraph", "heading", "tr", "code_block"):
                yield first, self._lines[first:last]
            elif child.info in PROSE:
                yield first + 1, self._lines[first + 1 : last - 1]
            elif child.type == "html_block":
                yield first, [re.sub(COMMENT, _blank, "".join(self._lines[first:last]))]
            elif child.type == "fence" and "{" not in child.info:
                yield first, [_comment(line) for line in self._lines[first:last]]
            else:
                yield from self._pieces(child)

    def _stated(self, first: int, lines: list[str]) -> Iterator[Number]:
        shown = "".join(lines)
        left = blank(shown)
        found = [match for pattern in (DIGITS, IN_WORDS) for match in pattern.finditer(left)]
        for match in sorted(found, key=lambda match: match.start()):
            start, line = self._starts[first] + match.start(), first + left.count("\n", 0, match.start())
            yield Number(start, start + len(match[0]), line + 1, _sentence(shown, match.start()))

    def _marked(self, node: SyntaxTreeNode) -> Iterator[Mark]:
        """A mark belongs to what stands before it, together with a paragraph that ends in a colon before that."""
        parts: list[_Part] = []
        for child in node.children:
            first, last = child.map or (0, 0)
            comment = COMMENT.fullmatch(child.content) if child.type == "html_block" else None
            if comment is None:
                parts.append(_Part(first, last, "".join(self._lines[first:last]).strip()))
                yield from self._marked(child)
            elif comment[1] == UNTIL:
                begins = max(place for place, part in enumerate(parts) if COMMENT.fullmatch(part.text))
                parts[begins:] = [_Part(parts[begins].first, last, "")]
            elif BEGINS.fullmatch(comment[1]):
                parts.append(_Part(first, last, child.content))
            else:
                before = [part for part in parts[-2:-1] if part.text.endswith(":")] + parts[-1:]
                begin, end = (before[0].first, before[-1].last) if before else (0, 0)
                yield Mark(first + 1, comment[1], self._starts[begin], self._starts[end])


def pages() -> list[str]:
    """README and all pages of the documentation, by their names in the project."""
    found = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [path.relative_to(ROOT).as_posix() for path in found if path.is_file() and "_build" not in path.parts]


def _comment(line: str) -> str:
    """The line with nothing but its comment, where that was."""
    found = re.search(r"(?:^|\s)# .*$", line)
    return " " * found.start() + line[found.start() :] if found else " " * (len(line) - 1) + "\n"


def _sentence(shown: str, place: int) -> str:
    """The sentence around a place, or the line, in a table."""
    if shown.lstrip().startswith("|"):
        return shown.strip()
    begins = max([0, *(match.end() for match in re.finditer(r"[.?!:;]\s", shown[:place]))])
    ends = re.search(r"[.?!:;](?=\s)", shown[place:])
    return " ".join(shown[begins : place + ends.end() if ends else len(shown)].split())


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])

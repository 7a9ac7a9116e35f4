"""Checks of numbers: a piece of a page with ``{}`` for every number that is computed, and what computes them.

The numbers themselves stand on the page alone.  They must agree with what is computed to the digits that are shown, or
within a relative tolerance where a page says "about"; a piece that is not on its page any more is an error, too.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import NamedTuple

from stated.reading import COUNT, DIGITS

FIELD = "{}"
_WORTH = dict(zip(COUNT, [*range(21), *range(30, 100, 10), 0.5], strict=True))
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_PARTS = {"third": 1 / 3, "quarter": 0.25, "fifth": 0.2, "tenth": 0.1}
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_WORD = "|".join(COUNT)
_NUMBER = (
    rf"({DIGITS.pattern}|\b(?i:(?:some|an?|half a|{_WORD}) (?:{'|'.join(_SCALES)})"
    rf"|(?:an?|{_WORD}) (?:{'|'.join(_PARTS)})s?|{_WORD})\b)"
)
Values = Callable[[], Sequence[float]]


class Stated(NamedTuple):
    """A piece of a page, and what its numbers must be.

    page
        the name of the page.
    piece
        its words, with ``{}`` in place of each number that is computed; where the page has a line break, a blank.
    values
        what computes them, in this order.
    within
        how far apart they may be, as a share; 0.0 for the digits that are shown.
    long
        whether ``make test-all`` alone computes them, because that takes seconds.
    """

    page: str
    piece: str
    values: Values
    within: float = 0.0
    long: bool = False

    def found(self, text: str) -> list[re.Match[str]]:
        """Where the piece stands in the text of its page, with a group for each number."""
        return _found(self.piece, text)

    def wrong(self, text: str) -> Iterator[str]:
        """A sentence for everything that does not hold in the text of its page."""
        found = self.found(text)
        if not found:
            yield f"{self.page} does not say {self.piece!r} any more, with numbers for {{}}: change its check in tests"
            return
        values = list(self.values())
        for match in found:
            line = text.count("\n", 0, match.start()) + 1
            assert len(values) == len(match.groups()), f"{self.piece!r} has not as many numbers as {values}"
            for written, value in zip(match.groups(), values, strict=True):
                if not agrees(written, value, self.within):
                    said = " ".join(match[0].split())
                    yield f"{self.page}:{line}: it says {written} in {said!r}, and {value:,.10g} is right"


@cache
def _found(piece: str, text: str) -> list[re.Match[str]]:
    parts = [re.sub(r"(?:\\? |\\\n)+", r"\\s+", re.escape(part)) for part in piece.split(FIELD)]
    return list(re.finditer(_NUMBER.join(parts), text))


CHECKS: list[Stated] = []
"""All checks, as the modules of ``tests/stated`` list them."""


def states(page: str, *pieces: str, within: float = 0.0, long: bool = False) -> Callable[[Values], Values]:
    """Say that a function computes the numbers of a piece of a page, or of each of several with the same numbers."""

    def note(values: Values) -> Values:
        values = cache(values)
        CHECKS.extend(Stated(page, piece, values, within, long) for piece in pieces)
        return values

    return note


def worth(written: str) -> float:
    """The number that is written: with commas, as a power, or in words, of which some may be no number."""
    if not re.search(r"\d", written):
        found = [(_WORTH | _SCALES | _PARTS).get(word.removesuffix("s")) for word in written.lower().split()]
        return math.prod(number for number in found if number is not None)
    plain = written.replace(",", "").replace("\N{MINUS SIGN}", "-")
    base, power, raised = re.fullmatch(r"(.*?)(?:\^(\d+)|([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?", plain).groups("")
    return float(base) ** int((power + raised).translate(_SUPERSCRIPTS) or 1)


def agrees(written: str, value: float, within: float) -> bool:
    """Whether a value is what is written, to the digits that are shown or within a share of it."""
    shown = worth(written)
    if within:
        return abs(value - shown) <= within * abs(shown)
    plain, _, power = written.partition("e") if written[-1:].isdigit() else (written, "", "")
    decimals = len(plain.partition(".")[2]) - int(power or 0)
    return abs(value - shown) <= 0.5 * 10.0**-decimals + 1e-9 * abs(shown)

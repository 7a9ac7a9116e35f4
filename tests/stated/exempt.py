"""What has digits on a page and states no result: names, settings, places, formulas.  Each kind is listed here."""
# ruff: noqa: RUF001  # the paper's symbols

import re
from typing import NamedTuple

_MINUS = "\N{MINUS SIGN}"
_GREEK = "αδελπρσθγΔΓ"
_VARIABLE = rf"(?:[A-Z]{{1,4}}\d?|N_q|[b-hj-z]\d?|[{_GREEK}])[′'*²³⁴]*(?!\w)"
_BEGIN = r"(?<![\w.,])"
_WHOLE = r"\d+(?!\.?\d)"
_NUMBER = rf"[-{_MINUS}]?\d[\d,]*(?<!,)(?:\.\d+)?"
_LIST = rf"{_NUMBER}(?:(?:,| and| or| /|;| to) {_NUMBER})*(?![.\d]*\d)"
_PLACES = "[Tt]heorem|[Ll]emma|[Aa]ssumption|[Ss]ection|[Ee]quation|[Aa]lgorithm|[Cc]orollary|[Rr]emark|[Dd]efinition"
COMMIT = r"\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{7}\b"
"""Seven digits to the base 16, with a letter and a digit among them."""


class Kind(NamedTuple):
    """What is no result.

    what
        in words.
    example
        of it, in which no number is left.
    pattern
        of what is exempt.
    """

    what: str
    example: str
    pattern: str


KINDS = (
    Kind("code, which other tests run or resolve", "`rings(9, M)` and ``20``", r"`+[^`]+`+"),
    Kind("where links lead", "[one](docs/2.md)", r"\]\([^)]*\)"),
    Kind("lines of tables, and numbers of items", "1. one", r"^\s*\d+\.\s|^\s*\|[-| :]+\|$"),
    Kind(
        "how a directive of Sphinx is set",
        "::::{grid} 1 1 3 3",
        r"^:{3,}\{[\w-]+\}.*$|^:[\w-]+:.*$",
    ),
    Kind("numbers of headings", "## 2. A version", r"^#+ \d+\.(?!\d)"),
    Kind("powers and indices that are letters", "2<sup>k</sup>", r"\d*<su[bp]>.*?</su[bp]>"),
    Kind("sizes as names", "the grid of 12 x 12, and 8x8", r"(?<![\w.])\d+ ?[x×] ?\d+\b"),
    Kind(
        "names with a number in them",
        "2-JAO worlds, SHA-256, a 64-bit word, m3",
        r"\b\d+-[A-Za-z]+|\b[A-Z]+-\d+|\b[a-z]+\d+\b",
    ),
    Kind(
        "names of states, stages, worlds and their kin",
        "states 0 to 2 of world 3 with strength 0.75",
        r"\b(?:(?:state|stage|world|variant|population)s? \d{1,2}(?: and \d| to \d)?|strength \d(?:\.\d+)?)"
        r"(?![\d.,]*\d)",
    ),
    Kind(
        "fractions of whole numbers, with which probabilities and scales are set; results are decimals",
        "success 1/2, a bonus scaled by 1/400",
        r"(?<![\w.])\d+/\d+\b",
    ),
    Kind(
        "a symbol of the paper and the value that it is given",
        "H = 500, 1,000 and 2,000; λ = 0.5, p ≤ 1",
        rf"(?<![\w)]){_VARIABLE} ?[=<>≤≥∈] ?{_LIST}",
    ),
    Kind(
        "places in the paper",
        "Theorem 16 and Assumptions 4, 12 and 19, Figure 2",
        rf"\b(?:{_PLACES}|[Ff]igure|[Pp]roposition)\w* \d+(?:\.\d+)?(?:(?:,|,? and|,? to|,? or) \d+)*\b",
    ),
    Kind(
        "years, since four digits that count have a comma",
        "Jaksch, Ortner, Auer 2010",
        r"(?<![\w.,])(?:19|20)\d\d(?![\w,.]\d)\b",
    ),
    Kind(
        "versions of programs",
        "Python 3.11 and Gymnasium 0.29 and 1.x, 0.7.3",
        r"\bGymnasium \d[\d.]*\d(?: and \d\.x)?|\b3\.1\d\b|\b\d+\.\d+\.\d+\b",
    ),
    Kind("commits", "of commit 6e51e50", COMMIT),
    Kind("seeds of runs", "seeds 20 to 22, 30", rf"\bseeds? {_LIST}"),
    Kind(
        "the level of an interval",
        "a 95 % bootstrap interval",
        r"\b95 %(?= (?:bootstrap |confidence )?(?:intervals?|bands|quantile|within)\b|[,)\]])",
    ),
    Kind(
        "exit statuses", "exit 130 or 143, with 2 for a folder", r"\b(?:exit|status) \d+(?: or \d+)*|\bwith 2(?= for\b)"
    ),
    Kind("what the paper is quoted with", "the paper writes 1.2999", r"\bpaper (?:writes|says) \d[\d.,]*\d\b"),
    Kind("ports", "head-node:6379", r"\b[a-z-]+:\d{2,5}\b"),
    Kind("the range of rewards, and pairs of small numbers", "in [0, 1], at (8, 3)", r"[\[(]0, 1\]|\(\d, \d\)"),
    Kind(
        "formulas: a whole number and a variable with an operator between them",
        "1 − p, SA/4, K^2, 40/h², n - 1, M(M − 1)/2, Q × 2",
        rf"{_BEGIN}\d+ ?[/·×^+{_MINUS}-] ?[(√⌊]*{_VARIABLE}"
        rf"|(?<!\w){_VARIABLE}(?:[)⌋]* ?[/·×+{_MINUS}-] ?[(√]*|\^){_WHOLE}"
        rf"|\) ?[/·+{_MINUS}] ?{_WHOLE}|{_BEGIN}\d+ ?[/{_MINUS}] ?\(",
    ),
    Kind(
        "formulas: a whole number as a factor of variables",
        "160 λ², 34 D S √(A), 2N, 7 H1 L/√n, 256 (ε), 1 − 2N/m",
        rf"{_BEGIN}(?:\d+ ?[{_GREEK}]|\d+[A-Z]{{1,3}}\b|\d+ [A-Z]{{1,4}}\d?(?= ?[√/(]| [A-Z√]|[²³⁴])"
        rf"|\d+(?= \((?:\d+ [+]|[{_GREEK}])))"
        rf"|{_BEGIN}\d+ {_MINUS}(?= \N{{NO-BREAK SPACE}})|(?<=\N{{NO-BREAK SPACE}}) {_MINUS} {_WHOLE}",
    ),
    Kind(
        "formulas: whole numbers under roots, in logarithms, as arguments, and factors that are named",
        "√2 + 1)√Z, 1 + ln(n), S ln 2, 4 ln 2, f(1), the factor 2",
        rf"√\d+(?: \+ \d+\))?|{_BEGIN}\d+ [+{_MINUS}] ln|\bln \d+|{_BEGIN}\d+ ln(?: \d+)?\b"
        r"|\b[a-z]\(\d\)|\bfactor \d\b",
    ),
)
"""What kinds there are; they are tried in this order, and what one takes no other sees."""

IN_SENTENCES = Kind(
    "0, 1 and -1 in a sentence: ends of a scale, numbers of a thing, statuses or nothing; in a table they are results",
    "0 in a terminal state and 1 elsewhere, -1 for nothing",
    rf"(?<![\w.,])[-{_MINUS}]?[01](?![.,]?\w)(?! (?:%|point|of |in \d|to \d|more|less))",
)


def blank(text: str) -> str:
    """The text with a no-break space for every sign that is exempt, so that all else stays where it was."""
    is_row = re.match(r"\s*\|(?! E\d+ \|)", text)  # rows of errata are sentences
    for kind in KINDS if is_row else (*KINDS, IN_SENTENCES):
        text = re.sub(kind.pattern, _blanked, text, flags=re.MULTILINE)
    return text


def _blanked(match: re.Match[str]) -> str:
    return re.sub(r"\S", "\N{NO-BREAK SPACE}", match[0])

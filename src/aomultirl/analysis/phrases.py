"""Numbers and lists as sentences have them."""

import math
from collections.abc import Iterable, Sequence

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """A number as a sentence has it.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(3e12), number(float("inf"))
    ('0.1235', '12,346', '3.0 × 10¹²', 'infinite')
    """
    if not math.isfinite(value):
        return "unknown" if math.isnan(value) else "infinite"
    if abs(value) < 1000:
        return f"{value:.4g}"
    if abs(value) < 1e9:
        return f"{value:,.0f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa} \u00d7 10{str(int(exponent)).translate(RAISED)}"


def span(values: Iterable[int]) -> str:
    """One number where all are the same, from the least to the most otherwise."""
    found = sorted(set(values))
    return f"{found[0]:,}" if len(found) == 1 else f"{found[0]:,} to {found[-1]:,}"


def listed(parts: Sequence[str]) -> str:
    """Things as a sentence lists them.

    Examples
    --------
    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def counted(count: int, noun: str) -> str:
    """So many things, with an s where there is not one: "1 run", "2,000 runs"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def belief(share: float) -> str:
    """A belief in per cent; none is certain, so one that would be rounded to 100 % is said to be above 99.9 %.

    Examples
    --------
    >>> belief(0.5), belief(0.9994), belief(0.99999), belief(0.0)
    ('50.0 %', '99.9 %', 'over 99.9 %', '0.0 %')
    """
    return "over 99.9 %" if share >= 0.9995 else f"{100.0 * share:.1f} %"


def believed_world(number: int) -> str:
    """What people call a world that an agent believes in: w1, w2, ...; histories count from 0."""
    return f"w{number + 1}"

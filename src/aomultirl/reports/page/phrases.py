"""Numbers and lists as sentences have them."""

import math
from collections.abc import Iterable, Sequence

RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float) -> str:
    """A number as a sentence has it."""
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
    """As a sentence lists things."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

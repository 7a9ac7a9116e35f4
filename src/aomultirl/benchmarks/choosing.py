"""Which rows of the benchmark are asked for."""

from collections.abc import Sequence


def is_asked_for(name: str, only: Sequence[str]) -> bool:
    """Whether one of the words is in the name of a row, small or capital; every row is where there are no words.

    Examples
    --------
    >>> is_asked_for("planning S=16", ["PLAN", "cold"]), is_asked_for("planning S=16", ["cold"])
    (True, False)
    """
    return not only or any(word.lower() in name.lower() for word in only)

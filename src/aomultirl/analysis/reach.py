"""Within reach or not: what could not show itself in what was run neither holds nor fails."""

from typing import NamedTuple


class Reach(NamedTuple):
    """How long an experiment must be until what is claimed can show itself.

    needed
        the fewest after which it can.
    had
        how many were run.
    what
        what is counted, in words, such as "episodes of a world".
    """

    needed: int
    had: int
    what: str

    @property
    def is_short(self) -> bool:
        """Whether fewer were run than are needed."""
        return self.had < self.needed

    def __str__(self) -> str:
        return f"it takes {self.needed:,} {self.what} to show, and {self.had:,} were run"

"""A stream of one's own in one file: the worlds come one after the other, and then back again."""

from collections.abc import Sequence

from aomultirl.extending import Past, Stream

__all__ = ["pendulum"]


class pendulum(Stream):  # noqa: N801
    """World 0, 1, ..., M - 1, M - 2, ..., 1, and again, each for ``pause`` episodes."""

    def __init__(self, pause: int = 1) -> None:
        super().__init__()
        self.pause = pause

    def task(self, past: Sequence[Past]) -> int:
        turns = max(1, 2 * (len(self.models) - 1))
        place = len(past) // self.pause % turns
        return min(place, turns - place) if len(self.models) > 1 else 0

"""What one case of the benchmark measured."""

from typing import NamedTuple


class Record(NamedTuple):
    """Best CPU time of one call of each contender, in seconds.

    work: what one call does, in ``unit``; c_seconds: the fastest C, None without a compiler; numpy_seconds: NumPy
    or SciPy, None where neither can do the work; targets: ratios to reach, or our seconds where nobody else does the
    work; note: why a contender is missing.
    """

    name: str
    work: int
    unit: str
    ours_seconds: float
    c_seconds: float | None
    numpy_seconds: float | None
    c_target: float | None
    numpy_target: float | None
    note: str = ""
    seconds_target: float | None = None

    @property
    def rate(self) -> float:
        """Our work per second."""
        return self.work / self.ours_seconds

    @property
    def c_ratio(self) -> float | None:
        """Our speed over that of C."""
        return None if self.c_seconds is None else self.c_seconds / self.ours_seconds

    @property
    def numpy_ratio(self) -> float | None:
        """Our speed over that of NumPy."""
        return None if self.numpy_seconds is None else self.numpy_seconds / self.ours_seconds

    @property
    def missed(self) -> bool:
        """A ratio that was measured lies below its target, or our time above its own."""
        pairs = (self.c_ratio, self.c_target), (self.numpy_ratio, self.numpy_target)
        return self.too_long or any(
            ratio is not None and target is not None and ratio < target for ratio, target in pairs
        )

    @property
    def too_long(self) -> bool:
        """We took longer than we should."""
        return self.seconds_target is not None and self.ours_seconds > self.seconds_target

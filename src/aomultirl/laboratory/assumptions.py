"""Why the assumptions: what becomes of learners where the diameter or the hitting time is infinite, and why worlds are
separated by lambda and not by entropy.

A finite diameter is in :mod:`.diameter`, a finite hitting time in :mod:`.hitting_time`, the entropy pair (Appendix B)
in :mod:`.entropy`.
"""

from typing import NamedTuple

from aomultirl.experiments.executors import Executor
from aomultirl.laboratory import diameter, entropy, hitting_time
from aomultirl.laboratory.blocked_worlds import CourseSizes
from aomultirl.laboratory.findings import Findings, carry_out
from aomultirl.laboratory.hitting_time import GatheringSizes

KEY = 10
"""Of this experiment's randomness."""


class AssumptionSizes(NamedTuple):
    """How much is run and computed.

    courses, gathering: sizes of the claims on the diameter, and on the hitting time.
    longest: steps of the longest trajectories of the entropy pair.
    """

    courses: CourseSizes
    gathering: GatheringSizes
    longest: int


QUICK = AssumptionSizes(
    CourseSizes(levels=(0.75, 0.95), courses=4, slow=1, blocks=4),
    GatheringSizes(64, (1 / 512, 1 / 128, 1 / 32, 1.0), (4, 6, 8, 10), repetitions=4, judged=32),
    longest=8,
)
FULL = AssumptionSizes(
    CourseSizes(levels=(0.4, 0.55, 0.75, 0.95), courses=6, slow=2, blocks=4),
    GatheringSizes(160, (1 / 512, 1 / 256, 1 / 128, 1 / 64, 1 / 16, 1.0), (4, 6, 8, 10, 12), repetitions=20, judged=48),
    longest=10,
)


def measure(quick: bool, seed: int, executor: Executor) -> Findings:
    """All claims on the assumptions."""
    return measure_with(QUICK if quick else FULL, seed, executor)


def measure_with(sizes: AssumptionSizes, seed: int, executor: Executor) -> Findings:
    """The same, with other sizes than the two of :func:`measure`."""
    results = carry_out([*sizes.courses.tasks(), *sizes.gathering.tasks()], KEY, seed, executor)
    findings = diameter.measure(sizes.courses, results) + hitting_time.measure(sizes.gathering, results)
    return (findings + entropy.measure(sizes.longest)).of_group("assumptions")

"""What the optimism of :mod:`.optimism` plans with: counts, values and the learner's numbers, in one record."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.learning.row_layout import Layout
from aomultirl.learning.row_likelihoods import ENDS, Floats, Integers

SPENT, SALT = range(2)
"""Cells of a planner's ``state``."""
TOP, HIGHEST = range(2)
"""Cells of a planner's ``tops``."""
LENT, MEAN, HOPED, SQUARE = range(4)
"""Rows of a planner's ``leans``."""
NEXT, READY = range(2)
"""Cells of a planner's ``rotation``."""
ASKED, FOUND = range(2)
"""Rows of a planner's ``logs``."""


class Options(NamedTuple):
    """LEVEL, PACE, FUTURE, NOVELTY, the discount and BACKUPS of the formulas above, with one default for all worlds."""

    level: float = 0.3
    pace: float = 10.0
    future: float = 1.0
    novelty: float = 0.5
    discount: float = 0.98
    backups: int = 16


class Planner(NamedTuple):
    """What is planned with.

    starts, states
        where the transitions stand: (S * A + 1,) and (places,), as in a :class:`Layout`.
    counted
        (C, P), the counts of each hypothesis, at the places of transitions, ends and unknown rewards.
    mass
        (C, S * A), the visits of pairs in them.
    here, total
        counts of the episode: (P,) at the same places, and (S * A,) of pairs.
    rewards
        (S * A,), where they are known.
    sums
        (S * A,), rewards of the episode added up, where they are not known; else empty.
    levels
        (V,), what rewards are taken for where they are not known (:mod:`.reward_levels`).
    going_on
        (C, S), how often the episode goes on after an arrival.
    promise
        the value of a state of which nothing is known; where rewards are not known, ``top`` is at least this.
    values
        (C, S).
    tops
        (C, 2), TOP, the greatest that is hoped for, and the HIGHEST of this rotation.
    rotation
        (C, 2), NEXT, the state to be backed up after this, and READY: whether values were swept in this episode.
    lease
        (S,), visits that the entry of a state was good for when it was made.
    state
        steps SPENT, and the SALT of chance where actions promise the same.
    kinship
        KAPPA, visits that the average of a state's other actions is worth.
    logs
        (2, C, S * A), of each pair the last number that ln(1 + x) was ASKED of, and what was FOUND.
    marks, means, leans
        room to work in: (S + 1,); (A + 1,), where the last is ``hope``; (4, A), visits that a pair leans on, and their
        mean; how many more are hoped for; and the mean square of what the pair has led to.
    rest
        what each step that is left after the end is worth.
    horizon
        steps of an episode.
    later
        (C,), steps that are expected in later episodes of each world.
    options
        the learner's numbers.
    """

    starts: Integers
    states: NDArray[np.int32]
    counted: Floats
    mass: Floats
    here: Floats
    total: Integers
    rewards: Floats
    sums: Floats
    levels: Floats
    going_on: Floats
    promise: float
    values: Floats
    tops: Floats
    rotation: Integers
    lease: Integers
    state: Integers
    marks: Integers
    means: Floats
    leans: Floats
    logs: Floats
    kinship: float
    rest: float
    horizon: int
    later: Floats
    options: Options


def promise(rewards: NDArray[np.float64] | None, rest: float, discount: float) -> float:
    """The value of a state of which nothing is known: the greatest reward, again and again where rewards are known.

    Where they are not known, the greatest that there can be, 1, once, and then what nothing is worth.
    """
    if rewards is None:
        return 1.0 + discount * rest / (1.0 - discount)
    return float(rewards.max()) / (1.0 - discount)


def planner(
    layout: Layout,
    counted: Floats,
    rewards: Floats,
    horizon: int,
    options: Options,
    *,
    sums: Floats | None = None,
    values: Floats | None = None,
    rest: float = 0.0,
    salt: int = 0,
    later: Floats | None = None,
    kinship: float = 0.0,
) -> Planner:
    """To plan with in an episode that has shown nothing yet.

    Parameters
    ----------
    counted
        (C, P), the counts to plan with of each hypothesis.
    rewards
        (S, A); where they are not known, only the shape counts.
    sums
        (S * A,), to which the episode adds its rewards, where they are not known.
    values
        (C, S), where planning begins; by default with the promise.
    salt
        of chance where actions promise the same.
    later
        (C,), steps that are expected in later episodes of each world; none by default.
    kinship
        KAPPA.
    """
    n_states, n_actions = rewards.shape
    n_pairs, count = layout.n_pairs, len(counted)
    most = promise(rewards if sums is None else None, rest, options.discount)
    starts = layout.first[: n_pairs + 1].copy()
    ends = counted[:, starts[-1] : starts[-1] + 2 * n_states].reshape(count, n_states, 2)
    with np.errstate(invalid="ignore"):
        ending = np.where(ends[:, :, ENDS] > 0.0, ends[:, :, ENDS] / ends.sum(axis=2), 0.0)
    return Planner(
        starts=starts,
        states=layout.outcomes[: starts[-1]].copy(),
        counted=np.ascontiguousarray(counted),
        mass=np.add.reduceat(counted[:, : starts[-1]], starts[:-1], axis=1),
        here=np.zeros(len(layout.outcomes)),
        total=np.zeros(n_pairs, np.int64),
        rewards=np.array(rewards, np.float64).reshape(-1),
        sums=np.empty(0) if sums is None else sums,
        levels=layout.levels.copy(),
        going_on=1.0 - ending,
        promise=most,
        values=np.full((count, n_states), most) if values is None else np.array(values, np.float64),
        tops=np.full((count, 2), most),
        rotation=np.zeros((count, 2), np.int64),
        lease=np.ones(n_states, np.int64),
        state=np.array([0, salt], np.int64),
        marks=np.zeros(n_states + 1, np.int64),
        means=np.zeros(n_actions + 1),
        leans=np.zeros((4, n_actions)),
        logs=np.zeros((2, count, n_pairs)),
        kinship=kinship,
        rest=rest,
        horizon=horizon,
        later=np.zeros(count) if later is None else later,
        options=options,
    )

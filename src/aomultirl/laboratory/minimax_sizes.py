"""What is varied for the claims on the minimax regime, in a quick and in a full measurement."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from aomultirl.laboratory.minimax_tasks import (
    LEARNER,
    ORACLE,
    PLAIN,
    POOLED,
    RANDOM,
    RECALL,
    SEQUENTIAL,
    TREE,
    TWO_STATES,
    UCRL,
    Trial,
)

BLIND, LEARNING = (PLAIN, UCRL), (LEARNER, RECALL)
"""Agents that hardly learn anything within H steps, and agents that do."""
FORGETFUL = (PLAIN, UCRL, LEARNER, RANDOM)
"""Agents that keep nothing from one episode to the next."""
RANDOMLY = (PLAIN, POOLED)
"""Agents whose bonus is above its cap in all that is run here, so that they are :class:`Random` to the bit."""
LEAST, DISTANCE = 10, 20.0
"""S = A and D where they are not varied: the smallest of the lemma."""
SMALLEST = (2, 4, 8.0)
"""S, A and D of two actions and diameter 2, where UCRL2's bound is soonest below H."""
UCRL_CONSTANTS = (16.0, 32.0, 64.0, 128.0)
Point = tuple[int, int, float, int]
"""S, A, D, H."""


class Sizes(NamedTuple):
    """What is swept.

    episodes, told_episodes, many
        K, K of the agent that is told the task, and runs, of the sweep over K.
    runs, each
        runs, and episodes of a run, at every point of the other sweeps; a third of the runs for agents that hardly
        learn, whose regret is much the same in every one.
    horizons, diameters, pairs
        H; D; (S, A) in families of two states.
    states, actions
        S and A in trees.
    constants
        lambda / sqrt(SA / (HD)).
    long_horizons
        H for UCRL2 in the smallest family.
    thorough
        whether slow agents are in every sweep where they can be.
    """

    episodes: int
    told_episodes: int
    many: int
    runs: int
    each: int
    horizons: tuple[int, ...]
    diameters: tuple[float, ...]
    pairs: tuple[tuple[int, int], ...]
    states: tuple[int, ...]
    actions: tuple[int, ...]
    constants: tuple[float, ...]
    long_horizons: tuple[int, ...]
    thorough: bool


QUICK = Sizes(
    episodes=40,
    told_episodes=160,
    many=4,
    runs=12,
    each=1,
    horizons=(2000, 4000, 8000, 16_000, 32_000),
    diameters=(20.0, 40.0, 80.0, 120.0),
    pairs=((10, 10), (10, 20), (20, 20), (20, 40)),
    states=(10, 18, 33, 60),
    actions=(11, 17, 29, 51),
    constants=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    long_horizons=(40_000, 160_000, 640_000, 2_560_000),
    thorough=False,
)
FULL = Sizes(
    episodes=256,
    told_episodes=512,
    many=8,
    runs=24,
    each=2,
    horizons=(2000, 4000, 8000, 16_000, 32_000, 64_000),
    diameters=(20.0, 40.0, 80.0, 200.0),
    pairs=((10, 10), (10, 20), (20, 20), (20, 50)),
    states=(10, 20, 40, 100),
    actions=(11, 21, 51, 101),
    constants=(1.0, 2.0, 4.0, 8.0, 16.0, 32.0),
    long_horizons=(100_000, 300_000, 1_000_000, 3_000_000, 10_000_000),
    thorough=True,
)


class Sweep(NamedTuple):
    """figure, letter, axis: its name, what is varied, and the field of a trial; trials: in rows, by agent or by c."""

    figure: str
    letter: str
    axis: str
    rows: dict[str, tuple[Trial, ...]]

    def at(self, trial: Trial) -> float:
        """Where a trial is on the axis."""
        return float(trial.states * trial.actions if self.axis == "pairs" else getattr(trial, self.axis))

    def trials(self) -> list[Trial]:
        """All of them, the largest first."""
        return [trial for row in self.rows.values() for trial in reversed(row)]


def powers(sizes: Sizes) -> Iterator[Sweep]:
    """Over H, D, SA, S and A; H is nowhere below D S A."""
    agents = BLIND + _learning(sizes)
    with_slow = (*agents, SEQUENTIAL) if sizes.thorough else agents
    near = [(LEAST, LEAST, DISTANCE, horizon) for horizon in sizes.horizons]
    yield Sweep("minimax_horizon", "H", "horizon", _rows(sizes, with_slow, TWO_STATES, near))
    horizon = round(LEAST**2 * max(sizes.diameters))
    far = [(LEAST, LEAST, diameter, horizon) for diameter in sizes.diameters]
    yield Sweep("minimax_diameter", "D", "diameter", _rows(sizes, agents, TWO_STATES, far))
    horizon = round(DISTANCE * max(states * actions for states, actions in sizes.pairs))
    wide = [(states, actions, DISTANCE, horizon) for states, actions in sizes.pairs]
    some = (*BLIND, LEARNER) if sizes.thorough else BLIND
    yield Sweep("minimax_pairs", "SA", "pairs", _rows(sizes, some, TWO_STATES, wide))
    fewest, twice = min(sizes.actions), 2.0 * DISTANCE
    deep = [(states, fewest, twice, round(twice * max(sizes.states) * fewest)) for states in sizes.states]
    yield Sweep("minimax_states", "S", "states", _rows(sizes, agents, TREE, deep))
    horizon = round(DISTANCE * LEAST * max(sizes.actions))
    broad = [(LEAST, actions, DISTANCE, horizon) for actions in sizes.actions]
    yield Sweep("minimax_actions", "A", "actions", _rows(sizes, agents, TREE, broad))


def _learning(sizes: Sizes) -> tuple[str, ...]:
    return LEARNING if sizes.thorough else (LEARNER,)


def _rows(sizes: Sizes, agents: Sequence[str], family: str, points: Sequence[Point]) -> dict[str, tuple[Trial, ...]]:
    runs = {name: max(2, sizes.runs // 3) if name in BLIND else sizes.runs for name in agents}
    return {name: tuple(Trial(name, *point, runs[name], sizes.each, family) for point in points) for name in agents}


def over_episodes(sizes: Sizes) -> Sweep:
    """One trial an agent: K grows within a run."""
    point = (LEAST, LEAST, DISTANCE, min(sizes.horizons), sizes.many)
    agents = (*BLIND, RANDOM, *(LEARNING if sizes.thorough else (RECALL,)), SEQUENTIAL, POOLED)
    lengths = dict.fromkeys(agents, sizes.episodes) | {ORACLE: sizes.told_episodes}
    return Sweep("minimax_episodes", "K", "episodes", {name: (Trial(name, *point, k),) for name, k in lengths.items()})


def over_constants(sizes: Sizes) -> Sweep:
    """lambda = c sqrt(SA / (HD)) with other c."""
    point = (LEAST, LEAST, DISTANCE, max(sizes.horizons) // 2, sizes.runs, sizes.each, TWO_STATES)
    agents = BLIND + _learning(sizes)
    rows = {name: tuple(Trial(name, *point, one) for one in sizes.constants) for name in agents}
    return Sweep("minimax_constant", "c", "constant", rows)


def over_long_horizons(sizes: Sizes) -> Sweep:
    """UCRL2 in the smallest family, for several c."""
    rows = {
        f"c = {one:g}": tuple(
            Trial(UCRL, *SMALLEST, horizon, sizes.runs // 2, 1, TWO_STATES, one) for horizon in sizes.long_horizons
        )
        for one in UCRL_CONSTANTS
    }
    return Sweep("minimax_ucrl2", "H", "horizon", rows)

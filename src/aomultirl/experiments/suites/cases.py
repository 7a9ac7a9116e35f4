"""The rows of a suite: who plays where, which numbers are shown of it, and what they should reach."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from aomultirl import checks, plugins
from aomultirl.experiments.cells import Cell
from aomultirl.experiments.specification.expansion import Variant
from aomultirl.experiments.specification.world_facts import WorldFacts

STEPS, RUN, SHARE = "steps", "run", "share"
"""What a row aims at: steps on known worlds, the steps of a whole run, or a share of the optimal reward."""
SEEDED = {
    "diabolical_locks": "seed",
    "frozen_lakes": "seed",
    "icu_sepsis": "seed",
    "permuted_cliffs": "seed",
    "random_models": "rng",
    "rare_pair": "seed",
    "rings": "seed",
    "sparse_random": "seed",
}
"""Worlds that are another random set in every run, with the parameter that says which."""
SETS_A_SEED = 1000
"""Random sets of worlds that one seed has room for: run n of seed s meets set SETS_A_SEED * s + n."""
QUICK_RUNS, QUICK_SHARE, QUICK_LEAST = 2, 10, 8
"""A quick look is so many runs, of one episode in so many, and at least so many episodes."""


class Window(NamedTuple):
    """Episodes of a run that one column of the table is about.

    heading
        of the column.
    first
        how many episodes from the beginning; None for all of them.
    last_quarter
        whether only the last quarter of the run counts.
    """

    heading: str
    first: int | None = None
    last_quarter: bool = False

    def episodes(self, count: int) -> slice | None:
        """The episodes of a run of so many; None where the run is too short."""
        if self.last_quarter:
            return slice(count - max(1, count // 4), count)
        if self.first is None:
            return slice(0, count)
        return slice(0, self.first) if self.first <= count else None


class Target(NamedTuple):
    """What a number of a row should reach: at most so many steps, or at least so much reward.

    heading
        of the column that the number stands in.
    value
        in steps, in per cent of the optimal reward, or in the environment's own units.
    than
        the row of the same world that the number is compared with, by what it calls the agent; None to compare with
        nothing.  The number less ``times`` that of the other row should then reach the value, run by run.
    times
        what the number of the other row is multiplied by.
    """

    heading: str
    value: float
    than: str | None = None
    times: float = 1.0


@dataclass(frozen=True)
class SuiteCase:
    """One row of a suite: an agent, or a planner that knows the worlds, in a set of worlds.

    place
        the world, in words.
    told
        what the row calls the agent, or what the agent is told.
    world, stream, agent
        {"name", "parameters"} each, as in a cell; of a bed, ``world`` is its name and {"terminal"}.
    episodes, horizon
        K, and H in steps.
    aim
        what the targets are for: STEPS or RUN, both at most, or SHARE, at least.
    targets
        what the numbers should reach; empty where nothing is asked.
    windows
        the episodes that each column is about.
    reward_range
        (low, high) where rewards are shown as the mean reward of a life, in the environment's own units: those that the
        world's 0 and 1 stand for.  None where they are shown as a share of the optimum, in per cent.  Of a bed, the
        range of the reward of a step.
    is_planner
        whether ``agent`` names a function of :mod:`aomultirl.theory.known_worlds` in place of an agent: a ceiling.
    is_bed
        whether ``world`` names a bed of :mod:`aomultirl.experiments.beds` in place of worlds that we hold: the agent
        meets it through ``ao.interact``, and what is shown is the mean reward of an episode.
    most_worlds
        how many worlds an agent may believe in, as a multiple of those that there are; None where that is not judged.
    asks_worlds
        whether the agent is told what it needs of the worlds of each run, such as lambda (:class:`WorldFacts`).
    separation, pairs
        what the lower bound on steps is told; separation is None where the worlds are all known.
    """

    place: str
    told: str
    world: dict[str, Any]
    stream: dict[str, Any]
    agent: dict[str, Any]
    episodes: int
    horizon: int
    aim: str
    targets: tuple[Target, ...] = ()
    windows: tuple[Window, ...] = (Window("whole run"),)
    reward_range: tuple[float, float] | None = None
    is_planner: bool = False
    is_bed: bool = False
    most_worlds: float | None = None
    asks_worlds: bool = False
    separation: float | None = None
    pairs: tuple[tuple[int, int], ...] | None = None

    def world_of(self, seed: int, number: int) -> dict[str, Any]:
        """The worlds of one of its runs: a random set of their own where worlds are random."""
        if self.world["name"] not in SEEDED:
            return self.world
        chosen = {SEEDED[self.world["name"]]: SETS_A_SEED * seed + number}
        return {**self.world, "parameters": {**self.world["parameters"], **chosen}}

    def cell(self, seed: int, number: int) -> Cell:
        """One of its runs."""
        world, agent = self.world_of(seed, number), self.agent
        if self.asks_worlds:
            facts = WorldFacts(Variant("world", world["name"], world["parameters"]))
            agent = {**agent, "parameters": facts.told(Variant("agent", agent["name"], agent["parameters"]))}
        # A share needs nothing that has to be worked out after every episode.
        recorded: dict[str, Any] = {"record": ()} if self.aim == SHARE else {}
        return Cell(world, self.stream, agent, self.episodes, seed, number, self.told, **recorded)

    @property
    def clusters(self) -> bool:
        """Whether the agent sorts episodes into clusters."""
        return not self.is_planner and bool(getattr(plugins.find("agent", self.agent["name"]), "recognition", ""))

    @property
    def is_told(self) -> bool:
        """Whether the agent is told the world of every episode."""
        return not self.is_planner and "task" in getattr(plugins.find("agent", self.agent["name"]), "told", ())

    @property
    def target(self) -> float | None:
        """The value of the first target; None where nothing is asked."""
        return self.targets[0].value if self.targets else None


def shortened(case: SuiteCase, episodes: int) -> SuiteCase:
    """The same row with fewer episodes; an agent that divides them into epochs has no more of these than episodes."""
    agent, epochs = case.agent, case.agent["parameters"].get("epochs")
    if epochs is not None:
        agent = {**agent, "parameters": {**agent["parameters"], "epochs": min(epochs, float(episodes))}}
    return replace(case, episodes=episodes, agent=agent)


def quick(cases: Iterable[SuiteCase]) -> list[SuiteCase]:
    """The same rows with one episode in ten, and without targets, which are for whole runs."""
    return [
        replace(shortened(case, min(case.episodes, max(QUICK_LEAST, case.episodes // QUICK_SHARE))), targets=())
        for case in cases
    ]


Words = str | Sequence[str] | None
"""A word, or several of which one is enough; nothing asks for all."""


def pick(cases: Sequence[SuiteCase], only: Words = None, agent: Words = None) -> list[SuiteCase]:
    """The rows of the worlds that have a word of ``only`` in their names and of the agents with one of ``agent``, in
    any case.

    Raises
    ------
    ValueError
        a word names no row; the message names those that there are.
    """
    chosen = list(cases)
    for argument, field, words in (("only", "place", only), ("agent", "told", agent)):
        asked = [words] if isinstance(words, str) else list(words or ())
        there = list(dict.fromkeys(str(getattr(case, field)) for case in chosen))
        for word in asked:
            if not any(word.lower() in name.lower() for name in there):
                known = "; ".join(there)
                raise checks.Refusal(argument, f"is {checks.shown(word)}, which names no row; there are {known}")
        if asked:
            chosen = [case for case in chosen if any(word.lower() in getattr(case, field).lower() for word in asked)]
    return chosen

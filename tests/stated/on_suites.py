"""What the page on suites states: who meets which worlds for how long, and what can be reached there."""

import inspect
from functools import cache

import numpy as np

import aomultirl as ao
from aomultirl import theory
from aomultirl.cli import comparing
from aomultirl.experiments import suites
from aomultirl.experiments.suites import cases as sizes
from aomultirl.experiments.suites import entrants, short
from aomultirl.experiments.suites.players import QMDP
from stated.checks import states
from stated.computed import cases, kept
from stated.on_worlds import CLIFF_RANGE, REPORTED, TAXI_RANGE, in_own_units

SUITES = "docs/suites.md"


def horizons(suite, words):
    """Every H in the worlds whose names have these words, from the least on."""
    return sorted({case.horizon for case in cases(suite) if words in case.place})


def episodes(suite, words):
    """Every K there, in the order of the suite."""
    return list(dict.fromkeys(case.episodes for case in cases(suite) if words in case.place))


def sets(suite, words):
    """M there."""
    usual = inspect.signature(ao.worlds.frozen_lakes).parameters["models"].default
    (count,) = {case.world["parameters"].get("models", usual) for case in cases(suite) if words in case.place}
    return [count]


@cache
def lakes():
    """What can be earned by who is told nothing, as a share of the optimum, on the ten sets of three maps."""
    return [theory.told_nothing_optimum(ao.worlds.frozen_lakes(seed=seed), 100).share for seed in REPORTED]


@cache
def told_nothing(world, reward_range, horizon, seeds=(None,)):
    """The most that can be earned, told the world and told nothing, in the environment's own units."""
    sets = [world() if seed is None else world(seed=seed) for seed in seeds]
    found = [theory.told_nothing_optimum(models, horizon) for models in sets]
    return [
        in_own_units(np.mean(value), reward_range, horizon)
        for value in zip(*((one.optimum, one.reward) for one in found), strict=True)
    ]


CLIFFS = ao.worlds.permuted_cliffs, CLIFF_RANGE, 100, tuple(REPORTED)
TAXIS = ao.worlds.swapped_taxis, TAXI_RANGE, 200


def asked(place, heading):
    """What a row of the suite of short lives should reach."""
    (value,) = {
        target.value
        for case in cases("short")
        for target in case.targets
        if case.place == place and case.told == "Recall" and target.heading == heading and target.than is None
    }
    return value


ROWS = {
    "| rings, λ = 1 and 0.5, M = 4 and 8 | `rings(9, M, λ)`: both actions do opposite things, and worlds disagree "
    "which does what; a learner that takes all worlds for one has nothing to learn | {}; {} for λ = 0.5 | {} |": (
        lambda: [*horizons("hard", "rings"), *episodes("hard", "rings")]
    ),
    "the paper's hard worlds | {} | {} |": lambda: [*horizons("hard", "2-JAO"), *episodes("hard", "2-JAO")],
    "lies far upstream | {} | {} |": lambda: [*horizons("hard", "rivers"), *episodes("hard", "rivers")],
    "| FrozenLake 8x8, {} maps | `frozen_lakes()`: a random set of maps in every run | {} |": (
        lambda: [*sets("short", "8x8, 3 maps"), *horizons("short", "8x8, 3 maps")]
    ),
    "slippery; {} maps, slippery | `frozen_lakes(slippery=True)`, `frozen_lakes(4, slippery=True)` | {} |": (
        lambda: [*sets("short", "4 maps"), *horizons("short", "slippery")]
    ),
    "| doors with a sign | `doors()` | {} |": lambda: horizons("short", "doors"),
    "| sparse random | `sparse_random()` | {}, {}, {} |": lambda: horizons("short", "sparse"),
    "units; the optimum is {} | {} | | Taxi": lambda: [told_nothing(*CLIFFS)[0], *horizons("short", "cliff")],
    "one passenger, in the environment's own units; the optimum is {} | {} |": (
        lambda: [told_nothing(*TAXIS)[0], *horizons("short", "Taxi")]
    ),
    '`gridworld()`, `gridworld(edges="stay")` | {} to {} |': lambda: horizons("reward", "grid, third")[::3],
    "| grid 8x8; grid 12x12 | `gridworld(8)`, `gridworld(12)` | {}, {} |": lambda: horizons("reward", "grid 8x8"),
    "| rare pair | `rare_pair()` | {}, {} |": lambda: horizons("reward", "rare pair"),
    '| FrozenLake 8x8, {} maps, restarting | `frozen_lakes(4, terminal="restart")` | {}, {} |': (
        lambda: [*sets("reward", "FrozenLake"), *horizons("reward", "FrozenLake")]
    ),
    "| random, {} | `random_models(16, 4, 6, 5, 1.0)` | {} to {} |": lambda: [1, *horizons("reward", "random, 1")[::3]],
    "`random_models(200, 4, 10, 5, 0.5)` | {} |": lambda: horizons("reward", "S = 200"),
    "| `icu_sepsis(3, 1.0)` | {}; {} | {}; {} |": (
        lambda: [*horizons("large", "strength 1, H")[::-1], *episodes("large", "strength 1, H")]
    ),
    "| `icu_sepsis(3, 0.75)` | {} | {} |": lambda: [*horizons("large", "0.75"), *episodes("large", "0.75")],
    "the share of the patients who survive | {} | {} |": lambda: [
        *horizons("large", "patient"),
        *episodes("large", "patient"),
    ],
    "a uniform stream, {} lives | the first {}, the first {} and the last quarter": (
        lambda: [short.EPISODES, short.FIRST.first, short.MORE.first]
    ),
    "| `--runs N` | of every row, {} by default |": lambda: [comparing.RUNS],
    "| `--quick` | {} runs of {} of the episodes;": lambda: [sizes.QUICK_RUNS, 1 / sizes.QUICK_SHARE],
    "in episodes of {} steps and more": lambda: [entrants.LEAST_EVIDENCE],
    "have the seed {} (f + s) + n": lambda: [suites.SETS_A_SEED],
    "where f is {} for reports and": lambda: [suites.FIRST_SEEDS["short"]["reporting"]],
    "| FrozenLake 8x8, 3 maps | {} |": lambda: [100.0 * np.mean(lakes())],
    "| the same, slippery | | {} |": lambda: [
        np.mean(kept("short", "FrozenLake 8x8, 3 maps, slippery", QMDP, "last quarter"))
    ],
    "| 4 maps, slippery | | {} |": lambda: [
        np.mean(kept("short", "FrozenLake 8x8, 4 maps, slippery", QMDP, "last quarter"))
    ],
    "| cliff, reward a life | {} |": lambda: told_nothing(*CLIFFS)[1:],
    "| Taxi, reward a life | {} |": lambda: told_nothing(*TAXIS)[1:],
    "Of the {} sets of {} maps {} have no way to the goal that is safe on all {}:": lambda: [
        len(lakes()),
        *sets("short", "FrozenLake 8x8, 3 maps"),
        np.isclose(lakes(), 2 / 3).sum(),
        *sets("short", "FrozenLake 8x8, 3 maps"),
    ],
    "So the {} runs that are reported by default": lambda: [comparing.RUNS],
    "and {} % of the optimum in the last quarter cannot be had; nor can {} % after {} lives": (
        lambda: [
            asked("FrozenLake 8x8, 3 maps", "last quarter"),
            asked("FrozenLake 8x8, 3 maps", "K = 1,000"),
            short.MORE.first,
        ]
    ),
    "costs {} more than the optimum, so that {} is the most, and not {}.": (
        lambda: [
            told_nothing(*TAXIS)[0] - told_nothing(*TAXIS)[1],
            told_nothing(*TAXIS)[1],
            asked("Taxi, reward a life", "last quarter"),
        ]
    ),
}
for piece, values in ROWS.items():
    states(SUITES, piece)(values)

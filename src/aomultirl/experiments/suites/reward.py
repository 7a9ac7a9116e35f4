"""The suite ``reward``: long episodes, which agents are told nothing of."""

from typing import Any

from aomultirl.experiments.suites.cases import SuiteCase, Target, Window
from aomultirl.experiments.suites.scenes import Scene, world

HORIZONS = (500, 1_000, 2_000, 20_000)
"""Steps of an episode, one column each."""
EPISODES = 200
GRIDS = ("third", "stay")
MOST_WORLDS = 2.0
"""Worlds that an agent may believe in, as a multiple of those that there are."""


def reward_suite() -> list[SuiteCase]:
    """The share of the optimal reward over whole episodes, for agents and horizons."""
    cases = []
    for edges in GRIDS:
        targets = {500: 97.5, 1_000: 92.0, 2_000: 99.4, 20_000: 99.7}
        cases += _rows(f"grid, {edges}", world("gridworld", edges=edges), targets)
    cases += _rows("grid 8x8", world("gridworld", size=8), {500: 92.0, 2_000: 97.5})
    cases += _rows("grid 12x12", world("gridworld", size=12), {500: 85.0, 2_000: 95.0})
    cases += _rows("rare pair", world("rare_pair"), {500: 85.0, 2_000: 93.0})
    lakes = world("frozen_lakes", models=4, terminal="restart")
    cases += _rows("FrozenLake 8x8, 4 maps, restarting", lakes, {500: 75.0, 2_000: 92.0}, is_deterministic=True)
    sizes: dict[str, Any] = {"states": 16, "actions": 4, "models": 6, "successors": 5, "separation": 1.0}
    targets = {500: 80.0, 1_000: 92.0, 2_000: 98.0, 20_000: 99.7}
    cases += _rows("random, 1", world("random_models", **sizes), targets)
    sizes = {"states": 200, "actions": 4, "models": 10, "successors": 5, "separation": 0.5}
    cases += _rows("random, S = 200, M = 10, 0.5", world("random_models", **sizes), {1_000: 99.0})
    return cases


def _rows(
    place: str, worlds: dict[str, Any], targets: dict[int, float], is_deterministic: bool = False
) -> list[SuiteCase]:
    """The rows of a set of worlds, for every horizon that has a target."""
    rows = []
    for horizon, target in targets.items():
        column = Window(f"H = {horizon:,}")
        scene = Scene(
            place=place,
            world=worlds,
            horizon=horizon,
            episodes=EPISODES,
            windows=(column,),
            targets=(Target(column.heading, target),),
            stream="paper",
            is_deterministic=is_deterministic,
            most_worlds=MOST_WORLDS,
        )
        rows += scene.cases()
    return rows

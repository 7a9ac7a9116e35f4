"""The suite ``short``: one short life an episode, and rewards that nobody knows."""

from typing import Any

from aomultirl.experiments.suites.cases import SuiteCase, Target, Window
from aomultirl.experiments.suites.players import QMDP
from aomultirl.experiments.suites.scenes import Scene, world
from aomultirl.worlds.permuted_cliffs import REWARD_RANGE as CLIFF_RANGE
from aomultirl.worlds.swapped_taxis import REWARD_RANGE as TAXI_RANGE

EPISODES = 5_000
FIRST, MORE, LAST = Window("K = 200", 200), Window("K = 1,000", 1_000), Window("last quarter", last_quarter=True)
"""The three columns, all of one run: from its beginning, and once there is little more to learn."""


def short_suite() -> list[SuiteCase]:
    """What many short lives earn: after 200 and 1,000 of them, and in the last quarter of 5,000."""
    lakes = "FrozenLake 8x8, 3 maps"
    scenes = [
        _scene(lakes, world("frozen_lakes"), 100, (50.0, 85.0, 98.0), is_deterministic=True),
        _scene(
            f"{lakes}, slippery",
            world("frozen_lakes", slippery=True),
            100,
            (8.0, 30.0, None),
            (Target(LAST.heading, 0.0, QMDP, 0.95),),
        ),
        _scene(
            "FrozenLake 8x8, 4 maps, slippery",
            world("frozen_lakes", models=4, slippery=True),
            100,
            (None, None, None),
            (Target(LAST.heading, 0.0, QMDP, 0.9),),
        ),
        _scene("doors with a sign", world("doors"), 10, (55.0, 84.0, 89.0)),
        *(
            _scene(f"sparse random, H = {horizon}", world("sparse_random"), horizon, (None, None, last))
            for horizon, last in ((10, 87.0), (30, 95.0), (100, 98.0))
        ),
        _scene(
            "cliff, reward a life",
            world("permuted_cliffs"),
            100,
            (None, -18.0, -14.2),
            is_deterministic=True,
            reward_range=CLIFF_RANGE,
        ),
        _scene(
            "Taxi, reward a life",
            world("swapped_taxis"),
            200,
            (None, None, 6.5),
            is_deterministic=True,
            reward_range=TAXI_RANGE,
        ),
    ]
    return [case for scene in scenes for case in scene.cases()]


def _scene(
    place: str,
    worlds: dict[str, Any],
    horizon: int,
    reached: tuple[float | None, float | None, float | None],
    further: tuple[Target, ...] = (),
    **settings: Any,
) -> Scene:
    """A set of worlds with what should be reached in each of the three columns, and further targets."""
    columns = (FIRST, MORE, LAST)
    own = [Target(column.heading, value) for column, value in zip(columns, reached, strict=True) if value is not None]
    return Scene(
        place=place,
        world=worlds,
        horizon=horizon,
        episodes=EPISODES,
        windows=columns,
        targets=(*own, *further),
        rewards="unknown",
        everybody=True,
        **settings,
    )

"""The hidden variants of every bed; other people's packages are imported where an environment of theirs is made."""

import math
from collections.abc import Sequence
from copy import deepcopy
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from aomultirl.experiments.beds.bed import Environment
from aomultirl.experiments.beds.wrappers import NumberedEnvironment, SeededAnyMDP, SwappedActions

SWAPPED_FOUR = [[0, 1, 2, 3], [2, 1, 0, 3], [0, 3, 2, 1], [2, 3, 0, 1]]
"""Orders of four moves that go around the compass: as they are, one pair of opposites swapped, the other, and both."""


def _newest(name: str) -> str:
    """The id of the newest version of an environment; Gymnasium drops old ones."""
    versions = [each for each in gym.registry if each.startswith(f"{name}-v")]
    return max(versions, key=lambda each: int(each.rpartition("-v")[2]))


def taxi() -> list[Environment]:
    """Taxi of Gymnasium, with one pair of opposite moves swapped, the other, both, or none."""
    orders = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]]  # south, north, east, west
    return [SwappedActions(gym.make(_newest("Taxi")), order) for order in orders]


def empty_grids() -> list[Environment]:
    """An empty room of MiniGrid, with left and right as they are, and swapped."""
    import minigrid  # noqa: F401  registers its environments

    def pose(env: Any, _: Any) -> int:
        (x, y), direction = env.unwrapped.agent_pos, env.unwrapped.agent_dir
        return int((x * 6 + y) * 4 + direction)

    made: list[Environment] = []
    for order in ([0, 1, 2], [1, 0, 2]):  # left, right, forward
        env = gym.make("MiniGrid-Empty-6x6-v0", disable_env_checker=True)
        env.unwrapped.gen_obs = dict  # type: ignore[attr-defined]  # the image, which nobody looks at, takes most of a step
        made.append(NumberedEnvironment(env, 6 * 6 * 4, pose, order))
    return made


def swapped_classics(name: str) -> list[Environment]:
    """An environment of gym-classics with four moves, in the orders of SWAPPED_FOUR."""
    import gym_classics

    if name not in gym.registry:
        gym_classics.register("gymnasium")
    return [SwappedActions(gym.make(name), order) for order in SWAPPED_FOUR]


def _rddl(domain: str, instances: Sequence[str]) -> list[Any]:
    import pyRDDLGym

    return [pyRDDLGym.make(domain, instance) for instance in instances]


def games_of_life() -> list[Environment]:
    """Three instances of GameOfLife, whose cells are noisy in different ways; a state is which of 9 cells live."""

    def alive(_: Any, shown: dict[str, Any]) -> int:
        return int(sum(bool(cell) << place for place, cell in enumerate(shown.values())))

    envs = _rddl("GameOfLife_MDP_ippc2011", ["1", "2", "3"])
    actions = [{}, *({cell: 1} for cell in envs[0].action_space)]
    return [NumberedEnvironment(env, 2**9, alive, actions) for env in envs]


def crossings() -> list[Environment]:
    """Two instances of CrossingTraffic, each as it is and with north and south swapped."""

    def robot_and_cars(_: Any, shown: dict[str, Any]) -> int:
        robot = next((i for i in range(9) if shown[f"robot-at___x{i // 3 + 1}__y{i % 3 + 1}"]), 9)
        cars = sum(bool(shown[f"obstacle-at___x{x}__y2"]) << (x - 1) for x in (1, 2, 3))
        return int(robot * 8 + cars)

    moves = [{}, *({f"move-{way}": 1} for way in ("north", "south", "east", "west"))]
    mirrored = [moves[0], moves[2], moves[1], moves[3], moves[4]]
    envs = _rddl("CrossingTraffic_MDP_ippc2011", ["1", "2", "1", "2"])
    named = zip(envs, (moves, moves, mirrored, mirrored), strict=True)
    return [NumberedEnvironment(env, 80, robot_and_cars, actions) for env, actions in named]


def _ns_gym(wrapper: str, name: str, chances: Sequence[list[float]], **options: Any) -> list[Environment]:
    import ns_gym

    def state(_: Any, shown: Any) -> int:
        return int(shown["state"] if isinstance(shown, dict) else getattr(shown, "state", shown))

    made: list[Environment] = []
    for chance in chances:
        env = gym.make(name, **options)
        never = ns_gym.update_functions.DistributionNoUpdate(ns_gym.schedulers.ContinuousScheduler(start=math.inf))
        hidden = getattr(ns_gym.wrappers, wrapper)(env, {"P": never}, initial_prob_dist=chance)
        made.append(NumberedEnvironment(hidden, int(env.observation_space.n), state, range(4)))  # type: ignore[attr-defined]
    return made


def frozen_lakes() -> list[Environment]:
    """The lake of ns-gym, on which a move mostly leads to its left, ahead, or to its right."""
    chances = [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    return _ns_gym("NSFrozenLakeWrapper", _newest("FrozenLake"), chances, is_slippery=False)


def cliffs() -> list[Environment]:
    """The cliff of ns-gym, on which a move mostly leads ahead, or to one of its sides."""
    chances = [[0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], [0.01, 0.01, 0.97, 0.01]]
    return _ns_gym("NSCliffWalkingWrapper", _newest("CliffWalking"), chances)


ANYMDP_RANGE = (-12.5, 2.5)
"""Range that rewards of AnyMDP are cut to: its noise has no bounds.  Means here lie in [-11.7, 2.1]."""


@cache
def _anymdp_task(seed: int) -> Any:
    """A task of AnyMDP, which takes seconds to find."""
    from xenoverse.anymdp import AnyMDPTaskSampler

    np.random.seed(seed)  # noqa: NPY002  the generator that AnyMDP draws from
    return AnyMDPTaskSampler(state_space=16, action_space=4, min_state_space=16, seed=seed)


def anymdp_tasks() -> list[Environment]:
    """Three tasks of AnyMDP with 16 states, which share nothing but their sizes."""
    from xenoverse.anymdp import AnyMDPEnv

    made: list[Environment] = []
    for seed in (1, 2, 3):
        env = AnyMDPEnv(max_steps=10_000)
        env.set_task(deepcopy(_anymdp_task(seed)))
        made.append(SeededAnyMDP(env, *ANYMDP_RANGE))
    return made

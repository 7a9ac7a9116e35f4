"""The beds: whose environments they are, what is hidden in them, and how long they are met."""

import math
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

import gymnasium as gym
import numpy as np

from beds.wrappers import Numbered, SeededAnyMDP, SwappedActions

Environment = gym.Env[Any, Any]


@dataclass(frozen=True)
class Bed:
    """A bed.

    name
        of the environment.
    package
        that it comes from, as PyPI calls it.
    hidden
        what differs between the variants, in a few words.
    variants
        makes the hidden variants, anew at each call.
    reward_range
        (low, high) of the reward of a step.
    best
        more than anybody can earn in a life: where optimistic Q-learning starts.
    life
        steps of a life, at most.
    lives
        episodes of one life each.
    long
        steps of an episode with restarts.
    episodes
        episodes with restarts.
    """

    name: str
    package: str
    hidden: str
    variants: Callable[[], list[Environment]]
    reward_range: tuple[float, float]
    best: float
    life: int
    lives: int
    long: int
    episodes: int

    def steps(self, life: str) -> int:
        """Steps of an episode, at most, where ``life`` is "end" or "restart"."""
        return self.life if life == "end" else self.long

    def count(self, life: str, quick: bool) -> int:
        """How many episodes there are; a fifth of them where it must be quick."""
        episodes = self.lives if life == "end" else self.episodes
        return max(episodes // 5, 4) if quick else episodes


SWAPPED_FOUR = [[0, 1, 2, 3], [2, 1, 0, 3], [0, 3, 2, 1], [2, 3, 0, 1]]
"""Orders of four moves that go around the compass: as they are, one pair of opposites swapped, the other, and both."""


def _newest(name: str) -> str:
    """The id of the newest version of an environment; Gymnasium drops old ones."""
    versions = [each for each in gym.registry if each.startswith(f"{name}-v")]
    return max(versions, key=lambda each: int(each.rpartition("-v")[2]))


def _taxi() -> list[Environment]:
    orders = [[0, 1, 2, 3], [1, 0, 2, 3], [0, 1, 3, 2], [1, 0, 3, 2]]  # south, north, east, west
    return [SwappedActions(gym.make(_newest("Taxi")), order) for order in orders]


def _minigrid() -> list[Environment]:
    import minigrid  # noqa: F401  registers its environments

    def pose(env: Any, _: Any) -> int:
        (x, y), direction = env.unwrapped.agent_pos, env.unwrapped.agent_dir
        return int((x * 6 + y) * 4 + direction)

    made: list[Environment] = []
    for order in ([0, 1, 2], [1, 0, 2]):  # left, right, forward
        env = gym.make("MiniGrid-Empty-6x6-v0", disable_env_checker=True)
        env.unwrapped.gen_obs = dict  # type: ignore[attr-defined]  # the image, which nobody looks at, takes most of a step
        made.append(Numbered(env, 6 * 6 * 4, pose, order))
    return made


def _gym_classics(name: str) -> list[Environment]:
    import gym_classics

    if name not in gym.registry:
        gym_classics.register("gymnasium")
    return [SwappedActions(gym.make(name), order) for order in SWAPPED_FOUR]


def _rddl(domain: str, instances: Sequence[str]) -> list[Any]:
    import pyRDDLGym

    return [pyRDDLGym.make(domain, instance) for instance in instances]


def _game_of_life() -> list[Environment]:
    def alive(_: Any, shown: dict[str, Any]) -> int:
        return int(sum(bool(cell) << place for place, cell in enumerate(shown.values())))

    envs = _rddl("GameOfLife_MDP_ippc2011", ["1", "2", "3"])
    actions = [{}, *({cell: 1} for cell in envs[0].action_space)]
    return [Numbered(env, 2**9, alive, actions) for env in envs]


def _crossing_traffic() -> list[Environment]:
    def robot_and_cars(_: Any, shown: dict[str, Any]) -> int:
        robot = next((i for i in range(9) if shown[f"robot-at___x{i // 3 + 1}__y{i % 3 + 1}"]), 9)
        cars = sum(bool(shown[f"obstacle-at___x{x}__y2"]) << (x - 1) for x in (1, 2, 3))
        return int(robot * 8 + cars)

    moves = [{}, *({f"move-{way}": 1} for way in ("north", "south", "east", "west"))]
    mirrored = [moves[0], moves[2], moves[1], moves[3], moves[4]]
    envs = _rddl("CrossingTraffic_MDP_ippc2011", ["1", "2", "1", "2"])
    named = zip(envs, (moves, moves, mirrored, mirrored), strict=True)
    return [Numbered(env, 80, robot_and_cars, actions) for env, actions in named]


def _ns_gym(wrapper: str, name: str, chances: Sequence[list[float]], **options: Any) -> list[Environment]:
    import ns_gym

    def state(_: Any, shown: Any) -> int:
        return int(shown["state"] if isinstance(shown, dict) else getattr(shown, "state", shown))

    made: list[Environment] = []
    for chance in chances:
        env = gym.make(name, **options)
        never = ns_gym.update_functions.DistributionNoUpdate(ns_gym.schedulers.ContinuousScheduler(start=math.inf))
        hidden = getattr(ns_gym.wrappers, wrapper)(env, {"P": never}, initial_prob_dist=chance)
        made.append(Numbered(hidden, int(env.observation_space.n), state, range(4)))  # type: ignore[attr-defined]
    return made


def _frozen_lake() -> list[Environment]:
    chances = [[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.05, 0.9]]
    return _ns_gym("NSFrozenLakeWrapper", _newest("FrozenLake"), chances, is_slippery=False)


def _cliff_walking() -> list[Environment]:
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


def _anymdp() -> list[Environment]:
    from xenoverse.anymdp import AnyMDPEnv

    made: list[Environment] = []
    for seed in (1, 2, 3):
        env = AnyMDPEnv(max_steps=10_000)
        env.set_task(deepcopy(_anymdp_task(seed)))
        made.append(SeededAnyMDP(env, *ANYMDP_RANGE))
    return made


BEDS = [
    Bed(
        name="Taxi",
        package="gymnasium",
        hidden="which moves are swapped",
        variants=_taxi,
        reward_range=(-10, 20),
        best=20,
        life=200,
        lives=100,
        long=1000,
        episodes=20,
    ),
    Bed(
        name="MiniGrid-Empty-6x6",
        package="minigrid",
        hidden="whether the turns are swapped",
        variants=_minigrid,
        reward_range=(0, 1),
        best=1,
        life=100,
        lives=60,
        long=500,
        episodes=15,
    ),
    Bed(
        name="DynaMaze",
        package="gym-classics",
        hidden="which moves are swapped",
        variants=lambda: _gym_classics("DynaMaze-v0"),
        reward_range=(0, 1),
        best=1,
        life=200,
        lives=100,
        long=1000,
        episodes=20,
    ),
    Bed(
        name="WindyGridworld",
        package="gym-classics",
        hidden="which moves are swapped",
        variants=lambda: _gym_classics("WindyGridworld-v0"),
        reward_range=(-1, 0),
        best=0,
        life=200,
        lives=100,
        long=1000,
        episodes=20,
    ),
    Bed(
        name="GameOfLife",
        package="pyRDDLGym",
        hidden="how noisy each cell is",
        variants=_game_of_life,
        reward_range=(-1, 9),
        best=360,
        life=40,
        lives=60,
        long=400,
        episodes=8,
    ),
    Bed(
        name="CrossingTraffic",
        package="pyRDDLGym",
        hidden="how dense traffic is, and whether north is south",
        variants=_crossing_traffic,
        reward_range=(-1, 0),
        best=0,
        life=40,
        lives=60,
        long=400,
        episodes=8,
    ),
    Bed(
        name="FrozenLake",
        package="ns-gym",
        hidden="where a move mostly leads",
        variants=_frozen_lake,
        reward_range=(0, 1),
        best=1,
        life=100,
        lives=120,
        long=500,
        episodes=15,
    ),
    Bed(
        name="CliffWalking",
        package="ns-gym",
        hidden="where a move mostly leads",
        variants=_cliff_walking,
        reward_range=(-100, 0),
        best=0,
        life=100,
        lives=60,
        long=500,
        episodes=15,
    ),
    Bed(
        name="AnyMDP",
        package="xenoverse",
        hidden="everything, the rewards too",
        variants=_anymdp,
        reward_range=ANYMDP_RANGE,
        best=20,
        life=100,
        lives=60,
        long=500,
        episodes=20,
    ),
]

"""How the defaults of Q-learning, PSRL and the mixture were chosen: a plain grid over a few development worlds.

    python examples/tuning/peers.py QLearning

prints every combination with what it earned, best last: for each world 0 is what acting at random earns and 1 the
optimum of the task, averaged over episodes and seeds.  The worlds and seeds here serve for nothing else: they are not
the paper's grids, and no result is reported on them.
"""

import sys
from collections.abc import Callable, Iterator
from itertools import product
from typing import NamedTuple

import gymnasium as gym
import numpy as np
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

import aomultirl as ao

SEEDS = (9001, 9002, 9003)
"""Of the runs."""
GRIDS = {
    "QLearning": {
        "epsilon": (0.0, 0.01, 0.03),
        "optimism": (0.0, 0.5, 1.0, 2.0),
        "rate": (0.1, 0.3),
        "discount": (0.98, 0.99),
    },
    "PSRL": {
        "prior": (0.03, 0.1, 0.3, 1.0),
        "reward_prior": (0.003, 0.01, 0.03, 0.3),
        "discount": (0.98, 0.99),
    },
    "MixtureOfMDPs": {
        "concentration": (0.3, 1.0, 5.0),
        "prior": (0.1, 1.0),
    },
}
"""The values that are tried, all combinations of them."""


class Development(NamedTuple):
    """A task that constants are chosen on.

    name
        what the table calls it.
    models
        its hidden worlds.
    horizon
        H.
    episodes
        K.
    form
        how a learner meets it: ``ao.agents.Pooled`` where there is one world, ``ao.agents.OneEpisode`` where episodes
        are long.
    noisy
        whether rewards are 0 or 1 with their mean.
    """

    name: str
    models: ao.ModelSet
    horizon: int
    episodes: int
    form: Callable[..., ao.agents.Agent]
    noisy: bool = False


def lakes(seeds: tuple[int, ...], size: int, slippery: bool, terminal: str) -> ao.ModelSet:
    """One world for each map of FrozenLake that is drawn with these seeds."""
    maps = [generate_random_map(size, p=0.85, seed=seed) for seed in seeds]
    envs = [gym.make("FrozenLake-v1", desc=each, is_slippery=slippery) for each in maps]
    return ao.worlds.from_gymnasium(envs, terminal=terminal, rewards="arrival")


def cliff() -> ao.ModelSet:
    """The cliff, on which it sometimes slips."""
    env = gym.make("CliffWalking-v1", is_slippery=True)
    return ao.worlds.from_gymnasium(env, terminal="end", rescale=True)


def single_worlds() -> Iterator[Development]:
    """What learners are tried on: one world each."""
    pooled, alone = ao.agents.Pooled, ao.agents.OneEpisode
    yield Development("lake 6x6, lives", lakes((9011,), 6, False, "end"), 100, 300, pooled)
    yield Development("lake 7x7, lives", lakes((9012,), 7, False, "end"), 100, 300, pooled)
    yield Development("slippery lake 5x5, lives", lakes((9013,), 5, True, "end"), 100, 500, pooled)
    yield Development("slippery cliff, lives", cliff(), 100, 300, pooled)
    yield Development("lake 5x5, restarting", lakes((9016,), 5, False, "restart"), 500, 40, pooled)
    yield Development("lake 5x5, restarting, alone", lakes((9014,), 5, False, "restart"), 1000, 20, alone)
    yield Development("random S = 12, alone", ao.worlds.random_models(12, 4, 1, 3, 0.5, 9015), 1000, 20, alone)
    yield Development(
        "noisy rewards, S = 8", ao.worlds.random_models(8, 4, 1, 3, 0.5, 9017), 100, 60, pooled, noisy=True
    )


def hidden_worlds() -> Iterator[Development]:
    """What agents are tried on: several worlds each, and nobody says which."""
    yield Development("3 lakes 5x5, lives", lakes((9021, 9022, 9023), 5, False, "end"), 100, 400, ao.agents.Pooled)
    yield Development("3 slippery lakes 4x4", lakes((9031, 9032, 9033), 4, True, "end"), 100, 400, ao.agents.Pooled)
    yield Development(
        "3 lakes 5x5, restarting", lakes((9041, 9042, 9043), 5, False, "restart"), 500, 60, ao.agents.Pooled
    )
    yield Development(
        "random S = 12, M = 3", ao.worlds.random_models(12, 4, 3, 3, 0.8, 9051), 300, 60, ao.agents.Pooled
    )


def earned(agent: ao.agents.Agent, task: Development) -> float:
    """What an agent earns an episode, averaged over the seeds, with what the steps after an end are worth."""
    stream, total = ao.streams.uniform(), 0.0
    for seed in SEEDS:
        history = ao.run(agent, task.models, stream, task.episodes, seed, noisy_rewards=task.noisy)
        total += float((history.reward + task.models.rest * (task.horizon - history["learning_steps"])).mean())
    return total / len(SEEDS)


def optimum(task: Development) -> float:
    """What the best policy of each world earns an episode, averaged over the same draws of worlds."""
    return earned(ao.agents.Optimal(task.horizon), task)


def make(name: str, values: dict[str, float], task: Development) -> ao.agents.Agent:
    """The learner in the form of the task, or the agent itself."""
    if name in ("QLearning", "PSRL"):
        return task.form(getattr(ao.learning, name)(**values), task.horizon, rewards="unknown")
    learner = ao.learning.PSRL(prior=values["prior"])
    others = {name: value for name, value in values.items() if name != "prior"}
    return ao.agents.MixtureOfMDPs(task.horizon, **others, learner=learner, rewards="unknown")


def main(name: str) -> None:
    """Try every combination, and print the table."""
    grid = GRIDS[name]
    tasks = list(hidden_worlds() if name == "MixtureOfMDPs" else single_worlds())
    ends = [(earned(ao.agents.Random(task.horizon), task), optimum(task)) for task in tasks]
    write = sys.stdout.write
    write("  ".join(task.name for task in tasks) + "\n")
    rows = []
    for values in product(*grid.values()):
        chosen = dict(zip(grid, values, strict=True))
        shares = [
            (earned(make(name, chosen, task), task) - low) / (high - low)
            for task, (low, high) in zip(tasks, ends, strict=True)
        ]
        rows.append((float(np.mean(shares)), shares, chosen))
    for mean, shares, chosen in sorted(rows, key=lambda row: row[0]):
        write(f"{mean:.3f}  {' '.join(f'{share:6.3f}' for share in shares)}  {chosen}\n")


if __name__ == "__main__":
    main(sys.argv[1])

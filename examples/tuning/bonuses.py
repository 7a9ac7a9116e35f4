"""How much of their bonus learners with guarantees can do without: each of them told the world, on development worlds.

    python examples/tuning/bonuses.py
    python examples/tuning/bonuses.py EULER UCRL2B

prints, for every scale of the bonus, the share of the optimal reward in each world and in the mean.  With the scale 1,
which the theorems are about, most of them act at random at these sizes.  Some three minutes.
"""

import sys
from collections.abc import Callable

import numpy as np

import aomultirl as ao

SCALES = (1.0, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001)
SEEDS = (1, 2)
LEARNERS: dict[str, Callable[[float], ao.learning.Learner]] = {
    "UCBVI": lambda scale: ao.learning.UCBVI(bonus_scale=scale),
    "UCBVICH": ao.learning.UCBVICH,
    "UCBVIBF": ao.learning.UCBVIBF,
    "EULER": ao.learning.EULER,
    "StrongEuler": ao.learning.StrongEuler,
    "UBEV": ao.learning.UBEV,
    "UBEV, stationary": lambda scale: ao.learning.UBEV(scale, stationary=True),
    "UCFH": lambda scale: ao.learning.UCFH(bonus_scale=scale),
    "UCRL2": ao.learning.UCRL2,
    "UCRL2B": ao.learning.UCRL2B,
    "QLearningUCBH": ao.learning.QLearningUCBH,
    "QLearningUCBB": ao.learning.QLearningUCBB,
}
TASKS = (
    (ao.worlds.gridworld(5), 100, 200),
    (ao.worlds.gridworld(6), 200, 150),
    (ao.worlds.sparse_random(seed=20), 50, 200),
    (ao.worlds.random_models(10, 3, 3, 3, 1.0, 5), 50, 200),
)
"""Worlds, H and K."""


def share(learner: ao.learning.Learner, models: ao.ModelSet, horizon: int, episodes: int, seed: int) -> float:
    """Of the optimal reward, in per cent."""
    agent = ao.agents.Told(learner, horizon, failure=0.1, models=len(models))
    history = ao.run(agent, models, ao.streams.uniform(), episodes, seed=seed, record=())
    best = np.array([world.first_values(horizon) for world in models])[history["task"], history["start"]]
    return float(100.0 * history.reward.sum() / best.sum())


def main() -> None:
    """Print the table; words on the command line choose learners by name."""
    for name, make in LEARNERS.items():
        for scale in SCALES if not sys.argv[1:] or name in sys.argv[1:] else ():
            shares = [np.mean([share(make(scale), *task, seed) for seed in SEEDS]) for task in TASKS]
            numbers = "".join(f"{number:7.1f}" for number in (*shares, np.mean(shares)))
            sys.stdout.write(f"{name:17}{scale:8g}{numbers}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

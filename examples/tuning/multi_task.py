"""How much of their confidence agents for many tasks can do without, on development worlds.

    python examples/tuning/multi_task.py
    python examples/tuning/multi_task.py FiniteModelRL

prints, for every scale (``radius_scale`` of those that discover models, ``bonus_scale`` of the others),
the share of the optimal reward in each world and in the mean.  None of these worlds is reported on.  It takes some
three minutes.
"""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import aomultirl as ao

SEEDS = (1, 2, 3, 4)
FAILURE = 0.03
TASKS = (
    (ao.worlds.gridworld(5), 1_000, 80),
    (ao.worlds.gridworld(6), 2_000, 60),
    (ao.worlds.random_models(10, 3, 3, 3, 1.0, 5), 500, 80),
    (ao.worlds.rings(7, 2, 1.0), 1_000, 60),
)
"""Worlds, H and K."""
BANDITS = (
    (ao.worlds.bandits([[0.8, 0.2], [0.2, 0.8]]), 5, 2_000),
    (ao.worlds.bandits([[0.7, 0.4], [0.3, 0.6]]), 8, 2_000),
)
"""The same for RestartQ-UCB, in blocks of a quarter of the episodes, with an epoch for each."""
DISCOVERING = (1.0, 0.5, 0.35, 0.25, 0.1)
BONUSES = (1.0, 0.01, 0.001, 0.0001, 0.00001, 0.0)
Maker = Callable[[float, ao.ModelSet, int], Any]
"""An agent, for a scale, worlds and H."""


def finite(scale: float, models: ao.ModelSet, horizon: int) -> Any:
    """Finite-Model-RL, told M and lambda."""
    return ao.agents.FiniteModelRL(len(models), _lambda(models), FAILURE, horizon, radius_scale=scale)


def forced(scale: float, models: ao.ModelSet, horizon: int) -> Any:
    """ForcedExp, told lambda, with visits of every pair that half of an episode has room for."""
    visits = max(1, horizon // (2 * models.n_states * models.n_actions))
    return ao.agents.ForcedExploration(FAILURE, horizon, _lambda(models), samples=visits, radius_scale=scale)


def latent(scale: float, models: ao.ModelSet, horizon: int) -> Any:
    """L-UCRL, told M."""
    return ao.agents.LUCRL(len(models), horizon, failure=FAILURE, bonus_scale=scale)


def restarting(scale: float, models: ao.ModelSet, horizon: int) -> Any:
    """RestartQ-UCB that is told when to begin anew."""
    return ao.agents.RestartQUCB(horizon, None, failure=FAILURE, variant="freedman", bonus_scale=scale, epochs=4.0)


AGENTS: dict[str, tuple[Maker, tuple[float, ...], Any]] = {
    "FiniteModelRL": (finite, DISCOVERING, TASKS),
    "ForcedExploration": (forced, DISCOVERING, TASKS),
    "LUCRL": (latent, BONUSES, TASKS),
    "RestartQUCB": (restarting, BONUSES, BANDITS),
}


def _lambda(models: ao.ModelSet) -> float:
    return models.separation() - 1e-6


def share(agent: Any, models: ao.ModelSet, horizon: int, episodes: int, seed: int, stream: ao.streams.Stream) -> float:
    """Of the optimal reward, in per cent."""
    history = ao.run(agent, models, stream, episodes, seed=seed, record=())
    best = np.array([world.first_values(horizon) for world in models])[history["task"], history["start"]]
    return float(100.0 * history.reward.sum() / best.sum())


def main() -> None:
    """Print the table; words on the command line choose agents by name."""
    for name, (make, scales, tasks) in AGENTS.items():
        for scale in scales if not sys.argv[1:] or name in sys.argv[1:] else ():
            shares = []
            for models, horizon, episodes in tasks:
                stream = ao.streams.blocks(episodes // 4) if tasks is BANDITS else ao.streams.uniform()
                agents = [make(scale, models, horizon) for _ in SEEDS]
                runs = zip(agents, SEEDS, strict=True)
                shares.append(np.mean([share(one, models, horizon, episodes, seed, stream) for one, seed in runs]))
            numbers = "".join(f"{number:7.1f}" for number in (*shares, np.mean(shares)))
            sys.stdout.write(f"{name:18}{scale:8g}{numbers}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()

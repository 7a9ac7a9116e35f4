"""Short runs of every agent, and a digest of each: `python tests/golden_runs.py` writes golden_runs.json anew.

A digest changes where a change of the code changes a result, to the last bit; then the changelog says so.
"""

import hashlib
import json
import warnings
from pathlib import Path

import aomultirl as ao

FILE = Path(__file__).with_suffix(".json")
RANDOM = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
GRID = ao.worlds.gridworld()
GAMMA = [(1, 0), (2, 1), (8, 3)]
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01}
AGENTS = {
    "Random": (RANDOM, lambda told: ao.agents.Random(20)),
    "Optimal": (RANDOM, lambda told: ao.agents.Optimal(20)),
    "MultiModel": (RANDOM, lambda told: ao.agents.MultiModel(20)),
    "UCRL2": (RANDOM, lambda told: ao.agents.UCRL2(50, rewards=told)),
    "OneEpisodeUCBVI": (RANDOM, lambda told: ao.agents.OneEpisodeUCBVI(0.1, 20, rewards=told)),
    "PooledUCBVI": (RANDOM, lambda told: ao.agents.PooledUCBVI(0.1, 20, bonus_scale=0.01, rewards=told)),
    "OracleUCBVI": (RANDOM, lambda told: ao.agents.OracleUCBVI(0.1, 20, 2, bonus_scale=0.01, rewards=told)),
    "OneEpisodeLearner": (RANDOM, lambda told: ao.agents.OneEpisodeLearner(300, rewards=told)),
    "OracleLearner": (GRID, lambda told: ao.agents.OracleLearner(300, rewards=told)),
    "AOMultiRL": (RANDOM, lambda told: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, learning_horizon=30, rewards=told, **SMALL)),
    "TwoStageAOMultiRL": (
        RANDOM,
        lambda told: ao.agents.TwoStageAOMultiRL(
            2, 1.0, 5, 0.1, learning_horizon=30, first_clustering_horizon=900, rewards=told, **SMALL
        ),
    ),
    "DoublingAOMultiRL": (
        RANDOM,
        lambda told: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=3000, samples=15, rewards=told),
    ),
    "SequentialAOMultiRL": (
        GRID,
        lambda told: ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, GAMMA, rewards=told),
    ),
    "Recall": (GRID, lambda told: ao.agents.Recall(0.03, 600, rewards=told)),
    "QLearning": (RANDOM, lambda told: ao.agents.Pooled(ao.learning.QLearning(), 50, rewards=told)),
    "RMax": (RANDOM, lambda told: ao.agents.Told(ao.learning.RMax(), 50, rewards=told)),
    "MaxQInit": (
        RANDOM,
        lambda told: ao.agents.MaxQInit(50, 0.5, failure=0.3, rewards=told, learner=ao.learning.RMax(1)),
    ),
    "LRMax": (
        RANDOM,
        lambda told: ao.agents.LRMax(50, 0.01, failure=0.3, rewards=told, learner=ao.learning.RMax(1)),
    ),
    "PSRL": (RANDOM, lambda told: ao.agents.Told(ao.learning.PSRL(), 50, rewards=told)),
    **{
        type(learner).__name__: (
            RANDOM,
            lambda told, learner=learner: ao.agents.Told(learner, 20, failure=0.1, models=2, rewards=told),
        )
        for learner in (
            ao.learning.UCBVICH(0.01),
            ao.learning.UCBVIBF(0.01),
            ao.learning.EULER(0.01),
            ao.learning.StrongEuler(0.01),
            ao.learning.UBEV(0.1),
            ao.learning.UCFH(bonus_scale=0.1),
            ao.learning.UCRL2B(0.1),
            ao.learning.QLearningUCBH(0.01),
            ao.learning.QLearningUCBB(0.01),
        )
    },
    "ConcurrentPACRL": (
        RANDOM,
        lambda told: ao.agents.ConcurrentPACRL(1.0, 0.1, 600, samples=15, learner=ao.learning.UCRL2(0.1), rewards=told),
    ),
    "CECE": (
        RANDOM,
        lambda told: ao.agents.CECE(2, 1.0, 0.1, 200, 3, samples=10, learner=ao.learning.UCRL2(0.1), rewards=told),
    ),
    "MixtureOfMDPs": (GRID, lambda told: ao.agents.MixtureOfMDPs(200, archive=4, rewards=told)),
}


def ending(models):
    """The same worlds, the last state terminal in all of them."""
    last = models.n_states - 1
    return ao.ModelSet(ao.MDP(world.successors, models.rewards, world.start, terminal=[last]) for world in models)


def digest(name, kind):
    """Of a run of six episodes; kind: "known", "unknown" or "ending"."""
    models, make = AGENTS[name]
    worlds = ending(models) if kind == "ending" else models
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = ao.run(make("known" if kind == "known" else "unknown"), worlds, ao.streams.uniform(), 6, seed=5)
    columns = dict(history.columns)
    if (columns["taken_for"] == -1).all():  # as from before agents said what they believe
        del columns["taken_for"], columns["sure"]
    return hashlib.sha256(b"".join(column.tobytes() for column in columns.values())).hexdigest()[:16]


def digests():
    return {name: {kind: digest(name, kind) for kind in ("known", "unknown", "ending")} for name in AGENTS}


if __name__ == "__main__":
    FILE.write_text(json.dumps(digests(), indent=2) + "\n")

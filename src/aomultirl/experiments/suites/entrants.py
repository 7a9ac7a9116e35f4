"""Who enters the suites that compare peers: every agent of the library, with what it is told, where it fits.

Learners with guarantees have constants that are made for proofs, and act at random at these sizes; here their bonuses
are scaled by what earned most on development worlds (``examples/tuning/bonuses.py``, and ``multi_task.py`` there for
agents of many tasks; the tables of ``docs/agents.md``).
What an agent must be told of the worlds, such as lambda or a distinguishing set, it is told exactly
(:meth:`aomultirl.experiments.specification.world_facts.WorldFacts.told`).  Where nobody knows the worlds,
such agents do not fit.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from aomultirl.experiments.specification.parameters import FROM_WORLD
from aomultirl.experiments.suites.players import FAILURE, RANDOM, RECALL, Described

ENOUGH = 64.0
"""N lambda^2: with so many samples of each pair the threshold test is rarely wrong."""
SCALES: Mapping[str, float] = {
    "UCBVI": 1e-4,
    "UCBVICH": 1e-4,
    "UCBVIBF": 1e-4,
    "EULER": 1e-4,
    "StrongEuler": 1e-4,
    "UBEV": 1e-3,
    "UCFH": 1e-3,
    "UCRL2": 1e-3,
    "UCRL2B": 1e-3,
    "QLearningUCBH": 1e-4,
    "QLearningUCBB": 1e-4,
}
"""What the bonuses of learners are multiplied by."""
RESTART_SCALE = 0.01
"""The same for RestartQ-UCB."""
LATENT_SCALE, RADIUS_SCALE = 1e-5, 0.35
"""The bonus of L-UCRL, and the confidence of agents that discover models, are multiplied by these."""
LEAST_EVIDENCE = 100
"""Steps of an episode below which no evidence makes a cluster, whatever lambda is."""
ARMS = 2
"""Of bandits; TUCB finds no more models than that."""
RAREST = 0.1
"""What MaxQInit and LRMax are told of the probability of the rarest world."""
REMEMBERED_TASKS = 50
"""Tasks that LRMax keeps where it is told that: it has to have met 40 or so before it says how far tasks are apart."""
BATCH_SHARE = 0.15
"""The share of the episodes in which CECE and ExploreFirst do nothing but explore."""
PLAIN = ("Practical", "PSRL", "QLearning", "RMax")
"""Learners without a scale."""
FORMS = {"alone": "OneEpisode", "pooled": "Pooled", "told": "Told"}
"""What a learner may take the episodes for: a world each, one world, or the worlds that it is told."""
EXPLORERS = ("ExploreID", "GOSPRL", "Seeker", "PACExplore", "CuriousWalk", "FWModest", "WeightedMaxEnt")
OPTIONS: Mapping[str, dict[str, Any]] = {"CuriousWalk": {"ties": "least"}}
"""Parameters of explorers; with its defaults a curious walk is ExploreID, draw for draw."""
CLUSTER_THEN_LEARN = "AOMultiRL"
RESTART, RESTART_FOREVER, RESTART_STATED = "RestartQ-UCB", "RestartQ-UCB, one epoch", "RestartQ-UCB, as stated"
DETECT, OPTIMAL = "detect and restart", "optimum"
"""What rows are called."""


class Contest(NamedTuple):
    """What entrants have to know of the place where they meet.

    horizon, episodes
        H and K.
    samples
        N, visits of a pair in the clustering phase of agents that have one (:func:`enough_samples`); None where nobody
        knows the worlds, and so nobody can say how many are enough.
    clustering_horizon
        H0, the steps of that phase at most; None together with ``samples``.
    pairs
        S A; None together with ``samples``.
    variation
        the variation budget of the stream; None where it is not computed.
    epochs
        D of RestartQ-UCB for that budget.
    rewards
        "known" or "unknown" to the agents.
    bandits
        how many worlds there are, where they are those of ``worlds.bandits``; 0 where they are others.
    """

    horizon: int
    episodes: int
    samples: int | None = None
    clustering_horizon: int | None = None
    pairs: int | None = None
    variation: float | None = None
    epochs: float | None = None
    rewards: str = "known"
    bandits: int = 0

    @property
    def told(self) -> dict[str, Any]:
        """What everybody is told."""
        return {"horizon": self.horizon, "rewards": self.rewards}

    @property
    def worlds_are_known(self) -> bool:
        """Whether somebody knows the worlds, and can tell agents of them."""
        return self.samples is not None

    @property
    def samples_everywhere(self) -> int:
        """N for agents that visit all pairs: as many as half of H0 has room for, and no more than for the others."""
        assert self.samples is not None
        assert self.clustering_horizon is not None
        assert self.pairs is not None
        return max(1, min(self.samples, self.clustering_horizon // (2 * self.pairs)))


def enough_samples(separation: float) -> int:
    """N for a lambda.

    Examples
    --------
    >>> enough_samples(0.5)
    256
    """
    return math.ceil(ENOUGH / separation**2)


def learner(name: str, **parameters: Any) -> Described:
    """{"name", "parameters"} of a learner, with its scale."""
    scale = {"bonus_scale": SCALES[name]} if name in SCALES else {}
    return {"name": name, "parameters": {**scale, **parameters}}


def entrants(contest: Contest) -> dict[str, Described]:
    """Every agent that fits, by what its row is called."""
    rows = {
        RANDOM: {"name": "Random", "parameters": {"horizon": contest.horizon}},
        **_learners((*PLAIN, *SCALES), FORMS, contest.told),
        **_of_changing_worlds(contest),
        **(_with_known_worlds(contest) if contest.worlds_are_known else _remembering(contest.told)),
        "mixture of MDPs": {"name": "MixtureOfMDPs", "parameters": contest.told},
        RECALL: {"name": "Recall", "parameters": {"failure": FAILURE, **contest.told}},
    }
    if contest.worlds_are_known:
        rows[OPTIMAL] = {"name": "Optimal", "parameters": {"horizon": contest.horizon}}
    return rows


def _with_known_worlds(contest: Contest) -> dict[str, Described]:
    """Agents that are told something of the worlds, or the worlds themselves."""
    rows = {**_cluster_then_learn(contest), **_multi_task(contest)}
    for method in ("CADP", "WSU", "mean"):
        rows[f"MultiModel, {method}"] = _described("MultiModel", horizon=contest.horizon, method=method)
    oracle = {"failure": FAILURE, "horizon": contest.horizon, "bonus_scale": SCALES["UCBVI"]}
    rows["UCBVIWithOracle"] = _described("UCBVIWithOracle", **oracle, samples=1)
    if contest.bandits:
        told = {"failure": FAILURE, "horizon": contest.horizon}
        rows["MUCB"] = _described("MUCB", **told, means=FROM_WORLD)
        rows["UMUCB"] = _described("UMUCB", **told, means=FROM_WORLD, accuracy=0.05)
        if contest.bandits <= ARMS:
            rows["TUCB"] = _described("TUCB", **told, models=FROM_WORLD)
    return rows


def _described(name: str, **parameters: Any) -> Described:
    return {"name": name, "parameters": parameters}


def further_peers(contest: Contest) -> dict[str, Described]:
    """Who fits where nobody knows the worlds, beside those of :mod:`.players`: the others of :func:`entrants`.

    Learners enter pooled and told: alone, those with guarantees do not get beyond acting at random in a short life.
    """
    learners = _learners(("RMax", *SCALES), ("pooled", "told"), contest.told)
    return {**learners, **_of_changing_worlds(contest), **_remembering(contest.told)}


def _remembering(told: dict[str, Any]) -> dict[str, Described]:
    """Agents that bring something from task to task and need not be told of the worlds."""
    return {"LRMax": _described("LRMax", failure=FAILURE, **told, cautious=False)}


def _learners(names: Iterable[str], forms: Iterable[str], told: dict[str, Any]) -> dict[str, Described]:
    """Learners in some of the three forms, by what their rows are called."""
    return {
        f"{name}, {form}": {"name": FORMS[form], "parameters": {"learner": learner(name), "failure": FAILURE, **told}}
        for name in names
        for form in forms
    }


def _of_changing_worlds(contest: Contest) -> dict[str, Described]:
    """Agents for one world that changes; RestartQ-UCB as stated where a budget is known, and with small bonuses."""
    told = {"failure": FAILURE, **contest.told}

    def restart(**parameters: Any) -> Described:
        return {"name": "RestartQUCB", "parameters": {**told, "variant": "freedman", **parameters}}

    practical = {"variation": None, "bonus_scale": RESTART_SCALE}
    found = {RESTART_FOREVER: restart(**practical, epochs=1.0)}
    if contest.variation is not None:
        found[RESTART] = restart(**practical, epochs=contest.epochs)
        found[RESTART_STATED] = restart(variation=contest.variation)
    found[DETECT] = {"name": "DetectAndRestart", "parameters": {**told, "learner": learner("Practical")}}
    return found


def _multi_task(contest: Contest) -> dict[str, Described]:
    """Agents of others for tasks that return."""
    told: dict[str, Any] = {"failure": FAILURE, **contest.told}
    practical = {**told, "learner": learner("Practical")}
    separated = {"separation": FROM_WORLD, "samples": contest.samples_everywhere}
    counted = {"models": FROM_WORLD}
    batch = max(1, int(BATCH_SHARE * contest.episodes))
    discovering = {**practical, "radius_scale": RADIUS_SCALE}
    classifying = max(1, (contest.clustering_horizon or 0) // 4)
    rows: dict[str, dict[str, Any]] = {
        "ConcurrentPACRL": {**practical, **separated},
        "CECE": {**practical, **separated, **counted, "batch": batch, "classifying_steps": classifying},
        "FiniteModelRL": {**discovering, **counted, "separation": FROM_WORLD},
        "ForcedExploration": {**discovering, **separated},
        "ExploreFirst": {**discovering, **separated, "first_episodes": batch},
        "LUCRL": {**told, **counted, "bonus_scale": LATENT_SCALE},
        "MaxQInit": {**told, "rarest": RAREST, "cautious": False},
        "LRMax": {**told, "rarest": RAREST, "remembered": REMEMBERED_TASKS, "cautious": False},
    }
    described = {name: _described(name, **parameters) for name, parameters in rows.items()}
    in_hindsight = {**rows["LUCRL"], "contexts": "told"}
    return {**described, "LUCRL, told in hindsight": _described("LUCRL", **in_hindsight)}


def _cluster_then_learn(contest: Contest) -> dict[str, Described]:
    """The paper's agents, with every explorer, and what grew out of them."""
    told: dict[str, Any] = {"failure": FAILURE, **contest.told, "learner": learner("Practical")}
    samples = {"samples": contest.samples}
    phase = {**samples, "clustering_horizon": contest.clustering_horizon, "stop_early": True}
    known = {"distinguishing_set": FROM_WORLD}
    rows: dict[str, Described] = {
        f"{CLUSTER_THEN_LEARN}, {name}": {
            "name": "AOMultiRL",
            "parameters": {**told, **phase, **known, "explorer": {"name": name, "parameters": OPTIONS.get(name, {})}},
        }
        for name in EXPLORERS
    }
    rows[f"{CLUSTER_THEN_LEARN}, UCBVI"] = {
        "name": "AOMultiRL",
        "parameters": {**told, **phase, **known, "learner": learner("UCBVI")},
    }
    rows["TwoStageAOMultiRL"] = {"name": "TwoStageAOMultiRL", "parameters": {**told, **phase}}
    rows["DoublingAOMultiRL"] = {
        "name": "DoublingAOMultiRL",
        "parameters": {**told, **known, **samples},
    }
    if contest.horizon >= LEAST_EVIDENCE:
        rows["SequentialAOMultiRL"] = _described("SequentialAOMultiRL", **told, **known, separation=FROM_WORLD)
    return rows

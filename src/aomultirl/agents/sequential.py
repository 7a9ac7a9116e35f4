"""Sequential AOMultiRL: explore until the world is identified, then learn in it with everything that is known of it.

Algorithm 1 of the paper with another explorer and another test.  Instead of H0 steps and a threshold, the agent goes
where evidence is missing (:mod:`aomultirl.exploring.seek`) until the evidence, valid at any time, says which cluster
this is or that it is none (:mod:`aomultirl.identifying.sequential`).  It needs no hitting time; M makes it quicker.
The guarantee is the paper's: all K verdicts are right with probability at least 1 - p.  It assumes that lambda is at
most the worlds' separation, that worlds differ by it at some pair of the set, and that at most K worlds (or M) come.

An episode that ends before the evidence suffices is put in no cluster; it is counted as abstained, and what it saw is
dropped.  Which episodes abstain depends on what they saw, which the proof leaves open: with many abstentions clusters
are made of episodes that were easy to tell.

After the verdict every sample of the cluster is learned from, those of all clustering phases included, with the
practical learner of :mod:`aomultirl.learning.optimism`.  The rewards are those of all worlds alike.
"""

import math
import warnings
from collections.abc import Generator, Iterable
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.aomultirl import as_pairs, check_models, read_pairs
from aomultirl.agents.base import (
    Agent,
    Episode,
    Evidence,
    Memory,
    Remembered,
    Report,
    Setting,
    known_rewards,
    read_failure,
)
from aomultirl.agents.practical import Practical
from aomultirl.agents.state import Saved
from aomultirl.agents.tracing import Traces
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase
from aomultirl.exploring.seek import ACCEPTED, CERTIFY, NEW, NONE, SURVIVE, VERDICT, SeekBehaviour, seek
from aomultirl.identifying.bets import ln_wealth
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import Knowledge, knowledge
from aomultirl.identifying.sequential import LEADER, OPEN, evidence, levels
from aomultirl.identifying.threshold import largest_distance
from aomultirl.learning.optimism import Options
from aomultirl.mdp import ModelSet

FIRST_LOOK = 25
"""Steps after which the evidence is first written down; then after twice as many."""
GUESS, LEAST = 1.0, 0.1
"""The separation that is assumed before two clusters show one, and the least that ever is."""


class SequentialAOMultiRL(Agent):
    """Identifies as soon as the evidence allows, with the paper's guarantee.

    Parameters
    ----------
    failure
        p.
    horizon
        H, the steps of an episode.
    separation
        lambda.  None: half the smallest separation of the clusters so far, which usually works and guarantees nothing.
    distinguishing_set
        Gamma, pairs (state, action) at which the worlds differ by lambda; all pairs by default.
    models
        M, or the worlds themselves, of which only their number is used and against which lambda is checked; None if
        nobody knows it.  Once M clusters exist, the question is only which of them it is.
    samples
        N_0, visits of each pair in the episode that makes a cluster; ``40 / h^2``, or ``20 / h^2`` with M known, where
        ``h = lambda / 2``.
    learning
        False ends every episode with the verdict, for whoever only wants to know the world.
    rewards
        "known", or "unknown": estimated.
    learner
        numbers of the learner in place of the default ones.

    Attributes
    ----------
    clusters
        the counts of each, in order of first appearance.
    abstentions
        episodes that were put in no cluster.
    """

    recognition = "evidence"
    pair_bytes = 120

    def __init__(
        self,
        failure: float,
        horizon: int,
        separation: float | None = None,
        distinguishing_set: Iterable[tuple[int, int]] | None = None,
        models: int | ModelSet | None = None,
        *,
        samples: int | None = None,
        learning: bool = True,
        rewards: str = "known",
        learner: Options | None = None,
    ) -> None:
        self.failure, self.horizon, self.separation, self.models = failure, horizon, separation, models
        self.distinguishing_set = None if distinguishing_set is None else as_pairs(distinguishing_set)
        self.samples, self.learning, self.rewards, self.learner = samples, learning, rewards, learner

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        read_failure(self.failure)
        checks.integer("horizon", self.horizon, least=1)
        if self.samples is not None:
            checks.integer("samples", self.samples, least=1)
        if self.separation is None:
            warnings.warn("separation is not given: it is estimated from the clusters, and no verdict is guaranteed")
        else:
            checks.real("separation", self.separation, above=0.0, most=2.0)
        if self.models is not None:
            check_models(self.models, self.separation, setting)
        checks.truth("learning", self.learning)
        self._targets = read_pairs(self.distinguishing_set, setting)
        self._gammas = gammas()
        self._learner = Practical(known_rewards(self.rewards, setting), setting, self.horizon, self.learner)
        self.clusters: list[CountTable] = []
        self.abstentions, self._count, self._limit = 0, 0, 0.0
        self._known: Knowledge | None = None
        self._seek: SeekBehaviour | None = None
        self._traces = Traces()

    @property
    def n_models(self) -> int | None:
        """M, or None."""
        return len(self.models) if isinstance(self.models, ModelSet) else self.models

    def level(self) -> float:
        """lambda in force: the one given, or half the smallest separation of the clusters so far."""
        if self.separation is not None:
            return self.separation
        pairs = np.flatnonzero(self._targets)
        apart = [largest_distance(a.record, b.record, pairs) for a, b in combinations(self.clusters, 2)]
        return max(LEAST, 0.5 * min(apart)) if apart else GUESS

    def _samples(self, gap: float) -> int:
        return self.samples or math.ceil((40.0 if self.n_models is None else 20.0) / gap**2)

    def _explorer(self) -> SeekBehaviour:
        """The behaviour that identifies this episode."""
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        if self._known is None:
            self._known = knowledge(self.clusters, n_states * n_actions, n_states)
        gap, count, every = self.level() / 2.0, len(self.clusters), self.n_models
        sizes = (n_states, n_states * n_actions, int(self._targets.sum()), count)
        rules = levels(*sizes, self.setting.episodes, self.failure, gap, every)
        aim = SURVIVE if every is not None and count == every else CERTIFY
        seen = evidence(self._known, self._targets)
        return seek(
            self._gammas, self._known, seen, rules, n_states, self._samples(gap), aim, 0.9 if every is None else 0.85
        )

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        explorer = self._seek = self._explorer()
        self._limit = _limit(explorer)
        counts, sums = CountTable(self.setting.n_states * self.setting.n_actions), self._learner.sums()
        spent, trace = yield from self._identify(explorer, counts, sums)
        verdict = explorer.task[VERDICT] if trace["finished"] else NONE
        number = int(explorer.seen.state[LEADER]) if verdict == ACCEPTED else len(self.clusters)
        believed = [self.clusters[number]] if verdict == ACCEPTED else []
        plan = None
        if self.learning and spent < self.horizon:
            behaviour = self._learner.behaviour(believed, sums)
            yield Phase(behaviour, self.horizon - spent, counts, sums)
            plan = self._learner.first_actions(*believed, counts)

        self._count += 1
        self._learner.remember(counts, sums)
        self._keep(trace, verdict, number)
        if verdict == NONE:
            self.abstentions += 1
            return Report(-1, False, False, plan, self.horizon, (counts,), abstained=True)
        if verdict == NEW:
            self.clusters.append(CountTable(len(counts.record.heads)))
        self.clusters[number].add(counts)
        self._known = None
        samples = (self.clusters[number],)
        return Report(number, verdict == NEW, True, plan, self.horizon, samples, certified=verdict == ACCEPTED)

    def _identify(
        self, explorer: SeekBehaviour, counts: CountTable, sums: NDArray[np.float64]
    ) -> Generator[Phase, Outcome, tuple[int, dict[str, Any]]]:
        """Explore until there is a verdict, writing down the evidence ever more rarely."""
        trace: dict[str, Any] = {"steps": [], "against": [], "certified": [], "finished": False}
        spent, stride = 0, FIRST_LOOK
        while spent < self.horizon and not trace["finished"]:
            outcome = yield Phase(explorer, min(stride, self.horizon - spent), counts, sums, "clustering")
            spent += outcome.steps
            stride = max(stride, spent)
            trace["finished"] = outcome.finished
            trace["steps"].append(spent)
            trace["against"].append(_evidence_against(explorer))
            trace["certified"].append(int(self._targets.sum()) - int(explorer.seen.state[OPEN]))
            if outcome.steps == 0:
                break
        return spent, trace

    def _keep(self, trace: dict[str, Any], verdict: int, number: int) -> None:
        words = {ACCEPTED: "accepted", NEW: "new"}.get(int(verdict), "abstained")
        cluster = number if words != "abstained" else -1
        seen = {name: trace[name] for name in ("steps", "against", "certified")}
        self._traces.keep({"episode": self._count - 1, "verdict": words, "cluster": cluster, **seen})

    def evidence(self, explored: CountTable) -> list[Evidence]:
        if self._seek is None:
            return []
        explorer = self._seek
        limit, leader = _limit(explorer), explorer.seen.state[LEADER]
        done, every = int(explorer.seen.certified.sum()), int(self._targets.sum())
        return [
            Evidence(
                number,
                value,
                limit,
                not explorer.seen.alive[number],
                "ln evidence against it",
                (done, every) if number == leader else None,
            )
            for number, value in enumerate(_evidence_against(explorer))
        ]

    def state(self) -> dict[str, Any]:
        return {
            "clusters": list(self.clusters),
            "abstentions": self.abstentions,
            "met": self._count,
            "limit": self._limit,
            "learner": self._learner.state(),
            "traces": self._traces.kept,
        }

    def restore(self, saved: Saved) -> None:
        most = self.setting.episodes
        self.clusters = saved.tables("clusters", most)
        self.abstentions, self._count = saved.integer("abstentions", most=most), saved.integer("met", most=most)
        self._limit = saved.real("limit")
        self._learner.restore(saved.part("learner"))
        self._traces.restore(saved)

    def memory(self, stream: RandomStream) -> Memory:
        plans = [self._learner.first_actions(table) for table in self.clusters]
        return Memory(
            [Remembered(table, plan) for table, plan in zip(self.clusters, plans, strict=True)],
            np.flatnonzero(self._targets),
            self.level() / 2.0,
        )

    def findings(self) -> dict[str, Any]:
        gap = self.level() / 2.0
        return {
            "guarantee": self.separation is not None and self.abstentions == 0,
            "separation": self.level(),
            "samples": self._samples(gap),
            "abstentions": self.abstentions,
            "evidence": {
                "limit": self._limit,
                "episodes": list(self._traces.kept),
            },
        }


def _limit(explorer: SeekBehaviour) -> float:
    """What the ln of the wealth must reach to reject a cluster."""
    return explorer.levels.reject - math.log(explorer.levels.betting)


def _evidence_against(explorer: SeekBehaviour) -> list[float]:
    """ln of the wealth against each cluster; at least what rejects it where it is rejected."""
    limit = _limit(explorer)
    found = []
    for c, lives in enumerate(explorer.seen.alive):
        wealth = float(ln_wealth(explorer.seen.wealth, c, -np.inf)) if len(explorer.seen.alive) > 1 else 0.0
        found.append(min(wealth, limit) if lives else max(wealth, limit))
    return [max(value, -50.0) for value in found]

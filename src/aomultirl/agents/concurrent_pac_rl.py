"""Concurrent PAC RL (Guo, Brunskill 2015): explore every pair, put like worlds together, learn on what they share.

Every episode begins with PAC-EXPLORE (:mod:`aomultirl.exploring.pac_explore`), until every pair has m_e visits::

    m_e = ceil( (32 / Gamma^2) (S ln 2 + ln(K S A / p)) )

The episode joins the first cluster whose estimates differ from its own by less than Gamma / 2 in l1 at every pair, or
makes a new one.  For its remaining steps a learner acts on the pooled counts of the cluster, which get all samples of
the episode.  This module calls Gamma the separation; Gamma is a set of pairs elsewhere here.

Setting: communicating worlds, of which every two differ by Gamma or more at some pair; nobody knows which.

Must be told: Gamma, p and H.  Neither the number of worlds, nor a set of pairs, nor a hitting time.

Guarantee: with probability at least 1 - p every episode that is put in a cluster is put in the right one.  m_e visits
keep an estimate within Gamma / 4 of the truth, and so do more of them, however many (:func:`.weissman_samples`); thus
also the estimates at the end of an episode, and pooled ones, which are means of these.  It does not matter which
episodes were put in none.  There is no bound on the steps of PAC-EXPLORE with constants, and so none on regret; within
a cluster the learner has whatever guarantee it has for one world.

Corollary 9 of the paper is about this class of algorithms, which Section 3 names PAC-EXPLORE as a member of: uniformly
good ones that cluster first and learn afterwards.  On some set of S A / 12 worlds any of them needs Omega(D S A /
lambda^2) expected steps of exploring for the right cluster with probability 1/2, lambda being this Gamma, and so an
expected regret of Omega(K D S A / lambda^2) in K episodes (E4: for lambda up to 1/2; constants are in
:func:`aomultirl.theory.identification_steps`).  Every episode pays, also one of a world that is perfectly known: here
at least S A m_e steps, of order S^2 A / lambda^2.  The corollary says nothing of agents that learn before they know,
such as :class:`aomultirl.agents.Recall` (Remark 10).

Adapted to a stream of tasks: the original explores a known number of worlds concurrently, clusters them once, and then
learns; here worlds come one after another and each episode is one of them, so #MDPs in m_e is K, and estimates are
compared with those of clusters.  The original's episodes last as long as exploring takes.  Here exploring is given up
once the visits that are missing outnumber the steps that are left: such an episode abstains, is put in no cluster, and
is learned alone from its own samples.  Where worlds end episodes, the longest of the first ENOUGH_MET says how many
steps there are.

What was uncertain, and how it was settled.  The constants of m_e: by Weissman's inequality, as above.  The learner: the
original has MBIE; UCRL2 is the nearest here, as it is optimistic over the same l1 balls, and any other may be given.
T of PAC-EXPLORE, which would need the diameter: found by planning, as that module says.
"""

import math
import warnings
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, theory
from aomultirl.agents.base import (
    Agent,
    Episode,
    Evidence,
    Memory,
    Remembered,
    Report,
    check_is_explorer,
    check_is_learner,
    check_known,
    check_plan,
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
)
from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase, Ran
from aomultirl.exploring import Explorer, PACExplore
from aomultirl.identifying.threshold import identify_cluster, largest_distance
from aomultirl.learning import UCRL2, Known, Learner, Share, Tally
from aomultirl.records import Within
from aomultirl.setting import Setting

LEAST_STRETCH = 50
"""Steps of exploring, at least, after which it is asked again whether it can still succeed; asking takes as long."""
ENOUGH_MET = 5
"""Episodes after which the longest of them says how long episodes are, where states end them."""


@dataclass
class ConcurrentMemory:
    """What the agent remembers.

    clusters
        what is known of each, in order of first appearance.
    met
        how many episodes.
    abstentions
        episodes that were put in no cluster.
    longest
        steps of the longest episode.
    shared
        what the learner knows of all worlds alike.
    """

    clusters: Annotated[list[Known], Within(most="episodes")] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    abstentions: Annotated[int, Within(0, "episodes")] = 0
    longest: Annotated[int, Within(0)] = 0
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)


class ConcurrentPACRL(Agent):
    """Explores all pairs of every world, puts worlds together that look alike, and learns on pooled counts.

    :mod:`aomultirl.agents.concurrent_pac_rl` has the formulas, what is guaranteed, and what the paper's Corollary 9
    says of this class of algorithms.

    Parameters
    ----------
    separation
        Gamma, the l1 distance by which two worlds differ at some pair; the paper's lambda.
    failure
        p, the probability that any episode of the run is put in a wrong cluster; the learner's confidence has the same.
    horizon
        H, the steps of an episode.
    samples
        m_e in place of that of the formula; what is guaranteed then, if anything, is for you to say.
    explorer
        how to visit all pairs; PAC-EXPLORE by default.
    learner
        how to act on the pooled counts of a cluster for the rest of the episode.
    rewards
        "known", or "unknown": estimated.

    Examples
    --------
    >>> import aomultirl as ao
    >>> worlds = ao.worlds.random_models(4, 2, models=2, successors=2, rng=0)
    >>> agent = ao.agents.ConcurrentPACRL(1.0, failure=0.1, horizon=8_000)
    >>> ao.run(agent, worlds, ao.streams.round_robin(), episodes=6)["cluster"].tolist()
    [0, 1, 0, 1, 0, 1]
    >>> agent.findings()
    {'samples': 287, 'threshold': 0.5, 'abstentions': 0}
    """

    recognition = "samples"
    pair_bytes = 60
    keeps: ClassVar[type] = ConcurrentMemory
    kept: ConcurrentMemory

    def __init__(
        self,
        separation: float,
        failure: float,
        horizon: int,
        *,
        samples: int | None = None,
        explorer: Explorer = PACExplore(),
        learner: Learner = UCRL2(),
        rewards: str = "known",
    ) -> None:
        self.separation, self.failure, self.horizon = separation, failure, horizon
        self.samples, self.explorer, self.learner, self.rewards = samples, explorer, learner, rewards
        self.pair_bytes = max(type(self).pair_bytes, getattr(learner, "pair_bytes", 0))

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        separation = checks.real("separation", self.separation, above=0.0, most=2.0)
        failure = read_failure(self.failure)
        horizon = checks.integer("horizon", self.horizon, least=1)
        check_is_explorer(self.explorer)
        check_is_learner(self.learner)
        samples, split = self.samples, failure / (setting.episodes * setting.n_pairs)
        if samples is None:
            samples = theory.weissman_samples(separation / 4.0, failure=split, states=setting.n_states)
        self._samples = checks.integer("samples", samples, least=1)
        self._targets = np.ones((setting.n_states, setting.n_actions), bool)
        self._pairs = np.arange(setting.n_pairs)
        self.explorer.behaviour(self._targets, self._samples, failure)  # which refuses what it cannot do
        if self.learner.plans_by_step:
            check_plan("horizon", horizon, setting)
        share = Share(failure, setting.episodes, setting.episodes, horizon)
        self._learning = self.learner.begin(learner_setting(self.rewards, setting), horizon, share)
        self.kept = ConcurrentMemory(shared=self._learning.shared())
        if self._spare(0, self._learning.tally()) < 0:
            warnings.warn(
                f"a cluster takes {setting.n_pairs:,} pairs x {self._samples:,} visits = "
                f"{setting.n_pairs * self._samples:,} steps, and an episode has {self._room():,}: this agent puts "
                "every episode in none, and learns each alone; give a longer horizon or fewer samples"
            )

    @property
    def clusters(self) -> list[CountTable]:
        """The counts of each cluster, in order of first appearance."""
        return [cluster.counts for cluster in self.kept.clusters]

    @property
    def threshold(self) -> float:
        """Gamma / 2: estimates that differ by less at every pair are of one world."""
        return self.separation / 2.0

    def _room(self) -> int:
        """Steps that an episode may have; where states end them, the longest of those so far says it."""
        most = min(self.horizon, self.setting.longest or self.horizon)
        return most if self.kept.met < ENOUGH_MET else min(most, self.kept.longest)

    def _spare(self, spent: int, tally: Tally) -> int:
        """Steps beyond the visits that are missing, after ``spent`` of an episode; below 0, exploring cannot finish."""
        missing = np.maximum(self._samples - visits_by_pair(tally.counts), 0)
        return self._room() - spent - int(missing.sum(dtype=np.float64))

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, tally, clusters = self._learning, self._learning.tally(), self.kept.clusters
        spent, here, finished, ran = yield from self._explore(tally, start)
        number = -1
        if finished:
            # The test of IdentifyCluster is "at most"; this one is "less than".
            below = math.nextafter(self.threshold, 0.0)
            number = identify_cluster(tally.counts, self.clusters, self._pairs, below)
        new = finished and number < 0
        known = clusters[number] if number >= 0 else learning.nothing()
        if ran is None or spent < self.horizon:
            behaviour = learning.act(known.during(tally), self.horizon - spent, stream)
            ran = yield from run_phase(Phase(behaviour, self.horizon - spent, tally.counts, tally.sums), here)
            spent += ran.outcome.steps

        learning.learn(known, ran)
        if new:
            number = len(clusters)
            clusters.append(known)
        kept = self.kept
        kept.met, kept.abstentions = kept.met + 1, kept.abstentions + (not finished)
        kept.longest, kept.shared = max(kept.longest, spent), learning.shared()
        plan = learning.best(known, self.horizon, stream) if self.evaluates else None
        return Report(number, new, finished, plan, self.horizon, (known.counts,), abstained=not finished)

    def _explore(self, tally: Tally, here: int) -> Generator[Phase, Outcome, tuple[int, int, bool, Ran | None]]:
        """Explore as long as it can succeed: (steps taken, the state then, whether all pairs are visited, last phase).

        Steps that bring no missing visit are all that makes success impossible, so it is looked for after as many of
        them as there are to spare.
        """
        explore = self.explorer.behaviour(self._targets, self._samples, self.failure)
        spent, finished, ran, spare = 0, False, None, self._spare(0, tally)
        while not finished and spare >= 0:
            steps = min(max(spare + 1, LEAST_STRETCH), self.horizon - spent)
            ran = yield from run_phase(Phase(explore, steps, tally.counts, tally.sums, "clustering"), here)
            spent, here, finished = spent + ran.outcome.steps, ran.outcome.state, ran.outcome.finished
            if ran.outcome.steps < steps:  # it is done, or somebody has ended the episode
                break
            spare = self._spare(spent, tally)
        return spent, here, finished, ran

    def evidence(self, explored: CountTable) -> list[Evidence]:
        limit, found = self.threshold, []
        for number, counts in enumerate(self.clusters):
            value = largest_distance(explored.record, counts.record, self._pairs)
            found.append(Evidence(number, value, limit, value >= limit, "largest l1 distance"))
        return found

    def memory(self, stream: RandomStream) -> Memory:
        plans = [self._learning.best(cluster, self.horizon, stream) for cluster in self.kept.clusters]
        firsts = [np.asarray(plan.reshape(-1, self.setting.n_states)[0]) for plan in plans]
        remembered = [Remembered(counts, first) for counts, first in zip(self.clusters, firsts, strict=True)]
        return Memory(remembered, self._pairs, self.threshold)

    def restore(self, kept: ConcurrentMemory) -> None:
        for number, cluster in enumerate(kept.clusters):
            check_known(cluster, self._learning.nothing(), f"memory.clusters[{number}]")
        check_shared(kept.shared, self._learning)
        if len(kept.clusters) + kept.abstentions > kept.met:
            raise ValueError(f"memory.met is {kept.met}, fewer episodes than made clusters or abstained")
        super().restore(kept)
        self._learning.take_shared(kept.shared)

    def findings(self) -> dict[str, Any]:
        return {"samples": self._samples, "threshold": self.threshold, "abstentions": self.kept.abstentions}

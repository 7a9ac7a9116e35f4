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
practical learner of :mod:`aomultirl.learning.optimism`.
"""

import math
import warnings
from collections.abc import Generator, Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Annotated, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
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
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
)
from aomultirl.agents.cluster_parameters import as_pairs, check_models, read_pairs
from aomultirl.agents.tracing import Trace, Traces
from aomultirl.engine.behaviours import empty_table
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase, Ran
from aomultirl.exploring import Explorer
from aomultirl.exploring.seek import ACCEPTED, CERTIFY, NEW, NONE, SURVIVE, VERDICT, SeekBehaviour, Seeker, seek
from aomultirl.exploring.watched import WatchedBehaviour, watched
from aomultirl.identifying.bets import ln_wealth
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import Knowledge, knowledge
from aomultirl.identifying.sequential import ALIVE, LEADER, OPEN, evidence, levels
from aomultirl.identifying.threshold import largest_distance
from aomultirl.learning import Known, Learner, Practical, Share, Tally
from aomultirl.model_set import ModelSet
from aomultirl.records import Within
from aomultirl.setting import Setting

FIRST_LOOK = 25
"""Steps after which the evidence is first written down; then after twice as many."""
FIRST_VISITS = 4
"""Visits of every target that an explorer without a plan of its own for evidence makes at first; then twice as many."""
ENOUGH_MET = 5
"""Episodes after which the longest of them says how long episodes are, where states end them."""
GUESS, LEAST = 1.0, 0.1
"""The separation that is assumed before two clusters show one, and the least that ever is."""


@dataclass
class SequentialMemory:
    """What the sequential agent remembers.

    clusters
        what is known of each, in order of first appearance.
    met
        how many episodes.
    abstentions
        episodes that were put in no cluster.
    limit
        what the ln of the wealth had to reach to reject a cluster in the last episode.
    longest
        steps of the longest episode.
    shared
        what the learner knows of all worlds alike.
    traces
        the evidence of some episodes.
    """

    clusters: Annotated[list[Known], Within(most="episodes")] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    abstentions: Annotated[int, Within(0, "episodes")] = 0
    limit: float = 0.0
    longest: Annotated[int, Within(0)] = 0
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)
    traces: Traces = field(default_factory=Traces)


Gatherer: TypeAlias = SeekBehaviour | WatchedBehaviour
"""A behaviour that gathers evidence until there is a verdict."""


class SequentialAOMultiRL(Agent):
    """Identifies as soon as the evidence allows, with the paper's guarantee.

    Parameters
    ----------
    failure
        p, how probable it may be that what is promised does not hold.
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
    explorer
        how to gather evidence; by default where it is missing most.  With any other explorer, such as
        ``ao.exploring.GOSPRL()``, every target is visited ever more often until there is a verdict.
    learner
        how to act after the verdict; the practical learner by default.
    """

    recognition = "evidence"
    pair_bytes = 120
    keeps: ClassVar[type] = SequentialMemory
    kept: SequentialMemory

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
        explorer: Explorer = Seeker(),
        learner: Learner = Practical(),
    ) -> None:
        self.failure, self.horizon, self.separation, self.models = failure, horizon, separation, models
        self.distinguishing_set = None if distinguishing_set is None else as_pairs(distinguishing_set)
        self.samples, self.learning, self.rewards = samples, learning, rewards
        self.explorer, self.learner = explorer, learner
        self.pair_bytes = max(type(self).pair_bytes, getattr(learner, "pair_bytes", 0))

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
        check_is_explorer(self.explorer)
        check_is_learner(self.learner)
        share = Share(self.failure, setting.episodes, self.n_models or setting.episodes, self.horizon)
        self._learning = self.learner.begin(learner_setting(self.rewards, setting), self.horizon, share)
        self.kept = SequentialMemory(shared=self._learning.shared())
        self._known: Knowledge | None = None
        self._gatherer: Gatherer | None = None
        if self.learning and self._is_hopeless():
            self._warn(f"an episode has {self._room():,}")

    def _warn(self, room: str) -> None:
        """Say that no episode is long enough to make a cluster, and how much ``room`` there is."""
        pairs, visits = int(self._targets.sum()), self._samples(self.level() / 2.0)
        warnings.warn(
            f"a cluster takes {pairs:,} pairs x {visits:,} visits = {pairs * visits:,} steps, and {room}: this agent "
            "puts every episode in none, and acts for reward alone; give a longer horizon, a distinguishing_set or "
            "fewer samples, or take ao.agents.Recall"
        )

    def _room(self) -> int:
        """Steps that an episode may have; where states end them, the longest of those so far says it."""
        most = min(self.horizon, self.setting.longest or self.horizon)
        return most if self.kept.met < ENOUGH_MET else min(most, self.kept.longest)

    def _is_hopeless(self) -> bool:
        """There is no cluster, and no episode is long enough to make one."""
        return not self.clusters and int(self._targets.sum()) * self._samples(self.level() / 2.0) > self._room()

    def _note(self, steps: int) -> None:
        """An episode of so many steps is over; say so where this shows that episodes are too short for a cluster."""
        worked = not self._is_hopeless()
        self.kept.met, self.kept.longest = self.kept.met + 1, max(self.kept.longest, steps)
        if self.learning and worked and self._is_hopeless():
            self._warn(f"the longest of the first {self.kept.met} episodes had {self.kept.longest:,}")

    @property
    def clusters(self) -> list[CountTable]:
        """The counts of each cluster, in order of first appearance."""
        return [cluster.counts for cluster in self.kept.clusters]

    @clusters.setter
    def clusters(self, tables: Iterable[CountTable]) -> None:
        nothing = self._learning.nothing
        self.kept.clusters = [replace(nothing(), counts=table) for table in tables]

    @property
    def abstentions(self) -> int:
        """How many episodes were put in no cluster."""
        return self.kept.abstentions

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

    def _evidence_gatherer(self) -> Gatherer:
        """The behaviour that identifies this episode."""
        n_states, n_actions = self.setting.n_states, self.setting.n_actions
        if self._known is None:
            self._known = knowledge(self.clusters, n_states * n_actions, n_states)
        gap, count, every = self.level() / 2.0, len(self.clusters), self.n_models
        sizes = (n_states, n_states * n_actions, int(self._targets.sum()), count)
        rules = levels(*sizes, self.setting.episodes, self.failure, gap, every)
        aim = SURVIVE if every is not None and count == every else CERTIFY
        seen, needed = evidence(self._known, self._targets), self._samples(gap)
        if type(self.explorer) is Seeker:  # a class derived from it has a behaviour of its own
            discount = self.explorer.discount_for(every)
            return seek(self._gammas, self._known, seen, rules, n_states, needed, aim, discount)
        first = needed if count == 0 else FIRST_VISITS
        inner = self.explorer.behaviour(self._targets, first, self.failure)
        return watched(inner, self._gammas, self._known, seen, rules, aim)

    def _further(self, gatherer: Gatherer) -> Gatherer | None:
        """What to visit next once an explorer has made its visits; None where there is a verdict, or can be none.

        In a new world every target is visited often enough to be recognised by later; otherwise every target that is
        not certified twice as often as before.
        """
        verdict, seen = gatherer.task[VERDICT], gatherer.seen
        if not isinstance(gatherer, WatchedBehaviour) or verdict == ACCEPTED:
            return None
        if verdict == NONE and seen.state[ALIVE] == 0:
            return None
        targets, needed = self._targets.reshape(-1), self._samples(self.level() / 2.0)
        if verdict == NONE:
            targets = targets & ~seen.certified
            needed = FIRST_VISITS + 2 * int(seen.total[targets].min())
        due = (targets & (seen.total < needed)).reshape(self._targets.shape)
        if not due.any():
            return None
        inner = self.explorer.behaviour(due, needed, self.failure)
        return gatherer._replace(table=empty_table(self.setting.n_states), inner=inner)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, tally = self._learning, self._learning.tally()
        if self.learning and self._is_hopeless():
            return (yield from self._act_alone(tally, start, stream))
        ran, trace, gatherer, finished = yield from self._identify(tally, start)
        verdict = int(gatherer.task[VERDICT]) if finished else NONE
        number = int(gatherer.seen.state[LEADER]) if verdict == ACCEPTED else len(self.clusters)
        known = self.kept.clusters[number] if verdict == ACCEPTED else learning.nothing()
        spent = trace["steps"][-1]
        learns = self.learning and spent < self.horizon
        if learns:
            here, steps = ran.outcome.state, self.horizon - spent
            behaviour = learning.act(known.during(tally), steps, stream)
            ran = yield from run_phase(Phase(behaviour, steps, tally.counts, tally.sums), here)

        learning.learn(known, ran)
        plan = learning.best(known, self.horizon, stream) if learns else None
        self.kept.shared, self.kept.limit = learning.shared(), _limit(gatherer)
        self._note(spent + (ran.outcome.steps if learns else 0))
        self._keep(trace, verdict, number)
        if verdict == NONE:
            self.kept.abstentions += 1
            return Report(-1, False, False, plan, self.horizon, (tally.counts,), abstained=True)
        if verdict == NEW:
            self.kept.clusters.append(known)
        self._known = None
        return Report(number, verdict == NEW, True, plan, self.horizon, (known.counts,), certified=verdict == ACCEPTED)

    def _act_alone(self, tally: Tally, start: int, stream: RandomStream) -> Episode:
        """Act for reward where nothing can be identified: what this episode shows of its world is all that is known."""
        learning, known = self._learning, self._learning.nothing()
        behaviour = learning.act(known.during(tally), self.horizon, stream)
        ran = yield from run_phase(Phase(behaviour, self.horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        self.kept.shared, self.kept.abstentions = learning.shared(), self.kept.abstentions + 1
        self._note(ran.outcome.steps)
        plan = learning.best(known, self.horizon, stream)
        return Report(-1, False, False, plan, self.horizon, (known.counts,), abstained=True)

    def _identify(
        self, tally: Tally, start: int
    ) -> Generator[Phase, Outcome, tuple[Ran, dict[str, Any], Gatherer, bool]]:
        """Explore until there is a verdict, if any, writing down the evidence ever more rarely."""
        trace: dict[str, Any] = {"steps": [], "against": [], "certified": []}
        gatherer, spent, stride, finished, here = self._evidence_gatherer(), 0, FIRST_LOOK, False, start
        while spent < self.horizon and not finished:
            self._gatherer = gatherer
            phase = Phase(gatherer, min(stride, self.horizon - spent), tally.counts, tally.sums, "clustering")
            ran = yield from run_phase(phase, here)
            spent, finished, here = spent + ran.outcome.steps, ran.outcome.finished, ran.outcome.state
            stride = max(stride, spent)
            trace["steps"].append(spent)
            trace["against"].append(_evidence_against(gatherer))
            trace["certified"].append(int(self._targets.sum()) - int(gatherer.seen.state[OPEN]))
            if ran.outcome.steps == 0:
                break
            if finished and (further := self._further(gatherer)) is not None:
                gatherer, finished = further, False
        return ran, trace, gatherer, finished

    def _keep(self, trace: dict[str, Any], verdict: int, number: int) -> None:
        words = {ACCEPTED: "accepted", NEW: "new"}.get(int(verdict), "abstained")
        cluster = number if words != "abstained" else -1
        self.kept.traces.keep(Trace(self.kept.met - 1, words, cluster, trace))

    def evidence(self, explored: CountTable) -> list[Evidence]:
        if self._gatherer is None:
            return []
        seen, limit, leader = self._gatherer.seen, _limit(self._gatherer), self._gatherer.seen.state[LEADER]
        done, every = int(seen.certified.sum()), int(self._targets.sum())
        return [
            Evidence(
                number,
                value,
                limit,
                not seen.alive[number],
                "ln evidence against it",
                (done, every) if number == leader else None,
            )
            for number, value in enumerate(_evidence_against(self._gatherer))
        ]

    def restore(self, kept: SequentialMemory) -> None:
        for number, cluster in enumerate(kept.clusters):
            check_known(cluster, self._learning.nothing(), f"memory.clusters[{number}]")
        check_shared(kept.shared, self._learning)
        super().restore(kept)
        self._learning.take_shared(kept.shared)

    def memory(self, stream: RandomStream) -> Memory:
        return Memory(
            [Remembered(cluster.counts, self._first_actions(cluster, stream)) for cluster in self.kept.clusters],
            np.flatnonzero(self._targets),
            self.level() / 2.0,
        )

    def _first_actions(self, cluster: Known, stream: RandomStream) -> NDArray[np.int32]:
        return np.asarray(self._learning.best(cluster, self.horizon, stream).reshape(-1, self.setting.n_states)[0])

    def findings(self) -> dict[str, Any]:
        return {
            "guarantee": self.separation is not None and self.abstentions == 0,
            "separation": self.level(),
            "samples": self._samples(self.level() / 2.0),
            "abstentions": self.abstentions,
            "evidence": {"limit": self.kept.limit, "episodes": self.kept.traces.as_dicts()},
        }


def _limit(gatherer: Gatherer) -> float:
    """What the ln of the wealth must reach to reject a cluster."""
    return gatherer.levels.reject - math.log(gatherer.levels.betting)


def _evidence_against(gatherer: Gatherer) -> list[float]:
    """ln of the wealth against each cluster; at least what rejects it where it is rejected."""
    limit, seen = _limit(gatherer), gatherer.seen
    against = []
    for c, lives in enumerate(seen.alive):
        wealth = float(ln_wealth(seen.wealth, c, -np.inf)) if len(seen.alive) > 1 else 0.0
        against.append(min(wealth, limit) if lives else max(wealth, limit))
    return [max(value, -50.0) for value in against]

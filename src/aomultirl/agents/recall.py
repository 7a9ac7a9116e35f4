"""Recall: identify while acting.

Memory has two tiers.  A *world* is what the agent believes it has met: all counts of the episodes that are held to be
it, which are read again as evidence grows (:mod:`.rereading`).  They serve to act, and to propose what to bet on, and
nothing else.  Some worlds are *proven* clusters too, with counts that are certain to be of one world (up to the
probability of failure, and to the resolution); only these serve as nulls of tests.  So mistakes cost reward, and never
contaminate what is proven.

- A cluster is founded when every cluster is rejected: by the counts of that episode.
- An episode is put in cluster c when all others are rejected, c is the likeliest hypothesis, and pairs that make up
  COVER of its steps are certified to agree with c.  Half-way through the episode it is settled which pairs are
  certified; what is counted at these in the other half joins the cluster.  Chosen before they were seen, these
  counts are a fair sample; adding those that were found to agree would bias the cluster towards itself.
- Anything else is put in no cluster (-1).

So the number of a cluster says: the rows that make up most of this episode agree, and every other cluster is ruled
out.  It is no proof that the world is the same where it was not looked at.  ``certified`` is True only if every pair
is.  The *name* of a world, in turn, says what the agent believes, of every episode, and how sure it is.
"""

import math
from collections.abc import Generator
from copy import deepcopy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, records
from aomultirl.agents.base import (
    Agent,
    Episode,
    Evidence,
    Memory,
    Remembered,
    Report,
    learner_setting,
    read_failure,
)
from aomultirl.agents.recall_memory import RecallMemory, Verdict, World, add_since
from aomultirl.agents.rereading import Rereading
from aomultirl.agents.tracing import Trace
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import Knowledge
from aomultirl.identifying.proof import (
    BETTING,
    EpisodeCounts,
    at_places,
    certified_pairs,
    growth,
    is_rejected,
    ln_against,
    standards,
)
from aomultirl.learning import Tally
from aomultirl.learning.alpha_vectors import is_worth_it, vectors
from aomultirl.learning.beliefs import BeliefBehaviour, act_alone, act_on_beliefs, settle, settle_episode
from aomultirl.learning.optimism import planner
from aomultirl.learning.practical import Practical
from aomultirl.learning.row_likelihoods import ENDS, Floats
from aomultirl.setting import Setting

SURE = 0.999
"""Posterior probability at which an episode is almost certain to be of a world."""
RESOLVED = 0.99
"""Posterior probability above which it is said to be resolved which world an episode was."""
CHUNK, NEEDED, TRIES = 8, 30, 3
"""Steps between two looks at what is proven, at least; visits that make a pair well known; tries to prove a world."""
FIRST_LOOK = 25
"""Steps after which the beliefs are first written down; then after twice as many."""


class Recall(Agent):
    """Acts from the first step on what it remembers, and commits to memory on proof.

    Parameters
    ----------
    failure
        p: with probability 1 - p no cluster is founded twice, and no pair's counts join a cluster that differs there,
        provided that the rows of two worlds are equal or at least ``resolution`` apart.
    horizon
        H.
    resolution
        l1 distance of two rows that matters.
    proof
        share of an episode that may be spent on proof in a world that is no cluster yet.
    rewards
        "known", or "unknown": estimated.
    learner
        a :class:`aomultirl.learning.Practical` with other numbers than the default ones.
    """

    recognition = "belief"
    pair_bytes = 180
    keeps: ClassVar[type] = RecallMemory
    kept: RecallMemory

    def __init__(
        self,
        failure: float,
        horizon: int,
        resolution: float = 0.5,
        *,
        proof: float = 0.05,
        rewards: str = "known",
        learner: Practical = Practical(),
    ) -> None:
        self.failure, self.horizon, self.resolution = failure, horizon, resolution
        self.proof, self.rewards, self.learner = proof, rewards, learner

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        failure = read_failure(self.failure)
        checks.integer("horizon", self.horizon, least=1)
        checks.real("proof", self.proof, least=0.0, most=0.5)
        resolution = checks.real("resolution", self.resolution, above=0.0, most=2.0)
        n_pairs = setting.n_states * setting.n_actions
        self._rules = standards(setting.n_states, n_pairs, setting.episodes, failure, resolution)
        self._gammas = gammas()
        if not isinstance(self.learner, Practical):
            raise checks.Refusal("learner", f"is {checks.shown(self.learner)}, not ao.learning.Practical(...)")
        self._learning = self.learner.begin(learner_setting(self.rewards, setting), self.horizon)
        self._take_over(RecallMemory())
        self._now: tuple[BeliefBehaviour, Knowledge, Knowledge, list[World]] | None = None

    def _take_over(self, kept: RecallMemory) -> None:
        self.kept = kept
        setting = self.setting
        self._reading = Rereading(kept, setting.n_states, setting.n_actions, self._learning.learns_rewards)

    @property
    def worlds(self) -> list[World]:
        """Everything that was met."""
        return self.kept.worlds

    @property
    def clusters(self) -> int:
        """How many worlds are proven."""
        return sum(world.proven is not None for world in self.worlds)

    @property
    def abstentions(self) -> int:
        """How many episodes were put in no cluster."""
        return self.kept.abstentions

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        known, proven = self._recollect()
        tally = self._learning.tally()
        counts, sums = tally.counts, tally.sums
        behaviour = self._behaviour(sums, stream)
        self._now = behaviour, known, proven, list(self.worlds)
        trace = yield from self._first_half(behaviour, counts, sums)
        everyone = [number for number, world in enumerate(self.worlds) if world.proven is not None]
        early = self._judge(behaviour, known, proven, counts, everyone)
        before = counts.to_lists()
        spent = yield from self._prove(early, behaviour, known, proven, counts, sums)
        yield Phase(behaviour, self.horizon - self.horizon // 2 - spent, counts, sums)
        late = self._judge(behaviour, known, proven, counts, early.survivors)

        self._keep_values(behaviour)
        report = self._remember(early, late, before, tally, behaviour, spent, stream)
        trace["steps"].append(int(counts.to_lists()[2].sum()))
        trace["belief"].append(_posterior(behaviour))
        self._keep(trace, report)
        return report

    def _first_half(
        self, behaviour: BeliefBehaviour, counts: CountTable, sums: NDArray[np.float64]
    ) -> Generator[Phase, Outcome, dict[str, Any]]:
        """Act, writing down the beliefs ever more rarely."""
        trace: dict[str, Any] = {"steps": [], "belief": []}
        spent, stride, most = 0, FIRST_LOOK, self.horizon // 2
        while spent < most:
            outcome = yield Phase(behaviour, min(stride, most - spent), counts, sums)
            spent, stride = spent + outcome.steps, max(stride, spent + outcome.steps)
            settle_episode(behaviour, counts)
            trace["steps"].append(spent)
            trace["belief"].append(_posterior(behaviour))
            if outcome.steps == 0:
                break
        return trace

    def _keep(self, trace: dict[str, Any], report: Report) -> None:
        words = "new" if report.new_cluster else "accepted" if report.cluster >= 0 else "abstained"
        self.kept.traces.keep(Trace(self.kept.met - 1, words, report.cluster, trace))

    def _prove(
        self,
        verdict: Verdict,
        behaviour: BeliefBehaviour,
        known: Knowledge,
        proven: Knowledge,
        counts: CountTable,
        sums: NDArray[np.float64],
    ) -> Generator[Phase, Outcome, int]:
        """Spend steps on proof in a world that is no cluster yet: against survivors, then where it is little known."""
        likely, spent = verdict.likely, 0
        if not verdict.sure or (
            likely < len(self.worlds) and (self.worlds[likely].proven is not None or self.worlds[likely].tries >= TRIES)
        ):
            return 0
        budget = int(self.proof * self.horizon)
        while spent < budget:
            believed = episode = at_places(known, counts, self.setting.n_states)
            if likely < len(self.worlds):
                believed = EpisodeCounts(episode.here + known.seen[likely], episode.total + known.visits[likely])
            survivors = np.array(verdict.survivors, np.int64)
            worth = growth(self._gammas, proven, believed, self._rules, survivors)
            if not verdict.survivors:
                worth = (episode.total < NEEDED).astype(np.float64)
            if worth.max() == 0.0:
                break
            steps = min(max(CHUNK, budget // 16), budget - spent)
            yield Phase(self._seeker(behaviour, worth, steps, counts), steps, counts, sums, "clustering")
            spent += steps
            verdict = self._judge(behaviour, known, proven, counts, verdict.survivors)
        return spent

    def _seeker(
        self, behaviour: BeliefBehaviour, worth: NDArray[np.float64], steps: int, counts: CountTable
    ) -> BeliefBehaviour:
        """The same learner in the likeliest world, with the worth of evidence in place of the rewards."""
        setting, likely = self.setting, int(np.argmax(behaviour.beliefs.scores))
        goals = (worth / worth.max()).reshape(setting.n_states, setting.n_actions)
        counted = behaviour.planner.counted[likely : likely + 1]
        seeking = act_alone(planner(self._reading.rows.layout, counted, goals, steps, self._learning.options))
        settle(seeking, counts.record)
        return seeking

    def _recollect(self) -> tuple[Knowledge, Knowledge]:
        """What is believed of each world and what is proven, at the same places."""
        known = self._reading.rows.knowledge()
        seen, visits = np.zeros_like(known.seen), np.zeros_like(known.visits)
        for place, world in enumerate(self.worlds):
            if world.proven is not None:
                seen[place], visits[place] = at_places(known, world.proven, self.setting.n_states)
        return known, Knowledge(known.starts, known.states, seen, visits)

    def _behaviour(self, sums: Floats, stream: RandomStream) -> BeliefBehaviour:
        """Act on what is remembered of every world, and of a new one."""
        kept, rows, worlds = self.kept, self._reading.rows, self.worlds
        fresh = self._learning.nothing().own["values"]
        values = np.array([*(world.values for world in worlds), fresh])
        plan = self._learning.planner(rows.layout, rows.to_plan_with(doubts=True), sums, stream, values)
        if not worlds:
            return act_alone(plan)
        prior = np.array([*(0.5 + world.met for world in worlds), 1.0 / (1.0 + kept.met)])
        prior /= prior.sum()
        count, n_states = values.shape
        first, last = rows.layout.first[[rows.layout.n_pairs, rows.layout.n_pairs + n_states]]
        ends = bool(rows.pooled[first + ENDS : last : 2].any())
        width = first / rows.layout.n_pairs
        if not is_worth_it(ends, self.setting.n_actions, n_states, width, count):
            return act_on_beliefs(plan, rows, prior)
        old = None
        if kept.vectors_of == [world.name for world in worlds] and len(kept.vectors) == n_states * (count + 1) * count:
            old = kept.vectors.reshape(n_states, count + 1, count)
        return act_on_beliefs(plan, rows, prior, vectors(plan, prior, old))

    def _keep_values(self, behaviour: BeliefBehaviour) -> None:
        for place, world in enumerate(self.worlds):
            world.values = behaviour.planner.values[place].copy()
        kept = behaviour.vectors.alpha
        self.kept.vectors, self.kept.vectors_of = kept.ravel().copy(), [world.name for world in self.worlds]

    def _judge(
        self, behaviour: BeliefBehaviour, known: Knowledge, proven: Knowledge, counts: CountTable, candidates: list[int]
    ) -> Verdict:
        """What the counts so far say; of the ``candidates`` those survive that are not rejected now either."""
        settle_episode(behaviour, counts)
        scores = behaviour.beliefs.scores
        likely = int(np.argmax(scores))
        new = likely == len(self.worlds)
        sure = bool(1.0 / np.exp((scores if new else scores[:-1]) - scores[likely]).sum() >= SURE)
        episode = at_places(known, counts, self.setting.n_states)
        total = episode.total
        survivors = []
        for number in candidates:
            others = np.array([i for i in range(len(self.worlds)) if i != number], np.int64)
            if not is_rejected(self._gammas, proven, known, episode, self._rules, number, others):
                survivors.append(number)
        certified, cover = np.zeros(len(total), bool), 0.0
        if survivors == [likely]:
            certified = certified_pairs(self._gammas, proven, episode, self._rules, likely, self.clusters)
            cover = float(total[certified].sum()) / max(1, int(total.sum()))
        return Verdict(likely, sure, survivors, certified, cover)

    def _remember(
        self,
        early: Verdict,
        late: Verdict,
        before: Any,
        tally: Tally,
        behaviour: BeliefBehaviour,
        spent: int,
        stream: RandomStream,
    ) -> Report:
        counts, worlds = tally.counts, list(self.worlds)
        clusters = [world for world in worlds if world.proven is not None]
        survivors = [worlds[place] for place in late.survivors]
        founded = not survivors
        barred = [world for world in clusters if world not in survivors]
        past = self._reading.take_in(counts, tally.sums, behaviour.planner.values[-1], stream, barred)
        world = self.worlds[past.world]
        world.tries += spent > 0
        if early.proven:
            host = worlds[early.likely]
            assert host.proven is not None
            add_since(host.proven, before, counts, early.certified)
        accepted = late.proven or (early.proven and early.likely in late.survivors)
        if founded:
            world.number, world.proven = len(clusters), CountTable(len(counts.record.heads))
            world.proven.add(counts)
        elif accepted:
            world = worlds[(late if late.proven else early).likely]
        if founded or accepted:
            self._reading.settle(past, world)
        else:
            self.kept.abstentions += 1
        report = self._report(world, past.sure, founded, accepted, bool(late.certified.all()))
        self._reading.look_back(stream)
        return report

    def _report(self, world: World, sure: float, founded: bool, accepted: bool, certified: bool) -> Report:
        """With the policy that is best for all that is believed of the world that the episode was taken for."""
        counts, sums = self._reading.rows.table(self.worlds.index(world))
        plan = self._learning.first_actions(Tally(counts, sums))
        return Report(
            world.number if founded or accepted else -1,
            evaluation=plan,
            evaluation_horizon=self.horizon,
            samples=(counts,),
            new_cluster=founded,
            certified=accepted and certified,
            abstained=not (founded or accepted),
            world=world.name,
            sure=sure,
        )

    def evidence(self, explored: CountTable) -> list[Evidence]:
        if self._now is None:
            return []
        behaviour, known, proven, worlds = self._now
        behaviour = deepcopy(behaviour)  # settling it would make the episode look at entries that it keeps
        episode = at_places(known, explored, self.setting.n_states)
        settle_episode(behaviour, explored)
        belief, limit = _posterior(behaviour), self._rules.reject - math.log(BETTING)
        found = []
        count = len(worlds)  # as the episode began: there may be others by now
        for number, world in enumerate(worlds):
            if world.proven is not None and proven.visits[number].any():
                others = np.array([i for i in range(count) if i != number], np.int64)
                against = ln_against(self._gammas, proven, known, episode, self._rules, number, others)
                told = (max(against, -50.0), limit, bool(against >= limit), "ln evidence against it")
                found.append(Evidence(world.number, *told, belief=belief[number]))
        return sorted(found, key=lambda one: one.cluster)

    def beliefs(self, explored: CountTable) -> dict[int, float]:
        if self._now is None:
            return {}
        behaviour, _, _, worlds = self._now
        shares = _posterior(behaviour)
        return {**{world.name: share for world, share in zip(worlds, shares, strict=False)}, -1: shares[-1]}

    def rescale_rewards(self, times: float, plus: float, rest: float) -> None:
        for world in self.worlds:
            world.values = times * world.values + plus / (1.0 - self.learner.discount)
        self.kept.vectors = np.empty(0)
        super().rescale_rewards(times, plus, rest)
        if self._learning.learns_rewards:
            self._reading.rescale_rewards(times, plus)

    def restore(self, kept: RecallMemory) -> None:
        kept.check(self.setting.n_states, self.setting.n_pairs, self._learning.learns_rewards)
        nothing = self._learning.nothing()
        for place, world in enumerate(kept.worlds):
            records.check_like({"sums": world.sums}, {"sums": nothing.sums}, f"memory.worlds[{place}]")
        self._take_over(kept)

    def memory(self, stream: RandomStream) -> Memory:
        clusters = sorted((world for world in self.worlds if world.proven is not None), key=lambda world: world.number)
        return Memory(
            [Remembered(world.proven, self._learning.first_actions(world)) for world in clusters if world.proven],
            np.arange(self.setting.n_states * self.setting.n_actions),
            None,
        )

    def findings(self) -> dict[str, Any]:
        return {
            "assumes": f"rows of two worlds are equal or at least {self.resolution:g} apart",
            "resolution": self.resolution,
            "worlds": len(self.worlds),
            "shared": dict(zip(("transitions", "ends", "rewards"), self.kept.shared.round(4).tolist(), strict=True)),
            "unresolved": sum(past.sure < RESOLVED for past in self.kept.past),
            "abstentions": self.abstentions,
            "evidence": {"episodes": self.kept.traces.as_dicts()},
        }


def _posterior(behaviour: BeliefBehaviour) -> list[float]:
    """Of every world in memory, and of a new one last."""
    scores = behaviour.beliefs.scores
    shares = np.exp(scores - scores.max())
    return (shares / shares.sum()).round(6).tolist()  # type: ignore[no-any-return]

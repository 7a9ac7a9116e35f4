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

from collections.abc import Generator, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Episode, Evidence, Memory, Remembered, Report, learner_setting, read_failure
from aomultirl.agents.game import check_free
from aomultirl.agents.recall_levels import added_up, level_values, notes_for
from aomultirl.agents.recall_memory import RecallMemory, World, with_since
from aomultirl.agents.remembering import check_groups, read_groups
from aomultirl.agents.rereading import Rereading
from aomultirl.agents.tracing import Trace
from aomultirl.agents.verdicts import Verdict, Witness, posterior, posterior_after, witness
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Outcome, Phase
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.proof import standards
from aomultirl.learning import Tally
from aomultirl.learning.alpha_vectors import is_worth_it, vectors
from aomultirl.learning.beliefs import BeliefBehaviour, act_alone, act_on_beliefs, settle, settle_episode
from aomultirl.learning.novelty import LEVEL, chance_of_known
from aomultirl.learning.planner import planner
from aomultirl.learning.practical import Practical
from aomultirl.learning.row_likelihoods import ENDS, Floats
from aomultirl.setting import Setting

CHUNK, TRIES = 8, 3
"""Steps between two looks at what is proven, at least; episodes that try in vain to prove a world."""
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
        H, the steps of an episode.
    resolution
        l1 distance of two rows that matters.
    proof
        share of an episode that may be spent on proof in a world that is no cluster yet.
    rewards
        "known": the agent is told what every pair of state and action earns; or "unknown": it estimates that.
    learner
        how it acts in a world: a ``Practical`` of :mod:`aomultirl.learning` with other numbers than the default ones.
    """

    recognition = "belief"
    pair_bytes = 250
    keeps: ClassVar[type] = RecallMemory

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
        self._groups, self._refused = list[list[Any]](), False

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
        self.kept = RecallMemory()
        self._refused = True
        for groups in self._groups:
            self._read_groups(groups)
        self._refused = False
        self._now: tuple[BeliefBehaviour, Witness] | None = None

    @property
    def kept(self) -> RecallMemory:
        """What is remembered.  Tables of counts are made here, where somebody asks: they take long in large worlds."""
        memory = self._memory
        self._reading.write_down()
        return memory

    @kept.setter
    def kept(self, kept: RecallMemory) -> None:
        setting = self.setting
        self._reading = Rereading(kept, setting.n_states, setting.n_actions, self._learning.learns_rewards)

    @property
    def _memory(self) -> RecallMemory:
        """What is remembered, but for the tables of counts, which :attr:`kept` makes."""
        if "_reading" not in vars(self):
            raise AttributeError("Recall has met nothing yet: ao.run, ao.interact or agent.play begin with it")
        return self._reading.memory

    def remember(self, groups: Any) -> None:
        """Start with a memory: what logs or models say of worlds.

        Before the first episode, every run of the agent begins with it (where it refuses, the next memory that is given
        takes its place); later it is added to what is remembered.  It serves to act, and proves nothing.  Worlds of one
        list are different ones, however little is said of them; another list may be about the same.  An agent that is
        saved and loaded goes on with what it remembered; a new run of it begins with nothing.

        Parameters
        ----------
        groups
            a list with one entry for every world: an :class:`aomultirl.MDP`; counts of transitions, (S, A, S) or sparse
            (S * A, S); or {"counts": such counts, "rewards": (S, A), what pairs have earned in all, "ends": (S,), how
            many episodes ended on arriving in each state}.  Rewards are as the agent is shown them, within [0, 1] a
            visit: with ``reward_range=(low, high)`` a reward of r counts (r - low) / (high - low).

        Examples
        --------
        >>> import aomultirl as ao
        >>> models = ao.worlds.gridworld()
        >>> agent = ao.agents.Recall(0.05, horizon=300)
        >>> agent.remember(models)
        >>> history = ao.run(agent, models, ao.streams.uniform(), episodes=8)
        >>> len(agent.worlds)
        4
        """
        found = check_groups(groups)
        check_free(self)
        if self._refused:  # by the run that was to begin with it
            self._groups, self._refused = [found], False
        elif "setting" in vars(self):
            self._read_groups(found)
        else:
            self._groups.append(found)

    def why_unsaved(self) -> str:
        if "setting" in vars(self) or not self._groups:
            return ""
        return "what it remembers is read by its first run: save it after that, or let it remember once it is loaded"

    def _read_groups(self, groups: Sequence[Any]) -> None:
        if known := read_groups(groups, self.setting, self._learning.learns_rewards):
            self._reading.begin_with(known, self._learning.nothing().own["values"])

    @property
    def worlds(self) -> list[World]:
        """Everything that was met; the counts of worlds are those of now, and later ones take asking again."""
        return self.kept.worlds

    @property
    def clusters(self) -> int:
        """How many worlds are proven."""
        return sum(world.proven is not None for world in self._memory.worlds)

    @property
    def abstentions(self) -> int:
        """How many episodes were put in no cluster."""
        return self._memory.abstentions

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        worlds, known = self._memory.worlds, self._reading.rows.knowledge()
        against = witness(worlds, known, self._rules, self._gammas, self.setting.n_states)
        tally = self._learning.tally()
        counts, sums = tally.counts, tally.sums
        behaviour = self._behaviour(sums, stream)
        self._now = behaviour, against
        trace = yield from self._first_half(behaviour, counts, sums)
        early = self._judge(behaviour, against, counts, against.clusters)
        before = counts.to_lists()
        spent = yield from self._prove(early, behaviour, against, tally)
        yield Phase(behaviour, self.horizon - self.horizon // 2 - spent, counts, sums)
        late = self._judge(behaviour, against, counts, early.survivors)

        with self._reading.all_or_nothing():
            self._keep_values(behaviour)
            report = self._remember(early, late, before, tally, behaviour, spent, stream)
            trace["steps"].append(int(counts.to_lists()[2].sum()))
            trace["belief"].append(posterior(behaviour))
            self._keep(trace, report)
        return report

    def _first_half(
        self, behaviour: BeliefBehaviour, counts: CountTable, sums: NDArray[np.float64]
    ) -> Generator[Phase, Outcome, dict[str, Any]]:
        """Act, writing down the beliefs ever more rarely."""
        trace: dict[str, Any] = {"steps": [], "belief": [], "worlds": [world.name for world in self._memory.worlds]}
        spent, stride, most = 0, FIRST_LOOK, self.horizon // 2
        while spent < most:
            outcome = yield Phase(behaviour, min(stride, most - spent), counts, sums)
            spent, stride = spent + outcome.steps, max(stride, spent + outcome.steps)
            settle_episode(behaviour, counts)
            trace["steps"].append(spent)
            trace["belief"].append(posterior(behaviour))
            if outcome.steps == 0:
                break
        return trace

    def _keep(self, trace: dict[str, Any], report: Report) -> None:
        words = "new" if report.new_cluster else "accepted" if report.cluster >= 0 else "abstained"
        self._memory.traces.keep(Trace(self._memory.met - 1, words, report.cluster, trace))

    def _prove(
        self, verdict: Verdict, behaviour: BeliefBehaviour, against: Witness, tally: Tally
    ) -> Generator[Phase, Outcome, int]:
        """Spend steps on proof in a world that is no cluster yet: against survivors, then where it is little known."""
        likely, spent, counts, worlds = verdict.likely, 0, tally.counts, self._memory.worlds
        if not verdict.sure or (
            likely < len(worlds) and (worlds[likely].proven is not None or worlds[likely].tries >= TRIES)
        ):
            return 0
        budget = int(self.proof * self.horizon)
        while spent < budget:
            worth = against.worth_of_proof(verdict, counts)
            if worth.max() == 0.0:
                break
            steps = min(max(CHUNK, budget // 16), budget - spent)
            yield Phase(self._seeker(behaviour, worth, steps, counts), steps, counts, tally.sums, "clustering")
            spent += steps
            verdict = self._judge(behaviour, against, counts, verdict.survivors)
        return spent

    def _seeker(
        self, behaviour: BeliefBehaviour, worth: NDArray[np.float64], steps: int, counts: CountTable
    ) -> BeliefBehaviour:
        """The same learner in the likeliest world, with the worth of evidence in place of the rewards."""
        setting, likely = self.setting, int(np.argmax(behaviour.beliefs.scores))
        goals = (worth / worth.max()).reshape(setting.n_states, setting.n_actions)
        counted, layout = behaviour.planner.counted[likely : likely + 1], self._reading.rows.layout
        seeking = act_alone(planner(layout, counted, goals, steps, self._learning.options), behaviour.notes)
        settle(seeking, counts.record)
        return seeking

    def _behaviour(self, sums: Floats, stream: RandomStream) -> BeliefBehaviour:
        """Act on what is remembered of every world, and of a new one."""
        kept, rows, worlds = self._memory, self._reading.rows, self._memory.worlds
        fresh = self._learning.nothing().own["values"]
        values = np.array([*(world.values for world in worlds), fresh])
        left = min(1.0, (self.setting.episodes - kept.met) / max(1, kept.met))  # of as many episodes as there were
        counted, steps = rows.to_plan_with(doubts=True), left * np.append(rows.steps, 0.0)
        plan = self._learning.planner(rows, counted, sums, stream, values, steps)
        notes = notes_for(kept, rows, plan.here)
        if not worlds:
            return act_alone(plan, notes)
        prior = np.array([*(0.5 + world.met for world in worlds), 1.0 / (1.0 + kept.met)])
        prior /= prior.sum()
        count, n_states = values.shape
        first, last = rows.layout.first[[rows.layout.n_pairs, rows.layout.n_pairs + n_states]]
        ends = bool(rows.pooled[first + ENDS : last : 2].any())
        width = first / rows.layout.n_pairs
        if not is_worth_it(ends, self.setting.n_actions, n_states, width, count):
            return act_on_beliefs(plan, rows, prior, None, notes)
        old = None
        if kept.vectors_of == [world.name for world in worlds] and len(kept.vectors) == n_states * (count + 1) * count:
            old = kept.vectors.reshape(n_states, count + 1, count)
        return act_on_beliefs(plan, rows, prior, vectors(plan, prior, old), notes)

    def _keep_values(self, behaviour: BeliefBehaviour) -> None:
        memory = self._memory
        for place, world in enumerate(memory.worlds):
            world.values = behaviour.planner.values[place].copy()
        memory.vectors = behaviour.vectors.alpha.ravel().copy()
        memory.vectors_of = [world.name for world in memory.worlds]

    def _judge(
        self, behaviour: BeliefBehaviour, against: Witness, counts: CountTable, candidates: list[int]
    ) -> Verdict:
        settle_episode(behaviour, counts)
        return against.judge(behaviour.beliefs.scores, counts, candidates)

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
        counts, worlds, fresh = tally.counts, list(self._memory.worlds), behaviour.planner.values[-1]
        clusters = [world for world in worlds if world.proven is not None]
        survivors = [worlds[place] for place in late.survivors]
        founded = not survivors
        barred = [world for world in clusters if world not in survivors]
        is_new = bool(worlds) and chance_of_known(behaviour, self._reading.rows) <= LEVEL
        self._memory.new += is_new
        past = self._reading.take_in(counts, tally.sums, behaviour.notes, fresh, stream, barred, is_new)
        world = self._memory.worlds[past.world]
        world.tries, sure = world.tries + (spent > 0), past.sure
        if early.proven:
            host = worlds[early.likely]
            assert host.proven is not None
            host.proven = with_since(host.proven, before, counts, early.certified)
        accepted = late.proven or (early.proven and early.likely in late.survivors)
        if founded:
            world.number, world.proven = len(clusters), CountTable(len(counts.record.heads))
            world.proven.add(counts)
        elif accepted:
            drawn, place = world, (late if late.proven else early).likely
            world = worlds[place]
            sure = sure if world is drawn else posterior(behaviour)[place]
        if founded or accepted:
            self._reading.settle(past, world)
        else:
            self._memory.abstentions += 1
        report = self._report(world, sure, founded, accepted, bool(late.certified.all()))
        self._reading.look_back(stream)
        return report

    def _report(self, world: World, sure: float, founded: bool, accepted: bool, certified: bool) -> Report:
        """With the policy that is best for all that is believed of the world that the episode was taken for."""
        learned: dict[str, Any] = {}
        if self.evaluates:
            counts, sums = self._reading.rows.table(self._memory.worlds.index(world))
            learned = {"evaluation": self._plan(counts, sums), "samples": (counts,)}
        return Report(
            world.number if founded or accepted else -1,
            **learned,
            evaluation_horizon=self.horizon,
            new_cluster=founded,
            certified=accepted and certified,
            abstained=not (founded or accepted),
            world=world.name,
            sure=sure,
        )

    def _plan(self, counts: CountTable, sums: Floats) -> NDArray[np.int32]:
        """What is best for these counts, with what was earned as a world keeps it."""
        return self._learning.first_actions(Tally(counts, added_up(self._reading.rows, counts, sums)))

    def evidence(self, explored: CountTable) -> list[Evidence]:
        if self._now is None:
            return []
        behaviour, against = self._now
        return against.evidence(explored, posterior_after(behaviour, explored))

    def beliefs(self, explored: CountTable) -> dict[int, float]:
        """By the names of the worlds that were in memory when the episode began; -1 for a new one."""
        if self._now is None:
            return {}
        behaviour, against = self._now
        shares = posterior_after(behaviour, explored)
        return dict(zip([*(world.name for world in against.worlds), -1], shares, strict=True))

    def rescale_rewards(self, times: float, plus: float, rest: float) -> None:
        for world in self._memory.worlds:
            world.values = times * world.values + plus / (1.0 - self._learning.options.discount)
        self._memory.vectors = np.empty(0)
        if self._learning.learns_rewards:
            self._reading.rescale_rewards(times, plus)
        super().rescale_rewards(times, plus, rest)

    def restore(self, kept: RecallMemory) -> None:
        kept.check(self.setting.n_states, self.setting.n_pairs, self._learning.learns_rewards)
        self.kept = kept

    def memory(self, stream: RandomStream) -> Memory:
        clusters = sorted((world for world in self.worlds if world.proven is not None), key=lambda world: world.number)
        return Memory(
            [Remembered(world.proven, self._plan(world.counts, world.sums)) for world in clusters if world.proven],
            np.arange(self.setting.n_states * self.setting.n_actions),
            None,
        )

    def findings(self) -> dict[str, Any]:
        said = {"assumes": f"rows of two worlds are equal or at least {self.resolution:g} apart"}
        memory = self.kept
        rewards = {"rewards": level_values(memory)} if self._learning.learns_rewards else {}
        return {**said, "resolution": self.resolution, **rewards, **memory.findings()}

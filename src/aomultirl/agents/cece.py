"""CECE (Hallak, Di Castro, Mannor 2015): contextual MDPs; cluster a batch, then classify every episode and exploit.

*Cluster.*  In the first E episodes actions are drawn uniformly at random.  After each, the episode joins the first
context, in order of appearance, that it can be compared with and that it agrees with.  Compared are the estimates of
the pairs that both have visited n_0 times or more, and they agree if no l1 distance is delta / 2 or more::

    n_0 = ceil( (32 / delta^2) (S ln 2 + ln(E^2 S A / p)) )

An episode that agrees with none becomes a new context; *unsure* where it could not be compared with some context, and
so may be of a world that is there already.

*Classify.*  Later episodes begin with H_c steps at random, and belong to the context with the largest likelihood, in
which n_c(s, a) are the visits of a pair in context c; of equally likely ones to the first::

    score_c = sum over steps of  ln max{ P_c(s' | s, a),  1 / (n_c(s, a) + S) }
    H_c     = ceil( (8 / delta^2) ln(M / p) )

*Exploit.*  For the rest of the episode a learner acts on all samples of that context, and the episode's are added.
There are no new contexts after the batch.

Setting: contextual MDPs: each episode has a hidden context out of M, drawn at random; *every* pair of states and
actions tells any two contexts apart, by delta or more in l1.  The paper's lambda-separability asks for one such pair.

Must be told: M, delta, p, E and H; that all contexts come up within the batch, and how often, is up to you.

Guarantee.  *Cluster*: n_0 visits keep an estimate within delta / 4 of the truth, all those of the batch with
probability at least 1 - p, also with more visits (:func:`.weissman_samples`); so no episode joins a context of another
world where the visits that are compared are of single episodes.  Where a context has them from several episodes
together, which of these are in it depends on what they showed, and the proof leaves that open.  *Classify*: with the
true rows in place of P_c, each later episode is put in the right context with probability at least 1 - p, whatever S
and A are.  For the root of the likelihood ratio of a wrong context to the right one has at each step a mean of at
most sqrt(1 - delta^2 / 4) <= exp(-delta^2 / 8) (the Hellinger affinity), so by Markov's inequality and a union bound
an error has at most the probability M exp(-H_c delta^2 / 8).  With estimated rows nothing is proven.  *Exploit*: the
learner's own guarantee for one world, as long as no episode is classified wrongly, because samples of a wrong one stay.

Adapted to a stream of tasks: streams need not be random, and then nothing makes contexts come up within the batch: an
adversary that hides one until afterwards defeats this agent, for its episodes are put in the contexts that there are,
and spoil them.  The original's phase between, which explores to refine the models, is the learner's optimism here.

What was uncertain, and how it was settled.  The original partitions the batch by maximum likelihood over all
partitions, which takes time exponential in E (the paper's Appendix A says so too); here greedily, in one pass.  Its
phase lengths: E is asked for, H_c has the constant 8 for the reason above, with p for one episode.  "Unsure" is said
for each context that was not told apart from all others when it appeared; contexts are never merged.  Its learner:
UCRL2 by default, and any other may be given.
"""

import math
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
    check_is_learner,
    check_known,
    check_plan,
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
)
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.identifying.contexts import apart, ln_likelihood, place
from aomultirl.learning import UCRL2, Known, Learner, Share
from aomultirl.records import Within
from aomultirl.setting import Setting

CLASSIFYING = 8.0
"""H_c delta^2 / ln(M / p): by the Hellinger affinity of rows that are delta apart."""


@dataclass
class Context:
    """What is known of one context.

    known
        from all episodes that were put in it.
    episodes
        how many these are.
    unsure
        when it appeared, there was a context with which it could not be compared.
    """

    known: Known
    episodes: Annotated[int, Within(1, "episodes")] = 1
    unsure: bool = False


@dataclass
class ContextMemory:
    """What the agent remembers.

    contexts
        in order of first appearance.
    met
        how many episodes.
    shared
        what the learner knows of all contexts alike.
    """

    contexts: Annotated[list[Context], Within(most="episodes")] = field(default_factory=list)
    met: Annotated[int, Within(0, "episodes")] = 0
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)


@checks.representable
def classifying_horizon(models: int, separation: float, failure: float) -> int:
    """H_c, for M contexts that are delta apart at every pair."""
    return math.ceil(CLASSIFYING / separation**2 * math.log(models / failure))


class CECE(Agent):
    """Clusters a batch of episodes, then classifies each by its first steps and exploits; no new contexts after that.

    :mod:`aomultirl.agents.cece` has the formulas, and what is guaranteed.

    Parameters
    ----------
    models
        M, how many contexts there are.
    separation
        delta, the l1 distance by which any two contexts differ at every pair.
    failure
        p; the learner's confidence has the same.
    horizon
        H, the steps of an episode.
    batch
        E, how many episodes are clustered before any is exploited.
    samples
        n_0 in place of that of the formula.
    classifying_steps
        H_c in place of that of the formula.
    learner
        how to act once the context is known.
    rewards
        "known", or "unknown": estimated.

    Examples
    --------
    >>> import aomultirl as ao
    >>> worlds = ao.worlds.random_models(4, 2, models=2, successors=4, separation=1.99, concentration=0.5, rng=10)
    >>> agent = ao.agents.CECE(2, 1.0, failure=0.1, horizon=2_000, batch=4, samples=50)
    >>> ao.run(agent, worlds, ao.streams.round_robin(), episodes=10)["cluster"].tolist()
    [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]
    >>> agent.findings()
    {'samples': 50, 'classifying_steps': 24, 'contexts': 2, 'episodes of each': [5, 5], 'unsure': []}
    """

    recognition = "samples"
    pair_bytes = 60
    keeps: ClassVar[type] = ContextMemory
    kept: ContextMemory

    def __init__(
        self,
        models: int,
        separation: float,
        failure: float,
        horizon: int,
        batch: int,
        *,
        samples: int | None = None,
        classifying_steps: int | None = None,
        learner: Learner = UCRL2(),
        rewards: str = "known",
    ) -> None:
        self.models, self.separation, self.failure, self.horizon = models, separation, failure, horizon
        self.batch, self.samples, self.classifying_steps = batch, samples, classifying_steps
        self.learner, self.rewards = learner, rewards
        self.pair_bytes = max(type(self).pair_bytes, getattr(learner, "pair_bytes", 0))

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        check_is_learner(self.learner)
        models = checks.integer("models", self.models, least=1)
        checks.real("separation", self.separation, above=0.0, most=2.0)
        failure = read_failure(self.failure)
        horizon = checks.integer("horizon", self.horizon, least=1)
        self._batch = checks.integer("batch", self.batch, least=1)
        self._needed, self._classifying = self._needed_samples(), self._classifying_steps(models)
        if self._needed > horizon:
            words = f"is {self._needed:,} visits of a pair, but horizon is {horizon:,}: no two episodes can be compared"
            raise checks.Refusal("samples", words)
        if self._classifying >= horizon:
            words = f"is {self._classifying:,}, but horizon is {horizon:,}: nothing is left to exploit in"
            raise checks.Refusal("classifying_steps", words)
        if self.learner.plans_by_step:
            check_plan("horizon", horizon, setting)
        share = Share(failure, setting.episodes, models, horizon)
        self._learning = self.learner.begin(learner_setting(self.rewards, setting), horizon, share)
        self.kept = ContextMemory(shared=self._learning.shared())

    def _needed_samples(self) -> int:
        """n_0."""
        samples, setting = self.samples, self.setting
        if samples is None:
            split = self.failure / (float(self._batch) ** 2 * setting.n_pairs)
            samples = theory.weissman_samples(self.separation / 4.0, failure=split, states=setting.n_states)
        return checks.integer("samples", samples, least=1)

    def _classifying_steps(self, models: int) -> int:
        """H_c."""
        steps = self.classifying_steps
        if steps is None:
            steps = classifying_horizon(models, self.separation, self.failure)
        return checks.integer("classifying_steps", steps, least=1)

    @property
    def contexts(self) -> list[CountTable]:
        """The counts of each context, in order of first appearance."""
        return [context.known.counts for context in self.kept.contexts]

    @property
    def is_clustering(self) -> bool:
        """The next episode is one of the batch."""
        return self.kept.met < self._batch

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, tally, steps = self._learning, self._learning.tally(), self.horizon
        wander = act_uniformly(self.setting.n_states, self.setting.n_actions)
        first = steps if self.is_clustering else self._classifying
        ran = yield from run_phase(Phase(wander, first, tally.counts, tally.sums, "clustering"), start)
        if self.is_clustering:
            number, unsure = place(tally.counts, self.contexts, self._needed, self.separation / 2.0)
        else:
            number, unsure = int(np.argmax(self.scores(tally.counts))), False
            rest, here = steps - ran.outcome.steps, ran.outcome.state
            behaviour = learning.act(self.kept.contexts[number].known.during(tally), rest, stream)
            ran = yield from run_phase(Phase(behaviour, rest, tally.counts, tally.sums), here)

        new = number < 0
        if new:
            number = len(self.kept.contexts)
            self.kept.contexts.append(Context(learning.nothing(), 0, unsure))
        context = self.kept.contexts[number]
        learning.learn(context.known, ran)
        context.episodes += 1
        self.kept.met, self.kept.shared = self.kept.met + 1, learning.shared()
        plan = learning.best(context.known, steps, stream) if self.evaluates else None
        return Report(number, new, True, plan, steps, (context.known.counts,))

    def scores(self, episode: CountTable) -> NDArray[np.float64]:
        """ln of the likelihood of an episode in every context."""
        return np.array([ln_likelihood(episode, context, self.setting.n_states) for context in self.contexts])

    def evidence(self, explored: CountTable) -> list[Evidence]:
        if self.is_clustering:
            found = [apart(explored, context, self._needed) or 0.0 for context in self.contexts]
            limit, words = self.separation / 2.0, "largest l1 distance where both have samples"
            return [Evidence(c, value, limit, value >= limit, words) for c, value in enumerate(found)]
        scores = self.scores(explored)
        against, words = scores.max() - scores, "ln likelihood below the best"
        return [Evidence(c, value, 0.0, value > 0.0, words) for c, value in enumerate(against.tolist())]

    def memory(self, stream: RandomStream) -> Memory:
        remembered = []
        for context in self.kept.contexts:
            plan = self._learning.best(context.known, self.horizon, stream).reshape(-1, self.setting.n_states)
            remembered.append(Remembered(context.known.counts, np.asarray(plan[0])))
        return Memory(remembered, np.arange(self.setting.n_pairs), self.separation / 2.0)

    def restore(self, kept: ContextMemory) -> None:
        for number, context in enumerate(kept.contexts):
            check_known(context.known, self._learning.nothing(), f"memory.contexts[{number}].known")
        check_shared(kept.shared, self._learning)
        if sum(context.episodes for context in kept.contexts) != kept.met:
            raise ValueError(f"memory.met is {kept.met}, but the contexts have another number of episodes together")
        if len(kept.contexts) > self._batch:
            raise ValueError(f"memory.contexts has {len(kept.contexts)}, more than the batch of {self._batch} episodes")
        super().restore(kept)
        self._learning.take_shared(kept.shared)

    def findings(self) -> dict[str, Any]:
        contexts = self.kept.contexts
        return {
            "samples": self._needed,
            "classifying_steps": self._classifying,
            "contexts": len(contexts),
            "episodes of each": [context.episodes for context in contexts],
            "unsure": [number for number, context in enumerate(contexts) if context.unsure],
        }

"""Agents that discover models, and then tell by elimination which of them an episode is.

What Finite-Model-RL and the agents of online discovery have in common: a memory of models, how an episode becomes one
or joins one, and the episode in which the models are used::

    alive = all models
    until the episode is over:
        drop models from alive             by squared errors and contradiction (aomultirl.identifying.elimination)
        none is left                       a learner that knows nothing but this episode, to the end
        several are left, and they can be told apart in the steps that are left, and with chance >= reach an
        informative pair is reached        go there (aomultirl.exploring.informative), until its visits may decide
        otherwise                          the learner, with what is known of the model that leads
    one is left: it learns from this episode

Models are dropped between phases of bounded length: while exploring, a phase ends as soon as the visits of one pair
alone can decide, or after a quarter of the steps so far; while exploiting, after as many steps as there were before.

Of several models that an episode can be, the *leader* is the one that the episode is least far from contradicting.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, NamedTuple

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
    check_is_learner,
    check_known,
    check_plan,
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
)
from aomultirl.engine.behaviours import FOREVER, act_uniformly
from aomultirl.engine.counts import CountTable, merged
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase, Ran
from aomultirl.exploring.informative import Way, plan_way, visit
from aomultirl.identifying.elimination import Confidence, Rows, Standing, VersionSpace, contradiction, threshold
from aomultirl.learning import Known, Learner, Share, Tally
from aomultirl.records import Within
from aomultirl.setting import Setting

FIRST_LOOK = 25
"""Steps after which models are first dropped, at the latest."""
EXPLORING_PART = 4
"""While exploring, models are dropped again after this part of the steps so far, at the latest."""
LONGEST_WAY = 1024
"""Steps that a way to informative pairs is planned for, at most."""
NOBODY = -1
"""In place of a model's number."""


@dataclass
class Joined:
    """An exploring episode that was put to a model that existed.

    episode
        its number, from 0.
    model
        the model's number.
    others
        how many other models it could have been.
    """

    episode: Annotated[int, Within(0)]
    model: Annotated[int, Within(0)]
    others: Annotated[int, Within(0)]


@dataclass
class DiscoveredModels:
    """What these agents remember.

    models
        what is known of each, in order of discovery.
    discovered
        the episode, from 0, that made each model.
    joined
        exploring episodes that made none.
    episodes
        episodes of the run that are over.
    recognised
        how many episodes were told to be each model, without exploring.
    undecided
        episodes that several models were left for.
    unknown
        episodes, from 0, that no model was left for.
    shared
        what the learner knows of all worlds alike.
    """

    models: list[Known] = field(default_factory=list)
    discovered: list[Annotated[int, Within(0)]] = field(default_factory=list)
    joined: list[Joined] = field(default_factory=list)
    episodes: Annotated[int, Within(0)] = 0
    recognised: list[Annotated[int, Within(0)]] = field(default_factory=list)
    undecided: Annotated[int, Within(0)] = 0
    unknown: list[Annotated[int, Within(0)]] = field(default_factory=list)
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)


class _Seen(NamedTuple):
    """What an episode has shown so far.

    alive
        the models that are left.
    standing
        how all models compare.
    against
        how far each of the models that were looked at is from what was seen; above 1 it is contradicted.
    """

    alive: list[int]
    standing: Standing
    against: dict[int, float]

    def leader(self, among: Sequence[int]) -> int:
        """The model that the least speaks against; the first of several."""
        return min(among, key=lambda model: self.against[model])


class ModelDiscoverer(Agent):
    """Base of the agents that discover models and tell them apart by elimination.

    Parameters
    ----------
    failure
        p, the probability with which the world itself is dropped in an episode, and with which any estimate is wrong.
    horizon
        H, the steps of an episode.
    separation
        lambda: any two worlds differ by so much, in l1, at some pair.
    models
        C, how many worlds there are at most; None where nobody knows.
    radius_scale
        multiplies the confidence of estimated rows; 1 is what is proven.
    reach
        the chance of reaching an informative pair below which the agent exploits.
    rewards
        "known", or "unknown": estimated.
    learner
        how to act for reward.
    """

    recognition = "evidence"
    keeps: ClassVar[type] = DiscoveredModels
    kept: DiscoveredModels

    def __init__(
        self,
        failure: float,
        horizon: int,
        separation: float,
        models: int | None,
        radius_scale: float,
        reach: float,
        rewards: str,
        learner: Learner,
    ) -> None:
        self.failure, self.horizon, self.separation, self.models = failure, horizon, separation, models
        self.radius_scale, self.reach, self.rewards, self.learner = radius_scale, reach, rewards, learner
        self.pair_bytes = 120 + getattr(learner, "pair_bytes", 0)

    def begin(self, setting: Setting) -> None:
        check_is_learner(self.learner)
        super().begin(setting)
        read_failure(self.failure)
        horizon = checks.integer("horizon", self.horizon, least=1)
        checks.real("separation", self.separation, above=0.0, most=2.0)
        checks.real("reach", self.reach, least=0.0, most=1.0)
        scale = checks.real("radius_scale", self.radius_scale, above=0.0)
        if self.models is not None:
            checks.integer("models", self.models, least=1)
        if self.learner.plans_by_step:
            check_plan("horizon", horizon, setting)
        check_plan("horizon", min(horizon, LONGEST_WAY), setting)
        most = self.models or max(1, setting.episodes)
        share = Share(self.failure, max(1, setting.episodes), most, horizon)
        self.learning = self.learner.begin(learner_setting(self.rewards, setting), horizon, share)
        self._confidence = Confidence(setting.n_states, float(setting.n_pairs) * most, self.failure, scale)
        self.kept = DiscoveredModels(shared=self.learning.shared())
        self._forget_rows()

    def _forget_rows(self) -> None:
        self._rows: dict[int, Rows] = {}
        self._made: VersionSpace | None = None
        self._ways: dict[tuple[int, ...], Way] = {}

    def _space(self) -> VersionSpace:
        """The models in memory, and where each two of them are compared."""
        known = self.kept.models
        if len(self._rows) < len(known) or self._made is None:
            rows = [self._rows.get(i) or self._confidence.rows_of(model.counts) for i, model in enumerate(known)]
            limit = threshold(self.models or len(known), self.failure)
            self._rows, self._ways = dict(enumerate(rows)), {}
            self._made = VersionSpace(rows, self.separation / 2.0, limit, self._made)
        return self._made

    def _look(self, alive: Sequence[int], counts: CountTable) -> _Seen:
        """Drop models, after so much of an episode."""
        space, seen = self._space(), self._confidence.rows_of(counts)
        standing = space.standing(seen)
        against = {model: contradiction(space.models[model], seen) for model in alive}
        possible = [model for model in alive if against[model] <= 1.0]
        return _Seen(space.survivors(possible, standing), standing, against)

    def _recognise(self, start: int, stream: RandomStream) -> Episode:
        """An episode in which the models are used, and one of them may learn."""
        tally, horizon = self.learning.tally(), self.horizon
        seen = self._look(range(len(self.kept.models)), tally.counts)
        spent, here, actor, ran = 0, start, NOBODY, None
        while spent < horizon:
            phase, actor = self._next_phase(seen, tally, spent, here, stream)
            ran = yield from run_phase(phase, here)
            spent, here = spent + ran.outcome.steps, ran.outcome.state
            seen = self._look(seen.alive, tally.counts)
            if ran.outcome.ended or ran.outcome.steps == 0:  # the world, or somebody else, has ended the episode
                break
        assert ran is not None  # a horizon is at least 1
        return self._recognised(seen, ran, actor, stream)

    def _next_phase(self, seen: _Seen, tally: Tally, spent: int, here: int, stream: RandomStream) -> tuple[Phase, int]:
        """What to do next, and which model's learner does it."""
        alive, left, learning = seen.alive, self.horizon - spent, self.learning
        if not alive:
            behaviour = learning.act(learning.nothing().during(tally), left, stream)
            return Phase(behaviour, left, tally.counts, tally.sums), NOBODY
        needed = self._space().needed(alive, seen.standing)
        if needed.min() <= left:
            way = self._way(alive, needed)
            if way.chance(here, left) >= max(self.reach, np.finfo(float).tiny):
                steps = min(left, max(FIRST_LOOK, spent // EXPLORING_PART))
                return Phase(visit(way.plan, needed), steps, tally.counts, tally.sums, "clustering"), NOBODY
        leader = seen.leader(alive)
        behaviour = learning.act(self.kept.models[leader].during(tally), left, stream)
        return Phase(behaviour, min(left, max(FIRST_LOOK, spent)), tally.counts, tally.sums), leader

    def _way(self, alive: Sequence[int], needed: NDArray[np.int64]) -> Way:
        """How to get to the pairs that are informative for these models."""
        if tuple(alive) not in self._ways:
            informative = (needed < FOREVER).reshape(self.setting.n_states, self.setting.n_actions)
            counts = merged([self.kept.models[model].counts for model in alive])
            self._ways[tuple(alive)] = plan_way(counts, informative, min(self.horizon, LONGEST_WAY))
        return self._ways[tuple(alive)]

    def _recognised(self, seen: _Seen, ran: Ran, actor: int, stream: RandomStream) -> Report:
        """Remember an episode in which the models were used."""
        kept, number = self.kept, seen.alive[0] if len(seen.alive) == 1 else NOBODY
        leader = seen.leader(seen.alive) if seen.alive else NOBODY
        if number != NOBODY:
            known = kept.models[number]
            self._learn(number, ran, own=actor == number)
            kept.recognised[number] += 1
        elif leader != NOBODY:
            known = kept.models[leader]
            kept.undecided += 1
        else:
            known = self.learning.nothing()
            self.learning.learn(known, ran if actor == NOBODY else self._explored(ran))
            kept.unknown.append(kept.episodes)
        self._note_episode()
        return self._report(number, known, stream, world=leader, abstained=number == NOBODY)

    def _discover(self, known: Known, ran: Ran, stream: RandomStream) -> Report:
        """Remember an exploring episode: as a model of its own, or as one that exists.

        Parameters
        ----------
        known
            what the learner knows from this episode alone.
        ran
            its last phase, with the counts of all of it.
        """
        kept = self.kept
        everyone = list(range(len(kept.models)))
        seen = self._look(everyone, ran.phase.counts)
        possible = seen.alive
        if not possible and everyone and len(everyone) == self.models:
            possible = everyone  # there are no more worlds than these
        new = not possible
        number = len(everyone) if new else seen.leader(possible)
        if new:
            kept.models.append(known)
            kept.discovered.append(kept.episodes)
            kept.recognised.append(0)
        else:
            self._learn(number, ran, own=False)
            kept.joined.append(Joined(kept.episodes, number, len(possible) - 1))
        self._note_episode()
        return self._report(number, kept.models[number], stream, world=number, new_cluster=new)

    def _learn(self, number: int, ran: Ran, own: bool) -> None:
        """Have a model learn from an episode; ``own``: its last phase was the learner's, with this model."""
        self.learning.learn(self.kept.models[number], ran if own else self._explored(ran))
        self._rows.pop(number, None)

    def _explored(self, ran: Ran) -> Ran:
        """The same as the phase of an explorer: what a learner worked out for another model is not taken over."""
        behaviour = act_uniformly(self.setting.n_states, self.setting.n_actions)
        return ran._replace(phase=replace(ran.phase, behaviour=behaviour))

    def _note_episode(self) -> None:
        self.kept.episodes += 1
        self.kept.shared = self.learning.shared()

    def _report(self, number: int, known: Known, stream: RandomStream, **words: Any) -> Report:
        best = self.learning.best(known, self.horizon, stream) if self.evaluates else None
        return Report(number, evaluation=best, evaluation_horizon=self.horizon, samples=(known.counts,), **words)

    def evidence(self, explored: CountTable) -> list[Evidence]:
        """What speaks against each model: a quarter of the largest c_ij of those that explain the episode better.

        By Ville's inequality that is ln evidence.  Where a model is dropped otherwise, it is the limit at least.
        """
        alive, standing, _ = self._look(range(len(self.kept.models)), explored)
        against = np.where(standing.errors > 0.0, standing.weight, 0.0) / 4.0
        limit, found = self._space().limit / 4.0, []
        for model, row in enumerate(against):
            dropped, value = model not in alive, float(row.max())
            found.append(
                Evidence(model, max(value, limit) if dropped else value, limit, dropped, "ln evidence against it")
            )
        return found

    def memory(self, stream: RandomStream) -> Memory:
        n_states, pairs = self.setting.n_states, set[int]()
        for contest in self._space().contests.values():
            pairs.update(contest.pairs.tolist())
        plans = [self.learning.best(known, self.horizon, stream) for known in self.kept.models]
        remembered = [
            Remembered(known.counts, np.asarray(plan.reshape(-1, n_states)[0]))
            for known, plan in zip(self.kept.models, plans, strict=True)
        ]
        return Memory(remembered, np.array(sorted(pairs), np.int64), self.separation / 2.0)

    def restore(self, kept: DiscoveredModels) -> None:
        for number, known in enumerate(kept.models):
            check_known(known, self.learning.nothing(), f"memory.models[{number}]")
        for name in ("discovered", "recognised"):
            if len(getattr(kept, name)) != len(kept.models):
                raise ValueError(f"memory.{name} must have an entry for each of the {len(kept.models)} models")
        for place, joined in enumerate(kept.joined):
            checks.integer(f"memory.joined[{place}].model", joined.model, least=0, most=len(kept.models) - 1)
        check_shared(kept.shared, self.learning)
        super().restore(kept)
        self.learning.take_shared(kept.shared)
        self._forget_rows()

    def findings(self) -> dict[str, Any]:
        """The models and the episodes that made them, which exploring episodes joined which model, and the others."""
        kept = self.kept
        return {
            "models": len(kept.models),
            "discovered": list(kept.discovered),
            "joined": [[joined.episode, joined.model, joined.others] for joined in kept.joined],
            "recognised": list(kept.recognised),
            "undecided": kept.undecided,
            "unknown": list(kept.unknown),
            **self.learning.findings(),
        }

"""A learner alone, without any clusters: the ends between which agents that recognise worlds lie.

Every learner of :mod:`aomultirl.learning` comes in three forms, which differ in whose samples it learns from:
:class:`OneEpisode` forgets after every episode, :class:`Pooled` takes all episodes for one world, and :class:`Told` is
told which world each episode is.
"""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import (
    Agent,
    Episode,
    Report,
    check_is_learner,
    check_known,
    check_plan,
    check_shared,
    learner_setting,
    read_failure,
    run_phase,
    told_task,
)
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning import UCBVI, Known, Learner, Practical, Share, ucrl2
from aomultirl.records import Within
from aomultirl.setting import Setting


@dataclass
class Learned:
    """What a learner alone remembers.

    known
        by the number of the world, 0 where all are taken for one.
    shared
        what the learner knows of all worlds alike.
    """

    known: dict[Annotated[int, Within(0)], Known] = field(default_factory=dict)
    shared: dict[str, NDArray[Any]] = field(default_factory=dict)


class _Alone(Agent):
    """Base of the three forms.

    Parameters
    ----------
    learner
        such as ``ao.learning.UCBVI()``.
    horizon
        H, the steps of an episode.
    failure
        p, the probability with which the learner's confidence may fail; by default 1 / H, so that failures cost about
        one step of reward an episode.
    rewards
        "known", or "unknown": estimated.
    """

    keeps: ClassVar[type] = Learned
    kept: Learned

    def __init__(self, learner: Learner, horizon: int, *, failure: float | None = None, rewards: str = "known") -> None:
        self.learner, self.horizon, self.failure, self.rewards = learner, horizon, failure, rewards
        self.pair_bytes = getattr(learner, "pair_bytes", self.pair_bytes)

    def _share(self, failure: float) -> Share:
        """What the learner's confidence must hold for."""
        return Share(failure, self.setting.episodes, 1, self.horizon)

    def begin(self, setting: Setting) -> None:
        check_is_learner(self.learner)
        super().begin(setting)
        horizon = checks.integer("horizon", self.horizon, least=1)
        failure = 1.0 / horizon if self.failure is None else read_failure(self.failure)
        if self.learner.plans_by_step:
            check_plan("horizon", horizon, setting)
        told = learner_setting(self.rewards, setting)
        self.learning = self.learner.begin(told, horizon, self._share(failure))
        self.kept = Learned(shared=self.learning.shared())

    def _world(self, task: int | None) -> int:
        """Which world the samples of this episode are held to be of."""
        return 0

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, world = self.learning, self._world(task)
        known, tally = self._recollect(world), learning.tally()
        behaviour = learning.act(known.during(tally, self._others(world)), self.horizon, stream)
        ran = yield from run_phase(Phase(behaviour, self.horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        self._remember(world, known)
        best = learning.best(known, self.horizon, stream) if self.evaluates else None
        return Report(evaluation=best, evaluation_horizon=self.horizon, samples=(known.counts,))

    def _recollect(self, world: int) -> Known:
        return self.kept.known.get(world) or self.learning.nothing()

    def _others(self, world: int) -> list[Known]:
        """What is known of worlds that this one is not."""
        return [self.kept.known[number] for number in sorted(self.kept.known) if number != world]

    def _remember(self, world: int, known: Known) -> None:
        self.kept.known[world] = known
        self.kept.shared = self.learning.shared()

    def restore(self, kept: Learned) -> None:
        nothing = self.learning.nothing()
        for world, known in kept.known.items():
            check_known(known, nothing, f"memory.known[{world}]")
        check_shared(kept.shared, self.learning)
        super().restore(kept)
        self.learning.take_shared(kept.shared)

    def findings(self) -> dict[str, Any]:
        return self.learning.findings()


class OneEpisode(_Alone):
    """A learner that learns every world afresh in every episode (K = M = 1).

    What is known of the world, transitions and unknown rewards, comes from the episode's own samples alone.  What a
    learner knows of all worlds alike (:meth:`aomultirl.learning.Learning.shared`) stays from episode to episode.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.OneEpisode(ao.learning.Practical(), horizon=300)
    >>> ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=3)["learning_steps"].tolist()
    [300, 300, 300]
    """

    def _share(self, failure: float) -> Share:
        return Share(failure, 1, 1, self.horizon)

    def _recollect(self, world: int) -> Known:
        return self.learning.nothing()

    def _remember(self, world: int, known: Known) -> None:
        self.kept.shared = self.learning.shared()


class Pooled(_Alone):
    """One learner for all episodes, as if they were one world: negative transfer."""


class Told(_Alone):
    """A learner that is told which world each episode is, and learns each: what clustering could at best achieve.

    Parameters
    ----------
    models
        M, how many worlds the union bound runs over.
    """

    told: ClassVar[frozenset[str]] = frozenset({"task"})

    @forwarding(_Alone)
    def __init__(self, learner: Learner, horizon: int, models: int = 1, **keywords: Any) -> None:
        super().__init__(learner, horizon, **keywords)
        self.models = models

    def _share(self, failure: float) -> Share:
        models = checks.integer("models", self.models, least=1)
        return Share(failure, self.setting.episodes, models, self.horizon)

    def _world(self, task: int | None) -> int:
        return told_task(task)


class OneEpisodeUCBVI(OneEpisode):
    """UCBVI in every episode alone; keywords as of :class:`aomultirl.learning.UCBVI`."""

    @forwarding(UCBVI)
    def __init__(self, failure: float, horizon: int, *, rewards: str = "known", **keywords: Any) -> None:
        super().__init__(UCBVI(**keywords), horizon, failure=failure, rewards=rewards)


class PooledUCBVI(Pooled):
    """UCBVI for all episodes together; keywords as of :class:`aomultirl.learning.UCBVI`."""

    @forwarding(UCBVI)
    def __init__(self, failure: float, horizon: int, *, rewards: str = "known", **keywords: Any) -> None:
        super().__init__(UCBVI(**keywords), horizon, failure=failure, rewards=rewards)


class OracleUCBVI(Told):
    """UCBVI that is told the world; keywords as of :class:`aomultirl.learning.UCBVI`."""

    @forwarding(UCBVI)
    def __init__(
        self, failure: float, horizon: int, models: int = 1, *, rewards: str = "known", **keywords: Any
    ) -> None:
        super().__init__(UCBVI(**keywords), horizon, models, failure=failure, rewards=rewards)


class OneEpisodeLearner(OneEpisode):
    """The practical learner in every episode alone."""

    def __init__(self, horizon: int, *, rewards: str = "known", learner: Learner = Practical()) -> None:
        super().__init__(learner, horizon, rewards=rewards)


class OracleLearner(Told):
    """The practical learner that is told the world."""

    def __init__(self, horizon: int, *, rewards: str = "known", learner: Learner = Practical()) -> None:
        super().__init__(learner, horizon, rewards=rewards)


class UCRL2(_Alone):
    """UCRL2 in every episode alone: what the paper's minimax section calls near-optimal (Section 3, Appendix C).

    Where worlds are so close that earlier episodes do not help, learning each afresh costs K D S sqrt(A H ln H) up to
    constants (:func:`aomultirl.theory.ucrl2_bound`), and no algorithm can do with less than K sqrt(D S A H).

    This agent is the learner :class:`aomultirl.learning.UCRL2`, of the same name, alone: ``ao.agents.UCRL2(H)`` plays
    episodes by itself, while ``ao.learning.UCRL2()`` is a part that any agent takes as its ``learner=``.

    Parameters
    ----------
    failure
        delta; by default 1 / H, as in the paper.
    pooled
        keep the samples from episode to episode, as if all were one world: right for a single world, negative transfer
        for several.
    bonus_scale
        as in :class:`aomultirl.learning.UCRL2`.

    Examples
    --------
    >>> import aomultirl as ao
    >>> history = ao.run(ao.agents.UCRL2(1000), ao.worlds.jao(), ao.streams.uniform(), episodes=3)
    >>> history["learning_steps"].tolist()
    [1000, 1000, 1000]
    """

    @forwarding(ucrl2.UCRL2)
    def __init__(
        self,
        horizon: int,
        failure: float | None = None,
        *,
        rewards: str = "known",
        pooled: bool = False,
        **keywords: Any,
    ) -> None:
        super().__init__(ucrl2.UCRL2(**keywords), horizon, failure=failure, rewards=rewards)
        self.pooled = pooled

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.truth("pooled", self.pooled)

    def _recollect(self, world: int) -> Known:
        return super()._recollect(world) if self.pooled else self.learning.nothing()

    def _remember(self, world: int, known: Known) -> None:
        if self.pooled:
            super()._remember(world, known)
        self.kept.shared = self.learning.shared()

    @property
    def epochs(self) -> list[int]:
        """Policies that each episode planned: at most S A log2(8 H / (S A)) for H >= S A, where nothing is pooled."""
        return list(self.learning.findings()["epochs"])

"""What a learner is: how to act in a world once it is known which one it is.

A :class:`Learner` is a frozen record of parameters, so it can be written down, compared and used by many agents.  Its
``begin`` gives a :class:`Learning` for one run, which acts in a world (:meth:`Learning.act`), takes over what an
episode has shown (:meth:`Learning.learn`), and says what it would do without exploring (:meth:`Learning.best`).  What
it knows of one world is a :class:`Known`: agents hold one for every world they tell apart, and files keep it.

``docs/extending/learner.md`` has a learner of a stranger's as an example; :func:`aomultirl.check_learner` tries one
out.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Ran
from aomultirl.setting import Setting
from aomultirl.theory.bounds import logarithm_for


@dataclass(frozen=True)
class Share:
    """A learner's part of the union bound: what its confidence must hold for, all together.

    failure
        p, of which a third is for learning (p_1 = p / 3 in the paper).
    episodes
        K, over which the learner goes on learning; 1 where it begins anew in every episode.
    models
        M, the worlds that it learns.
    steps
        the steps of an episode that count.
    """

    failure: float
    episodes: int
    models: int
    steps: int

    def logarithm(self, n_pairs: int) -> float:
        """``L = ln(5 S A K H M / p_1)``, for S * A = ``n_pairs`` and H = ``steps``."""
        return logarithm_for(n_pairs, self.models, self.episodes, self.steps, self.failure)


@dataclass
class Tally:
    """What one episode has shown so far; its phases count into it.

    counts
        every transition.
    sums
        (S * A,), the rewards added up; empty where they are known.  A learner may begin with rewards of earlier
        episodes in it.
    """

    counts: CountTable
    sums: NDArray[np.float64]


@dataclass
class Known:
    """What is known of one world from the episodes that were held to be it.

    counts
        every transition.
    sums
        (S * A,), the rewards added up; empty where they are known.
    own
        arrays of the learner's own by name, such as Q or visits by step; their shapes and dtypes are those of
        :meth:`Learning.nothing`.
    tally
        what the present episode has shown; None outside of episodes.  Files do not keep it.
    others
        what is known of other worlds, where the agent tells some apart: a learner may lean on it.  Files do not keep
        it.
    """

    counts: CountTable
    sums: NDArray[np.float64]
    own: dict[str, NDArray[Any]] = field(default_factory=dict)
    tally: Tally | None = field(default=None, metadata={"kept": False})
    others: Sequence["Known"] = field(default=(), metadata={"kept": False})

    def during(self, tally: Tally, others: Sequence["Known"] = ()) -> "Known":
        """The same knowledge in an episode that has shown ``tally`` so far; nothing is copied."""
        return replace(self, tally=tally, others=others)

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Rewards are shown as ``times`` what they were, ``plus`` so much: bring the sums to it."""
        self.sums[:] = rescaled(self.sums, self.counts, times, plus)

    def rescale_own(self, learner: "Learner", times: float, plus: float) -> None:
        """Have the learner bring its own arrays to the same."""
        self.own = learner.rescaled_own(self.own, times, plus)

    def add(self, tally: Tally) -> None:
        """Add the counts of an episode, and its rewards where they are added up."""
        self.counts.add(tally.counts)
        if len(self.sums) > 0:
            self.sums += tally.sums


def rescaled(sums: NDArray[np.float64], counts: CountTable, times: float, plus: float) -> NDArray[np.float64]:
    """Sums of rewards over counted visits, when each reward r is ``times * r + plus`` instead; none stay none."""
    if len(sums) == 0:
        return sums
    return np.maximum(times * sums + plus * visits_by_pair(counts), 0.0)


class Learning:
    """A learner in one run.

    Parameters
    ----------
    setting
        of the run; ``setting.rewards`` is None where the learner must estimate them.
    learner
        whose run it is.
    """

    def __init__(self, setting: Setting, learner: "Learner") -> None:
        self.setting, self.learner = setting, learner

    def nothing(self) -> Known:
        """What is known of a world that nobody has met."""
        return Known(CountTable(self.setting.n_pairs), self._no_rewards())

    def tally(self) -> Tally:
        """Where the phases of a new episode count."""
        return Tally(CountTable(self.setting.n_pairs), self._no_rewards())

    def _no_rewards(self) -> NDArray[np.float64]:
        return np.zeros(self.setting.n_pairs if self.setting.rewards is None else 0)

    def act(self, known: Known, steps: int, stream: RandomStream) -> Any:
        """The behaviour for the next ``steps`` steps; ``known.tally`` is what its phase will count into.

        It must not change ``known``: the episode may be given up.
        """
        raise NotImplementedError

    def learn(self, into: Known, ran: Ran) -> None:
        """After the last step of an episode: take over what it has shown.

        Parameters
        ----------
        into
            what is known of the world that the episode is held to be, which is changed; a new :meth:`nothing` where the
            episode belongs to no world.
        ran
            a phase of this learner's, or of an explorer's, whose counts and sums are those of the whole episode.
        """
        into.add(Tally(ran.phase.counts, ran.phase.sums))

    def best(self, known: Known, steps: int, stream: RandomStream) -> NDArray[np.int32]:
        """The plan that is best for what is known, without exploring: (H, S), or (S,) for the same at every step."""
        raise NotImplementedError

    def carried(self, known: Known) -> Known:
        """What was known before the numbers of the run changed; arrays of another shape begin anew."""
        own = {}
        for name, array in self.nothing().own.items():
            fits = known.own[name].shape == array.shape
            own[name] = known.own[name] if fits else array
        return Known(known.counts, known.sums, own)

    def shared(self) -> dict[str, NDArray[Any]]:
        """What is known of all worlds alike, by name; files keep it."""
        return {}

    def take_shared(self, shared: dict[str, NDArray[Any]]) -> None:
        """Take over what :meth:`shared` gave, of the same shapes and dtypes."""

    def findings(self) -> dict[str, Any]:
        """What is worth knowing of a run: numbers and lists that JSON can hold."""
        return {}


class Learner:
    """Base of all learners, which are frozen dataclasses of parameters.

    Attributes
    ----------
    pair_bytes
        memory that an episode takes for each state and action, visited or not: at least a table of counts.
    plans_by_step
        whether a plan has an entry for every step, (H, S), so that the horizon decides how much memory it takes.
    """

    pair_bytes: ClassVar[int] = 16
    plans_by_step: ClassVar[bool] = False

    def begin(self, setting: Setting, horizon: int, share: Share) -> Learning:
        """Check the parameters, and begin a run.

        Parameters
        ----------
        setting
            of the run; ``setting.rewards`` is None where they must be estimated.
        horizon
            the most steps that :meth:`Learning.act` or :meth:`Learning.best` will be asked for: the larger of both.
        share
            what the learner's confidence must hold for.
        """
        raise NotImplementedError

    def shared_for(self, shared: dict[str, NDArray[Any]], setting: Setting) -> dict[str, NDArray[Any]]:
        """What :meth:`Learning.shared` gave, as it is in another setting, such as one of more episodes."""
        return shared

    def rescaled_own(self, own: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        """The arrays of :attr:`Known.own`, when every reward r in them is ``times * r + plus`` instead."""
        return own

    def rescaled_shared(self, shared: dict[str, NDArray[Any]], times: float, plus: float) -> dict[str, NDArray[Any]]:
        """What :meth:`Learning.shared` gave, when every reward r in it is ``times * r + plus`` instead."""
        return shared

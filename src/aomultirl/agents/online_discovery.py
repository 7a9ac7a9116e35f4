"""Online discovery (Brunskill, Li 2015): in some episodes explore for new worlds, in all others use those known.

Before each episode t = 1, 2, ... it is decided, without knowing the world, whether to

    explore     PAC-EXPLORE all pairs for the whole episode; its samples make a model, or join the one they agree with
    exploit     phase 2 of Finite-Model-RL with the models discovered so far.

:class:`ForcedExploration` explores with probability eta_t = t^(-1/2), :class:`ExploreFirst` in the first E episodes.

Setting: the online coupon collector.  A world is discovered only by exploring it, which costs more than to exploit one
that is known, and less than to exploit one that is not (:mod:`aomultirl.theory.discovery`).

Must be told: the separation, H and p; E for :class:`ExploreFirst`.

Guarantee: for the abstract problem with these costs.  ForcedExp misses, in the mean, at most 1 / eta_T episodes of each
of the C* worlds, whatever an adversary does who does not see the coin beforehand, so its expected regret is of the
order C* sqrt(T); no algorithm has less than the order sqrt(C* T).  ExpFirst finds all worlds with probability at least
1 - p if they come by chance and E is :func:`aomultirl.theory.discovery_episodes`, and nothing is promised against an
adversary, who has only to wait.  The way from there to rewards needs that exploring really discovers, so that one
episode has ``samples`` visits of every pair; where the horizon is shorter, as it mostly is, nothing is promised.

Adapted to a stream of tasks: one episode is one task of H steps; if the explorer is through before the end, the learner
goes on with this episode's samples.

What was uncertain, and how it was settled.

* *The four costs* are taken in the order: exploit a known world < explore a known one <= explore a new one < exploit a
  new one.
* *Visits of every pair*: (32 / lambda^2) (S ln 2 + ln(C S A / p)), with which both of two estimated rows are within
  lambda / 4 by Weissman's inequality; C is the number of episodes where nobody knows it.
* *A wrongly joined world stays undiscovered*: findings() names every episode that joined a model and how many others it
  could have been, and every exploiting episode that no model was left for.  Such an episode discovers nothing: only
  exploring does.
"""

import math
from typing import Any

import numpy as np

from aomultirl import checks
from aomultirl.agents.base import Episode, check_is_explorer, run_phase
from aomultirl.agents.discovered_models import ModelDiscoverer
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.random import RandomStream, draw_unit
from aomultirl.engine.stepping import Phase
from aomultirl.exploring import Explorer, PACExplore
from aomultirl.learning import Learner, Practical
from aomultirl.setting import Setting

MOST_VISITS = 2**53
"""Visits of a pair that are asked for at most: no episode has as many."""


class _OnlineDiscovery(ModelDiscoverer):
    """Base of both: explores where :meth:`_explores` says so; its parameters are told by :class:`ForcedExploration`."""

    def __init__(
        self,
        failure: float,
        horizon: int,
        separation: float,
        *,
        models: int | None = None,
        samples: int | None = None,
        radius_scale: float = 1.0,
        reach: float = 0.1,
        rewards: str = "known",
        explorer: Explorer = PACExplore(),
        learner: Learner = Practical(),
    ) -> None:
        super().__init__(failure, horizon, separation, models, radius_scale, reach, rewards, learner)
        self.samples, self.explorer = samples, explorer

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        check_is_explorer(self.explorer)
        self._needed = self._visits() if self.samples is None else checks.integer("samples", self.samples, least=1)
        self._targets = np.ones((setting.n_states, setting.n_actions), bool)
        self.explorer.behaviour(self._targets, self._needed, self.failure)  # which refuses what it cannot do

    def _visits(self) -> int:
        """Visits of every pair that exploring is for, by theory; as many as can be counted where it asks for more."""
        rows = self.setting.n_pairs * float(self.models or max(1, self.setting.episodes))
        logarithm = self.setting.n_states * math.log(2.0) + math.log(rows / self.failure)
        root = math.sqrt(32.0 * logarithm) / self.separation
        return math.ceil(min(root * root, float(MOST_VISITS)))

    def _explores(self, episode: int, stream: RandomStream) -> bool:
        """Whether to explore in this episode; they are counted from 1."""
        raise NotImplementedError

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        if not self._explores(self.kept.episodes + 1, stream):
            return (yield from self._recognise(start, stream))
        learning, known, tally = self.learning, self.learning.nothing(), self.learning.tally()
        explore = self.explorer.behaviour(self._targets, self._needed, self.failure)
        ran = yield from run_phase(Phase(explore, self.horizon, tally.counts, tally.sums, "clustering"), start)
        left = self.horizon - ran.outcome.steps
        if ran.outcome.finished and left > 0 and not ran.outcome.ended:
            behaviour = learning.act(known.during(tally), left, stream)
            ran = yield from run_phase(Phase(behaviour, left, tally.counts, tally.sums), ran.outcome.state)
        learning.learn(known, ran)
        return self._discover(known, ran, stream)

    def findings(self) -> dict[str, Any]:
        """The visits that exploring is for, and what was discovered and recognised."""
        return {"samples": self._needed, **super().findings()}


class ForcedExploration(_OnlineDiscovery):
    """ForcedExp of Brunskill and Li: explores for new worlds with a probability that falls with the episodes.

    :mod:`aomultirl.agents.online_discovery` says how it works.

    Parameters
    ----------
    failure
        p, how probable it may be that what is promised does not hold.
    horizon
        H, the steps of an episode.
    separation
        lambda: any two worlds differ by so much, in l1, at some pair.
    decay
        episode t explores with probability t^(-decay).
    models
        C, how many worlds there are at most; None where nobody knows.
    samples
        visits of every pair that an exploring episode is for; by default those of theory.
    radius_scale
        multiplies the confidence of estimated rows; 1 is what is proven, and needs very many samples.
    reach
        the chance of reaching an informative pair below which an exploiting episode goes for reward.
    rewards
        "known", or "unknown": estimated.
    explorer
        how to explore.
    learner
        how to act for reward.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.ForcedExploration(0.1, 1000, 1.3, radius_scale=0.35)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=20)
    >>> agent.findings()["discovered"][0]  # the first episode always explores
    0
    """

    @forwarding(_OnlineDiscovery)
    def __init__(self, failure: float, horizon: int, separation: float, *, decay: float = 0.5, **keywords: Any) -> None:
        super().__init__(failure, horizon, separation, **keywords)
        self.decay = decay

    def begin(self, setting: Setting) -> None:
        checks.real("decay", self.decay, least=0.0, most=1.0)
        super().begin(setting)

    def _explores(self, episode: int, stream: RandomStream) -> bool:
        return bool(draw_unit(stream) < float(episode) ** -self.decay)


class ExploreFirst(_OnlineDiscovery):
    """ExpFirst of Brunskill and Li: explores for worlds in the first episodes, and never again.

    :mod:`aomultirl.agents.online_discovery` says how it works.

    Parameters
    ----------
    failure
        p, how probable it may be that what is promised does not hold.
    horizon
        H, the steps of an episode.
    separation
        lambda: any two worlds differ by so much, in l1, at some pair.
    first_episodes
        E, such as ``ao.theory.discovery_episodes(models, least_probability, failure)``.
    models
        C, how many worlds there are at most; None where nobody knows.
    samples
        visits of every pair that an exploring episode is for; by default those of theory.
    radius_scale
        multiplies the confidence of estimated rows; 1 is what is proven, and needs very many samples.
    reach
        the chance of reaching an informative pair below which an exploiting episode goes for reward.
    rewards
        "known", or "unknown": estimated.
    explorer
        how to explore.
    learner
        how to act for reward.

    Examples
    --------
    >>> import aomultirl as ao
    >>> first = ao.theory.discovery_episodes(4, 0.25, 0.1)
    >>> agent = ao.agents.ExploreFirst(0.1, 1000, 1.3, first, radius_scale=0.35)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=20)
    >>> max(agent.findings()["discovered"]) < first
    True
    """

    @forwarding(_OnlineDiscovery)
    def __init__(self, failure: float, horizon: int, separation: float, first_episodes: int, **keywords: Any) -> None:
        super().__init__(failure, horizon, separation, **keywords)
        self.first_episodes = first_episodes

    def begin(self, setting: Setting) -> None:
        checks.integer("first_episodes", self.first_episodes, least=1)
        super().begin(setting)

    def _explores(self, episode: int, stream: RandomStream) -> bool:
        return episode <= self.first_episodes

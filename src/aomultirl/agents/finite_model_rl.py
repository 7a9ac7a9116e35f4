"""Finite-Model-RL (Brunskill, Li 2013): learn some worlds alone, then recognise later ones by elimination.

Phase 1, the first T1 = ceil(ln(C / p) / p_min) episodes: each is learned alone, and its samples make a model, or join
the one that they agree with.  Where worlds come by chance, each with probability at least p_min, all C have appeared by
then with probability at least 1 - p.  Phase 2, all other episodes: models are dropped by their squared errors at
informative pairs, to which the agent goes on purpose; the last one learns from the episode
(:mod:`aomultirl.agents.discovered_models`, :mod:`aomultirl.identifying.elimination`).

Setting: a finite number of worlds, drawn by chance, that differ by the separation at some pair each two.

Must be told: C, the separation, H and p; p_min, or it is taken for 1 / C.

Guarantee: if the rows of the models are as exact as their confidence says, the world itself is dropped in a phase-2
episode with probability at most p / C by comparison with others, and at most p / C by contradiction.  The
authors bound the steps in phase 2 that are not near-optimal by a polynomial in which the informative pairs, at most
C (C - 1) / 2, stand in place of S A; their constants are unknown to us, and nothing of that is promised here.  There is
none for phase 1, whose clusters are as right as the samples of single episodes allow, and none against an adversary: a
world that first appears after T1 is never remembered.

Adapted to a stream of tasks: one episode is one task of H steps.  Planning that the paper discounts looks H steps
ahead, and the E3 learner of phase 1 and of exploitation is any learner of :mod:`aomultirl.learning`.

What was uncertain, and how it was settled.

* *xi*: 4 ln(C^2 / p), which is derived for exact rows; estimated ones need w_ij = ||d||^2 - 4 e ||d|| in place of
  ||d||^2, derived in the same way.  e(n) is large: for the paper's grid some 800 samples of a row are needed before it
  counts at all.  ``radius_scale`` shrinks it, and then the guarantee is gone.
* *The norm of the separation*: l1, as everywhere in this library, and half of it for estimated rows, which are then
  right within a quarter.  It only says where to look; evidence is measured in l2.
* *Clusters*: an episode joins, of the models that it does not contradict, the one that it is farthest from
  contradicting, and :meth:`FiniteModelRL.findings` names every such episode and how many other models it could have
  been.  With C models in memory it joins the nearest in any case.
* *All models dropped*: pairwise comparison always leaves one, so a model is also dropped when the episode's samples
  contradict it by more than both confidences.  The learner then goes on with this episode's samples only.
* *When reaching is unlikely*: below ``reach``, by default 0.1.  Where the steps that are left cannot decide between any
  two models, the agent exploits at once.
"""

from typing import Any

from aomultirl import checks
from aomultirl.agents.base import Episode, run_phase
from aomultirl.agents.discovered_models import ModelDiscoverer
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning import Learner, Practical
from aomultirl.setting import Setting
from aomultirl.theory import discovery_episodes


class FiniteModelRL(ModelDiscoverer):
    """Finite-Model-RL of Brunskill and Li: learns the first worlds alone, then recognises by elimination.

    :mod:`aomultirl.agents.finite_model_rl` says how it works.

    Parameters
    ----------
    models
        C, how many worlds there are at most.
    separation
        lambda: any two worlds differ by so much, in l1, at some pair.
    failure
        p, how probable it may be that what is promised does not hold.
    horizon
        H, the steps of an episode.
    least_probability
        p_min, the probability of the rarest world; by default 1 / C, which is right where all are equally likely.
    radius_scale
        multiplies the confidence of estimated rows; 1 is what is proven, and needs very many samples.
    reach
        the chance of reaching an informative pair below which the agent exploits.
    rewards
        "known", or "unknown": estimated.
    learner
        how to act for reward: alone in phase 1, with the leading model in phase 2.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.FiniteModelRL(4, 1.3, 0.1, 1000, radius_scale=0.35)
    >>> _ = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), episodes=20, seed=1)
    >>> agent.first_episodes, agent.findings()["models"]
    (15, 4)
    """

    def __init__(
        self,
        models: int,
        separation: float,
        failure: float,
        horizon: int,
        *,
        least_probability: float | None = None,
        radius_scale: float = 1.0,
        reach: float = 0.1,
        rewards: str = "known",
        learner: Learner = Practical(),
    ) -> None:
        super().__init__(failure, horizon, separation, models, radius_scale, reach, rewards, learner)
        self.least_probability = least_probability

    def begin(self, setting: Setting) -> None:
        models = checks.integer("models", self.models, least=1)
        least = 1.0 / models if self.least_probability is None else self.least_probability
        super().begin(setting)
        self.first_episodes = discovery_episodes(models, least, self.failure)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        if self.kept.episodes >= self.first_episodes:
            return (yield from self._recognise(start, stream))
        learning, known, tally = self.learning, self.learning.nothing(), self.learning.tally()
        behaviour = learning.act(known.during(tally), self.horizon, stream)
        ran = yield from run_phase(Phase(behaviour, self.horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        return self._discover(known, ran, stream)

    def findings(self) -> dict[str, Any]:
        """The length of phase 1, and what was discovered and recognised."""
        return {"first_episodes": self.first_episodes, **super().findings()}

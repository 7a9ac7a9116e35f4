"""A Dirichlet-process mixture of MDPs that acts by posterior sampling (after Wilson, Fern, Ray, Tadepalli 2007).

Episodes are drawn from components, and components from a Dirichlet process; a component's rows, unknown rewards and
ends have the priors of :mod:`aomultirl.learning.posterior`, integrated out (:mod:`.mixture_assigning`).

- Within an episode the component is drawn from that prior times the marginal likelihood of the episode so far: before
  the first step, after 1, 2, 4, 8 ... steps.  While the same component is drawn, its plan goes on; for another one,
  :class:`aomultirl.learning.PSRL` draws a world from that component's posterior, with this episode, and plans in it.
- After the episode its component is drawn from the same posterior, and the episode is added to it.  Then some episodes
  of the archive, drawn uniformly, are each taken out and assigned anew in the same way: Gibbs sampling.  At last it is
  tried, now and then, to split the component of one of them in two (after Jain, Neal 2004).

Time and memory are bounded.  The archive holds the last ``archive`` episodes; older ones stay where they are assigned.
After each episode ``reassignments`` are assigned anew; a split is proposed so rarely that it costs about as much.  Of
more than 32 components the one with the fewest episodes is forgotten, of several the one not met for longest.

Setting: a stream of hidden worlds, of which the next is one that was met with a probability that grows with how often
it was, as the Chinese restaurant has it.

Must be told: nothing.

Guarantee: none.  A bounded number of moves does not draw from the posterior, nor do splits without the merges that
would balance them; and what the stream does need not be what the prior says.

What was uncertain, and how it was settled.  The masses of a new component and of the priors of rows were chosen by
trying (``examples/tuning/peers.py``).  The source leaves open how many moves follow an episode, and when a component is
drawn again within one: here so few that a run of many episodes stays quick.

Adapted to a stream of tasks: the original learns several tasks one after the other and is told where each begins;
here an episode is a task, and the component is drawn anew as evidence grows within it.
"""

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import (
    Agent,
    Episode,
    Evidence,
    Report,
    check_known,
    check_shared,
    learner_setting,
)
from aomultirl.agents.mixture_assigning import Assigner
from aomultirl.agents.mixture_memory import Component, MixtureMemory, archived
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, draw_below, draw_unit
from aomultirl.engine.stepping import Phase
from aomultirl.identifying.marginal_likelihood import episode_seen
from aomultirl.learning import Tally
from aomultirl.learning.psrl import PSRL, PSRLBehaviour
from aomultirl.setting import Setting

SPLITS = 2.0
"""Splits proposed after an episode, times the episodes of the archive, for each one that is assigned anew."""
UNLIKELY = math.log(1000.0)
"""ln odds against a component at which pictures call it ruled out."""


class MixtureOfMDPs(Agent):
    """A Dirichlet-process mixture of MDPs that acts by posterior sampling; told nothing, and no guarantee.

    :mod:`aomultirl.agents.mixture` says how it works.

    Parameters
    ----------
    horizon
        H, the steps of an episode.
    concentration
        how many episodes' worth the prior gives to a world that was never met.
    archive
        how many of the last episodes may be assigned anew.
    reassignments
        how many of them are assigned anew after each episode; 0 for none, and no splits either.
    rewards
        "known", or "unknown": estimated for each component, and evidence of it.
    learner
        a :class:`aomultirl.learning.PSRL` with other numbers than the default ones; its priors are the components'.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.MixtureOfMDPs(horizon=300)
    >>> history = ao.run(agent, ao.worlds.gridworld(), ao.streams.round_robin(), episodes=12)
    >>> sum(agent.findings()["episodes of each"])
    12
    """

    recognition = "belief"
    pair_bytes = 240
    keeps: ClassVar[type] = MixtureMemory
    kept: MixtureMemory

    def __init__(
        self,
        horizon: int,
        concentration: float = 1.0,
        *,
        archive: int = 200,
        reassignments: int = 8,
        rewards: str = "known",
        learner: PSRL = PSRL(),
    ) -> None:
        self.horizon, self.concentration = horizon, concentration
        self.archive, self.reassignments = archive, reassignments
        self.rewards, self.learner = rewards, learner

    def begin(self, setting: Setting) -> None:
        super().begin(setting)
        checks.integer("horizon", self.horizon, least=1)
        checks.real("concentration", self.concentration, above=0.0)
        checks.integer("archive", self.archive, least=0)
        checks.integer("reassignments", self.reassignments, least=0)
        if not isinstance(self.learner, PSRL):
            raise checks.Refusal("learner", f"is {checks.shown(self.learner)}, not ao.learning.PSRL(...)")
        self.learning = self.learner.begin(learner_setting(self.rewards, setting), self.horizon)
        self.kept = MixtureMemory(shared=self.learning.shared())
        self._sums = self.learning.tally().sums

    @property
    def assigner(self) -> Assigner:
        """Assigns episodes to the components in memory."""
        return Assigner(self.kept, self.learning, self.concentration, self.archive)

    @property
    def components(self) -> list[Component]:
        """The worlds that the mixture believes in."""
        return self.kept.components

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        tally, watched = self.learning.tally(), self.learning.nothing().own["watched"]
        self._sums, assigner = tally.sums, self.assigner
        chosen, spent, behaviour = -1, 0, None
        while spent < self.horizon:
            drawn = assigner.draw(episode_seen(tally.counts, tally.sums), stream)
            if behaviour is None or drawn != chosen:
                chosen, behaviour = drawn, self._behaviour(drawn, tally, watched, stream)
            outcome = yield Phase(behaviour, min(max(1, spent), self.horizon - spent), tally.counts, tally.sums)
            spent += outcome.steps
            if outcome.ended or outcome.steps == 0:  # the world, or somebody else, has ended the episode
                break
        place = assigner.draw(episode_seen(tally.counts, tally.sums), stream)
        component = assigner.assign(place, archived(tally.counts, watched, place))
        if place == chosen and behaviour is not None:
            component.known.own["values"] = behaviour.values
        report = self._report(component, stream)
        for _ in range(self.reassignments if self.kept.archive else 0):
            assigner.assign_anew(draw_below(len(self.kept.archive), stream), stream)
        # As a split looks at the whole archive, it is proposed the more rarely the more episodes there are.
        if draw_unit(stream) * len(self.kept.archive) < SPLITS * self.reassignments:
            assigner.split(draw_below(len(self.kept.archive), stream), stream)
        assigner.forget()
        return report

    def _behaviour(self, place: int, tally: Tally, watched: NDArray[np.float64], stream: RandomStream) -> PSRLBehaviour:
        """Posterior sampling in a component, or in a new one; the episode's rewards are watched in one place."""
        known = self.components[place].known if place < len(self.components) else self.learning.nothing()
        return self.learning.act(known.during(tally), self.horizon, stream)._replace(watched=watched)

    def _report(self, component: Component, stream: RandomStream) -> Report:
        """What the episode was taken for, and the policy that is best for all that is believed of it."""
        new = component.number < 0
        if new:
            component.number = self.kept.clusters
            self.kept.clusters += 1
        return Report(
            component.number,
            new,
            evaluation=self.learning.best(component.known, self.horizon, stream),
            evaluation_horizon=self.horizon,
            samples=(component.known.counts,),
        )

    def beliefs(self, explored: CountTable) -> dict[int, float]:
        """By the numbers of clusters; components that have none, and a new one, are -1 together."""
        shares, found = self.assigner.posterior(episode_seen(explored, self._sums)), {-1: 0.0}
        for component, share in zip([*self.components, None], shares.tolist(), strict=True):
            number = -1 if component is None else component.number
            found[number] = found.get(number, 0.0) + share
        return found

    def evidence(self, explored: CountTable) -> list[Evidence]:
        found = []
        for number, share in sorted(self.beliefs(explored).items()):
            if number >= 0:
                odds = math.log(max(1.0 - share, 1e-300)) - math.log(max(share, 1e-300))
                told = (odds, UNLIKELY, odds >= UNLIKELY, "ln odds against it")
                found.append(Evidence(number, *told, belief=share))
        return found

    def restore(self, kept: MixtureMemory) -> None:
        nothing, setting = self.learning.nothing(), self.setting
        for place, component in enumerate(kept.components):
            check_known(component.known, nothing, f"memory.components[{place}].known")
        for place, episode in enumerate(kept.archive):
            episode.check(f"memory.archive[{place}]", setting.n_pairs, setting.n_states, len(nothing.sums) > 0)
        if len(kept.archive) > self.archive:
            raise ValueError(f"memory.archive has {len(kept.archive)} episodes, more than the {self.archive} it may")
        kept.check(setting.n_states)
        check_shared(kept.shared, self.learning)
        super().restore(kept)

    def findings(self) -> dict[str, Any]:
        return {
            "worlds": len(self.components),
            "episodes of each": [component.episodes for component in self.components],
            "moves": self.kept.moves,
        }

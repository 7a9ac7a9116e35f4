"""Which component an episode is assigned to: the posterior, and moves through the assignments of archived episodes.

With m_c episodes in component c, an episode that has shown x is of

    component c with weight m_c p(x | episodes of c),        a new one with weight ``concentration`` p(x | none),

p the marginal likelihood (:mod:`aomultirl.identifying.marginal_likelihood`).  Two kinds of moves:

- Gibbs sampling: an archived episode is taken out, and assigned by these weights, given all others.
- A split, which single moves hardly ever make, because the first episode of a new component has to pay for all rows
  that it does not share any more.  Two archived episodes of a component found two parts; its other archived episodes
  are assigned to either by these weights, PASSES times anew; and the whole is accepted with probability
  min{1, ratio of the posteriors}.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.mixture_memory import ArchivedEpisode, Component, MixtureMemory, give, take
from aomultirl.engine.random import RandomStream, draw_below, draw_unit
from aomultirl.identifying.marginal_likelihood import EpisodeSeen, Priors, ln_marginal, world_seen
from aomultirl.learning import Known
from aomultirl.learning.psrl import PSRLRun

MOST_COMPONENTS = 32
"""More worlds than anybody has in memory here, and few enough that a look at the evidence takes about a millisecond."""
PASSES = 2
"""How often every episode of a component is assigned anew to either part before a split is judged."""


@dataclass
class Assigner:
    """Assigns episodes to the components of a memory, which it changes.

    kept
        the memory.
    learning
        the components' posterior sampling, whose priors are theirs.
    concentration
        how many episodes' worth the prior gives to a new component.
    archive
        how many episodes the archive holds.
    """

    kept: MixtureMemory
    learning: PSRLRun
    concentration: float
    archive: int

    @property
    def _n_states(self) -> int:
        return self.learning.setting.n_states

    def _ln_marginal(self, seen: EpisodeSeen, known: Known, ends: bool, included: bool) -> float:
        """ln of the probability of an episode in the world that ``known`` is of, which may include the episode."""
        learner = self.learning.learner
        priors = Priors(float(learner.prior), float(learner.reward_prior), ends)
        return float(ln_marginal(seen, world_seen(known.counts, self._n_states, known.sums), priors, included))

    def _ends(self, seen: EpisodeSeen) -> bool:
        """Whether any episode has ended, so that it counts how they do."""
        return seen.ended >= 0 or any(component.known.counts.ends for component in self.kept.components)

    def posterior(self, seen: EpisodeSeen, home: int = -1) -> NDArray[np.float64]:
        """The probability of every component, and of a new one last, given what an episode has shown.

        Parameters
        ----------
        home
            the component that the episode is assigned to now, where it is: judged is what its other episodes say.
        """
        components, ends = self.kept.components, self._ends(seen)
        scores = np.full(len(components) + 1, -np.inf)
        for place, component in enumerate(components):
            weight = component.episodes - (place == home)
            if weight > 0:
                scores[place] = math.log(weight) + self._ln_marginal(seen, component.known, ends, place == home)
        scores[-1] = math.log(self.concentration) + self._ln_marginal(seen, self.learning.nothing(), ends, False)
        shares = np.exp(scores - scores.max())
        return np.asarray(shares / shares.sum())

    def draw(self, seen: EpisodeSeen, stream: RandomStream, home: int = -1) -> int:
        """A component by its probability; as many as there are stand for a new one."""
        shares = np.cumsum(self.posterior(seen, home))
        return min(int(np.searchsorted(shares, draw_unit(stream) * shares[-1], side="right")), len(shares) - 1)

    def assign(self, place: int, episode: ArchivedEpisode) -> Component:
        """Add the episode that was just met to a component, and to the archive."""
        kept, component = self.kept, self._component(place)
        give(component.known, episode)
        component.episodes, component.last = component.episodes + 1, kept.met
        kept.met += 1
        kept.archive = [*kept.archive, episode][-self.archive :] if self.archive else []
        return component

    def _component(self, place: int) -> Component:
        """A component by its place, made where it is a new one."""
        components = self.kept.components
        if place == len(components):
            components.append(Component(self.learning.nothing(), last=max(0, self.kept.met - 1)))
        return components[place]

    def assign_anew(self, number: int, stream: RandomStream) -> None:
        """One step of Gibbs sampling: draw the component of an archived episode given all others."""
        episode, components = self.kept.archive[number], self.kept.components
        home = episode.component
        place = self.draw(episode.seen(self.learning.setting.n_pairs), stream, home)
        if place == home or (components[home].episodes == 1 and place == len(components)):
            return
        target, source = self._component(place), components[home]
        take(source.known, episode, self._n_states)
        give(target.known, episode)
        source.episodes, target.episodes, episode.component = source.episodes - 1, target.episodes + 1, place
        self.kept.moves += 1
        if source.episodes == 0:
            self.kept.drop(home)

    def split(self, number: int, stream: RandomStream) -> None:
        """Propose that an archived episode and some others of its component are another world, and accept or not."""
        kept, home = self.kept, self.kept.archive[number].component
        mine = [episode for episode in kept.archive if episode.component == home]
        if len(mine) < 2 or len(kept.components) >= MOST_COMPONENTS:
            return
        leaving = self._part(kept.archive[number], mine, stream)
        source = kept.components[home]
        old = replace(source, known=replace(source.known, own=dict(source.known.own)))
        new = Component(self.learning.nothing(), last=source.last)
        gain = sum(self._move(episode, old, new) for episode in leaving)
        if math.log(1.0 - draw_unit(stream)) < gain:
            kept.components[home] = old
            kept.components.append(new)
            kept.moves += len(leaving)
            for episode in leaving:
                episode.component = len(kept.components) - 1

    def _part(
        self, founder: ArchivedEpisode, mine: list[ArchivedEpisode], stream: RandomStream
    ) -> list[ArchivedEpisode]:
        """Those of the episodes that are more like ``founder`` than like another one, drawn from them."""
        others = [episode for episode in mine if episode is not founder]
        opposite = others.pop(draw_below(len(others), stream))
        parts = Component(self.learning.nothing(), 1), Component(self.learning.nothing(), 1)
        for part, first in zip(parts, (opposite, founder), strict=True):
            give(part.known, first)
        places = [0] * len(others)
        for sweep in range(1 + PASSES):
            for number, episode in enumerate(others):
                here, there = parts[places[number]], parts[1 - places[number]]
                if sweep == 0:  # it is in neither part yet
                    give(here.known, episode)
                    here.episodes += 1
                gain = self._gain(episode, here, there)
                if draw_unit(stream) < 1.0 / (1.0 + math.exp(min(700.0, -gain))):
                    self._move(episode, here, there)
                    places[number] = 1 - places[number]
        return [founder, *(episode for episode, place in zip(others, places, strict=True) if place == 1)]

    def _gain(self, episode: ArchivedEpisode, here: Component, there: Component) -> float:
        """How much more probable everything is, ln, with an episode of ``here`` in ``there``."""
        seen = episode.seen(self.learning.setting.n_pairs)
        ends = self._ends(seen)
        weights = max(1, here.episodes - 1), there.episodes or self.concentration
        gone = math.log(weights[0]) + self._ln_marginal(seen, here.known, ends, True)
        return math.log(weights[1]) + self._ln_marginal(seen, there.known, ends, False) - gone

    def _move(self, episode: ArchivedEpisode, here: Component, there: Component) -> float:
        """Move an episode; what :meth:`_gain` says of it."""
        gain = self._gain(episode, here, there)
        take(here.known, episode, self._n_states)
        give(there.known, episode)
        here.episodes, there.episodes = here.episodes - 1, there.episodes + 1
        return gain

    def forget(self) -> None:
        """Keep at most MOST_COMPONENTS components: forget the one with the fewest episodes, not met for longest."""
        components = self.kept.components
        while len(components) > MOST_COMPONENTS:
            places = range(len(components))
            self.kept.drop(min(places, key=lambda place: (components[place].episodes, components[place].last)))

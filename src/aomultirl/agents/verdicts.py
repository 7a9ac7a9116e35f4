"""What an episode says of the worlds in memory, by belief and by proof (:mod:`aomultirl.identifying.proof`)."""

import math
from collections.abc import Sequence
from copy import deepcopy
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.agents.base import Evidence
from aomultirl.agents.recall_memory import World
from aomultirl.engine.counts import CountTable
from aomultirl.identifying.e_values import Gammas
from aomultirl.identifying.knowledge import Knowledge
from aomultirl.identifying.proof import (
    BETTING,
    EpisodeCounts,
    Standards,
    at_places,
    certified_pairs,
    growth,
    is_rejected,
    ln_against,
)
from aomultirl.learning.beliefs import BeliefBehaviour, settle_episode

COVER = 0.8
"""Share of an episode's steps that must lie at certified pairs for it to be proven."""


class Verdict(NamedTuple):
    """What an episode says of the world that it is in.

    likely
        the number of the likeliest world, W for a new one.
    sure
        whether it is almost certain to be that.
    survivors
        worlds with clusters that are not rejected.
    certified
        (S * A,), the pairs at which the only survivor is proven.
    cover
        the share of the steps at certified pairs.
    """

    likely: int
    sure: bool
    survivors: list[int]
    certified: NDArray[np.bool_]
    cover: float

    @property
    def proven(self) -> bool:
        """The episode belongs to the only surviving cluster."""
        return self.sure and self.survivors == [self.likely] and self.cover >= COVER


NEEDED = 30
"""Visits that make a pair well known."""
SURE = 0.999
"""Posterior probability at which an episode is almost certain to be of a world."""


class Witness(NamedTuple):
    """What an episode is held against: the worlds in memory as they were when it began.

    worlds
        in memory.
    known, proven
        what is believed of each, and what is certain, at the same places.
    rules
        what a proof must reach.
    gammas
        tables that evidence is worked out with.
    n_states
        S.
    """

    worlds: list[World]
    known: Knowledge
    proven: Knowledge
    rules: Standards
    gammas: Gammas
    n_states: int

    @property
    def clusters(self) -> list[int]:
        """The places of the worlds that are proven."""
        return [place for place, world in enumerate(self.worlds) if world.proven is not None]

    def _others(self, place: int) -> NDArray[np.int64]:
        return np.array([other for other in range(len(self.worlds)) if other != place], np.int64)

    def judge(self, scores: NDArray[np.float64], counts: CountTable, candidates: Sequence[int]) -> Verdict:
        """What the counts so far say; of the ``candidates`` those survive that are not rejected now either.

        ``scores``, (W + 1,): ln of prior times likelihood, of a new world at last.
        """
        likely = int(np.argmax(scores))
        new = likely == len(self.worlds)
        sure = bool(1.0 / np.exp((scores if new else scores[:-1]) - scores[likely]).sum() >= SURE)
        episode = at_places(self.known, counts, self.n_states)
        survivors = []
        for place in candidates:
            numbers = (self.proven, self.known, episode, self.rules, place, self._others(place))
            if not is_rejected(self.gammas, *numbers):
                survivors.append(place)
        certified, cover = np.zeros(len(episode.total), bool), 0.0
        if survivors == [likely]:
            certified = certified_pairs(self.gammas, self.proven, episode, self.rules, likely, len(self.clusters))
            cover = float(episode.total[certified].sum()) / max(1, int(episode.total.sum()))
        return Verdict(likely, sure, survivors, certified, cover)

    def worth_of_proof(self, verdict: Verdict, counts: CountTable) -> NDArray[np.float64]:
        """(S * A,), how much a visit would prove: against the survivors, or where the world is little known."""
        believed = episode = at_places(self.known, counts, self.n_states)
        if not verdict.survivors:
            return (episode.total < NEEDED).astype(np.float64)
        if verdict.likely < len(self.worlds):
            seen, visits = self.known.seen[verdict.likely], self.known.visits[verdict.likely]
            believed = EpisodeCounts(episode.here + seen, episode.total + visits)
        survivors = np.array(verdict.survivors, np.int64)
        return np.asarray(growth(self.gammas, self.proven, believed, self.rules, survivors))

    def evidence(self, counts: CountTable, beliefs: Sequence[float]) -> list[Evidence]:
        """What the counts so far say against every cluster; beliefs: how probable each world is."""
        episode, limit = at_places(self.known, counts, self.n_states), self.rules.reject - math.log(BETTING)
        found = []
        for place in self.clusters:
            if self.proven.visits[place].any():  # others are clusters since this episode
                numbers = (self.proven, self.known, episode, self.rules, place, self._others(place))
                against = ln_against(self.gammas, *numbers)
                words = (max(against, -50.0), limit, bool(against >= limit), "ln evidence against it")
                found.append(Evidence(self.worlds[place].number, *words, belief=beliefs[place]))
        return sorted(found, key=lambda one: one.cluster)


def witness(worlds: Sequence[World], known: Knowledge, rules: Standards, gammas: Gammas, n_states: int) -> Witness:
    """To hold an episode against the worlds as they are."""
    seen, visits = np.zeros_like(known.seen), np.zeros_like(known.visits)
    for place, world in enumerate(worlds):
        if world.proven is not None:
            seen[place], visits[place] = at_places(known, world.proven, n_states)
    proven = Knowledge(known.starts, known.states, seen, visits)
    return Witness(list(worlds), known, proven, rules, gammas, n_states)


def posterior(behaviour: BeliefBehaviour) -> list[float]:
    """Of every world in memory, and of a new one last."""
    scores = behaviour.beliefs.scores
    shares = np.exp(scores - scores.max())
    return (shares / shares.sum()).round(6).tolist()  # type: ignore[no-any-return]


def posterior_after(behaviour: BeliefBehaviour, explored: CountTable) -> list[float]:
    """The posterior after all that was explored; the behaviour, with which the episode goes on, stays as it is."""
    copied = deepcopy(behaviour)
    settle_episode(copied, explored)
    return posterior(copied)

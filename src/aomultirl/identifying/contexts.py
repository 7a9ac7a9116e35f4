"""Which context an episode is of: by the distances of estimates where there are enough samples, or by likelihood.

:class:`aomultirl.agents.CECE` clusters a batch of episodes with :func:`place`, and classifies those after it with
:func:`ln_likelihood`.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aomultirl.engine.counts import CountTable, visits_by_pair
from aomultirl.identifying.threshold import largest_distance


class Placed(NamedTuple):
    """Where an episode of the batch belongs.

    number
        of the context; -1 for a new one.
    unsure
        there is a context with which the episode could not be compared, and it joined none.
    """

    number: int
    unsure: bool


def apart(episode: CountTable, context: CountTable, needed: int) -> float | None:
    """The largest l1 distance of estimates over the pairs that both have visited ``needed`` times; None without any."""
    pairs = np.flatnonzero((visits_by_pair(episode) >= needed) & (visits_by_pair(context) >= needed))
    return largest_distance(episode.record, context.record, pairs) if len(pairs) else None


def place(episode: CountTable, contexts: Sequence[CountTable], needed: int, threshold: float) -> Placed:
    """The first context that the episode can be compared with and is closer to than ``threshold``."""
    unsure = False
    for number, context in enumerate(contexts):
        distance = apart(episode, context, needed)
        unsure |= distance is None
        if distance is not None and distance < threshold:
            return Placed(number, False)
    return Placed(-1, unsure)


def ln_likelihood(episode: CountTable, context: CountTable, n_states: int) -> float:
    """score_c: ln of the probability of an episode's transitions with a context's empirical rows, and their floor."""
    here, there = episode.to_lists(), context.to_lists()
    keys, known = (
        np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * n_states + states
        for starts, states, _ in (here, there)
    )
    pairs, totals = keys // n_states, visits_by_pair(context)
    at = np.minimum(np.searchsorted(known, keys), max(0, len(known) - 1))
    seen = np.where(known[at] == keys, there[2][at], 0) if len(known) else np.zeros(len(keys))
    probability = np.maximum(seen / np.maximum(totals[pairs], 1), 1.0 / (totals[pairs] + n_states))
    return float(here[2] @ np.log(probability))

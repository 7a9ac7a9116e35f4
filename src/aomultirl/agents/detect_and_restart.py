"""Detect and restart: a learner for one world, beside it a detector of changes, and an alarm forgets everything.

After every episode the samples since the last restart are split in two, between episodes, at points whose distance from
now grows geometrically.  For each split and each pair the generalised likelihood ratio says how much better two rows
explain the samples before and after it than one row does:

    G = max ln L(before) + max ln L(after) - max ln L(all).

Its threshold is time-uniform, and made of mixtures (Robbins' method): let Q(x) be the probability of samples x under a
mixture of all rows, Dirichlet(1/S).  For a fixed split, and as long as nothing changes,

    E = Q(before) Q(after) / max L(all)  <=  Q(before) Q(after) / L(all),

which is a non-negative martingale of mean 1, however the pairs are chosen.  ln E is G less what both mixtures lose to
their maxima, about ln n for every successor that occurs.  Over all I = S A + S rows (the pairs, and for each state
whether an arrival ends the episode, by Beta(1/2, 1/2)) the mean over which rows have changed, each with probability
1 / I, is such a martingale again: the product of 1 - 1 / I + E / I.  Ville's inequality for it gives the alarm

    sum over rows of ln(1 - 1 / I + E / I)  >=  ln( n (n + 1) j (j + 1) / p ),

where n is the number of episodes before the split and j - 1 that of the restarts so far; the sums of 1 / (n (n + 1))
and of 1 / (j (j + 1)) are 1.  Rows that have no samples on one side of the split count as E = 0, which is less.

Counts are kept of stretches of 1, 2, 4, ... episodes, at most two of each length, so that memory and the work after an
episode are logarithmic in the number of episodes; a change lies at most twice as far back as the split next to it.

Setting: piecewise stationary streams: one world for many episodes, then another; changes between episodes only.  In one
world an arrival in a state ends the episode always or never.

Must be told: H and the failure probability; nothing about when or how often worlds change.

Guarantee: with probability at least 1 - p no restart of the run is a false alarm, one before which nothing has changed
since the last restart.  In between the learner is alone in one world, with its own guarantee.  None for how soon a
change is found: it must show at pairs that are visited.

Adapted to a stream of tasks: it is the setting of MASTER (Wei, Luo 2021) and of GLR-klUCB (Besson, Kaufmann 2019) with
changes of tasks between episodes.  Rewards are not watched: worlds of a set share them.  A world that comes back is
learned anew, which is what memory is for (:class:`aomultirl.agents.Recall`).

What was uncertain, and how it was settled.  The threshold ln(1/delta) + 3 ln(1 + ln n) is for one Bernoulli mean; for
rows of many successors the mixture above is exact, and needs no constant.  Forced exploration: each episode is played
uniformly at random with probability ``exploration``, which any learner can be given, because its own steps stay its
own.  An alarm forgets the samples after the split too: some of them may be of the world before.
"""

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from aomultirl import checks
from aomultirl.agents.alone import Learned, Pooled
from aomultirl.agents.base import Episode, Report, read_failure, run_phase
from aomultirl.engine.behaviours import act_uniformly
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import EMPTY, VISITS, WORDS, Counts, CountTable, find, merged, span, visits_by_pair
from aomultirl.engine.random import RandomStream, draw_unit
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.stepping import Phase
from aomultirl.learning import Known, Learner
from aomultirl.records import Within
from aomultirl.setting import Setting

U = np.uint64
SAME_LENGTH = 2
"""Stretches of one length that are kept; of one more, the two oldest become one."""
STRETCHES = 64
"""Stretches that there can be, about: two for every doubling of the number of episodes."""
END_PRIOR = 0.5
"""Both parameters of the Beta prior for whether an arrival ends the episode."""


@dataclass
class Stretch:
    """Consecutive episodes.

    counts
        every transition in them.
    episodes
        how many they are.
    """

    counts: CountTable
    episodes: Annotated[int, Within(1)] = 1


@dataclass
class Watched(Learned):
    """What the agent remembers.

    stretches
        the episodes since the last restart, newest first.
    episodes
        episodes of the run that are over.
    restarts
        the episodes, from 0, after which everything was forgotten.
    """

    stretches: list[Stretch] = field(default_factory=list)
    episodes: Annotated[int, Within(0)] = 0
    restarts: list[Annotated[int, Within(0)]] = field(default_factory=list)


def lengthened(stretches: list[Stretch], counts: CountTable) -> list[Stretch]:
    """The stretches with one more episode; their lengths are powers of two, newest first, two of each at most."""
    kept, length = [Stretch(counts), *stretches], 1
    while True:
        equal = [i for i, stretch in enumerate(kept) if stretch.episodes == length]
        if len(equal) <= SAME_LENGTH:
            return kept
        newer, older = equal[-2:]
        kept[newer] = Stretch(merged([kept[newer].counts, kept[older].counts]), 2 * length)
        del kept[older]
        length *= 2


@kernel
def _pair_evidence(total: Counts, after: Counts, prior: float, log_odds: float) -> float:
    """ln(1 + odds E), added up over the pairs that have samples on both sides of a split.

    Parameters
    ----------
    total, after
        all samples, and those after the split.
    prior
        1 / S, the parameter of the Dirichlet prior.
    log_odds
        ln(1 / (I - 1)).
    """
    found, spent, nothing = 0.0, 0, math.lgamma(prior)
    for pair in range(len(total.heads)):
        if after.filled[pair] == 0:
            continue
        log_e, n_before, n_after = 0.0, 0, 0
        first, last = span(total, pair)
        spent = serve_signals(spent, 16 * (last - first))
        for slot in range(first, last):
            key, visits = total.slots[WORDS * slot], total.slots[WORDS * slot + VISITS]
            if key == EMPTY:
                continue
            place = find(after.heads, after.slots, U(pair), U(key))
            late = after.slots[place + U(VISITS)] if after.slots[place] == key else 0
            early = visits - late
            n_before += early
            n_after += late
            log_e += math.lgamma(prior + early) + math.lgamma(prior + late) - 2.0 * nothing
            log_e -= visits * math.log(visits)
        if n_before > 0 and n_after > 0:
            n = n_before + n_after
            log_e += n * math.log(n) - math.lgamma(1.0 + n_before) - math.lgamma(1.0 + n_after)
            found += np.logaddexp(0.0, log_e + log_odds)
    return found


def _end_evidence(total: CountTable, after: CountTable, n_states: int, log_odds: float) -> float:
    """The same over the states: whether arrivals in them ended the episode."""
    late = _arrivals(after, n_states)
    early = _arrivals(total, n_states) - late
    both = (late.sum(axis=1) > 0) & (early.sum(axis=1) > 0)
    late, early = late[both], early[both]
    together = early + late
    log_e = xlogy(together.sum(axis=1), together.sum(axis=1)) - xlogy(together, together).sum(axis=1)
    for part in (early, late):
        log_e += (gammaln(END_PRIOR + part) - gammaln(END_PRIOR)).sum(axis=1) - gammaln(1.0 + part.sum(axis=1))
    return float(np.logaddexp(0.0, log_e + log_odds).sum())


def _arrivals(counts: CountTable, n_states: int) -> NDArray[np.float64]:
    """How often the episode went on in each state, and how often it ended there, (S, 2)."""
    out = np.zeros((n_states, 2))
    out[:, 0] = visits_by_pair(counts).reshape(n_states, -1).sum(axis=1)
    for state, times in counts.ends.items():
        out[state, 1] = times
    return out


def log_evidence(total: CountTable, after: CountTable, n_states: int) -> float:
    """The left side of the alarm: how much speaks for a change at a split.

    Parameters
    ----------
    total, after
        all samples since the last restart, and those after the split.
    n_states
        S.
    """
    rows = len(total.record.heads) + n_states
    log_odds = -math.log(rows - 1.0)
    found = rows * math.log1p(-1.0 / rows) + _pair_evidence(total.record, after.record, 1.0 / n_states, log_odds)
    return found + _end_evidence(total, after, n_states, log_odds) if total.ends else found


def has_changed(stretches: list[Stretch], n_states: int, restarts: int, failure: float) -> bool:
    """Whether a split between two stretches gives the alarm, after so many restarts."""
    total, before = merged([stretch.counts for stretch in stretches]), sum(stretch.episodes for stretch in stretches)
    after, spent = CountTable(len(total.record.heads)), math.log((restarts + 1.0) * (restarts + 2.0) / failure)
    for stretch in stretches[:-1]:
        after.add(stretch.counts)
        before -= stretch.episodes
        if log_evidence(total, after, n_states) >= math.log(before * (before + 1.0)) + spent:
            return True
    return False


class DetectAndRestart(Pooled):
    """A learner that takes all episodes for one world, until a detector says that it has changed.

    The detector is in :mod:`aomultirl.agents.detect_and_restart`.

    Parameters
    ----------
    learner
        such as ``ao.learning.UCBVI()``.
    horizon
        H.
    failure
        p, the probability of any false alarm in the run; the learner's confidence has the same.
    exploration
        the probability with which an episode is played at random, so that changes away from the learner's ways are
        seen.
    rewards
        "known", or "unknown": estimated.

    Examples
    --------
    >>> import aomultirl as ao
    >>> agent = ao.agents.DetectAndRestart(ao.learning.Practical(), 100, failure=0.1)
    >>> _ = ao.run(agent, ao.worlds.gridworld()[:2], ao.streams.blocks(20), episodes=40)
    >>> agent.findings()
    {'restarts': [21]}
    """

    keeps: ClassVar[type] = Watched
    kept: Watched

    def __init__(
        self, learner: Learner, horizon: int, *, failure: float, exploration: float = 0.02, rewards: str = "known"
    ) -> None:
        super().__init__(learner, horizon, failure=failure, rewards=rewards)
        self.exploration = exploration
        self.pair_bytes += 16 * STRETCHES

    def begin(self, setting: Setting) -> None:
        self._failure = read_failure(self.failure)  # type: ignore[arg-type]  # None is refused in a sentence
        self._exploration = checks.real("exploration", self.exploration, least=0.0, most=1.0)
        super().begin(setting)
        self.kept = Watched(shared=self.learning.shared())

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, horizon = self.learning, self.horizon
        known, tally = self._recollect(0), learning.tally()
        if self._exploration > 0.0 and draw_unit(stream) < self._exploration:
            behaviour = act_uniformly(self.setting.n_states, self.setting.n_actions)
        else:
            behaviour = learning.act(known.during(tally), horizon, stream)
        ran = yield from run_phase(Phase(behaviour, horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        known = self._watch(known, tally.counts)
        self._remember(0, known)
        best = learning.best(known, horizon, stream) if self.evaluates else None
        return Report(evaluation=best, evaluation_horizon=horizon, samples=(known.counts,))

    def _watch(self, known: Known, counts: CountTable) -> Known:
        """What is known after an episode with these counts: all of it, or nothing if the world has changed."""
        kept = self.kept
        kept.stretches = lengthened(kept.stretches, counts)
        if has_changed(kept.stretches, self.setting.n_states, len(kept.restarts), self._failure):
            kept.stretches = []
            kept.restarts.append(kept.episodes)
            known = self.learning.nothing()
        kept.episodes += 1
        return known

    def findings(self) -> dict[str, Any]:
        """The episodes after which everything was forgotten, and what the learner has found."""
        return {"restarts": list(self.kept.restarts), **super().findings()}

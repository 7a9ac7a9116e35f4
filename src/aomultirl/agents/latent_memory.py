"""What L-UCRL remembers of its contexts: counts that need not be whole, because an episode may be shared among them.

The counts of all contexts are over the same transitions, those that any of them has seen, as one array (M, T); so the
cost follows what was seen, and the rows of all contexts have the same successors in the same order.
"""

from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl.engine.counts import CountTable
from aomultirl.mdp import MDP
from aomultirl.records import Within

Floats = NDArray[np.float64]
Amounts = Annotated[NDArray[np.float64], Within(0.0)]


class Rows(NamedTuple):
    """The empirical transitions and ends of all contexts.

    starts
        (S * A + 1,), where the successors of every pair begin in ``states``.
    states
        (T,), the successors.
    probs
        (M, T), their shares; 0 in the rows that a context has not visited.
    visits
        (M, S * A).
    going_on
        (M, S), the share of arrivals after which the episode went on; 1 where there were none.
    arrivals
        (M, S), those after which it is known whether the episode went on.
    """

    starts: NDArray[np.int64]
    states: NDArray[np.int32]
    probs: Floats
    visits: Floats
    going_on: Floats
    arrivals: Floats


@dataclass
class LatentMemory:
    """What L-UCRL remembers.

    keys
        (T,), the transitions that any context has seen, (s A + a) S + s', ascending.
    counts
        (M, T), how often each context has.
    sums
        (M, S * A), the rewards added up; (M, 0) where they are known.
    ends
        (M, S), how many episodes ended on arriving in a state.
    starts
        (M, S), how many episodes began in it.
    weights
        (M,), how many episodes each context has had.
    numbers
        (M,), the cluster that episodes taken for the context are reported in; -1 where none was yet.
    clusters
        how many such clusters there are.
    """

    keys: Annotated[NDArray[np.int64], Within(0)]
    counts: Amounts
    sums: Amounts
    ends: Amounts
    starts: Amounts
    weights: Amounts
    numbers: list[Annotated[int, Within(-1)]] = field(default_factory=list)
    clusters: Annotated[int, Within(0)] = 0

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(M,), whether nothing is known of a context."""
        return np.asarray(self.counts.sum(axis=1) == 0.0)

    def rescale_rewards(self, times: float, plus: float) -> None:
        """Rewards are shown as ``times`` what they were, ``plus`` so much: bring the sums to it."""
        if self.sums.shape[1] > 0:
            n_states = self.starts.shape[1]
            visits = rows_of(self, self.sums.shape[1] // n_states).visits
            self.sums = np.maximum(times * self.sums + plus * visits, 0.0)

    def add(self, shares: Floats, table: CountTable, sums: Floats) -> None:
        """Add what was counted and earned, to every context with its share, (M,)."""
        starts, states, visits = table.to_lists()
        n_states = self.starts.shape[1]
        keys = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) * n_states + states
        self._add_counts(keys, shares[:, None] * visits)
        for state, times in table.ends.items():
            self.ends[:, state] += shares * times
        if self.sums.shape[1] > 0:
            self.sums += shares[:, None] * sums

    def add_episode(self, shares: Floats, start: int, table: CountTable, sums: Floats) -> None:
        """Add an episode that began in ``start``."""
        self.add(shares, table, sums)
        self.starts[:, start] += shares
        self.weights += shares

    def add_model(self, context: int, model: MDP, visits: float) -> None:
        """Count every pair of a model, except those of terminal states, as visited so often, as the model has it."""
        n_actions, owners = model.n_actions, model.successors.owners()
        acted = ~model.terminal[owners // n_actions]
        counts = np.zeros((len(self.weights), int(acted.sum())))
        counts[context] = visits * model.successors.probs[acted]
        self._add_counts(owners[acted] * model.n_states + model.successors.states[acted], counts)
        self.ends[context] += visits * model.terminal
        self.starts[context] += model.start_distribution
        if self.sums.shape[1] > 0:
            self.sums[context] += (visits * model.gains * ~model.terminal[:, None]).reshape(-1)

    def _add_counts(self, keys: NDArray[np.int64], more: Floats) -> None:
        """Add (M, n) counts of some transitions, ascending, of which some may be new."""
        every = np.union1d(self.keys, keys)
        counts = np.zeros((len(self.weights), len(every)))
        counts[:, np.searchsorted(every, self.keys)] = self.counts
        counts[:, np.searchsorted(every, keys)] += more
        self.keys, self.counts = every, counts

    def check(self, models: int, n_states: int, n_actions: int, learns_rewards: bool) -> None:
        """Refuse what cannot be the memory of so many contexts."""
        n_pairs, n_sums = n_states * n_actions, n_states * n_actions if learns_rewards else 0
        for name, shape in (
            ("keys", self.keys.shape[:1]),
            ("counts", (models, *self.keys.shape[:1])),
            ("sums", (models, n_sums)),
            ("ends", (models, n_states)),
            ("starts", (models, n_states)),
            ("weights", (models,)),
        ):
            if getattr(self, name).shape != shape:
                raise ValueError(f"memory.{name} must be of shape {shape}, not {getattr(self, name).shape}")
        if (np.diff(self.keys) <= 0).any() or self.keys.max(initial=0) >= n_pairs * n_states:
            raise ValueError(f"memory.keys are not ascending transitions of {n_states} states and {n_actions} actions")
        named = sorted(number for number in self.numbers if number >= 0)
        if len(self.numbers) != models or named != list(range(self.clusters)):
            raise ValueError(f"memory.numbers are {self.numbers!r:.80}, which {self.clusters} clusters cannot have")


def no_memory(models: int, n_states: int, n_actions: int, learns_rewards: bool) -> LatentMemory:
    """What is known before the first episode."""
    return LatentMemory(
        keys=np.empty(0, np.int64),
        counts=np.zeros((models, 0)),
        sums=np.zeros((models, n_states * n_actions if learns_rewards else 0)),
        ends=np.zeros((models, n_states)),
        starts=np.zeros((models, n_states)),
        weights=np.zeros(models),
        numbers=[-1] * models,
    )


def rows_of(memory: LatentMemory, n_actions: int) -> Rows:
    """The estimates of all contexts."""
    n_states = memory.starts.shape[1]
    owners = memory.keys // n_states
    starts = np.searchsorted(owners, np.arange(n_states * n_actions + 1))
    padded = np.append(memory.counts, np.zeros((len(memory.counts), 1)), axis=1)
    visits = np.add.reduceat(padded, starts[:-1], axis=1) * (np.diff(starts) > 0)
    probs = memory.counts / np.where(visits > 0.0, visits, 1.0)[:, owners]
    arrivals = visits.reshape(len(visits), n_states, n_actions).sum(axis=2) + memory.ends
    going_on = 1.0 - memory.ends / np.where(arrivals > 0.0, arrivals, 1.0)
    return Rows(starts, (memory.keys % n_states).astype(np.int32), probs, visits, going_on, arrivals)

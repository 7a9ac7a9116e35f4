"""Which trajectories of a log were of the same hidden world."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.engine.random import streams
from aomultirl.learning.row_likelihoods import Floats
from aomultirl.offline.expectation import likeliest_start
from aomultirl.offline.likelihood import by_likelihood
from aomultirl.offline.subspace import by_subspace
from aomultirl.offline.trajectories import ACTION, STATE, SUCCESSOR, Integers, Logs, read_logs

METHODS = ("likelihood", "subspace", "em")
SMOOTHING = 1.0
"""Visits of a pair that a group is given beside those that were logged, spread over all states."""


@dataclass(frozen=True)
class LogGroups:
    """Groups of trajectories, each held to be of one world.

    ``agent.remember(found)`` starts a :class:`aomultirl.agents.Recall` with them.

    labels
        (N,), the group of every trajectory; groups are numbered as they first occur.
    sure
        (N,), how probable it is there.
    groups
        what is known of each world, as :meth:`aomultirl.agents.Recall.remember` takes it.
    """

    labels: Integers
    sure: NDArray[np.float64]
    groups: list[dict[str, Any]]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.groups)

    def assign(self, trajectories: Any) -> Integers:
        """The group in which each of some other trajectories is likeliest, by their transitions; (N,)."""
        n_states = self.groups[0]["counts"].shape[1]
        n_actions = self.groups[0]["counts"].shape[0] // n_states
        logs = read_logs(trajectories, False, n_states, n_actions)
        scores = np.empty((len(logs), len(self)))
        for k, group in enumerate(self.groups):
            seen = np.asarray(group["counts"].toarray())
            rows = np.log((seen + SMOOTHING / n_states) / (seen.sum(axis=1, keepdims=True) + SMOOTHING))
            for n, steps in enumerate(logs.steps):
                scores[n, k] = rows[steps[:, STATE] * n_actions + steps[:, ACTION], steps[:, SUCCESSOR]].sum()
        return np.asarray(scores.argmax(axis=1), np.int64)


def cluster(
    trajectories: Any,
    groups: int | None = None,
    *,
    method: str = "likelihood",
    ended: Any = False,
    n_states: int | None = None,
    n_actions: int | None = None,
    seed: int = 0,
) -> LogGroups:
    """Group trajectories by the hidden world that they were of.

    Parameters
    ----------
    trajectories
        a list of them, each (T, 3): state, action and next state of every step; or (T, 4), with the reward, within
        [0, 1].  They may differ in length.
    groups
        how many worlds there are; None where nobody knows, which "likelihood" alone allows.
    method
        "likelihood": with rows that worlds may share, the number unknown (:mod:`aomultirl.offline.likelihood`);
        "subspace": that of Kausik, Tan and Tewari (:mod:`aomultirl.offline.subspace`); "em": expectation maximisation
        from random starts (:mod:`aomultirl.offline.expectation`).
    ended
        whether trajectories ended with their last step, and were not only cut off: for all, or for each of them.
    n_states, n_actions
        S and A; by default as many as the logs have.
    seed
        of whatever is drawn.

    Returns
    -------
    the groups, with the label of every trajectory.

    Examples
    --------
    >>> import numpy as np
    >>> import aomultirl as ao
    >>> rng = np.random.default_rng(0)
    >>> def walk(stays, steps=40):  # a world of two states: it stays, or it goes to and fro
    ...     states = [0]
    ...     for _ in range(steps):
    ...         states.append(states[-1] if rng.random() < stays else 1 - states[-1])
    ...     return [(s, 0, t) for s, t in zip(states[:-1], states[1:])]
    >>> found = ao.cluster([walk(0.9), walk(0.1), walk(0.9), walk(0.1), walk(0.9), walk(0.1)])
    >>> found.labels.tolist()
    [0, 1, 0, 1, 0, 1]
    """
    checks.choice("method", method, METHODS)
    logs = read_logs(trajectories, ended, n_states, n_actions)
    if groups is not None and checks.integer("groups", groups, least=1) > len(logs):
        raise checks.Refusal("groups", f"is {groups}, and there are {len(logs)} trajectories")
    checks.seed("seed", seed)
    _check_room(logs, method)
    if method == "likelihood":
        labels, sure = by_likelihood(logs, groups, streams(seed, 1)[0], np.random.default_rng(seed))
    else:
        weights = _weights(logs, groups, method, np.random.default_rng(seed))
        labels = weights.argmax(axis=1)
        sure = weights.max(axis=1)
    _, first, named = np.unique(labels, return_index=True, return_inverse=True)
    labels = np.argsort(np.argsort(first))[named]  # as they first occur
    members = [np.flatnonzero(labels == group).tolist() for group in range(len(first))]
    return LogGroups(labels.astype(np.int64), sure, [logs.group(which) for which in members])


def _weights(logs: Logs, groups: int | None, method: str, rng: np.random.Generator) -> Floats:
    """(N, groups), by a method that must be told how many there are."""
    if groups is None:
        raise checks.Refusal("groups", f'is needed by the method "{method}"; "likelihood" finds it')
    if method == "subspace":
        return by_subspace(logs, groups, rng)
    return likeliest_start(logs, groups, rng)


def _check_room(logs: Logs, method: str) -> None:
    """Refuse more trajectories than there is memory to compare all with all."""
    if method == "subspace":
        needed = 40.0 * len(logs) ** 2
        sizes.check("trajectories", f"a list of {len(logs)}", needed, "a table of their distances", "the list")

"""The hidden set of worlds: M = {m_1, ..., m_M}, which the adversary draws from.

Its worlds have the same states, actions and rewards, and different transitions.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.engine.successors import Successors
from aomultirl.geometry import distinguishing, separation
from aomultirl.mdp import MDP
from aomultirl.world_arguments import counted, read_only, read_seconds

MOST_WORLDS = 10**6
"""Of a set: whatever is computed of it compares each with each."""
BELOW_SEPARATION = 1e-6
"""How far below the separation the default level lies."""


class ModelSet(Sequence[MDP]):
    """The hidden set: worlds with the same states, actions and rewards.

    Parameters
    ----------
    models
        the worlds.
    origin
        what makes the set again, see :mod:`aomultirl.worlds.origin`; None where nobody can say.

    Examples
    --------
    >>> import aomultirl as ao
    >>> models = ao.worlds.gridworld()
    >>> round(models.separation(), 6)
    1.3
    >>> len(models.distinguishing_set())
    3
    """

    def __init__(self, models: Iterable[MDP], origin: dict[str, Any] | None = None) -> None:
        self._models: tuple[MDP, ...] = tuple(checks.items("models", models, "worlds", MOST_WORLDS))
        self.origin = origin
        if not self._models:
            raise ValueError("models is empty: a set needs at least one world")
        first = self._models[0]
        for i, model in enumerate(self._models):
            if not isinstance(model, MDP):
                raise ValueError(f"models[{i}] is {checks.shown(model)}, not an MDP")
            for name in ("n_states", "n_actions"):
                mine, theirs = getattr(model, name), getattr(first, name)
                if mine != theirs:
                    raise ValueError(f"models[{i}].{name} is {mine}, models[0].{name} is {theirs}")
            if model.rest != first.rest:
                raise ValueError(f"models[{i}].rest is {model.rest:g}, models[0].rest is {first.rest:g}")
        self._rewards = self._shared_rewards()

    def __len__(self) -> int:
        return len(self._models)

    def __getitem__(self, index: Any) -> Any:
        return ModelSet(self._models[index]) if isinstance(index, slice) else self._models[index]

    def __iter__(self) -> Iterator[MDP]:
        return iter(self._models)

    def __repr__(self) -> str:
        sizes = counted(self.n_states, "state"), counted(self.n_actions, "action")
        return f"ModelSet({counted(len(self), 'world')}, {', '.join(sizes)})"

    @property
    def n_states(self) -> int:
        return self._models[0].n_states

    @property
    def n_actions(self) -> int:
        return self._models[0].n_actions

    @property
    def rewards(self) -> NDArray[np.float64]:
        """(S, A), shared by all worlds: those of a state are earned in every world in which it is not terminal."""
        return self._rewards

    @property
    def rest(self) -> float:
        """What each step that is left after the end of an episode is worth, in all worlds."""
        return self._models[0].rest

    def _shared_rewards(self) -> NDArray[np.float64]:
        """The rewards of every state, as the first world has them in which it is not terminal."""
        owner, shared = np.zeros(self.n_states, np.int64), self._models[0].gains
        if any(len(model.ends) for model in self._models):
            owner = np.argmax([~model.terminal for model in self._models], axis=0)
            shared = np.stack([self._models[i].gains[s] for s, i in enumerate(owner)])
        for i, model in enumerate(self._models):
            if np.array_equal(model.gains, shared):
                continue
            differing = np.argwhere((model.gains != shared) & ~model.terminal[:, None])
            if len(differing):
                s, a = differing[0]
                raise ValueError(
                    f"models[{i}].rewards[{s}, {a}] is {model.gains[s, a]:g}, that of models[{owner[s]}] is "
                    f"{shared[s, a]:g}; the worlds of a set share their rewards"
                )
        return read_only(shared)

    @property
    def _successors(self) -> list[Successors]:
        return [model.successors for model in self._models]

    @property
    def _ends(self) -> list[NDArray[np.bool_]]:
        return [model.ends for model in self._models]

    def separation(self) -> float:
        """min over i < j of max over (s, a) of ||P_i(s, a) - P_j(s, a)||_1; ``inf`` for a single world.

        Whether the episode ended is seen too, see :meth:`distances`.
        """
        return separation.separation(self._successors, self._ends)

    def separation_everywhere(self) -> float:
        """The least distance of two worlds at any pair of a state that is terminal in neither; see :meth:`distances`.

        0 where two worlds are alike at some pair; ``inf`` for a single world.
        """
        return separation.separation_everywhere(self._successors, self._ends)

    def distances(self) -> NDArray[np.float64]:
        """||P_i(s, a) - P_j(s, a)||_1, (M, M, S, A).

        Where worlds have terminal states, P_i(s, a) is the distribution of the successor together with whether the
        episode ended there: an arrival in a state that is terminal in one of two worlds only tells them apart.  Nobody
        acts in a terminal state, so at the pairs of a state that is terminal in either world the distance is 0.
        """
        size = 8.0 * len(self) ** 2 * self.n_states * self.n_actions
        sizes.check("models", f"a list of {len(self)}", size, "an array (M, M, S, A)", "the set or its worlds")
        out = np.zeros((len(self), len(self), self.n_states, self.n_actions))
        for i, j in combinations(range(len(self)), 2):
            out[i, j] = self._distances(i, j).reshape(out.shape[2:])
            out[j, i] = out[i, j]
        return out

    def _distances(self, i: int, j: int) -> NDArray[np.float64]:
        """Those of two worlds, (S * A,)."""
        return separation.distances(self[i].successors, self[j].successors, self[i].ends, self[j].ends)

    def distinguishing_pairs(self, i: int, j: int, level: float) -> list[tuple[int, int]]:
        """The pairs (s, a) at which worlds i and j differ by more than ``level``, ascending; see :meth:`distances`."""
        for name, index in (("i", i), ("j", j)):
            checks.integer(name, index, least=0, most=len(self) - 1)
        level = checks.real("level", level, least=0.0)
        return self._pairs(np.flatnonzero(self._distances(i, j) > level))

    def distinguishing_set(
        self, level: float | None = None, *, method: str = "exact", time_limit: float = 60.0
    ) -> list[tuple[int, int]]:
        """A smallest set of pairs such that every two worlds differ by more than ``level`` at one of them.

        Where worlds have terminal states they differ as :meth:`distances` says: by where episodes end too, and at pairs
        of states that are terminal in neither of the two.

        Parameters
        ----------
        level
            by default just below the separation.
        method
            "exact" solves an integer program; "greedy" is for sets with very many worlds, fast, and up
            to 1 + ln(M (M-1) / 2) times as large.
        time_limit
            seconds that the integer program may take.

        Raises
        ------
        ValueError
            two worlds differ nowhere by more than ``level``.
        TimeoutError
            the integer program takes longer; the greedy method does not.
        """
        checks.choice("method", method, ("exact", "greedy"))
        seconds = read_seconds(time_limit)
        if len(self) == 1:
            return []
        level = self.default_level() if level is None else checks.real("level", level, least=0.0)
        table = self._told_apart(level)
        if not table.any(axis=1).all():
            i, j = list(combinations(range(len(self)), 2))[int(np.argmin(table.any(axis=1)))]
            raise ValueError(f"models[{i}] and models[{j}] differ nowhere by more than level = {level:g}")
        return self._pairs(distinguishing.smallest_set(table, exact=method == "exact", time_limit=seconds))

    def default_level(self) -> float:
        """Just below the separation: tests are strict, and 1.3 is not a binary fraction."""
        exact = self.separation()
        return max(exact - BELOW_SEPARATION, exact / 2.0)

    def is_distinguishing(self, pairs: Iterable[tuple[int, int]], level: float) -> bool:
        """Every two worlds differ by more than ``level`` at one of ``pairs``."""
        mask = checks.pairs("pairs", pairs, self.n_states, self.n_actions)
        columns = np.flatnonzero(mask)
        level = checks.real("level", level, least=0.0)
        if len(self) == 1:
            return True
        return bool(self._told_apart(level)[:, columns].any(axis=1).all())

    def _told_apart(self, level: float) -> NDArray[np.bool_]:
        size = len(self) ** 2 * self.n_states * self.n_actions  # half as many entries, each twice at first
        sizes.check("models", f"a list of {len(self)}", size, "a table (M (M-1) / 2, S A)", "the set or its worlds")
        return distinguishing.told_apart(self._successors, level, self._ends)

    def _pairs(self, numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
        return [(int(n) // self.n_actions, int(n) % self.n_actions) for n in numbers]

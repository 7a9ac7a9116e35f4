"""One world, and the hidden set of worlds.

:class:`MDP` is a finite-horizon tabular Markov decision process with known rewards r(s, a) in [0, 1], held as
successor lists.  :class:`ModelSet` is the set M = {m_1, ..., m_M} that the adversary draws from: the same
states, actions and rewards, different transitions.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks, sizes
from aomultirl.engine import behaviours, planning, stepping, successors
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.sampling import AliasTables, alias_tables
from aomultirl.engine.successors import Successors
from aomultirl.geometry import distinguishing, reachability, separation
from aomultirl.world_arguments import (
    counted,
    read_layout,
    read_only,
    read_policy,
    read_seconds,
    read_start,
    read_terminal,
)

REMEMBERED = 100
MOST_WORLDS = 10**6
"""Of a set: whatever is computed of it compares each with each."""
BELOW_SEPARATION = 1e-6
"""How far below the separation the default level lies."""


class MDP:
    """One world: S states, A actions, transitions, rewards and a start.

    Parameters
    ----------
    transitions
        P(s' | s, a) as a dense array (S, A, S), a ``scipy.sparse`` matrix (S*A, S) with row s*A + a,
        a :class:`aomultirl.Successors` record, or nested lists with ``transitions[s][a]`` a list of
        (successor, probability) or a dict {successor: probability}.
    rewards
        (S, A), each within [0, 1].
    start
        a state, or a distribution (S,).
    layout
        (rows, columns) of a grid world, for drawing.
    labels
        (S,), what each state is called where the world comes from.
    terminal
        (S,), whether arriving in a state ends the episode, or a list of such states.  A terminal state is worth nothing
        from then on: whatever its rows say, it keeps itself, and every step that is left earns ``rest``.
    rest
        within [0, 1]; other than 0 where rewards were moved into [0, 1] and so nothing is not 0 any more.

    Raises
    ------
    ValueError
        anything invalid; the message names the place and the value.

    Examples
    --------
    >>> import aomultirl as ao
    >>> world = ao.MDP([[[0.9, 0.1]], [[0.5, 0.5]]], rewards=[[0.0], [1.0]])
    >>> world
    MDP(2 states, 1 action, 4 transitions)
    >>> round(world.diameter(), 9)
    10.0
    """

    def __init__(
        self,
        transitions: Any,
        rewards: ArrayLike,
        start: int | ArrayLike = 0,
        *,
        layout: tuple[int, int] | None = None,
        labels: ArrayLike | None = None,
        terminal: ArrayLike | None = None,
        rest: float = 0.0,
    ) -> None:
        gains = np.array(checks.finite_array("rewards", rewards, lowest=0.0, highest=1.0))
        if gains.ndim != 2 or gains.size == 0:
            raise ValueError(f"rewards must have shape (S, A), not {checks.shown(gains.shape)}")
        self.successors: Successors = successors.read(transitions, gains.shape[1])
        self.n_actions: int = gains.shape[1]
        self.n_states: int = (len(self.successors.starts) - 1) // self.n_actions
        if gains.shape[0] != self.n_states:
            raise ValueError(f"rewards have {gains.shape[0]} states, transitions have {self.n_states}")
        self.rest = checks.real("rest", rest, least=0.0, most=1.0)
        self.terminal: NDArray[np.bool_] = read_terminal(terminal, self.n_states)
        if self.terminal.any():
            gains[self.terminal] = self.rest
            self.successors = successors.absorbed(self.successors, self.terminal)
        self.gains = gains
        self.rewards: NDArray[np.float64] = read_only(gains)
        self.start: int | NDArray[np.float64] = read_start(start, self.n_states)
        if self.terminal.any() and (self.start_distribution[self.terminal] > 0.0).any():
            state = int(np.flatnonzero(self.terminal & (self.start_distribution > 0.0))[0])
            raise ValueError(f"start includes state {state}, which is terminal: the episode would be over at once")
        self.layout = read_layout(layout, self.n_states)
        self._first_values: dict[int, NDArray[np.float64]] = {}
        self.labels = None if labels is None else checks.array_of("labels", labels)
        if self.labels is not None and self.labels.shape != (self.n_states,):
            raise ValueError(f"labels must have shape ({self.n_states},), not {self.labels.shape}")

    def __repr__(self) -> str:
        sizes = counted(self.n_states, "state"), counted(self.n_actions, "action")
        return f"MDP({', '.join(sizes)}, {counted(len(self.successors.probs), 'transition')})"

    @property
    def transitions(self) -> NDArray[np.float64]:
        """P as a dense array (S, A, S), made anew at each call."""
        size = 8.0 * self.n_states * self.n_actions * self.n_states
        sizes.check("n_states", self.n_states, size, "a dense array (S, A, S)", "it, or take sparse_transitions,")
        dense = np.zeros((self.n_states * self.n_actions, self.n_states))
        dense[self.successors.owners(), self.successors.states] = self.successors.probs
        return dense.reshape(self.n_states, self.n_actions, self.n_states)

    @property
    def sparse_transitions(self) -> sp.csr_array:
        """P as a sparse array (S*A, S), row s*A + a."""
        starts, states, probs = self.successors
        return sp.csr_array((probs.copy(), states.copy(), starts.copy()), shape=(len(starts) - 1, self.n_states))

    @property
    def start_distribution(self) -> NDArray[np.float64]:
        """Probability of each state at the first step, (S,)."""
        if isinstance(self.start, int):
            chances = np.zeros(self.n_states)
            chances[self.start] = 1.0
            return chances
        return self.start.copy()

    # -- geometry -----------------------------------------------------------------------------------------

    def is_communicating(self) -> bool:
        """Every state can be reached from every other under some policy."""
        return reachability.is_communicating(self.successors, self.n_states)

    def diameter(self, time_limit: float | None = None) -> float:
        """max over s != s' of the least expected time from s to s'; ``inf`` if not communicating.

        Raises TimeoutError where it takes more than ``time_limit`` seconds of CPU time.
        """
        return reachability.diameter(self.successors, self.n_states, read_seconds(time_limit))

    def hitting_time(self, time_limit: float | None = None) -> float:
        """max over s != s' of the greatest expected time from s to s' over all policies.

        ``inf`` where some policy can avoid a state for ever.  Raises TimeoutError where it takes more than
        ``time_limit`` seconds of CPU time.
        """
        return reachability.hitting_time(self.successors, self.n_states, read_seconds(time_limit))

    # -- planning -----------------------------------------------------------------------------------------

    def optimal_values(self, horizon: int) -> NDArray[np.float64]:
        """V*, (H + 1, S): row h is the best expected reward of the steps h, ..., H-1; the last row is zero."""
        horizon = self._read_horizon(horizon, least=0, entry=8)
        return planning.backward_induction(self.planning_tables, self.gains, horizon, with_policy=False).values

    def _read_horizon(self, horizon: Any, *, least: int, entry: int) -> int:
        """H, for which a table with ``entry`` bytes for every step and state fits into the memory."""
        steps = checks.integer("horizon", horizon, least=least)
        sizes.check("horizon", steps, (steps + 1.0) * (entry * self.n_states + 8), "a table of all steps and states")
        return steps

    def first_values(self, horizon: int) -> NDArray[np.float64]:
        """The first row of :meth:`optimal_values` alone, (S,), for horizons whose table would not fit; remembered."""
        horizon = checks.integer("horizon", horizon, least=0)
        if horizon not in self._first_values:
            if len(self._first_values) >= REMEMBERED:
                self._first_values.clear()
            self._first_values[horizon] = planning.first_values(self.planning_tables, self.gains, horizon)
        return self._first_values[horizon].copy()

    def optimal_policy(self, horizon: int) -> NDArray[np.int32]:
        """An optimal action for every step and state, (H, S); the first of those that are equally good."""
        horizon = self._read_horizon(horizon, least=1, entry=12)
        return planning.backward_induction(self.planning_tables, self.gains, horizon).policy

    def policy_values(self, policy: ArrayLike, horizon: int | None = None) -> NDArray[np.float64]:
        """Values of a policy, (H + 1, S), computed and not sampled.

        Parameters
        ----------
        policy
            actions (H, S), or (S,) for the same at every step; or probabilities of actions, float
            (S, A) for the same at every step, or (H, S, A).
        horizon
            H; needed where the policy is the same at every step.
        """
        table, stationary = read_policy(policy, self.n_states, self.n_actions)
        if horizon is None:
            if stationary:
                raise ValueError("horizon is needed: this policy is the same at every step")
            horizon = len(table)
        horizon = self._read_horizon(horizon, least=0, entry=8)
        if not stationary and len(table) < horizon:
            raise ValueError(f"horizon is {horizon}, but the policy has {len(table)} steps")
        return planning.evaluate(self.planning_tables, self.gains, table, horizon)

    # -- stepping -----------------------------------------------------------------------------------------

    def rollout(
        self, policy: ArrayLike, steps: int | None = None, *, seed: int = 0, start: int | None = None
    ) -> stepping.Walk:
        """Follow a policy of actions in the compiled simulator.

        Parameters
        ----------
        policy
            actions (S,) for the same at every step, or (H, S).
        steps
            how many; by default H.
        start
            a state; by default drawn from the world's start.

        Returns
        -------
        Walk
            the state reached, the reward collected, and the counts of every transition seen.
        """
        table, stationary = read_policy(policy, self.n_states, self.n_actions)
        if table.ndim != 2:
            raise ValueError("rollout follows a policy of actions, not of probabilities")
        if steps is None and stationary:
            raise ValueError("steps is needed: this policy is the same at every step")
        steps = checks.integer(
            "steps", len(table) if steps is None else steps, least=0, most=None if stationary else len(table)
        )
        draws, world = np.random.SeedSequence(checks.seed("seed", seed)).spawn(2)
        if start is None:
            start = int(np.random.default_rng(draws).choice(self.n_states, p=self.start_distribution))
        state = checks.integer("start", start, least=0, most=self.n_states - 1)
        sources = streams(world, 2)
        simulator = stepping.Simulator(self.alias_tables, self.gains, state, *sources, terminal=self.ends)
        counts = CountTable(self.n_states * self.n_actions)
        plan = behaviours.follow(np.asarray(table[0] if stationary else table, np.int32))
        outcome = simulator.run(stepping.Phase(plan, steps, counts, np.empty(0)))
        return stepping.Walk(outcome.state, outcome.reward, counts)

    @cached_property
    def planning_tables(self) -> planning.Transitions:
        """The transitions as the planning kernels read them."""
        return planning.transitions(self.successors, self.n_states)

    @cached_property
    def alias_tables(self) -> AliasTables:
        """The transitions as the stepping kernels read them."""
        return alias_tables(self.successors)

    @cached_property
    def ends(self) -> NDArray[np.bool_]:
        """The terminal states as the stepping kernels read them: (S,), or empty where there are none."""
        return self.terminal if self.terminal.any() else stepping.NOWHERE


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
        owner = np.argmax([~model.terminal for model in self._models], axis=0)
        shared = np.stack([self._models[i].gains[s] for s, i in enumerate(owner)]) if owner.any() else self[0].gains
        for i, model in enumerate(self._models):
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

    def separation(self) -> float:
        """min over i < j of max over (s, a) of ||P_i(s, a) - P_j(s, a)||_1; ``inf`` for a single world."""
        return separation.separation(self._successors)

    def distances(self) -> NDArray[np.float64]:
        """||P_i(s, a) - P_j(s, a)||_1, (M, M, S, A)."""
        size = 8.0 * len(self) ** 2 * self.n_states * self.n_actions
        sizes.check("models", f"a list of {len(self)}", size, "an array (M, M, S, A)", "the set or its worlds")
        out = np.zeros((len(self), len(self), self.n_states, self.n_actions))
        for i, j in combinations(range(len(self)), 2):
            out[i, j] = separation.distances(self[i].successors, self[j].successors).reshape(out.shape[2:])
            out[j, i] = out[i, j]
        return out

    def distinguishing_pairs(self, i: int, j: int, level: float) -> list[tuple[int, int]]:
        """The pairs (s, a) at which worlds i and j differ by more than ``level``, ascending."""
        for name, index in (("i", i), ("j", j)):
            checks.integer(name, index, least=0, most=len(self) - 1)
        level = checks.real("level", level, least=0.0)
        apart = separation.distances(self[i].successors, self[j].successors) > level
        return self._pairs(np.flatnonzero(apart))

    def distinguishing_set(
        self, level: float | None = None, *, method: str = "exact", time_limit: float = 60.0
    ) -> list[tuple[int, int]]:
        """A smallest set of pairs such that every two worlds differ by more than ``level`` at one of them.

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
        return distinguishing.told_apart(self._successors, level)

    def _pairs(self, numbers: NDArray[np.int64]) -> list[tuple[int, int]]:
        return [(int(n) // self.n_actions, int(n) % self.n_actions) for n in numbers]

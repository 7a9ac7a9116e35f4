"""One world: a finite-horizon tabular Markov decision process with known rewards r(s, a) in [0, 1].

It is held as successor lists.
"""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from aomultirl import checks, sizes
from aomultirl.engine import behaviours, planning, stepping, successors, walking
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.sampling import AliasTables, alias_tables
from aomultirl.engine.successors import Successors
from aomultirl.geometry import reachability
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
        """Every state can be reached from every other under some policy; never so where a state is terminal."""
        return reachability.is_communicating(self.successors, self.n_states)

    def diameter(self, time_limit: float | None = None) -> float:
        """max over s != s' of the least expected time from s to s'; ``inf`` if not communicating.

        So it is ``inf`` where a state is terminal: within an episode nothing is reached from there.
        Raises TimeoutError where it takes more than ``time_limit`` seconds of CPU time.
        """
        return reachability.diameter(self.successors, self.n_states, read_seconds(time_limit))

    def hitting_time(self, time_limit: float | None = None) -> float:
        """max over s != s' of the greatest expected time from s to s' over all policies.

        ``inf`` where some policy can avoid a state for ever, and so where a state is terminal.  Raises TimeoutError
        where it takes more than ``time_limit`` seconds of CPU time.
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
        simulator = stepping.Simulator(self.alias_tables, self.gains, state, sources[0], sources[1], terminal=self.ends)
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
        return self.terminal if self.terminal.any() else walking.NOWHERE

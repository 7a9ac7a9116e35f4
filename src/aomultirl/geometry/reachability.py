"""Who can be reached from where, and how long it takes.

For a target g let T be the first time g is entered.  The diameter is max over s != g of min over policies of
E_s[T]; the hitting time is the same with the maximum over policies.  Both are stochastic shortest paths with
cost 1 a step, solved by policy iteration with exact evaluation.

* Diameter.  Value iteration from below suggests a policy; if it reaches g surely its values v are an upper bound, and
  so is every later v: v >= 1 + P_pi v for the greedy pi, which therefore reaches g too.  A target whose upper bound
  falls below the best diameter found so far is dropped.
* Hitting time.  It is infinite exactly if some non-empty set of states without g can be stayed in for ever.
  Otherwise every policy reaches g.  Plain value iteration is hopeless here: on the paper's grid two million sweeps are
  still 0.3 % low.

Where no action improves v by more than eps, v is within a factor 1 + eps of the optimum,
because a step costs 1.  Choosing between policies compares times that differ by single steps, so beyond
some 10**14 steps rounding hides which one is best; then the time of the best policy found is returned, with a warning.
"""

import time
import warnings
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl.engine.compiling import kernel
from aomultirl.engine.signals import serve_signals
from aomultirl.engine.successors import Successors
from aomultirl.geometry.passage_times import eliminate, passage_times

TOLERANCE = 1e-9
SWEEPS = 60
COMPARABLE = 1e14
"""Times above this are too long to tell from those of a policy that is a step faster or slower."""


class Predecessors(NamedTuple):
    """The pairs that can lead to state s: pairs[starts[s]:starts[s + 1]]."""

    starts: NDArray[np.int64]
    pairs: NDArray[np.int64]


def predecessors(world: Successors, n_states: int) -> Predecessors:
    """Successor lists turned round."""
    order = np.argsort(world.states, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(world.states, minlength=n_states))))
    return Predecessors(starts.astype(np.int64), world.owners()[order])


def is_communicating(world: Successors, n_states: int) -> bool:
    """Every state can be reached from every other: one strong component."""
    from scipy.sparse.csgraph import connected_components

    n_actions = (len(world.starts) - 1) // n_states
    edges = sp.csr_array((world.probs, (world.owners() // n_actions, world.states)), shape=(n_states, n_states))
    components, _ = connected_components(edges, connection="strong")
    return bool(components == 1)


class Clock:
    """Raises TimeoutError when :meth:`tick` comes later than ``seconds`` of CPU time after the start."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds, self.begin = seconds, time.process_time()

    def tick(self) -> None:
        if self.seconds is not None and time.process_time() - self.begin > self.seconds:
            raise TimeoutError(f"this takes longer than {self.seconds:g} s of CPU time")


def diameter(world: Successors, n_states: int, time_limit: float | None = None) -> float:
    """max over s != g of the fastest expected time from s to g; infinite if not communicating."""
    if n_states == 1:
        return 0.0
    if not is_communicating(world, n_states):
        return float("inf")
    back, clock = predecessors(world, n_states), Clock(time_limit)
    best = 0.0
    for target in range(n_states):
        clock.tick()
        best = max(best, _fastest(world, back, n_states, target, best))
    _warn_if_too_long(world, n_states, best, "diameter", "at most")
    return best


def _fastest(world: Successors, back: Predecessors, n_states: int, target: int, best: float) -> float:
    """Longest of the fastest times to ``target``, or anything up to ``best`` if it is no more than that."""
    policy = np.zeros(n_states, np.int64)
    _sweep_up(world, target, policy, 4 * SWEEPS)
    if not _reaches(world, back, target, policy):
        _search_backwards(world, back, target, policy)
    values = passage_times(world, policy, target)
    while True:
        trial, improved = policy.copy(), values.copy()
        gap = _sweep_down(world, target, improved, trial, best, SWEEPS)
        if gap < 0.0:
            return best
        if gap <= TOLERANCE:
            return float(values.max())
        faster = passage_times(world, trial, target)
        if not faster.sum() < values.sum():
            return float(values.max())
        policy, values = trial, faster


def hitting_time(world: Successors, n_states: int, time_limit: float | None = None) -> float:
    """max over s != g of the slowest expected time from s to g; infinite where g can be avoided for ever."""
    if n_states == 1:
        return 0.0
    if not hitting_time_is_finite(world, n_states, time_limit):
        return float("inf")
    policy, clock = np.zeros(n_states, np.int64), Clock(time_limit)
    longest = 0.0
    for target in range(n_states):
        clock.tick()
        longest = max(longest, _slowest(world, policy, target))
    _warn_if_too_long(world, n_states, longest, "hitting time", "at least")
    return longest


def _warn_if_too_long(world: Successors, n_states: int, steps: float, noun: str, bound: str) -> None:
    if steps > COMPARABLE and len(world.starts) - 1 > n_states:
        warnings.warn(
            f"the {noun} is {bound} {steps:.3g} steps: beyond {COMPARABLE:.0e} rounding hides which policy is best",
            stacklevel=4,
        )


def hitting_time_is_finite(world: Successors, n_states: int, time_limit: float | None = None) -> bool:
    """No state can be avoided for ever; linear in the transitions for each state."""
    back, clock = predecessors(world, n_states), Clock(time_limit)
    for target in range(n_states):
        clock.tick()
        if _avoidable(world, back, target):
            return False
    return True


def _slowest(world: Successors, policy: NDArray[np.int64], target: int) -> float:
    """Slowest expected time to ``target``; ``policy`` is where the search starts and is left at the best one."""
    values = eliminate(world, policy, target)
    while True:
        trial = policy.copy()
        if not _improve_up(world, target, values, trial):
            return float(values.max())
        slower = eliminate(world, trial, target)
        if not slower.sum() > values.sum():
            return float(values.max())
        policy[:], values = trial, slower


@kernel
def _sweep_up(world: Successors, target: int, policy: NDArray[np.int64], sweeps: int) -> None:
    """Value iteration from zero, Gauss-Seidel, until it moves by less than a hundredth; leaves the greedy policy."""
    n_states = len(policy)
    n_actions = (len(world.starts) - 1) // n_states
    values, spent = np.zeros(n_states), 0
    for _ in range(sweeps):
        spent = serve_signals(spent, len(world.probs))
        moved, top = 0.0, 0.0
        for s in range(n_states):
            if s == target:
                continue
            least = np.inf
            for a in range(n_actions):
                total = 1.0
                for i in range(world.starts[s * n_actions + a], world.starts[s * n_actions + a + 1]):
                    total += world.probs[i] * values[world.states[i]]
                if total < least:
                    least, policy[s] = total, a
            moved, top = max(moved, least - values[s]), max(top, least)
            values[s] = least
        if moved <= 0.01 * top / n_states:
            break


@kernel
def _reaches(world: Successors, back: Predecessors, target: int, policy: NDArray[np.int64]) -> bool:
    """The policy leads to the target from everywhere."""
    n_states = len(policy)
    n_actions = (len(world.starts) - 1) // n_states
    reached = np.zeros(n_states, np.bool_)
    queue = np.empty(n_states, np.int64)
    queue[0], reached[target] = target, True
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        for i in range(back.starts[state], back.starts[state + 1]):
            s, a = back.pairs[i] // n_actions, back.pairs[i] % n_actions
            if not reached[s] and policy[s] == a:
                reached[s] = True
                queue[tail] = s
                tail += 1
    return tail == n_states


@kernel
def _search_backwards(world: Successors, back: Predecessors, target: int, policy: NDArray[np.int64]) -> None:
    """For every state the action most likely to lead nearer to the target, layer by layer."""
    n_states = len(policy)
    n_actions = (len(world.starts) - 1) // n_states
    layer = np.full(n_states, -1, np.int64)
    queue = np.empty(n_states, np.int64)
    queue[0], layer[target] = target, 0
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        for i in range(back.starts[state], back.starts[state + 1]):
            s = back.pairs[i] // n_actions
            if layer[s] < 0:
                layer[s] = layer[state] + 1
                queue[tail] = s
                tail += 1
    for s in range(n_states):
        most = 0.0
        for a in range(n_actions):
            nearer = 0.0
            for i in range(world.starts[s * n_actions + a], world.starts[s * n_actions + a + 1]):
                if layer[world.states[i]] < layer[s]:
                    nearer += world.probs[i]
            if nearer > most:
                most, policy[s] = nearer, a


@kernel
def _sweep_down(
    world: Successors, target: int, values: NDArray[np.float64], policy: NDArray[np.int64], best: float, sweeps: int
) -> float:
    """Improve upper bounds in place, Gauss-Seidel, and leave the greedy policy.

    Returns the largest improvement of the first sweep, or -1 once all values are at most ``best``.
    """
    n_states = len(values)
    n_actions = (len(world.starts) - 1) // n_states
    first_gap, spent = 0.0, 0
    for sweep in range(sweeps):
        spent = serve_signals(spent, len(world.probs))
        gap, top = 0.0, 0.0
        for s in range(n_states):
            if s == target:
                continue
            for a in range(n_actions):
                total = 1.0
                for i in range(world.starts[s * n_actions + a], world.starts[s * n_actions + a + 1]):
                    if world.states[i] != target:
                        total += world.probs[i] * values[world.states[i]]
                if total < values[s]:
                    gap = max(gap, values[s] - total)
                    values[s], policy[s] = total, a
            top = max(top, values[s])
        if top <= best:
            return -1.0
        if sweep == 0:
            first_gap = gap
        if gap <= 1e-3:
            break
    return first_gap


@kernel
def _avoidable(world: Successors, back: Predecessors, target: int) -> bool:
    """Some set of states without the target can be stayed in for ever.

    Remove the target, then every state all of whose actions can lead to a removed one; something remains.
    """
    n_states = len(back.starts) - 1
    n_actions = (len(world.starts) - 1) // n_states
    leaks = np.zeros(n_states * n_actions, np.bool_)
    safe, queue = np.empty(n_states, np.int64), np.empty(n_states, np.int64)
    for s in range(n_states):
        safe[s] = n_actions
    removed = np.zeros(n_states, np.bool_)
    queue[0], removed[target] = target, True
    head, tail = 0, 1
    while head < tail:
        state = queue[head]
        head += 1
        for i in range(back.starts[state], back.starts[state + 1]):
            pair = back.pairs[i]
            s = pair // n_actions
            if not leaks[pair] and not removed[s]:
                leaks[pair] = True
                safe[s] -= 1
                if safe[s] == 0:
                    removed[s] = True
                    queue[tail] = s
                    tail += 1
    return tail < n_states


@kernel
def _improve_up(world: Successors, target: int, values: NDArray[np.float64], policy: NDArray[np.int64]) -> bool:
    """Switch to actions that make the passage longer; False where none does beyond rounding."""
    n_states = len(values)
    n_actions = (len(world.starts) - 1) // n_states
    longest = 0.0
    for time_left in values:
        longest = time_left if time_left > longest else longest
    least = TOLERANCE + 1e-15 * longest
    changed = False
    for s in range(n_states):
        if s == target:
            continue
        most = least
        for a in range(n_actions):
            gain = 1.0
            for i in range(world.starts[s * n_actions + a], world.starts[s * n_actions + a + 1]):
                gain += world.probs[i] * (values[world.states[i]] - values[s])
            if gain > most:
                most, policy[s] = gain, a
                changed = True
    return changed

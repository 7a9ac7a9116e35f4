"""The cases: the same work done by our engine, by hand-written C, and by NumPy or SciPy.

Every case first checks that its contenders agree, C to the last bit, so that no time is that of a wrong answer.
Where C could hold the world in two ways, both are timed and the faster one counts.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from aomultirl.benchmarks import twin
from aomultirl.benchmarks.record import Record
from aomultirl.benchmarks.timing import interleaved
from aomultirl.engine import planning, stepping
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.successors import Successors
from aomultirl.mdp import MDP
from aomultirl.worlds import gridworld

N_ACTIONS, N_SUCCESSORS = 4, 5
DENSE_LIMIT = 10_000_000
"""Numbers in the largest dense array of transitions that a benchmark should make."""


class Sizes(NamedTuple):
    """How large the cases are; the targets are meant for the defaults."""

    steps: int = 8_000_000
    horizon: int = 200
    dense_states: int = 100
    sparse_states: int = 10_000
    sparse_horizon: int = 50


FULL = Sizes()


class Case(NamedTuple):
    """One piece of work; ``same`` compares our result with that of C, ``close`` with that of NumPy."""

    name: str
    work: int
    unit: str
    ours: Callable[[], Any]
    c: dict[str, Callable[[], Any]]
    numpy: Callable[[], NDArray[np.float64]] | None
    same: Callable[[Any, Any], bool]
    c_target: float
    numpy_target: float | None


def run(sizes: Sizes = FULL, *, rounds: int = 5, least_seconds: float = 0.05) -> list[Record]:
    """Measure all cases: best CPU time of ``rounds`` turns of at least about ``least_seconds`` each.

    Raises
    ------
    RuntimeError
        two contenders disagree.
    """
    note, c_twin = "", None
    try:
        c_twin = twin.load()
    except twin.NoTwinError as error:
        note = str(error)
    return [_measure(case, rounds, least_seconds, note) for case in _cases(sizes, c_twin)]


def _measure(case: Case, rounds: int, least_seconds: float, note: str) -> Record:
    _check(case)
    contenders = {"ours": case.ours, **case.c} | ({} if case.numpy is None else {"numpy": case.numpy})
    seconds = interleaved(contenders, rounds=rounds, least_seconds=least_seconds)
    return Record(
        name=case.name,
        work=case.work,
        unit=case.unit,
        ours_seconds=seconds["ours"],
        c_seconds=min((seconds[name] for name in case.c), default=None),
        numpy_seconds=seconds.get("numpy"),
        c_target=case.c_target,
        numpy_target=case.numpy_target,
        note=note,
    )


def _check(case: Case) -> None:
    """Every contender gives our answer."""
    ours = case.ours()
    for name, work in case.c.items():
        if not case.same(ours, work()):
            raise RuntimeError(f"{case.name}: {name} and our engine disagree, so their times mean nothing")
    if case.numpy is not None and not np.allclose(ours.values, case.numpy(), rtol=1e-9, atol=1e-12):
        raise RuntimeError(f"{case.name}: NumPy and our engine disagree, so their times mean nothing")


def _cases(sizes: Sizes, c_twin: twin.Twin | None) -> Iterator[Case]:
    """One after the other, so that only one world is held at a time."""
    grid = gridworld()[0]
    yield _stepping(grid, sizes.steps, c_twin)
    yield _planning(grid, sizes.horizon, c_twin, with_einsum, 0.45)
    yield _planning(dense_world(sizes.dense_states), sizes.horizon, c_twin, with_einsum, 0.9)
    yield _planning(sparse_world(sizes.sparse_states), sizes.sparse_horizon, c_twin, with_scipy, 0.9)


def _stepping(world: MDP, steps: int, c_twin: twin.Twin | None) -> Case:
    """A fixed policy in the paper's grid, the counts of all transitions kept."""
    plan = np.ascontiguousarray(world.optimal_policy(200)[0])
    rewards = np.ascontiguousarray(world.rewards).reshape(-1)
    start = int(np.argmax(world.start_distribution))
    tables, n_pairs = world.alias_tables, world.n_states * world.n_actions
    stream, idle = streams(0, 2)

    def ours() -> stepping.Walk:
        simulator = stepping.Simulator(tables, rewards, start, stream.copy(), idle)
        counts = CountTable(n_pairs)
        outcome = simulator.run(stepping.Phase(stepping.follow(plan), steps, counts, np.empty(0)))
        return stepping.Walk(outcome.state, outcome.reward, counts)

    return Case(
        name=f"stepping S={world.n_states} A={world.n_actions}",
        work=steps,
        unit="steps",
        ours=ours,
        c={} if c_twin is None else {"C": c_twin.follow(world, plan, steps, start, stream)},
        numpy=None,
        same=_same_walk,
        c_target=0.6,
        numpy_target=None,
    )


def _same_walk(ours: stepping.Walk, other: twin.DenseWalk) -> bool:
    starts, states, visits = ours.counts.to_lists()
    counts = np.zeros_like(other.counts)
    counts[np.repeat(np.arange(len(counts)), np.diff(starts)), states] = visits
    return (ours.state, ours.reward) == (other.state, other.reward) and np.array_equal(counts, other.counts)


def _planning(
    world: MDP,
    horizon: int,
    c_twin: twin.Twin | None,
    peer: Callable[[MDP, int], Callable[[], NDArray[np.float64]]],
    c_target: float,
) -> Case:
    """Backward induction: optimal values and the best action of every step and state."""
    tables, gains = world.planning_tables, np.ascontiguousarray(world.rewards)
    caps = np.full(horizon, np.inf)
    c = {}
    if c_twin is not None:
        c["C by rows"] = c_twin.plan_by_rows(world, gains, caps)
        if gains.size * world.n_states <= DENSE_LIMIT:
            c["C by columns"] = c_twin.plan_by_columns(world, gains, caps)
    return Case(
        name=f"planning S={world.n_states:,} A={world.n_actions} H={horizon}",
        work=len(world.successors.probs) * horizon,
        unit="transitions",
        ours=lambda: planning.backward_induction(tables, gains, horizon),
        c=c,
        numpy=peer(world, horizon),
        same=_same_plan,
        c_target=c_target,
        numpy_target=4.0,
    )


def _same_plan(ours: planning.Plan, other: planning.Plan) -> bool:
    """The same bits: comparing bytes also tells 0.0 from -0.0."""
    return ours.values.tobytes() == other.values.tobytes() and ours.policy.tobytes() == other.policy.tobytes()


def with_einsum(world: MDP, horizon: int) -> Callable[[], NDArray[np.float64]]:
    """Optimal values (H + 1, S) as one writes it in NumPy, over the dense array; no actions."""
    dense, rewards = world.transitions, np.ascontiguousarray(world.rewards)

    def call() -> NDArray[np.float64]:
        values = np.zeros((horizon + 1, world.n_states))
        for h in range(horizon - 1, -1, -1):
            values[h] = (rewards + np.einsum("sat,t->sa", dense, values[h + 1])).max(axis=1)
        return values

    return call


def with_scipy(world: MDP, horizon: int) -> Callable[[], NDArray[np.float64]]:
    """Optimal values (H + 1, S) as one writes it with ``scipy.sparse`` and its fastest index type; no actions."""
    starts, states, probs = world.successors
    rewards = np.ascontiguousarray(world.rewards)
    sparse = sp.csr_array((probs, states, starts.astype(np.int32)), shape=(len(starts) - 1, world.n_states))

    def call() -> NDArray[np.float64]:
        values = np.zeros((horizon + 1, world.n_states))
        for h in range(horizon - 1, -1, -1):
            values[h] = (rewards + (sparse @ values[h + 1]).reshape(rewards.shape)).max(axis=1)
        return values

    return call


def dense_world(n_states: int) -> MDP:
    """Every transition exists: rows drawn uniformly from the simplex."""
    draws = np.random.default_rng(0)
    shape = (n_states, N_ACTIONS)
    return MDP(draws.dirichlet(np.ones(n_states), size=shape), draws.random(shape))


def sparse_world(n_states: int) -> MDP:
    """Five successors a pair, one from each fifth of the states: distinct, ascending and far apart."""
    draws = np.random.default_rng(0)
    n_pairs, fifth = n_states * N_ACTIONS, n_states // N_SUCCESSORS
    states = fifth * np.arange(N_SUCCESSORS) + draws.integers(fifth, size=(n_pairs, N_SUCCESSORS))
    probs = draws.dirichlet(np.ones(N_SUCCESSORS), size=n_pairs)
    starts = np.arange(n_pairs + 1) * N_SUCCESSORS
    lists = Successors(starts, states.reshape(-1).astype(np.int32), probs.reshape(-1))
    return MDP(lists, draws.random((n_states, N_ACTIONS)))

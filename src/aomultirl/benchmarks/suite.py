"""The cases: the same work done by our engine, by hand-written C, and by NumPy or SciPy.

Every case first checks that its contenders agree, C to the last bit, so that no time is that of a wrong answer.
Where C could hold the world in two ways, both are timed and the faster one counts.  Contenders take turns, so that a
busy machine slows them all alike.

Exploring is the clustering phase of AOMultiRL in the paper's grid: ExploreID, then random actions up to H0.  A plain
Python loop would take minutes for it, so its time is that of its first steps, which cost no more than later ones.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import streams as tasks
from aomultirl.agents import AOMultiRL, SequentialAOMultiRL
from aomultirl.benchmarks import experiment, peers, twin
from aomultirl.benchmarks.choosing import is_asked_for
from aomultirl.benchmarks.report import Record
from aomultirl.benchmarks.twin import Walked
from aomultirl.engine import behaviours, planning, stepping
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import RandomStream, streams
from aomultirl.engine.successors import Successors
from aomultirl.experiments import History, runner
from aomultirl.experiments.paper import FAILURE, GAMMA, HITTING_TIME, HORIZON, SEPARATION, WORLDS
from aomultirl.exploring.explore_id import explore_id
from aomultirl.mdp import MDP
from aomultirl.worlds import gridworld

N_ACTIONS, N_SUCCESSORS = 4, 5
WHOLE_RUN, IDENTIFYING = "AOMultiRL, the paper's run", "identifying S=16, 64 pairs"
"""Cases of one size."""
DENSE_LIMIT = 10_000_000
"""Numbers in the largest dense array of transitions that a benchmark should make."""


class Exploring(NamedTuple):
    """targets: Gamma, all pairs where None; needed: N; horizon: H0; episodes: in one call; loop: steps in Python."""

    targets: tuple[tuple[int, int], ...] | None
    needed: int
    horizon: int
    episodes: int
    loop: int


THREE = Exploring(GAMMA, needed=1043, horizon=101_262, episodes=50, loop=5_000)
ALL = Exploring(None, needed=1275, horizon=2_649_472, episodes=3, loop=5_000)


class Sizes(NamedTuple):
    """How large the cases are; the targets are meant for the defaults."""

    steps: int = 8_000_000
    horizon: int = 200
    dense_states: int = 100
    sparse_states: int = 10_000
    sparse_horizon: int = 50
    exploring: tuple[Exploring, ...] = (THREE, ALL)
    episodes: int = 200
    runs: int = 10
    transcribed: int = 101_262


FULL = Sizes()


def _never(_ours: object, _other: object) -> bool:
    """For a contender that a case does not have."""
    return False


Work = Callable[[], Any]


class Case(NamedTuple):
    """One piece of work; ``same`` compares our result with that of C, ``close`` with that of NumPy.

    share: the part of the work that NumPy does.
    """

    name: str
    work: int
    unit: str
    ours: Work
    c: Mapping[str, Work] = MappingProxyType({})
    numpy: Work | None = None
    same: Callable[[Any, Any], bool] = _never
    close: Callable[[Any, Any], bool] = _never
    c_target: float | None = None
    numpy_target: float | None = None
    share: float = 1.0
    seconds_target: float | None = None


def run(sizes: Sizes = FULL, *, rounds: int = 5, least_seconds: float = 0.05, only: Sequence[str] = ()) -> list[Record]:
    """Measure all cases: best CPU time of ``rounds`` turns of at least about ``least_seconds`` each.

    Parameters
    ----------
    only
        words, of which one must be in the name of a case, small or capital; none for all cases.

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
    records = [_measure(case, rounds, least_seconds, note) for case in _cases(sizes, c_twin, only)]
    if is_asked_for(experiment.name_of(sizes.runs), only):
        records.append(experiment.measure(sizes.runs, sizes.episodes, sizes.transcribed))
    return records


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
        numpy_seconds=None if case.numpy is None else seconds["numpy"] / case.share,
        c_target=case.c_target,
        numpy_target=case.numpy_target,
        note=note,
        seconds_target=case.seconds_target,
    )


def interleaved(contenders: Mapping[str, Work], *, rounds: int = 5, least_seconds: float = 0.05) -> dict[str, float]:
    """CPU seconds of one call of each contender: the best of ``rounds`` turns.

    A turn repeats its call until it takes about ``least_seconds``.  How often is found out first, which also
    warms every contender up.
    """
    repeats = {name: _repeats(work, least_seconds) for name, work in contenders.items()}
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, work in contenders.items():
            best[name] = min(best[name], _seconds(work, repeats[name]) / repeats[name])
    return best


def _repeats(work: Work, least_seconds: float) -> int:
    repeats = 1
    while _seconds(work, repeats) < least_seconds:
        repeats *= 2
    return repeats


def _seconds(work: Work, repeats: int) -> float:
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return time.process_time() - begin


def _check(case: Case) -> None:
    """Every contender gives our answer."""
    ours = case.ours()
    for name, work in case.c.items():
        if not case.same(ours, work()):
            raise RuntimeError(f"{case.name}: {name} and our engine disagree, so their times mean nothing")
    if case.numpy is not None and not case.close(ours, case.numpy()):
        raise RuntimeError(f"{case.name}: NumPy and our engine disagree, so their times mean nothing")


def _cases(sizes: Sizes, c_twin: twin.Twin | None, only: Sequence[str]) -> Iterator[Case]:
    """Those that are asked for, one after the other, so that only one world is held at a time."""
    grid, (dense, sparse) = gridworld()[0], (sizes.dense_states, sizes.sparse_states)
    makers: dict[str, Callable[[], Case]] = {"stepping S=16 A=4": lambda: _stepping(grid, sizes.steps, c_twin)}
    for size in sizes.exploring:
        pairs = grid.rewards.size if size.targets is None else len(size.targets)
        maker = partial(_exploring, gridworld(edges="stay")[0], size, c_twin)
        makers[f"exploring S=16, {pairs} pairs"] = maker
        if c_twin is not None:
            makers[f"{pairs} pairs, sizes told to C"] = partial(_against_frozen_sizes, gridworld(edges="stay")[0], size)
    makers |= {
        _planning_name(16, sizes.horizon): lambda: _planning(grid, sizes.horizon, c_twin, peers.with_einsum, 0.75),
        _planning_name(dense, sizes.horizon): lambda: _planning(
            dense_world(dense), sizes.horizon, c_twin, peers.with_einsum, 0.9
        ),
        _planning_name(sparse, sizes.sparse_horizon): lambda: _planning(
            sparse_world(sparse), sizes.sparse_horizon, c_twin, peers.with_scipy, 0.9
        ),
        WHOLE_RUN: lambda: _whole_run(sizes.episodes),
        IDENTIFYING: lambda: _identifying(sizes.episodes),
    }
    for name, make in makers.items():
        if is_asked_for(name, only):
            yield make()


def _planning_name(n_states: int, horizon: int) -> str:
    return f"planning S={n_states:,} A={N_ACTIONS} H={horizon}"


def _stepping(world: MDP, steps: int, c_twin: twin.Twin | None) -> Case:
    """A fixed policy in the paper's grid, the counts of all transitions kept."""
    plan = np.ascontiguousarray(world.optimal_policy(200)[0])
    rewards = world.gains
    start = int(np.argmax(world.start_distribution))
    tables, n_pairs = world.alias_tables, world.n_states * world.n_actions
    stream, idle = streams(0, 2)

    def ours() -> Walked:
        simulator = stepping.Simulator(tables, rewards, start, stream.copy(), idle)
        counts = CountTable(n_pairs)
        outcome = simulator.run(stepping.Phase(behaviours.follow(plan), steps, counts, np.empty(0)))
        return Walked(outcome.state, outcome.reward, counts)

    return Case(
        name=f"stepping S={world.n_states} A={world.n_actions}",
        work=steps,
        unit="steps",
        ours=ours,
        c={} if c_twin is None else {"C": c_twin.follow(world, plan, steps, start, stream)},
        same=_same_walk,
        c_target=0.6,
    )


def _same_walk(ours: Walked, other: Walked) -> bool:
    counts = _dense(ours.counts, other.counts.shape[-1])
    return np.array_equal(counts, other.counts) and ours._replace(counts=None) == other._replace(counts=None)


def _dense(table: CountTable, n_states: int) -> NDArray[np.int64]:
    starts, states, visits = table.to_lists()
    counts = np.zeros((len(starts) - 1, n_states), np.int64)
    counts[np.repeat(np.arange(len(counts)), np.diff(starts)), states] = visits
    return counts


def _exploring(world: MDP, size: Exploring, c_twin: twin.Twin | None) -> Case:
    """The clustering phase, as AOMultiRL runs it."""
    targets = np.full((world.n_states, world.n_actions), size.targets is None)
    if size.targets is not None:
        targets[tuple(np.transpose(size.targets))] = True
    start = int(np.argmax(world.start_distribution))
    sources = streams(0, 2 * size.episodes).reshape(-1, 2, 4)
    c = {}
    if c_twin is not None:
        c["C"] = c_twin.explore(world, targets, size.needed, size.horizon, start, sources)
    return Case(
        name=f"exploring S={world.n_states}, {targets.sum()} pairs",
        work=size.horizon * size.episodes,
        unit="steps",
        ours=lambda: [explore(world, targets, size.needed, size.horizon, start, *pair.copy()) for pair in sources],
        c=c,
        numpy=peers.with_a_loop(world, targets, size.needed, start, size.loop),
        same=_same_explorations,
        close=_alike,
        c_target=0.8,
        numpy_target=2000.0,
        share=size.loop / (size.horizon * size.episodes),
    )


def _against_frozen_sizes(world: MDP, size: Exploring) -> Case:
    """Exploring where C knows all sizes when it is compiled, which we never do."""
    case = _exploring(world, size, twin.load(world))
    name = f"{case.name.partition(', ')[2]}, sizes told to C"
    return case._replace(name=name, numpy=None, c_target=0.5, numpy_target=None, share=1.0)


def explore(
    world: MDP,
    targets: NDArray[np.bool_],
    needed: int,
    horizon: int,
    start: int,
    source: RandomStream,
    agent: RandomStream,
) -> Walked:
    """One clustering phase in the simulator; the streams move on."""
    n_states, n_actions = targets.shape
    counts, nothing = CountTable(n_states * n_actions), np.empty(0)
    simulator = stepping.Simulator(world.alias_tables, world.gains, start, source, agent)
    first = simulator.run(stepping.Phase(explore_id(targets, needed), horizon, counts, nothing))
    wander = behaviours.act_uniformly(n_states, n_actions)
    rest = simulator.run(stepping.Phase(wander, horizon - first.steps, counts, nothing))
    return Walked(rest.state, first.reward + rest.reward, counts, first.steps)


def _same_explorations(ours: list[Walked], others: list[Walked]) -> bool:
    return len(ours) == len(others) and all(map(_same_walk, ours, others))


def _alike(ours: list[Walked], other: NDArray[np.int64]) -> bool:
    """A loop with draws of its own meets no other transitions than we do, so it walks in the same world."""
    counts = np.sum([_dense(one.counts, other.shape[-1]) for one in ours], axis=0)
    return bool(np.all(counts[other.reshape(counts.shape) > 0] > 0))


def _whole_run(episodes: int) -> Case:
    """The paper's experiment, phase 1: 200 episodes of H0 + H1 steps in four grids."""
    models = gridworld(edges="stay")

    def ours() -> History:
        known = (WORLDS, SEPARATION, HITTING_TIME, FAILURE, GAMMA)
        agent = AOMultiRL(*known, constants="released", learning_horizon=HORIZON)
        return runner.run(agent, models, tasks.paper(), episodes, seed=0)

    return Case(
        name=WHOLE_RUN,
        work=episodes * (THREE.horizon + HORIZON),
        unit="steps",
        ours=ours,
        seconds_target=0.5,
    )


def _identifying(episodes: int) -> Case:
    """Sequential identification with all pairs, planning included, at 200,000 steps a second."""
    models = gridworld()

    def ours() -> History:
        agent = SequentialAOMultiRL(FAILURE, 200_000, SEPARATION, learning=False)
        return runner.run(agent, models, tasks.paper(), episodes, seed=0)

    steps = int(ours()["identification_steps"].sum())
    return Case(
        name=IDENTIFYING,
        work=steps,
        unit="steps",
        ours=ours,
        seconds_target=steps / 200_000,
    )


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
        close=lambda plan, values: np.allclose(plan.values, values, rtol=1e-9, atol=1e-12),
        c_target=c_target,
        numpy_target=4.0,
    )


def _same_plan(ours: planning.Plan, other: planning.Plan) -> bool:
    """The same bits: comparing bytes also tells 0.0 from -0.0."""
    return ours.values.tobytes() == other.values.tobytes() and ours.policy.tobytes() == other.policy.tobytes()


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

"""The benchmark cannot lie: C and our engine give the same bits, and a contender that does not is refused."""

import io
import json
import shutil
import sys

import numpy as np
import pytest
from rich.console import Console

import aomultirl as ao
from aomultirl import benchmarks
from aomultirl.benchmarks import peers, suite, twin
from aomultirl.engine import behaviours, planning, stepping
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams

SMALL = benchmarks.Sizes(
    steps=3000,
    horizon=7,
    dense_states=40,
    sparse_states=60,
    sparse_horizon=5,
    exploring=(
        suite.THREE._replace(needed=20, horizon=3000, episodes=4, loop=50),
        suite.ALL._replace(needed=5, horizon=9000, episodes=2, loop=50),
    ),
    episodes=2,
    runs=1,
    transcribed=500,
)
needs_compiler = pytest.mark.skipif(twin.compiler() is None, reason="no C compiler (gcc or cc) on this machine")


def small_run() -> list[benchmarks.Record]:
    return benchmarks.run(SMALL, rounds=1, least_seconds=0.001)


def printed(records: list[benchmarks.Record], width: int = 80) -> str:
    text = io.StringIO()
    benchmarks.print_table(records, Console(file=text, width=width))
    return text.getvalue()


def sparse_world(seed: int, uneven: bool = False) -> ao.MDP:
    """Rows of one to four successors; where ``uneven``, one of them holds all states."""
    draws = np.random.default_rng(seed)
    n_states, n_actions = 17, 3
    dense = np.zeros((n_states, n_actions, n_states))
    for row in dense.reshape(-1, n_states):
        support = draws.choice(n_states, size=draws.integers(1, 5), replace=False)
        row[support] = draws.dirichlet(np.ones(len(support)))
    if uneven:
        dense[3, 1] = draws.dirichlet(np.ones(n_states))
    return ao.MDP(dense, draws.random((n_states, n_actions)))


@pytest.fixture(scope="module")
def c_twin() -> twin.Twin:
    return twin.load()


def check_plans(c_twin: twin.Twin, world: ao.MDP, horizon: int, by_columns: bool) -> None:
    gains = np.array(world.rewards)
    gains[2, 1] = np.inf  # an optimistic learner's pair without a visit: worth its cap
    caps = np.minimum(np.arange(horizon, 0.0, -1.0), 4.5)
    assert (len(world.planning_tables.columns) > 0) == by_columns
    ours = planning.backward_induction(world.planning_tables, gains, horizon, caps)
    for plan in (c_twin.plan_by_rows, c_twin.plan_by_columns):
        other = plan(world, gains, caps)()
        assert ours.values.tobytes() == other.values.tobytes()
        assert ours.policy.tobytes() == other.policy.tobytes()


@needs_compiler
@pytest.mark.parametrize("seed", range(5))
def test_plans_of_c_have_our_bits_in_sparse_worlds(c_twin: twin.Twin, seed: int) -> None:
    check_plans(c_twin, sparse_world(seed), horizon=9, by_columns=False)


@needs_compiler
@pytest.mark.parametrize("n_states", [32, 33, 47])
def test_plans_of_c_have_our_bits_in_dense_worlds(c_twin: twin.Twin, n_states: int) -> None:
    check_plans(c_twin, suite.dense_world(n_states), horizon=9, by_columns=True)


@needs_compiler
def test_plans_of_c_have_our_bits_in_more_than_one_block(c_twin: twin.Twin) -> None:
    n_states = planning.BLOCK // suite.N_ACTIONS + 3
    check_plans(c_twin, suite.dense_world(n_states), horizon=2, by_columns=True)


@needs_compiler
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_walks_of_c_are_ours(c_twin: twin.Twin, seed: int, uneven: bool) -> None:
    world = sparse_world(seed, uneven)
    assert (world.alias_tables.width < 0) == uneven
    plan = np.random.default_rng(seed).integers(world.n_actions, size=world.n_states).astype(np.int32)
    stream, idle = streams(seed, 2)
    other = c_twin.follow(world, plan, 2000, 3, stream)()
    counts = CountTable(world.n_states * world.n_actions)
    simulator = stepping.Simulator(world.alias_tables, world.gains, 3, stream, idle)
    ours = simulator.run(stepping.Phase(behaviours.follow(plan), 2000, counts, np.empty(0)))
    assert (ours.state, ours.reward) == (other.state, other.reward)
    starts, states, visits = counts.to_lists()
    pairs = np.repeat(np.arange(len(other.counts)), np.diff(starts))
    assert other.counts.sum() == 2000
    np.testing.assert_array_equal(other.counts[pairs, states], visits)


def some_targets(seed: int, world: ao.MDP) -> np.ndarray:
    return np.random.default_rng(seed).random((world.n_states, world.n_actions)) < (0.05, 0.3, 1.0)[seed % 3]


def check_explorations(c_twin: twin.Twin, world: ao.MDP, targets: np.ndarray, needed: int, steps: int) -> list[int]:
    """C takes our steps and leaves its streams where we leave ours; how long ExploreID took, in each episode."""
    sources = streams(needed, 6).reshape(3, 2, 4)
    others = c_twin.explore(world, targets, needed, steps, 3, sources)()
    ours = [suite.explore(world, targets, needed, steps, 3, *pair.copy()) for pair in sources]
    assert suite._same_explorations(ours, others)
    assert all(other.counts.sum() == steps for other in others)
    return [other.done for other in others]


@needs_compiler
@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_explorations_of_c_are_ours(c_twin: twin.Twin, seed: int, uneven: bool) -> None:
    world = sparse_world(seed, uneven)
    check_explorations(c_twin, world, some_targets(seed, world), needed=1 + 7 * seed, steps=20_000)


@needs_compiler
@pytest.mark.parametrize("edges", ["third", "stay"])
@pytest.mark.parametrize("task", range(4))
def test_explorations_of_c_are_ours_in_the_grids(c_twin: twin.Twin, task: int, edges: str) -> None:
    world = ao.worlds.gridworld(edges=edges)[task]
    some = np.zeros((16, 4), bool)
    some[tuple(np.transpose(suite.GAMMA))] = True
    for targets, steps in (some, 60_000), (np.ones((16, 4), bool), 100_000):
        assert max(check_explorations(c_twin, world, targets, 300, steps)) < steps


@needs_compiler
@pytest.mark.parametrize("steps", [0, 1, 10, 100])
def test_explorations_of_c_that_end_too_early_are_ours(c_twin: twin.Twin, steps: int) -> None:
    world = ao.worlds.gridworld()[0]
    assert check_explorations(c_twin, world, np.ones((16, 4), bool), 50, steps) == [steps] * 3


def test_the_loop_in_python_gives_every_target_its_samples() -> None:
    world = ao.worlds.gridworld(edges="stay")[0]
    targets = np.zeros((16, 4), bool)
    targets[tuple(np.transpose(suite.GAMMA))] = True
    counts = peers.with_a_loop(world, targets, 40, 5, 6000)()
    assert counts.sum() == 6000
    assert np.all(counts.sum(axis=-1)[targets] >= 40)
    assert not np.any(counts[world.transitions == 0])


def test_the_loop_in_python_explores_as_fast_as_we_do() -> None:
    """Pairs complete after 600 steps, means of 20 episodes each: the ratio has a standard error below 0.01."""
    world, targets = ao.worlds.gridworld()[1], np.ones((16, 4), bool)
    ours = [suite.explore(world, targets, 9, 600, 5, *pair) for pair in streams(1, 40).reshape(20, 2, 4)]
    complete = [(suite._dense(one.counts, 16).sum(axis=-1) >= 9).sum() for one in ours]
    loops = [peers.with_a_loop(world, targets, 9, 5, 600, seed)() for seed in range(20)]
    others = [(counts.sum(axis=-1) >= 9).sum() for counts in loops]
    assert 16 < np.mean(complete) < 60
    assert abs(np.mean(others) / np.mean(complete) - 1.0) < 0.04


@needs_compiler
def test_c_refuses_arrays_that_are_not_contiguous(c_twin: twin.Twin) -> None:
    world = sparse_world(0)
    with pytest.raises(ValueError, match="contiguous"):
        c_twin.plan_by_rows(world, np.array(world.rewards).T, np.ones(3))


@needs_compiler
def test_small_run_measures_all_contenders() -> None:
    records = small_run()
    assert [record.name for record in records] == [
        "stepping S=16 A=4",
        "exploring S=16, 3 pairs",
        "3 pairs, sizes told to C",
        "exploring S=16, 64 pairs",
        "64 pairs, sizes told to C",
        "planning S=16 A=4 H=7",
        "planning S=40 A=4 H=7",
        "planning S=60 A=4 H=5",
        "AOMultiRL, the paper's run",
        "identifying S=16, 64 pairs",
        "whole experiment, 1 run",
    ]
    for record in records:
        assert record.ours_seconds > 0
        assert record.note == ""
    assert [record.c_ratio is None for record in records] == [False] * 8 + [True] * 3
    without = [record.name for record in records if record.numpy_ratio is None]
    assert without == [records[i].name for i in (0, 2, 4, 8, 9)]
    table = printed(records)
    assert all(record.name in table for record in records)
    told = benchmarks.as_dict(records)
    assert json.loads(json.dumps(told)) == told
    assert str(sys.prefix) not in json.dumps(told)


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("stepping", ["stepping S=16 A=4"]),
        ("s=16, 64", ["exploring S=16, 64 pairs", "identifying S=16, 64 pairs"]),
        ("S=40", ["planning S=40 A=4 H=7"]),
        ("whole", ["whole experiment, 1 run"]),
        ("no such case", []),
    ],
)
def test_words_choose_cases_by_their_names(word: str, names: list[str]) -> None:
    found = benchmarks.run(SMALL, rounds=1, least_seconds=0.001, only=[word])
    assert [record.name for record in found] == names


def test_without_a_compiler_the_c_column_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    records = small_run()
    assert [record.c_seconds for record in records] == [None] * 9
    assert printed(records, width=120).count("There is no C compiler") == 1
    assert benchmarks.as_dict(records)["versions"]["c_compiler"] is None


def test_a_compiler_that_fails_is_told_from_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: sys.executable)
    with pytest.raises(twin.NoTwinError, match="cannot compile"):
        twin.load()


def test_sizes_that_differ_by_pair_cannot_be_told_to_the_compiler() -> None:
    world = sparse_world(0, uneven=True)
    assert world.alias_tables.width < 0
    with pytest.raises(ValueError, match="several widths"):
        twin.load(world)


def test_contenders_that_disagree_are_refused() -> None:
    case = suite._planning(sparse_world(0), 4, None, peers.with_einsum, 0.9)
    right = case.ours()
    suite._check(case._replace(c={"C": lambda: right}))
    nudged = right._replace(values=np.nextafter(right.values, np.inf))
    with pytest.raises(RuntimeError, match="C and our engine disagree"):
        suite._check(case._replace(c={"C": lambda: nudged}))
    with pytest.raises(RuntimeError, match="NumPy and our engine disagree"):
        suite._check(case._replace(numpy=lambda: right.values + 1e-6))


def test_walks_that_disagree_are_refused() -> None:
    case = suite._stepping(sparse_world(0), 50, None)
    counts = np.zeros((17 * 3, 17), np.int64)
    with pytest.raises(RuntimeError, match="disagree"):
        suite._check(case._replace(c={"C": lambda: twin.Walked(0, 0.0, counts)}))


def test_explorations_that_disagree_are_refused() -> None:
    case = suite._exploring(sparse_world(0), suite.Exploring(((1, 1),), 5, 500, episodes=2, loop=20), None)
    right = case.ours()
    same = right[0]._replace(counts=suite._dense(right[0].counts, 17))
    suite._check(case._replace(ours=lambda: right[:1], c={"C": lambda: [same]}, numpy=None))
    for wrong in same._replace(done=same.done + 1), same._replace(counts=same.counts + 1):
        with pytest.raises(RuntimeError, match="C and our engine disagree"):
            suite._check(case._replace(ours=lambda: right[:1], c={"C": lambda wrong=wrong: [wrong]}))
    with pytest.raises(RuntimeError, match="NumPy and our engine disagree"):
        suite._check(case._replace(numpy=lambda: np.ones((17, 3, 17), np.int64)))


def test_a_run_that_takes_too_long_is_marked() -> None:
    record = benchmarks.Record("a run", 100, "steps", 0.6, None, None, None, None, seconds_target=0.5)
    assert record.missed
    assert "a run should take less than 0.5 s" in printed([record])
    quick = record._replace(ours_seconds=0.4)
    assert not quick.missed
    assert "0.40 s" in printed([quick])


def test_records_mark_what_misses_its_target() -> None:
    record = benchmarks.Record("a case", 100, "steps", 2.0, 1.0, 9.0, 0.45, 4.0)
    assert (record.rate, record.c_ratio, record.numpy_ratio) == (50.0, 0.5, 4.5)
    assert not record.missed
    slow = record._replace(c_target=0.9)
    assert slow.missed
    assert "0.50 < 0.9" in printed([slow])
    assert not slow._replace(c_seconds=None).missed

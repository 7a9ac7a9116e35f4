import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.behaviours import follow
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring import seek as sk
from aomultirl.exploring.seek import ACCEPTED, CERTIFY, COVER, NEW, NONE, SURVIVE, VERDICT, seek
from aomultirl.identifying.e_values import gammas
from aomultirl.identifying.knowledge import knowledge
from aomultirl.identifying.sequential import ALIVE, LEADER, OPEN, evidence, levels
from strategies import worlds

GAMMAS = gammas(1 << 12)
GRID = ao.worlds.gridworld(edges="third")
GAMMA = [(14, 1), (7, 2), (13, 0)]
"""The set that the paper reports for its grids."""


def samples(world, visits, seed):
    """A cluster with so many visits of every pair."""
    counts, rng = CountTable(world.n_states * world.n_actions), np.random.default_rng(seed)
    for pair, row in enumerate(world.transitions.reshape(-1, world.n_states)):
        for successor, n in enumerate(rng.multinomial(visits, row / row.sum())):
            if n > 0:
                counts.count(pair, successor, n)
    return counts


def chosen(world, pairs):
    targets = np.ones((world.n_states, world.n_actions), bool)
    if pairs is not None:
        targets[:] = False
        targets[tuple(np.transpose(pairs))] = True
    return targets


class Task:
    """What it takes to seek: clusters, targets, numbers; a fresh behaviour each time."""

    def __init__(self, world, clusters, pairs=None, needed=10, aim=CERTIFY, models=None, gap=0.65, failure=0.03):
        self.world, self.needed, self.aim = world, needed, aim
        self.n_states, self.n_pairs = world.n_states, world.n_states * world.n_actions
        self.targets = chosen(world, pairs)
        self.known = knowledge(clusters, self.n_pairs, self.n_states)
        sizes = self.n_states, self.n_pairs, int(self.targets.sum()), len(clusters)
        self.levels = levels(*sizes, 200, failure, gap, models)

    def behaviour(self):
        seen = evidence(self.known, self.targets)
        return seek(GAMMAS, self.known, seen, self.levels, self.n_states, self.needed, self.aim, 0.9)

    def run(self, steps=20_000, state=0, seed=0, behaviour=None):
        """(behaviour, outcome, counts)."""
        behaviour, counts, sources = behaviour or self.behaviour(), CountTable(self.n_pairs), streams(seed, 2)
        simulator = Simulator(self.world.alias_tables, self.world.gains, state, sources[0], sources[1])
        return behaviour, simulator.run(Phase(behaviour, steps, counts, np.empty(0))), counts

    def play(self, steps=20_000, state=0, seed=0):
        """The same, one step at a time from outside: (behaviour, outcome, counts, actions)."""
        behaviour, counts, sources = self.behaviour(), CountTable(self.n_pairs), streams(seed, 2)

        def episode():
            return (yield Phase(behaviour, steps, counts, np.empty(0)))

        game = Session(episode(), self.n_states, self.world.n_actions, state, sources[1])
        world = Simulator(self.world.alias_tables, self.world.gains, state, sources[0], sources[1].copy())
        actions = []
        while not game.over:
            actions.append(game.act())
            plan = follow(np.full(self.n_states, actions[-1], np.int32))
            outcome = world.run(Phase(plan, 1, CountTable(self.n_pairs), np.empty(0)))
            game.observe(outcome.state, outcome.reward)
        return behaviour, game.report, counts, actions


def lists(counts):
    return [array.tolist() for array in counts.to_lists()]


def visits(counts, world):
    starts, _, numbers = counts.to_lists()
    sums = np.concatenate(([0], np.cumsum(numbers)))
    return (sums[starts[1:]] - sums[starts[:-1]]).reshape(world.n_states, world.n_actions)


def assert_same(task, steps, state, seed):
    behaviour, outcome, counts = task.run(steps, state, seed)
    other, report, played, actions = task.play(steps, state, seed)
    assert outcome == report
    assert len(actions) == outcome.steps
    assert lists(counts) == lists(played)
    assert behaviour.task.tolist() == other.task.tolist()
    for ours, theirs in zip(behaviour.seen, other.seen, strict=True):
        if ours is not behaviour.seen.bets:  # what nobody has worked out is not initialised
            assert np.array_equal(ours, theirs)
    ready = behaviour.seen.ready
    rates = (b.seen.bets[:, :, ready, 3][~np.eye(len(b.seen.scores), dtype=bool)] for b in (behaviour, other))
    assert np.array_equal(*rates)
    assert np.array_equal(behaviour.values, other.values)
    assert np.array_equal(behaviour.worth, other.worth)
    return behaviour, outcome


@settings(deadline=None, max_examples=60)
@given(
    st.lists(worlds(max_states=5, max_actions=3, min_states=5), min_size=2, max_size=3),
    st.sampled_from([(CERTIFY, None), (SURVIVE, 3)]),
    st.integers(0, 3),
    st.integers(0, 10**6),
)
def test_simulator_and_session_are_the_same_bit_for_bit(every, aim, count, seed):
    world, *others = (w for w in every if w.n_actions == every[0].n_actions)
    clusters = [samples(w, 40, seed + i) for i, w in enumerate([*others, world][:count])]
    assert_same(Task(world, clusters, aim=aim[0], models=aim[1]), 150, 0, seed)


@pytest.mark.parametrize(("aim", "models"), [(CERTIFY, None), (SURVIVE, 4)])
@pytest.mark.parametrize("pairs", [GAMMA, None])
def test_simulator_and_session_are_the_same_on_the_grids(aim, models, pairs):
    clusters = [samples(world, 100, i) for i, world in enumerate(GRID)]
    for seed, world in enumerate(GRID):
        behaviour, outcome = assert_same(Task(world, clusters, pairs, aim=aim, models=models), 5_000, 5, seed)
        assert outcome.finished
        assert behaviour.task[VERDICT] == ACCEPTED
        assert behaviour.seen.state[LEADER] == seed


@pytest.mark.parametrize("pairs", [GAMMA, None])
def test_simulator_and_session_are_the_same_in_a_new_world(pairs):
    clusters = [samples(GRID[i], 100, i) for i in range(3)]
    behaviour, outcome = assert_same(Task(GRID[3], clusters, pairs, needed=20), 5_000, 5, 3)
    assert outcome.finished
    assert behaviour.task[VERDICT] == NEW


def test_phases_of_a_few_steps_are_one_long_phase():
    clusters = [samples(world, 100, i) for i, world in enumerate(GRID)]
    task = Task(GRID[2], clusters, GAMMA)
    whole, outcome, counts = task.run(5_000, 5, 1)
    behaviour, pieces, sources = task.behaviour(), CountTable(64), streams(1, 2)
    simulator = Simulator(GRID[2].alias_tables, GRID[2].gains, 5, sources[0], sources[1])
    steps, piece = 0, None
    while piece is None or not piece.finished:
        piece = simulator.run(Phase(behaviour, 7, pieces, np.empty(0)))
        steps += piece.steps
    assert (steps, lists(pieces)) == (outcome.steps, lists(counts))
    assert whole.task.tolist() == behaviour.task.tolist()


@pytest.mark.parametrize("pairs", [GAMMA, None])
def test_without_clusters_the_world_is_new_after_the_needed_visits(pairs):
    for seed in range(4):
        task = Task(GRID[seed], [], pairs, needed=12)
        behaviour, outcome, counts = task.run(state=5, seed=seed)
        numbers = visits(counts, GRID[seed])
        assert outcome.finished
        assert behaviour.task[VERDICT] == NEW
        assert numbers[task.targets].min() == 12  # ends at the very step that completes the last one
        assert numbers.sum() == outcome.steps
        assert np.array_equal(behaviour.seen.total, numbers.reshape(-1))
        assert not task.run(outcome.steps - 1, 5, seed)[1].finished


@settings(deadline=None, max_examples=60)
@given(worlds(max_states=5, max_actions=3), st.integers(1, 6), st.integers(0, 10**6))
def test_covering_ends_when_and_only_when_every_target_is_covered(world, needed, seed):
    rng = np.random.default_rng(seed)
    pairs = [(int(rng.integers(world.n_states)), int(rng.integers(world.n_actions))) for _ in range(2)]
    task = Task(world, [], pairs, needed)
    behaviour, outcome, counts = task.run(400, seed=seed)
    missing = (visits(counts, world)[task.targets] < needed).sum()
    assert outcome.finished == (missing == 0)
    assert outcome.finished or outcome.steps == 400
    assert behaviour.task[sk.LEFT] == missing


def test_visits_little_but_what_is_needed():
    """Four rooms, each a step away: nothing but the targets and the way to them, once everything was tried."""
    ring = np.zeros((4, 2, 4))
    for s in range(4):
        ring[s, 0, (s + 1) % 4] = 1.0
        ring[s, 1, s] = 1.0
    world = ao.MDP(ring, np.zeros((4, 2)))
    clusters = [samples(world, 200, 0)]
    behaviour, outcome, counts = Task(world, [], [(2, 1)], needed=50).run()
    numbers = visits(counts, world)
    assert numbers[2, 1] == 50
    assert outcome.steps <= 50 + 12
    behaviour, outcome, counts = Task(world, clusters, [(2, 1)]).run()
    numbers = visits(counts, world)
    assert behaviour.task[VERDICT] == ACCEPTED
    assert numbers.tolist() == [[1, 0], [1, 0], [0, outcome.steps - 2], [0, 0]]
    assert outcome.steps < 40


def test_a_target_is_left_alone_once_it_is_certified():
    clusters = [samples(world, 150, i) for i, world in enumerate(GRID)]
    task = Task(GRID[0], clusters, GAMMA)
    for seed in range(5):
        behaviour, outcome, counts = task.run(5_000, 5, seed)
        assert behaviour.task[VERDICT] == ACCEPTED
        assert behaviour.seen.state[OPEN] == 0
        assert behaviour.seen.certified.sum() == 3
        assert visits(counts, GRID[0])[task.targets].max() <= 70
        early = task.run(outcome.steps - 1, 5, seed)
        assert not early[1].finished
        assert early[0].task[VERDICT] == NONE


def test_survival_ends_with_the_only_one_left():
    clusters = [samples(world, 100, i) for i, world in enumerate(GRID)]
    for seed, world in enumerate(GRID):
        task = Task(world, clusters, aim=SURVIVE, models=4)
        behaviour, outcome, _ = task.run(5_000, 5, seed)
        assert behaviour.seen.state[ALIVE] == 1
        assert np.flatnonzero(behaviour.seen.alive).tolist() == [seed]
        assert task.run(outcome.steps - 1, 5, seed)[0].seen.state[ALIVE] > 1


def test_clusters_too_young_for_any_bet_do_not_stall_it():
    clusters = [samples(world, 4, i) for i, world in enumerate(GRID)]
    _, _, counts = Task(GRID[0], clusters, aim=SURVIVE, models=4).run(2_000, 5)
    assert (visits(counts, GRID[0]) > 5).mean() > 0.9  # it looks everywhere


def test_survival_of_nobody_is_no_verdict():
    clusters = [samples(world, 400, i) for i, world in enumerate(GRID[i] for i in range(3))]
    behaviour, outcome, _ = Task(GRID[3], clusters, aim=SURVIVE, models=3, failure=0.5).run(20_000, 5)
    assert behaviour.task[VERDICT] in (NONE, ACCEPTED)
    assert outcome.finished
    assert (behaviour.task[VERDICT] == NONE) == (behaviour.seen.state[ALIVE] == 0)


def test_a_world_that_nobody_knows_is_new():
    clusters = [samples(GRID[i], 100, i) for i in range(3)]
    for seed in range(4):
        task = Task(GRID[3], clusters, GAMMA, needed=48)
        behaviour, outcome, counts = task.run(20_000, 5, seed)
        assert outcome.finished
        assert behaviour.task[:2].tolist() == [COVER, NEW]
        assert behaviour.seen.state[ALIVE] == 0
        assert visits(counts, GRID[3])[task.targets].min() >= 48


def two_doors(open_door):
    """From the hall one door leads to the room, the other back; the room leads back to the hall."""
    transitions = np.zeros((2, 3, 2))
    transitions[:, :, 0] = 1.0
    transitions[0, open_door] = [0.0, 1.0]
    return ao.MDP(transitions, np.zeros((2, 3)))


@pytest.mark.parametrize("doors", [(0, 1), (0, 2), (1, 0), (2, 1), (2, 0)])
def test_a_rejected_cluster_is_no_guide(doors):
    """The cluster knows one door; here another one is open, and nothing says so but trying."""
    behaviour, outcome, counts = Task(two_doors(doors[1]), [samples(two_doors(doors[0]), 100, 0)], [(1, 0)]).run(2_000)
    assert behaviour.task[VERDICT] == NEW
    assert outcome.finished
    assert visits(counts, two_doors(doors[1]))[1, 0] == 10


@pytest.mark.parametrize("known", [False, True])
def test_a_target_out_of_reach_takes_all_the_steps_there_are(known):
    """No verdict: a pit that nobody leaves, and a target outside."""
    transitions = np.zeros((3, 2, 3))
    transitions[0, 0, 1] = transitions[0, 1, 2] = 1.0
    transitions[1, :, 1] = transitions[2, :, 0] = 1.0
    world = ao.MDP(transitions, np.zeros((3, 2)))
    clusters = [samples(world, 100, 0)] if known else []
    task = Task(world, clusters, [(1, 0), (2, 0)])
    behaviour, outcome, _ = task.run(3_000, 1)
    assert outcome.steps == 3_000
    assert not outcome.finished
    assert behaviour.task[VERDICT] == (NONE if known else NEW)  # nothing counts unless it is finished


def test_more_successors_than_a_row_holds():
    """Fifty successors a pair, so that counts make room on the way and certificates go by the curve."""
    world = ao.worlds.random_models(60, 2, 1, 50, rng=0)[0]
    behaviour, outcome, _ = Task(world, [samples(world, 3_000, 0)], [(3, 1), (9, 0)]).run(50_000)
    assert behaviour.task[VERDICT] == ACCEPTED
    assert outcome.steps < 20_000


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 4))
def test_doubts_are_worth_what_a_visit_tells_of_each_rival_by_the_root_of_its_likelihood(seed, count):
    """worth = sum over living rivals of sqrt(L_rival / L_leader) times the triangular discrimination of the rows."""
    rng = np.random.default_rng(seed)
    models = ao.worlds.random_models(3, 2, count, 2, rng=rng)
    clusters = [samples(world, int(rng.integers(1, 60)), seed + i) for i, world in enumerate(models)]
    behaviour = Task(models[0], clusters).behaviour()
    known, seen = behaviour.known, behaviour.seen
    likelihoods = rng.random(count)
    seen.scores[:] = np.log(likelihoods)
    seen.state[LEADER] = leader = int(rng.integers(count))
    seen.alive[:] = rng.random(count) < 0.7
    seen.alive[leader] = True
    sk._value_doubts(behaviour)
    for pair in range(6):
        places = slice(known.starts[pair], known.starts[pair + 1])
        rows = known.seen[:, places] + 0.5
        rows = rows / rows.sum(axis=1, keepdims=True)
        wanted = sum(
            math.sqrt(likelihoods[rival] / likelihoods[leader])
            * ((rows[leader] - rows[rival]) ** 2 / (rows[leader] + rows[rival])).sum()
            for rival in range(count)
            if rival != leader and seen.alive[rival]
        )
        assert behaviour.worth[pair] == pytest.approx(wanted, rel=1e-9, abs=1e-12)

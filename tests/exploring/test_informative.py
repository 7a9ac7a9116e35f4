import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.behaviours import FOREVER
from aomultirl.engine.counts import CountTable
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase, Simulator
from aomultirl.exploring.informative import plan_way, visit

STATES, ACTIONS = 4, 2


def table(rows, ends=()):
    counts = CountTable(STATES * ACTIONS)
    for (s, a, s2), visits in rows.items():
        counts.count(s * ACTIONS + a, s2, visits)
    for state in ends:
        counts.end(state)
    return counts


def slow_values(rows, informative, steps, going_on):
    """V_0, V_1, ..., V_T."""
    values = [[0.0] * STATES]
    for _ in range(steps):
        new = []
        for s in range(STATES):
            q = []
            for a in range(ACTIONS):
                total = sum(n for (x, b, _), n in rows.items() if (x, b) == (s, a))
                ahead = sum(
                    n / total * going_on[s2] * values[-1][s2] for (x, b, s2), n in rows.items() if (x, b) == (s, a)
                )
                q.append(1.0 if (s, a) in informative else (1 - 1 / steps) * ahead)
            new.append(max(q))
        values.append(new)
    return values


cells = st.tuples(st.integers(0, STATES - 1), st.integers(0, ACTIONS - 1), st.integers(0, STATES - 1))
pairs = st.sets(st.tuples(st.integers(0, STATES - 1), st.integers(0, ACTIONS - 1)), min_size=1, max_size=3)


@settings(deadline=None, max_examples=50)
@given(st.dictionaries(cells, st.integers(1, 9)), pairs, st.integers(1, 12), st.sets(st.integers(0, STATES - 1)))
def test_values_are_those_of_a_slow_twin(rows, informative, steps, ends):
    mask = np.zeros((STATES, ACTIONS), bool)
    for s, a in informative:
        mask[s, a] = True
    counts = table(rows, ends)
    way = plan_way(counts, mask, steps)
    slow = slow_values(rows, informative, steps, counts.going_on(STATES))
    assert way.values[::-1] == pytest.approx(np.array(slow), abs=1e-12)
    for s in range(STATES):
        assert way.chance(s, steps) == way.chance(s, 10 * steps) == way.values[0, s]
        assert way.chance(s, 0) == 0.0


def test_the_way_is_the_shortest_and_nobody_stays_for_its_own_sake():
    """A corridor 0, 1, 2, 3 whose first action stays and whose second goes on; informative is the second of state 2."""
    rows = {(s, 0, s): 5 for s in range(4)} | {(s, 1, min(s + 1, 3)): 5 for s in range(4)}
    mask = np.zeros((STATES, ACTIONS), bool)
    mask[2, 1] = True
    way = plan_way(table(rows), mask, 10)
    assert way.plan[:3].tolist() == [1, 1, 1]
    assert way.chance(0, 3) == pytest.approx(0.9**2)
    assert way.chance(0, 2) == way.chance(3, 10) == 0.0


def test_visiting_ends_with_the_visits_of_a_pair():
    world = ao.worlds.random_models(STATES, ACTIONS, 1, 2, 1.0, 0)[0]
    needed = np.full(STATES * ACTIONS, FOREVER)
    needed[1 * ACTIONS + 1] = 7
    counts, stream = CountTable(STATES * ACTIONS), streams(0, 2)
    simulator = Simulator(world.alias_tables, world.gains, 0, stream[0], stream[1])
    outcome = simulator.run(Phase(visit(np.ones(STATES, np.int32), needed), 10_000, counts, np.empty(0)))
    starts, _, visits = counts.to_lists()
    assert outcome.finished
    assert visits[starts[3] : starts[4]].sum() == 7
    assert visits.sum() == outcome.steps < 10_000

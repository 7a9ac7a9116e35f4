import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import aomultirl as ao
from aomultirl.engine.compiling import kernel
from aomultirl.engine.sampling import alias_tables, pick
from strategies import worlds


@kernel
def _sample(tables, pair, bits):
    head = tables.heads[pair]
    return pick(tables.cells, head >> np.uint64(6), head & np.uint64(63), bits)


def probabilities(tables, pair, n_states):
    """The distribution that the cells of one pair stand for."""
    head = int(tables.heads[pair])
    first, k = head >> 6, head & 63
    chances = np.zeros(n_states)
    for cell in range(first, first + 2**k):
        threshold, both = int(tables.cells[2 * cell]), int(tables.cells[2 * cell + 1])
        share = (threshold + (threshold == 2**64 - 1)) / 2**64
        chances[both & 0xFFFFFFFF] += share / 2**k
        chances[both >> 32] += (1.0 - share) / 2**k
    return chances


@settings(deadline=None)
@given(worlds(max_states=9, max_actions=3))
def test_cells_hold_exactly_the_transitions(world):
    tables = alias_tables(world.successors)
    rows = world.transitions.reshape(-1, world.n_states)
    for pair, row in enumerate(rows):
        found = probabilities(tables, pair, world.n_states)
        np.testing.assert_allclose(found, row, atol=1e-15)
        assert not found[row == 0.0].any()


@settings(deadline=None, max_examples=50)
@given(worlds(max_states=9), st.integers(0, 2**64 - 1), st.data())
def test_sample_reads_the_cell_that_the_bits_name(world, bits, data):
    tables = alias_tables(world.successors)
    pair = data.draw(st.integers(0, world.n_states * world.n_actions - 1))
    head = int(tables.heads[pair])
    first, k = head >> 6, head & 63
    cell = first + (bits >> (64 - k))
    threshold, both = int(tables.cells[2 * cell]), int(tables.cells[2 * cell + 1])
    slow = both & 0xFFFFFFFF if ((bits << k) & (2**64 - 1)) < threshold else both >> 32
    assert _sample(tables, np.uint64(pair), np.uint64(bits)) == slow


def test_rows_of_one_length_share_a_width_and_ragged_ones_do_not():
    assert alias_tables(ao.worlds.gridworld()[0].successors).width == 2
    rows = [[dict.fromkeys(range(64), 1 / 64)]] + [[{0: 1.0}] for _ in range(63)]
    ragged = ao.MDP(rows, np.zeros((64, 1)))
    tables = alias_tables(ragged.successors)
    assert tables.width == -1
    assert len(tables.cells) == 2 * (64 + 63)
    for pair in range(64):
        np.testing.assert_allclose(probabilities(tables, pair, 64), ragged.transitions[pair, 0], atol=1e-15)
        assert _sample(tables, np.uint64(pair), np.uint64(2**64 - 1)) in ragged.successors.states

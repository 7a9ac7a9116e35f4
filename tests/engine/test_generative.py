"""Successors that a generative model draws."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.engine.generative import draw_successors
from aomultirl.engine.random import streams


def worlds():
    wide = np.random.default_rng(0).dirichlet(np.ones(9), size=(9, 2))
    return [*ao.worlds.random_models(6, 3, 2, 3, 1.0, 3), ao.MDP(wide, np.zeros((9, 2))), ao.worlds.gridworld()[0]]


@pytest.mark.parametrize("number", range(4))
def test_every_pair_gets_its_samples_and_transitions_come_as_often_as_they_should(number):
    """Chi-squared by hand: with a fixed seed, each of the shares within five standard deviations."""
    world = worlds()[number]
    asked = np.arange(len(world.successors.starts) - 1) % 5 * 2000
    drawn = draw_successors(world.successors, world.alias_tables, asked, streams(number, 1)[0])
    owners, probs = world.successors.owners(), world.successors.probs
    assert np.array_equal(np.bincount(owners, weights=drawn), asked)
    expected = asked[owners] * probs
    assert (np.abs(drawn - expected) <= 5 * np.sqrt(expected * (1 - probs)) + 1e-9).all()


def test_samples_are_those_that_steps_would_have_seen():
    """The slow twin: one stream, its draws read pair by pair as the simulator reads them in single steps."""
    world = worlds()[0]
    stream, again = streams(7, 1)[0], streams(7, 1)[0]
    pairs = len(world.successors.starts) - 1
    drawn = draw_successors(world.successors, world.alias_tables, np.full(pairs, 4), stream)
    slow = np.zeros_like(drawn)
    for pair in range(pairs):
        for _ in range(4):
            counts = draw_successors(world.successors, world.alias_tables, np.eye(pairs, dtype=np.int64)[pair], again)
            slow += counts
    assert np.array_equal(drawn, slow)
    assert np.array_equal(stream, again)

"""An episode that is watched, for the tests of recordings and of what shows them."""

from functools import cache

import aomultirl as ao
from aomultirl.analysis import recorder, watched_agents


def watched(name="aomultirl", models=None, **options):
    """The recording of one of the agents that have numbers small enough; on the grid, the same one for all tests."""
    if models is None:
        return _watched_on_the_grid(name, **options)
    return recorder.record(watched_agents.make(name, models), models, **options)


@cache
def _watched_on_the_grid(name, **options):
    return watched(name, ao.worlds.gridworld(), **options)

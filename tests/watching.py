"""An episode that is watched, for the tests of recordings and of what shows them."""

import aomultirl as ao
from aomultirl.analysis import recorder, watched_agents


def watched(name="aomultirl", models=None, **options):
    """The recording of one of the agents that have numbers small enough."""
    models = ao.worlds.gridworld() if models is None else models
    return recorder.record(watched_agents.make(name, models), models, **options)

import inspect
import json

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import descriptions

NEEDED = {"from_gymnasium": {"envs": "FrozenLake-v1", "terminal": "restart"}, "icu_sepsis": {"models": 2}}


@pytest.mark.parametrize("name", ao.worlds.__all__)
def test_every_world_can_be_made_again(name):
    models = descriptions.make({"name": name, "parameters": NEEDED.get(name, {})}, "world")
    made = json.loads(json.dumps(models.origin))
    assert made["name"] == name
    assert set(made["parameters"]) == set(inspect.signature(getattr(ao.worlds, name)).parameters)
    again = descriptions.make(made, "world")
    for one, other in zip(models, again, strict=True):
        assert all(np.array_equal(a, b) for a, b in zip(one.successors, other.successors, strict=True))
        assert np.array_equal(one.rewards, other.rewards)


def test_what_cannot_be_written_down_has_no_origin():
    assert ao.worlds.random_models(rng=np.random.default_rng(3)).origin is None
    assert ao.ModelSet(list(ao.worlds.gridworld())).origin is None
    assert ao.worlds.gridworld()[:2].origin is None

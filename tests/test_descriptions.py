"""One description of anything that was constructed, and the way back."""

import json
import math
import re
from dataclasses import dataclass

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import descriptions, plugins


class Method:
    """What a kind of things is derived from."""


@dataclass(frozen=True)
class Plain(Method):
    scale: float = 1.0


@dataclass(frozen=True)
class Wrapped(Method):
    inner: Method = Plain(2.0)
    names: tuple[str, ...] = ("a", "b")


@pytest.fixture
def methods(monkeypatch):
    """A kind of things whose parameters are things of the same kind."""
    monkeypatch.setattr(plugins, "_offers", plugins._Offers(discovered=True))
    plugins.offer_own("learner", Method, [Method, Plain, Wrapped])


@pytest.mark.parametrize(
    "agent",
    [
        ao.agents.Random(horizon=7),
        ao.agents.Recall(failure=0.1, horizon=np.int64(50)),
        ao.agents.AOMultiRL(4, 1.2, 7.0, 0.1, [(1, 0), (8, 3)], learning_horizon=20),
        ao.agents.AOMultiRL(ao.worlds.gridworld(5), 1.2, 7.0, 0.1, learning_horizon=20),
    ],
    ids=lambda agent: type(agent).__name__,
)
def test_agents_come_back_from_json(agent):
    described = descriptions.describe(agent)
    again = descriptions.make(json.loads(json.dumps(described)), "agent")
    assert type(again) is type(agent)
    assert descriptions.describe(again) == described
    assert descriptions.filled({**described, "parameters": {**described["parameters"]}}, "agent") == described


@pytest.mark.parametrize("stream", [ao.streams.paper(True, start=3), ao.streams.blocks(4), ao.streams.sequence([0, 1])])
def test_streams_come_back(stream):
    assert repr(descriptions.make(descriptions.describe(stream), "stream")) == repr(stream)


def test_things_inside_things(methods):
    described = descriptions.describe(Wrapped())
    inner = {"name": "Plain", "parameters": {"scale": 2.0}}
    assert described == {"name": "Wrapped", "parameters": {"inner": inner, "names": ["a", "b"]}}
    assert descriptions.make({"name": "Wrapped", "parameters": {"inner": inner}}, "learner") == Wrapped()
    short = {"name": "Wrapped", "parameters": {"inner": {"name": "Wrapped", "parameters": {}}}}
    assert descriptions.filled(short, "learner") == descriptions.describe(Wrapped(inner=Wrapped()))
    assert descriptions.without_defaults(described, Wrapped) == {"name": "Wrapped", "parameters": {}}
    assert descriptions.label("Wrapped", described["parameters"]) == 'Wrapped, inner=Plain(scale=2.0), names=["a","b"]'
    assert descriptions.call(described) == "Wrapped(inner=Plain(scale=2.0), names=['a', 'b'])"


def test_worlds_are_their_origin_or_sizes_and_a_digest():
    grid = ao.worlds.gridworld(3)
    assert descriptions.describe(grid) == {"name": "gridworld", "parameters": {"size": 3, "edges": "third"}}
    mine, same, other = ao.ModelSet(list(grid)), ao.ModelSet(list(grid)), ao.ModelSet(list(grid)[::-1])
    described = descriptions.describe(mine)
    assert described["name"] == "ModelSet"
    assert {**described["parameters"], "digest": ""} == {"worlds": 4, "states": 9, "actions": 4, "digest": ""}
    assert descriptions.describe(same) == described != descriptions.describe(other)


def test_values_that_json_does_not_have():
    assert descriptions.data([np.float64(0.5), math.inf, (1, None), {"a": np.bool_(True)}]) == [
        0.5,
        "inf",
        [1, None],
        {"a": True},
    ]
    assert descriptions.data(np.eye(2)) == [[1.0, 0.0], [0.0, 1.0]]
    large = descriptions.data(np.zeros((20, 30)))["array"]
    assert (large["shape"], large["type"]) == ([20, 30], "float64")
    assert descriptions.data(np.ones((20, 30)))["array"]["digest"] != large["digest"]
    assert descriptions.data(len) == {"function": "len"}
    assert descriptions.data(slice(3)) == {"object": "slice(None, 3, None)"}


def test_what_cannot_be_made_is_refused_in_a_sentence():
    for described, kind, message in [
        (("gridword", {}), "world", "there is no world 'gridword'; did you mean 'gridworld'?"),
        (("Randm", {}), "agent", "there is no agent 'Randm'; did you mean 'Random'?"),
        (("gridworld", {"sizes": 3}), "world", "world 'gridworld' has no parameter 'sizes'; did you mean 'size'?"),
        (("Random", {}), "agent", "agent 'Random' needs horizon=..."),
    ]:
        with pytest.raises(ValueError, match=re.escape(message)):
            descriptions.make({"name": described[0], "parameters": described[1]}, kind)


def test_the_same_data_have_the_same_text_and_digest():
    one, other = {"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1}
    assert descriptions.text(one) == descriptions.text(other) == '{"a": 1, "b": [true, null]}'
    assert descriptions.digest(one) == descriptions.digest(other)


@pytest.mark.parametrize(
    ("given", "also_written", "kept"),
    [
        ({}, {}, {}),
        ({}, {"ties": "random", "bonus_scale": 1.0, "cap": "horizon"}, {}),
        ({"bonus": "released"}, {}, {"bonus": "released"}),
        ({"learner": ao.learning.UCBVI(cap="none"), "ties": "lowest"}, {}, {"ties": "lowest", "cap": "none"}),
        ({"learner": ao.learning.Practical()}, {}, {"learner": descriptions.describe(ao.learning.Practical())}),
    ],
    ids=["defaults", "a cell of an earlier version", "a keyword", "parts", "another learner"],
)
def test_what_was_given_makes_the_same_again(given, also_written, kept):
    described = descriptions.describe(ao.agents.AOMultiRL(4, 1.2, 7.0, 0.1, learning_horizon=20, **given))
    written = {**described, "parameters": {**described["parameters"], **also_written}}
    short = descriptions.without_defaults(written, ao.agents.AOMultiRL)
    told = {"models": 4, "separation": 1.2, "hitting_time": 7.0, "failure": 0.1, "learning_horizon": 20}
    assert short["parameters"] == {**told, **kept}
    assert descriptions.describe(descriptions.make(short, "agent")) == described

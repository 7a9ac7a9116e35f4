"""Parameters that are themselves made by name: ``learner = {name = "Bold", ...}`` in a file."""

from dataclasses import dataclass
from itertools import pairwise

import pytest

import aomultirl as ao
from aomultirl import checks, plugins
from aomultirl.experiments.specification import specification_of


class Method:
    """The base of what is made by name in these tests."""


@dataclass(frozen=True)
class Bold(Method):
    """Likes what it has not seen."""

    bonus: str = "paper"
    scale: float = 1.0

    def __post_init__(self):
        checks.choice("bonus", self.bonus, ("paper", "released"))


@dataclass(frozen=True)
class Shy(Method):
    """Does not."""

    inner: Method = Bold()


BOLD = Bold()


class Learns(ao.agents.Random):
    """Acts at random, whatever it is told."""

    def __init__(self, horizon: int, method: Method = BOLD) -> None:
        super().__init__(horizon)
        self.method = method

    def begin(self, setting):
        super().begin(setting)
        if isinstance(self.method, Bold):
            checks.real("scale", self.method.scale, above=0.0)


@pytest.fixture(autouse=True)
def offered(monkeypatch):
    plugins.makers("world")
    here = plugins._offers
    monkeypatch.setattr(
        plugins,
        "_offers",
        plugins._Offers(dict(here.bases), dict(here.makers), dict(here.modules), [], discovered=True),
    )
    plugins.offer_own("learner", Method, [Bold, Shy])
    plugins.offer_own("agent", ao.agents.Agent, [Learns])


def read(**agent):
    worlds = [{"name": "gridworld", "size": 3}]
    return specification_of({"episodes": 2, "worlds": worlds, "agents": [{"name": "Learns", "horizon": 5, **agent}]})


def methods(**agent):
    """(label, the method as a cell holds it) of every configuration."""
    return [(each.label, each.agent["parameters"].get("method")) for each in read(**agent).configurations()]


def described(name, **parameters):
    return {"name": name, "parameters": parameters}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Bold", [("Learns", described("Bold"))]),
        ({"name": "Bold", "bonus": "released"}, [("Learns", described("Bold", bonus="released"))]),
        (
            ["Shy", {"name": "Bold", "scale": 2}],
            [
                ("Learns, method=Shy", described("Shy")),
                ("Learns, method=Bold(scale=2.0)", described("Bold", scale=2.0)),
            ],
        ),
        (
            {"name": "Bold", "bonus": ["paper", "released"], "scale": 0.5},
            [
                ("Learns, method=Bold(scale=0.5, bonus=paper)", described("Bold", scale=0.5, bonus="paper")),
                ("Learns, method=Bold(scale=0.5, bonus=released)", described("Bold", scale=0.5, bonus="released")),
            ],
        ),
        (
            {"name": "Shy", "inner": {"name": "Bold", "scale": 3.0}},
            [("Learns", described("Shy", inner=described("Bold", scale=3.0)))],
        ),
    ],
)
def test_what_is_made_by_name(value, expected):
    assert methods(method=value) == expected
    for cell in read(method=value).cells():
        history = cell.run()
        assert history.about["agent"]["parameters"]["method"]["name"] == cell.agent["parameters"]["method"]["name"]


def test_grids_and_zips_take_them_too():
    assert [method for _, method in methods(grid={"method": ["Bold", "Shy"]})] == [described("Bold"), described("Shy")]
    worlds = [{"name": "gridworld", "size": 3}]
    agent = {"name": "Learns", "zip": {"horizon": [5, 6], "method": ["Bold", {"name": "Bold", "scale": [2.0]}]}}
    told = specification_of({"episodes": 2, "worlds": worlds, "agents": [agent]}).configurations()
    assert [each.agent["parameters"] for each in told] == [
        {"horizon": 5, "method": described("Bold")},
        {"horizon": 6, "method": described("Bold", scale=2.0)},
    ]
    agent["zip"]["method"][1]["scale"] = [2.0, 3.0]
    with pytest.raises(ValueError, match=r"agents\[0\]\.zip\.method\[1\] stands for 2 values"):
        specification_of({"episodes": 2, "worlds": worlds, "agents": [agent]})


def test_the_same_thing_written_in_two_ways_is_refused():
    agents = [{"name": "Learns", "horizon": 5}, {"name": "Learns", "horizon": 5, "label": "x", "method": "Bold"}]
    with pytest.raises(ValueError, match=r"agents\[1\] \(Learns\) is the same as agents\[0\] \(Learns\)"):
        specification_of({"episodes": 2, "worlds": [{"name": "gridworld"}], "agents": agents})


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("Bould", "agents[0].method.name is 'Bould', and there is no such learner; did you mean 'Bold'?"),
        ({"name": "Bold", "bonuss": "x"}, "agents[0].method.bonuss is not known to Bold; did you mean 'bonus'?"),
        ({"name": "Bold", "scale": "x"}, "agents[0].method.scale must be a number, not 'x'"),
        (
            {"bonus": "paper"},
            "agents[0].method must be the name of a learner or a table with a name, not {'bonus': 'pa",
        ),
        (3, "agents[0].method must be the name of a learner or a table with a name, not 3"),
        ([], "agents[0].method is an empty list"),
        (["Shy", {"name": "Shy"}], "agents[0].method holds Shy twice"),
        (["Shy", "Sly"], "agents[0].method[1].name is 'Sly', and there is no such learner; did you mean 'Shy'?"),
        ({"name": "Bold", "bonus": "papr"}, "agents[0].method.bonus must be one of 'paper', 'released', not 'papr'"),
        ({"name": "Bold", "scale": -1.0}, "agents[0].method.scale must be above 0, not -1"),
        ({"name": "Shy", "inner": {"name": "Bold", "bonus": "x"}}, "agents[0].method.inner.bonus must be one of"),
    ],
)
def test_what_is_wrong_is_said_with_the_whole_key(value, message):
    with pytest.raises(ValueError, match=r"^agents\[0\]\.method") as error:
        read(method=value)
    assert str(error.value).startswith(message)


def test_what_varies_inside_is_named_by_its_place():
    told = read(method={"name": "Bold", "scale": [1.0, 2.0]}).varying()
    assert told == [{"agent.method.scale": 1.0}, {"agent.method.scale": 2.0}]
    names = read(method=["Bold", "Shy"]).varying()
    assert [each["agent.method"] for each in names] == ["Bold", "Shy"]
    assert all(one != other for one, other in pairwise(names))

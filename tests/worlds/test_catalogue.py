import pytest

import aomultirl as ao
from aomultirl import descriptions, plugins
from aomultirl.worlds import catalogue


@pytest.mark.parametrize("kind", plugins.KINDS)
def test_all_that_has_a_name_is_described(kind):
    for maker in plugins.makers(kind).values():
        assert descriptions.summary(maker)[0].endswith(".")


def test_every_public_world_is_listed():
    assert set(plugins.makers("world")) == set(ao.worlds.__all__)


def test_make_from_words():
    models = catalogue.make("gridworld", catalogue.parse(["size=5", "edges=stay"]))
    assert models.n_states == 25
    assert catalogue.make("two-jao", catalogue.parse(["gap=0.02"])).separation() == pytest.approx(0.5)


def test_parse():
    words = ["a=1", "b=1.5", "c=true", "d=none", "e=stay", "f=-100,0", "g=A-v1,B-v1"]
    assert catalogue.parse(words) == {
        "a": 1,
        "b": 1.5,
        "c": True,
        "d": None,
        "e": "stay",
        "f": (-100, 0),
        "g": ("A-v1", "B-v1"),
    }


@pytest.mark.parametrize(
    ("name", "words", "message"),
    [
        ("gridwrld", [], "there is no world 'gridwrld'; did you mean 'gridworld'"),
        ("zzz", [], "there is no world 'zzz'; there are bandits, diabolical_locks, doors,"),
        ("gridworld", ["edge=stay"], "world 'gridworld' has no parameter 'edge'; did you mean 'edges'"),
        ("gridworld", ["zzz=1"], "world 'gridworld' has no parameter 'zzz'; it has size, edges"),
        ("gridworld", ["size"], "'size' is not of the form name=value"),
        ("gridworld", ["size=3", "size=4"], "'size' is given twice"),
        ("gridworld", ["size=big"], "size must be a whole number, not 'big'"),
    ],
)
def test_bad_input(name, words, message):
    with pytest.raises(ValueError, match=message):
        catalogue.make(name, catalogue.parse(words))

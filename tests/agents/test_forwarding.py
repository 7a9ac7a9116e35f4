"""Keywords that agents take for their learner and explorer."""

from dataclasses import dataclass

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.forwarding import configured
from aomultirl.learning import UCBVI, Learner
from aomultirl.refusals import Refusal

KNOWN = {"models": 2, "separation": 0.5, "hitting_time": 9, "failure": 0.1, "learning_horizon": 60}


def agent(**keywords):
    return ao.agents.AOMultiRL(**KNOWN, **keywords)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        (
            {"learner": UCBVI(bonus="released"), "bonus": "paper"},
            r"^bonus is given twice: as 'paper', and in UCBVI\(bonus='released'\); leave out one$",
        ),
        ({"learner": UCBVI(bonus_scale=0.5), "bonus_scale": 1.0}, r"as 1\.0, and in UCBVI\(bonus_scale=0\.5\)"),
        (
            {"explorer": ao.exploring.ExploreID(ties="first"), "ties": "random"},
            r"ties is given twice: as 'random', and in ExploreID\(ties='first'\)",
        ),
    ],
)
def test_two_values_of_one_field_are_refused(keywords, message):
    with pytest.raises(Refusal, match=message):
        agent(**keywords)


def test_one_value_given_twice_and_fields_that_the_part_leaves_open():
    same = agent(learner=UCBVI(bonus="released"), bonus="released")
    open_field = agent(learner=UCBVI(bonus="released"), bonus_scale=0.5)
    assert same.learner == UCBVI(bonus="released")
    assert open_field.learner == UCBVI(bonus="released", bonus_scale=0.5)
    assert agent(learner=UCBVI(cap="remaining"), bonus=None).learner == UCBVI(cap="remaining")


def test_fields_that_are_arrays():
    @dataclass(frozen=True)
    class Weighted(Learner):
        bonus: np.ndarray

    weights = np.arange(3.0)
    assert configured(Weighted(weights), {"bonus": weights.copy()}).bonus.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(Refusal, match="bonus is given twice"):
        configured(Weighted(weights), {"bonus": np.arange(2.0)})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: agent(bonsu="paper"), "AOMultiRL takes no keyword 'bonsu'; did you mean 'bonus'?"),
        (lambda: agent(seperate=1), "AOMultiRL takes no keyword 'seperate'; did you mean 'separation'?"),
        (
            lambda: ao.agents.DoublingAOMultiRL(2, 0.5, 0.1, horizon=60, bonsu=1),
            "DoublingAOMultiRL takes no keyword 'bonsu'; did you mean 'bonus'?",
        ),
        (
            lambda: ao.agents.OracleUCBVI(0.1, 30, modls=2),
            "OracleUCBVI takes no keyword 'modls'; did you mean 'models'?",
        ),
        (
            lambda: ao.agents.Told(UCBVI(), 30, xyz=2),
            "Told takes no keyword 'xyz'; it takes learner, horizon, models, failure, rewards",
        ),
    ],
)
def test_unknown_keywords_are_a_sentence_that_names_the_class(make, message):
    with pytest.raises(TypeError) as caught:
        make()
    assert str(caught.value) == message

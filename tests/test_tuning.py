"""The scripts of ``examples/tuning`` that choose Recall's numbers, on a few episodes each."""

import runpy
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import rereading
from aomultirl.agents.rereading import Rereading

TUNING = Path(__file__).parents[1] / "examples" / "tuning"


@pytest.fixture(scope="module")
def recall():
    return runpy.run_path(str(TUNING / "recall.py"))


@pytest.fixture(scope="module")
def evidence():
    return runpy.run_path(str(TUNING / "evidence.py"))


def test_settings_of_the_memory_are_constants_that_hold_for_one_run(recall):
    task = recall["Development"]("doors", lambda _: ao.worlds.doors(), 10, 60, "unknown")
    before = {name: getattr(rereading, name) for setting in recall["MEMORY_SETTINGS"] for name in setting}
    plain = recall["shares"](task, {}, 5)
    seen = []

    def note(reading, stream):
        seen.append(rereading.REREAD)
        return look_back(reading, stream)

    look_back = Rereading.look_back
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Rereading, "look_back", note)
        recall["shares"](task, {"REREAD": 2, "level": 0.4}, 5)
    assert set(seen) == {2}
    assert {name: getattr(rereading, name) for name in before} == before
    assert recall["shares"](task, {}, 5) == plain


def test_settings_of_the_learner_are_its_parameters(recall):
    for setting in recall["SETTINGS"]:
        ao.learning.Practical(**setting)


def test_two_groupings_are_compared_by_how_likely_they_are(evidence):
    """Worlds that any two episodes tell apart: what is found becomes what is true, and is as likely."""
    models = ao.worlds.random_models(4, 2, 2, 2, 1.9, rng=3)
    looks = evidence["looks"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(looks.__globals__, "LOOKS", (6, 30))
        seen, earned = looks(evidence["Development"](lambda _: models, 60), 1)
    assert [look.worlds for look in seen][-1] == 2
    assert seen[-1].found == pytest.approx(seen[-1].true)
    assert np.isfinite(earned).all()
    assert len(earned) == 2


def test_bonuses_are_scaled_for_every_learner_with_one():
    bonuses = runpy.run_path(str(TUNING / "bonuses.py"))
    models = ao.worlds.random_models(4, 2, 2, 2, 1.9, rng=3)
    for make in bonuses["LEARNERS"].values():
        small, faithful = (bonuses["share"](make(scale), models, 10, 60, 1) for scale in (1e-4, 1.0))
        assert 0.0 < faithful <= 110.0
        assert 0.0 < small <= 110.0
    known = {name.split(",")[0] for name in bonuses["LEARNERS"]}
    with_bonus = {maker.__name__ for maker in vars(ao.learning).values() if hasattr(maker, "bonus_scale")}
    assert known == with_bonus

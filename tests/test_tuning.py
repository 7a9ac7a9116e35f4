"""The scripts of ``examples/tuning``, which choose numbers and make some of the pages', on a few episodes each."""

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


@pytest.fixture(scope="module")
def four_grids():
    return runpy.run_path(str(TUNING / "four_grids.py"))


@pytest.fixture(scope="module")
def ceilings():
    pytest.importorskip("icu_sepsis")
    return runpy.run_path(str(TUNING / "ceilings.py"))


@pytest.mark.parametrize("asked", ["discovering", "drifting", "contexts", "bounds", "clustering"])
def test_everybody_in_a_question_meets_the_same_tasks(four_grids, asked):
    question = four_grids["QUESTIONS"][asked]._replace(episodes=6, runs=2)
    for stream in question.streams.values():
        met = four_grids["rows"](question, question.horizons[-1], stream)
        assert met.keys() == question.makers.keys()
        tasks = [[history["task"].tolist() for history in histories] for histories in met.values()]
        assert all(one == tasks[0] for one in tasks)
        best = np.mean([history.reward.mean() for history in met["optimum"]])
        assert four_grids["line"](met["optimum"]).split()[0] == f"{best:.1f}"


def test_a_line_counts_clusters_and_episodes_in_a_wrong_one(four_grids):
    models = four_grids["GRIDS"]
    agent = ao.agents.FiniteModelRL(4, 1.2, 0.03, 200, radius_scale=1.0)
    history = ao.run(agent, models, ao.streams.uniform(), 30, seed=1, record=())
    clusters = len(set(history["cluster"].tolist()) - {-1})
    assert four_grids["line"]([history]).endswith(f"clusters {clusters:.1f}, wrong {history.misclustered} of 30")


def test_logs_of_many_patients_are_worth_more_than_of_few_and_less_than_the_truth(ceilings):
    (few,), (many,) = (ceilings["logs"](20, pooled=(), told=(patients,)).values() for patients in (100, 200_000))
    here = ceilings["known"].ward(20)
    best = ceilings["survival"](here, here.optimal)
    assert few + 0.01 < many < best


@pytest.mark.long
def test_ceilings_are_in_the_order_that_theory_says(ceilings):
    found = ceilings["policies"](20)
    at_random, mean, ascent, best = found.values()
    assert at_random < mean < best
    assert at_random < ascent < best


@pytest.mark.parametrize(
    ("script", "words", "message"),
    [
        ("ceilings", ["nothing"], "QUESTION must be one of policies, logs; got 'nothing'"),
        ("ceilings", ["--sets", "0"], "--sets must be at least 1; got 0"),
        ("four_grids", ["nothing"], "got 'nothing'"),
    ],
)
def test_bad_words_are_refused_in_a_sentence(request, capsys, script, words, message):
    with pytest.raises(SystemExit) as refused:
        request.getfixturevalue(script)["main"](words)
    assert refused.value.code == 2
    assert message in capsys.readouterr().err


def test_who_is_told_the_models_of_a_bandit_loses_less_than_ucb():
    bandits = runpy.run_path(str(TUNING / "bandits.py"))
    lost = {name: bandits["regrets"](make, 900, 60) for name, make in bandits["agents"]().items()}
    assert {one.shape for one in lost.values()} == {(60,)}
    assert lost["MUCB"].mean() < lost["UCB"].mean()
    assert list(lost)[2:] == [f"TUCB, scale {scale:g}" for scale in bandits["SCALES"]]

"""The suites in which all peers meet: who enters, that everybody can play, and what they are claimed to show."""

import pytest

from aomultirl import plugins
from aomultirl.analysis.suite_claims import claims_of
from aomultirl.analysis.suite_rows import rows_of
from aomultirl.experiments import suites
from aomultirl.experiments.suites import drift, entrants, hard

ELSEWHERE = {
    "OneEpisodeLearner": "OneEpisode(Practical())",
    "OracleLearner": "Told(Practical())",
    "OneEpisodeUCBVI": "OneEpisode(UCBVI())",
    "PooledUCBVI": "Pooled(UCBVI())",
    "OracleUCBVI": "Told(UCBVI())",
    "UCRL2": "OneEpisode(UCRL2())",
}
"""Agents that enter under another name."""
CONTESTS = ("paper", "hard", "drift")
SHORT = {"paper": ("grid, stay",), "hard": (f"{hard.RING}, lambda = 1, M = 4",), "drift": (drift.ALTERNATING,)}
"""Places in which the quick test has everybody play."""


def cases(suite, episodes, places=None):
    found = [case for case in suites.SUITES[suite]() if places is None or case.place in places]
    return [suites.shortened(case, episodes) for case in found]


def test_every_agent_and_learner_of_the_library_enters():
    entered = {case.agent["name"] for suite in CONTESTS for case in suites.SUITES[suite]()}
    assert set(plugins.makers("agent")) == entered | set(ELSEWHERE)
    assert not entered & set(ELSEWHERE)
    told = [case.agent["parameters"].get("learner") for suite in CONTESTS for case in suites.SUITES[suite]()]
    assert set(plugins.makers("learner")) == {learner["name"] for learner in told if learner}
    explorers = [case.agent["parameters"].get("explorer") for case in suites.SUITES["hard"]()]
    assert set(plugins.makers("explorer")) == {explorer["name"] for explorer in explorers if explorer}


def test_everybody_who_need_not_be_told_of_the_worlds_enters_short_lives():
    fits = {case.agent["name"] for case in suites.SUITES["beds"]()} - set(ELSEWHERE)
    entered = {ELSEWHERE.get(case.agent["name"], case.agent["name"]).split("(")[0] for case in short_lives()}
    assert fits <= entered
    learners = {case.agent["parameters"]["learner"]["name"] for case in short_lives() if case.told.endswith("pooled")}
    assert set(plugins.makers("learner")) <= learners | {"Practical"}


def short_lives():
    return [case for case in suites.SUITES["short"]() if not case.is_planner]


def test_bandits_are_for_those_who_know_them():
    labels = {place: [case.told for case in suites.SUITES["drift"]() if case.place == place] for place in drift.WORLDS}
    assert all({"MUCB", "UMUCB"} <= set(there) for there in labels.values())
    assert [place for place, there in labels.items() if "TUCB" in there] == [drift.BLOCKS, drift.ALTERNATING]
    assert "MUCB" not in {case.told for case in suites.SUITES["hard"]()}


@pytest.mark.parametrize("suite", CONTESTS)
def test_everybody_plays(suite):
    few = cases(suite, 60 if suite == "drift" else 3, SHORT[suite])
    results = suites.run_suite(few, 1, seed=3)
    earned = {case.told: runs[0].share for case, runs in zip(few, results, strict=True)}
    assert 90.0 < earned[entrants.OPTIMAL] < 110.0
    assert all(0.0 <= share <= 130.0 for share in earned.values())


def test_a_quick_look_has_no_more_epochs_than_episodes():
    (case,) = [c for c in suites.SUITES["drift"]() if (c.place, c.told) == (drift.ALTERNATING, entrants.RESTART)]
    assert case.agent["parameters"]["epochs"] > suites.quick([case])[0].episodes
    assert suites.quick([case])[0].agent["parameters"]["epochs"] == suites.quick([case])[0].episodes


def test_samples_everywhere_fit_into_half_of_the_clustering_phase():
    contest = entrants.Contest(1_000, 10, samples=64, clustering_horizon=750, pairs=18)
    assert contest.samples_everywhere == 20
    assert contest._replace(samples=5).samples_everywhere == 5
    assert contest._replace(pairs=10_000).samples_everywhere == 1


HOLDING = {
    "hard": (
        "where best policies differ, a learner for all worlds as one earns less than one that is told the world",
        "one that averages over all worlds even earns less than one that forgets",
        "an agent that remembers, told nothing, earns more than every pooled learner there",
        "where a pair is hard to reach, explorers that plan their way need fewer steps than ExploreID",
    ),
    "drift": (
        "where tasks alternate, the bound of RestartQ-UCB is above K H",
        "where a world drifts slowly, the bound of RestartQ-UCB is below K H",
        "where tasks alternate, RestartQ-UCB earns no more than acting at random",
    ),
}
FAILING = {
    "hard": ("so does GOSPRL",),
    "drift": ("where a world drifts slowly, RestartQ-UCB earns more", "where worlds return, memory earns more"),
}
"""What docs/contests.md says fails, and why."""
NAMED = ("RestartQ-UCB", "Random", "Recall", "detect and restart", "AOMultiRL", "Practical", "PSRL", "QLearning, ")
"""Agents whose runs the claims are about."""


@pytest.mark.long
@pytest.mark.parametrize("suite", HOLDING)
def test_what_is_claimed_holds_or_fails_as_the_page_says(suite):
    some = [case for case in suites.SUITES[suite]() if case.told.startswith(NAMED)]
    results = suites.run_suite(some, 5, suites.FIRST_SEEDS[suite]["reporting"], workers=2)
    claims = claims_of(suite, rows_of(some, results))
    for said, verdict in ((HOLDING, True), (FAILING, False)):
        for words in said[suite]:
            (claim,) = [claim for claim in claims if claim.claim.startswith(words)]
            assert claim.verdict is verdict, (claim.claim, claim.estimates)

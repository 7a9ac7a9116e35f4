import io

import pytest
from rich.console import Console

from aomultirl import theory
from aomultirl.analysis import paper_bounds
from aomultirl.analysis.errata import ERRATA
from aomultirl.reports import bounds_table, tables

HARD = {"states": 20, "actions": 20, "separation": 0.1, "hitting_time": 40, "horizon": 10**9}


def printed(found, width=200):
    page = io.StringIO()
    for table in bounds_table.tables(found):
        Console(width=width, file=page).print(tables.for_terminal(table))
    return page.getvalue()


def named(rows, beginning):
    return next(row for row in rows if row.name.startswith(beginning))


def test_the_papers_experiment():
    found = paper_bounds.compute()
    setting = found.setting
    assert (setting.samples, setting.clustering_horizon, setting.horizon) == (2424, 610_848, 611_048)
    assert found.thresholds == pytest.approx((0.975, 0.325), abs=1e-5)
    assert found.logarithm == pytest.approx(30.381, abs=1e-3)
    assert found.short == pytest.approx((22.3564, 24_490), abs=1e-4)
    assert found.informative == 45_227
    assert found.visits == 156.25
    assert found.bonus == pytest.approx(7 * 200 * found.logarithm / 12.5)
    two_stages = named(found.upper, "Theorem 20")
    assert all(row.vacuous for row in found.upper if row is not two_stages)
    assert (two_stages.bound, two_stages.trivial) == (None, 200 * (13_031_424 + 200))
    told, *others = found.lower
    assert told.value is not None
    assert all(row.value is None for row in others)
    first = named(found.upper, "Theorem 16")
    sizes = {"states": 16, "actions": 4, "models": 4, "episodes": 200, "failure": 0.03}
    assert first.bound == theory.regret_bound(clustering_horizon=610_848, learning_horizon=200, **sizes)
    assert first.trivial == 200 * 611_048
    assert named(found.upper, "Corollary").trivial == 200 * (13_031_424 + 200)


def test_it_is_printed():
    text = printed(paper_bounds.compute())
    for words in ("2,424 of 3", "610,848", "45,227", "24,490", "lambda = 1.299999", "2.44e+08", "1.22e+08"):
        assert words in text
    assert text.count("vacuous") == 7
    assert text.count("no bound") == 1
    assert "Theorem 20, two stages: Assumption 19 fails: K1 is at least M = 4, K1 S A at least 256" in text
    assert "at least 261 episodes (E17)" in text
    assert "not proved here: actions must be at least 10, not 4" in text
    for number in (6, 8, 18, 22):
        assert f"E{number} " in text
        assert ERRATA[number] in text
    assert "E27" not in text


def test_it_says_which_premise_fails_in_the_papers_experiment():
    found = paper_bounds.compute(episodes=204)
    holds = {premise.name.split(":")[0]: premise.holds for premise in found.premises}
    assert holds == {
        "N, H0 and the bonus are those of the text": True,
        "lambda": True,
        "Assumption 4, for UCRL2": False,
        "Assumption 12": False,
        "Assumption 19, for two stages": False,
    }
    assert "it is 350,443 in the paper's grids, and infinite in those of the released code (E22)" in printed(found)
    assert "K - K1 at most 200" in found.premises[-1].why
    exact = paper_bounds.compute(hitting_time=350_443, diameter=11.51)
    assert [premise.holds for premise in exact.premises] == [True, None, None, None, False]
    assert {row.fails for row in exact.upper} == {""}


def test_a_bound_that_rests_on_an_assumption_that_fails_says_so():
    """Theorem 20 has no bound in any case, and the learners that are told the world need no assumption."""
    found = paper_bounds.compute()
    fails = [row.fails for row in found.upper if row.bound is not None]
    assert fails == ["Assumption 12", "Assumption 12", "Assumption 12", "", "", "", "Assumption 4"]
    text = " ".join(printed(found, width=200).split())
    assert text.count("vacuous, and Assumption 12 fails") == 3
    assert text.count("vacuous, and Assumption 4 fails") == 1
    assert named(paper_bounds.compute(episodes=261).upper, "Theorem 20").fails == "Assumption 12"
    assert {row.fails for row in paper_bounds.compute(diameter=12.0).upper} == {"", "Assumption 12"}


def test_assumption_19_needs_as_many_episodes_as_its_proof():
    few, enough = (paper_bounds.compute(episodes=episodes) for episodes in (260, 261))
    assert named(few.upper, "Theorem 20").bound is None
    assert named(enough.upper, "Theorem 20").bound is not None
    assert [found.premises[-1].holds for found in (few, enough)] == [False, None]
    assert "within the first 4 of the 261 episodes" in enough.premises[-1].why


def test_a_narrow_terminal_still_shows_every_number():
    text = printed(paper_bounds.compute(), width=80)
    assert max(map(len, text.splitlines())) <= 80
    for words in ("2.44e+08", "1.3e+09", "2.27e+12", "1.22e+08", "vacuous"):
        assert words in text


def test_released_constants():
    found = paper_bounds.compute(constants="released")
    assert (found.setting.samples, found.setting.clustering_horizon) == (1043, 101_262)
    assert found.short[1] == 8_972
    assert {14, 27} <= set(found.errata)
    assert [row.name for row in found.upper if row.bound is not None] == ["UCRL2, every episode alone"]
    assert found.premises[0].holds is False
    text = printed(found)
    assert text.count("no bound") == 7
    assert text.count("not for those of the released code (E14, E27)") == 1


def test_a_bound_that_says_something():
    found = paper_bounds.compute(
        states=2,
        actions=2,
        models=2,
        episodes=10**18,
        separation=1.0,
        hitting_time=2,
        diameter=2,
        pairs=1,
        horizon=10**8,
    )
    assert not named(found.upper, "Theorem 1").vacuous
    assert "informative" in printed(found)
    assert 22 not in found.errata


def test_a_horizon_too_short_for_all_pairs():
    found = paper_bounds.compute(horizon=700_000)
    assert found.setting.learning_horizon == 700_000 - 610_848
    for name in ("Corollary", "Theorem 2", "S x A"):
        row = named(found.upper, name)
        assert row.bound is None
        assert not row.vacuous
    assert "Corollary, S x A: horizon must be above H0 = 13,031,424" in printed(found)
    assert 18 not in found.errata
    roomy = paper_bounds.compute(horizon=20_000_000, episodes=300)
    assert all(row.bound is not None and row.trivial in (300 * 20_000_000, 300 * 19_389_152) for row in roomy.upper)


def test_one_world_has_no_two_stages():
    found = paper_bounds.compute(models=1)
    assert named(found.upper, "Theorem 2").remark == "models must be at least 2"
    assert named(found.upper, "UCBVI, one").bound is not None


def test_lower_bounds_where_they_are_proved():
    found = paper_bounds.compute(**HARD)
    assert [row.value is not None for row in found.lower] == [True] * 5
    assert {2, 3, 4, 5} <= set(found.errata)
    text = printed(found)
    assert "any algorithm, on 100 worlds" in text
    assert "83.3333" in text


def test_a_small_logarithm_is_noted():
    tiny = {"states": 1, "actions": 1, "models": 1, "episodes": 1, "pairs": 1, "failure": 0.9}
    found = paper_bounds.compute(separation=2.0, hitting_time=0.001, learning_horizon=1, **tiny)
    assert (28 in found.errata) == (found.logarithm < 4.0)
    assert found.logarithm < 4.0


def test_every_erratum_that_a_row_names_has_a_sentence():
    for found in (paper_bounds.compute(constants="released"), paper_bounds.compute(**HARD)):
        assert set(found.errata) <= set(ERRATA)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"horizon": 700_000, "learning_horizon": 200}, "give horizon or learning_horizon, not both"),
        ({"horizon": 610_848}, "horizon must be at least 610849, not 610848"),
        ({"learning_horizon": 0}, "learning_horizon must be at least 1, not 0"),
        ({"states": 0}, "states must be at least 1, not 0"),
        ({"actions": 1.5}, "actions must be a whole number, not 1.5"),
        ({"models": 0}, "models must be at least 1, not 0"),
        ({"episodes": 0}, "episodes must be at least 1, not 0"),
        ({"pairs": 65}, "pairs must be between 1 and 64, not 65"),
        ({"separation": 2.1}, "separation must be at most 2, not 2.1"),
        ({"hitting_time": 0}, "hitting_time must be above 0, not 0"),
        ({"diameter": -1.0}, "diameter must be above 0, not -1"),
        ({"failure": 1.0}, "failure must be below 1, not 1"),
        ({"constants": "release"}, "did you mean 'released'"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        paper_bounds.compute(**arguments)

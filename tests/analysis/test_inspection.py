import io
import math

import numpy as np
import pytest
from rich.console import Console

import aomultirl as ao
from aomultirl.analysis import inspection
from aomultirl.reports import tables


def printed(found, name="world"):
    page = io.StringIO()
    for table in tables.inspection_tables(found, name):
        Console(width=200, file=page).print(tables.for_terminal(table))
    return page.getvalue()


def test_the_grid_of_the_text():
    found = inspection.inspect(ao.worlds.gridworld(), episodes=300)
    assert found.separation == pytest.approx(1.3)
    assert len(found.distinguishing_set) == len(found.half_distinguishing_set) == 3
    assert found.communicating == [True] * 4
    assert found.diameters == pytest.approx([11.508] * 4, abs=1e-3)
    assert found.hitting_times == pytest.approx([350_443] * 4, abs=0.5)
    text = printed(found, "gridworld")
    for words in ("gridworld", "11.508 in every world", "350,442.71 in every world", "lambda = 1.3", "2,424"):
        assert words in text
    assert " no " not in text


def test_assumption_19_is_listed_with_the_others():
    """S A = 64 and M = 4: fewer than 261 episodes are too few, and from then on the stream decides."""
    grid = ao.worlds.gridworld()
    text = printed(inspection.inspect(grid))
    assert "19, for two stages: all worlds within the first K1 episodes, K1 S A < K - K1" in text
    assert "K1 is at least M = 4: K1 S A = 256 is not below K - K1 = 196" in text
    asked = inspection.inspect(grid, episodes=261)
    assert asked.early.holds is None
    assert "for K = 261 every world must come within the first 4 episodes" in printed(asked)
    early = inspection.inspect(grid, early=[(900, 4), (700, 5), (900, 5)])
    assert (early.early.episodes, early.early.first, early.early.holds) == (700, 5, True)
    assert "K1 = 5: K1 S A = 320 is below K - K1 = 695" in printed(early)
    late = inspection.inspect(grid, early=[(900, 4), (900, 14)])
    assert "K1 = 14: K1 S A = 896 is not below K - K1 = 886" in printed(late)
    never = inspection.inspect(grid, early=[(900, 4), (900, math.inf)])
    assert never.early.holds is False
    assert "one of them never came" in printed(never)
    assert "two stages" not in printed(inspection.inspect(ao.ModelSet([grid[0]])))


def test_a_hitting_time_that_is_told_must_be_a_bound():
    grid = ao.worlds.gridworld()
    assert "the agents are told 7, and it is 350,443" in printed(inspection.inspect(grid, hitting_time=7))
    assert "the agents are told" not in printed(inspection.inspect(grid, hitting_time=350_443))


def test_a_hitting_time_of_ones_own_gives_the_papers_horizon():
    found = inspection.inspect(ao.worlds.gridworld(edges="stay"), hitting_time=7)
    assert [phase.horizon for phase in found.phases] == [610_848, 101_262, 13_031_424, 2_649_472]
    text = printed(found)
    assert "some policy avoids a state for ever: m1, m2, m3, m4" in text
    assert "13,031,424" in text


def test_assumptions_that_fail_are_named():
    text = printed(inspection.inspect(ao.worlds.two_jao_noncommunicating(actions=2)))
    assert "not communicating: m1, m2" in text
    assert "no bound known" in text
    same = ao.worlds.gridworld()[0]
    text = printed(inspection.inspect(ao.ModelSet([same, same])))
    assert "two of the worlds are the same" in text


def test_worlds_that_differ_are_listed_and_many_are_summarised():
    two = inspection.inspect(ao.worlds.random_models(models=2, rng=1))
    assert f"m1: {two.diameters[0]:.3f}".rstrip("0") in printed(two)
    many = inspection.inspect(ao.worlds.random_models(models=12, rng=1))
    assert f"{min(many.diameters):,.6g} to {max(many.diameters):,.6g}" in printed(many)


def test_worlds_that_differ_everywhere_have_a_length_below_which_episodes_look_alike():
    """Two coins of 0.5 and 0.6 at both pairs: l1 0.2, delta 0.1, ln(2 / 0.03) / 0.01 = 420 steps."""
    rewards = np.zeros((2, 1))
    worlds = [ao.MDP([[[chance, 1.0 - chance]]] * 2, rewards) for chance in (0.5, 0.6)]
    found = inspection.inspect(ao.ModelSet(worlds))
    assert found.separation_everywhere == pytest.approx(0.2)
    assert found.separated_horizon == pytest.approx(math.log(2 / 0.03) / 0.01)
    assert "0.2: episodes shorter than some 400 steps, an order, cannot be told apart" in printed(found)
    unequal = [
        ao.MDP([[[first, 1.0 - first]], [[second, 1.0 - second]]], rewards)
        for first, second in ((0.5, 0.1), (0.6, 0.9))
    ]
    words = (
        "0.2: at pairs that differ so little alone it takes of the order of 400 steps to tell two worlds apart; others"
    )
    assert words in printed(inspection.inspect(ao.ModelSet(unequal)))
    surer = inspection.inspect(ao.ModelSet(worlds), failure=0.001)
    assert surer.separated_horizon == pytest.approx(math.log(2 / 0.001) / 0.01)
    alike = inspection.inspect(ao.worlds.gridworld())
    assert (alike.separation_everywhere, alike.separated_horizon) == (0.0, None)
    assert "0: two worlds are alike at some pair" in printed(alike)
    one = inspection.inspect(ao.ModelSet(worlds[:1]))
    assert (one.separation_everywhere, one.separated_horizon) == (math.inf, None)


def test_one_world():
    text = printed(inspection.inspect(ao.ModelSet([ao.worlds.gridworld()[0]])))
    assert "separation" not in text
    assert "clustering phase" not in text


def test_what_takes_too_long_waits_for_a_request(monkeypatch):
    monkeypatch.setattr(inspection, "TIME_LIMIT", 0.0)
    found = inspection.inspect(ao.worlds.gridworld())
    assert all(map(math.isnan, found.diameters))
    assert found.finite_hitting_times == [None] * 4
    text = printed(found)
    assert "--slow does it" in text
    assert "?" in text
    asked = inspection.inspect(ao.worlds.gridworld(), slow=True)
    assert asked.diameters == pytest.approx([11.508] * 4, abs=1e-3)


def test_whether_a_hitting_time_is_finite_is_found_before_how_long_it_is(monkeypatch):
    avoidable, sure = (ao.ModelSet([ao.worlds.gridworld(20, edges)[0]]) for edges in ("stay", "third"))
    monkeypatch.setattr(inspection, "TIME_LIMIT", 0.2)
    assert inspection.inspect(avoidable).hitting_times == [math.inf]
    found = inspection.inspect(sure)
    assert found.finite_hitting_times == [True]
    assert math.isnan(found.hitting_times[0])
    assert "hitting time not computed" in printed(found)


def test_a_greedy_set_is_called_so(monkeypatch):
    monkeypatch.setattr(inspection, "TIME_LIMIT", 0.01)
    found = inspection.inspect(ao.worlds.random_models(100, 4, 40, 5, 1.0, 0))
    assert not found.smallest
    assert "a small (greedy) distinguishing set" in printed(found)


def test_times_too_long_to_be_exact_are_called_so():
    text = printed(inspection.inspect(ao.ModelSet([ao.worlds.gridworld(10)[0]])))
    assert "too long to compute exactly" in text


def test_bad_input():
    with pytest.raises(ValueError, match="failure must be below 1, not 1"):
        inspection.inspect(ao.worlds.gridworld(), failure=1.0)
    with pytest.raises(ValueError, match="hitting_time must be above 0, not 0"):
        inspection.inspect(ao.worlds.gridworld(), hitting_time=0.0)


def test_worlds_whose_episodes_end():
    rows, rewards = np.array([[[0.5, 0.5]], [[0.5, 0.5]]]), np.zeros((2, 1))
    found = inspection.inspect(ao.ModelSet([ao.MDP(rows, rewards), ao.MDP(rows, rewards, terminal=[1])]))
    assert (found.separation, found.distinguishing_set) == (1.0, [(0, 0)])
    assert found.communicating == [True, False]
    assert found.diameters == pytest.approx([2.0, math.inf])
    assert found.hitting_times[1] == math.inf
    text = printed(found)
    for words in ("m1: 0, m2: 1", "not communicating: m2", "some policy avoids a state for ever: m2"):
        assert words in text
    lake = inspection.inspect(ao.worlds.from_gymnasium("FrozenLake-v1", terminal="end"))
    assert (lake.diameters, lake.hitting_times) == ([math.inf], [math.inf])
    assert "terminal states" in printed(lake)
    assert "terminal states" not in printed(inspection.inspect(ao.worlds.jao(2)))

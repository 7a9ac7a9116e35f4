"""Where a theorem's bound holds: every premise alone makes it go, and a sentence says which one it was."""

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import premises
from aomultirl.agents.base import Setting
from aomultirl.experiments.runner import SimulatedRun
from aomultirl.worlds.environment import WorldEnv
from proven import HITTING_TIME, LAMBDA, proven_agent, proven_worlds

GRID = [(1, 0), (8, 3), (2, 1)]
TOLD = (4, 1.3 - 1e-6, 7, 0.03)


def ran(agent, models=None, stream=None, episodes=30, **options):
    """The agent after a run, and the history."""
    models = proven_worlds() if models is None else models
    return agent, ao.run(agent, models, stream or ao.streams.round_robin(), episodes, record=["regret"], **options)


def test_theorem_16_where_it_holds():
    agent, history = ran(proven_agent())
    assert agent.premises() == premises.Premises("Theorem 16")
    sizes = {"states": 2, "actions": 2, "models": 2, "episodes": 30, "failure": 0.5, "learning_horizon": 20}
    bound = ao.theory.regret_bound(**sizes, clustering_horizon=agent.stage.clustering_horizon)
    assert agent.regret_bound(30) == bound
    assert history.regret()[-1] < bound.total
    assert history.about["premises"] == {"theorem": "Theorem 16", "broken": [], "unchecked": []}
    assert history.about["bound"]["total"][-1] == bound.total


def test_the_bound_of_the_first_episodes_has_the_logarithms_of_the_whole_run():
    """N, H0 and the bonus are for K = 30: a run of 10 episodes would have a smaller L."""
    agent, history = ran(proven_agent())
    bound, whole = agent.regret_bound(10), agent.regret_bound(30)
    assert bound.linear == pytest.approx(whole.linear / 3)
    assert bound.root == pytest.approx(whole.root / np.sqrt(3))
    assert bound.constant == whole.constant
    assert agent.regret_bound(31) is None
    line = history.about["bound"]
    assert line["episodes"][0] == 1
    assert np.allclose(np.add(line["clustering"], line["learning"]), line["total"])
    assert line["total"][5] == pytest.approx(agent.regret_bound(int(line["episodes"][5])).total)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"constants": "released"}, "N and H0 are those of the released code"),
        ({"bonus": "released"}, "The bonus is that of the released code"),
        ({"bonus_scale": 0.5}, "The bonus is multiplied by 0.5"),
        ({"rewards": "unknown"}, "The rewards are unknown"),
        ({"reuse_samples": True}, "for which Theorem 37 needs Gamma = S x A"),
        ({"stop_early": True}, "ends before H0 steps"),
        ({"samples": 9}, "samples = 9 is in place of the theorem's N."),
        ({"clustering_horizon": 900}, "clustering_horizon = 900 is in place of the theorem's H0."),
        ({"explorer": ao.exploring.GOSPRL(), "clustering_horizon": 900}, "It explores by GOSPRL"),
        ({"learner": ao.learning.Practical()}, "It learns by Practical"),
        ({"hitting_time": 7}, "told that hitting times are at most 7, and one is 10 (Assumption 12)"),
        ({"models": 1}, "There are 2 worlds, and it is told M = 1."),
        ({"separation": 1.7}, "differ by less than 1.7 at the pair it compares"),
        ({"level": 1.61}, "differ by less than 1.61 at the pair it compares"),
        ({"distinguishing_set": [(0, 1), (1, 0)]}, "at any of the 2 pairs it compares"),
    ],
)
def test_every_premise_alone_takes_the_bound_away(changes, words):
    agent, history = ran(proven_agent(**changes), episodes=2)
    broken = agent.premises().broken
    assert sum(words in sentence for sentence in broken) == 1, broken
    assert len(broken) == (2 if "explorer" in changes else 1)
    assert agent.regret_bound(2) is None
    assert history.about["bound"] is None
    assert history.about["premises"]["broken"] == list(broken)


def test_a_premise_is_not_broken_by_rounding():
    exact = max(world.hitting_time() for world in proven_worlds())
    for told in ({"hitting_time": exact}, {"separation": LAMBDA + 1e-6}, {"hitting_time": None}):
        models = proven_worlds() if None in told.values() else 2
        assert ran(proven_agent(models=models, **told), episodes=1)[0].premises() == premises.Premises("Theorem 16")


@pytest.mark.parametrize(("edges", "words"), [("third", "and one is 350,443"), ("stay", "avoids a state for ever")])
def test_the_papers_agent_in_its_grids(edges, words):
    """Assumption 12 alone fails with the constants of the text; with the authors' own, N, H0 and the bonus do too."""
    models = ao.worlds.gridworld(edges=edges)
    agent, history = ran(ao.agents.AOMultiRL(*TOLD, GRID, learning_horizon=20), models, episodes=1)
    [sentence] = agent.premises().broken
    assert "at most 7, " in sentence
    assert words in sentence
    assert (agent.regret_bound(1), history.about["bound"]) == (None, None)
    released = ao.agents.AOMultiRL(*TOLD, GRID, constants="released", bonus="released", learning_horizon=20)
    assert len(ran(released, models, episodes=1)[0].premises().broken) == 3


def test_samples_of_both_phases_have_a_theorem_of_their_own_where_every_pair_is_visited():
    agent, _ = ran(proven_agent(reuse_samples=True, distinguishing_set=None))
    assert agent.premises() == premises.Premises("Theorem 37")
    sizes = {"states": 2, "actions": 2, "models": 2, "episodes": 30, "failure": 0.5, "learning_horizon": 20}
    stage = agent.stage
    bound = ao.theory.first_stage_bound(**sizes, clustering_horizon=stage.clustering_horizon, samples=stage.samples)
    assert agent.regret_bound(30) == bound
    assert bound != ao.theory.regret_bound(**sizes, clustering_horizon=stage.clustering_horizon)


# -- two stages ------------------------------------------------------------------------------------------------


def two_stages(**changes):
    told = {"models": 2, "separation": LAMBDA, "hitting_time": HITTING_TIME, "failure": 0.5, "learning_horizon": 20}
    return ao.agents.TwoStageAOMultiRL(**{**told, **changes})


@pytest.mark.parametrize(
    ("tasks", "k1", "holds"),
    [
        ([0, 1] * 5 + [0], 2, True),
        ([0, 1] * 5, 2, False),
        ([0, 0, 1] + [0] * 13, 3, True),
        ([0] * 3 + [1] * 8, 4, False),
    ],
)
def test_assumption_19_is_about_the_tasks_that_came(tasks, k1, holds):
    """S A = 4: with K1 = 2 it takes 2 * 5 + 1 = 11 episodes, with K1 = 3 sixteen."""
    agent, history = ran(two_stages(), stream=ao.streams.sequence(tasks), episodes=len(tasks))
    assert agent.premises().theorem == "Theorem 20"
    if not holds:
        [sentence] = agent.premises().broken
        words = f"K1 = {k1} episodes: K1 S A = {4 * k1} is not below K - K1 = {len(tasks) - k1} (Assumption 19)."
        assert sentence.endswith(words)
        assert (agent.regret_bound(len(tasks)), history.about["bound"]) == (None, None)
        return
    assert agent.premises().broken == agent.premises().unchecked == ()
    assert history.regret()[-1] < agent.regret_bound(len(tasks)).total
    first = 5 * k1 + 1  # of the first episodes alone the premise must hold, too
    assert agent.regret_bound(first - 1) is None
    assert agent.regret_bound(first).linear == pytest.approx(agent.regret_bound(len(tasks)).linear * first / len(tasks))
    assert history.about["bound"]["episodes"][0] == first


def test_a_world_that_never_comes_breaks_assumption_19():
    agent, _ = ran(two_stages(), stream=ao.streams.sequence([0] * 20), episodes=20)
    assert agent.premises().broken == ("A world never came, where every one must come early (Assumption 19).",)


def test_the_papers_two_stages_break_assumption_19():
    """Four worlds, 64 pairs, 204 episodes; ten of them say enough, and the rest need not be run."""
    agent = ao.agents.TwoStageAOMultiRL(*TOLD, learning_horizon=2, first_learning_horizon=0, constants="released")
    stream = ao.streams.paper(each_first=True)
    history = ao.run(agent, ao.worlds.gridworld(), stream, 204, record=[], stop=5)
    told = "For all worlds to come it takes K1 = 4 episodes: K1 S A = 256 is not below K - K1 = 200 (Assumption 19)."
    assert told in agent.premises().broken
    assert history.about["bound"] is None


def test_while_a_run_goes_on_nobody_knows_whether_the_rest_will_come_early():
    agent = two_stages()
    course = SimulatedRun(agent, proven_worlds(), ao.streams.sequence([0] * 3 + [1] * 17), 20)
    course.begin()
    course.step()
    assert agent.premises().unchecked == ("every world comes within the first 3 episodes (Assumption 19)",)
    assert agent.regret_bound(20) is not None
    for _ in range(2):
        course.step()
    assert "K1 = 4 episodes" in agent.premises().broken[0]  # none of three was the second world


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"models": 3}, "There are 2 worlds, and it is told M = 3, where stage 1 ends."),
        ({"first_clustering_horizon": 90_000}, "first_clustering_horizon = 90,000 is in place of the theorem's H0"),
        ({"first_learning_horizon": 21}, "longer in stage 1 than in stage 2"),
        ({"reuse_samples": True}, "Theorem 37 is about in stage 1 alone"),
        ({"hitting_time": 9}, "at most 9, and one is 10"),
        ({"separation": 1.7}, "differ by less than 1.7"),
        ({"constants": "released"}, "N and H0"),
    ],
)
def test_every_premise_of_two_stages(changes, words):
    agent, _ = ran(two_stages(**changes), episodes=20)
    assert [words in sentence for sentence in agent.premises().broken] == [True]
    assert agent.regret_bound(20) is None


def test_one_world_has_no_two_stages():
    agent, _ = ran(two_stages(models=1), proven_worlds()[:1], episodes=20)
    assert agent.premises().broken == ("There must be two worlds at least.",)


# -- others ----------------------------------------------------------------------------------------------------


def test_an_oracle_is_for_one_world():
    one = ao.ModelSet([proven_worlds()[0]])
    agent, _ = ran(ao.agents.UCBVIWithOracle(0.1, 4, 5), one)
    assert agent.premises() == premises.Premises("Theorem 35")
    for other, words in (
        (ao.agents.UCBVIWithOracle(0.1, 4, 5, 2), "There are 2 worlds, and the theorem is about one."),
        (ao.agents.UCBVIWithOracle(0.1, 4, 5, bonus="released"), "that of the released code"),
    ):
        assert words in ran(other, one)[0].premises().broken[0]
    assert ran(ao.agents.UCBVIWithOracle(0.1, 4, 5))[0].regret_bound(30) is None


class Derived(ao.agents.AOMultiRL):
    """An agent of somebody's that may do anything."""


def test_agents_that_no_theorem_is_about():
    derived = Derived(2, LAMBDA, HITTING_TIME, 0.5, [(0, 0)], learning_horizon=20)
    doubling = ao.agents.DoublingAOMultiRL(2, LAMBDA, 0.5, [(0, 0)], horizon=100_000)
    for agent in (derived, doubling, ao.agents.Random(5), ao.agents.OracleUCBVI(0.1, 5, 2)):
        _, history = ran(agent, episodes=1)
        assert agent.premises().theorem == ""
        assert len(agent.premises().broken) == 1
        assert agent.regret_bound(1) is None
        assert (history.about["premises"], history.about["bound"]) == (None, None)


def test_where_nobody_holds_the_worlds_their_premises_are_named_as_unchecked():
    agent = proven_agent()
    agent.begin(Setting(2, 2, np.zeros((2, 2)), 30))
    found = agent.premises()
    assert found.broken == ()
    assert found.unchecked == (
        "every two worlds differ by at least 1.6 at one of the pairs it compares",
        "hitting times are at most 10 (Assumption 12)",
        "there are at most 2 worlds",
    )
    assert agent.regret_bound(30) is not None
    two = two_stages()
    two.begin(Setting(2, 2, np.zeros((2, 2)), 30))
    assert two.premises().unchecked[2:] == (
        "there are 2 worlds",
        "every world comes within the first 5 episodes (Assumption 19)",
    )
    assert [two.regret_bound(k) is None for k in (29, 30)] == [True, False]
    short = proven_agent()
    short.begin(Setting(2, 2, np.zeros((2, 2)), 30, longest=50))
    assert short.premises().broken[0].startswith("Episodes end after 50 steps; its two phases need ")


def test_worlds_that_an_agent_is_given_are_looked_at():
    agent = proven_agent(models=proven_worlds(), hitting_time=5)
    agent.begin(Setting(2, 2, np.zeros((2, 2)), 30))
    assert agent.premises().broken == ("It is told that hitting times are at most 5, and one is 10 (Assumption 12).",)


def test_an_agent_that_leaves_the_worlds_forgets_them():
    agent, _ = ran(proven_agent(hitting_time=7), episodes=1)
    assert agent.premises().broken
    agent.begin(Setting(2, 2, np.zeros((2, 2)), 30))
    assert not agent.premises().broken


def test_what_a_simulator_knew_is_not_held_against_environments():
    agent, _ = ran(proven_agent(hitting_time=7, samples=3, clustering_horizon=50), episodes=1)
    sentence = "It is told that hitting times are at most 7, and one is 10 (Assumption 12)."
    assert sentence in agent.premises().broken
    ao.interact(agent, lambda k: WorldEnv(proven_worlds()[0]), 1, resume=True, rewards=proven_worlds().rewards)
    assert sentence not in agent.premises().broken
    assert "hitting times are at most 7 (Assumption 12)" in agent.premises().unchecked


def test_a_resumed_run_has_the_bound_of_one_in_one_piece():
    whole = ran(two_stages(), episodes=20)[1]
    agent, first = ran(two_stages(), episodes=20, stop=7)
    again = ran(agent, episodes=20, resume=first)[1]
    assert again == whole
    assert again.about["bound"] is not None


def test_large_worlds_are_not_looked_at_for_long(monkeypatch):
    """What takes too long by its size is unchecked on every machine; that a time is infinite is found before."""
    models = proven_worlds()
    monkeypatch.setattr(premises, "MOST_WORK", 15)  # two worlds of two states and eight transitions each
    assert premises.longest_hitting_time(models) is None
    agent, _ = ran(proven_agent(hitting_time=7), episodes=1)
    assert agent.premises().unchecked == (
        "every two worlds differ by at least 1.6 at one of the pairs it compares",
        "hitting times are at most 7 (Assumption 12)",
    )
    grid, endless = ao.worlds.gridworld(), ao.worlds.gridworld(edges="stay")
    monkeypatch.setattr(premises, "MOST_WORK", 4 * 16**3 - 1)
    assert (premises.longest_hitting_time(grid), premises.longest_hitting_time(endless)) == (None, np.inf)
    monkeypatch.undo()
    assert premises.longest_hitting_time(grid) == pytest.approx(350_442.71, abs=0.01)

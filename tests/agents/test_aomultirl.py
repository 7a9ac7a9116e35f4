import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents.base import Setting
from aomultirl.agents.clusters import Cluster
from aomultirl.engine.counts import CountTable, insert
from aomultirl.engine.random import streams
from aomultirl.exploring import GOSPRL, ExploreID
from aomultirl.identifying import identify_cluster
from aomultirl.learning import UCBVI

LEVEL = 1.3 - 1e-6
THREE = [(1, 0), (8, 3), (2, 1)]
GRID = Setting(16, 4, np.zeros((16, 4)), 200)


def grid_agent(**changes):
    arguments = {"distinguishing_set": THREE, "constants": "released", "learning_horizon": 200} | changes
    return ao.agents.AOMultiRL(4, LEVEL, 7, 0.03, **arguments)


@pytest.mark.parametrize(
    ("constants", "pairs", "samples", "horizon", "threshold"),
    [
        ("paper", THREE, 2424, 610_848, 0.975),
        ("paper", None, 2424, 13_031_424, 0.975),
        ("released", THREE, 1043, 101_262, 0.975),
        ("released", None, 1275, 2_649_472, 0.975),
    ],
)
def test_numbers_of_the_paper(constants, pairs, samples, horizon, threshold):
    agent = grid_agent(constants=constants, distinguishing_set=pairs)
    agent.begin(GRID)
    stage = agent.stage
    assert (stage.samples, stage.clustering_horizon, stage.learning_horizon) == (samples, horizon, 200)
    assert stage.threshold == pytest.approx(threshold, abs=1e-6)
    steps = 200 if constants == "released" else horizon + 200
    assert stage.learning.logarithm == pytest.approx(np.log(5 * 16 * 4 * 200 * steps * 4 / 0.01))


def test_explicit_numbers_and_either_horizon():
    agent = grid_agent(samples=10, clustering_horizon=500, learning_horizon=None, horizon=700)
    agent.begin(GRID)
    assert (agent.stage.samples, agent.stage.clustering_horizon, agent.stage.learning_horizon) == (10, 500, 200)


def exact_counts(world, scale=10**6):
    """Counts in exactly the proportions of the transitions."""
    table = CountTable(world.n_states * world.n_actions)
    for pair, row in enumerate(world.transitions.reshape(-1, world.n_states)):
        for state in np.flatnonzero(row):
            if insert(table.record, pair, int(state)):
                table.make_room()
    record = table.record
    for pair, row in enumerate(world.transitions.reshape(-1, world.n_states)):
        head = int(record.heads[pair])
        for slot in range(head >> 12, (head >> 12) + (1 << (head >> 6 & 63))):
            if record.slots[2 * slot] >= 0:
                record.slots[2 * slot + 1] = round(scale * row[record.slots[2 * slot]])
    return table


@pytest.mark.parametrize("edges", ["third", "stay"])
@pytest.mark.parametrize("pairs", [THREE, None])
def test_exact_rows_give_exactly_the_worlds_in_order_of_appearance(edges, pairs):
    agent = grid_agent(distinguishing_set=pairs)
    agent.begin(GRID)
    models = ao.worlds.gridworld(edges=edges)
    clusters, order = [], []
    tasks = [2, 0, 2, 1, 0, 3, 3, 1, 2]
    for task in tasks:
        seen = exact_counts(models[task])
        number = identify_cluster(seen, clusters, agent.stage.pairs, agent.stage.threshold)
        if number < 0:
            number = len(clusters)
            clusters.append(CountTable(64))
        clusters[number].add(seen)
        order.append(number)
    assert len(clusters) == 4
    assert order == [0, 1, 0, 2, 1, 3, 3, 2, 0]


@pytest.mark.parametrize("edges", [pytest.param("third", marks=pytest.mark.long), "stay"])
def test_the_papers_run_puts_no_episode_in_a_wrong_cluster(edges):
    """With the released constants; exploration may fail, and is counted."""
    history = ao.run(grid_agent(), ao.worlds.gridworld(edges=edges), ao.streams.paper(), 200, seed=1)
    assert not (history["misclustered"] & history["exploration_ok"]).any()
    assert history["cluster"].max() == 3
    assert (~history["exploration_ok"]).mean() < 0.05
    assert (history["identification_steps"] == 101_262).all()
    assert (history["learning_steps"] == 200).all()
    late = history["evaluation_value"][50:100].mean()
    assert late > 0.85 * 138


@pytest.mark.long
@pytest.mark.parametrize("edges", ["third", "stay"])
def test_ten_runs_of_the_paper(edges):
    models = ao.worlds.gridworld(edges=edges)
    for seed in range(10):
        history = ao.run(grid_agent(), models, ao.streams.paper(), 200, seed=seed)
        assert not (history["misclustered"] & history["exploration_ok"]).any()


@pytest.mark.parametrize(
    ("scan", "found"),
    [("descending", {(14, 1), (7, 2), (13, 0)}), ("ascending", {(1, 0), (8, 3), (2, 1)})],
)
@pytest.mark.parametrize("edges", ["third", "stay"])
def test_two_stages_discover_three_pairs(scan, found, edges):
    agent = ao.agents.TwoStageAOMultiRL(
        4, LEVEL, 7, 0.03, "released", learning_horizon=200, first_learning_horizon=0, scan=scan
    )
    history = ao.run(agent, ao.worlds.gridworld(edges=edges), ao.streams.paper(each_first=True), 12, seed=3)
    assert set(agent.discovered) == found
    assert len(agent.discovered) == 3
    first, second = (ao.theory.clustering_horizon(16, n, LEVEL, 7, 12, 0.03, "released") for n in (64, 3))
    assert history["identification_steps"].tolist() == [first] * 4 + [second] * 8
    assert history["learning_steps"].tolist() == [0] * 4 + [200] * 8
    assert history["cluster"][:4].tolist() == [0, 1, 2, 3]
    assert history.misclustered == 0
    assert agent.stage.threshold == pytest.approx(LEVEL / 4)


def test_two_stages_spend_half_the_failure_each():
    agent = ao.agents.TwoStageAOMultiRL(4, 0.3, 7, 0.03, learning_horizon=200)
    agent.begin(Setting(3, 4, np.zeros((3, 4)), 10**6))
    stage = agent.stage
    assert stage.samples == ao.theory.samples_needed(3, 12, 0.3, 10**6, 0.015)
    steps = stage.clustering_horizon + stage.learning_horizon
    assert stage.learning.logarithm == pytest.approx(np.log(15 * 12 * 10**6 * steps * 4 / 0.015))


def test_stop_early_saves_steps_and_gives_them_to_learning():
    models = ao.worlds.gridworld()
    short = ao.run(grid_agent(stop_early=True), models, ao.streams.round_robin(), 8, seed=2)
    assert (short["identification_steps"] < 101_262).all()
    assert (short["learning_steps"] == 200).all()
    whole = ao.run(
        grid_agent(stop_early=True, learning_horizon=None, horizon=110_000), models, ao.streams.round_robin(), 8, seed=2
    )
    assert (whole["identification_steps"] + whole["learning_steps"] == 110_000).all()
    assert short.misclustered == whole.misclustered == 0


def test_doubling_stops_after_as_many_failures_as_doublings():
    agent = ao.agents.DoublingAOMultiRL(4, LEVEL, 0.03, THREE, horizon=60_000, samples=1043)
    history = ao.run(agent, ao.worlds.gridworld(edges="stay"), ao.streams.uniform(), 30, seed=0)
    failed = ~history["exploration_ok"]
    assert agent.failures == failed.sum() == np.log2(agent.stage.clustering_horizon / (3 * 1043))
    assert not failed[agent.failures :].any()
    assert (history["cluster"][failed] == -1).all()
    assert history.misclustered == 0
    assert history["cluster"].max() == 3


def test_doubling_uses_the_whole_episode():
    agent = ao.agents.DoublingAOMultiRL(4, LEVEL, 0.03, THREE, horizon=60_000, samples=1043)
    history = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 8, seed=0)
    assert (history["identification_steps"] + history["learning_steps"] == 60_000).all()


def test_samples_of_ones_own_change_the_clustering_horizon():
    agent = grid_agent(samples=10, constants="paper")
    agent.begin(GRID)
    assert agent.stage.clustering_horizon == 12 * 7 * 3 * 10


def test_both_stages_must_fit():
    def agent(**changes):
        return ao.agents.TwoStageAOMultiRL(4, LEVEL, 7, 0.03, "released", **changes)

    with pytest.raises(ValueError, match=r"takes H0 = 300,000 steps, but horizon is 200,000"):
        agent(horizon=200_000, first_clustering_horizon=150_000, clustering_horizon=300_000).begin(GRID)
    fits = agent(horizon=200_000, first_clustering_horizon=300_000, first_learning_horizon=0, clustering_horizon=50_000)
    fits.begin(GRID)
    assert (fits.stage.clustering_horizon, fits.stage.learning_horizon) == (300_000, 0)
    history = ao.run(fits, ao.worlds.gridworld(), ao.streams.paper(each_first=True), 6, seed=0)
    # Stage 1 has no learning phase, so there is no policy to judge; it lasts until every world has come.
    assert np.isnan(history.aper()).tolist() == [True] * 4 + [False] * 2


def test_doubling_never_fills_the_episode():
    agent = ao.agents.DoublingAOMultiRL(4, LEVEL, 0.03, THREE, horizon=5000, samples=1043)
    history = ao.run(agent, ao.worlds.gridworld(), ao.streams.uniform(), 6, seed=0)
    assert (history["learning_steps"] > 0).all()
    assert agent.failures == 6


@pytest.mark.parametrize("level", [None, 1.0])
def test_doubling_changes_the_horizon_and_nothing_else(level):
    """delta = alpha - lambda / 4 in every stage, however often H0 was doubled."""
    agent = ao.agents.DoublingAOMultiRL(4, LEVEL, 0.03, THREE, level, horizon=60_000, samples=1043)
    ao.run(agent, ao.worlds.gridworld(edges="stay"), ao.streams.uniform(), 2, seed=0)
    stage = agent.stage
    assert agent.failures == 2
    assert stage.clustering_horizon == 4 * 3 * 1043
    assert stage.threshold == pytest.approx((level or LEVEL) - LEVEL / 4)
    assert (stage.samples, stage.failure) == (1043, 0.03)
    assert [divmod(int(pair), 4) for pair in stage.pairs] == sorted(THREE)


@pytest.mark.parametrize("share", [0.45, 0.55, 0.74, 0.76])
@pytest.mark.parametrize("elsewhere", [0.7, 1.0])
def test_two_stages_discover_pairs_that_are_more_than_three_quarters_of_lambda_apart(share, elsewhere):
    """Estimates that are exact: the first pair is ``share`` lambda apart, the second one ``elsewhere``."""
    agent = ao.agents.TwoStageAOMultiRL(2, 0.8, 7, 0.03, learning_horizon=200)
    agent.begin(Setting(2, 1, np.zeros((2, 1)), 10))
    for apart in (0.0, 0.8):
        first, second = 0.5 + apart * share / 2, 0.5 - apart * elsewhere / 2
        world = ao.MDP([[[first, 1 - first]], [[second, 1 - second]]], np.zeros((2, 1)))
        cluster = Cluster.empty(agent.stage.learning)
        cluster.model.add(exact_counts(world))
        agent.clusters.append(cluster)
    agent._discover()
    far = [(state, 0) for state, apart in enumerate((share, elsewhere)) if apart > 0.75]
    assert agent.discovered == (far[:1] or None)
    assert agent.stage.targets.sum() == (1 if far else 2)


@pytest.mark.parametrize(
    ("agent", "explorer", "share"),
    [
        (grid_agent(), ExploreID, 0.01),
        (ao.agents.DoublingAOMultiRL(4, LEVEL, 0.03, THREE, horizon=60_000), GOSPRL, 0.01),
        (ao.agents.TwoStageAOMultiRL(4, LEVEL, 7, 0.03, learning_horizon=200), ExploreID, 0.005),
    ],
)
def test_exploring_may_fail_with_a_third_of_p(monkeypatch, agent, explorer, share):
    agent.begin(GRID)
    original, shares = explorer.behaviour, []

    def noting(self, targets, needed, failure):
        shares.append(failure)
        return original(self, targets, needed, failure)

    monkeypatch.setattr(explorer, "behaviour", noting)
    next(agent.episode(5, streams(0, 1)[0]))
    assert shares == [pytest.approx(share)]


def test_reusing_samples_counts_both_phases():
    models = ao.worlds.gridworld()
    agent = grid_agent(reuse_samples=True, samples=200, clustering_horizon=20_000, bonus_scale=0.001)
    plain = grid_agent(samples=200, clustering_horizon=20_000, bonus_scale=0.001)
    both = ao.run(agent, models, ao.streams.round_robin(), 12, seed=0)
    apart = ao.run(plain, models, ao.streams.round_robin(), 12, seed=0)
    assert both["evaluation_value"][:4].mean() > apart["evaluation_value"][:4].mean() + 10
    extra = agent.stage.learning.logarithm - plain.stage.learning.logarithm
    assert extra == pytest.approx(np.log(400 / 200))


def test_unknown_rewards_are_learned_and_optimistic():
    models = ao.worlds.gridworld()
    agent = grid_agent(rewards="unknown", reuse_samples=True, samples=200, clustering_horizon=20_000, bonus_scale=0.001)
    history = ao.run(agent, models, ao.streams.round_robin(), 24, seed=0, noisy_rewards=True)
    assert history["evaluation_value"][-8:].mean() > 0.9 * 138
    cluster = agent.clusters[0]
    starts, _, visits = cluster.model.to_lists()
    n = np.add.reduceat(visits, starts[:-1])
    assert np.allclose(cluster.model_sums / n, models.rewards.reshape(-1))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_horizon": None, "horizon": 101_262}, "takes H0 = 101,262 steps, but horizon is 101,262"),
        ({"learning_horizon": None}, r"give either horizon \(H\) or learning_horizon \(H1\)"),
        ({"horizon": 5}, r"give either horizon \(H\) or learning_horizon \(H1\)"),
        ({"level": 0.6}, "level must be at least 0.65, not 0.6"),
        ({"distinguishing_set": [(1, 0), (16, 0)]}, r"distinguishing_set\[1\] state must be between 0 and 15, not 16"),
        ({"distinguishing_set": [(1, 4)]}, r"distinguishing_set\[0\] action must be between 0 and 3, not 4"),
        ({"distinguishing_set": [7]}, r"distinguishing_set\[0\] is 7, not \(state, action\)"),
        ({"distinguishing_set": []}, "distinguishing_set is empty"),
        ({"constants": "mine"}, "constants must be one of 'paper', 'released'"),
        ({"ties": "last"}, "ties must be one of 'random', 'released', not 'last'"),
        ({"bonus": "none"}, "bonus must be one of 'paper', 'released', not 'none'"),
        ({"rewards": "some"}, "rewards must be one of 'known', 'unknown', not 'some'"),
        ({"samples": 0}, "samples must be at least 1, not 0"),
    ],
)
def test_misuse(changes, message):
    with pytest.raises(ValueError, match=message):
        grid_agent(**changes).begin(GRID)


def test_misuse_of_the_problem():
    models = ao.worlds.gridworld(edges="stay")
    for arguments, message in (
        ((4, 2.5, 7, 0.03), "separation must be at most 2, not 2.5"),
        ((4, 1.0, 7, 1.0), "failure must be below 1, not 1"),
        ((0, 1.0, 7, 0.1), "models must be at least 1, not 0"),
        (
            (models, 1.4, 7, 0.1),
            r"separation is 1\.4, but the models are only 1\.2999999999999998 apart; tests are strict",
        ),
        ((models, "a", 7, 0.1), "separation must be a number, not 'a'"),
        ((ao.worlds.gridworld(5), 1.2, 7, 0.1), "models have 25 states and 4 actions, but these worlds do not"),
        ((models, 1.2, None, 0.1), "hitting_time must be chosen, or a planning explorer: the models have an infinite"),
        ((4, 1.2, None, 0.1), "hitting_time is needed: the models are not given"),
        ((4, 1.2, float("inf"), 0.1), "hitting_time must be finite, not inf"),
    ):
        with pytest.raises(ValueError, match=message):
            ao.agents.AOMultiRL(*arguments, learning_horizon=200).begin(GRID)
    third = ao.agents.AOMultiRL(ao.worlds.gridworld(), LEVEL, None, 0.03, THREE, learning_horizon=200)
    third.begin(GRID)
    assert third.stage.clustering_horizon == pytest.approx(12 * 350_442.71 * 3 * 2424, rel=1e-6)


def test_a_distinguishing_set_may_be_a_generator_and_must_be_a_list():
    agent = grid_agent(distinguishing_set=(pair for pair in THREE))
    for _ in range(2):
        agent.begin(GRID)
        assert agent.stage.targets.sum() == 3
    with pytest.raises(ValueError, match="distinguishing_set is 5, not a list of pairs"):
        grid_agent(distinguishing_set=5)


def test_unknown_rewards_are_needed_where_nobody_knows_them():
    setting = Setting(16, 4, None, 200)
    with pytest.raises(ValueError, match='take rewards="unknown"'):
        grid_agent().begin(setting)
    grid_agent(rewards="unknown").begin(setting)


class Derived(UCBVI):
    """A learner of somebody's that may do anything."""


class DerivedExplorer(ExploreID):
    """An explorer of somebody's that may do anything."""


@pytest.mark.parametrize("parts", [{"learner": Derived()}, {"explorer": DerivedExplorer()}])
def test_no_theorem_is_about_a_class_derived_from_the_papers(parts):
    agent = ao.agents.AOMultiRL(4, LEVEL, 7, 0.03, learning_horizon=200, **parts)
    agent.begin(GRID)
    assert agent.regret_bound(10) is None


def test_the_learners_own_arrays_come_with_the_samples_of_both_phases():
    agent = grid_agent(reuse_samples=True)
    agent.begin(GRID)
    cluster = Cluster.empty(agent.stage.learning)
    cluster.regret.own["q"] = np.arange(3.0)
    assert cluster.together(agent.stage.learning).own["q"].tolist() == [0.0, 1.0, 2.0]


class Noting(UCBVI):
    """Notes the horizons that it is begun with."""

    def begin(self, setting, horizon, share):
        learning = super().begin(setting, horizon, share)
        begun.append(horizon)
        return learning


begun: list[int] = []


@pytest.mark.parametrize(("first", "later"), [(50, 60), (60, 50), (0, 60)])
def test_a_learner_begins_with_the_longest_horizon_of_a_stage(first, later):
    begun.clear()
    agent = ao.agents.TwoStageAOMultiRL(
        4,
        LEVEL,
        7,
        0.03,
        learning_horizon=later,
        first_learning_horizon=first,
        first_clustering_horizon=400,
        clustering_horizon=300,
        learner=Noting(),
    )
    agent.begin(GRID)
    assert begun == [later, max(first, later)]
    assert agent.stage.learning_horizon == first
    agent._go_on([(0, 0)])
    assert begun[-1] == later

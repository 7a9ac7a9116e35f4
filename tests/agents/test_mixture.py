"""The Dirichlet-process mixture: what it believes, how it assigns episodes, and what it keeps."""

import copy

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.agents import mixture_assigning, saving
from aomultirl.agents.base import Setting
from aomultirl.agents.mixture_memory import archived, give, take
from aomultirl.engine.counts import CountTable
from aomultirl.engine.packed_counts import pack_counts
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Simulator
from aomultirl.identifying.marginal_likelihood import Priors, episode_seen, ln_marginal, world_seen

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
ENDING = ao.ModelSet(ao.MDP(world.successors, MODELS.rewards, terminal=[5]) for world in MODELS)


def turned(count):
    """Worlds that differ in what every action does, so that no plan serves two of them; one state in eight pays."""
    rows = ao.worlds.random_models(8, 3, 1, 2, 0.5, 31)[0].transitions
    rewards = np.zeros((8, 3))
    rewards[5] = 1.0
    return ao.ModelSet(ao.MDP(np.roll(rows, turn, axis=1), rewards) for turn in range(count))


@pytest.mark.parametrize("rewards", ["known", "unknown"])
@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_contract(rewards, models):
    """Episodes leave the archive, and some are assigned anew."""
    ao.check_agent(ao.agents.MixtureOfMDPs(30, archive=4, reassignments=3, rewards=rewards), models, 9)


def lived(agent, models=MODELS, episodes=12, seed=1):
    return ao.run(agent, models, ao.streams.round_robin(), episodes, seed)


def whole(known):
    """All that is known of a world, as bytes."""
    return [
        array.tobytes() for array in (*pack_counts(known.counts), known.own["watched"].round(9), known.sums.round(9))
    ]


@pytest.mark.parametrize("models", [MODELS, ENDING], ids=["going on", "ending"])
def test_what_is_known_of_a_component_is_the_sum_of_its_episodes(models):
    agent = ao.agents.MixtureOfMDPs(40, rewards="unknown")
    lived(agent, models, 15)
    assert sum(component.episodes for component in agent.components) == len(agent.kept.archive) == 15
    for place, component in enumerate(agent.components):
        own = [episode for episode in agent.kept.archive if episode.component == place]
        assert len(own) == component.episodes
        total = agent.learning.nothing()
        for episode in own:
            give(total, episode)
        assert whole(total) == whole(component.known)


def test_an_episode_that_is_given_and_taken_leaves_no_trace():
    agent = ao.agents.MixtureOfMDPs(40, rewards="unknown")
    lived(agent, ENDING, 12)
    home = agent.kept.archive[0].component
    known = agent.components[home].known
    before = whole(known)
    take(known, agent.kept.archive[0], 6)
    assert whole(known) != before
    give(known, agent.kept.archive[0])
    assert whole(known) == before
    with pytest.raises(ValueError, match="transitions that its component does not have"):
        take(agent.learning.nothing(), agent.kept.archive[0], 6)


def test_the_posterior_is_the_restaurants_prior_times_the_marginal_likelihood():
    agent = ao.agents.MixtureOfMDPs(40, 2.5)
    lived(agent)
    episode = agent.kept.archive[-1]
    seen, priors = episode.seen(18), Priors(agent.learner.prior, agent.learner.reward_prior, False)
    expected = []
    for place, component in enumerate(agent.components):
        rest = copy.deepcopy(component.known)
        weight = component.episodes
        if place == episode.component:
            take(rest, episode, 6)
            weight -= 1
        expected.append(weight * np.exp(ln_marginal(seen, world_seen(rest.counts, 6, rest.sums), priors, False)))
    nothing = agent.learning.nothing()
    expected.append(2.5 * np.exp(ln_marginal(seen, world_seen(nothing.counts, 6, nothing.sums), priors, False)))
    assert agent.assigner.posterior(seen, episode.component) == pytest.approx(np.array(expected) / sum(expected))
    prior = agent.assigner.posterior(episode_seen(CountTable(18), np.empty(0)))
    sizes = [component.episodes for component in agent.components]
    assert prior == pytest.approx(np.array([*sizes, 2.5]) / (12 + 2.5))


def test_worlds_far_apart_are_told_apart_and_memory_pays():
    models = turned(3)
    best = np.array([world.first_values(200) for world in models])
    shares = []
    for agent in (ao.agents.MixtureOfMDPs(200), ao.agents.OneEpisode(ao.learning.PSRL(), 200)):
        history = ao.run(agent, models, ao.streams.uniform(), 40, seed=3)
        shares.append(history.reward[20:].sum() / best[history["task"], history["start"]][20:].sum())
        if isinstance(agent, ao.agents.MixtureOfMDPs):
            assert history.misclustered == 0
            assert len(agent.components) == 3
            assert agent.findings()["worlds"] == 3
    assert shares[0] > 0.95
    assert shares[0] > shares[1] + 0.05


def test_a_component_is_drawn_before_the_first_step_and_after_1_2_4_and_8():
    agent = ao.agents.MixtureOfMDPs(30)
    lived(agent)
    ours = streams(0, 2)
    simulator = Simulator(MODELS[0].alias_tables, MODELS[0].gains, 0, ours[0], ours[1], terminal=MODELS[0].ends)
    _, ran = simulator.drive(agent.episode(0, ours[1]))
    assert [phase.outcome.steps for phase in ran] == [1, 1, 2, 4, 8, 14]


def test_gibbs_sampling_undoes_a_wrong_assignment():
    """An episode of the second world among those of the first, in the worst place, finds its way back."""
    models = turned(2)
    agent = ao.agents.MixtureOfMDPs(200)
    history = ao.run(agent, models, ao.streams.round_robin(), 10, seed=3)
    assert history.misclustered == 0
    episode = agent.kept.archive[1]
    home = episode.component
    take(agent.components[home].known, episode, 8)
    give(agent.components[1 - home].known, episode)
    agent.components[home].episodes -= 1
    agent.components[1 - home].episodes += 1
    episode.component = 1 - home
    before = agent.kept.moves
    agent.assigner.assign_anew(1, streams(0, 1)[0])
    assert episode.component == home
    assert agent.kept.moves == before + 1


def test_a_split_parts_two_worlds_that_were_taken_for_one():
    """Single moves would not: every episode of the second world finds most company where it is."""
    agent = ao.agents.MixtureOfMDPs(200)
    history = ao.run(agent, turned(2), ao.streams.round_robin(), 12, seed=3)
    kept = agent.kept
    for episode in kept.archive:
        if episode.component == 1:
            give(agent.components[0].known, episode)
            episode.component = 0
    agent.components[0].episodes = 12
    del agent.components[1:]
    for number in range(12):
        agent.assigner.split(number, streams(number, 1)[0])
    parts = {(episode.component, int(task)) for episode, task in zip(kept.archive, history["task"], strict=True)}
    assert len(parts) == 2  # each component has one world, and each world one component
    assert [component.episodes for component in agent.components] == [6, 6]
    restored = saving.from_bytes(saving.to_bytes(agent))[0]
    assert [component.episodes for component in restored.components] == [6, 6]


def test_a_split_that_says_no_more_is_refused():
    """Episodes of one world stay together: no part of them is worth a component of its own."""
    agent = ao.agents.MixtureOfMDPs(200)
    ao.run(agent, turned(1), ao.streams.round_robin(), 12, seed=3)
    for number in range(12):
        agent.assigner.split(number, streams(number, 1)[0])
    assert [component.episodes for component in agent.components] == [12]


def test_a_component_without_episodes_is_gone():
    agent = ao.agents.MixtureOfMDPs(30)
    lived(agent, episodes=6)
    episode = agent.kept.archive[0]
    alone = archived(CountTable(18), np.zeros((3, 0)), len(agent.components))
    agent.assigner.assign(len(agent.components), alone)
    count = len(agent.components)
    for seed in range(100):  # an empty episode goes to components by their sizes
        agent.assigner.assign_anew(len(agent.kept.archive) - 1, streams(seed, 1)[0])
        if alone.component != count - 1:
            break
    assert len(agent.components) == count - 1
    assert agent.kept.archive[0] is episode


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(mixture_assigning, "MOST_COMPONENTS", 3)
    models = ao.worlds.random_models(6, 3, 6, 3, 1.0, 5)
    agent = ao.agents.MixtureOfMDPs(60, 5.0, archive=7)
    ao.run(agent, models, ao.streams.round_robin(), 30, seed=1)
    assert len(agent.components) == 3
    assert len(agent.kept.archive) <= 7
    assert all(episode.component < 3 for episode in agent.kept.archive)


def test_beliefs_are_by_cluster_and_add_up_to_one():
    agent = ao.agents.MixtureOfMDPs(200, rewards="unknown")
    ao.run(agent, turned(2), ao.streams.round_robin(), 8, seed=3)
    game = agent.play(0)
    assert sum(game.belief.shares.values()) == pytest.approx(1.0)
    assert sorted(game.belief.shares) == [-1, 0, 1]
    found = agent.evidence(CountTable(24))
    assert [one.cluster for one in found] == [0, 1]
    assert not any(one.contradicted for one in found)
    game.give_up()


def test_wider_rewards_bring_the_archive_and_the_components_to_their_range():
    agent = ao.agents.MixtureOfMDPs(40, rewards="unknown")
    lived(agent)
    agent.rescale_rewards(0.5, 0.25, 0.25)
    for place, component in enumerate(agent.components):
        total = agent.learning.nothing()
        for episode in agent.kept.archive:
            if episode.component == place:
                give(total, episode)
        assert total.sums == pytest.approx(component.known.sums)
        assert total.own["watched"] == pytest.approx(component.known.own["watched"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda kept: setattr(kept.archive[0], "component", 9), "component is 9, but there is none"),
        (lambda kept: setattr(kept.archive[0], "visits", kept.archive[0].visits + 10**6), "does not have"),
        (lambda kept: setattr(kept.archive[0], "states", kept.archive[0].states + 6), "of no pair or state"),
        (lambda kept: setattr(kept.archive[0], "pairs", kept.archive[0].pairs[::-1].copy()), "not in ascending order"),
        (lambda kept: setattr(kept.archive[0], "visits", kept.archive[0].visits[1:]), "differ in length"),
        (lambda kept: setattr(kept.archive[0], "ended", 6), "ended is 6, but states are 0 to 5"),
        (lambda kept: setattr(kept.archive[0], "watched", np.zeros((3, 1))), r"watched must be of shape \(3, 0\)"),
        (lambda kept: setattr(kept.components[0], "episodes", 0), "less than it has"),
        (lambda kept: setattr(kept.components[0], "number", 7), "clusters with the numbers"),
        (lambda kept: kept.archive.extend(kept.archive * 2), "must be a list of at most"),
    ],
)
def test_files_that_no_mixture_wrote_are_refused(change, message):
    agent = ao.agents.MixtureOfMDPs(30, archive=12)
    lived(agent)
    change(agent.kept)
    with pytest.raises(ValueError, match=message):
        saving.from_bytes(saving.to_bytes(agent))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"horizon": 0}, "horizon must be at least 1"),
        ({"concentration": 0.0}, "concentration must be"),
        ({"archive": -1}, "archive must be at least 0"),
        ({"reassignments": -1}, "reassignments must be at least 0"),
        ({"rewards": "x"}, "one of"),
        ({"learner": ao.learning.UCBVI()}, r"not ao.learning.PSRL\(...\)"),
    ],
)
def test_bad_parameters_get_one_sentence(wrong, message):
    with pytest.raises(ValueError, match=message):
        ao.agents.MixtureOfMDPs(**{"horizon": 20, **wrong}).begin(Setting(6, 3, MODELS.rewards, 5))

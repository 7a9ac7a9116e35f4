import pytest

from aomultirl.analysis.live.records import MOST_POINTS, WINDOW, Card, Outcome, Player


def outcome(episode, task, recognised=None, sure=0.5):
    return Outcome(episode, task, 0, False, sure, recognised, 10, True)


def test_a_curve_is_the_mean_of_the_last_episodes():
    player = Player("somebody")
    rewards = [float(7 * k % 11) for k in range(25)]
    for reward in rewards:
        player.add(reward)
    told = player.as_json(23)
    assert (told["label"], told["forgets"], told["episodes"], told["x"]) == ("somebody", False, 23, [*range(1, 24)])
    assert told["total"] == sum(rewards[:23])
    wanted = [sum(rewards[max(0, k - WINDOW) : k]) / min(k, WINDOW) for k in range(1, 24)]
    assert told["y"] == pytest.approx(wanted)


def test_long_curves_are_thinned_and_end_with_the_last_episode():
    player = Player("somebody")
    for _ in range(2_000):
        player.add(1.0)
    told = player.as_json(10_000)
    assert len(told["x"]) <= MOST_POINTS
    assert (told["x"][-1], set(told["y"]), told["total"]) == (2_000, {1.0}, 2_000.0)
    assert Player("nobody").as_json(5)["x"] == []


def test_a_card_says_what_a_world_mostly_was_lately():
    card = Card()
    for episode, task in enumerate([1, 1, 1, 1, 2, 2, 2]):
        card.add(outcome(episode, task, recognised=3 if episode == 1 else None), reward=2.0, best=4.0, cluster=-1)
    told = card.as_json(5)
    assert told["tasks"] == [(1, 4), (2, 3)]
    assert (told["name"], told["episodes"], told["mostly"], told["last"]) == (5, 7, 2, 6)
    assert (told["recognised"], told["reward"], told["share"], told["cluster"]) == (3, 2.0, 0.5, -1)
    card.add(outcome(7, 2), reward=2.0, best=None, cluster=4)
    assert (card.as_json(5)["share"], card.as_json(5)["cluster"]) == (None, 4)

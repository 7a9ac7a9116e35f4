import numpy as np
import pytest

import aomultirl as ao


def test_jao_golden_values():
    models = ao.worlds.jao(actions=5, diameter=40, separation=0.1)
    assert len(models) == models.n_actions == 5
    assert models.separation() == pytest.approx(0.1)
    values = models[2].optimal_values(100)[0]
    assert values == pytest.approx([57.6, 61.6], abs=1e-6)
    assert models[2].diameter() == pytest.approx(10.0)
    assert models[2].hitting_time() == pytest.approx(10.0)
    apart = models.distances()[1, 3]
    assert apart[0] == pytest.approx([0, 0.1, 0, 0.1, 0])
    assert not apart[1].any()


@pytest.mark.parametrize(("diameter", "separation", "horizon"), [(40, 0.1, 100), (16, 0.5, 7), (400, 0.02, 500)])
def test_jao_closed_form(diameter, separation, horizon):
    """V*(0) = rho H - rho (1 - x^H) / (1 - x), within 1 / (2 delta) = D / 8 of rho H."""
    delta, bias = 4 / diameter, separation / 2
    rho = (delta + bias) / (2 * delta + bias)
    x = 1 - 2 * delta - bias
    world = ao.worlds.jao(3, diameter, separation)[0]
    value = world.optimal_values(horizon)[0, 0]
    assert value == pytest.approx(rho * horizon - rho * (1 - x**horizon) / (1 - x))
    assert abs(value - rho * horizon) <= diameter / 8


def test_two_jao_golden_values():
    models = ao.worlds.two_jao(actions=4, diameter=40, separation=0.5, gap=0.01)
    assert (len(models), models.n_states, models.n_actions) == (4, 3, 8)
    world = models[1]
    assert world.diameter() == pytest.approx(19.0909, abs=5e-5)
    assert world.hitting_time() == float("inf")
    assert world.is_communicating()
    apart = models.distances()[0, 1]
    assert apart[0] == pytest.approx([0.5, 0.5, 0, 0, 0.02, 0.02, 0, 0])
    assert not apart[1:].any()
    assert models.separation() == pytest.approx(0.5)


def test_two_jao_gap_of_the_paper():
    """Delta = sqrt(SA / (3 H D)) / 20 with SA = 12 n."""
    world = ao.worlds.two_jao(actions=12, diameter=40, separation=0.5, horizon=1000)[0]
    assert world.transitions[0, 12, 1] == pytest.approx(0.1 + np.sqrt(144 / (3 * 1000 * 40)) / 20)


def test_noncommunicating_variant_is_detected():
    models = ao.worlds.two_jao_noncommunicating(actions=3, diameter=40, separation=0.5, gap=0.01)
    for world in models:
        assert not world.is_communicating()
        assert world.diameter() == float("inf")
        assert world.hitting_time() == float("inf")
        assert not world.transitions[:2, :, 2].any()
    assert models.separation() == pytest.approx(0.5)
    apart = models.distances()[0, 1]
    assert apart[2] == pytest.approx([0.5, 0.5, 0, 0, 0, 0])
    assert apart[:2].max() == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("copies", "actions", "diameter", "found"), [(10, 20, 40, 22.0), (7, 12, 16, 11.0), (40, 6, 16, 17.0)]
)
@pytest.mark.parametrize("kind", ["two_jao", "jao"])
def test_trees(copies, actions, diameter, found, kind):
    width = 3 if kind == "two_jao" else 2
    gap = 0.01 if kind == "two_jao" else None
    models = ao.worlds.two_jao_tree(copies * width, actions, diameter, 0.5, gap, kind=kind, models=2)
    assert (models.n_states, models.n_actions) == (copies * width, actions)
    assert models[0].diameter() == pytest.approx(found)
    assert models[1].hitting_time() == float("inf")
    assert models.separation() == pytest.approx(0.5)


def test_tree_holds_one_special_pair_in_one_copy():
    models = ao.worlds.two_jao_tree(12, 10, 40, 0.5, 0.01)
    inside, specials = 4, 2
    assert len(models) == 4 * specials
    for number, world in enumerate(models):
        hubs = world.transitions[::3]
        left = hubs[np.arange(4), :, np.arange(4) * 3 + 2]
        right = hubs[np.arange(4), :, np.arange(4) * 3 + 1]
        copy, special = divmod(number, specials)
        expected = np.zeros((4, 10))
        expected[:, :specials] = 0.5
        expected[copy, special] = 0.75
        assert left == pytest.approx(expected)
        expected = np.zeros((4, 10))
        expected[:, specials:inside] = 0.1
        expected[copy, specials + special] = 0.11
        assert right == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["jao", "two_jao"])
def test_nobody_can_stay_in_a_reward_state_of_a_tree(kind):
    """The best action keeps one there as long as any other does: the gain is that of one copy, a little above 1/2."""
    world = ao.worlds.two_jao_tree(12, 8, 40.0, 0.1, kind=kind)[0]
    assert 0.5 < world.first_values(20_000)[0] / 20_000 < 0.65


def test_tree_walks_to_parents_and_children():
    world = ao.worlds.two_jao_tree(18, 6, 16)[0]
    parent, child = 2, 3
    assert world.transitions[3 * 5, parent, 3 * 2] == 1.0
    assert world.transitions[3 * 2, child, 3 * 5] == 1.0
    assert world.transitions[0, parent, 0] == 1.0
    assert world.transitions[3 * 2, child + 1, 3 * 2] == 1.0
    assert world.transitions[1, parent, 1] == 1.0
    assert world.transitions[0, 5, 0] == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ao.worlds.jao(0), "actions must be at least 1, not 0"),
        (lambda: ao.worlds.jao(diameter=2), "diameter must be at least 4, not 2"),
        (
            lambda: ao.worlds.jao(diameter=4, separation=0.1),
            r"4 / diameter \+ separation / 2 is 1.05, not a probability",
        ),
        (lambda: ao.worlds.jao(separation=0.0), "separation must be above 0, not 0"),
        (lambda: ao.worlds.two_jao(diameter=15), "diameter must be at least 16, not 15"),
        (lambda: ao.worlds.two_jao(separation=1.2), "separation must be at most 1, not 1.2"),
        (lambda: ao.worlds.two_jao(gap=0.95), r"4 / diameter \+ gap is 1.05, not a probability"),
        (lambda: ao.worlds.two_jao(gap=0.1, horizon=5), "gap = 0.1 and horizon = 5 exclude each other"),
        (lambda: ao.worlds.two_jao_tree(actions=4), "actions must be at least 5, not 4"),
        (lambda: ao.worlds.two_jao_tree(states=2), "states must be at least 3, not 2"),
        (lambda: ao.worlds.two_jao_tree(kind="three"), "kind must be one of 'two_jao', 'jao', not 'three'"),
        (lambda: ao.worlds.two_jao_tree(kind="jao", gap=0.1), "gap and horizon belong to kind = 'two_jao'"),
        (lambda: ao.worlds.two_jao_tree(models=99), "models must be between 1 and 40, not 99"),
    ],
)
def test_bad_input(make, message):
    with pytest.raises(ValueError, match=message):
        make()

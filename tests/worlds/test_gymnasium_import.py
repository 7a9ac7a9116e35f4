"""Imported worlds are worth what the environments' own tables say, and every bad table has its sentence."""

import re

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.toy_text import CliffWalkingEnv, FrozenLakeEnv, TaxiEnv
from gymnasium.spaces import Box, Discrete
from hypothesis import given, settings
from hypothesis import strategies as st

from aomultirl.worlds.gymnasium_import import from_gymnasium

HORIZON = 40
LAKE = ["SFHF", "FFFF", "HFFG"]
WALLED = ["SFHF", "FFHH", "HFFG"]


class TableEnv(gymnasium.Env):
    """An environment with the given table and start distribution."""

    def __init__(self, table, start):
        self.P = table
        self.initial_state_distrib = np.array(start, dtype=float)
        self.observation_space = Discrete(len(start))
        self.action_space = Discrete(len(table[0]))


def corridor(**changes):
    """0 -> 1 -> 2, where 2 ends the episode and pays 1; action 1 stays.  ``changes`` replace rows: s0a1=[...]."""
    table = {
        0: {0: [(1.0, 1, 0.0, False)], 1: [(1.0, 0, 0.0, False)]},
        1: {0: [(1.0, 2, 1.0, True)], 1: [(1.0, 1, 0.0, False)]},
        2: {0: [(1.0, 2, 0.0, True)], 1: [(1.0, 2, 0.0, True)]},
    }
    for key, row in changes.items():
        table[int(key[1])][int(key[3])] = row
    return TableEnv(table, [1.0, 0.0, 0.0])


def slow_values(env, horizon, policy=None):
    """Value iteration on the table itself, where an episode ends with ``terminated``; (S,)."""
    core = env.unwrapped
    values = [0.0] * len(core.P)
    for _ in range(horizon):
        worth = [
            [
                sum(p * (reward + (0.0 if done else values[after])) for p, after, reward, done in core.P[s][a])
                for a in core.P[s]
            ]
            for s in range(len(core.P))
        ]
        values = [max(row) if policy is None else float(np.dot(row, policy[s])) for s, row in enumerate(worth)]
    return np.array(values)


def living(env):
    """The states in which an episode can be and go on."""
    found, waiting = set(), np.flatnonzero(env.initial_state_distrib).tolist()
    while waiting:
        s = waiting.pop()
        if s not in found:
            found.add(s)
            waiting += [int(n) for row in env.P[s].values() for p, n, _, done in row if p > 0 and not done]
    return sorted(found)


LAKES = [
    FrozenLakeEnv(is_slippery=True),
    FrozenLakeEnv(is_slippery=False),
    FrozenLakeEnv(desc=LAKE),
    FrozenLakeEnv(desc=WALLED),
]


# -- values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("env", LAKES)
def test_lakes_are_worth_what_their_tables_say(env):
    (world,) = from_gymnasium(env)
    states = living(env)
    assert world.optimal_values(HORIZON)[0, states] == pytest.approx(slow_values(env, HORIZON)[states], abs=1e-12)
    uniform = np.full((world.n_states, 4), 0.25)
    slow = slow_values(env, HORIZON, uniform)
    assert world.policy_values(uniform, HORIZON)[0, states] == pytest.approx(slow[states], abs=1e-12)


def test_the_known_value_of_the_slippery_lake():
    assert from_gymnasium("FrozenLake-v1")[0].optimal_values(5000)[0, 0] == pytest.approx(14 / 17, abs=1e-6)


@pytest.mark.parametrize(("env", "low", "high"), [(CliffWalkingEnv(), -100.0, 0.0), (TaxiEnv(), -10.0, 20.0)])
def test_rescaled_values_turn_back_by_the_formula(env, low, high):
    states = living(env)
    slow = slow_values(env, HORIZON)[states]
    for rescale in (True, (low, high), (2 * low, high + 1)):
        (world,) = from_gymnasium(env, rescale=rescale)
        bottom, top = (low, high) if rescale is True else rescale
        values = (top - bottom) * world.optimal_values(HORIZON)[0, states] + HORIZON * bottom
        assert values == pytest.approx(slow, abs=1e-8)


@pytest.mark.parametrize("env", LAKES)
@pytest.mark.parametrize("terminal", ["absorb", "restart"])
def test_arrival_pays_the_same_one_step_later(env, terminal):
    (arrival,) = from_gymnasium(env, rewards="arrival", terminal=terminal)
    (expected,) = from_gymnasium(env, terminal=terminal)
    assert arrival.optimal_values(HORIZON + 1)[0, 0] == pytest.approx(expected.optimal_values(HORIZON)[0, 0], abs=1e-12)
    if terminal == "absorb":
        assert arrival.optimal_values(HORIZON + 1)[0, 0] == pytest.approx(slow_values(env, HORIZON)[0], abs=1e-12)


@st.composite
def arrival_tables(draw):
    """Random tables whose rewards belong to the state entered; state 0 starts, the last ones are terminal."""
    n, actions = draw(st.integers(2, 5)), draw(st.integers(1, 3))
    ending = draw(st.integers(0, n - 1))
    worth = [0.0] + [draw(st.sampled_from([0.0, 0.25, 1.0])) for _ in range(n - 1)]
    weights = st.lists(st.integers(0, 2), min_size=n, max_size=n).filter(any)

    def row():
        chances = np.array(draw(weights), float)
        return [(p, s, worth[s], s >= n - ending) for s, p in enumerate(chances / chances.sum())]

    return TableEnv({s: {a: row() for a in range(actions)} for s in range(n)}, [1.0] + [0.0] * (n - 1))


@settings(deadline=None, max_examples=30)
@given(arrival_tables(), st.integers(0, 6))
def test_every_translation_of_a_random_table_is_worth_the_same(env, horizon):
    slow = slow_values(env, horizon)[0]
    for unreachable in ("keep", "drop"):
        (expected,) = from_gymnasium(env, unreachable=unreachable)
        assert expected.optimal_values(horizon)[0, 0] == pytest.approx(slow, abs=1e-12)
        (arrival,) = from_gymnasium(env, unreachable=unreachable, rewards="arrival")
        assert arrival.optimal_values(horizon + 1)[0, 0] == pytest.approx(slow, abs=1e-12)
        (mapped,) = from_gymnasium(env, unreachable=unreachable, rewards="arrival", rescale=(-1.0, 3.0))
        assert 4 * mapped.optimal_values(horizon + 1)[0, 0] - (horizon + 1) == pytest.approx(slow, abs=1e-12)
    restarted = from_gymnasium(env, terminal="restart")[0].optimal_values(horizon)[0, 0]
    later = from_gymnasium(env, terminal="restart", rewards="arrival")[0].optimal_values(horizon + 1)[0, 0]
    assert later == pytest.approx(restarted, abs=1e-12)
    assert restarted >= slow - 1e-12


# -- states -----------------------------------------------------------------------------------------------


def test_terminal_states_keep_themselves_whatever_their_row_says():
    (world,) = from_gymnasium(CliffWalkingEnv(), rescale=(-100.0, 0.0))
    assert CliffWalkingEnv().P[47][0][0][1] == 35  # the table goes on from the goal
    assert (world.transitions[47, :, 47] == 1.0).all()
    assert (world.rewards[47] == 1.0).all()  # 0 of [-100, 0]
    assert world.start == 36


def test_arrival_pays_terminal_states_once():
    (world,) = from_gymnasium(FrozenLakeEnv(), rewards="arrival")
    assert world.n_states == 17
    assert world.labels.tolist() == [*range(16), -1]
    assert (world.transitions[[5, 7, 11, 12, 15, 16], :, 16] == 1.0).all()
    assert np.argwhere(world.rewards).tolist() == [[15, a] for a in range(4)]


def test_arrival_without_terminal_states_adds_none():
    env = TableEnv([[[(1.0, 1, 0.5, False)]], [[(1.0, 0, 0.0, False)]]], [1.0, 0.0])
    (world,) = from_gymnasium(env, rewards="arrival")
    assert world.n_states == 2
    assert world.rewards.tolist() == [[0.0], [0.5]]


def test_probabilities_of_one_successor_add_up():
    (world,) = from_gymnasium(FrozenLakeEnv())
    assert world.transitions[0, 0, [0, 4]] == pytest.approx([2 / 3, 1 / 3])


@pytest.mark.parametrize(
    ("env", "n_states"),
    [(FrozenLakeEnv(), 16), (FrozenLakeEnv(desc=LAKE), 12), (CliffWalkingEnv(), 38), (TaxiEnv(), 404)],
)
def test_restart_makes_the_world_communicating(env, n_states):
    (world,) = from_gymnasium(env, terminal="restart", rescale=True)
    assert world.n_states == n_states
    assert world.is_communicating()
    assert not from_gymnasium(env, rescale=True)[0].is_communicating()
    ends = {int(n) for s in living(env) for row in env.P[s].values() for _, n, _, done in row if done}
    for number in np.flatnonzero(np.isin(world.labels, list(ends))):
        assert world.transitions[number] == pytest.approx(np.tile(world.start_distribution, (world.n_actions, 1)))


def test_labels_are_the_original_observations():
    (world,) = from_gymnasium(CliffWalkingEnv(), terminal="restart", rescale=True)
    assert world.labels.tolist() == [*range(37), 47]
    (kept,) = from_gymnasium(CliffWalkingEnv(), terminal="restart", rescale=True, unreachable="keep")
    assert kept.labels.tolist() == list(range(48))
    assert not kept.is_communicating()
    (dropped,) = from_gymnasium(FrozenLakeEnv(desc=WALLED), unreachable="drop")
    assert dropped.labels.tolist() == [0, 1, 2, 4, 5, 6, 8, 9, 10, 11]


def test_taxi_keeps_its_start_distribution():
    env = TaxiEnv()
    (world,) = from_gymnasium(env, terminal="restart", rescale=True)
    assert world.start_distribution == pytest.approx(env.initial_state_distrib[world.labels])


def test_a_state_is_dropped_only_if_no_environment_reaches_it():
    pair = [FrozenLakeEnv(desc=WALLED, is_slippery=slippery) for slippery in (True, False)]
    pair.append(FrozenLakeEnv(desc=LAKE))
    models = from_gymnasium(pair, rewards="arrival", unreachable="drop")
    assert models[0].labels.tolist() == models[2].labels.tolist() == [*range(12), -1]


def test_rows_of_states_that_only_another_environment_reaches_lead_nowhere_new():
    # The second environment enters 2 only through 1, which it cannot reach itself.
    rows = [[[(1.0, 1, 0.0, False)]], [[(1.0, 0, 0.0, False)]], [[(1.0, 2, 0.0, False)]], [[(1.0, 3, 0.0, False)]]]
    other = [[[(1.0, 0, 0.0, False)]], [[(1.0, 2, 0.0, False)]], *rows[2:]]
    start = [1.0, 0.0, 0.0, 0.0]
    models = from_gymnasium([TableEnv(rows, start), TableEnv(other, start)], unreachable="drop")
    assert models[0].labels.tolist() == [0, 1, 2]


def test_flags_in_states_that_no_episode_reaches_do_not_matter():
    # 3 enters the terminal state 2 without ending and the living state 1 with; 4 is closed in itself.
    table = corridor().P | {
        3: {0: [(1.0, 2, 0.0, False)], 1: [(1.0, 1, 0.0, True)]},
        4: {0: [(1.0, 4, 0.0, True)], 1: [(1.0, 0, 0.0, False)]},
    }
    (world,) = from_gymnasium(TableEnv(table, [1.0, 0.0, 0.0, 0.0, 0.0]))
    assert world.transitions[1, 0, 2] == 1.0
    assert (world.transitions[[2, 4], :, [2, 4]] == 1.0).all()


def test_rewards_in_dropped_states_do_not_matter():
    table = corridor().P | {3: {0: [(1.0, 0, 9.0, False)], 1: [(1.0, 0, -9.0, False)]}}
    env = TableEnv(table, [1.0, 0.0, 0.0, 0.0])
    for rewards in ("expected", "arrival"):
        (world,) = from_gymnasium(env, unreachable="drop", rewards=rewards, rescale=True)
        assert sorted(set(world.rewards.ravel())) == [0.0, 1.0]
        with pytest.raises(ValueError, match=r"P\[3\]\[0\] earns 9, outside \[0, 1\]"):
            from_gymnasium(env, unreachable="keep", rewards=rewards)


def test_entries_with_probability_zero_do_not_matter():
    (world,) = from_gymnasium(corridor(s0a0=[(1.0, 1, 0.0, False), (0.0, 2, 9.0, False)]), rewards="arrival")
    assert world.rewards.tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


# -- several environments ---------------------------------------------------------------------------------


def test_lakes_with_different_ice_share_their_rewards_on_arrival():
    models = from_gymnasium(["FrozenLake-v1", FrozenLakeEnv(is_slippery=False)], rewards="arrival", terminal="restart")
    assert len(models) == 2
    assert all(world.is_communicating() for world in models)
    assert models.separation() == pytest.approx(4 / 3)


def test_equal_rewards_may_differ_by_rounding():
    parts = [(p, 0, 0.7, False) for p in (0.7, 0.2, 0.1)]
    one, two, three = (p * reward for p, _, reward, _ in parts)
    assert one + two + three != 0.7
    models = from_gymnasium([TableEnv([[row]], [1.0]) for row in (parts, [(1.0, 0, 0.7, False)])])
    assert models.rewards == pytest.approx(0.7)


def test_rounding_does_not_carry_a_mean_beyond_the_range():
    env = TableEnv([[[(1.0 + 1e-12, 0, 1.0, False)]]], [1.0])
    assert from_gymnasium(env).rewards.tolist() == [[1.0]]


def test_nothing_to_rescale():
    assert from_gymnasium(TableEnv([[[(1.0, 0, 0.0, False)]]], [1.0]), rescale=True).rewards.tolist() == [[0.0]]


def test_the_rescaled_range_is_that_of_all_environments_and_zero():
    one, two = (TableEnv([[[(1.0, 0, reward, False)]]], [1.0]) for reward in (2.0, 2.0))
    assert from_gymnasium([one, two], rescale=True).rewards.tolist() == [[1.0]]
    assert from_gymnasium([one, two], rescale=(-2.0, 6.0)).rewards.tolist() == [[0.5]]


# -- saying no --------------------------------------------------------------------------------------------


def without(name):
    env = corridor()
    delattr(env, name)
    return env


def with_value(name, value, make=corridor):
    env = make()
    setattr(env, name, value)
    return env


@pytest.mark.parametrize(
    ("envs", "message"),
    [
        ([], "envs is empty"),
        (3, "envs[0] is 3, neither a Gymnasium environment nor the id of one"),
        ([corridor(), None], "envs[1] is None, neither a Gymnasium environment"),
        ("Nonsense-v0", "envs[0] is 'Nonsense-v0', which Gymnasium cannot make: "),
        ("no_such_module:Lake-v0", "envs[0] is 'no_such_module:Lake-v0', which Gymnasium cannot make: "),
        ("CartPole-v1", "envs[0] (CartPole-v1) has the observation_space Box("),
        (with_value("action_space", Box(0, 1)), "envs[0] (TableEnv) has the action_space Box("),
        (with_value("observation_space", Discrete(3, start=1)), "not a Discrete one that begins at 0"),
        (without("P"), "envs[0] (TableEnv) has no transition table P: env.unwrapped.P is missing"),
        (without("initial_state_distrib"), "has no start distribution: env.unwrapped.initial_state_distrib is missing"),
        (with_value("fickle_passenger", True, TaxiEnv), "envs[0] (TaxiEnv) has a fickle passenger"),
        (with_value("initial_state_distrib", [1.0]), "initial_state_distrib must have shape (3,), not (1,)"),
        (with_value("initial_state_distrib", [0.5, 0.2, 0.0]), "initial_state_distrib sums to 0.7, not 1"),
        (with_value("initial_state_distrib", [1.5, -0.5, 0.0]), "initial_state_distrib[1] is -0.5, negative"),
        (with_value("P", {0: {0: [(1.0, 0, 0.0, False)]}}), "envs[0] (TableEnv): P[0][1] is missing or empty"),
        (corridor(s1a0=[]), "P[1][0] is missing or empty"),
        (corridor(s1a0=[(0.5, 2, 1.0, True)]), "the probabilities of P[1][0] sum to 0.5, not 1"),
        (corridor(s1a0=[(2.0, 2, 1.0, True), (-1.0, 0, 0.0, False)]), "P[1][0] holds (-1.0, 0, 0.0, False), not"),
        (corridor(s1a0=[(float("nan"), 2, 1.0, True)]), "P[1][0] holds (nan, 2, 1.0, True), not"),
        (corridor(s1a0=[(1.0, 3, 1.0, True)]), "P[1][0] holds (1.0, 3, 1.0, True), not"),
        (corridor(s1a0=[(1.0, 1.5, 1.0, True)]), "P[1][0] holds (1.0, 1.5, 1.0, True), not"),
        (corridor(s1a0=[(1.0, 2, float("inf"), True)]), "P[1][0] holds (1.0, 2, inf, True), not"),
        (corridor(s1a0=[(1.0, 2, 1.0)]), "holds (1.0, 2, 1.0), not (probability, next_state, reward, terminated)"),
        (corridor(s0a1=[(1.0, 2, 0.0, False)]), "entering state 2 by P[1][0] ends the episode, but not by P[0][1]"),
        (corridor(s0a1=[(1.0, 0, 0.0, True)]), "entering state 0 by P[0][1] ends the episode, but not at the start"),
        (corridor(s1a0=[(1.0, 2, 3.0, True)]), "P[1][0] earns 3, outside [0, 1]; pass rescale=True"),
        ([corridor(), CliffWalkingEnv()], "envs[1] (CliffWalkingEnv) has 48 states and 4 actions, envs[0] (TableEnv)"),
    ],
)
def test_bad_environments(envs, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_gymnasium(envs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"terminal": "absorbing"},
            "terminal must be one of 'absorb', 'end', 'restart', not 'absorbing'; did you mean",
        ),
        ({"rewards": "mean"}, "rewards must be one of 'expected', 'arrival', not 'mean'"),
        ({"unreachable": "remove"}, "unreachable must be one of 'keep', 'drop', not 'remove'"),
        ({"rescale": 2.0}, "rescale must be True, False or (low, high), not 2.0"),
        ({"rescale": (0.0, 1.0, 2.0)}, "rescale must be True, False or (low, high)"),
        ({"rescale": (0.0, float("inf"))}, "rescale[1] must be finite"),
        ({"rescale": (0.5, 2.0)}, "rescale is (0.5, 2); it needs low <= 0 <= high"),
        ({"rescale": (0.0, 0.0)}, "rescale is (0, 0); it needs low <= 0 <= high"),
        ({"rescale": (-1.0, 0.5)}, "envs[0] (TableEnv): P[1][0] earns 1, outside [-1, 0.5]"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_gymnasium(corridor(), **options)


def test_different_expected_rewards_point_to_arrival():
    lakes = [FrozenLakeEnv(is_slippery=True), FrozenLakeEnv(is_slippery=False)]
    message = (
        r"envs\[1\] \(FrozenLakeEnv\) has the expected reward 0 in P\[14\]\[1\], envs\[0\] .* has 0.333333; .*arrival"
    )
    with pytest.raises(ValueError, match=message):
        from_gymnasium(lakes)


@pytest.mark.parametrize(
    ("envs", "message"),
    [
        (CliffWalkingEnv(), "entering state 36 earns 0 at the start of envs[0] (CliffWalkingEnv) and -1 by P[24][2]"),
        (
            [corridor(), corridor(s1a0=[(1.0, 2, 0.5, True)])],
            "entering state 2 earns 1 by P[1][0] of envs[0] (TableEnv) and 0.5 by P[1][0] of envs[1] (TableEnv)",
        ),
        (corridor(s1a1=[(1.0, 1, 0.5, False)]), "entering state 1 earns 0 by P[0][0] of envs[0] (TableEnv) and 0.5"),
    ],
)
def test_arrival_needs_one_reward_for_each_state(envs, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        from_gymnasium(envs, rewards="arrival", rescale=True)

"""What the page on agents, and that on contests, compute exactly."""

from functools import cache
from itertools import product

import numpy as np

import aomultirl as ao
from aomultirl import theory
from aomultirl.experiments.paper import FAILURE, SEPARATION
from aomultirl.experiments.suites import drift, entrants
from beds.learners import QLearning
from experiments.test_contests import FAILING, HOLDING
from stated.checks import states
from stated.computed import EXPERIMENT, cases, grids
from stated.on_recall import visits_until_the_bonus_says_something

AGENTS, CONTESTS = "docs/agents.md", "docs/contests.md"
KNOWN = {
    "`gridworld()`, H = 200": (grids, 200),
    "`rare_pair()`, H = 500": (ao.worlds.rare_pair, 500),
    "`permuted_cliffs()`, H = 100, in rewards of [0, 1]": (ao.worlds.permuted_cliffs, 100),
    "`doors()`, H = 10": (ao.worlds.doors, 10),
}
PLANNERS = theory.mean_value_problem, theory.weight_select_update, theory.coordinate_ascent


@cache
def without_memory(world, horizon):
    """Rewards of an episode, exact and in the mean over the worlds: at random, of the planners, and of ``Optimal``."""
    models = world()
    uniform = np.full((models.n_states, models.n_actions), 1.0 / models.n_actions)
    at_random = np.mean([world.start_distribution @ world.policy_values(uniform, horizon)[0] for world in models])
    best = np.mean([world.start_distribution @ world.first_values(horizon) for world in models])
    return [at_random, *(planner(models, horizon).value for planner in PLANNERS), best]


for words, (world, horizon) in KNOWN.items():
    states(AGENTS, f"| {words} | {{}} | {{}} | {{}} | {{}} | {{}} |")(
        lambda world=world, horizon=horizon: without_memory(world, horizon)
    )


@states(AGENTS, "one policy for all of them earns {} % of what is earned by whoever is told the grid")
def one_policy():
    *_, found, best = without_memory(grids, 200)
    return [100.0 * found / best]


@states(
    AGENTS,
    "In {} random sets of three worlds with {} states, two actions and four steps, where all {} policies can be "
    "tried, mean value finds the best one in {}, weight, select, update in {} and CADP in {}.",
)
def best_of_all_policies():
    sets, horizon, n_states, n_actions = 60, 4, 3, 2
    size = horizon * n_states
    every = np.array(list(product(range(n_actions), repeat=size))).reshape(-1, horizon, n_states)
    found = np.zeros(len(PLANNERS), int)
    for seed in range(sets):
        models = ao.worlds.random_models(n_states, n_actions, 3, 2, 0.5, rng=seed)
        best = np.mean([worth_of_all(world, every) for world in models], axis=0).max()
        found += [planner(models, horizon).value >= best * (1.0 - 1e-9) for planner in PLANNERS]
    return sets, n_states, len(every), *found


def worth_of_all(world, policies):
    """What each policy, (n, H, S), earns in a world."""
    rows = world.sparse_transitions.toarray().reshape(world.n_states, world.n_actions, world.n_states)
    values = np.zeros((len(policies), world.n_states))
    for h in reversed(range(policies.shape[1])):
        q = world.gains + np.einsum("sat,nt->nsa", rows, values)
        values = np.take_along_axis(q, policies[:, h, :, None], axis=2)[..., 0]
    return values @ world.start_distribution


@states(AGENTS, "it exceeds the horizon until a pair has been visited some {} times")
def visits():
    return visits_until_the_bonus_says_something()


@states(AGENTS, "is {} visits of each of {} pairs, {} steps at the least")
def visits_of_concurrent_pac_rl():
    agent = ao.agents.ConcurrentPACRL(SEPARATION, FAILURE, 10**6)
    pairs = grids().n_states * grids().n_actions
    agent.begin(ao.agents.Setting(grids().n_states, grids().n_actions, grids().rewards, EXPERIMENT.episodes))
    return agent.findings()["samples"], pairs, pairs * agent.findings()["samples"]


@states(CONTESTS, "with {} samples of each pair of Γ")
def samples_of_a_pair():
    return [entrants.enough_samples(SEPARATION)]


@states(
    CONTESTS,
    "Its bound is below K H where a world drifts slowly ({} times) and above it where tasks alternate ({} times)",
)
def bounds_of_restart_q():
    return drift.bound_share(drift.DRIFTING), drift.bound_share(drift.ALTERNATING)


@states(CONTESTS, "{} of the {} claims of the suite hold, and the one on GOSPRL fails.")
def claims_of_the_hard_suite():
    """As the long test of the contests has them."""
    return len(HOLDING["hard"]), len(HOLDING["hard"]) + len(FAILING["hard"])


@states(CONTESTS, "H = 1,000 to 6,000, {} or {} episodes, three runs")
def episodes_of_the_hard_suite():
    return sorted({case.episodes for case in cases("hard")})


@states(CONTESTS, "H = 6, {} episodes, five runs")
def episodes_of_the_drifting_suite():
    return [drift.EPISODES]


@states(CONTESTS, "two in blocks of {} |")
def blocks():
    return [drift.LENGTHS[drift.BLOCKS]]


@states("docs/test_beds.md", "plain Q-learning (epsilon {}, discount {},")
def q_learning_of_the_beds():
    return QLearning.EPSILON, QLearning.DISCOUNT

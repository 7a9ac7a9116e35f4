"""What the page on agents, and that on contests, compute exactly."""

from functools import cache

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


@states(AGENTS, "one policy for all four earns {} % of what is earned by whoever is told the grid")
def one_policy():
    *_, found, best = without_memory(grids, 200)
    return [100.0 * found / best]


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

"""What the pages on worlds and geometry state."""

import inspect
from functools import cache
from importlib.util import find_spec

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import theory
from aomultirl.analysis import inspection
from aomultirl.experiments import suites
from aomultirl.experiments.paper import HITTING_TIME
from aomultirl.experiments.suites.large import PATIENT_STEPS
from aomultirl.geometry import reachability
from aomultirl.model_set import BELOW_SEPARATION
from aomultirl.worlds.gridworld import STATE_BYTES
from aomultirl.worlds.icu_sepsis import WORLD_BYTES as POPULATION_BYTES
from aomultirl.worlds.jao import PAIR_BYTES
from aomultirl.worlds.jao_tree import TABLE_BYTES
from aomultirl.worlds.jao_tree import WORLD_BYTES as TREE_BYTES
from aomultirl.worlds.permuted_cliffs import REWARD_RANGE as CLIFF_RANGE
from aomultirl.worlds.random_models import ONCE_BYTES
from aomultirl.worlds.random_models import WORLD_BYTES as TRANSITION_BYTES
from aomultirl.worlds.swapped_taxis import REWARD_RANGE as TAXI_RANGE
from stated.checks import states
from stated.computed import grids, hitting_time

WORLDS, GEOMETRY = "docs/worlds.md", "docs/geometry.md"
RANDOM_SETS = 200
"""Of lakes, with the seeds from 0."""
REPORTED = [suites.SETS_A_SEED * suites.FIRST_SEEDS["short"]["reporting"] + run for run in range(10)]
"""Seeds of the ten random sets that are reported."""


@states(WORLDS, "[0, m1.start]  # {}, exact")
def value_of_the_grid():
    return [grids()[0].optimal_values(200)[0, grids()[0].start]]


@states(WORLDS, "models.separation()  # {}")
def separation_of_the_grids():
    return [grids().separation()]


@states(WORLDS, "every wrong action is paid {} at once")
def pay_of_a_wrong_action():
    (rewards,) = {float(reward) for reward in ao.worlds.diabolical_locks()[0].rewards.ravel() if 0.0 < reward < 0.1}
    return [rewards]


@cache
def lakes():
    """What can be earned on each random set of three maps by who is told nothing, as a share of the optimum."""
    sets = [ao.worlds.frozen_lakes(seed=seed) for seed in range(RANDOM_SETS)]
    return np.array([theory.told_nothing_optimum(models, 100).share for models in sets])


@states(WORLDS, "| where the holes are, on three random maps of 8 x 8 cells | {} | {}, mean of {} sets | |", long=True)
def lakes_without_slip():
    return 1.0, lakes().mean(), len(lakes())


@states(WORLDS, "in {} of {} random sets of three maps one life in three must be lost, and in {} sets {},", long=True)
def lives_that_must_be_lost():
    one, two = (np.isclose(lakes(), share) for share in (2 / 3, 1 / 3))
    return one.sum(), len(lakes()), two.sum(), 3 - 3 * lakes()[two].mean()


@states(WORLDS, "With {} % holes a map")
def holes():
    return [100.0 * (1.0 - inspect.signature(ao.worlds.frozen_lakes).parameters["frozen"].default)]


@states(WORLDS, "| the same | {}, mean of the ten sets that suites report |")
def slippery_lakes():
    sets = [ao.worlds.frozen_lakes(slippery=True, seed=seed) for seed in REPORTED]
    return [np.mean([world.first_values(100)[world.start] for models in sets for world in models])]


def in_own_units(told, reward_range, horizon):
    low, high = reward_range
    return (high - low) * told + horizon * low


@states(WORLDS, "| which action goes which way | {} a walk | {} | {} |", within=0.03)
def cliffs():
    models = ao.worlds.permuted_cliffs()
    told = theory.told_nothing_optimum(models, 100)
    sets = [theory.qmdp_reward(ao.worlds.permuted_cliffs(seed=seed), 100, episodes=400).reward for seed in REPORTED]
    return [in_own_units(value, CLIFF_RANGE, 100) for value in (told.optimum, told.reward, np.mean(sets))]


@states(WORLDS, "| which moves are swapped | {} a passenger | {} |")
def taxis():
    told = theory.told_nothing_optimum(ao.worlds.swapped_taxis(), 200)
    return [in_own_units(value, TAXI_RANGE, 200) for value in (told.optimum, told.reward)]


@cache
def populations(strength):
    """Four, of which an episode is one patient, so that values are probabilities of survival."""
    if find_spec("icu_sepsis") is None:
        pytest.skip("needs the package icu-sepsis")
    return ao.worlds.icu_sepsis(4, strength, terminal="end")


@states(WORLDS, "is the public benchmark: {} states, {} doses")
def sizes_of_the_ward():
    models = populations(0.75)
    return models.n_states, models.n_actions


@cache
def survival(strength):
    """Separation, and survival in the mean over the others than the first."""
    models = populations(strength)
    best = [world.start_distribution @ world.first_values(PATIENT_STEPS) for world in models[1:]]
    plan = models[0].optimal_policy(PATIENT_STEPS)
    treated = [world.start_distribution @ world.policy_values(plan, PATIENT_STEPS)[0] for world in models[1:]]
    return models.separation(), np.mean(best), np.mean(treated)


for strength in (0.25, 0.5, 0.75, 1.0):  # each takes a second
    states(WORLDS, f"| strength {strength} | {{}} | {{}} | {{}} |", long=strength != 0.75)(
        lambda strength=strength: survival(strength)
    )


@states(WORLDS, "Four populations, seed 0, {} steps:")
def steps_of_a_patient():
    return [PATIENT_STEPS]


@states(GEOMETRY, "‖<sub>1</sub>, between {} and {}.")
def range_of_the_separation():
    """Two worlds that agree everywhere, and two that are as far apart as can be."""
    worlds = [ao.MDP([[{0: 1.0}], [{state: 1.0}]], [[0.0], [1.0]]) for state in (0, 0, 1)]
    return ao.ModelSet(worlds[:2]).separation(), ao.ModelSet(worlds[1:]).separation()


@states(GEOMETRY, "and the default level lies {} below the separation, because {} is not a binary fraction")
def the_default_level():
    return BELOW_SEPARATION, grids().separation()


@states(GEOMETRY, "on the paper's own 4 x 4 grid it is {} (the paper says {}), and infinite")
def hitting_times():
    return hitting_time(), HITTING_TIME


@states(GEOMETRY, "beyond some {} steps rounding hides")
def comparable():
    return [reachability.COMPARABLE]


@states(GEOMETRY, "`aomultirl inspect` gives each {} seconds for the whole set")
def seconds_of_inspection():
    return [inspection.TIME_LIMIT]


@states(
    WORLDS,
    "The estimates: `gridworld` {} KB a state, `jao` and its kin {} bytes a pair and world, `two_jao_tree` {} bytes a "
    "pair and {} more a world, `random_models` {} bytes a transition and {} more a world, `icu_sepsis` {} MB a "
    "population.",
)
def memory_of_worlds():
    tree, transitions = (TABLE_BYTES, TREE_BYTES), (ONCE_BYTES, TRANSITION_BYTES)
    return STATE_BYTES / 1e3, PAIR_BYTES, *tree, *transitions, POPULATION_BYTES / 1e6

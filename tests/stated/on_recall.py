"""What the page on recognising worlds states: constants of the library, and what other pages measured."""

import inspect
import math
import re

import numpy as np

import aomultirl as ao
from aomultirl import theory
from aomultirl.agents import recall_memory, rereading, verdicts
from aomultirl.cli import comparing
from aomultirl.experiments.paper import FAILURE, HORIZON
from aomultirl.learning import (
    alpha_vectors,
    beliefs,
    episode_affinity,
    novelty,
    optimism,
    planning_counts,
    practical,
    reward_levels,
    row_likelihoods,
    row_parents,
)
from stated.checks import states
from stated.computed import EXPERIMENT, clustering_horizon, grids, kept, row

RECALL = "docs/recall.md"


def default(maker, name):
    return inspect.signature(maker).parameters[name].default


def discount(steps):
    return 1.0 - 1.0 / steps


def visits_until_the_bonus_says_something():
    sizes = {"states": grids().n_states, "actions": grids().n_actions, "models": len(grids())}
    lengths = {"episodes": EXPERIMENT.episodes, "horizon": HORIZON, "learning_horizon": HORIZON}
    return [theory.visits_until_informative(**sizes, **lengths, failure=FAILURE)]


def samples_of_a_new_world():
    """N0 h², in doubt and with M known, as the formula of the agent has them."""
    source = inspect.getsource(ao.agents.SequentialAOMultiRL)
    (numbers,) = re.findall(r"\((\d+\.\d+) if self.n_models is None else (\d+\.\d+)\)", source)
    return [float(number) for number in numbers]


CONSTANTS = {
    "before it acts, {} to {} on its own grids": lambda: [clustering_horizon("released"), clustering_horizon("paper")],
    "or at least `resolution` ({}) apart": lambda: [default(ao.agents.Recall, "resolution")],
    "visits each pair N0 = {}/h² times, h = λ/2 ({}/h² with M known)": samples_of_a_new_world,
    "are held impossible, down to {}:": lambda: [row_likelihoods.LEAST_REACH],
    "where rows are wide (more than {} successors) and actions alike": lambda: [row_likelihoods.LEAST_REACH],
    "in all worlds together, worth {} to {} visits": lambda: [row_parents.TRUSTS[0], row_parents.TRUSTS[-1]],
    "as long as a task has paid at most {} different ones": lambda: [reward_levels.MOST_LEVELS],
    "after {} visits of a pair only some of its steps are noted": lambda: [beliefs.PATIENCE],
    "After each, {} past ones are drawn again": lambda: [rereading.REREAD],
    "how alike all pairs of up to {} episodes are": lambda: [episode_affinity.MOST_COMPARED],
    "so up to {} episodes that were hardly surer of their world than of another (below {})": (
        lambda: [rereading.GATHERED, rereading.UNSURE]
    ),
    "only where that gains {} nats for each episode of the smaller one": lambda: [rereading.MARGIN],
    "The {}, the {} and the {} rounds of choosing were set once.": (
        lambda: [rereading.UNSURE, rereading.GATHERED, rereading.GATHERINGS]
    ),
    "At most {} episodes and {} million entries are kept": (
        lambda: [rereading.MOST_PAST, rereading.MOST_ENTRIES / 1e6]
    ),
    "of more than {} the oldest of each world are put together": lambda: [rereading.MOST_PAST],
    "Where a world is almost certain ({}), its plan alone.": lambda: [beliefs.SINGLE],
    "a sweep of at most {} multiplications": lambda: [alpha_vectors.MOST_WORK],
    "passes 1 / level, with a level of {} (": lambda: [novelty.LEVEL],
    "at most one in {} is called new": lambda: [1.0 / novelty.LEVEL],
    "was left by other actions {} (1 + odds) times": lambda: [planning_counts.PASSES],
    "takes one entry for every world, up to {}:": lambda: [rereading.MOST_WORLDS],
    "when the rows that make up {} % of its steps are certified": lambda: [100.0 * verdicts.COVER],
    "those that the agent was {} % sure of when they were over": lambda: [100.0 * recall_memory.RESOLVED],
    "exceeds H until a pair has been visited some {} times": visits_until_the_bonus_says_something,
    "l = {} ln(1 + steps left / ({} n)),": (
        lambda: [default(ao.learning.Practical, "level"), default(ao.learning.Practical, "pace")]
    ),
    "where g looks {} of the episode ahead, at least {} steps ({}) and at most {} ({}),": lambda: [
        1.0 / practical.EPISODE_PARTS,
        practical.LEAST_AHEAD,
        discount(practical.LEAST_AHEAD),
        practical.MOST_AHEAD,
        discount(practical.MOST_AHEAD),
    ],
    "Where L is more than {}, actions differ": lambda: [optimism.LEANING],
    "sqrt(ln(1 + steps left / ({} (n + L))) / (n + L))": lambda: [default(ao.learning.Practical, "pace")],
}
for piece, values in CONSTANTS.items():
    states(RECALL, piece)(values)


@states(RECALL, "In a short episode even {} steps are too many.", within=0.05)
def steps_without_the_set():
    return row(RECALL, "| λ", after="| grid of the text | Γ of 3, λ |")[0][:1]


@states(RECALL, '[history["certified"]].mean()  # about {}', within=0.03)
def steps_with_the_set():
    return row(RECALL, "grid of the text | Γ of 3, λ")[0][:1]


@states(RECALL, "earned.sum() / sum(best)  # about {}", within=0.01)
def what_recall_earns():
    return [np.mean(kept("reward", "grid, third", "Recall", "H = 500")) / 100.0]


@states(RECALL, "gains {} nats for each episode of the smaller one, half of")
def margin():
    return [math.log(2.0)]


@states(RECALL, "What all this earns, with {} runs a row")
def runs_of_a_row():
    return [comparing.RUNS]

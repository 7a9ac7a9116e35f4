"""What a run of 200 episodes of 200 steps costs on the paper's grid: every peer, warm, in seconds of CPU.

`python tests/agents/test_speed.py` prints what each takes.
"""

import sys
import time
import warnings

import pytest

import aomultirl as ao
from aomultirl import descriptions, plugins
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import FORMS, Contest, enough_samples
from aomultirl.experiments.suites.players import RECALL
from aomultirl.experiments.suites.scenes import world

HORIZON, EPISODES = 200, 200
MOST = 2.0
"""Seconds of CPU that a run may take."""
TURNS = 5
"""A run that takes longer is tried again, so often in all: the machine may be busy, and nothing makes a run shorter."""
GRID = ao.worlds.gridworld()
CONTEST = Contest(
    HORIZON,
    EPISODES,
    enough_samples(1.3),
    clustering_horizon=150,
    pairs=GRID.n_states * GRID.n_actions,
    variation=1.3 * HORIZON * EPISODES,
    epochs=20.0,
)
ENTRANTS = {
    case.told: case
    for case in Place("grid", world("gridworld"), stream("uniform"), CONTEST).cases()
    if case.told != RECALL  # which is no peer, and reads its past again
}
DEFAULTS = [(name, form) for name in sorted(plugins.makers("learner")) for form in FORMS]
"""Learners with the constants of their proofs."""
DEMANDING = {
    "LRMax, m = 1": lambda: ao.agents.LRMax(HORIZON, failure=0.1, learner=ao.learning.RMax(1)),
    "ConcurrentPACRL, m_e = 1": lambda: ao.agents.ConcurrentPACRL(1.3, 0.1, HORIZON, samples=1),
    "FiniteModelRL, radius_scale = 0.2": lambda: ao.agents.FiniteModelRL(4, 1.3, 0.1, HORIZON, radius_scale=0.2),
    "ForcedExploration, radius_scale = 0.2": lambda: ao.agents.ForcedExploration(0.1, HORIZON, 1.3, radius_scale=0.2),
    "MixtureOfMDPs, unknown rewards": lambda: ao.agents.MixtureOfMDPs(HORIZON, rewards="unknown"),
}
"""Parameters with which an agent plans or compares more often than with those of the contests."""


def seconds(make) -> float:
    """CPU time of one run of a new agent."""
    agent = make()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # agents say that such episodes are too short for them
        began = time.process_time()
        ao.run(agent, GRID, ao.streams.uniform(), EPISODES, seed=3)
        return time.process_time() - began


def entrant(label):
    """What makes the agent of a row."""
    return lambda: descriptions.make(ENTRANTS[label].cell(0, 0).agent, "agent")


def default(name, form):
    """What makes a learner with its default parameters, alone, pooled or told."""
    maker = getattr(ao.agents, FORMS[form])
    return lambda: maker(getattr(ao.learning, name)(), HORIZON, failure=0.1)


def least(make, most):
    """The shortest of some runs, warm; the first that takes at most ``most`` will do."""
    seconds(make)  # compiles
    shortest = seconds(make)
    for _ in range(TURNS - 1):
        if shortest <= most:
            break
        shortest = min(shortest, seconds(make))
    return shortest


@pytest.mark.long
@pytest.mark.parametrize("label", ENTRANTS)
def test_a_peer_takes_less_than_two_seconds(label):
    assert (EPISODES, HORIZON, MOST) == (200, 200, 2.0)
    assert least(entrant(label), MOST) <= MOST


@pytest.mark.long
@pytest.mark.parametrize(("name", "form"), DEFAULTS)
def test_a_learner_with_its_own_constants_takes_less_than_two_seconds(name, form):
    assert least(default(name, form), MOST) <= MOST


@pytest.mark.long
@pytest.mark.parametrize("label", DEMANDING)
def test_demanding_parameters_take_less_than_two_seconds(label):
    assert least(DEMANDING[label], MOST) <= MOST


def test_the_exact_planner_of_lucrl_says_what_it_costs():
    agent = ao.agents.LUCRL(4, HORIZON, failure=0.1, planner="exact")
    with pytest.raises(ValueError, match=r"looks at up to \(S A\)\^\(H - 1\) = 64\^199 histories of 4 contexts"):
        ao.run(agent, GRID, ao.streams.uniform(), 1)


def main() -> None:
    """Print the seconds of everybody; words on the command line choose by name."""
    rows = {label: entrant(label) for label in ENTRANTS}
    rows |= {f"{name}(), {form}": default(name, form) for name, form in DEFAULTS}
    rows |= DEMANDING
    for label, make in rows.items():
        if not sys.argv[1:] or any(word in label for word in sys.argv[1:]):
            print(f"{label:36}{least(make, MOST):7.2f}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()

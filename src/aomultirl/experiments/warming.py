"""Compile ahead what runs need: every agent, learner and explorer plays a little in small worlds of every kind.

Machine code is made for the types of arrays and records.  These depend on the agent and on what it meets, and not on
the sizes of worlds or the lengths of episodes; so whoever has played here compiles nothing later, or hardly anything.
What is compiled in rare cases only may still be missing.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from aomultirl import checks, descriptions, theory
from aomultirl.engine import announcing
from aomultirl.engine.compiling import compiled_so_far
from aomultirl.engine.counts import CountTable
from aomultirl.experiments.cells import make_world
from aomultirl.experiments.executors import Executor
from aomultirl.experiments.interaction import interact
from aomultirl.experiments.judge import RECORDED
from aomultirl.experiments.suites.cases import SuiteCase
from aomultirl.experiments.suites.contests import Place, stream
from aomultirl.experiments.suites.entrants import Contest
from aomultirl.experiments.suites.scenes import world
from aomultirl.geometry.reachability import hitting_time_is_finite
from aomultirl.offline import cluster
from aomultirl.worlds.environment import WorldEnv

GRID = Contest(horizon=300, episodes=16, samples=6, clustering_horizon=200, pairs=36)
LIVES = Contest(horizon=60, episodes=60, rewards="unknown")
ARMS = Contest(6, 40, 1, 3, 4, variation=4.0, epochs=2.0, bandits=2)
PLACES = (
    Place("a grid", world("gridworld", size=3, edges="stay"), stream("round_robin"), GRID),
    Place("a grid, unknown rewards", world("gridworld", size=3), stream("uniform"), GRID._replace(rewards="unknown")),
    Place("lives", world("frozen_lakes", size=4, slippery=True), stream("uniform"), LIVES),
    Place("doors", world("doors"), stream("uniform"), LIVES._replace(horizon=6, rewards="known")),
    Place("arms", world("bandits", means=[[0.9, 0.1], [0.1, 0.9]]), stream("blocks", length=10), ARMS),
)
"""Worlds with ends and without, of many successors and of few, with rewards that are known and that are not."""
OUTSIDE = (PLACES[0], PLACES[2])
"""The places that are also met step by step, as environments."""
LONG = 10**6
"""Steps of a horizon that is too long for a table of all of them."""
STEPWISE = 3
"""Episodes there."""
LOGS, LOG_STEPS = 12, 60
"""Trajectories that are grouped, and the steps of each."""


@dataclass(frozen=True)
class Job:
    """Something small that compiles what larger things of its kind need.

    name
        who plays where.
    work
        does it; what it returns nobody looks at.
    """

    name: str
    work: Callable[[], Any]


class Warmed(NamedTuple):
    """What a job compiled.

    name
        of the job.
    kernels
        how many were compiled, each for one set of types.
    error
        what went wrong, in a line; None where nothing did.
    """

    name: str
    kernels: int
    error: str | None = None


def jobs(only: Sequence[str] = ()) -> list[Job]:
    """What there is to do: everybody in every place, step by step in one of them, and what is done without an agent.

    Parameters
    ----------
    only
        words, of which one must be in the name of a job.
    """
    found = [job for job in _all_jobs() if not only or any(word.lower() in job.name.lower() for word in only)]
    if not found:
        raise checks.Refusal("only", f"is {', '.join(map(checks.shown, only))}, which names nobody; see aomultirl list")
    return found


def _all_jobs() -> list[Job]:
    rows = [case for place in PLACES for case in place.cases()]
    return [
        *(Job(f"{case.told} in {case.place}", partial(_play, case)) for case in rows),
        *(
            Job(f"{case.told} in {place.name}, step by step", partial(_step, place, case))
            for place in OUTSIDE
            for case in place.cases()
        ),
        *(Job(f"geometry of {place.name}", partial(_measure, place.world)) for place in PLACES),
        Job("planners that know the worlds", _plan),
        Job("logs", _group_logs),
    ]


def warm(executor: Executor, chosen: list[Job]) -> Generator[Warmed, None, None]:
    """Do these jobs; nothing is announced, because whoever calls this knows it."""
    yield from executor.map(_done, chosen, _lost)


def _done(job: Job) -> Warmed:
    announcing.hush()
    before = compiled_so_far().kernels
    try:
        job.work()
    except Exception as error:
        return Warmed(job.name, compiled_so_far().kernels - before, f"{type(error).__name__}: {error}")
    return Warmed(job.name, compiled_so_far().kernels - before)


def _lost(job: Job, why: str) -> Warmed:
    return Warmed(job.name, 0, why)


def _play(case: SuiteCase) -> None:
    """In the simulator, with all that may be recorded of it."""
    replace(case.cell(0, 0), record=RECORDED).run()


def _step(place: Place, case: SuiteCase) -> None:
    """As with somebody's environment."""
    agent, models = descriptions.make(case.cell(0, 0).agent, "agent"), make_world(case.world)
    if not agent.told:
        known = models.rewards if place.contest.rewards == "known" else None
        interact(agent, WorldEnv(models[0]), STEPWISE, case.horizon, rewards=known)


def _measure(described: dict[str, Any]) -> None:
    """What ``aomultirl inspect`` and specifications ask of worlds."""
    models = make_world(described)
    models.separation_everywhere()
    for one in models:
        one.first_values(LONG)
        one.diameter()
        one.hitting_time()
        hitting_time_is_finite(one.successors, one.n_states)
    CountTable(models.n_states * models.n_actions).count(0, 0, 1)


def _plan() -> None:
    doors, grid = make_world(world("doors")), make_world(world("gridworld", size=3))
    theory.told_nothing_optimum(make_world(world("frozen_lakes", size=4)), 10)
    for models, horizon in ((doors, 4), (grid, 20)):
        theory.qmdp_reward(models, horizon, 4)
        theory.likeliest_world_reward(models, horizon, 4)


def _group_logs() -> None:
    """Walks at random in two worlds, half of them in each."""
    rng, models = np.random.default_rng(0), make_world(world("gridworld", size=3))
    logs = []
    for number in range(LOGS):
        one, state, steps = models[number % 2], 0, []
        for action in rng.integers(models.n_actions, size=LOG_STEPS):
            successor = int(rng.choice(models.n_states, p=one.transitions[state, action]))
            steps.append((state, action, successor, one.rewards[state, action]))
            state = successor
        logs.append(np.array(steps))
    cluster(logs, n_states=models.n_states, n_actions=models.n_actions)

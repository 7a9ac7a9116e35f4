"""What measures one cost at one size: planning, memory, a step of ``Recall``, an episode of it."""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from aomultirl import streams
from aomultirl.agents import Recall
from aomultirl.engine import planning as engine
from aomultirl.engine.stepping import Outcome, Phase, Simulator
from aomultirl.experiments.episodes import EpisodeLoop, begin_in, play
from aomultirl.experiments.runner import SimulatedRun
from aomultirl.model_set import ModelSet
from aomultirl.worlds import gridworld, random_models

STATES, ACTIONS, SUCCESSORS, HORIZON = 4_000, 4, 5, 20
"""Sizes that do not grow where another does, in planning."""
LEAST_SECONDS, CALLS = 0.02, 3
"""How long a timed call takes at least, by repeating it, and of how many calls a sample is the best."""
FEW_STATES, FEW_MODELS = 64, 4
"""Sizes that do not grow where another does, in steps of ``Recall``."""
STEPS = 20_000
"""Steps of an episode of which the second half is timed: its worlds are ruled out then."""
FAILURE = 0.05
"""The agent's p."""
REMEMBERED, TIMED = 50, 20
"""Episodes of ``Recall`` that are over before some are timed, where their length grows; and the episodes timed."""
EPISODE_STEPS = 100
"""H, where the number of episodes grows."""
MEMORY_STEPS = 2_000
"""Steps of the episode of which the memory is counted."""


def planning(
    states: int = STATES, actions: int = ACTIONS, successors: int = SUCCESSORS, horizon: int = HORIZON
) -> Callable[[], float]:
    """CPU seconds of backward induction."""
    world = random_models(states=states, actions=actions, models=1, successors=successors)[0]
    tables, gains = world.planning_tables, np.ascontiguousarray(world.rewards)
    repeats = 1
    while _seconds(lambda: engine.backward_induction(tables, gains, horizon), repeats) * repeats < LEAST_SECONDS:
        repeats *= 2
    return lambda: min(
        _seconds(lambda: engine.backward_induction(tables, gains, horizon), repeats) for _ in range(CALLS)
    )


def _seconds(work: Callable[[], Any], repeats: int) -> float:
    """CPU seconds of a call."""
    begin = time.process_time()
    for _ in range(repeats):
        work()
    return (time.process_time() - begin) / repeats


def world_memory(states: int) -> Callable[[], float]:
    """Bytes at most, while a world is built, its tables for planning and stepping are made, and it is planned in."""

    def work() -> None:
        world = random_models(states=states, actions=ACTIONS, models=1, successors=SUCCESSORS)[0]
        assert len(world.alias_tables.heads)
        world.first_values(HORIZON)

    return lambda: _most_bytes(work)


def recall_memory(states: int) -> Callable[[], float]:
    """Bytes at most that are added by two episodes of ``Recall``, one to learn and one to remember."""
    models = random_models(states=states, actions=ACTIONS, models=1, successors=SUCCESSORS)
    assert len(models[0].alias_tables.heads)  # made before anything is counted

    def work() -> None:
        run = SimulatedRun(Recall(FAILURE, horizon=MEMORY_STEPS), models, streams.uniform(), 2, record=())
        run.begin()
        run.step()
        run.step()

    return lambda: _most_bytes(work)


def _most_bytes(work: Callable[[], Any]) -> float:
    """The largest memory that Python and NumPy had beside what they had before."""
    work()  # compiled, and what is kept for good is there
    tracemalloc.start()
    try:
        work()
        return float(tracemalloc.get_traced_memory()[1])
    finally:
        tracemalloc.stop()


class _TimedSimulator(Simulator):
    """Notes how long the last phase took, and how many steps it had."""

    steps, seconds = 0, 0.0

    def run(self, phase: Phase) -> Outcome:
        begin = time.process_time()
        outcome = super().run(phase)
        self.steps, self.seconds = outcome.steps, time.process_time() - begin
        return outcome


def step(states: int = FEW_STATES, models: int = FEW_MODELS) -> Callable[[], float]:
    """CPU seconds of a step of ``Recall`` that remembers all worlds, in the second half of a long episode."""
    worlds = random_models(states=states, actions=ACTIONS, models=models, successors=SUCCESSORS)
    _second_half(worlds)  # compiled
    return lambda: min(_second_half(worlds) for _ in range(2))


def _second_half(worlds: ModelSet) -> float:
    agent = Recall(FAILURE, horizon=STEPS)
    agent.remember(worlds)
    loop = EpisodeLoop(agent, 1, seed=0)
    begin_in(agent, worlds, 1)
    world, mine = worlds[0], loop.agent_streams[0]
    driver = _TimedSimulator(world.alias_tables, world.gains, 0, loop.world_streams[0], mine)
    play(agent, driver, 0, mine)
    if driver.steps < STEPS // 4:
        raise RuntimeError(f"the last phase of an episode had {driver.steps} steps, too few to be timed")
    return driver.seconds / driver.steps


def episode(horizon: int = EPISODE_STEPS, before: int = REMEMBERED) -> Callable[[], float]:
    """CPU seconds of an episode of ``Recall`` on the grid, when so many are over."""
    models = gridworld()

    def measure() -> float:
        run = SimulatedRun(Recall(FAILURE, horizon=horizon), models, streams.uniform(), before + TIMED, record=())
        run.begin()
        for _ in range(before):
            run.step()
        begin = time.process_time()
        for _ in range(TIMED):
            run.step()
        return (time.process_time() - begin) / TIMED

    return measure

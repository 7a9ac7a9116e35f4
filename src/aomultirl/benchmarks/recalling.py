"""How many steps a second ``Recall`` takes, all that it does between steps and between episodes included.

An episode costs more as more worlds and episodes are remembered, so the number of episodes belongs to the name of each
row.  The numbers that need the worlds, such as regret, are not recorded: they would be time of the judge.
"""

import time

from aomultirl import streams
from aomultirl.agents import Recall
from aomultirl.benchmarks.waits import Wait, not_measured
from aomultirl.experiments import runner
from aomultirl.model_set import ModelSet
from aomultirl.worlds import gridworld, icu_sepsis, random_models

FAILURE = 0.05
"""The agent's p."""
WARM = 3
"""Episodes that are run before anything is timed, so that machine code is there."""
SEPSIS_EPISODES, SEPSIS_HORIZON, SEPSIS_SECONDS = 100, 5_000, 20.0
"""The run in ICU-Sepsis, and the CPU seconds that it may take."""
GRID, MANY_STATES = "Recall, 4 x 4 grid, H = 500", "Recall, S = 200, A = 4, M = 10, H = 1,000"
SEPSIS = f"Recall, ICU-Sepsis, {SEPSIS_EPISODES} episodes of {SEPSIS_HORIZON:,} steps"
"""What the rows are called."""
SEPSIS_PART = 10
"""Episodes of it that are run where not all are asked for."""
SEPSIS_MODELS, SEPSIS_STRENGTH = 3, 1.0
"""The populations, as in the suite ``large``."""


def seconds(models: ModelSet, horizon: int, episodes: int, turns: int, of: int | None = None) -> float:
    """CPU seconds of a run, the best of some; ``of``: how many episodes the agent is to expect, more than are run."""

    def play(stop: int) -> float:
        begin = time.process_time()
        agent = Recall(FAILURE, horizon=horizon)
        runner.run(agent, models, streams.uniform(), of or episodes, record=(), stop=stop)
        return time.process_time() - begin

    play(min(WARM, episodes))
    return min(play(episodes) for _ in range(turns))


def on_the_grid(episodes: int = 200, turns: int = 3) -> Wait:
    """The paper's four grids, H = 500."""
    took = seconds(gridworld(), 500, episodes, turns)
    note = f"steps a second of CPU time; the first {episodes} episodes"
    return Wait(GRID, 500 * episodes / took, "steps/s", 400_000, True, note)


def in_many_states(episodes: int = 100, turns: int = 2) -> Wait:
    """Ten random worlds of 200 states."""
    models = random_models(states=200, actions=4, models=10, successors=5)
    took = seconds(models, 1000, episodes, turns)
    note = f"steps a second of CPU time; random_models with 5 successors, the first {episodes} episodes"
    return Wait(MANY_STATES, 1000 * episodes / took, "steps/s", 150_000, True, note)


def with_patients(whole: bool = False) -> Wait:
    """ICU-Sepsis: the first episodes, or all of them."""
    try:
        models = icu_sepsis(SEPSIS_MODELS, SEPSIS_STRENGTH)
    except ImportError as error:
        return not_measured(SEPSIS, "s", SEPSIS_SECONDS, f"Not measured: {error}.")
    episodes = SEPSIS_EPISODES if whole else SEPSIS_PART
    took = seconds(models, SEPSIS_HORIZON, episodes, turns=1, of=SEPSIS_EPISODES)
    return patients_row(took, episodes)


def patients_row(took: float, episodes: int) -> Wait:
    """The row for a run of so many episodes, which may be the first of those that the target is for."""
    note = f"{SEPSIS_MODELS} populations, strength {SEPSIS_STRENGTH:g}"
    if episodes == SEPSIS_EPISODES:
        return Wait(SEPSIS, took, "s", SEPSIS_SECONDS, note=note)
    times = SEPSIS_EPISODES / episodes
    note += (
        f"; {times:g} times the {took:.3g} s of the first {episodes} episodes. An episode costs more as more is "
        "remembered, so all of them take longer: --whole runs them"
    )
    return Wait(SEPSIS, times * took, "s", SEPSIS_SECONDS, note=note, part=True)

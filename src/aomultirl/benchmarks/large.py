"""A world of 100,000 states, from nothing to an episode of ``Recall`` that is over, in a process of its own."""

import math

from aomultirl.benchmarks.processes import run_code
from aomultirl.benchmarks.waits import Wait

SECONDS, GIBIBYTES = 60.0, 4.0
"""CPU seconds and memory that all of it may take."""
STATES, ACTIONS, MODELS, SUCCESSORS = 100_000, 4, 2, 5
PLANNED, ACTED = 200, 10_000
"""Steps that are planned for, and those of the episode."""
NAME = f"S = {STATES:,}, {SUCCESSORS} successors: build, plan, Recall"
"""What the row is called."""
CODE = """
import time as _time
import aomultirl as ao

_times = [_time.process_time()]
models = ao.worlds.random_models(states={states}, actions={actions}, models={models}, successors={successors})
_times.append(_time.process_time())
plan = models[0].optimal_policy({planned})
_times.append(_time.process_time())
agent = ao.agents.Recall(0.05, horizon={acted})
history = ao.run(agent, models, ao.streams.uniform(), episodes=1, record=())
_times.append(_time.process_time())
"""
ANSWER = """
_answer["planned"] = list(plan.shape)
_answer["steps"] = int(history["learning_steps"].sum() + history["identification_steps"].sum())
_answer["worlds"] = len(agent.worlds)
_answer["times"] = _times
"""
"""Asking for the worlds makes tables of their counts, which takes memory too, and it is counted."""


def measure(states: int = STATES, planned: int = PLANNED, acted: int = ACTED) -> list[Wait]:
    """Two rows: the CPU seconds of the whole process, and its largest memory."""
    sizes = {"states": states, "actions": ACTIONS, "models": MODELS, "successors": SUCCESSORS}
    apart = run_code(CODE.format(planned=planned, acted=acted, **sizes), ANSWER)
    answer = apart.answer
    if answer["planned"] != [planned, states] or answer["steps"] != acted:
        raise RuntimeError(f"the large world was not planned and acted in as asked for: {dict(answer)}")
    begin, built, planning, ended = answer["times"]
    name = NAME.replace(f"{STATES:,}", f"{states:,}")
    note = (
        f"A = {ACTIONS}, M = {MODELS}: imported {begin:.3g} s, built {built - begin:.3g} s, "
        f"planned for H = {planned:,} {planning - built:.3g} s, an episode of {acted:,} steps {ended - planning:.3g} s"
    )
    memory = f"the largest that the process had, Python included; Recall remembers {answer['worlds']} world"
    untold = "Not measured: this system does not tell the largest memory." if math.isnan(apart.peak_bytes) else ""
    return [
        Wait(name, apart.cpu_seconds, "s", SECONDS, note=note),
        Wait("the same, memory", apart.peak_bytes / 2**30, "GiB", GIBIBYTES, note=memory, missing=untold),
    ]

"""The first call on a machine where nothing is compiled yet: README's examples, in processes with an empty cache."""

import tempfile
from pathlib import Path

from aomultirl.benchmarks.processes import run_code
from aomultirl.benchmarks.waits import Wait

PAPER = """\
import aomultirl as ao

models = ao.worlds.gridworld()  # the paper's four 4 x 4 grids
gamma = models.distinguishing_set()  # three pairs of state and action tell all four apart
agent = ao.agents.AOMultiRL(4, 1.299999, 7, 0.03, gamma, constants="released", learning_horizon=200)
history = ao.run(agent, models, ao.streams.paper(), episodes=200)  # 20 million steps
print(gamma)
print(history.misclustered, (~history["exploration_ok"]).sum())  # episodes in a wrong cluster, failed explorations
print(round(models[0].hitting_time()))  # the paper says 7
"""
"""README's example of the paper."""
RECALL = """\
import aomultirl as ao
import gymnasium as gym
from gymnasium.envs.toy_text.frozen_lake import generate_random_map

lakes = [gym.make("FrozenLake-v1", desc=generate_random_map(4, seed=s), is_slippery=False) for s in (4, 5, 6)]
agent = ao.agents.Recall(failure=0.05, horizon=300, rewards="unknown")  # remembers; told nothing
history = ao.interact(agent, lakes, episodes=60, terminal="restart")
print(history)
ao.save(agent, "agent.zip")  # tomorrow: ao.interact(ao.load_agent("agent.zip"), lakes, ...)
"""
"""README's first example."""
COUNT = """
from aomultirl.engine.compiling import compiled_so_far
_answer["compilations"] = compiled_so_far().kernels
"""
PAPER_NAME, RECALL_NAME = "README's AOMultiRL example, empty cache", "README's Recall example, empty cache"
PAPER_SECONDS, RECALL_SECONDS = 10.0, 20.0
"""CPU seconds that the examples may take."""


def paper() -> Wait:
    """README's example of the paper, with an empty cache."""
    return measured(PAPER_NAME, PAPER, PAPER_SECONDS)


def recall() -> Wait:
    """README's example of Recall, with an empty cache."""
    return measured(RECALL_NAME, RECALL, RECALL_SECONDS)


def measured(name: str, code: str, target: float) -> Wait:
    """Run an example twice in processes of their own: with an empty cache, and with what the first compiled."""
    with tempfile.TemporaryDirectory(prefix="aomultirl-cold-", ignore_cleanup_errors=True) as place:
        folder, cache = Path(place, "work"), Path(place, "cache")
        folder.mkdir()
        first, second = (run_code(code, COUNT, folder=folder, cache=cache) for _ in range(2))
    return Wait(
        name=name,
        measured=first.cpu_seconds,
        unit="s",
        target=target,
        note=f"{first.answer['compilations']} compilations, {first.wall_seconds:.3g} s on the clock; run again with "
        f"what that compiled, {second.cpu_seconds:.3g} s",
    )

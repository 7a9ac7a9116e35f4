"""A contract test that anyone can run on an agent of their own.

>>> import aomultirl as ao
>>> ao.check_agent(ao.agents.Random(horizon=20))
"""

import numpy as np

from aomultirl.agents.base import Agent, Setting
from aomultirl.engine.counts import CountTable
from aomultirl.engine.stepping import Phase, Table
from aomultirl.experiments.history import History
from aomultirl.experiments.runner import episode_streams, interact, run
from aomultirl.mdp import ModelSet
from aomultirl.streams import round_robin
from aomultirl.worlds.random_models import random_models

EPISODES, SEED = 5, 7


class ContractError(ValueError):
    """An agent breaks the contract; the message says which part of it and how."""


def check_agent(agent: Agent, models: ModelSet | None = None, episodes: int = EPISODES) -> None:
    """Raise :class:`ContractError` if ``agent`` does not do what the drivers rely on.

    It must run, yield phases over its own counts and end with a report; give the same history for the same seed, also
    after having run before; and take the same actions step by step from outside as inside the simulator.

    Parameters
    ----------
    agent
        an instance, with parameters that fit ``models``.
    models
        the worlds to try it on; two small random ones by default, with S = 6 states and A = 3 actions.
    """
    if not isinstance(agent, Agent):
        raise ContractError(f"{agent!r} is not an aomultirl.agents.Agent")
    worlds = random_models(6, 3, 2, 3, 1.0, 0) if models is None else models
    first = run(agent, worlds, round_robin(), episodes, SEED)
    if run(agent, worlds, round_robin(), episodes, SEED) != first:
        raise ContractError("the same seed gives another history: begin() must forget everything")
    _check_phases(agent, worlds)
    if not agent.told:
        _check_outside(agent, worlds, first, episodes)


def _check_phases(agent: Agent, worlds: ModelSet) -> None:
    """What one episode yields."""
    models = worlds if "models" in agent.told else None
    agent.begin(Setting(worlds.n_states, worlds.n_actions, worlds.rewards, 1, models))
    stream = episode_streams(SEED, "agent", 1)[0]
    episode = agent.episode(0, stream, 0 if "task" in agent.told else None)
    phase = next(episode)
    if not isinstance(phase, Phase):
        raise ContractError(f"episode() yielded {phase!r}, not a Phase")
    if not isinstance(getattr(phase.behaviour, "table", None), Table):
        raise ContractError(f"the behaviour {phase.behaviour!r} has no Table in its field 'table'")
    if not isinstance(phase.counts, CountTable) or phase.steps < 0:
        raise ContractError("a phase needs a CountTable of its own and a number of steps that is not negative")
    if phase.part not in ("clustering", "learning"):
        raise ContractError(f"the part of a phase is 'clustering' or 'learning', not {phase.part!r}")
    episode.close()


def _check_outside(agent: Agent, worlds: ModelSet, inside: History, episodes: int) -> None:
    """The same episodes, step by step through a Gymnasium environment."""
    from aomultirl.worlds.environment import WorldEnv

    sources = episode_streams(SEED, "world", episodes)

    def make_env(k: int) -> WorldEnv:
        return WorldEnv(worlds[int(inside["task"][k])], int(inside["start"][k]), sources[k])

    outside = interact(agent, make_env, episodes, seed=SEED, rewards=np.array(worlds.rewards))
    for name in ("cluster", "new_cluster", "identification_steps", "learning_steps", "learning_reward"):
        if not np.array_equal(inside[name], outside[name]):
            raise ContractError(f"step by step, {name} differs from the simulator: it must depend on observations only")

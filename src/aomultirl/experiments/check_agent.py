"""A contract test that anyone can run on an agent of their own.

>>> import aomultirl as ao
>>> ao.check_agent(ao.agents.Random(horizon=20))
"""

import inspect
from typing import Any

import numpy as np

from aomultirl import checks
from aomultirl.agents import saving
from aomultirl.agents.base import Agent
from aomultirl.engine.interacting import Session
from aomultirl.experiments.episodes import begin_in, episode_streams
from aomultirl.experiments.history import History
from aomultirl.experiments.interaction import interact
from aomultirl.experiments.runner import run
from aomultirl.model_set import ModelSet
from aomultirl.streams import round_robin
from aomultirl.worlds.random_models import random_models

FORM = "give it episode(self, start, stream, task=None), which yields the phases of an episode and returns a Report"
"""What an agent must have, in words."""
EPISODES, SEED = 5, 7
MOST_STEPS = 20_000


class ContractError(ValueError):
    """An agent breaks the contract; the message says which part of it and how."""


def check_agent(agent: Agent, models: ModelSet | None = None, episodes: int = EPISODES) -> None:
    """Raise :class:`ContractError` if ``agent`` does not do what the drivers rely on.

    It must yield phases that the drivers accept and end with a report; give the same history for the same seed, also
    after having run before; leave its memory alone when an episode is given up; and take the same actions step by step
    from outside as inside the simulator.  If it can be saved (``Agent.keeps``), then so that a run goes on unchanged.

    Parameters
    ----------
    agent
        an instance, with parameters that fit ``models``.
    models
        the worlds to try it on; two small random ones by default, with S = 6 states and A = 3 actions.
    """
    _check_form(agent)
    worlds = random_models(6, 3, 2, 3, 1.0, 0) if models is None else models
    first = run(agent, worlds, round_robin(), episodes, SEED)
    if run(agent, worlds, round_robin(), episodes, SEED) != first:
        raise ContractError("the same seed gives another history: begin() must forget everything")
    _check_given_up(agent, worlds)
    if not agent.told:
        _check_outside(agent, worlds, first, episodes)
    if saving.can_be_saved(agent):
        _check_saved(agent, worlds, first, episodes)


def _check_form(agent: Any) -> None:
    """Whether it is an agent that has episodes at all."""
    if not isinstance(agent, Agent):
        if isinstance(agent, type) and issubclass(agent, Agent):
            raise ContractError(f"{agent.__name__} is a class: give an agent, such as {agent.__name__}(...)")
        shown = checks.shown(agent)
        raise ContractError(f"{shown} is not an aomultirl.agents.Agent: derive its class from that, and {FORM}")
    kind = type(agent).__name__
    if type(agent).episode is Agent.episode:
        raise ContractError(f"{kind} has no method episode: {FORM}")
    try:
        inspect.signature(agent.episode).bind(0, None, None)
    except TypeError as error:
        raise ContractError(
            f"{kind}.episode must take (self, start, stream, task=None), but called so it has {error}"
        ) from None


def _session(agent: Agent, worlds: ModelSet, number: int) -> Session:
    stream = episode_streams(SEED, "agent", number + 1)[number]
    told = 0 if "task" in agent.told else None
    return Session(agent.episode(0, stream, told), worlds.n_states, worlds.n_actions, 0, stream)


def _play(session: Session, most: int) -> list[int]:
    """The actions of up to ``most`` steps in a world that goes round all states, every step worth a half."""
    actions: list[int] = []
    while not session.over and len(actions) < most:
        actions.append(session.act())
        session.observe((session.state + 1) % session.n_states, 0.5)
    return actions


def _check_given_up(agent: Agent, worlds: ModelSet) -> None:
    """An episode that is given up one step before its end leaves no trace in the next one."""
    begin_in(agent, worlds, EPISODES)
    length = len(_play(_session(agent, worlds, 0), MOST_STEPS))
    begin_in(agent, worlds, EPISODES)
    plain = _play(_session(agent, worlds, 1), MOST_STEPS)
    begin_in(agent, worlds, EPISODES)
    given_up = _session(agent, worlds, 0)
    _play(given_up, length - 1)
    given_up.close()
    if _play(_session(agent, worlds, 1), MOST_STEPS) != plain:
        raise ContractError(
            "an episode that is given up changes the next one: memory may change after the last step only"
        )


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


def _check_saved(agent: Agent, worlds: ModelSet, whole: History, episodes: int) -> None:
    """Saved and loaded between any two episodes, the run goes on as if nothing had happened."""
    history: History | None = None
    for k in range(1, episodes + 1):
        history = run(agent, worlds, round_robin(), episodes, SEED, stop=k, resume=history)
        try:
            parts = [getattr(agent, name) for name in ("learner", "explorer") if hasattr(agent, name)]
            agent, _ = saving.from_bytes(saving.to_bytes(agent), [type(agent), *map(type, parts)])
        except ValueError as error:
            raise ContractError(f"saved after {k} episodes, the agent does not come back: {error}") from None
    if history != whole:
        raise ContractError(
            "saved and loaded between episodes, a run differs: kept must hold all that the next episode depends on"
        )

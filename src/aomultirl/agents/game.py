"""Play an episode by hand: ask the agent for an action, and tell it what came of it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams

NEW = -1
"""In place of a world's number: one that the agent does not know."""


class Belief(NamedTuple):
    """What an agent believes of the world that it is in.

    world
        the number of the world that it probably is; -1 for one that the agent does not know.
    sure
        how probable that is.
    shares
        how probable every world is, by number.
    """

    world: int
    sure: float
    shares: dict[int, float]


class Game:
    """An episode of an agent, one step at a time; :meth:`aomultirl.agents.Agent.play` gives one.

    Attributes
    ----------
    over
        the episode has ended: the agent has learned from it, and ``report`` is what it says of it.
    reward
        what was earned so far.
    """

    def __init__(self, agent: Agent, start: int, seed: int) -> None:
        self._agent, self.reward = agent, 0.0
        key = np.random.SeedSequence(checks.seed("seed", seed), spawn_key=(agent.completed,))
        stream = streams(key, 1)[0]
        setting = agent.setting
        first = checks.integer("start", start, least=0, most=setting.n_states - 1)
        self._session = Session(agent.episode(first, stream), setting.n_states, setting.n_actions, first, stream)

    def __repr__(self) -> str:
        state = "over" if self.over else f"in state {self._session.state}"
        return f"Game({type(self._agent).__name__}, {state}, reward {self.reward:g})"

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self._session.over

    @property
    def report(self) -> Report | None:
        """What the agent says of the episode; None before its end."""
        report: Report | None = self._session.report
        return report

    def act(self) -> int:
        """The action that the agent chooses; the same until something is observed."""
        return self._session.act()

    def observe(self, state: int, reward: float, terminated: bool = False) -> None:
        """What came of the action: the state it led to, what it earned, and whether the episode ended there."""
        self._session.observe(state, reward, checks.truth("terminated", terminated))
        self.reward += reward
        self._settle()

    def stop(self) -> None:
        """The episode is over, though no state ended it, such as by a limit of time."""
        self._session.stop()
        self._settle()

    def give_up(self) -> None:
        """Forget the episode: the agent stays as it was before."""
        self._session.close()

    @property
    def belief(self) -> Belief | None:
        """What the agent believes of this world; None for an agent that has no beliefs."""
        shares = self._agent.beliefs(self._session.counts)
        if not shares:
            return None
        likely = max(shares, key=lambda number: shares[number])
        return Belief(likely, shares[likely], shares)

    def _settle(self) -> None:
        if self.over:
            self._agent.completed += 1


def play(
    agent: Agent,
    start: int,
    n_states: int | None,
    n_actions: int | None,
    rewards: NDArray[np.float64] | None,
    episodes: int,
    seed: int,
) -> Game:
    """A game; the agent begins where it has not, and goes on where it has."""
    sizes = {"n_states": n_states, "n_actions": n_actions}
    if "task" in agent.told or "models" in agent.told:
        raise ValueError(f"{type(agent).__name__} must be told the world, and nobody says it in a game")
    if "setting" not in vars(agent):
        for name, size in sizes.items():
            checks.integer(name, size, least=1)
        known: Any = None if rewards is None else checks.finite_array("rewards", rewards, lowest=0.0, highest=1.0)
        agent.begin(
            Setting(int(n_states or 0), int(n_actions or 0), known, checks.integer("episodes", episodes, least=1))
        )
        agent.completed = 0
    for name, size in sizes.items():
        if size is not None and size != getattr(agent.setting, name):
            raise checks.Refusal(name, f"is {size}, but the agent began with {getattr(agent.setting, name)}")
    if agent.completed >= agent.setting.episodes:
        from dataclasses import replace

        agent.go_on(replace(agent.setting, episodes=2 * agent.setting.episodes))
    return Game(agent, start, seed)

"""Play an episode by hand: ask the agent for an action, and tell it what came of it."""

import gc
from dataclasses import replace
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent, Report, Setting
from aomultirl.agents.interface import check_same_rewards, interface_of, known_rewards
from aomultirl.agents.reward_scale import RewardScale
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams

NEW = -1
"""In place of a world's number: one that the agent does not know."""


class Belief(NamedTuple):
    """What an agent believes of the world that it is in, whether or not it is proven.

    world
        the number of the world that it probably is; -1 for one that the agent does not know.  Once the episode is over,
        the world that it was taken for, as in ``history["taken_for"]``.
    sure
        how probable that is; once the episode is over, as in ``history["sure"]``.
    shares
        how probable every world is, by number; -1 is one that the agent did not know when the episode began.
    """

    world: int
    sure: float
    shares: dict[int, float]


class Game:
    """An episode of an agent, one step at a time; :meth:`aomultirl.agents.Agent.play` gives one.

    An agent that has met environments in ``ao.interact`` plays as there: the start and the states are observations,
    rewards are of the environments' range, and actions are those of their action space.  To any other agent they are
    numbers from 0, and rewards within [0, 1].

    Attributes
    ----------
    over
        the episode has ended: the agent has learned from it, and ``report`` is what it says of it.
    reward
        what was earned so far, as it was told.
    """

    def __init__(self, agent: Agent, start: Any, seed: int) -> None:
        self._agent, self.reward, self._settled = agent, 0.0, False
        self._last: Belief | None = None
        self._interface = interface_of(agent)
        self._scale = None if self._interface is None else replace(self._interface.scale)
        key = np.random.SeedSequence(checks.seed("seed", seed), spawn_key=(agent.completed,))
        stream = streams(key, 1)[0]
        setting = agent.setting
        first = self._number("start", start)
        self._session = Session(agent.episode(first, stream), setting.n_states, setting.n_actions, first, stream)
        _games.add(self)
        self._settle()

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

    def act(self) -> Any:
        """The action that the agent chooses; the same until something is observed.

        The environment's own action where the agent has met environments, otherwise its number.
        """
        action, known = self._session.act(), self._interface
        return action if known is None or known.actions is None else known.actions.value(action)

    def observe(self, state: Any, reward: float, terminated: bool = False) -> None:
        """What came of the action: the state it led to, what it earned, and whether the episode ended there."""
        session = self._session
        session.check_acted()
        ended, earned = checks.truth("terminated", terminated), checks.real("reward", checks.bare(reward))
        successor = self._number("state", state)
        shown = earned if self._scale is None else self._scale.shown(earned, "reward", session.learns_rewards)
        session.observe(successor, shown, ended)
        self.reward += earned
        self._settle()

    def stop(self) -> None:
        """The episode is over, though no state ended it, such as by a limit of time; nothing where it is already."""
        self._session.stop()
        self._settle()

    def give_up(self) -> None:
        """Forget the episode: the agent stays as it was before; nothing where the episode is over."""
        self._settled = True
        self._session.close()

    @property
    def belief(self) -> Belief | None:
        """What the agent believes of this world, at last when it is over; None for an agent that has no beliefs."""
        return self._last if self._settled and self.report is not None else self._believe()

    def _believe(self) -> Belief | None:
        shares = self._agent.beliefs(self._session.counts)
        if not shares:
            return None
        if self.report is not None and self.report.world >= 0:
            return Belief(self.report.world, self.report.sure, shares)
        likely = max(shares, key=lambda number: shares[number])
        return Belief(likely, shares[likely], shares)

    def is_open_for(self, agent: Agent) -> bool:
        """Whether the game is one of ``agent``, and not over."""
        return self._agent is agent and not self.over

    def _number(self, name: str, state: Any) -> int:
        if self._interface is not None and self._interface.states is not None:
            return self._interface.states.number(state, name)
        return checks.integer(name, state, least=0, most=self._agent.setting.n_states - 1)

    def _settle(self) -> None:
        """Once, when the episode is over: it is counted, and a range of rewards that is learned is widened."""
        if self._settled or not self.over:
            return
        self._settled = True
        agent, self._last = self._agent, self._believe()
        agent.completed += 1
        if self._interface is not None and self._scale is not None:
            self._interface.scale, agent.interface = self._scale, self._interface
            if change := self._scale.widen(agent.completed - 1):
                agent.rescale_rewards(*change, self._scale.rest)


_games: "WeakSet[Game]" = WeakSet()
"""Those that somebody still holds."""


def check_free(agent: Agent) -> None:
    """Refuse an agent that is in the middle of a game; one that nobody holds any more counts as given up."""
    if any(game.is_open_for(agent) for game in _games):
        gc.collect()  # a game in a circle of references is held by nobody
        if any(game.is_open_for(agent) for game in _games):
            raise checks.Refusal("agent", "is in the middle of a game: finish it, or give it up with game.give_up()")


def play(
    agent: Agent,
    start: Any,
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
    check_free(agent)
    agent.evaluates = True
    if "setting" not in vars(agent):
        n_states, n_actions = (checks.integer(name, size, least=1) for name, size in sizes.items())
        known = known_rewards(rewards, RewardScale(), n_states, n_actions)
        count = checks.integer("episodes", episodes, least=1)
        checks.integer("start", start, least=0, most=n_states - 1)
        checks.seed("seed", seed)
        try:
            agent.begin(Setting(n_states, n_actions, known, count))
        except BaseException:
            vars(agent).pop("setting", None)  # it has not begun: the next game must not go on from here
            raise
        agent.completed, agent.interface = 0, None
        return Game(agent, start, seed)
    setting, interface = agent.setting, interface_of(agent)
    for name, size in sizes.items():
        if size is not None and size != getattr(setting, name):
            raise checks.Refusal(name, f"is {checks.shown(size)}, but the agent began with {getattr(setting, name)}")
    scale = RewardScale() if interface is None else interface.scale
    check_same_rewards(agent, known_rewards(rewards, scale, setting.n_states, setting.n_actions))
    if agent.completed >= setting.episodes:
        agent.go_on(replace(setting, episodes=2 * setting.episodes))
    return Game(agent, start, seed)

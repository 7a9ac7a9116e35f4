"""What lies between an agent and other people's environments: numbers for states, and a range for rewards.

An agent carries it (``Agent.interface``) and files keep it, so that tomorrow's states and rewards mean what today's do.
"""

from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks
from aomultirl.agents.base import Agent
from aomultirl.agents.reward_scale import RewardScale, read_range
from aomultirl.agents.spaces import MOST_STATES, Digits, Numbered, StateIndexer, as_json, from_json

GROW = 10_000
"""States that there is room for where ``states="grow"`` says no number."""


@dataclass
class Interface:
    """Between an agent and environments.

    scale
        of the rewards.
    states
        turns observations into states; None until an environment has shown which ones there are.
    stands_for
        the task of the episode that made each cluster, by its number, where somebody knows it.
    actions
        turns numbers into the environments' actions; None until an environment has shown which ones there are.
    """

    scale: RewardScale
    states: StateIndexer | None = None
    stands_for: dict[int, int] = field(default_factory=dict)
    actions: Digits | None = None

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        states, actions = (None if one is None else as_json(one) for one in (self.states, self.actions))
        tasks = [*map(list, self.stands_for.items())]
        return {"scale": asdict(self.scale), "states": states, "stands_for": tasks, "actions": actions}


def read_interface(reward_range: Any, states: Any) -> Interface:
    """The interface that arguments ask for."""
    scale = read_range(reward_range)
    if states is None:
        return Interface(scale)
    if isinstance(states, str):
        checks.choice("states", states, ("grow",))
        return Interface(scale, Numbered(GROW))
    return Interface(scale, Numbered(checks.integer("states", states, least=1, most=MOST_STATES)))


def interface_of(agent: Agent) -> Interface | None:
    """The interface that an agent carries from before; None where it has met no environment."""
    told = agent.interface
    return told if told is None or isinstance(told, Interface) else _from_json(told)


def carried(agent: Agent, reward_range: Any, states: Any) -> Interface:
    """The interface with which an agent goes on; refuses arguments, None where not given, that contradict its memory.

    What an agent remembers that has met no environment are rewards within [0, 1], and states by their numbers.
    """
    asked = read_interface(reward_range, states)
    had = interface_of(agent) or Interface(RewardScale())
    if states is not None:
        _check_states(agent, asked, had)
    return had if reward_range is None else replace(had, scale=_scale_from_now_on(asked.scale, had.scale))


def _check_states(agent: Agent, asked: Interface, had: Interface) -> None:
    if not isinstance(had.states, Numbered):
        count = agent.setting.n_states if had.states is None else had.states.size
        whose = "states by their numbers" if had.states is None else "of a space"
        raise checks.Refusal("states", f"is given, but the agent remembers the {count} {whose}")
    if asked.states is not None and asked.states.size != had.states.size:
        words = f"is {asked.states.size:,}, but the agent began with room for {had.states.size:,} states"
        raise checks.Refusal("states", f"{words}, and cannot have another number of them without forget=True")


def _scale_from_now_on(asked: RewardScale, had: RewardScale) -> RewardScale:
    """What is shown as 0 and 1 stays; a range that was given may be learned from now on, and one learned be fixed."""
    if asked.learned:
        return replace(had, learned=True)
    span = (had.low, had.high) if had.learned else (had.least, had.most)
    if (asked.low, asked.high) != (had.low, had.high) or not (had.learned or (asked.least, asked.most) == span):
        raise checks.Refusal(
            "reward_range",
            f"is ({asked.least:g}, {asked.most:g}), but the agent remembers rewards of ({span[0]:g}, {span[1]:g})",
        )
    return asked


def known_rewards(rewards: Any, scale: RewardScale, n_states: int, n_actions: int) -> NDArray[np.float64] | None:
    """The rewards that are known, as an agent is shown them."""
    if rewards is None:
        return None
    table = checks.finite_array("rewards", rewards, lowest=scale.least, highest=scale.most)
    if table.shape != (n_states, n_actions):
        raise checks.Refusal("rewards", f"must have shape ({n_states}, {n_actions}), not {table.shape}")
    return (table - scale.low) / (scale.high - scale.low)


def check_same_rewards(agent: Agent, known: NDArray[np.float64] | None) -> None:
    """Refuse rewards, as the agent is shown them, that are not those it began with; None where nobody gave any."""
    if known is None:
        return
    had = agent.setting.rewards
    if had is None:
        raise checks.Refusal("rewards", "is given, but the agent began without being told them, and goes on so")
    differs = ~np.isclose(known, had, rtol=0.0, atol=1e-9)
    if differs.any():
        state, action = (int(i) for i in np.argwhere(differs)[0])
        raise checks.Refusal(f"rewards[{state}, {action}]", "is another than the agent began with, and it goes on")


def _from_json(told: Any) -> Interface:
    try:
        scale = RewardScale(**told["scale"])
        ends = [checks.real("scale", end) for end in (scale.low, scale.high, scale.least, scale.most)]
        if type(scale.learned) is not bool or not ends[0] < ends[1]:
            raise ValueError
        whole = partial(checks.integer, "stands_for", least=0)
        tasks = {whole(cluster): whole(task) for cluster, task in told["stands_for"]}
        states, actions = (None if one is None else from_json(one) for one in (told["states"], told.get("actions")))
        if isinstance(actions, Numbered):
            raise ValueError
        return Interface(scale, states, tasks, actions)
    except (AttributeError, TypeError, KeyError, ValueError):
        raise ValueError(f"the agent carries the interface {checks.shown(told)}, which is none") from None

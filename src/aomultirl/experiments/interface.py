"""What lies between an agent and other people's environments: numbers for states, and a range for rewards.

An agent carries it (``Agent.interface``) and files keep it, so that tomorrow's states and rewards mean what today's do.
"""

from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from aomultirl import checks
from aomultirl.agents.base import Agent
from aomultirl.experiments.reward_scale import RewardScale, read_range
from aomultirl.experiments.spaces import MOST_STATES, Numbered, StateIndexer, as_json, from_json

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
    """

    scale: RewardScale
    states: StateIndexer | None = None
    stands_for: dict[int, int] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        states = None if self.states is None else as_json(self.states)
        return {"scale": asdict(self.scale), "states": states, "stands_for": [*map(list, self.stands_for.items())]}


def read_interface(reward_range: Any, states: Any) -> Interface:
    """The interface that arguments ask for."""
    scale = read_range(reward_range)
    if states is None:
        return Interface(scale)
    if isinstance(states, str):
        checks.choice("states", states, ("grow",))
        return Interface(scale, Numbered(GROW))
    return Interface(scale, Numbered(checks.integer("states", states, least=1, most=MOST_STATES)))


def carried(agent: Agent, asked: Interface) -> Interface:
    """The interface that an agent carries from before, which what is asked for now must not contradict."""
    told = agent.interface
    if told is None:
        return asked
    had = told if isinstance(told, Interface) else _from_json(told)
    given = asked.scale != RewardScale() and not asked.scale.learned
    if given and (asked.scale.low, asked.scale.high) != (had.scale.low, had.scale.high):
        raise checks.Refusal(
            "reward_range",
            f"is ({asked.scale.low:g}, {asked.scale.high:g}), but the agent remembers rewards of "
            f"({had.scale.low:g}, {had.scale.high:g})",
        )
    if asked.states is not None and not isinstance(had.states, Numbered):
        raise checks.Refusal(
            "states", f"is given, but the agent remembers the {getattr(had.states, 'size', 0)} of a space"
        )
    return had


def _from_json(told: Any) -> Interface:
    try:
        scale = RewardScale(**told["scale"])
        ends = [checks.real("scale", end) for end in (scale.low, scale.high, scale.least, scale.most)]
        if type(scale.learned) is not bool or not ends[0] < ends[1]:
            raise ValueError
        whole = partial(checks.integer, "stands_for", least=0)
        tasks = {whole(cluster): whole(task) for cluster, task in told["stands_for"]}
        return Interface(scale, None if told["states"] is None else from_json(told["states"]), tasks)
    except (TypeError, KeyError, ValueError):
        raise ValueError(f"the agent carries the interface {checks.shown(told)}, which is none") from None

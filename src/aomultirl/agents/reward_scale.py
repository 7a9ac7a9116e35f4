"""Rewards of any range, as agents take them: within [0, 1].

An agent is shown (r - low) / (high - low).  Where nobody knows the range, it widens after every episode that left it,
and what the agent remembers of rewards is brought to the new range (:meth:`aomultirl.agents.Agent.rescale_rewards`).
Histories keep the rewards as they were.
"""

import warnings
from dataclasses import dataclass
from typing import Any

from aomultirl import checks


@dataclass
class RewardScale:
    """The range of rewards.

    low, high
        what the agent is shown as 0 and as 1; no reward at all, 0, is between them.
    learned
        whether the range widens.
    least, most
        the least and the greatest reward that there may be; where the range widens, those so far, from 0 and 1 on.
    """

    low: float = 0.0
    high: float = 1.0
    learned: bool = False
    least: float = 0.0
    most: float = 1.0

    @property
    def rest(self) -> float:
        """What nothing is worth to the agent: each step after the end of an episode."""
        return -self.low / (self.high - self.low)

    def shown(self, reward: float, name: str, learning: bool) -> float:
        """A reward as the agent is shown it.

        One that leaves a range that widens is cut off for now; where the agent learns rewards, one that leaves a given
        range is refused by a sentence that begins with ``name``.
        """
        if self.learned:
            self.least, self.most = min(self.least, reward), max(self.most, reward)
            reward = min(max(reward, self.low), self.high)
        elif learning and not self.least <= reward <= self.most:
            raise ValueError(
                f"{name} is {reward:g}, outside [{self.least:g}, {self.most:g}]: "
                'give reward_range=(low, high), or reward_range="learn"'
            )
        return (reward - self.low) / (self.high - self.low)

    def widen(self, episode: int) -> tuple[float, float] | None:
        """After an episode: (times, plus), by which what was shown before is brought to a wider range; None for none.

        The range at least doubles on the side that it leaves, so that it widens a few times and no more.
        """
        if not self.learned or (self.least >= self.low and self.most <= self.high):
            return None
        before = self.low, self.high
        if self.least < self.low:
            self.low = min(self.least, 2.0 * self.low)
        if self.most > self.high:
            self.high = max(self.most, 2.0 * self.high)
        words = f"rewards of episode {episode} left [{before[0]:g}, {before[1]:g}]"
        warnings.warn(f"{words}: the range is [{self.low:g}, {self.high:g}] from now on", stacklevel=3)
        span = self.high - self.low
        return (before[1] - before[0]) / span, (before[0] - self.low) / span


def read_range(given: Any) -> RewardScale:
    """What ``reward_range`` says."""
    if given is None:
        return RewardScale()
    if isinstance(given, str):
        checks.choice("reward_range", given, ("learn",))
        return RewardScale(learned=True)
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise checks.Refusal("reward_range", f'is {checks.shown(given)}, neither (low, high) nor "learn"')
    low, high = (checks.real(f"reward_range[{i}]", end) for i, end in enumerate(given))
    if not low < high:
        raise checks.Refusal("reward_range", f"is ({low:g}, {high:g}), and low must be below high")
    return RewardScale(min(low, 0.0), max(high, 0.0), False, low, high)

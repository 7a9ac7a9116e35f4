"""A set of worlds as the suites that measure reward meet it, and the rows that it makes."""

from dataclasses import dataclass
from typing import Any

from aomultirl.experiments.suites import players
from aomultirl.experiments.suites.cases import SHARE, SuiteCase, Target, Window
from aomultirl.experiments.suites.entrants import Contest, further_peers


@dataclass(frozen=True)
class Scene:
    """Worlds, how long they are met, and what `Recall` should reach there.

    place
        the world, in words.
    world
        {"name", "parameters"}.
    horizon, episodes
        H and K.
    windows
        the episodes that each column is about.
    targets
        of the row of `Recall`, beside those of earning more than its peers.
    stream
        the name of the stream.
    rewards
        "known" or "unknown" to the agents.
    reward_range
        see :class:`aomultirl.experiments.suites.cases.SuiteCase`.
    is_deterministic
        whether every action has one successor, so that the exact ceiling can be worked out.
    has_ceiling
        whether planners play; their tables of values grow with M, H and S.
    most_worlds
        how many worlds `Recall` may believe in, as a multiple of those that there are; None where that is not judged.
    everybody
        whether all others play too that need not be told of the worlds.
    """

    place: str
    world: dict[str, Any]
    horizon: int
    episodes: int
    windows: tuple[Window, ...]
    targets: tuple[Target, ...] = ()
    stream: str = "uniform"
    rewards: str = "known"
    reward_range: tuple[float, float] | None = None
    is_deterministic: bool = False
    has_ceiling: bool = True
    most_worlds: float | None = None
    everybody: bool = False

    def cases(self) -> list[SuiteCase]:
        """A row for every agent, then one for every ceiling."""
        agents = players.players(self.horizon, self.rewards)
        if self.everybody:
            agents |= further_peers(Contest(self.horizon, self.episodes, rewards=self.rewards))
        ceilings = players.planners(self.horizon, self.is_deterministic) if self.has_ceiling else {}
        beaten = (Target(self.windows[-1].heading, 0.0, peer) for peer in players.peers({}))
        targets = (*self.targets, *beaten)
        return [
            SuiteCase(
                place=self.place,
                told=label,
                world=self.world,
                stream={"name": self.stream, "parameters": {}},
                agent=described,
                episodes=self.episodes,
                horizon=self.horizon,
                aim=SHARE,
                targets=targets if label == players.RECALL else (),
                windows=self.windows,
                reward_range=self.reward_range,
                is_planner=label in ceilings,
                most_worlds=self.most_worlds if label == players.RECALL else None,
            )
            for label, described in {**agents, **ceilings}.items()
        ]


def world(name: str, **parameters: Any) -> dict[str, Any]:
    """{"name", "parameters"} of a function of ``ao.worlds``."""
    return {"name": name, "parameters": parameters}

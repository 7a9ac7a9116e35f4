"""UCBVI here and in rlberry-scool, timed side by side: ``make bench-peers``, in an environment of its own.

Both learn the same world, the paper's 4 x 4 grid (S = 16, A = 4), in episodes of H = 200 steps, with transitions and
rewards unknown, from what they have seen themselves in the same number of episodes.  CPU time of this process, the
best of several turns that the two take one after the other.  Counted is

planning
    what is done between two episodes to know how to act in the next one.  rlberry-scool: the bonuses are added to the
    rewards, then backward induction.  Ours: the estimate is made from the counts, the bonuses, then backward induction.
    Both plan for every step and every state; ours has a bonus so small that it is not all above the cap, in which case
    it would not plan at all.
an episode
    planning, the 200 steps, and what is learned from them.  rlberry-scool: one episode of ``fit``, in rlberry's own
    environment for a table of transitions.  Ours: ``ao.run`` by the episode, with the history that it makes.

The target is for planning.  Before anything is timed both plan in the world itself, and must find the same values.
"""

import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import aomultirl as ao
from aomultirl.engine.random import streams
from aomultirl.learning import Share

HORIZON, LEARNED, TURNS = 200, 10, 20
"""H; episodes before planning is timed; turns of each."""
TARGET = 500.0
"""How many times faster planning must be."""
SCALE = 0.001
"""Of our bonus."""
PLANS, EPISODES = 20, 20
"""Of ours in a turn, since one takes less than a clock can tell; of rlberry-scool's, one."""


class Comparison(NamedTuple):
    """One piece of work.

    name: which; ours, theirs: seconds of CPU; target: the least that theirs / ours may be, None for no target.
    """

    name: str
    ours: float
    theirs: float
    target: float | None = None

    @property
    def ratio(self) -> float:
        """How many times as long theirs takes."""
        return self.theirs / self.ours

    @property
    def missed(self) -> bool:
        """Whether there is a target that is not reached."""
        return self.target is not None and self.ratio < self.target

    @property
    def row(self) -> str:
        """A line of the table."""
        target = "" if self.target is None else f"target {self.target:,.0f}: {'missed' if self.missed else 'reached'}"
        return (
            f"{self.name:<12}{1e3 * self.ours:>12.4f} ms{1e3 * self.theirs:>14.2f} ms{self.ratio:>12,.0f} x  {target}"
        ).rstrip()


def by_turns(
    ours: Callable[[], object], theirs: Callable[[], object], repeats: int, turns: int = TURNS
) -> tuple[float, float]:
    """The least CPU seconds of one call of each; ours is called ``repeats`` times in a turn."""
    best = [math.inf, math.inf]
    for _ in range(turns):
        for number, (call, many) in enumerate(((ours, repeats), (theirs, 1))):
            begin = time.process_time()
            for _ in range(many):
                call()
            best[number] = min(best[number], (time.process_time() - begin) / many)
    return best[0], best[1]


def our_planning(world: ao.MDP) -> Callable[[], object]:
    """A function that plans the next episode from what :data:`LEARNED` episodes have shown."""
    agent = ao.agents.Pooled(ao.learning.UCBVI(bonus_scale=SCALE), HORIZON, failure=0.1, rewards="unknown")
    ao.run(agent, ao.ModelSet([world]), ao.streams.uniform(), LEARNED, seed=0)
    setting = ao.agents.Setting(world.n_states, world.n_actions, None, LEARNED)
    learning = agent.learner.begin(setting, HORIZON, Share(0.1, LEARNED, 1, HORIZON))
    known, stream = agent.kept.known[0].during(learning.tally()), streams(0, 1)[0]
    if learning.act(known, HORIZON, stream).table.stride == 0:
        raise RuntimeError("our bonus is above its cap everywhere, so nothing is planned, and the time means nothing")
    return lambda: learning.act(known, HORIZON, stream)


def our_episodes(world: ao.MDP) -> Callable[[], object]:
    """A function that runs :data:`EPISODES` episodes."""
    agent = ao.agents.Pooled(ao.learning.UCBVI(bonus_scale=SCALE), HORIZON, failure=0.1, rewards="unknown")
    models, stream = ao.ModelSet([world]), ao.streams.uniform()
    return lambda: ao.run(agent, models, stream, EPISODES, seed=1, record=())


def compare(turns: int = TURNS) -> list[Comparison]:
    """Both pieces of work, timed; RuntimeError where the two do not find the same values."""
    from rlberry.envs.finite_mdp import FiniteMDP
    from rlberry_scool.agents import UCBVIAgent
    from rlberry_scool.agents.dynprog.utils import backward_induction, backward_induction_reward_sd

    world = ao.worlds.gridworld()[0]
    rewards, transitions = np.array(world.rewards), world.transitions
    _, values = backward_induction(rewards, transitions, HORIZON)
    if not np.allclose(values, world.optimal_values(HORIZON)[:HORIZON], rtol=1e-9):
        raise RuntimeError("rlberry-scool and our engine disagree on the values, so their times mean nothing")
    agent = UCBVIAgent(FiniteMDP(rewards, transitions, int(np.argmax(world.start_distribution))), horizon=HORIZON)
    agent.fit(LEARNED)

    def their_planning() -> None:
        bonus = agent.R_hat + agent.B_sa
        backward_induction_reward_sd(agent.Q, agent.V, bonus, agent.P_hat, agent.gamma, agent.v_max[0])

    planning, episodes = our_planning(world), our_episodes(world)
    episodes()  # compiled, or read from the cache, before anything is timed
    ours, theirs = by_turns(planning, their_planning, PLANS, turns)
    all_of_ours, all_of_theirs = by_turns(episodes, agent._run_episode, 1, turns)
    return [
        Comparison("planning", ours, theirs, TARGET),
        Comparison("an episode", all_of_ours / EPISODES, all_of_theirs),
    ]


def main() -> int:
    """Print the table; 1 if the target is missed."""
    from importlib.metadata import version

    rows = compare()
    names = ", ".join(f"{name} {version(name)}" for name in ("aomultirl", "rlberry-scool", "numpy"))
    head = f"{'':<12}{'ours':>15}{'rlberry-scool':>17}{'ratio':>14}"
    note = f"S = 16, A = 4, H = {HORIZON}; CPU time, best of {TURNS} turns; {names}"
    sys.stdout.write("\n".join([head, *(one.row for one in rows), note]) + "\n")
    return int(any(one.missed for one in rows))


if __name__ == "__main__":
    sys.exit(main())

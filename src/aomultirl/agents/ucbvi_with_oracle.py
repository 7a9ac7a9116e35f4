"""Algorithm 7 of the paper (Appendix H): UCBVI-CH with external samples from an oracle.

Before episode k of a world an oracle draws N successors of every pair (s, a), independently, from the world's own
transitions.  All that it ever drew is kept in B, all that was seen while acting in H.  Then UCBVI-CH plans in the
empirical transitions of H and B together, for all (s, a) with the bonus::

    b_k(s, a) = 7 H L_N / sqrt( n(s, a) + k N ),    L_N = ln(5 S A K (H + N) / p),

n(s, a) being the visits in H alone; k counts the present episode.  In the paper the clustering phase of AOMultiRL plays
the oracle (:class:`aomultirl.agents.AOMultiRL` with ``reuse_samples=True``); this is the algorithm as it is printed,
with an oracle that costs no steps and draws exactly N samples of each pair.

Setting: one world, K episodes of H steps, rewards known, and a generative model of the world.

Must be told: the worlds and the task, of which the oracle alone makes use: the learner sees nothing but samples.

Guarantee: for one world and ``bonus_scale=1``, with probability at least 1 - p the regret is at most
:func:`aomultirl.theory.external_samples_bound`, which repairs the printed theorem (E11 to E13).  It is below K H only
for thousands of episodes, however large N is; with H = 2, S = A = 2 and N = 40,000 from 5,000 episodes on.

Adapted to a stream of tasks: the paper has one world.  Here every world has a learner and an oracle of its own, told
apart by the task that is told, and k counts the episodes of that world; with ``models`` = M the logarithm has a factor
M, as in :class:`aomultirl.agents.OracleUCBVI`.

What was uncertain, and how it was settled.  How an oracle fits an interaction of steps: it draws from the worlds that
the agent is told when the run begins, with randomness of the agent's own stream, at the beginning of an episode and
before its first step, so that both drivers see the same samples; it uses up no steps.  An episode that is given up
leaves no trace: what the oracle drew for it is dropped with it.  The printed N_k is ambiguous; visits while acting are
counted once, and the oracle's once.  Which third of p is meant: the printed L_N has p itself, where the paper's other
logarithm has p_1 = p / 3; so for N = 0 this agent is OracleUCBVI with ``failure`` three times as large, to the bit.
The oracle draws no samples of terminal states, in which nobody acts, and tells where an episode would have ended.  The
oracle draws successors and no rewards, so rewards are known.
"""

from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar

import numpy as np

from aomultirl import checks
from aomultirl.agents.alone import Learned, Told
from aomultirl.agents.base import Episode, Report, run_phase
from aomultirl.agents.forwarding import forwarding
from aomultirl.engine.counts import CountTable, merged, visits_by_pair
from aomultirl.engine.generative import draw_successors
from aomultirl.engine.packed_counts import Packed, table_of
from aomultirl.engine.random import RandomStream
from aomultirl.engine.stepping import Phase
from aomultirl.learning import UCBVI, Known, Share
from aomultirl.mdp import MDP
from aomultirl.records import Within
from aomultirl.setting import Setting
from aomultirl.theory import RegretBound, external_samples_bound

MOST_SAMPLES = 1_000_000
"""N may be no larger: with the 64 pairs of the paper's grid the oracle then takes half a second an episode."""


@dataclass
class WithExternal(Learned):
    """What UCBVI with an oracle remembers.

    external
        B: all that the oracle drew, by the number of the world; empty where N = 0.
    """

    external: dict[Annotated[int, Within(0)], CountTable] = field(default_factory=dict)


class UCBVIWithOracle(Told):
    """UCBVI-CH that an oracle gives N samples of every pair before each episode: the paper's Algorithm 7.

    Parameters
    ----------
    failure
        p, how probable it may be that what is promised does not hold.
    horizon
        H, the steps of an episode.
    samples
        N, at most a million; 0 is UCBVI without an oracle.
    models
        M, how many worlds the union bound runs over; the paper has one.
    bonus, bonus_scale, cap
        as in :class:`aomultirl.learning.UCBVI`.

    Examples
    --------
    >>> import aomultirl as ao
    >>> grid = ao.worlds.gridworld()
    >>> agent = ao.agents.UCBVIWithOracle(0.1, horizon=50, samples=20, models=4)
    >>> _ = ao.run(agent, grid, ao.streams.round_robin(), episodes=8)
    >>> agent.findings()
    {'external_samples': [2560, 2560, 2560, 2560]}
    """

    told: ClassVar[frozenset[str]] = frozenset({"task", "models"})
    keeps: ClassVar[type] = WithExternal
    pair_bytes: int = 64
    kept: WithExternal
    learner: UCBVI
    failure: float

    @forwarding(UCBVI)
    def __init__(self, failure: float, horizon: int, samples: int, models: int = 1, **keywords: Any) -> None:
        super().__init__(UCBVI(**keywords), horizon, models, failure=failure)
        self.samples, self.pair_bytes = samples, type(self).pair_bytes

    def _share(self, failure: float) -> Share:
        """H + N in place of H; three times p, since a share keeps a third of it for learning."""
        share = super()._share(3.0 * failure)
        return replace(share, steps=share.steps + checks.integer("samples", self.samples, least=0, most=MOST_SAMPLES))

    def begin(self, setting: Setting) -> None:
        if setting.models is None:
            raise ValueError("UCBVIWithOracle must be told the worlds, for its oracle, and nobody knows them here")
        super().begin(setting)
        self._models = setting.models
        self.kept = WithExternal(shared=self.kept.shared)

    def episode(self, start: int, stream: RandomStream, task: int | None = None) -> Episode:
        learning, world = self.learning, self._world(task)
        known, tally, external = self._recollect(world), learning.tally(), self._ask(world, stream)
        behaviour = learning.act(_together(known, external).during(tally), self.horizon, stream)
        ran = yield from run_phase(Phase(behaviour, self.horizon, tally.counts, tally.sums), start)
        learning.learn(known, ran)
        self._remember(world, known)
        if self.samples > 0:
            self.kept.external[world] = external
        both = _together(known, external)
        best = learning.best(both, self.horizon, stream) if self.evaluates else None
        return Report(evaluation=best, evaluation_horizon=self.horizon, samples=(both.counts,))

    def _ask(self, world: int, stream: RandomStream) -> CountTable:
        """B with N samples more of every pair, in a table of its own."""
        before = self.kept.external.get(world, CountTable(self.setting.n_pairs))
        return merged([before, external_samples(self._models[world], self.samples, stream)])

    def restore(self, kept: Any) -> None:
        if set(kept.external) != (set(kept.known) if self.samples > 0 else set()):
            raise ValueError("memory.external must have the samples of every world that was met, and of no other")
        for world, table in kept.external.items():
            checks.integer("the number of a world in memory.external", world, least=0, most=len(self._models) - 1)
            visits = visits_by_pair(table).reshape(self.setting.n_states, -1)[~self._models[world].terminal]
            if visits.min() != visits.max() or visits.min() == 0 or visits.min() % self.samples != 0:
                words = f"{self.samples} samples of every pair, or a multiple of it"
                raise ValueError(f"memory.external[{world}] must have {words}")
        super().restore(kept)

    def findings(self) -> dict[str, Any]:
        drawn = {world: int(visits_by_pair(table).sum()) for world, table in self.kept.external.items()}
        return super().findings() | {"external_samples": [drawn[world] for world in sorted(drawn)]}

    def _theorem(self, episodes: int) -> RegretBound | None:
        """Theorem 35, repaired."""
        return external_samples_bound(
            states=self.setting.n_states,
            actions=self.setting.n_actions,
            episodes=episodes,
            horizon=self.horizon,
            samples=self.samples,
            failure=self.failure,
        )


def external_samples(world: MDP, samples: int, stream: RandomStream) -> CountTable:
    """What an oracle draws: so many successors of every pair of a world, independently.

    None of terminal states, in which nobody acts; arrivals there are counted as ends of an episode.

    Examples
    --------
    >>> import aomultirl as ao
    >>> from aomultirl.engine.random import streams
    >>> table = external_samples(ao.worlds.jao()[0], 100, streams(0, 1)[0])
    >>> visits_by_pair(table).tolist()
    [100, 100, 100, 100, 100, 100, 100, 100, 100, 100]
    """
    asked = np.where(np.repeat(world.terminal, world.n_actions), 0, samples)
    drawn = draw_successors(world.successors, world.alias_tables, asked, stream)
    came = np.flatnonzero(drawn)
    filled = np.bincount(world.successors.owners()[came], minlength=len(asked)).astype(np.int32)
    states = world.successors.states[came]
    arrivals = np.bincount(states, weights=drawn[came], minlength=world.n_states).astype(np.int64)
    ends = np.flatnonzero(world.terminal & (arrivals > 0))
    return table_of(Packed(filled, states, drawn[came], ends.astype(np.int32), arrivals[ends]), len(asked))


def _together(known: Known, external: CountTable) -> Known:
    """H and B as one."""
    return replace(known, counts=merged([known.counts, external]))

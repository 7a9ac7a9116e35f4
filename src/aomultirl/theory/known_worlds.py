"""What a planner earns that knows the worlds of a set, and is told nothing of which one an episode is.

No learner that is told nothing can have learned more than such a planner knows, so what it earns is the ceiling for
all of them.  The worlds share their rewards, so only successors, and whether the episode ended, tell worlds apart.  The
planner begins with the same belief in every world and holds, after every step, the exact posterior

    b(w)  proportional to  P_w(s_1) prod over steps of P_w(s' | s, a) [s' ends the episode in w as it did].

Three planners are here.

* **The optimum**, where the worlds are deterministic.  Every world is then either ruled out or as likely as before, so
  a belief is a set of worlds B, and being told nothing is an MDP whose states are the pairs (s, B).  Its optimal value
  is exact.
* **QMDP** (Littman, Cassandra, Kaelbling 1995) for any worlds: it takes the action

      argmax over a of  sum over w of b(w) Q_w(h, s, a),

  with the optimal Q of every world for the steps that are left, as if the world were told after this step.
* **The likeliest world** for any worlds: the action that is optimal in the world with the largest b(w), the first of
  them.

The last two never act in order to find out, so they may stay far below the optimum, QMDP where it cannot decide between
two ways, and the likeliest world where the other worlds punish a mistake.  What they earn is sampled.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from aomultirl import checks, sizes
from aomultirl.engine.candidates import Candidates, expected_q, step_likelihood
from aomultirl.engine.compiling import kernel
from aomultirl.engine.random import RandomStream, draw, streams
from aomultirl.engine.signals import serve_signals
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet

MOST_BELIEFS = 1_000_000
"""Pairs of a state and a set of worlds that the exact optimum looks at; some 2 KB of Python objects each."""
UNIT = 2.0**-53
"""What the 53 highest bits of a draw are multiplied by, for a number in [0, 1)."""


class PlannedReward(NamedTuple):
    """What a planner earns in an episode, in the mean over the worlds.

    reward
        the mean reward of an episode; steps after its end earn what the worlds say of the end.
    error
        the standard error of the reward; 0 where the reward is exact.
    optimum
        what a planner earns that is told the world.
    """

    reward: float
    error: float
    optimum: float

    @property
    def share(self) -> float:
        """The reward as a share of the optimum."""
        return self.reward / self.optimum


def told_nothing_optimum(models: ModelSet, horizon: int) -> PlannedReward:
    """The most that anybody can earn who is told nothing, where all worlds are deterministic; exact.

    Parameters
    ----------
    models
        worlds in which every action has one successor; all of them start alike.
    horizon
        H, the steps of an episode.

    Raises
    ------
    ValueError
        a world is not deterministic, or starts otherwise than the first; there are very many beliefs.

    Examples
    --------
    >>> import aomultirl as ao
    >>> told_nothing_optimum(ao.worlds.frozen_lakes(), 100).share
    1.0
    """
    horizon = checks.integer("horizon", horizon, least=1)
    _check_set(models)
    for i, world in enumerate(models):
        if not (np.diff(world.successors.starts) == 1).all():
            pair = int(np.argmax(np.diff(world.successors.starts) > 1))
            place = f"pair ({pair // models.n_actions}, {pair % models.n_actions})"
            raise checks.Refusal("models", f"has a world {i} that is not deterministic: {place} has several successors")
        if not np.array_equal(world.start_distribution, models[0].start_distribution):
            raise checks.Refusal("models", f"has a world {i} that starts otherwise than world 0")
    belief_world = _belief_world(models)
    reward = float(belief_world.start_distribution @ belief_world.first_values(horizon))
    return PlannedReward(reward, 0.0, _optimum(models, horizon))


def _belief_world(models: ModelSet) -> MDP:
    """The MDP whose states are pairs (s, B) of a state and the set of worlds that the episode may still be."""
    nexts = np.stack([world.successors.states.reshape(models.n_states, models.n_actions) for world in models])
    ends = np.stack([world.terminal for world in models])
    start = models[0].start_distribution
    every = tuple(range(len(models)))
    beliefs = {(int(state), every, False): place for place, state in enumerate(np.flatnonzero(start))}
    queue, rows = list(beliefs), list[list[dict[int, float]]]()
    for place, (state, possible, over) in enumerate(queue):  # the queue grows meanwhile
        if over:
            rows.append([{place: 1.0}] * models.n_actions)
            continue
        rows.append([])
        for action in range(models.n_actions):
            told_apart: dict[tuple[int, bool], list[int]] = {}
            for world in possible:
                successor = int(nexts[world, state, action])
                told_apart.setdefault((successor, bool(ends[world, successor])), []).append(world)
            row: dict[int, float] = {}
            for (successor, ended), left in told_apart.items():
                belief = (successor, tuple(left), ended)
                if belief not in beliefs:
                    beliefs[belief] = len(queue)
                    queue.append(belief)
                row[beliefs[belief]] = len(left) / len(possible)
            rows[-1].append(row)
        if len(queue) > MOST_BELIEFS:
            raise checks.Refusal("models", f"leads to more than {MOST_BELIEFS:,} beliefs; take fewer or smaller worlds")
    chances = np.zeros(len(queue))
    chances[: np.count_nonzero(start)] = start[start > 0.0]
    rewards = models.rewards[[state for state, _, _ in queue]]
    return MDP(rows, rewards, chances, terminal=[over for _, _, over in queue], rest=models.rest)


def qmdp_reward(models: ModelSet, horizon: int, episodes: int = 2000, seed: int = 0) -> PlannedReward:
    """What the planner QMDP earns, by playing it.

    Parameters
    ----------
    models
        the worlds.
    horizon
        H, the steps of an episode.
    episodes
        how many are played, as many in every world: at least one each.
    seed
        of the starts and the successors.

    Examples
    --------
    >>> import aomultirl as ao
    >>> 0.87 < qmdp_reward(ao.worlds.doors(sign=0.9), horizon=10).share < 0.93
    True
    """
    return _sampled(models, horizon, episodes, seed, is_qmdp=True)


def likeliest_world_reward(models: ModelSet, horizon: int, episodes: int = 2000, seed: int = 0) -> PlannedReward:
    """What the planner earns that acts as if the likeliest world were the true one, by playing it.

    Parameters as in :func:`qmdp_reward`.

    Examples
    --------
    >>> import aomultirl as ao
    >>> likeliest_world_reward(ao.worlds.gridworld(), horizon=500, episodes=100).share > 0.95
    True
    """
    return _sampled(models, horizon, episodes, seed, is_qmdp=False)


def _sampled(models: ModelSet, horizon: int, episodes: int, seed: int, *, is_qmdp: bool) -> PlannedReward:
    """What a planner earns by playing it: QMDP, or that of the likeliest world."""
    horizon = checks.integer("horizon", horizon, least=1)
    _check_set(models)
    each = -(-checks.integer("episodes", episodes, least=1) // len(models))
    seed = checks.seed("seed", seed)
    size = 8.0 * len(models) * (horizon + 1) * models.n_states
    sizes.check("horizon", horizon, size, "a table of all worlds, steps and states")
    sizes.check("episodes", episodes, 8.0 * len(models) * each, "the rewards of so many episodes")
    lengths = np.array([len(world.successors.probs) for world in models])
    n_pairs = models.n_states * models.n_actions
    known = Candidates(
        starts=np.stack([world.successors.starts for world in models]) + (np.cumsum(lengths) - lengths)[:, None],
        states=np.concatenate([world.successors.states for world in models]),
        probs=np.concatenate([world.successors.probs for world in models]),
        going_on=np.stack([~world.terminal for world in models]).astype(np.float64),
        row_floors=np.zeros((len(models), n_pairs)),
        end_floors=np.zeros((len(models), models.n_states)),
        values=np.stack([world.optimal_values(horizon) for world in models]),
        shared=np.array(models.rewards).reshape(-1),
        own=np.zeros((len(models), n_pairs)),
        caps=np.full(horizon, np.inf),
    )
    firsts = np.stack([world.start_distribution for world in models])
    rewards = np.zeros((each, len(models)))
    _play(known, firsts, float(models.rest), is_qmdp, rewards, streams(seed, 1)[0])
    variance = rewards.var(axis=0, ddof=1) if each > 1 else np.zeros(len(models))
    error = float(np.sqrt(variance.sum() / each) / len(models))
    return PlannedReward(float(rewards.mean()), error, _optimum(models, horizon))


def _check_set(models: ModelSet) -> None:
    if not isinstance(models, ModelSet):
        raise checks.Refusal("models", f"is {checks.shown(models)}, not a ModelSet")


def _optimum(models: ModelSet, horizon: int) -> float:
    return float(np.mean([world.start_distribution @ world.first_values(horizon) for world in models]))


@kernel
def _uniform(stream: RandomStream) -> float:
    """A number in [0, 1) from a stream, which moves on."""
    bits, stream[0], stream[1], stream[2], stream[3] = draw(stream[0], stream[1], stream[2], stream[3])
    return np.float64(bits >> np.uint64(11)) * UNIT


@kernel
def _update(known: Candidates, belief: NDArray[np.float64], pair: int, successor: int, ended: bool) -> None:
    """The posterior after one more step, in place."""
    total = 0.0
    for world in range(len(belief)):
        if belief[world] > 0.0:
            belief[world] *= step_likelihood(known, world, pair, successor, ended)
        total += belief[world]
    for world in range(len(belief)):
        belief[world] /= total


@kernel
def _play(
    known: Candidates,
    firsts: NDArray[np.float64],
    rest: float,
    is_qmdp: bool,
    rewards: NDArray[np.float64],
    stream: RandomStream,
) -> None:
    """Fill in what every episode earns, (episodes a world, M).

    ``firsts``, (M, S): the start distributions; ``rest``: what every step after the end is worth.
    """
    n_worlds, n_states = firsts.shape
    n_actions, horizon = len(known.shared) // n_states, len(known.caps)
    belief, trusted, q, spent = np.empty(n_worlds), np.zeros(n_worlds), np.empty(n_actions), 0
    for episode in range(len(rewards)):
        for world in range(n_worlds):
            left, state = _uniform(stream), 0
            while state < n_states - 1 and left >= firsts[world, state]:
                left -= firsts[world, state]
                state += 1
            while firsts[world, state] == 0.0:  # beyond the last by rounding
                state -= 1
            belief[:] = firsts[:, state]
            belief /= belief.sum()
            total = 0.0
            for step in range(horizon):
                if not is_qmdp:
                    trusted[:] = 0.0
                    trusted[np.argmax(belief)] = 1.0
                expected_q(known, belief if is_qmdp else trusted, step, state, q)
                action = np.argmax(q)
                pair = state * n_actions + action
                total += known.shared[pair]
                first, last = known.starts[world, pair], known.starts[world, pair + 1]
                spent = serve_signals(spent, 2 * n_worlds * n_actions * (last - first))
                left, i = _uniform(stream), first
                while i < last - 1 and left >= known.probs[i]:
                    left -= known.probs[i]
                    i += 1
                successor = known.states[i]
                ended = known.going_on[world, successor] == 0.0
                _update(known, belief, pair, successor, ended)
                state = successor
                if ended:
                    total += (horizon - step - 1) * rest
                    break
            rewards[episode, world] = total

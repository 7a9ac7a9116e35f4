"""Logs of hidden worlds, grouped: two instances that were published, written anew from their descriptions.

    python examples/offline.py
    python examples/offline.py --quick

The first is a mixture of two grid worlds of 8 x 8 (Kausik, Tan, Tewari 2023): every action slips with 0.04 to each of
the others, and in one world does with probability 0.6 what the best action of the state would do, in the other what
the worst one would; 1,000 trajectories of 20 to 100 steps from uniformly random states.  The second is that of Lee,
Jedra, Proutiere and Yun (2025): three Markov chains of ten states, 100 to 600 trajectories of 100 steps.  All rows of
the first chain are uniform; in the second 0.09 is moved from the state after s to s itself, in the third from the one
after that to the one after s.  "Knows the worlds" is the label of the greatest likelihood under the truth.
Some ten minutes.
"""

import sys

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

import aomultirl as ao

Floats = NDArray[np.float64]
SIZE, SLIP, WEIGHT, DISCOUNT, SWEEPS = 8, 0.04, 0.6, 0.98, 100
HOLES = ((1, 4), (2, 3), (3, 5), (4, 3), (5, 1), (5, 2), (5, 6), (6, 1), (6, 4), (6, 6), (7, 3))
BETTER = ((1, 2), (2, 6), (3, 1), (3, 7), (4, 6), (5, 4), (7, 5))
MOVES = ((0, -1), (0, 1), (-1, 0), (1, 0))


def grid() -> tuple[Floats, Floats]:
    """(Transitions before anything is confounded, (64, 4, 64); the reward of arriving in each cell, (64,))."""
    last, rows = SIZE * SIZE - 1, np.zeros((SIZE * SIZE, 4, SIZE * SIZE))
    for state in range(last):
        row, column = divmod(state, SIZE)
        for move, (down, right) in enumerate(MOVES):
            to = SIZE * min(SIZE - 1, max(0, row + down)) + min(SIZE - 1, max(0, column + right))
            rows[state, :, to] += SLIP
            rows[state, move, to] += 1.0 - 4.0 * SLIP
    rows[last, :, last] = 1.0
    paid = np.full((SIZE, SIZE), -0.01)
    for cells, reward in ((HOLES, -0.5), (BETTER, -0.005), (((SIZE - 1, SIZE - 1),), 1.0)):
        for cell in cells:
            paid[cell] = reward
    return rows, paid.ravel()


def confounded_grids() -> tuple[Floats, Floats]:
    """(Transitions of both worlds, (2, 64, 4, 64); how probable actions are in the logs, (64, 4))."""
    rows, paid = grid()
    states, arriving = np.arange(len(rows)), np.tile(paid, (len(rows), 1))
    arriving[-1, -1] = 0.0
    values = np.zeros(len(rows))
    for _ in range(SWEEPS):  # of acting at random
        values = (np.einsum("sat,st->sa", rows, arriving) + DISCOUNT * rows @ values).mean(axis=1)
    ahead = rows @ values
    worlds = [
        (1.0 - WEIGHT) * rows + WEIGHT * rows[states, pick][:, None] for pick in (ahead.argmax(1), ahead.argmin(1))
    ]
    policies = []
    for sign in (0.2, -0.2):
        policy = np.tile([0.4, 0.1, 0.1, 0.4], (len(rows), 1)) - sign
        policy[states, ahead.argmax(1)] += 2.0 * sign
        policy = np.maximum(policy, 0.0) + 0.05
        policies.append(policy / policy.sum(axis=1, keepdims=True))
    return np.array(worlds), np.mean(policies, axis=0)


def cyclic_chains() -> Floats:
    """Rows of three chains, (3, 10, 1, 10): uniform ones, and two in which 0.09 is moved by one state."""
    states = np.arange(10)
    chains = np.full((3, 10, 1, 10), 0.1)
    for chain in (1, 2):
        chains[chain, states, 0, (states + chain - 1) % 10] += 0.09
        chains[chain, states, 0, (states + chain) % 10] -= 0.09
    return chains


def walk(rows: Floats, policy: Floats, steps: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """A trajectory, (T, 3), from a uniformly random state."""
    out, state = np.zeros((steps, 3), np.int64), int(rng.integers(len(rows)))
    for step in range(steps):
        action = int(rng.choice(policy.shape[1], p=policy[state]))
        successor = int(np.searchsorted(rows[state, action].cumsum(), rng.random() * rows[state, action].sum()))
        out[step], state = (state, action, successor), successor
    return out


def right(labels: NDArray[np.int64], true: NDArray[np.int64]) -> float:
    """The share of the labels that are right, under the best names."""
    table = np.zeros((labels.max() + 1, true.max() + 1))
    np.add.at(table, (labels, true), 1.0)
    return float(table[linear_sum_assignment(-table)].sum() / len(labels))


def compare(worlds: Floats, policy: Floats, count: int, steps: int, seed: int) -> dict[str, float]:
    """The share of right labels of every method, and how many groups were found where nobody says."""
    rng = np.random.default_rng(seed)
    true = rng.integers(len(worlds), size=count)
    logs = [walk(worlds[world], policy, steps, rng) for world in true]
    likely = [[np.log(rows[tuple(one.T)]).sum() for rows in np.maximum(worlds, 1e-12)] for one in logs]
    found = ao.cluster(logs, n_states=policy.shape[0], n_actions=policy.shape[1], seed=seed)
    shares = {"knows the worlds": float((np.argmax(likely, axis=1) == true).mean())}
    shares |= {"likelihood, number unknown": right(found.labels, true), "groups found": float(len(found))}
    for method in ("subspace", "em"):
        shares[method] = right(ao.cluster(logs, len(worlds), method=method, seed=seed).labels, true)
    return shares


def main() -> None:
    """Print both tables."""
    quick = "--quick" in sys.argv
    grids, policy = confounded_grids()
    for steps in (20, 60) if quick else (20, 40, 60, 80, 100):
        _show("two grid worlds", grids, policy, 200 if quick else 1000, steps, 1 if quick else 3)
    for count in (100,) if quick else (100, 400, 600):
        _show("three Markov chains", cyclic_chains(), np.ones((10, 1)), count, 100, 1 if quick else 10)


def _show(name: str, worlds: Floats, policy: Floats, count: int, steps: int, seeds: int) -> None:
    runs = [compare(worlds, policy, count, steps, seed) for seed in range(seeds)]
    shares = ", ".join(f"{key} {np.mean([run[key] for run in runs]):.3f}" for key in runs[0])
    sys.stdout.write(f"{name}, {count} trajectories of {steps} steps: {shares}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()

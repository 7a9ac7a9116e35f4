"""What is earned by whoever knows the worlds and is told nothing, by every history of tiny worlds; and such worlds."""

import numpy as np
from hypothesis import strategies as st

import aomultirl as ao
from strategies import outcomes


def slow_value(models, horizon, choose):
    """What an agent that ``choose(belief, state, step)`` is earns, in the mean over the worlds, by every history.

    ``choose`` may be None: then the best action is taken, which makes it the optimum over all policies told nothing.
    """

    def value(weights, state, step):
        """The sum over worlds of the weight times what is still earned."""
        if step == horizon or weights.sum() == 0.0:
            return 0.0
        totals = []
        for action in range(models.n_actions):
            total = weights.sum() * models.rewards[state, action]
            branches = {}
            for w, world in enumerate(models):
                if weights[w] > 0.0:
                    for outcome, chance in outcomes(world, state, action).items():
                        branches.setdefault(outcome, np.zeros(len(models)))[w] = weights[w] * chance
            for (successor, ended), left in branches.items():
                rest = left.sum() * models.rest * (horizon - step - 1)
                total += rest if ended else value(left, successor, step + 1)
            totals.append(total)
        return max(totals) if choose is None else totals[choose(weights / weights.sum(), state, step)]

    return value(np.full(len(models), 1.0 / len(models)), models[0].start, 0)


def slow_planner(models, horizon, is_qmdp):
    values = [world.optimal_values(horizon) for world in models]

    def choose(belief, state, step):
        if not is_qmdp:
            belief = np.eye(len(models))[np.argmax(belief)]
        scores = [
            sum(
                chance * (models.rewards[state, action] + world.transitions[state, action] @ values[w][step + 1])
                for w, (chance, world) in enumerate(zip(belief, models, strict=True))
                if chance > 0.0
            )
            for action in range(models.n_actions)
        ]
        return int(np.argmax(scores))

    return choose


@st.composite
def deterministic_sets(draw):
    """Two or three worlds with one successor a pair, which differ in successors and in terminal states."""
    n_states, n_actions = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    base = rng.integers(0, n_states, (n_states, n_actions))
    rewards, rest = rng.random((n_states, n_actions)), draw(st.sampled_from([0.0, 0.5]))
    models = []
    for _ in range(draw(st.integers(2, 3))):
        nexts = np.where(rng.random(base.shape) < 0.5, base, rng.integers(0, n_states, base.shape))
        terminal = np.flatnonzero(rng.random(n_states) < 0.3)
        rows = [[{int(s): 1.0} for s in row] for row in nexts]
        models.append(ao.MDP(rows, rewards, terminal=terminal[terminal > 0], rest=rest))
    return ao.ModelSet(models)

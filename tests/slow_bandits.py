"""A bandit as an environment, and which arms umUCB may pull, by its definition."""

import math

import gymnasium


def slow_choices(means, accuracy, logarithm, pulls, paid):
    """All arms that umUCB may pull, and whether no model is left: by the definition."""
    n_arms = len(pulls)
    seen = [paid[i] / pulls[i] if pulls[i] else 0.0 for i in range(n_arms)]
    radius = [math.sqrt(logarithm / (2 * pulls[i])) if pulls[i] else math.inf for i in range(n_arms)]
    upper = [seen[i] + radius[i] for i in range(n_arms)]
    left = [theta for theta in means if all(abs(theta[i] - seen[i]) <= radius[i] + accuracy for i in range(n_arms))]
    if not left:
        return {i for i in range(n_arms) if upper[i] == max(upper)}, True
    bounds = [[min(theta[i] + accuracy, upper[i]) for i in range(n_arms)] for theta in left]
    best = max(max(bound) for bound in bounds)
    return {i for bound in bounds if max(bound) == best for i in range(n_arms) if bound[i] == best}, False


class Arms(gymnasium.Env):
    """A bandit as most people would write it: one observation, and payoffs of a few sizes."""

    observation_space = gymnasium.spaces.Discrete(1)

    def __init__(self, means, times=1.0):
        self.means, self.times = means, times
        self.action_space = gymnasium.spaces.Discrete(len(means))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, self.times * float(self.np_random.random() < self.means[action]), False, False, {}

"""Why lambda-separability and no entropy: the pair of Appendix B, all of it computed.

A set is well separated in the sense of latent-MDP methods if under *every* policy a trajectory of world m makes
another world m' look likely, Pr_m'(tau) / Pr_m(tau) > (eps_p / M)^c1, with probability below (eps_p / M)^c2, where
c1, c2 >= 4.  What a policy chooses cancels in the ratio, so the trajectories of all policies are those of all actions.
"""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.mdp import ModelSet
from aomultirl.worlds.entropy_pair import entropy_pair

PLACE, FIGURE = "Appendix B, lemma (E16)", "assumptions_entropy"
LEVELS = (0.1, 0.25, 0.5, 0.75, 0.9)
LEVEL, TARGET, POWER = 0.5, 0.1, 4.0
"""lambda of the figure, eps_p, and c1 = c2."""
LIKELY = (TARGET / 2.0) ** POWER
TELLING = (0, 0)
"""The only pair at which the worlds differ."""


class Trajectories(NamedTuple):
    """All that are possible, of one length: their probabilities in both worlds but for the choice of actions, (2, n),
    and how often each visits the pair that tells, (n,)."""

    chances: NDArray[np.float64]
    told: NDArray[np.int64]

    @property
    def ratios(self) -> NDArray[np.float64]:
        """Of the second world to the first."""
        return np.asarray(self.chances[1] / self.chances[0])


def trajectories(models: ModelSet, steps: int, policy: Sequence[int] | None = None) -> Trajectories:
    """From state 0, with every sequence of actions, or with those of a policy, (S,)."""
    tables = np.stack([model.transitions for model in models])
    if policy is not None:
        tables[:, np.arange(tables.shape[2]) != np.array(policy)[:, None]] = 0.0
    states, chances, told = np.zeros(1, np.int64), np.ones((2, 1)), np.zeros(1, np.int64)
    for _ in range(steps):
        rows = tables[:, states]
        start, action, successor = np.nonzero(rows.min(axis=0) > 0.0)
        chances = chances[:, start] * rows[:, start, action, successor]
        told = told[start] + ((states[start] == TELLING[0]) & (action == TELLING[1]))
        states = successor
    return Trajectories(chances, told)


def measure(longest: int) -> Findings:
    """Everything, with all trajectories of up to ``longest`` steps."""
    drawn, linked = (
        {
            level: [trajectories(entropy_pair(level, communicating), steps) for steps in range(1, longest + 1)]
            for level in LEVELS
        }
        for communicating in (False, True)
    )
    claims = [_separable(), _blind([drawn, linked], longest), _never(drawn), *_seeing()]
    return Findings(claims, [_figure()])


def _separable() -> Claim:
    off = max(abs(entropy_pair(level).separation() - level) for level in LEVELS)
    words = f"the pair is lambda-separable, lambda = {', '.join(f'{level:g}' for level in LEVELS)}"
    rule = "computed; at most 1e-12, as the largest difference between the l1 distance and lambda"
    return Claim(words, PLACE, 0.0, off, off, off, off <= 1e-12, rule, "under '>=', not under '>' (E1)")


def _blind(groups: Sequence[dict[float, list[Trajectories]]], longest: int) -> Claim:
    every = [one for group in groups for row in group.values() for one in row]
    off = max(float(np.abs(one.ratios[one.told == 0] - 1.0).max()) for one in every)
    count = sum(int((one.told == 0).sum()) for one in every)
    return Claim(
        "the likelihood ratio is exactly 1 on every trajectory without (s1, a1), so under every blind policy",
        PLACE,
        0.0,
        off,
        off,
        off,
        off == 0.0,
        "computed; nothing but 0, as the largest distance from 1",
        f"all {count:,} such trajectories of up to {longest} steps, for all lambda, as drawn and with a way back to s1",
    )


def _never(drawn: dict[float, list[Trajectories]]) -> Claim:
    """As drawn nothing returns to s1, so even who looks sees one sample."""
    least = min(float(one.ratios.min()) for row in drawn.values() for one in row)
    return Claim(
        "as drawn the pair is well separated under no policy: every trajectory makes both worlds look likely",
        PLACE,
        "above 1/16, the most that (eps_p / M)^c1 can be",
        least,
        least,
        least,
        least > 1.0 / 16.0,
        "computed; the smallest ratio of all trajectories",
        "nothing returns to s1 (E16), so nobody sees more than one sample; blindness is not needed for the lemma",
        FIGURE,
    )


def chance_of_likely(visits: int, level: float, least: float = LIKELY) -> float:
    """Pr_1(ratio > least) after so many visits of (s1, a1); ``least`` is (eps_p / M)^c1."""
    hit, miss = math.log(0.5), math.log((1.0 - level / 2.0) / (1.0 - level))
    most = (visits * miss - math.log(least)) / (miss - hit)  # so many hits make the ratio just that
    return float(bdtr(min(visits, math.ceil(most) - 1), visits, level)) if most > 0.0 else 0.0


def _seeing() -> list[Claim]:
    """With a way back, one who always looks and returns has a sample every second step."""
    steps = next(2 * n for n in range(1, 10**6) if chance_of_likely(n, LEVEL) < LIKELY)
    value, words = float(steps), f"eps_p = {TARGET:g}, c1 = c2 = {POWER:g}, lambda = {LEVEL:g}"
    chance = min(
        float(seen.chances[0][seen.ratios > LIKELY].sum())
        for others in product((0, 1), repeat=2)
        for seen in [trajectories(entropy_pair(LEVEL, communicating=True), 10, (1, *others))]
    )
    return [
        Claim(
            "under a blind policy the other world looks likely with probability 1, whatever the horizon",
            PLACE,
            1.0,
            chance,
            chance,
            chance,
            chance == 1.0,
            f"computed; separation wants less than (eps_p / M)^c2 = {LIKELY:.3g}",
            f"{words}; the least of the four deterministic ones, after 10 steps; the ratio is 1 and stays there",
            FIGURE,
        ),
        Claim(
            "with a way back to s1 a policy that looks separates the pair: it is the blind one that does not",
            PLACE,
            "some horizon",
            value,
            value,
            value,
            math.isfinite(value),
            "computed; the first horizon at which the probability is below (eps_p / M)^c2",
            words,
            FIGURE,
        ),
    ]


def _figure() -> Figure:
    horizons = [2 * n for n in np.unique(np.geomspace(1, 1000, 40).round()).astype(int).tolist()]
    looks = [max(chance_of_likely(h // 2, LEVEL), 1e-12) for h in horizons]
    ends: Sequence[float] = (horizons[0], horizons[-1])
    return Figure(
        FIGURE,
        "The entropy pair: how likely the other world looks likely",
        "horizon H",
        "Pr(likelihood ratio > (eps_p / M)^c1)",
        [
            Series("a blind policy: never a1 in s1", ends, (1.0, 1.0)),
            Series("a policy that looks: always a1 in s1, then back", [float(h) for h in horizons], looks),
            Series("what separation wants: (eps_p / M)^c2", ends, (LIKELY, LIKELY), kind="theory"),
        ],
        caption=f"With a way back to s1, lambda = {LEVEL:g}, eps_p = {TARGET:g}, c1 = c2 = {POWER:g}; all computed.",
    )

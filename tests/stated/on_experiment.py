"""What the paper's experiment gives, run as ``aomultirl reproduce`` runs it: ten seconds of CPU, in the long tests."""

import re
from functools import cache

import numpy as np

from aomultirl.analysis.claims import Claim
from aomultirl.analysis.paper_claims import check_claims
from aomultirl.experiments.paper import (
    ALONE,
    DISCOVERED,
    GIVEN,
    HITTING_TIME,
    OPTIMAL,
    RANDOM,
    PaperExperiment,
    Results,
)
from stated.checks import states, worth
from stated.reading import DIGITS

PAGE, AGENTS = "docs/experiment.md", "docs/agents.md"


@cache
def results(edges: str = "stay") -> Results:
    """Every run of every agent."""
    found = Results(PaperExperiment(edges=edges))
    for cell in found.experiment.cells():
        found.histories.setdefault(cell.label, []).append(cell.run())
    return found


@cache
def claims() -> dict[str, Claim]:
    """By their words."""
    return {claim.claim: claim for claim in check_claims(results(), results().experiment.models())}


def reason(words: str) -> list[float]:
    """The numbers that a claim's reason has, in their order."""
    found = re.sub(r"\bm\d", "", claims()[words].reason)
    return [worth(match[0]) for match in DIGITS.finditer(found)]


@states(
    PAGE,
    "With {} runs (seed 0) AOMultiRL passes one-episode UCBVI after {} episodes ({} to {}; single runs after {} to {})",
    long=True,
)
def passing():
    claim = claims()["AOMultiRL passes one-episode UCBVI"]
    _, first, last = reason("AOMultiRL passes one-episode UCBVI")
    return results().experiment.runs, claim.measured, claim.low, claim.high, first, last


@states(PAGE, "at {} % of the optimal agent's ({} to {}; the mean decides, since {} % is this project's", long=True)
def at_the_end_of_the_curve():
    claim = claims()["AOMultiRL approaches the optimal agent"]
    return claim.measured, claim.low, claim.high, claim.rule.predicted


@states(PAGE, "in the last {} episodes alone it earns {} %", long=True)
def in_the_last_episodes():
    ours, best = (results().counted(label, "evaluation_value")[:, -20:].mean() for label in (GIVEN, OPTIMAL))
    return 20, 100 * ours / best


@states(
    PAGE,
    "its exact reward falls from {} to {} in episode {}, the first, and on to {} in episodes {} and {}, and is {} in "
    "the last {} of these {} episodes",
    long=True,
)
def when_m4_comes():
    before, lowest, one, another, from_0, at_first, first = reason("its reward drops when m4 first appears")
    afterwards, last = reason("afterwards it increases again")
    assert from_0 == 0
    return before, at_first, first, lowest, one, another, afterwards, last, 50


@states(
    PAGE,
    "{} by the optimal agent, {} and {} by the two `AOMultiRL`, {} by the one-episode learner, which is to the bit",
    long=True,
)
def what_was_earned_a_step():
    labels = OPTIMAL, GIVEN, DISCOVERED, ALONE
    rewards = {label: both_phases(label, "reward") for label in (*labels, RANDOM)}
    assert np.array_equal(rewards[ALONE], rewards[RANDOM])
    return [rewards[label].sum() / both_phases(label, "steps").sum() for label in labels]


def both_phases(label, what):
    """Reward, or steps, of every counted episode."""
    first = {"reward": "clustering_reward", "steps": "identification_steps"}[what]
    return sum(results().counted(label, column) for column in (first, f"learning_{what}"))


@states(
    AGENTS, "which take the hitting time for {}, {} of {} episodes ({} runs) ended their clustering phase", long=True
)
def failed_explorations():
    return HITTING_TIME, *short_of_samples("stay"), results().experiment.runs


@states(AGENTS, "is infinite, and {} of {} on the text's.", long=True)
def failed_explorations_on_the_grids_of_the_text():
    return short_of_samples("third")


def short_of_samples(edges):
    short = ~results(edges).counted(GIVEN, "exploration_ok")
    assert not results(edges).counted(GIVEN, "misclustered").any()
    return short.sum(), short.size

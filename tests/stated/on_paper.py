"""What the map of the paper, and the page on its experiment, state."""

import math
import re

import numpy as np

from aomultirl import theory
from aomultirl.analysis import rules
from aomultirl.analysis.errata import ERRATA
from aomultirl.analysis.paper_claims import TIE, tied_states
from aomultirl.experiments.paper import HITTING_TIME, LABELS, PaperExperiment
from aomultirl.model_set import BELOW_SEPARATION
from stated.checks import states, worth
from stated.computed import clustering_horizon, grids, hitting_time
from stated.reading import ROOT

MAP, EXPERIMENT = "docs/paper_map.md", "docs/experiment.md"


def both_horizons():
    return clustering_horizon("paper"), clustering_horizon("released")


def quoted():
    """What the paper says of H0, and what comes near it, as an erratum quotes them."""
    return [worth(number) for number in re.findall(r"[\d,]{4,}", ERRATA[23])]


states(MAP, "the default level is the separation less {}")(lambda: [BELOW_SEPARATION])
states(MAP, "H0 ≈ {} in the experiment")(lambda: quoted()[:1])
states(MAP, "with the paper's D = 7, {} with the constants of the text and {} with the released ones;")(both_horizons)
states(MAP, "and equation 38 give {}, which is near")(lambda: quoted()[1:])
states(EXPERIMENT, "not about {}. The nearest that we found is {}, with N")(quoted)
states(EXPERIMENT, "# N and H0 by the paper's formulas: {} steps a phase")(lambda: both_horizons()[:1])
states(EXPERIMENT, "H0 is {} steps in the authors' code and {} by the formula, both")(lambda: both_horizons()[::-1])


@states(EXPERIMENT, "The hitting time is infinite ({} in the text's grids), not {}.")
def the_hitting_time():
    return hitting_time(), HITTING_TIME


@states(MAP, "diameter {}, hitting time {}; in the released version {} and infinite")
def diameters():
    return grids()[0].diameter(), hitting_time(), grids("stay")[0].diameter()


@states(EXPERIMENT, "{} agents, K = 200 episodes, {} runs, the paper's sequence")
@states("README.md", "average per-episode reward of {} agents, {} runs]")
def sizes_of_the_experiment():
    return len(LABELS), PaperExperiment().runs


states(EXPERIMENT, "of the {} agents: what each learned policy earns")(lambda: [len(LABELS)])


@states(
    MAP,
    "| {} actions tie at {} states, in m1 and m4 with the released edges and in every world with those of the text |",
)
def ties():
    """Of no world are there more than two best actions, and all with ties have as many."""
    return most_best_actions(200), tied_to_go(200)


@states(EXPERIMENT, "with {} or more steps to go {} actions tie at {} states of m1 and m4")
def ties_until_the_end():
    """The same from so many steps on; with fewer, other states tie, too."""
    (least,) = [h for h in range(2, 10) if tied_to_go(h) == tied_to_go(200) != tied_to_go(h - 1)]
    assert all((most_best_actions(h), tied_to_go(h)) == (2, tied_to_go(200)) for h in range(least, 200))
    assert all(tied_states(world, 1) and tied_states(world, least - 1) for world in (*grids(), *grids("stay")))
    return least, most_best_actions(least), tied_to_go(least)


def tied_to_go(steps):
    """How many states tie in each world of the text and in two of the released ones; 0 where counts differ."""
    found = {edges: [tied_states(world, steps) for world in grids(edges)] for edges in ("stay", "third")}
    counts = {len(tied) for tied in (*found["third"], found["stay"][0], found["stay"][3])}
    return counts.pop() if len(counts) == 1 else 0


def most_best_actions(steps):
    """Of the worlds that tie with 200 steps to go."""
    worlds = [*grids(), grids("stay")[0], grids("stay")[3]]
    values = [world.rewards + world.transitions @ world.optimal_values(steps)[1] for world in worlds]
    return max((best >= best.max(axis=1, keepdims=True) - TIE).sum(axis=1).max() for best in values)


@states(MAP, "makes K1 S A at least {}, where K is {}")
def the_two_stages_of_the_experiment():
    worlds = grids()
    each_once = len(worlds)  # the episodes of the first stage
    return each_once * worlds.n_states * worlds.n_actions, PaperExperiment().episodes + each_once


@states(MAP, "the zero vector, at distance {} from every row")
def the_distance_of_nothing():
    return [max(np.abs(row).sum() for row in grids()[0].transitions.reshape(-1, 16))]


@states(MAP, "| ln({}SAKH/p), for one world | ln({}SAKHM/p")
def factors_in_logarithms():
    sizes = {"states": 16, "actions": 4, "models": 4, "episodes": 200, "horizon": 200, "failure": 0.03}
    of_four = math.exp(theory.logarithm(**sizes)) * (0.03 / 3) / (16 * 4 * 200 * 200 * 4)
    return of_four, of_four


@states(MAP, "which is c = 256 max{{}, ln(K")
def the_least_start_of_the_doubling():
    return [theory.samples_needed(states := 10**6, 1, 1.0, 2, 0.5) / (256 * states)]


@states("docs/lower_bounds.md", "theory.multi_task_lower_bound(**size)  # {} of the {} steps")
def bound_of_the_example():
    return theory.multi_task_lower_bound(**example()), example()["episodes"] * example()["horizon"]


@states("docs/lower_bounds.md", "shares=[2400, 0, 0, 0])  # {}, one world")
def bound_of_one_world():
    return [theory.multi_task_lower_bound(**example(), shares=[example()["episodes"], 0, 0, 0])]


def example():
    """The sizes in the code of the page."""
    (sizes,) = re.findall(r"^size = dict\((.*)\)$", (ROOT / "docs/lower_bounds.md").read_text("utf-8"), re.MULTILINE)
    return {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", sizes)}


@states("docs/lower_bounds.md", "its interval is at most {} wide")
def width_of_an_exponent():
    return [rules.WIDEST]

"""What the pages state that somebody new reads first."""

import inspect
import re

import aomultirl as ao
from aomultirl.analysis import intervals
from aomultirl.experiments.paper import HITTING_TIME
from stated.checks import states
from stated.reading import ROOT

PROBLEM, GLOSSARY = "docs/is_it_my_problem.md", "docs/glossary.md"


@states(GLOSSARY, "Where the mean over many runs lies with {} % confidence")
def level_of_intervals():
    return [100 * inspect.signature(intervals.over_runs).parameters["level"].default]


@states(GLOSSARY, "The paper says {} of its grids")
def hitting_time_of_the_paper():
    return [HITTING_TIME]


@states(PROBLEM, "{} where they are alike, {} where they have no successor in common")
@states(GLOSSARY, "It is {} where worlds are the same, and {} where a pair leads to states in one world")
def ends_of_the_separation():
    here, there = (ao.MDP([[row], [row]], [[0.0], [0.0]]) for row in ([1.0, 0.0], [0.0, 1.0]))
    return ao.ModelSet([here, here]).separation(), ao.ModelSet([here, there]).separation()


@states(PROBLEM, "no learner can be right with probability {} in fewer steps")
def probability_of_the_bound():
    page = (ROOT / PROBLEM).read_text(encoding="utf-8")
    (failure,) = re.findall(r"identification_lower_bound\(.*failure=([\d.]+)\)", page)
    return [1.0 - float(failure)]

"""What the pages state that somebody new reads first."""

import re

import aomultirl as ao
from stated.checks import states
from stated.reading import ROOT

PROBLEM = "docs/is_it_my_problem.md"


@states(PROBLEM, "{} where they are alike, {} where they have no successor in common")
def ends_of_the_separation():
    here, there = (ao.MDP([[row], [row]], [[0.0], [0.0]]) for row in ([1.0, 0.0], [0.0, 1.0]))
    return ao.ModelSet([here, here]).separation(), ao.ModelSet([here, there]).separation()


@states(PROBLEM, "no learner can be right with probability {} in fewer steps")
def probability_of_the_bound():
    page = (ROOT / PROBLEM).read_text(encoding="utf-8")
    (failure,) = re.findall(r"identification_lower_bound\(.*failure=([\d.]+)\)", page)
    return [1.0 - float(failure)]

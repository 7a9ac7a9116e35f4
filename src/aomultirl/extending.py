"""Everything that a learner, an explorer, an agent, a world or a stream of one's own is made from, in one place.

``docs/extending/`` has a file of each kind as an example.
"""

import warnings
from typing import TYPE_CHECKING, Any

from aomultirl import checks
from aomultirl.agents.base import Agent, NoMemory, Report
from aomultirl.engine.behaviours import ASK, FOREVER, Table, act_uniformly, empty_table, follow, register
from aomultirl.engine.compiling import kernel
from aomultirl.engine.counts import Counts, CountTable, visits_of
from aomultirl.engine.random import RandomStream, draw_below
from aomultirl.engine.stepping import Outcome, Phase, Ran
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.learning.base import Known, Learner, Learning, Share, Tally
from aomultirl.learning.greedy import greedy
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.records import Shape, Within
from aomultirl.setting import Setting
from aomultirl.streams import Past, Stream

__all__ = [
    "ASK",
    "FOREVER",
    "MDP",
    "Agent",
    "CountTable",
    "Counts",
    "Exploration",
    "Explorer",
    "Known",
    "Learner",
    "Learning",
    "ModelSet",
    "NoMemory",
    "Outcome",
    "Past",
    "Phase",
    "Ran",
    "RandomStream",
    "Report",
    "Setting",
    "Shape",
    "Share",
    "Stream",
    "Table",
    "Tally",
    "Within",
    "act_uniformly",
    "checks",
    "draw_below",
    "empty_table",
    "follow",
    "greedy",
    "kernel",
    "register",
    "visits_of",
]

if not TYPE_CHECKING:  # type checkers know no names but those above

    def __getattr__(name: str) -> Any:
        """The behaviour that was called ``uniform`` here, as the stream still is, under its old name."""
        if name == "uniform":
            warnings.warn("aomultirl.extending.uniform is called act_uniformly now", DeprecationWarning, stacklevel=2)
            return act_uniformly
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

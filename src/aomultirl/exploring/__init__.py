"""How to gather samples: explorers, each a record of parameters, that visit every pair of a set often enough."""

from aomultirl import plugins
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.exploring.curious_walk import CuriousWalk
from aomultirl.exploring.explore_id import ExploreID, explore_id
from aomultirl.exploring.fw_modest import FWModest, WeightedMaxEnt
from aomultirl.exploring.gosprl import GOSPRL, gosprl
from aomultirl.exploring.pac_explore import PACExplore
from aomultirl.exploring.seek import Seeker

__all__ = [
    "GOSPRL",
    "CuriousWalk",
    "Exploration",
    "ExploreID",
    "Explorer",
    "FWModest",
    "PACExplore",
    "Seeker",
    "WeightedMaxEnt",
    "explore_id",
    "gosprl",
]

plugins.offer_own("explorer", Explorer, (ExploreID, GOSPRL, Seeker, PACExplore, CuriousWalk, FWModest, WeightedMaxEnt))

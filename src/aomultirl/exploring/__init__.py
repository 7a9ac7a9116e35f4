"""How to gather samples: explorers, each a record of parameters, that visit every pair of a set often enough."""

from aomultirl import plugins
from aomultirl.exploring.base import Exploration, Explorer
from aomultirl.exploring.explore_id import ExploreID, explore_id
from aomultirl.exploring.gosprl import GOSPRL, gosprl
from aomultirl.exploring.seek import Seeker

__all__ = ["GOSPRL", "Exploration", "ExploreID", "Explorer", "Seeker", "explore_id", "gosprl"]

plugins.offer_own("explorer", Explorer, (ExploreID, GOSPRL, Seeker))

"""How to gather samples: behaviours that visit every pair of a set often enough."""

from aomultirl.exploring.explore_id import explore_id
from aomultirl.exploring.gosprl import gosprl

__all__ = ["explore_id", "gosprl"]

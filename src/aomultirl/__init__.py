"""Reinforcement learning when every episode is one of several hidden worlds and nobody says which.

It starts from "Adversarial Online Multi-Task Reinforcement Learning" (Nguyen and Mehta); `docs/paper_map.md`
lists what of the paper is where.
"""

from aomultirl import theory, worlds
from aomultirl.engine.successors import Successors
from aomultirl.mdp import MDP, ModelSet

__version__ = "0.1.0"

__all__ = ["MDP", "ModelSet", "Successors", "__version__", "theory", "worlds"]

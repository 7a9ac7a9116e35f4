"""Reinforcement learning when every episode is one of several hidden worlds and nobody says which.

It starts from "Adversarial Online Multi-Task Reinforcement Learning" (Nguyen and Mehta); `docs/paper_map.md`
lists what of the paper is where.
"""

__version__ = "0.1.0"

from aomultirl import agents, exploring, hidden_worlds, learning, plugins, streams, theory, worlds, wrappers
from aomultirl.agents.saving import load_agent, save
from aomultirl.engine.interacting import Session
from aomultirl.engine.successors import Successors
from aomultirl.experiments import History, check_agent, check_explorer, check_learner, interact, run
from aomultirl.experiments.loading import load
from aomultirl.hidden_worlds import HiddenWorlds
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.offline import LogGroups, cluster

__all__ = [
    "MDP",
    "HiddenWorlds",
    "History",
    "LogGroups",
    "ModelSet",
    "Session",
    "Successors",
    "__version__",
    "agents",
    "check_agent",
    "check_explorer",
    "check_learner",
    "cluster",
    "exploring",
    "hidden_worlds",
    "interact",
    "learning",
    "load",
    "load_agent",
    "plugins",
    "run",
    "save",
    "streams",
    "theory",
    "worlds",
    "wrappers",
]

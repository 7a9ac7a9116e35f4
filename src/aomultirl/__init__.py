"""Reinforcement learning when every episode is one of several hidden worlds and nobody says which.

It starts from "Adversarial Online Multi-Task Reinforcement Learning" (Nguyen and Mehta); `docs/paper_map.md`
lists what of the paper is where.

What is public is imported when it is first asked for: whoever asks for help on the command line, or has a word
completed there, does not wait for Numba and SciPy.
"""

__version__ = "0.1.0"

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aomultirl import gymnasium_ids

if TYPE_CHECKING:
    from aomultirl import agents, exploring, hidden_worlds, learning, plugins, streams, theory, worlds, wrappers
    from aomultirl.agents.saving import load_agent, save
    from aomultirl.engine.interacting import Session
    from aomultirl.engine.successors import Successors
    from aomultirl.experiments import History, interact, run
    from aomultirl.experiments.check_agent import check_agent
    from aomultirl.experiments.check_explorer import check_explorer
    from aomultirl.experiments.check_learner import check_learner
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

_HOMES = {
    "MDP": "mdp",
    "HiddenWorlds": "hidden_worlds",
    "History": "experiments",
    "LogGroups": "offline",
    "ModelSet": "model_set",
    "Session": "engine.interacting",
    "Successors": "engine.successors",
    "check_agent": "experiments",
    "check_explorer": "experiments",
    "check_learner": "experiments",
    "cluster": "offline",
    "interact": "experiments",
    "load": "experiments.loading",
    "load_agent": "agents.saving",
    "run": "experiments",
    "save": "agents.saving",
}
"""The modules of the public names that are no modules themselves."""

gymnasium_ids.register()


def __getattr__(name: str) -> Any:
    """What is public, imported now; from then on it is an attribute like any other."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _HOMES:
        return import_module(f"{__name__}.{name}")
    thing = globals()[name] = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    return thing


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

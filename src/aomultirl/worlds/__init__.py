"""Where the worlds come from: the paper's constructions, random sets, and imports."""

from aomultirl.worlds.gridworld import gridworld

__all__ = ["gridworld"]

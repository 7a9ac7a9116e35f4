"""Where the worlds come from: the paper's constructions, random sets, and imports."""

from aomultirl import plugins
from aomultirl.model_set import ModelSet
from aomultirl.worlds.entropy_pair import entropy_pair
from aomultirl.worlds.gridworld import gridworld
from aomultirl.worlds.gymnasium_import import from_gymnasium
from aomultirl.worlds.icu_sepsis import icu_sepsis
from aomultirl.worlds.jao import jao, two_jao, two_jao_noncommunicating
from aomultirl.worlds.jao_tree import two_jao_tree
from aomultirl.worlds.random_models import random_models

__all__ = [
    "entropy_pair",
    "from_gymnasium",
    "gridworld",
    "icu_sepsis",
    "jao",
    "random_models",
    "two_jao",
    "two_jao_noncommunicating",
    "two_jao_tree",
]

plugins.offer_own("world", ModelSet, (globals()[name] for name in __all__))

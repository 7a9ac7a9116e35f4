"""Where the worlds come from: the paper's constructions, random sets, and imports."""

from aomultirl import plugins
from aomultirl.model_set import ModelSet
from aomultirl.worlds.bandits import bandits
from aomultirl.worlds.diabolical_locks import diabolical_locks
from aomultirl.worlds.doors import doors
from aomultirl.worlds.entropy_pair import entropy_pair
from aomultirl.worlds.frozen_lakes import frozen_lakes
from aomultirl.worlds.gridworld import gridworld
from aomultirl.worlds.gymnasium_import import from_gymnasium
from aomultirl.worlds.icu_sepsis import icu_sepsis
from aomultirl.worlds.jao import jao, two_jao, two_jao_noncommunicating
from aomultirl.worlds.jao_tree import two_jao_tree
from aomultirl.worlds.permuted_cliffs import permuted_cliffs
from aomultirl.worlds.random_models import random_models
from aomultirl.worlds.rare_pair import rare_pair
from aomultirl.worlds.rings import rings
from aomultirl.worlds.rivers import rivers
from aomultirl.worlds.sparse_random import sparse_random
from aomultirl.worlds.swapped_taxis import swapped_taxis

__all__ = [
    "bandits",
    "diabolical_locks",
    "doors",
    "entropy_pair",
    "from_gymnasium",
    "frozen_lakes",
    "gridworld",
    "icu_sepsis",
    "jao",
    "permuted_cliffs",
    "random_models",
    "rare_pair",
    "rings",
    "rivers",
    "sparse_random",
    "swapped_taxis",
    "two_jao",
    "two_jao_noncommunicating",
    "two_jao_tree",
]

plugins.offer_own("world", ModelSet, (globals()[name] for name in __all__))

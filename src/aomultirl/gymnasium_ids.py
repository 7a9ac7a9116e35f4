"""The ids that Gymnasium knows our hidden worlds by: registered by ``import aomultirl``, which makes none of them.

``aomultirl/HiddenWorlds-v0``, and one id for every set of worlds that needs no more than numbers, such as
``aomultirl/Gridworld-v0``.  What they name is in :mod:`aomultirl.hidden_worlds`, which is imported when one is made.
"""

import gymnasium

NAMESPACE = "aomultirl"
REGISTERED = {
    "Bandits": "bandits",
    "DiabolicalLocks": "diabolical_locks",
    "Doors": "doors",
    "EntropyPair": "entropy_pair",
    "FrozenLakes": "frozen_lakes",
    "Gridworld": "gridworld",
    "ICUSepsis": "icu_sepsis",
    "JAO": "jao",
    "PermutedCliffs": "permuted_cliffs",
    "RandomModels": "random_models",
    "RarePair": "rare_pair",
    "Rings": "rings",
    "Rivers": "rivers",
    "SparseRandom": "sparse_random",
    "SwappedTaxis": "swapped_taxis",
    "TwoJAO": "two_jao",
    "TwoJAONoncommunicating": "two_jao_noncommunicating",
    "TwoJAOTree": "two_jao_tree",
}
"""Ids of sets of worlds, without namespace and version, and the functions that make them."""


def register() -> None:
    """Make the environments known to Gymnasium."""
    hidden = f"{NAMESPACE}/HiddenWorlds-v0"
    if hidden in gymnasium.registry:
        return
    gymnasium.register(hidden, entry_point="aomultirl.hidden_worlds:HiddenWorlds")
    for name, function in REGISTERED.items():
        gymnasium.register(
            f"{NAMESPACE}/{name}-v0", entry_point="aomultirl.hidden_worlds:make_set", kwargs={"name": function}
        )

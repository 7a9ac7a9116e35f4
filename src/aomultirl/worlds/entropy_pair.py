"""Two worlds that are lambda-separable although a policy can make them look the same (the paper's Appendix B).

Three states, two actions, numbered from 0.  Only pair (0, 0) differs: it leads to state 1 with probability lambda
in the first world and lambda / 2 in the second, to state 2 otherwise, an l1 distance of exactly lambda.  A policy
that never takes action 0 in state 0 gives every trajectory the same likelihood in both, so the pair is not
separated in the entropy sense that latent-MDP methods need.

The paper leaves (0, 1) open; here it leads to states 1 and 2 with probability 1/2 each.  In states 1 and 2
action 0 leads to the other of the two.  As the paper draws it nothing returns to state 0, so the worlds are not
communicating; with ``communicating=True`` action 1 returns there, in both worlds alike.
"""

import numpy as np

from aomultirl import checks
from aomultirl.mdp import MDP
from aomultirl.model_set import ModelSet
from aomultirl.worlds.origin import origin


def entropy_pair(separation: float = 0.5, communicating: bool = False) -> ModelSet:
    """The pair of worlds of Appendix B.

    Parameters
    ----------
    separation
        lambda in (0, 1).
    communicating
        let action 1 in states 1 and 2 return to state 0.

    Examples
    --------
    >>> entropy_pair(0.5).separation()
    0.5
    """
    made = origin("entropy_pair", locals())
    level = checks.real("separation", separation, above=0.0, below=1.0)
    back = 0 if checks.truth("communicating", communicating) else None
    rewards = np.zeros((3, 2))
    rewards[1] = 1.0
    worlds = []
    for chance in (level, level / 2.0):
        worlds.append(
            MDP(
                [
                    [{1: chance, 2: 1.0 - chance}, {1: 0.5, 2: 0.5}],
                    [{2: 1.0}, {2 if back is None else back: 1.0}],
                    [{1: 1.0}, {1 if back is None else back: 1.0}],
                ],
                rewards,
            )
        )
    return ModelSet(worlds, made)

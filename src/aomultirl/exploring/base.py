"""What an explorer is: how to gather samples of the pairs that a world is recognised by.

An :class:`Explorer` is a frozen record of parameters.  It makes a behaviour that visits every target often enough, and
says how many steps that may take where theory says so.  ``docs/extending/explorer.md`` has an explorer of a stranger's
as an example; :func:`aomultirl.check_explorer` tries one out.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Exploration:
    """What theory may know of an exploration before it begins.

    n_states
        S.
    pairs
        how many targets there are.
    needed
        N, visits that each of them needs.
    episodes
        K, over which the confidence must hold.
    separation
        lambda, the l1 distance of worlds.
    hitting_time
        D, a bound on the hitting times; None where nobody knows one.
    failure
        p of the run, of which a third is for exploring.
    constants
        "paper" or "released", see :mod:`aomultirl.theory.constants`.
    """

    n_states: int
    pairs: int
    needed: int
    episodes: int
    separation: float
    hitting_time: float | None
    failure: float
    constants: str = "paper"


class Explorer:
    """Base of all explorers, which are frozen dataclasses of parameters.

    Attributes
    ----------
    needs_hitting_time
        whether :meth:`steps` must be told a bound on the hitting time.
    """

    needs_hitting_time: ClassVar[bool] = False

    def behaviour(self, targets: NDArray[np.bool_], needed: int, failure: float) -> Any:
        """A behaviour that reaches its aim once every target has been visited ``needed`` times.

        Parameters
        ----------
        targets
            (S, A), the pairs to visit; at least one.
        needed
            N.
        failure
            with which probability its confidence may fail, where it has any.
        """
        raise NotImplementedError

    def steps(self, exploration: Exploration) -> int | None:
        """How many steps it takes with high probability; None where no theory says so."""
        return None

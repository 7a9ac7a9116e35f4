"""Test beds that nobody here wrote: other people's environments, each with hidden variants (``docs/test_beds.md``).

``pip install 'aomultirl[beds]'`` brings the packages that they come from.  Each is imported only where a bed of it is
made, so that whoever has some of them meets those beds; Taxi comes with Gymnasium, which the library needs anyway.
"""

from aomultirl.experiments.beds.bed import END, INSTALL, LIVES, RESTART, Bed, Environment
from aomultirl.experiments.beds.definitions import BEDS
from aomultirl.experiments.beds.wrappers import NumberedEnvironment, SeededAnyMDP, SwappedActions

__all__ = [
    "BEDS",
    "END",
    "INSTALL",
    "LIVES",
    "RESTART",
    "Bed",
    "Environment",
    "NumberedEnvironment",
    "SeededAnyMDP",
    "SwappedActions",
    "find",
]


def find(name: str) -> Bed:
    """The bed of a name.

    Examples
    --------
    >>> find("Taxi").hidden
    'which moves are swapped'
    """
    return next(bed for bed in BEDS if bed.name == name)

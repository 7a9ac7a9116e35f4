"""How to act once the world is known."""

from aomultirl.learning.ucbvi import UCBVI

__all__ = ["UCBVI"]

"""The command line.  Each command only reads its arguments, calls the library, and prints."""

from aomultirl.cli import experiments, laboratory, listing, worlds
from aomultirl.cli.app import run

__all__ = ["experiments", "laboratory", "listing", "run", "worlds"]

"""The command line.  Each command only reads its arguments, calls the library, and prints."""

from aomultirl.cli import benchmarking, comparing, experiments, laboratory, listing, live, new, shell, warming, worlds
from aomultirl.cli.app import run

__all__ = [
    "benchmarking",
    "comparing",
    "experiments",
    "laboratory",
    "listing",
    "live",
    "new",
    "run",
    "shell",
    "warming",
    "worlds",
]

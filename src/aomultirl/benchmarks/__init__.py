"""How fast the engine is, next to hand-written C and to NumPy doing the same work.

records = benchmarks.run()              measure, and check that all contenders agree
benchmarks.print_table(records)         for people
benchmarks.as_dict(records)             for JSON
"""

from aomultirl.benchmarks.report import Record, as_dict, print_table
from aomultirl.benchmarks.suite import Sizes, run

__all__ = ["Record", "Sizes", "as_dict", "print_table", "run"]

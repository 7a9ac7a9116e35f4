"""How fast the engine is, next to hand-written C and to NumPy doing the same work, and what people wait for.

records = benchmarks.run()              measure, and check that all contenders agree
benchmarks.print_table(records)         for people
benchmarks.as_dict(records)             for JSON

What people wait for is in :mod:`.rows`, how costs grow in :mod:`.scale`, a very long run in :mod:`.endurance`, and what
many short cells cost in :mod:`.sweep`.
"""

from aomultirl.benchmarks.report import Record, as_dict, print_table
from aomultirl.benchmarks.suite import Sizes, run

__all__ = ["Record", "Sizes", "as_dict", "print_table", "run"]

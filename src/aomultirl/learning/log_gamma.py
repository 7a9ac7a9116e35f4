"""The logarithm of the gamma function, remembered: the kernels of rows ask for the same numbers again and again.

How likely counts are is a sum of ln G(count + alpha), with counts that are whole and few different alpha, so most
arguments came before.  :func:`ln_gamma` looks an argument up in a table that belongs to the machine code of the kernel
that calls it, and works it out only where it is not there; then it takes the place of another.  What comes out is
``math.lgamma``, to the last bit, whatever was asked before.
"""

import math
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils as numba_cgutils
from numba.core import types
from numba.extending import intrinsic

from aomultirl.engine.compiling import borrowing

cgutils: Any = numba_cgutils  # which has no types

PLACES = 13
"""The table has 2**PLACES places, of 16 bytes each: all of them fit into the second cache of a core."""
SCATTER = 0x9E3779B97F4A7C15
"""An odd multiplier that scatters the bits of an argument: 2**64 over the golden ratio."""
TABLE = "aomultirl_ln_gamma"


def _remember(_: Any, x: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        whole, short, real = ir.IntType(64), ir.IntType(32), ir.DoubleType()
        kind = ir.ArrayType(ir.LiteralStructType([whole, real]), 1 << PLACES)
        table = builder.module.globals.get(TABLE)
        if table is None:
            table = cgutils.add_global_variable(builder.module, kind, TABLE)
            table.linkage, table.initializer = "internal", ir.Constant(kind, None)
        # An empty place holds 0: the bits of no number, once they are turned over.
        bits = builder.not_(builder.bitcast(arguments[0], whole))
        place = builder.lshr(builder.mul(bits, whole(SCATTER)), whole(64 - PLACES))
        key, value = (builder.gep(table, [whole(0), place, short(part)]) for part in range(2))
        found = cgutils.alloca_once_value(builder, builder.load(value))
        with cgutils.if_unlikely(builder, builder.icmp_unsigned("!=", builder.load(key), bits)):
            work_out = context.get_function(math.lgamma, types.float64(types.float64))
            fresh = work_out(builder, arguments)
            for number, cell in ((bits, key), (fresh, value), (fresh, found)):
                builder.store(number, cell)
        return builder.load(found)

    return types.float64(types.float64), generate


_remembered = cast(Callable[[float], float], intrinsic(_remember))


@borrowing
def ln_gamma(x: float) -> float:
    """``math.lgamma(x)``."""
    return _remembered(x)

"""Ctrl-C, TERM and other threads inside compiled loops.

Python runs the handlers of signals between two of its own instructions, so it would not look at one before a kernel
returns, however long that takes.  Long loops therefore ask for themselves: they add up what they have done, in units of
about a nanosecond up to a cache miss, and after every :data:`STRETCH` of them let other threads of Python run, such as
the one that ends a process whose parent is gone, and then the handlers that are due, as other compiled extensions of
Python do.  What a handler raises leaves the kernel as any exception would.

    spent = 0
    for s in range(n_states):
        spent = serve_signals(spent, n_actions)
        ...

Nothing that is computed depends on it.  What a kernel had allocated when it was left is not given back to the system
before the process ends.  Kernels that make a single pass over what lies in memory, or that write into an agent's
memory, do not ask.
"""

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba.core import cgutils as numba_cgutils
from numba.core import types
from numba.extending import intrinsic

cgutils: Any = numba_cgutils  # which has no types

STRETCH = 1 << 18
"""Units of work between two looks at the signals: less than 30 ms of cache misses, and more than 0.1 ms of anything."""
DECISION = 256
"""Units of work that a decision of a behaviour counts as, beside what its own loops add up."""


def _serve(_: Any, spent: Any, more: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        whole, status, pointer = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
        total = builder.add(*arguments)
        left = cgutils.alloca_once_value(builder, total)

        def function(name: str, result: Any, *takes: Any) -> Any:
            return cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, takes), name)

        with cgutils.if_unlikely(builder, builder.icmp_signed(">=", total, whole(STRETCH))):
            thread = builder.call(function("PyEval_SaveThread", pointer), [])
            builder.call(function("PyEval_RestoreThread", ir.VoidType(), pointer), [thread])
            raised = builder.icmp_signed("!=", builder.call(function("PyErr_CheckSignals", status), []), status(0))
            with cgutils.if_unlikely(builder, raised):
                context.call_conv.return_exc(builder)
            builder.store(whole(0), left)
        return builder.load(left)

    return types.int64(types.int64, types.int64), generate


serve_signals = cast(Callable[[int, Any], int], intrinsic(_serve))
"""serve_signals(spent, more), in a kernel: ``spent + more``, or 0 after other threads and handlers have run."""

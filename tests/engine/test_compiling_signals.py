"""Ctrl-C while a kernel is compiled."""

import signal
import sys
import threading
import types

import pytest

from aomultirl.engine.compiling_signals import no_signal_lost

CALLED_BACK = types.FunctionType(
    compile("signal.raise_signal(signal.SIGINT)\nreached.append(1)", "callback", "exec"),
    {"__name__": "llvmlite.binding.executionengine", "signal": signal, "reached": (reached := [])},
)
"""What LLVM calls, where nothing may be raised."""


def test_a_signal_inside_a_callback_of_llvm_waits_until_the_kernel_is_done():
    reached.clear()
    after = []

    def compile_kernel():
        with no_signal_lost():
            CALLED_BACK()
            after.append(1)

    with pytest.raises(KeyboardInterrupt):
        compile_kernel()
    assert reached == after == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_it_is_served_when_the_inner_kernel_is_done():
    after = []

    def compile_kernels():
        with no_signal_lost():
            with no_signal_lost():
                CALLED_BACK()
            after.append(1)

    with pytest.raises(KeyboardInterrupt):
        compile_kernels()
    assert after == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_elsewhere_signals_are_served_at_once():
    after = []

    def compile_kernel():
        with no_signal_lost():
            signal.raise_signal(signal.SIGTERM)
            after.append(1)

    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        with pytest.raises(SystemExit) as end:
            compile_kernel()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert end.value.code == 143
    assert after == []


def test_in_another_thread_nothing_changes():
    seen = []

    def compile_kernel():
        with no_signal_lost():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=compile_kernel)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]

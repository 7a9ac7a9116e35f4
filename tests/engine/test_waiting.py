"""Waiting for a solver, and being interrupted meanwhile."""

import signal
import threading
import time

import numpy as np
import pytest

from alarms import alarm
from aomultirl.engine.waiting import while_serving_signals
from aomultirl.geometry import distinguishing


def test_results_and_errors_come_through():
    assert while_serving_signals(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        while_serving_signals(lambda: 1 // 0)


def test_a_signal_ends_the_wait_at_once():
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), alarm(0.1):
        while_serving_signals(lambda: time.sleep(5))
    assert time.monotonic() - begin < 1


def test_in_another_thread_it_is_computed_there():
    found = []
    thread = threading.Thread(target=lambda: found.append(while_serving_signals(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_an_integer_program_is_interrupted():
    """As hard as they come: a steiner-like table for which HiGHS takes more than a minute."""
    table = np.random.default_rng(0).random((300, 400)) < 0.08
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt), alarm(0.5):
        distinguishing.smallest_set(table, time_limit=3.0)
    assert time.monotonic() - begin < 2


def test_kinds_of_columns_are_the_same_in_parts(monkeypatch):
    table = np.random.default_rng(1).random((5, 200)) < 0.5
    whole = distinguishing._kinds(table)
    monkeypatch.setattr(distinguishing, "PART", 7)
    assert np.array_equal(distinguishing._kinds(table), whole)
    assert signal.getsignal(signal.SIGALRM) == signal.SIG_DFL

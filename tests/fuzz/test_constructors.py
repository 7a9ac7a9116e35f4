"""Everything public, called with arguments that nobody means."""

import pytest

import aomultirl as ao
from constructor_calls import RECORDS, check_calls, targets


def test_everything_public_is_called():
    called = {name for name, *_ in targets()}
    public = {*ao.__all__, *ao.worlds.__all__, *ao.agents.__all__, *ao.theory.__all__}
    assert public - called == RECORDS & public


@pytest.mark.parametrize("count", [200, pytest.param(1000, marks=pytest.mark.long)])
def test_calls_that_nobody_means(tmp_path, monkeypatch, count):
    monkeypatch.chdir(tmp_path)
    found = check_calls(count, seed=12)
    assert sum(found.values()) == count
    assert found["refused"] > count / 2
    assert found["worked"] > count / 20


@pytest.mark.long
def test_ten_thousand_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = check_calls(10_000, seed=2026)
    assert sum(found.values()) == 10_000
    assert found["refused"] > 5000
    assert found["worked"] > 500

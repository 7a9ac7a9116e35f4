"""Everything public, called with arguments that nobody means."""

import pytest

import aomultirl as ao
from constructor_calls import RECORDS, check_calls, targets


def test_everything_public_is_called():
    called = {name for name, *_ in targets()}
    public = {*ao.__all__, *ao.worlds.__all__, *ao.agents.__all__, *ao.theory.__all__}
    assert public - called == RECORDS & public


def test_a_thousand_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = check_calls(1000, seed=12)
    assert sum(found.values()) == 1000
    assert found["refused"] > 500
    assert found["worked"] > 50


@pytest.mark.long
def test_ten_thousand_calls(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = check_calls(10_000, seed=2026)
    assert sum(found.values()) == 10_000
    assert found["refused"] > 5000
    assert found["worked"] > 500

"""Specifications that were changed at random."""

import pytest

from specification_mutations import check_specifications


@pytest.mark.parametrize("count", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_specifications_that_were_changed(tmp_path, count):
    found = check_specifications(count, 12, tmp_path)
    assert sum(found.values()) == count
    assert found["changed", "good"] > count / 10
    assert found["changed", "refused"] > count / 4


@pytest.mark.long
def test_twenty_thousand_specifications(tmp_path):
    found = check_specifications(20_000, 2026, tmp_path)
    assert sum(found.values()) == 20_000
    assert found["changed", "good"] > 2000
    assert found["changed", "refused"] > 5000

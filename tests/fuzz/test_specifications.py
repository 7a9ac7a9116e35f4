"""Specifications that were changed at random."""

import pytest

from specification_mutations import check_specifications


def test_two_thousand_specifications(tmp_path):
    found = check_specifications(2000, 12, tmp_path)
    assert sum(found.values()) == 2000
    assert found["changed", "good"] > 200
    assert found["changed", "refused"] > 500


@pytest.mark.long
def test_twenty_thousand_specifications(tmp_path):
    found = check_specifications(20_000, 2026, tmp_path)
    assert sum(found.values()) == 20_000
    assert found["changed", "good"] > 2000
    assert found["changed", "refused"] > 5000

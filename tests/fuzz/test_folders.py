"""Result folders that were altered at random: two of every kind with `make test`, thousands with `make test-all`."""

import pytest

from folder_mutations import KINDS, check_mutations


@pytest.mark.parametrize(
    ("count", "seed"),
    [
        pytest.param(80, 1, id="80"),
        pytest.param(500, 1, id="500", marks=pytest.mark.long),
        pytest.param(5_000, 2, id="5000", marks=pytest.mark.long),
    ],
)
def test_altered_folders_are_refused_mended_or_well(count, seed):
    found = check_mutations(count, seed)
    verdicts = {verdict: found[verdict] for verdict in ("refused", "mended", "well")}
    assert sum(verdicts.values()) == count
    assert all(found[kind.__name__] > 0 for kind in KINDS)
    assert min(verdicts.values()) > count // 50, verdicts

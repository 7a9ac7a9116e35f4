import pytest

from agent_file_mutations import check_agent_files

OUTCOMES = {"refused", "another agent", "of another run", "went on"}


def check(count, seed):
    found = check_agent_files(count, seed)
    assert sum(found[name] for name in OUTCOMES) == count
    assert found["refused"] > count / 2
    assert found["went on"] > 0  # what is harmless is not refused, so this is not a door that is always shut
    print(dict(found))  # noqa: T201


@pytest.mark.parametrize("count", [150, pytest.param(1_000, marks=pytest.mark.long)])
def test_agent_files_that_were_changed(count):
    check(count, 0)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_ten_thousand_agent_files(seed):
    check(1_000, seed)

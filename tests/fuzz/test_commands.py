import pytest

from command_lines import check_command_lines


def check(count, seed, folder):
    found = check_command_lines(count, seed, folder)
    assert found["quick"] + found["slower"] + found["refused"] == count
    assert found["ended with 0"] > 0
    assert found["ended with 2"] > count / 4
    print(dict(found))  # noqa: T201


@pytest.mark.filterwarnings("ignore")  # which commands print, as people see them
def test_fifty_command_lines(tmp_path):
    check(50, 0, tmp_path)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(1, 11))
def test_a_thousand_command_lines(tmp_path, seed):
    check(100, seed, tmp_path)

import pytest

from history_mutations import check_histories


def check(count, seed, folder):
    found = check_histories(count, seed, folder)
    assert found["refused"] + found["page"] == count
    assert min(found["refused"], found["page"]) > count / 10
    print(dict(found))  # noqa: T201


def test_fifty_histories(tmp_path):
    check(50, 0, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(1, 11))
def test_two_thousand_histories(tmp_path, seed):
    check(200, seed, tmp_path)

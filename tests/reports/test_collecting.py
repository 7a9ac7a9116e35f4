import pytest

import aomultirl as ao
from aomultirl.reports import write_page
from aomultirl.reports.collecting import collect

MODELS = ao.worlds.gridworld()


def history(seed=0, **options):
    return ao.run(ao.agents.OneEpisodeUCBVI(0.03, 10, **options), MODELS, ao.streams.uniform(), 3, seed=seed)


def test_a_folder_of_histories_is_collected_in_order(tmp_path):
    for seed in range(3):
        history(seed).write(tmp_path / f"{seed}.parquet")
    found = collect(tmp_path).runs
    assert [(run.agent, run.run) for run in found] == [("OneEpisodeUCBVI", number) for number in range(3)]
    assert [run.history for run in found] == [history(seed) for seed in range(3)]
    assert collect(tmp_path).claims is None


def test_agents_of_one_class_are_told_apart_by_their_parameters(tmp_path):
    history(bonus_scale=0.5).write(tmp_path / "a.parquet")
    history(bonus_scale=1.0).write(tmp_path / "b.parquet")
    assert [run.agent for run in collect(tmp_path).runs] == [f"OneEpisodeUCBVI (bonus_scale={x})" for x in (0.5, 1.0)]


def test_a_page_of_one_history_or_of_several(tmp_path):
    write_page(tmp_path / "one.html", history())
    write_page(tmp_path / "three.html", [history(seed) for seed in range(3)])
    assert "3 runs" in (tmp_path / "three.html").read_text()


def test_what_is_no_history_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no file or folder"):
        collect(tmp_path / "none")
    with pytest.raises(ValueError, match="holds no histories"):
        collect(tmp_path)

"""The pages on environments and logs of one's own: every piece of Python runs as it stands."""

import re
from pathlib import Path

import gymnasium
import pytest

ROOT = Path(__file__).parents[1]


def pieces(path):
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore")
def test_the_page_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    every = pieces(ROOT / "docs" / "your_environment.md")
    assert len(every) == 5
    for piece in every:
        if not piece.startswith("agent = ao.load_agent"):
            exec(piece, names)
            continue
        again, first, second = piece.splitlines()
        exec(f"{again}\n{first}", names)
        assert names["history"]["episode"].tolist() == list(range(60, 80))
        assert first.endswith("  # episodes 60 to 79")
        exec(second, names)
        assert len(names["history"]) == 20
        assert second.endswith("  # and 20 more")
    shown = capsys.readouterr().out
    assert "Recall: 60 episodes" in shown
    assert "Belief(world=" in shown
    assert names["history"]["episode"].tolist() == list(range(80, 100))
    assert isinstance(names["hidden"], gymnasium.Env)


def test_the_page_on_logs_runs_as_it_stands():
    (only,) = pieces(ROOT / "docs" / "logs.md")
    names = {}
    exec(only, names)
    assert len(names["found"]) == 4
    assert names["found"].labels[:4].tolist() == [0, 1, 2, 3]
    assert names["history"].reward.mean() > 0.7


def test_what_a_stranger_needs_is_at_most_ten_lines():
    lines = [line for line in pieces(ROOT / "docs" / "your_environment.md")[0].splitlines() if line.strip()]
    assert len(lines) <= 10

"""The tutorials: their cells run in order, and what their text says of it is so.

The build of the pages runs them as they stand (``make docs``), and so does ``make test-all``; here they are smaller,
but for the one on a hidden map.  The ward needs the package icu-sepsis, and is run by ``make test-all`` alone.
"""

import warnings
from importlib.util import find_spec

import matplotlib as mpl
import numpy as np
import pytest

from page_blocks import ROOT, python_of

NAMES = ("frozen_lake", "sweep", "learner", "ward")
SMALLER = {
    "frozen_lake": [],
    "sweep": [("runs = 4", "runs = 1"), ("episodes = 40", "episodes = 6"), ("horizon = 400", "horizon = 100")],
    "learner": [("episodes=80", "episodes=20"), ("np.arange(8, 81)", "np.arange(8, 21)")],
}
"""What is smaller in the ordinary run."""


@pytest.fixture
def play(tmp_path, monkeypatch):
    """Run the cells of a tutorial in a folder of its own; the names that they leave."""
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    before = mpl.get_backend()
    plt.switch_backend("Agg")

    def run(name, replaced=()):
        cells, names = python_of(f"docs/tutorials/{name}.md"), {"__name__": "tutorial"}
        assert all(any(old in cell.code for cell in cells) for old, _ in replaced)
        for code, _ in cells:
            for old, new in replaced:
                code = code.replace(old, new)
            with warnings.catch_warnings(action="ignore"):
                exec(compile(code, name, "exec"), names)
        assert plt.get_fignums()
        return names

    yield run
    plt.close("all")
    plt.switch_backend(before)


def test_there_are_four_and_the_index_leads_to_them():
    index = (ROOT / "docs/tutorials/index.md").read_text(encoding="utf-8")
    there = {path.stem for path in (ROOT / "docs/tutorials").glob("*.md")} - {"index"}
    assert there == set(NAMES)
    for name in NAMES:
        assert f"]({name}.md)" in index
        assert "file_format: mystnb" in (ROOT / f"docs/tutorials/{name}.md").read_text(encoding="utf-8")


def test_a_hidden_map(play):
    """frozen_lake.md: 26 goals of 14 steps fit; told nothing it earns what is earned told, and more than pooled."""
    names = play("frozen_lake")
    rewards = {name: earned[-30:].mean() for name, earned in names["rewards"].items()}
    assert rewards["Recall, told nothing"] > rewards["told the lake"] - 1.0
    assert rewards["Recall, told nothing"] > 1.2 * max(rewards["pooled"], rewards["Q-learning, pooled"])
    assert max(earned.max() for earned in names["rewards"].values()) == 400 // (14 + 1) == 26
    assert names["beliefs"][0][-1] < 0.5 < max(names["beliefs"][-1].values())
    assert names["later"].reward[0] > 0.9 * 26
    assert 1 < names["findings"]["worlds"] <= 4


def test_the_cells_of_a_sweep_run(play):
    names = play("sweep", SMALLER["sweep"])
    assert names["outcome"].total == 16
    assert names["runs"].height == 16


@pytest.mark.long
def test_a_sweep_shows_what_the_page_says(play):
    """sweep.md: with a separation of 1.5 Recall is near who is told; with 0.25, in 400 steps, behind who forgets."""
    names = play("sweep")
    share = {row[:2]: row[-1] for row in names["means"].select("world.separation", "agent", "share").iter_rows()}
    assert len(share) == 16
    assert share[1.5, "Recall, told nothing"] > share[1.5, "told the world"] - 5
    pooled = [share[separation, "takes all for one world"] for separation in (0.25, 0.5, 1.0, 1.5)]
    assert pooled == sorted(pooled, reverse=True)
    assert share[0.25, "forgets"] > share[0.25, "Recall, told nothing"]


def test_the_cells_of_writing_a_learner_run(play, capsys):
    play("learner", SMALLER["learner"])
    assert "the same seed gives another history" in capsys.readouterr().out


@pytest.mark.long
def test_the_learner_does_what_the_page_says(play):
    """learner.md: as good as the others in the end and late; without hope, and pooled, far below."""
    names = play("learner")
    shares = {(name, kind.__name__): share for (name, kind), share in names["shares"].items()}
    late = {key: share[-20:].mean() for key, share in shares.items()}
    assert late["Hopeful", "Told"] > 0.95
    assert late["Hopeful", "Told"] > late["QLearning", "Told"]
    assert late["Hopeful, no hope", "Told"] < 0.8
    assert all(late[name, "Pooled"] < 0.9 for name, kind in late if kind == "Pooled")
    assert shares["Hopeful", "Told"][:20].mean() < 0.6 < shares["Practical", "Told"][:20].mean()


@pytest.mark.long
@pytest.mark.skipif(find_spec("icu_sepsis") is None, reason="needs the package icu-sepsis")
def test_the_ward_shows_what_the_page_says(play):
    """ward.md: wrong plans save no more than random doses; weeks are taken for the right variant."""
    names = play("ward")
    table, random_doses = names["table"], 0.78  # of docs/ward.md, exact
    assert np.diag(table).min() > 0.87
    assert table[~np.eye(3, dtype=bool)].max() < random_doses + 0.01
    assert len(names["paths"]) == 12
    history = names["history"]
    assert history["taken_for"].tolist() == history["task"].tolist()
    assert len(names["last"]["belief"][0]) == 4

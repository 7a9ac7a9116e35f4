"""The examples are good specifications, and so is the one in the documentation."""

import tomllib
import zipfile
from importlib import import_module
from operator import itemgetter
from pathlib import Path

import pytest

from aomultirl.experiments import examples
from aomultirl.experiments.cell_differences import varying
from aomultirl.experiments.paper import PaperExperiment
from aomultirl.experiments.specification import read_specification, specification_of

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_are_good(path):
    found = read_specification(path)
    assert found.name == path.stem
    assert path.read_text().startswith("# ")
    assert len({cell.name for cell in found.cells()}) == found.runs * len(found.configurations())


def swept(name):
    """The values of what varies besides the agents."""
    rows = varying(read_specification(ROOT / "examples" / f"{name}.toml").cells())
    return {
        (key, value) for row in rows for key, value in row.items() if not key.startswith("agent") and key != "stream"
    }


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("regret_lambda", "world.separation"),
        ("regret_episodes", "episodes"),
        ("regret_models", "world.models"),
        ("states", "world.states"),
    ],
)
def test_each_sweeps_over_one_thing(name, key):
    found = swept(name)
    assert {each for each, _ in found} == {key}
    assert len(found) >= 4
    if name == "states":
        assert max(value for _, value in found) >= 10_000


def test_the_quick_one_has_two_worlds_and_three_agents():
    found = read_specification(ROOT / "examples" / "quick.toml").configurations()
    assert len({str(each.world) for each in found}) == 2
    assert len({each.label for each in found}) == 3


def told(cell):
    """The cell with lambda as the file writes it, to six decimals."""
    found = cell.specification()
    parameters = found["agent"]["parameters"]
    if "separation" in parameters:
        parameters["separation"] = round(parameters["separation"], 6)
    return found


@pytest.mark.parametrize("edges", ["stay", "third"])
def test_the_paper_is_the_experiment_that_is_reproduced(edges):
    cells = read_specification(ROOT / "examples" / "paper.toml").cells()
    mine = [told(cell) for cell in cells if cell.world["parameters"]["edges"] == edges]
    theirs = [told(cell) for cell in PaperExperiment(edges=edges).cells()]
    order = itemgetter("label", "number")
    assert sorted(mine, key=order) == sorted(theirs, key=order)


def test_the_documented_specification_is_good():
    text = (ROOT / "docs" / "specification.md").read_text()
    blocks = [part.split("```")[0] for part in text.split("```toml\n")[1:]]
    assert len(specification_of(tomllib.loads(blocks[0])).cells()) > 100
    for block in blocks[1:]:
        tomllib.loads(block)


def packed(folder, monkeypatch):
    """The package in an archive, with its examples inside as a wheel has them."""
    archive = folder / "site.zip"
    with zipfile.ZipFile(archive, "w") as site:
        site.writestr("installed/__init__.py", "")
        for path in EXAMPLES:
            site.write(path, f"installed/examples/{path.name}")
    monkeypatch.syspath_prepend(str(archive))
    return import_module("installed")


def test_the_examples_of_an_installed_package_are_those_in_it(tmp_path, monkeypatch):
    monkeypatch.setattr(examples, "aomultirl", packed(tmp_path, monkeypatch))
    assert [example.name for example in examples.examples()] == [path.name for path in EXAMPLES]
    (written,) = examples.write("states.toml", tmp_path)
    assert written.read_text() == (ROOT / "examples" / "states.toml").read_text()


def test_an_installation_without_examples_says_so(tmp_path, monkeypatch):
    (tmp_path / "lib" / "bare").mkdir(parents=True)
    (tmp_path / "lib" / "bare" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path / "lib"))
    monkeypatch.setattr(examples, "aomultirl", import_module("bare"))
    with pytest.raises(ValueError, match=r"^this installation of aomultirl lacks its examples"):
        examples.examples()


def test_each_example_says_what_it_is_in_a_sentence():
    for example in examples.examples():
        assert 20 < len(example.summary) < 200, example
        assert example.summary[-1] in ".?", example
        assert "\n" not in example.summary

"""What a release consists of: the two distributions, what an index shows of them, and what the files about them say."""

import importlib.util
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import aomultirl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
README = (ROOT / "README.md").read_text(encoding="utf-8")
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
URLS = PROJECT["project"]["urls"]
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(!?)\[[^\[\]]*\]\(([^)\s]+)\)|(?:src|href)=[\"']([^\"']+)")
"""A picture or a link, in Markdown or in HTML: an exclamation mark for a picture, and where it leads."""
ABSOLUTE = re.compile(r"https?:|mailto:|#")

needs_hatchling = pytest.mark.skipif(
    not (importlib.util.find_spec("hatchling") and importlib.util.find_spec("hatch_fancy_pypi_readme")),
    reason="hatchling and hatch-fancy-pypi-readme build the distributions; the extra dev has them",
)


def shown_by_an_index(readme):
    """The README as an index gets it, with the fragments and substitutions of ``pyproject.toml``."""
    rules = PROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = "".join(readme if part.get("path") == "README.md" else part["text"] for part in rules["fragments"])
    for rule in rules["substitutions"]:
        text = re.sub(rule["pattern"], rule["replacement"], text)
    return text.replace("$HFPR_VERSION", aomultirl.__version__)


def targets(text):
    """Where the pictures and links of a text lead, except those in its code: pairs of "!" or "", and the target."""
    return [(mark, path or other) for mark, path, other in LINK.findall(FENCE.sub("", text))]


def test_the_readme_names_files_that_there_are():
    for _, target in targets(README):
        if not ABSOLUTE.match(target):
            assert (ROOT / target.partition("#")[0]).exists(), target


def test_on_an_index_nothing_leads_to_a_file_that_is_not_there():
    relative = [target for _, target in targets(shown_by_an_index(README)) if not ABSOLUTE.match(target)]
    assert relative == [], "README.md refers to files in a way that the substitutions in pyproject.toml do not know"


def test_on_an_index_every_figure_is_named_or_shown():
    shown = shown_by_an_index(README)
    figures = [target for mark, target in targets(README) if mark]
    assert figures
    pictures = [target for mark, target in targets(shown) if mark]
    for figure in figures:
        if "Source" in URLS:
            assert any(picture.startswith("https://") and picture.endswith(figure) for picture in pictures), figure
        else:
            assert f"(`{figure}`)" in shown


def test_code_is_the_same_on_an_index():
    assert FENCE.findall(README)
    assert FENCE.findall(shown_by_an_index(README)) == FENCE.findall(README)


@pytest.mark.skipif("Source" in URLS, reason="figures and links have addresses")
@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("![A figure](docs/a.png)", "*Figure: A figure* (`docs/a.png`)"),
        ("![A figure](https://example.org/a.png)", "![A figure](https://example.org/a.png)"),
        ("([how](docs/a.md))", "(how (`docs/a.md`))"),
        ("[`Recall`, in\nwords](docs/a.md#recall)", "`Recall`, in\nwords (`docs/a.md#recall`)"),
        ("[LICENSE](LICENSE)", "`LICENSE`"),
        ("[all pages](docs/)", "all pages (`docs/`)"),
        (
            "[here](#install) and [there](https://example.org/a.html)",
            "[here](#install) and [there](https://example.org/a.html)",
        ),
        ('history["reward"](episode)', 'history["reward"](episode)'),
    ],
)
def test_what_is_relative_is_put_into_words(written, shown):
    assert shown_by_an_index(written).startswith(shown + "\n")


def test_a_link_that_the_substitutions_do_not_know_is_noticed():
    unknown = shown_by_an_index('<img src="docs/a.png">')
    assert [target for _, target in targets(unknown) if not ABSOLUTE.match(target)] == ["docs/a.png"]


def test_the_citation_is_of_this_version_and_of_the_paper():
    project = PROJECT["project"]
    assert {"cff-version", "message", "title", "authors"} <= set(CITATION)  # without which it is none
    assert (CITATION["title"], CITATION["version"]) == (project["name"], aomultirl.__version__)
    assert CITATION["license"] == project["license"]
    assert [author["name"] for author in CITATION["authors"]] == [author["name"] for author in project["authors"]]
    assert CITATION.get("repository-code") == URLS.get("Source")
    (paper,) = CITATION["references"]
    assert paper["url"] == URLS["Paper"]


def test_every_version_in_the_changelog_has_its_day_and_this_one_is_there_once_it_is_released():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", heading) for heading in headings[1:])
    released = [heading.split()[0] for heading in headings[1:]]
    assert not released or aomultirl.__version__ == released[0]


def built(folder, targets=("sdist", "wheel"), root=ROOT):
    """Build distributions of sources as they are; their paths, None for what was not asked for."""
    kinds = [word for target in targets for word in ("-t", target)]
    line = [sys.executable, "-m", "hatchling", "build", "-d", str(folder), *kinds]
    subprocess.run(line, cwd=root, check=True, capture_output=True)
    return next(folder.glob("*.tar.gz"), None), next(folder.glob("*.whl"), None)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    return built(tmp_path_factory.mktemp("dist"))


@needs_hatchling
def test_the_wheel_holds_the_package_and_the_examples_and_nothing_else(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
        entries = wheel.read(next(name for name in wheel.namelist() if name.endswith("entry_points.txt"))).decode()
        assert wheel.read("aomultirl/examples/quick.toml") == (ROOT / "examples" / "quick.toml").read_bytes()
    package = sources(ROOT / "src" / "aomultirl")
    examples = {f"examples/{name}" for name in sources(ROOT / "examples")}
    assert names == {f"aomultirl/{name}" for name in package | examples}
    assert {"py.typed", "reports/page/templates/base.html", "benchmarks/twin.c"} <= package
    assert "aomultirl = aomultirl.__main__:main" in entries


def sources(folder):
    """The files in a folder, as paths in it, but for what Python and Numba keep there."""
    paths = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {path.as_posix() for path in paths if "__pycache__" not in path.parts}


@needs_hatchling
def test_an_index_is_given_the_readme_without_what_it_cannot_show(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        text = wheel.read(next(name for name in wheel.namelist() if name.endswith("/METADATA"))).decode()
    assert text.partition("\n\n")[2] == shown_by_an_index(README)
    assert f"\nProject-URL: Paper, {URLS['Paper']}\n" in text
    assert "\nDescription-Content-Type: text/markdown\n" in text


@needs_hatchling
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="these sources are not under version control")
def test_the_source_distribution_holds_all_that_is_under_version_control(distributions):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    there = {name for name in listed.split("\0") if name and (ROOT / name).exists()}
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert there - names == set()
    assert {"CONTRIBUTING.md", "PKG-INFO"} <= names


@needs_hatchling
@pytest.mark.long
def test_the_wheel_works_where_nothing_of_this_folder_is(distributions, tmp_path):
    """In an environment with the wheel, and with the packages that it depends on from the environment of the tests."""
    folder = tmp_path / "installed"
    programs = install(distributions[1], folder)

    def said(program, *words):
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        line = [str(programs / program), *words]
        done = subprocess.run(line, cwd=tmp_path, env=clean, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert Path(said("python", "-c", "import aomultirl; print(aomultirl.__file__)")).is_relative_to(folder)
    assert said("aomultirl", "--version") == f"aomultirl {aomultirl.__version__}\n"
    assert "quick.toml" in said("aomultirl", "new")
    assert "aomultirl run quick.toml --dry-run" in said("aomultirl", "new", "quick.toml")
    assert (tmp_path / "quick.toml").read_bytes() == (ROOT / "examples" / "quick.toml").read_bytes()
    assert "60 cells" in said("aomultirl", "run", "quick.toml", "--dry-run")
    said("aomultirl", "new", "extending/corridors.py")
    assert "plug-in corridors" in " ".join(said("aomultirl", "list", "worlds", "--plugin", "corridors").split())


def install(wheel, folder):
    """A new environment with a wheel in it; the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    line = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(line, check=True, capture_output=True)
    (place,) = folder.rglob("site-packages")
    others = {str(Path(metadata.distribution(name).locate_file(""))) for name in ("numpy", "numba", "typer")}
    (place / "others.pth").write_text("\n".join(sorted(others)))
    return programs


@needs_hatchling
@pytest.mark.long
def test_a_wheel_made_from_the_source_distribution_is_the_same(distributions, tmp_path):
    with tarfile.open(distributions[0]) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = tmp_path.glob("aomultirl-*")
    assert contents(built(tmp_path, ["wheel"], unpacked)[1]) == contents(distributions[1])


def contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}

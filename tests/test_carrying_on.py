"""What people who work on the project rely on: the workflows, the hooks before a commit, and the forms."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def promised():
    """The versions of Python that the package says it runs on."""
    words = "Programming Language :: Python :: "
    versions = [name.removeprefix(words) for name in PROJECT["project"]["classifiers"] if name.startswith(words)]
    return [version for version in versions if "." in version]


def commands(job):
    """What a job of a workflow runs, once for every entry of its matrix."""
    ((key, values),) = job["strategy"]["matrix"].items()
    lines = [step["run"] for step in job["steps"] if "run" in step]
    return {value: [line.replace(f"${{{{ matrix.{key} }}}}", value) for line in lines] for value in values}


def test_make_test_runs_on_every_promised_python():
    job = read(ROOT / ".github" / "workflows" / "tests.yml")["jobs"]["test"]
    assert commands(job) == {version: ["make test PYTHON=python"] for version in promised()}
    assert promised() == ["3.11", "3.12", "3.13"]
    (setup,) = [step["with"] for step in job["steps"] if step.get("uses", "").startswith("actions/setup-python@")]
    assert setup["python-version"] == "${{ matrix.python }}"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_what_the_makefile_has_and_may_only_read(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
    for job in workflow["jobs"].values():
        for lines in commands(job).values():
            for line in lines:
                assert line.split()[0] == "make"
                assert line.split()[1] in targets, line


def test_the_hooks_are_the_checkers_of_make_test_out_of_the_environment():
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert repository["repo"] == "local"
    entries = [hook["entry"].split() for hook in repository["hooks"]]
    assert all(hook["language"] == "system" for hook in repository["hooks"])
    assert all(words[0].startswith(".venv/bin/") for words in entries)
    mine = [" ".join([Path(words[0]).name, *(word for word in words[1:] if word[0] != "-")]) for words in entries]
    recipe = re.search(r"^test: .*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    theirs = re.findall(r"\$\(BIN\)/((?:ruff|mypy)(?: check| format)?)", recipe)
    assert mine == theirs == ["ruff check", "ruff format", "mypy"]
    assert re.search(r"^VENV \?= \.venv$", MAKEFILE, re.MULTILINE)


@pytest.mark.parametrize("path", [path for path in FORMS if path.stem != "config"], ids=lambda path: path.stem)
def test_forms_for_issues_ask_for_something_and_name_what_there_is(path):
    form = read(path)
    assert form["name"]
    assert form["description"]
    questions = [entry for entry in form["body"] if entry["type"] != "markdown"]
    assert len({entry["id"] for entry in questions}) == len(questions) >= 3
    for entry in questions:
        assert entry["type"] in ("input", "textarea", "dropdown", "checkboxes")
        assert entry["attributes"]["label"]
        assert entry["type"] != "dropdown" or len(entry["attributes"]["options"]) >= 2
    assert any(entry["validations"]["required"] for entry in questions)
    for name in re.findall(r"`(docs/[\w/.]+)`", path.read_text(encoding="utf-8")):
        assert (ROOT / name).exists(), name


def test_the_form_for_changes_names_commands_that_there_are():
    text = (ROOT / ".github" / "PULL_REQUEST_TEMPLATE.md").read_text(encoding="utf-8")
    named = re.findall(r"`make ([a-z-]+)`", text)
    assert {"test", "rooms"} <= set(named)
    for target in named:
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


def test_the_page_on_releases_names_commands_and_files_that_there_are():
    text = (ROOT / "docs" / "releasing.md").read_text(encoding="utf-8")
    named = re.findall(r"\bmake ([a-z-]+)", text)
    assert {"test-all", "package"} <= set(named)
    for target in named:
        assert target in ("test",) or re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target
    for name in re.findall(r"`((?:src|tests|docs|\.github)/[\w/.]+)`", text):
        assert name.startswith("docs/_build") or (ROOT / name).exists(), name
    assert "\nreleasing\n" in (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    entry = next(line for line in MAKEFILE.splitlines() if line.startswith("package:"))
    recipe = MAKEFILE.partition(entry)[2].partition("\n\n")[0]
    for step in ("-m build", "twine check --strict", "aomultirl new quick.toml", "aomultirl run quick.toml --dry-run"):
        assert step.replace("aomultirl ", "bin/aomultirl ") in recipe
        assert step in text

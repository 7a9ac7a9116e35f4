"""The reference, docs/api: its examples say what they show, and everything public is on one of its pages."""

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

import aomultirl as ao
from aomultirl import extending
from aomultirl.analysis import charts, claims, rules
from aomultirl.laboratory import findings
from aomultirl.laboratory.groups import GROUPS, measure_all

PAGES = sorted((Path(__file__).parents[1] / "docs" / "api").glob("*.md"))
NAMESPACES = (ao, ao.agents, ao.exploring, ao.learning, ao.streams, ao.theory, ao.worlds, ao.wrappers, extending)
PARTS = {
    *(
        "agents",
        "checks",
        "exploring",
        "hidden_worlds",
        "learning",
        "plugins",
        "streams",
        "theory",
        "worlds",
        "wrappers",
    )
}
"""Public names that are modules, each with a page, and ``__version__``, which needs none."""


def example(text):
    """What a page types at Python's prompt, one block after the other."""
    return "".join(re.findall(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))


def described(text):
    """The names that the directives of a page document, as they are written; members of modules, not of classes."""
    for kind, name, options in re.findall(r"^\.\. auto(\w+):: (\S+)((?:\n +:.*)*)", text, re.MULTILINE):
        members = re.search(r":members:(.*)", options) if kind == "module" else None
        if members is None:
            yield name
        else:
            module = import_module(name)
            public = [one for one, value in vars(module).items() if getattr(value, "__module__", "") == name]
            yield from (f"{name}.{member}" for member in members[1].replace(",", " ").split() or public)


def thing(name):
    """What a dotted name means: an attribute before a module of the same name."""
    found = ao
    for part in name.split(".")[1:]:
        found = getattr(found, part) if hasattr(found, part) else import_module(f"{found.__name__}.{part}")
    return found


DESCRIBED = [name for page in PAGES for name in described(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", [page for page in PAGES if page.stem != "index"], ids=lambda page: page.stem)
def test_the_example_of_every_page_shows_what_happens(page):
    parsed = doctest.DocTestParser().get_doctest(example(page.read_text(encoding="utf-8")), {}, page.stem, str(page), 0)
    assert len(parsed.examples) >= 2
    said = []
    assert doctest.DocTestRunner(verbose=False).run(parsed, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("namespace", NAMESPACES, ids=lambda namespace: namespace.__name__)
def test_every_public_name_is_documented(namespace):
    named = getattr(namespace, "__all__", None) or [
        name for name, value in vars(namespace).items() if getattr(value, "__module__", "") == namespace.__name__
    ]
    there = [thing(name) for name in DESCRIBED]
    written = {name.rpartition(".")[2] for name in DESCRIBED}
    missing = [
        name
        for name in named
        if name[0] != "_"
        and not (namespace in (ao, extending) and name in PARTS)
        and not any(getattr(namespace, name) is one for one in there)
        and name not in written  # numbers, and names for types
    ]
    assert set(missing) <= ({"RandomStream"} if namespace is extending else set())


def test_the_parts_are_modules_with_a_page():
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    for part in PARTS:
        assert any(f"aomultirl.{part}" in text for text in texts), part


def test_the_laboratory_is_documented():
    there = {one for one in map(thing, DESCRIBED) if callable(one)}
    kinds = {one for one in vars(rules).values() if isinstance(one, type) and issubclass(one, rules.Rule)}
    assert {claims.Claim, charts.Series, charts.Chart, findings.Findings, measure_all} | kinds <= there
    assert {import_module(f"aomultirl.laboratory.{group}").measure for group in GROUPS} <= there


def test_every_page_is_listed_and_linked():
    index = (PAGES[0].parent / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```\{toctree\}\n:hidden:\n\n(.*?)```", index, re.DOTALL)[1].split()
    assert sorted(listed) == sorted(page.stem for page in PAGES if page.stem != "index")
    assert {f"{page}.md" for page in listed} <= set(re.findall(r"\]\((\w+\.md)\)", index))


def test_what_is_missing_would_be_noticed():
    text = "```{eval-rst}\n.. automodule:: aomultirl.streams\n   :members: paper\n```\n"
    assert list(described(text)) == ["aomultirl.streams.paper"]
    assert thing("aomultirl.streams.paper") is ao.streams.paper
    assert thing("aomultirl.agents.recall").__name__ == "aomultirl.agents.recall"
    shown = "```pycon\n>>> 1 + 1\n3\n```\n"
    parsed = doctest.DocTestParser().get_doctest(example(shown), {}, "page", "page", 0)
    assert doctest.DocTestRunner(verbose=False).run(parsed, out=lambda words: None).failed == 1

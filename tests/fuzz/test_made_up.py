"""Documents that hypothesis makes up, where the other tests of this folder change good ones; the same every time."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aomultirl.experiments import provenance_schema
from aomultirl.experiments.manifest import MARK, read_manifest, read_mark
from aomultirl.experiments.specification import read_specification, specification_of
from refusals import check_refusal

KEYS = ["name", "episodes", "runs", "seed", "record", "worlds", "streams", "agents", "grid", "zip", "label", "horizon"]
NAMES = ["gridworld", "jao", "Random", "Recall", "uniform", "from_gymnasium", "world", "regret", ""]
LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | st.sampled_from(NAMES)
VALUES = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS) | st.text(max_size=8), inner),
    max_leaves=12,
)
ENTRIES = st.lists(
    st.fixed_dictionaries({"name": st.sampled_from(NAMES) | LEAVES}, optional={"horizon": LEAVES, "grid": VALUES})
)
SPECIFICATIONS = st.fixed_dictionaries(
    {"episodes": LEAVES, "worlds": ENTRIES | VALUES, "agents": ENTRIES | VALUES},
    optional={"runs": LEAVES, "streams": ENTRIES | VALUES, "label": LEAVES, "record": VALUES},
)
JSON_TEXTS = st.binary(max_size=200) | VALUES.map(
    lambda value: repr(value).replace("'", '"').encode("utf-8", "replace")
)


def refused_or(answer, *arguments):
    """The answer, or None for a refusal of at most three lines."""
    try:
        return answer(*arguments)
    except ValueError as error:
        check_refusal(error)
        return None


def check(examples):
    """Try so many of each kind."""
    tried = dict.fromkeys(("specifications", "texts", "manifests", "descriptions"), 0)
    steady = settings(
        max_examples=examples, derandomize=True, deadline=5000, database=None, suppress_health_check=list(HealthCheck)
    )

    @steady
    @given(SPECIFICATIONS)
    def specifications(document):
        tried["specifications"] += 1
        refused_or(specification_of, document)

    @steady
    @given(JSON_TEXTS | st.text(max_size=300).map(lambda text: text.encode("utf-8", "surrogatepass")))
    def texts(content):
        tried["texts"] += 1
        (folder / "made_up.toml").write_bytes(content)
        refused_or(read_specification, folder / "made_up.toml")

    @steady
    @given(JSON_TEXTS)
    def manifests(content):
        tried["manifests"] += 1
        (folder / MARK).write_bytes(content)
        refused_or(read_mark, folder)
        refused_or(read_manifest, folder / MARK)

    @steady
    @given(VALUES)
    def descriptions(about):
        tried["descriptions"] += 1
        assert provenance_schema.fault(about)  # none of them is one, and each is told why

    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for one in (specifications, texts, manifests, descriptions):
            one()
    assert min(tried.values()) >= examples / 2  # hypothesis stops early where it has tried everything
    print(tried)  # noqa: T201


def test_what_hypothesis_makes_up():
    check(50)


@pytest.mark.long
def test_more_of_what_hypothesis_makes_up():
    check(3_000)

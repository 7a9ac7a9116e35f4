"""Results are the same to the last bit as they were; where one is to change, the changelog says so."""

import json

import pytest

import golden_runs

GOLDEN = json.loads(golden_runs.FILE.read_text())


@pytest.mark.parametrize("kind", ["known", "unknown", "ending"])
@pytest.mark.parametrize("name", golden_runs.AGENTS)
def test_every_agent_gives_the_same_bits(name, kind):
    assert golden_runs.digest(name, kind) == GOLDEN[name][kind]

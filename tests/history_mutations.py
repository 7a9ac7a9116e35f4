"""Histories in which something was changed: each is refused in a sentence, or a page can be made of it.

What is changed are the numbers of its columns, and what it says of how it was made.
"""

import copy
import json
import time
from collections import Counter

import numpy as np

import aomultirl as ao
from agent_file_mutations import ODD, places, put
from aomultirl.experiments.history import History
from aomultirl.reports.page import make_page
from refusals import check_refusal

SECONDS = 5.0
"""Within which every history is answered."""
GRID, RANDOM = ao.worlds.gridworld(), ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01, "learning_horizon": 30}
RUNS = (
    (GRID, lambda: ao.agents.Recall(0.1, 400)),
    (GRID, lambda: ao.agents.SequentialAOMultiRL(0.1, 3000, 1.299999, [(1, 0), (8, 3), (2, 1)])),
    (RANDOM, lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, **SMALL)),
)
NUMBERS = {
    "i": [-1, -2, 0, 5, 1000, 2**31, 2**53 - 1, 2**62, -(2**62)],
    "f": [np.nan, np.inf, -np.inf, 1e308, -1e308, 0.0, -5.0],
    "b": [True, False],
}
VALUES = [
    *ODD,
    *(5, 100, 0.5, [1.0], [[1.0, 2.0]], "gridworld", "nan", "(" * 500, [0, 1], 1e300, float("inf"), float("nan")),
    *({"name": "gridworld", "parameters": {}}, {"name": "gridworld", "parameters": {"size": 10**9}}),
    *({"name": "from_gymnasium", "parameters": {"envs": "a:B-v0"}}, {"name": "random_models", "parameters": {}}),
]


def changed_columns(history, rng):
    columns = {name: column.copy() for name, column in history.columns.items()}
    for _ in range(int(rng.integers(1, 4))):
        column = columns[list(columns)[int(rng.integers(len(columns)))]]
        place = slice(None) if rng.random() < 0.5 else int(rng.integers(len(column)))
        odd = NUMBERS[column.dtype.kind]
        column[place] = odd[int(rng.integers(len(odd)))]
    return History(columns, history.about)


def changed_description(history, rng):
    about = json.loads(json.dumps(history.about))
    for _ in range(int(rng.integers(1, 3))):
        every = list(places(about))
        put(about, every[int(rng.integers(len(every)))], copy.deepcopy(VALUES[int(rng.integers(len(VALUES)))]))
    return History(history.columns, about)


def check_histories(count, seed, folder):
    """Try so many histories; how many were refused, and how many became a page."""
    rng, found = np.random.default_rng(seed), Counter()
    lived = [ao.run(make(), models, ao.streams.round_robin(), 6) for models, make in RUNS]
    for number in range(count):
        change = changed_columns if rng.random() < 0.4 else changed_description
        change(lived[number % len(lived)], rng).write(folder / "history.parquet")
        begin = time.monotonic()
        found[_outcome(folder / "history.parquet")] += 1
        assert time.monotonic() - begin < SECONDS
    return found


def _outcome(path):
    try:
        page = make_page([History.read(path)])
    except ValueError as error:
        check_refusal(error)
        return "refused"
    assert page.startswith("<!DOCTYPE html>")
    return "page"

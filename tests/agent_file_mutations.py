"""Saved agents with something changed: each is refused in a sentence, or its agent can go on.  Nothing else happens.

What is changed is a value of the document, an entry of an array, or bytes of the file; the digest is made to fit again
where the change would otherwise be noticed by it alone.
"""

import copy
import hashlib
import time
from collections import Counter

import numpy as np

import aomultirl as ao
from aomultirl.agents import archive, saving
from refusals import check_refusal

MODELS = ao.worlds.random_models(6, 3, 2, 3, 1.0, 3)
SMALL = {"samples": 15, "clustering_horizon": 600, "bonus_scale": 0.01, "learning_horizon": 30}
EPISODES, STOPPED, SEED = 6, 4, 1
AGENTS = {
    "AOMultiRL": lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, **SMALL),
    "Recall": lambda: ao.agents.Recall(0.1, 400, rewards="unknown"),
    "Recall with a past": lambda: ao.agents.Recall(0.1, 30, rewards="unknown"),
    "SequentialAOMultiRL": lambda: ao.agents.SequentialAOMultiRL(0.1, 3000, 1.0),
    "TwoStageAOMultiRL": lambda: ao.agents.TwoStageAOMultiRL(2, 1.0, 5, 0.1, first_clustering_horizon=900, **SMALL),
    "PooledUCBVI": lambda: ao.agents.PooledUCBVI(0.1, 20),
    "UCRL2": lambda: ao.agents.UCRL2(50, 0.1, pooled=True),
    "Optimal": lambda: ao.agents.Optimal(20),
    "MultiModel": lambda: ao.agents.MultiModel(20, weights=[1.0, 2.0]),
    "QLearning": lambda: ao.agents.Pooled(ao.learning.QLearning(), 20),
    "PSRL": lambda: ao.agents.Told(ao.learning.PSRL(), 20, rewards="unknown"),
    "MaxQInit": lambda: ao.agents.MaxQInit(20, 0.5, failure=0.3, cautious=False, learner=ao.learning.RMax(1)),
    "LRMax": lambda: ao.agents.LRMax(20, 0.01, failure=0.3, rewards="unknown", learner=ao.learning.RMax(1)),
    "MixtureOfMDPs": lambda: ao.agents.MixtureOfMDPs(20, archive=3, rewards="unknown"),
}
ODD = [
    *(None, True, -1, 0, 7, 2**31, 2**63, 2**70, 10**400, 1e308, -1.5, "x", "\0", "x" * 300, [], {}, [[]], [0] * 1000),
    *(
        {"$array": 3},
        {"$array": -1},
        {"$counts": 1},
        {"$models": 0},
        {"$float": "nan"},
        {"$float": "x"},
        {"$eval": "1"},
    ),
]
SECONDS = 5.0
"""Within which every file is answered."""


def places(value, path=()):
    """Every place in a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, below in entries:
        yield (*path, name)
        yield from places(below, (*path, name))


def put(document, path, value):
    for name in path[:-1]:
        document = document[name]
    document[path[-1]] = value


def sealed_again(content):
    """The bytes with the digest that belongs to them."""
    body = content[: -archive.DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode()


def change_values(file, rng):
    document, arrays = archive.unpack(file)
    for _ in range(int(rng.integers(1, 3))):
        every = list(places(document))
        put(document, every[rng.integers(len(every))], copy.deepcopy(ODD[rng.integers(len(ODD))]))
    return archive.pack(document, arrays)


def change_names(file, rng):
    whole, arrays = archive.unpack(file)
    document = whole
    *path, name = [every for every in places(document) if isinstance(every[-1], str)][int(rng.integers(20))]
    for step in path:
        document = document[step]
    value = document.pop(name)
    if rng.random() < 0.5:
        document[f"{name}x"] = value
    return archive.pack(whole, arrays)


def change_arrays(file, rng):
    document, arrays = archive.unpack(file)
    for _ in range(int(rng.integers(1, 4))):
        array = arrays[rng.integers(len(arrays))].reshape(-1)
        array[rng.integers(max(1, len(array))) :][:1] = rng.choice([-1, 0, 1, 5, 6, 63, 64, 70, 2**30])
    return archive.pack(document, arrays)


def change_numbers(file, rng):
    """Real numbers that nobody counts."""
    document, arrays = archive.unpack(file)
    real = [array.reshape(-1) for array in arrays if array.dtype.kind == "f" and array.size]
    for _ in range(int(rng.integers(1, 4))):
        array = real[rng.integers(len(real))]
        array[rng.integers(len(array))] = rng.choice([np.nan, np.inf, -1.0, 0.0, 0.25, 2.5, 1e-300, 1e15, 1e308])
    return archive.pack(document, arrays)


def exchange_arrays(file, rng):
    document, arrays = archive.unpack(file)
    one, other = rng.integers(len(arrays), size=2)
    arrays[one], arrays[other] = arrays[other], arrays[one]
    return archive.pack(document, arrays)


def flip_bytes(file, rng):
    damaged = bytearray(file)
    for place in rng.integers(0, len(file), int(rng.integers(1, 5))):
        damaged[place] ^= 1 << int(rng.integers(8))
    return bytes(damaged) if rng.random() < 0.3 else sealed_again(bytes(damaged))


def cut(file, rng):
    return file[: int(rng.integers(len(file)))]


def move_a_piece(file, rng):
    one, two, three = sorted(int(place) for place in rng.integers(0, len(file), 3))
    return sealed_again(file[:one] + file[two:three] + file[one:two] + file[three:])


MUTATIONS = (change_values, change_names, change_arrays, change_numbers, exchange_arrays, flip_bytes, cut, move_a_piece)


def check_agent_files(count, seed):
    """Try so many files; how many there were of each kind, and what became of them."""
    rng, found = np.random.default_rng(seed), Counter()
    kind = MODELS, ao.streams.round_robin(), EPISODES, SEED
    lived = {}
    for name, make in AGENTS.items():
        agent = make()
        first = ao.run(agent, *kind, stop=STOPPED)
        lived[name] = agent, first, saving.to_bytes(agent)
    assert lived["Recall with a past"][0].kept.past
    names = list(lived)
    for number in range(count):
        agent, first, file = lived[names[number % len(names)]]
        mutate = MUTATIONS[int(rng.integers(len(MUTATIONS)))]
        found[mutate.__name__] += 1
        begin = time.monotonic()
        found[_outcome(mutate(file, rng), agent, kind, first)] += 1
        assert time.monotonic() - begin < SECONDS
    return found


def _outcome(content, agent, kind, first):
    """A wild index would end the process here."""
    try:
        again, _ = saving.from_bytes(content)
    except ValueError as error:
        check_refusal(error)
        return "refused"
    if repr(again) != repr(agent) or "setting" not in vars(again) or again.setting.episodes != EPISODES:
        return "another agent"
    try:
        ao.run(again, *kind, resume=first)
    except ValueError as error:
        check_refusal(error, "resume")
        return "of another run"
    return "went on"

"""Specifications that were changed at random: each is read, or refused in a sentence."""

import copy
import random
import string
import time
import tomllib
from collections import Counter

from aomultirl.experiments.specification import read_specification, specification_of
from zoo import NUMBERS, PLAIN, check_refusal, deep

SECONDS = 5.0
"""That an answer may take."""
TEXTS = (
    """
episodes = [20, 30]
runs = 2
seed = 3
record = ["regret"]

[[worlds]]
name = "gridworld"
edges = ["stay", "third"]

[[agents]]
name = "Recall"
failure = [0.03, 0.1]
horizon = 500

[[agents]]
name = "OracleLearner"
label = "told the task"
horizon = 500
episodes = 40
stream = { name = "blocks", length = 5 }
""",
    """
name = "small"
episodes = 10

[[worlds]]
name = "jao"
actions = 3
separation = 0.2

[[worlds]]
name = "random_models"
states = 6
successors = 3
rng = 1

[[streams]]
name = "paper"
each_first = true

[[streams]]
name = "sequence"
tasks = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
start = 1

[[agents]]
name = "Optimal"
grid = { horizon = [50, 60] }

[[agents]]
name = "OneEpisodeUCBVI"
failure = 0.1
zip = [{ horizon = [20, 30], bonus_scale = [0.1, 0.2] }]
""",
    """
episodes = 5

[[worlds]]
name = "gridworld"

[[agents]]
name = "AOMultiRL"
failure = 0.03
learning_horizon = 20
separation = "world"
distinguishing_set = [[1, 0], [8, 3], [2, 1]]

[[agents]]
name = "SequentialAOMultiRL"
failure = 0.03
horizon = 5000
models = "world"
""",
)
TOKENS = (
    "[[worlds]]", "[[agents]]", "[agents]", "[", "]", "[[", "]]", "{", "}", "=", ",", ".", "#", '"', "'", '"""', "\n",
    "name", "episodes", "failure", "horizon", "grid", "zip", "stream", "1", "0.5", "-1", "nan", "inf", "true", "0x1f",
    "2024-01-01", "1_000", "1e400", "9" * 30, "9" * 5000, '"gridworld"', '"Recall"', "a.b.c", "\\u0000", "\t", "\0",
    "é", "\r\n",
)  # fmt: skip
"""Of which a text is made that may or may not be TOML."""


def _places(part, path=()):
    """The paths of all values in a document that are not nested too deeply."""
    yield path
    if len(path) == 6:
        return
    for key, inner in part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ():
        yield from _places(inner, (*path, key))


def _chosen(document, source, kind=object):
    """The path of a value, whose last key is of this kind."""
    return source.choice([path for path in _places(document) if path and isinstance(path[-1], kind)])


def _owner(document, path):
    for key in path[:-1]:
        document = document[key]
    return document


def _valued(document, source):
    """A value replaced by one that nobody means, or a number by another."""
    path = _chosen(document, source)
    _owner(document, path)[path[-1]] = source.choice(source.choice((NUMBERS, PLAIN)))()


def _nested(document, source):
    """A value put into tables or lists, a few of them or very many."""
    path = _chosen(document, source)
    owner, levels = _owner(document, path), source.choice((1, 2, 50, 5000))
    if source.random() < 0.5:
        owner[path[-1]] = deep(levels)
    else:
        for _ in range(levels):
            owner[path[-1]] = {source.choice(("name", "grid", "x")): owner[path[-1]]}


def _keyed(document, source):
    """A key taken away, renamed, or given to somebody else."""
    path = _chosen(document, source, str)
    owner = _owner(document, path)
    value = owner.pop(path[-1])
    kind = source.randrange(4)
    if kind == 1:
        owner[path[-1] + source.choice(("s", "_", "x" * 300, "\0", ".", "é"))] = value
    elif kind == 2:
        owner["".join(source.choices(string.printable, k=source.randrange(20)))] = value
    elif kind == 3:
        document["x"] = 1
        other = _chosen(document, source, str)
        _owner(document, other)[path[-1]] = value


def _repeated(document, source):
    """An entry that is there twice, or as often as it takes to be too many."""
    for entries in document.values():
        if isinstance(entries, list) and entries and source.random() < 0.5:
            entries += entries[:1] * source.choice((1, 2, 200))


def _flipped(text, source):
    """Bytes changed, taken out or put in; or the end cut off."""
    content = bytearray(text.encode())
    for _ in range(source.choice((1, 1, 2))):
        place = source.randrange(len(content))
        kind = source.randrange(6)
        digits = [at for at, byte in enumerate(content) if byte in b"0123456789"]
        if kind > 3 and digits:
            content[source.choice(digits)] = source.choice(b"0123456789")
        elif kind == 0:
            content[place] ^= 1 << source.randrange(8)
        elif kind == 1:
            del content[place : place + source.randrange(1, 20)]
        elif kind == 2:
            content[place:place] = source.choice(TOKENS).encode()
        else:
            del content[place:]
        content = content or bytearray(b" ")
    return bytes(content)


def _random(source):
    words = source.choices(TOKENS, k=source.randrange(1, 60))
    return source.choice(("", " ")).join(words).encode()


CHANGES = (_valued, _valued, _valued, _keyed, _nested, _repeated)


def check_specifications(count, seed, folder):
    """Read so many; how many of which kind were good, and how many were refused."""
    source, file = random.Random(seed), folder / "specification.toml"
    documents = [tomllib.loads(text) for text in TEXTS]
    for document in documents:  # what is compiled is compiled before anything is measured
        specification_of(document)
    found = Counter()
    for number in range(count):
        kind = ("changed", "changed", "changed", "bytes", "words")[number % 5]
        if kind == "changed":
            document = copy.deepcopy(source.choice(documents))
            for _ in range(source.choice((0, 1, 1, 1, 2))):
                source.choice(CHANGES)(document, source)
            found[kind, _outcome(specification_of, document, f"{number} of seed {seed}")] += 1
        else:
            file.write_bytes(_flipped(source.choice(TEXTS), source) if kind == "bytes" else _random(source))
            found[kind, _outcome(read_specification, file, f"{number} of seed {seed}: {file.read_bytes()!r}")] += 1
    return dict(found)


def _outcome(read, given, where):
    begin = time.perf_counter()
    try:
        read(given)
        said = "good"
    except ValueError as error:
        check_refusal(error, where)
        said = "refused"
    except Exception as error:
        raise AssertionError(f"{where}: {type(error).__name__}: {str(error)[:300]}") from error
    took = time.perf_counter() - begin
    assert took < SECONDS, f"{where} took {took:.1f} s"
    return said

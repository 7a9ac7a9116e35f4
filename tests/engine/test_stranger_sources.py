"""Machine code in which modules of others have a part follows their edits, and is kept for later processes."""

import hashlib
import json
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from aomultirl.engine import stepping, stranger_sources

MODULE = """
from typing import NamedTuple

import numpy as np

from aomultirl.engine.behaviours import ASK, Table, empty_table, register
from aomultirl.engine.compiling import kernel
from rates import RATE

DISCOUNT = 0.9


class Learner(NamedTuple):
    table: Table
    values: np.ndarray


def learner(n_states, n_actions):
    return Learner(empty_table(n_states), np.zeros((n_states, n_actions)))


@kernel
def _prepare(behaviour, counts, step, state, stream):
    behaviour.table.plan[state] = step % 2


@kernel
def _attend(behaviour, counts, step, state, action, successor, reward, ended):
    target = reward + DISCOUNT * behaviour.values[successor, action]
    behaviour.values[state, action] += RATE * (target - behaviour.values[state, action])
    behaviour.table.budget[state] = 1
    behaviour.table.plan[state] = ASK
    return False


register(Learner, prepare=_prepare, attend=_attend)
"""
"""The behaviour of somebody else, with little to compile, that takes a constant from another module."""
KERNELS = """
from aomultirl.engine import interacting, stepping
from aomultirl.engine.compiling import _Cache
import gc
from numba.core.dispatcher import Dispatcher

def compiled():
    kernels = [one for one in gc.get_objects() if isinstance(one, Dispatcher) and isinstance(one._cache, _Cache)]
    return sorted(one.py_func.__qualname__ for one in kernels if sum(one.stats.cache_misses.values()))
"""
STRANGE = """
import sys
import numpy as np
strangers = __import__(sys.argv[1])
from aomultirl.engine.counts import CountTable
from aomultirl.engine.interacting import Session
from aomultirl.engine.random import streams
from aomultirl.engine.stepping import Phase

def episode(behaviour):
    yield Phase(behaviour, 12, CountTable(6), np.empty(0))

behaviour = strangers.learner(3, 2)
session = Session(episode(behaviour), 3, 2, 0, streams(0, 1)[0])
while not session.over:
    session.act()
    session.observe((session.state + 1) % 3, 0.5)
print(behaviour.values.max(), *compiled())
"""


SERVER = """
import json, os, sys, traceback

for line in sys.stdin:
    code, folder, name, place = json.loads(line)
    process = os.fork()
    if process == 0:
        status = 1
        with open(place, "w") as sys.stdout:
            try:
                os.chdir(folder)
                sys.argv[1:] = [name]
                exec(code, globals())
                status = 0
            except BaseException:
                traceback.print_exc(file=sys.stdout)
        os._exit(status)
    print(os.waitpid(process, 0)[1], flush=True)
"""
"""Each line is answered by a new process, which has this package imported, no kernel compiled, and nothing else."""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """run(code, path) is what a new process prints, in the folder of a module and given its name.

    It writes no bytecode, in which an edit of the same length within the same second would go unnoticed.
    """
    said = tmp_path_factory.mktemp("said") / "said.txt"
    line = [sys.executable, "-B", "-c", KERNELS + SERVER]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:

        def answer(code, path):
            print(json.dumps([code, str(path.parent), path.stem, str(said)]), file=server.stdin, flush=True)
            assert server.stdout.readline() == "0\n", said.read_text()
            return said.read_text().split()

        yield answer


@pytest.fixture(scope="module")
def strangers(tmp_path_factory):
    """A module with the behaviour of somebody else, beside a helper that it imports a constant from.

    Its name is its own, since what the package keeps for it goes by that name, and several tests may run at once.
    """
    folder = tmp_path_factory.mktemp("strangers")
    path = folder / f"strangers_{uuid.uuid4().hex}.py"
    path.write_text(MODULE)
    (folder / "rates.py").write_text("RATE = 0.3\n")
    (folder / "unrelated.py").write_text("RATE = 0.3\n")
    yield path
    name = hashlib.sha256(path.stem.encode()).hexdigest()[:16]
    kept = [*Path(stepping.__file__).parent.joinpath("__pycache__").glob(f"*.{name}.*")]
    assert kept
    for file in kept:
        file.unlink()


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_an_edit_of_a_stranger_is_followed_and_what_is_unchanged_is_found_on_disk(run, strangers):
    first, *compiled = run(STRANGE, strangers)
    assert {"_act", "_observe", "_prepare", "_attend"} <= set(compiled)
    edit(strangers.with_name("unrelated.py"), "0.3", "0.4")
    assert run(STRANGE, strangers) == [first]
    edit(strangers, "DISCOUNT = 0.9", "DISCOUNT = 0.1")
    second, *compiled = run(STRANGE, strangers)
    assert second != first
    assert {"_act", "_observe", "_prepare", "_attend"} <= set(compiled)
    assert run(STRANGE, strangers) == [second]


OURS = """
import aomultirl as ao
models = ao.worlds.random_models(4, 2, 2, 3, rng=0)
agents = {
    "fixed": lambda: ao.agents.Random(5),
    "explore_id": lambda: ao.agents.AOMultiRL(2, 1.0, 5, 0.1, samples=2, clustering_horizon=9, learning_horizon=3),
    "gosprl": lambda: ao.agents.DoublingAOMultiRL(2, 1.0, 0.1, horizon=500, samples=2),
    "seek": lambda: ao.agents.SequentialAOMultiRL(0.1, 50, separation=0.5, samples=2),
    "beliefs": lambda: ao.agents.Recall(0.1, 20),
    "ucrl2": lambda: ao.agents.UCRL2(20),
}
for name, agent in agents.items():
    ao.run(agent(), models, ao.streams.round_robin(), 3)
print(*compiled())
"""


def test_a_second_process_compiles_nothing_for_any_behaviour_also_after_one_that_has_a_strangers_module(
    run, strangers, tmp_path
):
    """What is kept for a stranger's records spoils nothing for those who do not have the module."""
    run(STRANGE, strangers)
    if run(OURS, tmp_path / "nobody.py"):  # the first process ever on this machine
        run(STRANGE, strangers)
        assert run(OURS, tmp_path / "nobody.py") == []


@pytest.mark.long
def test_a_record_that_no_other_process_could_find_is_compiled_and_not_kept(tmp_path):
    (tmp_path / "rates.py").write_text("RATE = 0.3\n")
    code = KERNELS + MODULE + STRANGE.replace("__import__(sys.argv[1])", "sys.modules[__name__]")
    (tmp_path / "script.py").write_text(code)
    for _ in range(2):
        command = [sys.executable, "script.py"]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        assert {"_act", "_observe"} <= set(done.stdout.split())


@pytest.mark.long
def test_an_edit_of_a_helper_is_followed_and_what_was_edited_after_it_was_loaded_is_not_kept(run, strangers):
    """A process that runs the old source must not leave its machine code behind as that of the new one."""
    before = run(STRANGE, strangers)[0]
    code = STRANGE.replace(
        "behaviour = stranger",
        "from pathlib import Path\n"
        "path = Path(strangers.__file__)\n"
        "path.write_text(path.read_text().replace('DISCOUNT = 0.1', 'DISCOUNT = 0.7'))\n"
        "behaviour = stranger",
        1,
    )
    edit(strangers.with_name("rates.py"), "RATE = ", "RATE = 0.01 + ")
    old, *compiled = run(code, strangers)
    assert float(old) > float(before)
    assert {"_act", "_observe", "_prepare", "_attend"} <= set(compiled)
    new, *compiled = run(STRANGE, strangers)
    assert new != old
    assert "_attend" in compiled
    assert run(STRANGE, strangers) == [new]


def test_the_examples_of_an_installed_package_are_no_part_of_it(tmp_path, monkeypatch):
    """So results and machine code do not depend on them, and an example that is run where it lies is a stranger's."""
    package = tmp_path / "aomultirl"
    ours, example = package / "engine" / "counts.py", package / "examples" / "extending" / "q_learning.py"
    for path in (ours, example):
        path.parent.mkdir(parents=True)
        path.write_text("@kernel\n")
    monkeypatch.setattr(stranger_sources, "PACKAGE", package)
    monkeypatch.setattr(stranger_sources, "EXAMPLES", package / "examples")
    assert stranger_sources.own_files() == [ours]
    assert stranger_sources.is_ours(str(ours))
    assert not stranger_sources.is_ours(str(example))


def test_all_files_of_a_checkout_are_the_packages_own():
    found = stranger_sources.own_files()
    assert Path(stranger_sources.__file__) in found
    assert found == sorted(stranger_sources.PACKAGE.rglob("*.py"))

"""`import aomultirl` is quick, compiles nothing, and needs nothing but the core."""

import subprocess
import sys

CODE = """
import time
begin = time.process_time()
import aomultirl
spent = time.process_time() - begin
import sys
from numba.core.dispatcher import Dispatcher
kernels = [v for m in list(sys.modules.values()) if m.__name__.startswith("aomultirl")
           for v in vars(m).values() if isinstance(v, Dispatcher)]
heavy = {"gymnasium", "rich", "typer", "matplotlib", "icu_sepsis", "scipy.optimize"} & set(sys.modules)
heavy |= {"pydantic", "polars", "pyarrow", "ray", "loky"} & set(sys.modules)
print(spent, len(kernels), sum(len(k.signatures) for k in kernels), sorted(heavy))
"""


LIBRARIES = """
import time
begin = time.process_time()
import numba, numba.extending, scipy.sparse, scipy.special
print(time.process_time() - begin)
"""


def answer_of(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_import_is_quick_and_compiles_nothing():
    """The second that it may take is 1.9 times what Numba and SciPy take, which is measured, as machines differ."""
    answers, yardstick = [], []
    for _ in range(4):
        answers.append(answer_of(CODE).split(maxsplit=3))
        yardstick.append(float(answer_of(LIBRARIES)))
    assert min(float(answer[0]) for answer in answers) < 1.9 * min(yardstick)
    for _, kernels, compiled, heavy in answers:
        assert int(kernels) > 10
        assert int(compiled) == 0
        assert heavy.strip() == "[]"


def test_without_its_packages_the_command_says_how_to_get_them():
    code = "import sys; sys.modules['typer'] = None; from aomultirl.__main__ import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.strip() == (
        "aomultirl: the command line needs typer; install it with: pip install 'aomultirl[experiments]'"
    )


SWEEP = """
import sys
from aomultirl.cli import run
assert run(["run", sys.argv[1], "--out", sys.argv[2]]) == 0
assert run(["compare", sys.argv[2]]) == 0
print(sorted({"jinja2", "matplotlib", "plotly"} & set(sys.modules)))
"""
SMALL = """
name = "small"
episodes = 2
runs = 2
worlds = [{name = "gridworld", size = 3}]
agents = [{name = "Random", horizon = 5}, {name = "Optimal", horizon = 5}]
"""


def test_a_sweep_and_its_leaderboard_import_nothing_that_draws(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    command = [sys.executable, "-c", SWEEP, str(tmp_path / "small.toml"), str(tmp_path / "out")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"

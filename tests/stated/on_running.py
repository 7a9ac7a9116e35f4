"""What the pages on running, specifications, checkpoints, results, environments and extensions state."""

import ast
import re
import signal
import warnings

import numpy as np
import typer

import aomultirl as ao
from aomultirl.agents import interface
from aomultirl.agents.recall_memory import RESOLVED
from aomultirl.analysis import intervals, paired_test, sweep_views
from aomultirl.analysis.live import playing
from aomultirl.benchmarks import sweep
from aomultirl.checks import LONGEST_NAME, SEED_BITS
from aomultirl.cli.app import app
from aomultirl.experiments import checkpoints
from aomultirl.experiments.specification import expansion, reading
from aomultirl.experiments.specification.document import Specification
from stated.checks import states
from stated.reading import ROOT

RUNNING, SPECIFICATION, CHECKPOINTS, RESULTS = (
    f"docs/{name}.md" for name in ("running", "specification", "checkpoints", "results")
)
ENVIRONMENT, RLBERRY = "docs/your_environment.md", "docs/rlberry.md"


@states(
    RUNNING,
    "with {} and one sentence where something was refused, with {} and {} after Ctrl-C and `kill`, and with {},",
)
def how_commands_end():
    signals = [128 + number for number in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)]
    return [typer.BadParameter("").exit_code, *signals]


@states(RUNNING, "(an episode takes {} seconds otherwise)")
def seconds_of_an_episode():
    return [playing.SECONDS]


@states(RESULTS, "were taken for a world that the agent believed in with {} % or more")
@states(ENVIRONMENT, "taken for a world that it was {} % sure of")
def what_counts_as_sure():
    return [100 * RESOLVED]


def option(command, name):
    """The default of an option of a command."""
    options = typer.main.get_command(app).commands[command].params
    (found,) = [option.default for option in options if option.name == name]
    return found


def shown(page, pattern):
    """Whole numbers in the code of a page."""
    (found,) = re.findall(pattern, (ROOT / page).read_text(encoding="utf-8"))
    return [int(number) for number in ([found] if isinstance(found, str) else found)]


@states(RUNNING, "every {} s by default (`--checkpoint`)")
def seconds_between_checkpoints():
    return [option("run", "checkpoint")]


@states(CHECKPOINTS, "writes a checkpoint every {} seconds")
def seconds_between_checkpoints_of_cells():
    assert option("run", "checkpoint") == checkpoints.EVERY
    return [checkpoints.EVERY]


@states(RUNNING, "`aomultirl bench --sweep` runs {} cells of about {} ms")
def cells_of_the_benchmark():
    return option("bench", "cells"), 1000 * sweep.SECONDS


@states(CHECKPOINTS, "# episodes {} to {} of {}")
def episodes_of_the_first_part():
    (stop,), (whole,) = shown(CHECKPOINTS, r"stop=(\d+)"), shown(CHECKPOINTS, r"uniform\(\), (\d+)\)")
    return 0, stop - 1, whole


@states(CHECKPOINTS, "# the whole history: {} episodes")
def episodes_of_the_whole():
    return shown(CHECKPOINTS, r"uniform\(\), (\d+)\)")


@states(SPECIFICATION, "# of every configuration; {} by default")
def runs_by_default():
    return [Specification.model_fields["runs"].default]


@states(SPECIFICATION, "# of all randomness; {} by default")
def seed_by_default():
    return [Specification.model_fields["seed"].default]


@states(SPECIFICATION, "| the file | {} bytes,")
def bytes_of_a_file():
    return [reading.MOST_BYTES]


@states(SPECIFICATION, "| a dotted key | {} parts |")
def parts_of_a_key():
    return [reading.MOST_PARTS]


@states(SPECIFICATION, "| `name`, `label` | {} characters")
def characters_of_a_name():
    return [LONGEST_NAME]


@states(SPECIFICATION, "| `seed` | {} bits; other whole numbers stay below {} |")
def bits_of_a_seed():
    return SEED_BITS, 2.0**63


@states(SPECIFICATION, "| an experiment | {} cells |")
def cells_of_an_experiment():
    return [expansion.MOST]


@states(RESULTS, "with {} pairs it is {} at least")
def the_least_p():
    return 5, paired_test.compare("one", "other", np.ones(5)).p_value


@states(
    RESULTS,
    "they hold the mean in some {} % of cases with {} runs, {} % with {}, {} % with {} and {} % with {}.",
    within=0.06,
)
def how_often_bootstrap_intervals_hold_the_mean():
    """In 1,500 samples, of which a share has a standard error of 1.3 per cent."""
    told = []
    for runs in (2, 3, 5, 10):
        found = intervals.over_runs(np.random.default_rng(runs).normal(size=(runs, 1500)))
        told += [100.0 * np.mean((found.low <= 0.0) & (found.high >= 0.0)), runs]
    return told


@states(RESULTS, "show at most {} configurations and {} runs of each")
def what_charts_show():
    return sweep_views.MOST_CONFIGURATIONS, sweep_views.MOST_RUNS


@states(ENVIRONMENT, "numbers them as they are met, up to {},")
def most_states():
    return [interface.GROW]


@states(ENVIRONMENT, "with {} pairs, {} visits each, and episodes of {} steps warns with these numbers")
def an_agent_that_cannot_work():
    agent = ao.agents.SequentialAOMultiRL(0.05, 1000, 1.0, rewards="unknown")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        agent.begin(ao.agents.Setting(64, 4, None, 100))
    (words,) = [str(one.message) for one in told]
    found = [int(number.replace(",", "")) for number in re.findall(r"\d[\d,]*", words)]
    return [next(number for number in found if number == wanted) for wanted in (256, 160, 1000)]


@states(RLBERRY, "of them in all, {} by default")
def episodes_of_rlberry():
    """Of the source, since the module needs rlberry."""
    tree = ast.parse((ROOT / "src/aomultirl/rlberry_adapter.py").read_text(encoding="utf-8"))
    (default,) = [
        default.value
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument, default in zip(node.args.args[::-1], node.args.defaults[::-1], strict=False)
        if argument.arg == "episodes"
    ]
    return [default]


@states(RLBERRY, "manager.fit()  # {} episodes each")
def episodes_of_the_example():
    return shown(RLBERRY, r"fit_budget=(\d+)")


@states("docs/extending/learner.md", "visited or not; {}, a table of counts, by default.")
def bytes_of_a_pair():
    return [ao.learning.base.Learner.pair_bytes]


@states("docs/extending/learner.md", "beside it make {}.")
def bytes_with_two_arrays():
    return [ao.learning.base.Learner.pair_bytes + 2 * np.dtype(np.float64).itemsize]


@states(RUNNING, "`examples/` has {};")
def examples():
    return [len(list((ROOT / "examples").glob("*.toml")))]

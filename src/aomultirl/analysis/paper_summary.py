"""The numbers of the paper's experiment: one JSON file, and one table of all episodes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import aomultirl
from aomultirl import extras
from aomultirl.analysis.intervals import over_runs
from aomultirl.experiments.computation import versions
from aomultirl.experiments.paper import FAILURE, GAMMA, HITTING_TIME, HORIZON, LABELS, SEPARATION, Results

if TYPE_CHECKING:
    import pyarrow

CHECKPOINTS = (10, 30, 50, 100, 150, 200)


def summarise(results: Results) -> dict[str, Any]:
    """Everything but the curves, ready for ``json.dumps``."""
    experiment = results.experiment
    return {
        "parameters": {
            **experiment.identity(),
            "runs": experiment.runs,
            "separation": SEPARATION,
            "hitting_time": HITTING_TIME,
            "failure": FAILURE,
            "learning_horizon": HORIZON,
            "distinguishing_set": [list(pair) for pair in GAMMA],
        },
        "seeds": [manifest["run_seed"] for manifest in results.manifests[LABELS[0]]],
        "version": aomultirl.__version__,
        "versions": versions(),
        "agents": {label: _agent(results, label) for label in LABELS},
    }


def _agent(results: Results, label: str) -> dict[str, Any]:
    histories, manifests = results.histories[label], results.manifests[label]
    aper, exact = results.aper(label), results.aper(label, "evaluation_value")
    reached = [k for k in CHECKPOINTS if k <= results.experiment.episodes]
    return {
        "aper": {str(k): _measured(aper[:, k - 1], exact[:, k - 1]) for k in reached},
        "mean_50_99": _mean(results, label, 50, 100),
        "mean_last_20": _mean(results, label, -20, None),
        "clusters": [len(history.about["clusters"]) for history in histories],
        "misclustered": [history.misclustered for history in histories],
        "failed_explorations": [int((~history["exploration_ok"]).sum()) for history in histories],
        "misclustered_among_successful": sum(
            int((history["misclustered"] & history["exploration_ok"]).sum()) for history in histories
        ),
        "discovered_sets": [history.about["findings"].get("discovered") for history in histories],
        "premises": histories[0].about.get("premises"),
        "clustering_horizon": histories[0].about["findings"].get("clustering_horizon"),
        "samples": histories[0].about["findings"].get("samples"),
        "steps": int(sum((h["identification_steps"] + h["learning_steps"]).sum() for h in histories)),
        "cpu_seconds": sum(manifest["cpu_seconds"] for manifest in manifests),
    }


def _mean(results: Results, label: str, first: int, last: int | None) -> dict[str, float | None] | None:
    """The mean reward of the episodes [first, last), numbered from 0; None where there are not so many."""
    rewards = results.counted(label, "evaluation_reward")[:, first:last]
    if rewards.shape[1] < (20 if last is None else last - first):
        return None
    exact = results.counted(label, "evaluation_value")[:, first:last]
    return _measured(rewards.mean(axis=1), exact.mean(axis=1))


def _measured(sampled: NDArray[np.float64], exact: NDArray[np.float64]) -> dict[str, float | None]:
    """Mean over runs with its interval, and what the same policies are worth exactly."""
    found = over_runs(sampled)
    mean, low, high = (None if np.isnan(number) else float(number) for number in found)
    return {"mean": mean, "low": low, "high": high, "exact": float(exact.mean())}


def episodes_table(results: Results) -> "pyarrow.Table":
    """One row for each agent, run and episode; ``k`` numbers the episodes that the metric counts, from 1."""
    with extras.needs("tables of episodes"):
        import pyarrow

    tables = []
    for label in LABELS:
        for number, history in enumerate(results.histories[label]):
            count, before = len(history), len(history) - results.experiment.episodes
            k = np.arange(1 - before, count - before + 1)
            columns = {
                "agent": pyarrow.array([label] * count),
                "run": pyarrow.array(np.full(count, number)),
                "k": pyarrow.array(k, mask=k < 1),
                **{name: pyarrow.array(column) for name, column in history.columns.items()},
            }
            tables.append(pyarrow.table(columns))
    return pyarrow.concat_tables(tables)

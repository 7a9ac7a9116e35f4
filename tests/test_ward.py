"""The case study of docs/ward.md: its exact numbers by other means, its counts, and the script at a tiny size."""

import re
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.worlds.icu_sepsis import AFTERWARDS, DEATH, N_ACTIONS, N_STATES, SURVIVAL

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "ward.md"
pytestmark = pytest.mark.skipif(find_spec("icu_sepsis") is None, reason="needs the package icu-sepsis")


@pytest.fixture(scope="module")
def modules():
    """The files of the example, importable from its folder alone."""
    folder = str(ROOT / "examples")
    sys.path.insert(0, folder)
    try:
        import ward
        import ward_numbers
        import ward_report

        yield ward, ward_numbers, ward_report
    finally:
        sys.path.remove(folder)


@pytest.fixture(scope="module")
def numbers(modules):
    return modules[1]


@pytest.fixture(scope="module")
def here(numbers):
    return numbers.ward(numbers.FIRST_SEED)


def survival(world, plan):
    """By solving the linear equations of a plan of actions, where the example iterates."""
    rows = world.sparse_transitions[np.arange(N_STATES) * N_ACTIONS + plan].toarray()[:DEATH]
    values = np.linalg.solve(np.eye(DEATH) - rows[:, :DEATH], rows[:, SURVIVAL])
    return float(world.start_distribution[:DEATH] @ values)


def test_survival_and_stay_agree_with_equations_and_with_values_of_the_library(numbers, here):
    patients = here.patients[1]
    found = numbers.outlook(patients, here.protocol)
    assert found.survival == pytest.approx(survival(patients, here.protocol), abs=1e-9)
    under_treatment = np.zeros((N_STATES, N_ACTIONS))
    under_treatment[:DEATH] = 1.0
    clock = ao.MDP(
        patients.sparse_transitions, under_treatment, patients.start_distribution, terminal=patients.terminal
    )
    stay = clock.start_distribution @ clock.policy_values(here.protocol, 200)[0]
    assert found.stay == pytest.approx(float(stay), abs=1e-4)
    uniform = np.full((N_STATES, N_ACTIONS), 1.0 / N_ACTIONS)
    at_random = patients.start_distribution @ patients.policy_values(uniform, 100)[0]
    assert numbers.outlook(patients, numbers.AT_RANDOM).survival == pytest.approx(float(at_random), abs=1e-4)


def test_the_right_plan_is_optimal_and_wrong_ones_are_not(numbers, here):
    table = numbers.wrong_plans(here)
    best = [float(world.start_distribution @ world.first_values(numbers.PLAN_STEPS)) for world in here.patients]
    assert np.diag(table) == pytest.approx(best, abs=1e-5)
    assert table[0, 1] == pytest.approx(survival(here.patients[1], here.optimal[0]), abs=1e-9)
    assert table[~np.eye(3, dtype=bool)].max() < 0.8


def test_the_pay_of_a_week_asks_for_survival(numbers, here):
    paid = numbers.outlook(here.patients[0], numbers.best_plan(here.weeks[0])).survival
    hurried = numbers.best_plan(ao.worlds.icu_sepsis(terminal="restart")[0])
    assert paid == pytest.approx(numbers.wrong_plans(here)[0, 0], abs=1e-3)
    assert numbers.outlook(here.patients[0], hurried).survival < paid - 0.05


def test_deaths_and_survivors_add_up_to_the_reward(numbers, here):
    horizon = 400
    run = numbers.SimulatedRun(ao.agents.Random(horizon), here.weeks, ao.streams.uniform(), 2, 5, record=())
    run.begin()
    weeks = [numbers._play_week(run, run.agent, here, False) for _ in range(2)]
    for week, row in zip(weeks, run.rows, strict=True):
        survivors, deaths = week["survivors"], week["deaths"]
        assert survivors + deaths > 15
        others = horizon - survivors - deaths
        assert row.learning_reward == pytest.approx(survivors + numbers.STEP_PAY * others)
        assert week["plan"] == pytest.approx(0.78, abs=1e-3)


def test_transitions_that_are_simulated_at_once_are_those_of_the_variant(numbers, here):
    """20,000 draws of one row: a frequency is off by five standard errors with probability 6e-7, for 80 of them."""
    variants, count, pair, variant = numbers.Variants(here.weeks), 20_000, 5 * N_ACTIONS + 7, 2
    pairs = np.full(count, pair)
    drawn = variants.next(variant, pairs, np.random.default_rng(1))
    row = here.weeks[variant].sparse_transitions[[pair]].toarray()[0]
    shares = np.bincount(drawn, minlength=N_STATES) / count
    assert (np.abs(shares - row) <= 5.0 * np.sqrt(row * (1.0 - row) / count)).all()
    chances = [world.sparse_transitions[[pair]].toarray()[0][drawn[:50]] for world in here.weeks]
    assert np.exp(variants.evidence(pairs[:50], drawn[:50])) == pytest.approx(np.array(chances).T)


def test_logs_hold_so_many_patients_of_the_variant(numbers, here):
    for treated in (numbers.RANDOM_DOSES, numbers.PROTOCOL):
        for counts, world in zip(numbers.logs(numbers.FIRST_SEED, 500, treated), here.weeks, strict=True):
            by_state = np.asarray(counts.sum(axis=1)).reshape(N_STATES, N_ACTIONS).sum(axis=1)
            assert by_state[AFTERWARDS] == pytest.approx(500, rel=0.15)
            assert abs(by_state[DEATH] + by_state[SURVIVAL] - by_state[AFTERWARDS]) <= 2
            assert (counts.astype(bool).multiply(world.sparse_transitions) > 0).nnz == counts.nnz


def test_a_plan_from_very_many_logs_is_almost_optimal(numbers, here):
    patients = here.patients[2]
    counts = numbers.sp.csr_array(1e6 * here.weeks[2].sparse_transitions)
    plan = numbers.plan_from_logs(patients, counts)
    assert numbers.outlook(patients, plan).survival == pytest.approx(numbers.wrong_plans(here)[2, 2], abs=1e-3)


def test_who_has_logs_goes_where_variants_differ_and_recognises_them(numbers, here):
    """In 400 steps, of which a plan that avoids what differs would need all and learn nothing."""
    agent = ao.agents.Recall(0.03, 800)
    agent.remember(numbers.logs(numbers.FIRST_SEED, 100_000, numbers.RANDOM_DOSES))
    ao.run(agent, here.weeks, ao.streams.round_robin(), 3, seed=3, record=())
    traces = agent.findings()["evidence"]["episodes"]
    right = [trace["belief"][trace["steps"].index(400)][variant] for variant, trace in enumerate(traces)]
    assert sum(share > 0.99 for share in right) >= 2


def test_everything_is_made_at_a_tiny_size(modules, tmp_path, monkeypatch, capsys):
    ward, numbers, report = modules
    tiny = numbers.Sizes(runs=1, horizon=60, weeks=2, logged=(20, 40), planner_weeks=2, patients=6)
    monkeypatch.setattr(ward, "QUICK", tiny)
    monkeypatch.setattr(numbers, "PLAN_STEPS", 20)
    page = tmp_path / "ward.md"
    page.write_text(PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    ward.main(["--quick", "--out", str(tmp_path), "--page", str(page)])
    shown, text = capsys.readouterr().out, page.read_text(encoding="utf-8")
    for name in ("pay", "how", "survival", "recognition", "wrong", "history"):
        assert report.BEGIN.format(name) in text
    assert "| standard protocol | " in shown
    for line in shown.splitlines():
        assert not line.startswith("|") or line in text
    drawn = {path.name: path.read_bytes() for path in tmp_path.glob("*.png")}
    assert len(drawn) == 4
    ward.main(["--redraw", "--out", str(tmp_path)])
    assert capsys.readouterr().out == shown
    assert {path.name: path.read_bytes() for path in tmp_path.glob("*.png")} == drawn


def test_the_page_names_what_there_is(modules):
    text = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^\$ python examples/ward.py(.*)$", text, re.MULTILINE)
    assert commands
    for words in commands:
        modules[0].read_options(shlex.split(words))
    images = re.findall(r"\]\((images/[a-z_]+\.png)\)", text)
    assert {Path(image).stem for image in images} == set(modules[2].FIGURES)
    for image in images:
        assert 0 < (PAGE.parent / image).stat().st_size < 150_000
    for file in re.findall(r"`(examples/[a-z_]+\.py)`", text):
        assert (ROOT / file).is_file()


def test_the_page_has_the_exact_numbers_of_the_first_ward(here):
    """The table of wrong plans, against values of the library."""
    rows = re.findall(r"^\| (best for variant \d|standard protocol) \| ([\d. |]+) \|$", PAGE.read_text(), re.MULTILINE)
    plans = [*here.optimal, here.protocol]
    assert len(rows) == len(plans)
    for (_, shown), plan in zip(rows, plans, strict=True):
        values = [world.start_distribution @ world.policy_values(plan, 200)[0] for world in here.patients]
        exact = [100.0 * float(share) for share in values]
        assert [float(share) for share in shown.split(" | ")] == pytest.approx(exact, abs=0.0501)

"""What the beds are made of, without other people's packages; ``make test-beds`` runs them all."""

from dataclasses import replace
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

from aomultirl.experiments.beds import BEDS, LIVES, Bed, NumberedEnvironment, SwappedActions
from beds import page, results
from beds.learners import LEARNERS, Meeting, QLearning
from beds.results import Estimate, Run

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def lake() -> Bed:
    """A bed of two small lakes, which differ in what left and right do."""

    def variants() -> list[gym.Env]:
        made = [gym.make("FrozenLake-v1", desc=["SF", "HG"], is_slippery=False) for _ in range(2)]
        return [made[0], SwappedActions(made[1], [2, 1, 0, 3])]

    return Bed(
        name="Lake",
        package="gymnasium",
        hidden="left and right",
        variants=variants,
        states=4,
        actions=4,
        reward_range=(0, 1),
        best=1,
        life=10,
        lives=30,
        long=60,
        episodes=15,
    )


@pytest.mark.parametrize("life", LIVES)
def test_everybody_meets_the_same_variants_and_being_told_beats_acting_at_random(lake: Bed, life: str) -> None:
    meeting = Meeting(lake, life, seed=1, quick=False)
    earned = meeting.all()
    assert sorted(earned) == sorted(LEARNERS)
    assert {len(row) for row in earned.values()} == {lake.lives if life == "end" else lake.episodes}
    assert np.mean(earned["Q, told"]) > np.mean(earned["Random"])
    assert np.mean(earned["Learner, told"]) > np.mean(earned["Random"])
    assert Meeting(lake, life, seed=1, quick=False).all() == earned, "the same seed must give the same"


def test_q_learning_takes_a_step_for_a_restart_as_the_driver_does(lake: Bed) -> None:
    env = lake.variants()[0]
    learner = QLearning(lake, seed=0)
    for seed in range(20):
        learner.episode(env, "restart", 60, seed)
    learner.EPSILON = 0.0  # type: ignore[misc]
    assert learner.episode(env, "restart", 60, 0) == 20.0, "two steps to the goal and one to restart"
    assert learner.episode(env, "end", 60, 0) == 1.0


def test_swapped_actions_are_done_instead_and_others_stay_themselves() -> None:
    env = SwappedActions(gym.make("FrozenLake-v1"), [1, 0])
    assert [env.action(action) for action in range(4)] == [1, 0, 2, 3]


def test_numbered_environments_show_numbers_and_take_numbers() -> None:
    env = NumberedEnvironment(gym.make("FrozenLake-v1", is_slippery=False), 4, lambda _, shown: shown // 4, [1, 2])
    assert env.reset(seed=0)[0] == 0
    assert env.step(0)[0] == 1, "action 0 is what the environment calls 1, down"
    assert (env.observation_space, env.action_space) == (gym.spaces.Discrete(4), gym.spaces.Discrete(2))


def test_results_are_kept_and_made_anew_only_for_other_code_or_a_damaged_file(
    lake: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(results, "BEDS", [lake])
    run = Run(bed="Lake", life="end", seed=0, quick=True)
    assert results.earned(run, tmp_path, "a") is None
    results.work(run, tmp_path, "a")
    kept = results.earned(run, tmp_path, "a")
    assert kept is not None
    assert len(kept["Random"]) == 6
    assert results.earned(run, tmp_path, "b") is None
    assert results.earned(replace(run, quick=False), tmp_path, "a") is None
    run.file(tmp_path).write_text(run.file(tmp_path).read_text()[:40])
    assert results.earned(run, tmp_path, "a") is None


def test_nothing_is_run_where_files_tell_of_everything(tmp_path: Path) -> None:
    run = Run(bed="Taxi", life="end", seed=0, quick=True)
    run.file(tmp_path).write_text(f'{{"code": "{results.made_by()}", "earned": {{}}}}')
    assert list(results.run_all([run], tmp_path)) == []


def test_intervals_hold_their_mean_and_shrink_with_more_seeds() -> None:
    draws = np.random.default_rng(0).normal(size=80).tolist()
    few, many = results.estimate(draws[:20]), results.estimate(draws)
    assert few.low < few.mean < few.high
    assert many.high - many.low < few.high - few.low
    assert results.estimate([2.0, 2.0, 2.0]) == Estimate(2.0, 2.0, 2.0)


def test_tables_have_a_row_for_every_bed_and_say_what_is_missing(tmp_path: Path) -> None:
    found = {who: Estimate(float(place), place - 0.5, place + 0.5) for place, who in enumerate(LEARNERS)}
    estimates = {(bed.name, life): None if bed is BEDS[0] else found for bed in BEDS for life in LIVES}
    content = page.tables(estimates, 2, quick=True)
    assert content.count("no results") == 2
    assert content.count("**4.00** [3.50, 4.50]") == 2 * (len(BEDS) - 1), "Recall is best of those that are not told"
    copy = tmp_path / "page.md"
    copy.write_text((DOCS / "test_beds.md").read_text())
    page.write_page(copy, content)
    once = copy.read_text()
    page.write_page(copy, content)
    assert copy.read_text() == once
    assert content in once
    page.draw(estimates, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 10_000


VARIANTS = {
    "Taxi": 4,
    "MiniGrid-Empty-6x6": 2,
    "DynaMaze": 4,
    "WindyGridworld": 4,
    "GameOfLife": 3,
    "CrossingTraffic": 4,
    "FrozenLake": 3,
    "CliffWalking": 3,
    "AnyMDP": 3,
}
TASKS = ("instances 1 to 3", "instances 1 and 2", "tasks of 16 states with the seeds 1 to 3")


@pytest.mark.parametrize("bed", BEDS, ids=lambda bed: bed.name)
def test_every_bed_has_as_many_variants_as_the_page_says(bed: Bed) -> None:
    if not bed.is_installed:
        pytest.skip(f"{bed.name} is not installed")
    assert len(bed.variants()) == VARIANTS[bed.name]


def test_the_page_tells_of_every_bed() -> None:
    prose = (DOCS / "test_beds.md").read_text().split(page.BEGIN)[0]
    assert [words for words in TASKS if words not in prose] == []
    assert set(VARIANTS) == {bed.name for bed in BEDS}
    for bed in BEDS:
        assert bed.name in prose
        assert bed.package in prose
        assert f"| {bed.hidden} | {VARIANTS[bed.name]} |" in prose
        row = next(line for line in prose.splitlines() if line.startswith("|") and bed.name in line)
        assert f"| {bed.lives} x {bed.life} | {bed.episodes} x {bed.long} |" in row

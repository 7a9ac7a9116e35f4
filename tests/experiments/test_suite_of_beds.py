"""The suite of other people's environments: Taxi, which comes with Gymnasium, and whatever else is installed."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl import cli, descriptions
from aomultirl.experiments import beds, suites
from aomultirl.experiments.suites import keeping, players, running

CASES = suites.beds_suite()
EVERYWHERE = [f"{bed.name}, {life}" for bed in beds.BEDS for life in ("one life", "restarting")]


def row(place, told, **changed):
    (case,) = [case for case in CASES if (case.place, case.told) == (place, told)]
    return replace(case, **changed)


@pytest.fixture
def nothing_installed(monkeypatch):
    monkeypatch.setattr("aomultirl.experiments.beds.bed.find_spec", lambda name: None)


def test_everybody_who_is_told_nothing_of_the_worlds_enters_everywhere():
    assert list(dict.fromkeys(case.place for case in CASES)) == EVERYWHERE
    labels = {case.told for case in CASES}
    large = {f"{bed}, {life}" for bed in ("Taxi", "GameOfLife") for life in ("one life", "restarting")}
    for place in EVERYWHERE:
        missing = labels - {case.told for case in CASES if case.place == place}
        assert missing == ({f"UBEV, {form}" for form in ("alone", "pooled", "told")} if place in large else set())
    assert {players.RANDOM, players.RECALL, "mixture of MDPs", "detect and restart", "PSRL, alone"} <= labels
    for case in CASES:
        agent = descriptions.make(case.agent, "agent")
        assert not {"separation", "distinguishing_set", "variation"} & {
            name for name, value in case.agent["parameters"].items() if value is not None
        }
        assert "models" not in agent.told
        assert case.is_told == case.told.endswith(", told")
        assert getattr(agent, "rewards", "unknown") == "unknown"
        bed = beds.find(case.world["name"])
        life = case.world["parameters"]["terminal"]
        assert (case.horizon, case.episodes) == (bed.steps(life), bed.count(life))
        assert not case.targets


@pytest.mark.parametrize("place", ["Taxi, one life", "Taxi, restarting"])
def test_a_run_is_an_interaction_with_the_seed_of_its_cell(place):
    case = row(place, "QLearning, pooled", episodes=8)
    ((run,),) = suites.run_suite([case], 1, seed=500)
    history = ao.interact(
        descriptions.make(case.agent, "agent"),
        beds.find("Taxi").make(),
        8,
        case.horizon,
        case.cell(500, 0).run_seed,
        reward_range=(-10, 20),
        terminal=case.world["parameters"]["terminal"],
    )
    assert run.numbers == {"whole run": history.reward.mean(), "last quarter": history.reward[-2:].mean()}
    assert (run.episodes, run.models, run.wrong) == (8, 4, 0)
    assert np.isnan(run.share)


def test_everybody_meets_the_same_variants_and_what_was_met_before_leaves_no_trace(monkeypatch):
    """Environments are shared by the runs of a process, so runs must not depend on their order."""
    met = []

    def watched(*given, **options):
        history = ao.interact(*given, **options)
        met.append(history["task"].tolist())
        return history

    monkeypatch.setattr(running, "interact", watched)
    cases = [row("Taxi, one life", told, episodes=8) for told in ("Random", "QLearning, told")]
    first = suites.run_suite(cases, 2, seed=1)
    assert met[0] == met[1] != met[2] == met[3]
    for case, runs in list(zip(cases, first, strict=True))[::-1]:
        for number in (1, 0):
            assert running.meet(case, case.cell(1, number)).numbers == runs[number].numbers


def test_lives_seeds_and_agents_have_runs_of_their_own():
    both = [row(f"Taxi, {life}", "Random") for life in ("one life", "restarting")]
    alike = [replace(case, episodes=8, horizon=20) for case in both]
    names = {keeping.name_of(case, seed, number) for case in alike for seed in (0, 500) for number in (0, 1)}
    assert len(names) == 8


def test_beds_whose_packages_are_missing_are_left_out_and_named(nothing_installed):
    there, said = suites.installed(CASES)
    assert {case.place for case in there} == {"Taxi, one life", "Taxi, restarting"}
    assert said == [
        "MiniGrid-Empty-6x6, DynaMaze, WindyGridworld, GameOfLife, CrossingTraffic, AnyMDP are left out, as minigrid, "
        "gym-classics, pyRDDLGym, xenoverse are not installed: pip install 'aomultirl[beds]'.",
        "FrozenLake, CliffWalking are left out, as ns-gym is not installed: "
        "pip install 'aomultirl[beds]' && pip install --no-deps ns-gym.",
    ]
    held = suites.short_suite()
    assert suites.installed(held) == (held, [])


def test_a_bed_that_cannot_be_made_is_refused_with_what_to_install(nothing_installed, capsys, monkeypatch):
    assert cli.run(["compare", "--suite", "beds", "--only", "minigrid"]) == 2
    assert capsys.readouterr().err == (
        "aomultirl: suite has nothing that can be run here: MiniGrid-Empty-6x6 is left out, as minigrid is not "
        "installed: pip install 'aomultirl[beds]'.\n"
    )
    monkeypatch.setitem(sys.modules, "minigrid", None)
    with pytest.raises(ImportError, match=r"MiniGrid-Empty-6x6 needs minigrid: pip install 'aomultirl\[beds\]'"):
        beds.find("MiniGrid-Empty-6x6").make()


def test_what_packages_print_or_write_when_they_are_imported_is_thrown_away(tmp_path, monkeypatch, capsys):
    def loud():
        sys.stdout.write("hello from somebody")
        sys.stderr.write("a table was generated")
        Path("LOG.TXT").write_text("rubbish")
        return []

    monkeypatch.chdir(tmp_path)
    assert replace(beds.find("Taxi"), variants=loud).make() == []
    assert list(tmp_path.iterdir()) == []
    assert Path.cwd() == tmp_path
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("bed", [bed for bed in beds.BEDS if bed.is_installed], ids=lambda bed: bed.name)
def test_every_bed_that_is_installed_gives_the_same_for_the_same_seed(bed):
    """Variants are of one size, their rewards lie in the range that is told, and nothing is drawn from a clock."""
    for env in bed.make():
        assert (env.observation_space.n, env.action_space.n) == (bed.states, bed.actions)
    for life in beds.LIVES:
        case = replace(next(case for case in CASES if case.world["name"] == bed.name), episodes=4, horizon=60)
        case = replace(
            case,
            world={"name": bed.name, "parameters": {"terminal": life}},
            agent={"name": "OneEpisodeLearner", "parameters": {"horizon": 60, "rewards": "unknown"}},
        )
        once = running.meet(case, case.cell(2, 0))
        running._variants.cache_clear()
        assert running.meet(case, case.cell(2, 0)).numbers == once.numbers


def test_the_command_shows_the_environments_own_units(tmp_path, capsys, monkeypatch, nothing_installed):
    monkeypatch.setenv("COLUMNS", "220")
    out = tmp_path / "beds"
    command = ["compare", "--suite", "beds", "--only", "one life", "--agent", "random", "--quick"]
    assert cli.run([*command, "--keep", str(tmp_path / "runs.jsonl"), "--out", str(out)]) == 0
    shown = capsys.readouterr().out
    assert "Reward of an episode, in the units of each environment" in shown
    assert "2 runs with the seeds for reporting: the same variants, in another order in every run." in shown
    assert "CrossingTraffic, AnyMDP are left out, as " in " ".join(shown.split())
    page = (out / "report.html").read_text()
    assert "Numbers: reward of an episode, means over runs" in page
    assert "ns-gym is not installed" in page
    kept = suites.KeptRuns(tmp_path / "runs.jsonl")
    (case,) = suites.quick([row("Taxi, one life", "Random")])
    mean = np.mean([kept.get(case, suites.MOST_SEEDS, number).numbers["whole run"] for number in range(2)])
    assert f"{mean:.4g}" in shown

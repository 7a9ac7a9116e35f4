import dataclasses
import json
import subprocess
import sys
import time
import tomllib

import pytest

import aomultirl as ao
import specifications
from aomultirl.experiments.specification import read_specification, specification_of
from aomultirl.experiments.specification.document import AgentEntry, NamedEntry

BASE = f'name = "test"\nseed = 3\n{specifications.BASE}'


def made(text):
    return specification_of(tomllib.loads(text))


def test_every_combination_is_a_cell_and_the_first_runs_come_first():
    cells = made(BASE + 'resolution = [0.4, 0.5]\n[[streams]]\nname = "blocks"\nlength = 5\n').cells()
    told = [(cell.number, cell.world["parameters"]["edges"], cell.agent["parameters"]["resolution"]) for cell in cells]
    one = [("stay", 0.4), ("stay", 0.5), ("third", 0.4), ("third", 0.5)]
    assert told == [(number, *each) for number in (0, 1) for each in one]
    assert {cell.episodes for cell in cells} == {60}
    assert {cell.seed for cell in cells} == {3}
    assert all(cell.stream == {"name": "blocks", "parameters": {"length": 5}} for cell in cells)
    assert len({cell.name for cell in cells}) == len(cells)


def test_without_a_stream_tasks_are_uniform():
    assert all(cell.stream == {"name": "uniform", "parameters": {}} for cell in made(BASE).cells())


def test_episodes_expand_too():
    cells = made(BASE.replace("episodes = 60", "episodes = [5, 7]")).cells()
    assert [cell.episodes for cell in cells] == [5, 7] * 4


def test_a_cell_runs():
    cell = made(BASE.replace("60", "3")).cells()[0]
    assert len(cell.run()) == 3


def test_parameters_that_take_lists_are_values_and_grids_sweep_over_them():
    agent = '[[agents]]\nname = "SequentialAOMultiRL"\nfailure = 0.03\nhorizon = 500\nseparation = 1.2\n'
    first, *_ = made(BASE + agent + "distinguishing_set = [[1, 0], [8, 3], [2, 1]]\n").cells()[1:]
    assert first.agent["parameters"]["distinguishing_set"] == [[1, 0], [8, 3], [2, 1]]
    both = made(BASE + agent + "grid = { distinguishing_set = [[[1, 0]], [[1, 0], [8, 3]]] }\n").cells()
    sets = [cell.agent["parameters"].get("distinguishing_set") for cell in both[:3]]
    assert sets == [None, [[1, 0]], [[1, 0], [8, 3]]]


def test_zipped_parameters_vary_together_and_groups_make_a_product():
    text = BASE.replace(
        "failure = 0.03", "zip = [{ failure = [0.1, 0.2], resolution = [0.3, 0.4] }, { proof = [0, 0.1] }]"
    )
    told = [cell.agent["parameters"] for cell in made(text).cells()[:4]]
    chosen = [(each["failure"], each["resolution"], each["proof"]) for each in told]
    assert chosen == [(0.1, 0.3, 0.0), (0.1, 0.3, 0.1), (0.2, 0.4, 0.0), (0.2, 0.4, 0.1)]


def test_whole_numbers_are_numbers_so_that_both_spellings_are_the_same_cell():
    one, other = (made(BASE.replace("0.03", "0.03\nproof = " + zero)).cells()[0] for zero in ("0", "0.0"))
    assert one.name == other.name


def test_what_is_not_recorded_is_left_out_in_any_order():
    text = BASE.replace("seed = 3", 'record = ["evaluation", "regret"]')
    assert {cell.record for cell in made(text).cells()} == {("regret", "evaluation")}
    assert {cell.record for cell in made(BASE.replace("seed = 3", "record = []")).cells()} == {()}


def test_an_agent_may_meet_a_stream_and_episodes_of_its_own():
    text = (
        BASE + '[[agents]]\nname = "Random"\nhorizon = 9\nepisodes = 7\nstream = { name = "blocks", length = [2, 3] }\n'
    )
    told = [(cell.label, cell.stream["parameters"], cell.episodes) for cell in made(text).cells()[:3]]
    assert told == [("Recall", {}, 60), ("Random", {"length": 2}, 7), ("Random", {"length": 3}, 7)]


@pytest.mark.parametrize(
    ("added", "labels"),
    [
        ("", ["Recall"]),
        ("resolution = [0.4]", ["Recall, resolution=0.4"]),
        ('label = "mine"', ["mine"]),
        ('label = "mine"\nresolution = [0.4, 0.5]', ["mine, resolution=0.4", "mine, resolution=0.5"]),
        ("resolution = [0.4, 0.5]", ["Recall, resolution=0.4", "Recall, resolution=0.5"]),
        (
            '[[agents]]\nname = "Recall"\nfailure = 0.1\nhorizon = 500\nrewards = "unknown"',
            ["Recall, failure=0.03", "Recall, failure=0.1, rewards=unknown"],
        ),
        (
            '[[agents]]\nname = "Recall"\nlabel = "other"\nfailure = 0.1\nhorizon = 500',
            ["Recall", "other"],
        ),
    ],
)
def test_labels_name_what_varies(added, labels):
    found = made(BASE.replace('["stay", "third"]', '"stay"') + added)
    assert [each.label for each in found.configurations()] == labels


def test_what_comes_from_the_worlds_does_not_show_in_labels():
    text = BASE.replace('"gridworld"\nedges = ["stay", "third"]', '"jao"\nseparation = [0.2, 0.4]')
    text += '[[agents]]\nname = "AOMultiRL"\nfailure = 0.03\nlearning_horizon = 9\n'
    found = made(text)
    assert [each.label for each in found.configurations()] == ["Recall", "AOMultiRL"] * 2
    told = [each.agent["parameters"] for each in found.configurations() if each.label == "AOMultiRL"]
    assert [each["separation"] for each in told] == [0.199999, 0.399999]
    assert all(each["models"] == 5 and each["hitting_time"] == 10.0 for each in told)
    assert found.varying() == [
        {"world.separation": value, "agent": name} for value in (0.2, 0.4) for name in ("Recall", "AOMultiRL")
    ]


def test_the_identity_is_json_and_leads_to_the_same_cells():
    found = made(BASE + 'label = "mine"\nzip = { proof = [0.1, 0.2], resolution = [0.4, 0.5] }\n')
    identity = json.loads(json.dumps(found.identity()))
    assert identity == found.identity()
    assert {name: identity[name] for name in ("kind", "name", "seed")} == {"kind": "sweep", "name": "test", "seed": 3}
    again = specification_of({"name": "test", "seed": 3, "runs": 2, **identity["specification"]})
    assert again.cells() == found.cells()
    assert again.identity() == identity


def test_what_grows_keeps_its_cells():
    small = made(BASE + "resolution = [0.4]\n")
    large = made(BASE.replace("60", "[60, 70]") + 'resolution = [0.3, 0.4]\n[[agents]]\nname = "Random"\nhorizon = 9\n')
    assert {cell.name for cell in small.cells()} < {cell.name for cell in large.cells()}


def test_more_runs_are_the_same_experiment_and_keep_their_cells():
    few, many = made(BASE), made(BASE.replace("runs = 2", "runs = 3"))
    assert few.identity() == many.identity()
    assert few.cells() == many.cells()[: len(few.cells())]
    assert made(BASE.replace("0.03", "0.04")).identity() != few.identity()


def test_files_name_their_experiment(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(BASE.replace('name = "test"\n', "", 1))
    assert read_specification(path).name == "mine"
    path.write_text(BASE)
    assert read_specification(path).name == "test"


def test_ten_thousand_cells_take_a_moment():
    text = BASE.replace("runs = 2", "runs = 100").replace("0.03", str([number / 1000 for number in range(1, 51)]))
    begin = time.process_time()
    assert len(made(text).cells()) == 10_000
    assert time.process_time() - begin < 2.0


def test_no_world_is_made_twice(monkeypatch):
    from aomultirl.worlds import catalogue

    made_so_far = []
    make = catalogue.make
    monkeypatch.setattr(catalogue, "make", lambda *told: made_so_far.append(told) or make(*told))
    text = BASE.replace('["stay", "third"]', '"stay"\nsize = [11, 12]') + "resolution = [0.1, 0.2, 0.3]\n"
    assert len(made(text).cells()) == 12
    assert [told[1]["size"] for told in made_so_far] == [11, 12]


def test_no_parameter_has_the_name_of_another_key():
    from aomultirl.experiments.specification.parameters import parameters_of
    from aomultirl.plugins import makers

    for noun, entry in (("world", NamedEntry), ("stream", NamedEntry), ("agent", AgentEntry)):
        for maker in makers(noun).values():
            assert not set(parameters_of(maker)) & set(entry.model_fields), maker


def test_every_world_stream_and_agent_can_be_described_but_those_that_need_python():
    from aomultirl.experiments.specification.parameters import parameters_of
    from aomultirl.plugins import makers

    assert set(makers("world")) == set(ao.worlds.__all__)
    assert {"uniform", "paper", "adaptive"} <= set(makers("stream"))
    assert "Agent" not in makers("agent")
    assert {"AOMultiRL", "Recall", "Optimal"} <= set(makers("agent"))
    undescribed = {
        (name, parameter)
        for noun in ("world", "stream", "agent")
        for name, maker in makers(noun).items()
        for parameter, kind in parameters_of(maker).items()
        if kind.required and not kind.is_describable
    }
    assert undescribed == {("adaptive", "choose")}


def test_without_pydantic_it_says_how_to_get_it():
    code = "import sys; sys.modules['pydantic'] = None; import aomultirl.experiments.specification"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stderr.strip().endswith(
        "ImportError: specifications need pydantic: pip install 'aomultirl[experiments]'"
    )


def test_configurations_are_what_their_cells_are():
    found = made(BASE)
    for configuration, cell in zip(found.configurations(), found.cells(), strict=False):
        assert dataclasses.replace(cell, number=0) == configuration

"""Exponents are those of what was measured, and verdicts follow from them."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from rich.console import Console

from aomultirl.benchmarks import scale, scale_charts, scale_probes
from aomultirl.cli import run
from aomultirl.reports import claims_table

PAGE = Path(__file__).parents[2] / "docs" / "speed.md"
SIZES = (10, 40, 160)


def question(power, rule, name="a cost", chart="planning", turns=3):
    """One whose probes say so much more than size to a power, a little more each time."""

    def probe(size):
        noise = iter(np.linspace(1.0, 1.01, turns))
        return lambda: size**power * next(noise)

    return scale.Question(name, chart, f"{name} is so", rule, SIZES, probe, turns=turns)


@pytest.mark.parametrize(
    ("power", "rule", "outcome"),
    [
        (1.0, scale.GROWS, "holds"),
        (2.0, scale.GROWS, "fails"),
        (0.5, scale.GROWS, "fails"),
        (0.5, scale.AT_MOST_LINEAR, "holds"),
        (1.3, scale.AT_MOST_LINEAR, "fails"),
        (0.0, scale.STAYS, "holds"),
        (0.3, scale.STAYS, "fails"),
    ],
)
def test_an_exponent_is_fitted_and_judged(power, rule, outcome):
    (found,) = scale.measure((), [question(power, rule)])
    assert found.fit.slope == pytest.approx(power, abs=1e-9)
    assert found.fit.low < power < found.fit.high
    assert found.claim.outcome == outcome


def test_words_choose_what_is_measured():
    both = [question(1.0, scale.GROWS, "planning"), question(1.0, scale.GROWS, "memory")]
    assert [one.question.name for one in scale.measure(["MEM"], both)] == ["memory"]
    assert scale.measure(["nothing"], both) == []


def test_what_does_not_hold_is_said_with_its_exponent():
    found = scale.measure((), [question(1.0, scale.GROWS, "one"), question(2.0, scale.GROWS, "other")])
    said = scale.summary(found)
    assert said.startswith("1 of 2 claims hold, 1 fails. other: fails, slope 2.00 (")
    assert "one:" not in said
    text = io.StringIO()
    claims_table.print_claims([one.claim.as_json() for one in found], "exponents", Console(file=text, width=100))
    assert "other is so" in text.getvalue()
    json.dumps([one.as_dict() for one in found], allow_nan=False)


def test_the_questions_have_names_of_their_own_and_a_panel():
    names = [one.name for one in scale.QUESTIONS]
    assert len(set(names)) == len(names)
    assert {one.chart for one in scale.QUESTIONS} == set(scale_charts.PANELS)


def test_transitions_are_those_of_the_worlds_that_are_planned_in():
    world = scale_probes.random_models(states=50, actions=3, models=1, successors=4)[0]
    assert scale._transitions(50, 3, 4) == len(world.successors.probs)


def test_small_costs_can_be_measured(monkeypatch):
    """Every kind of probe, at sizes that take no time; memory grows with the world."""
    monkeypatch.setattr(scale_probes, "LEAST_SECONDS", 1e-4)
    monkeypatch.setattr(scale_probes, "STEPS", 400)
    monkeypatch.setattr(scale_probes, "MEMORY_STEPS", 20)
    monkeypatch.setattr(scale_probes, "TIMED", 2)
    small, large = scale_probes.world_memory(200)(), scale_probes.world_memory(800)()
    assert 3.0 < large / small < 4.5
    probes = (
        scale_probes.planning(states=50, horizon=3),
        scale_probes.recall_memory(40),
        scale_probes.step(states=16, models=2),
        scale_probes.episode(horizon=10, before=2),
    )
    assert all(probe() > 0.0 for probe in probes)


def test_the_figure_has_a_panel_for_each_kind_of_cost(tmp_path):
    sweeps = [*scale.measure((), [question(1.0, scale.GROWS)])]
    sweeps += scale.measure((), [question(1.0, scale.GROWS, "bytes", "memory", turns=1)])
    first, second = scale_charts.charts(sweeps)
    assert [first.name, second.name] == ["planning", "memory"]
    points, line = first.series
    np.testing.assert_allclose(points.y, [1e3 * size * 1.005 for size in SIZES])
    np.testing.assert_allclose(line.y, [points.y[0], points.y[-1]])
    assert second.series[0].y == [size * 1e-6 for size in SIZES]
    scale_charts.write(sweeps, tmp_path / "scale.png")
    with Image.open(tmp_path / "scale.png") as image:
        assert image.width > 800


def test_a_figure_that_cannot_be_written_is_refused_before_anything_is_measured(capfd):
    assert run(["bench", "--scale", "--figure", "a.docx"]) == 2
    assert "does not end in a format for figures" in capfd.readouterr().err
    assert run(["bench", "--scale", "--only", "no such row"]) == 2
    assert "which is in the name of no row" in capfd.readouterr().err


def test_the_page_says_how_exponents_are_judged():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert (scale.LINEAR, scale.CONSTANT) == (0.25, 0.15)
    assert "holds where the exponent is within a quarter of 1," in text
    assert "holds where it is within 0.15 of 0." in text

"""What the laboratory writes down, of made-up findings."""

import html
import io
import json
import math
import re
from pathlib import Path

import pytest
from rich.console import Console

from aomultirl.experiments.lower_bounds.findings import Claim, Figure, Findings, Series
from aomultirl.reports import lower_bounds, lower_bounds_figures
from aomultirl.reports.lower_bounds_page import make_page
from browser import CHROMIUM, Browser
from folders import contents
from pages import Outline, content, figures, without_scripts

MINUS = "\u2212"
X = [1.0, 10.0, 100.0]
SLOPES = Figure(
    "slopes",
    "Steps against lambda, in <three> worlds & more",
    "lambda",
    "steps of an episode",
    [
        Series("plain learner", X, [2.0, 20.0, 210.0], [1.5, 18.0, 190.0], [2.5, 22.0, 230.0]),
        Series("plain learner: slope 1.01 (0.98 to 1.04)", X, [2.0, 20.4, 208.0], kind="fit"),
        Series("other <learner>", X, [5.0, math.nan, 400.0], [0.0, math.nan, 390.0], [9.0, math.nan, math.inf]),
        Series("slope 0.95", [1.0, 100.0], [5.0, 400.0], kind="fit"),
        Series("bound S A / (480 lambda^2)", X, [1.0, 10.0, 100.0], kind="theory"),
    ],
    caption="Means over 20 runs.",
)
SHARES = Figure(
    "shares",
    "Shares over time",
    "time",
    "share",
    [Series("share", [0, 1, 2], [0.1, 0.5, 0.9], [0.0, 0.4, 0.8], [0.2, 0.6, 1.0])],
    log_x=False,
    log_y=False,
)
FOUND = Findings(
    [
        Claim(
            "steps grow like 1 / lambda^2", "Section 3", -2.0, -1.97, -2.05, -1.9, True, "meets [a, b]", "", "slopes"
        ),
        Claim("the <b> share is large", "Appendix C", "above 1/2", 0.125, 0.1, 0.15, False, "r", "too [few]", "shares"),
        Claim("the hitting time is infinite", "Section 4", "infinite", math.inf, math.inf, math.inf, True, "exactly"),
        Claim(
            "nobody could tell", "Section 5", 1.0, math.nan, math.nan, math.nan, False, "it exists", "it was not run"
        ),
    ],
    [SLOPES, SHARES],
)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laboratory") / "new" / "results"
    lower_bounds.write(FOUND, folder, quick=True, seed=3)
    return folder


@pytest.fixture(scope="module")
def page(out):
    return (out / "report.html").read_text()


def test_everything_is_there_and_whole(out):
    figures = {f"figures/{name}.{kind}" for name in ("slopes", "shares") for kind in ("png", "svg")}
    assert set(contents(out)) == {"report.html", "claims.json", "lower_bounds.json", *figures}
    mark = json.loads((out / "lower_bounds.json").read_text())
    assert (mark["kind"], mark["seed"], mark["quick"]) == ("lower_bounds", 3, True)
    assert (out / "figures" / "slopes.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures" / "slopes.svg").read_text().startswith("<?xml")
    assert (out / "report.html").read_text().endswith("</html>\n")


def test_the_claims_are_strict_json(out):
    def refuse(name):
        raise AssertionError(name)

    claims = json.loads((out / "claims.json").read_text(), parse_constant=refuse)
    assert len(claims) == len(FOUND.claims)
    assert set(claims[0]) == set(Claim._fields)
    first = FOUND.claims[0]
    assert [claims[0][name] for name in Claim._fields] == list(first)
    assert claims[1]["holds"] is False
    assert float(claims[2]["measured"]) == math.inf
    assert claims[3]["measured"] is None


def test_the_page_has_every_claim_with_its_verdict(page):
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", without_scripts(page), re.S)
    words = [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", row))) for row in rows]
    assert len(words) == len(FOUND.claims)
    for said, claim in zip(words, FOUND.claims, strict=True):
        assert claim.place in said
        assert ("✓ yes" if claim.holds else "✗ no") in said
        assert f"Rule: {claim.rule}" in said
    assert "steps grow like 1 / λ²" in words[0]
    assert f"{MINUS}1.97 {MINUS}2.05 to {MINUS}1.9 {MINUS}2 Section 3" in words[0]
    assert "the <b> share is large" in words[1]
    assert "Too [few]." in words[1]
    assert "infinite infinite Section 4" in words[2]
    assert "2 of 4 claims hold" in page


def test_the_page_has_every_figure_and_claims_lead_to_theirs(page):
    outline = Outline(page)
    ids = {attributes["id"] for _, attributes in outline.found if "id" in attributes}
    assert {"figure-slopes", "figure-shares", "chart-slopes", "chart-shares", "words-slopes"} <= ids
    links = [link["href"] for link in outline.all("a")]
    assert all(link.removeprefix("#") in ids for link in links)
    assert {"#figure-slopes", "#figure-shares"} <= set(links)
    labels = [one["aria-label"] for _, one in outline.found if one.get("role") == "img"]
    assert any("Steps of an episode against λ: plain learner: slope 1.01" in label for label in labels)


def test_every_chart_is_a_figure_that_plotly_accepts(page):
    from plotly.graph_objects import Figure as PlotlyFigure

    drawn = {chart["id"]: figure for chart, _, figure in figures(page)}
    for figure in drawn.values():
        PlotlyFigure(figure)
    slopes = drawn["slopes"]
    assert (slopes["layout"]["xaxis"]["type"], slopes["layout"]["yaxis"]["type"]) == ("log", "log")
    assert drawn["shares"]["layout"]["xaxis"]["type"] == "linear"
    points = next(trace for trace in slopes["data"] if trace["mode"] == "markers")
    assert points["y"] == [2, 20, 210]
    assert points["error_y"]["arrayminus"] == [0.5, 2, 20]
    assert len(slopes["data"]) == 5


def test_a_fit_shares_the_legend_of_its_points():
    labels = [entry.label for entry in lower_bounds_figures.entries(SLOPES)]
    assert labels == [
        "plain learner: slope 1.01 (0.98 to 1.04)",
        "other <learner>: slope 0.95",
        "bound S A / (480 lambda^2)",
    ]
    theory = lower_bounds_figures.entries(SLOPES)[2]
    assert theory.points is None
    assert theory.line is SLOPES.series[4]


def test_points_are_joined_unless_there_is_a_fit_or_two_share_a_place():
    def joined(figure):
        return [lower_bounds_figures.is_joined(entry) for entry in lower_bounds_figures.entries(figure)]

    assert joined(SHARES) == [True]
    assert joined(SLOPES) == [False, False, False]
    assert joined(SHARES._replace(series=[Series("cloud", [1, 1, 2], [1, 2, 3])])) == [False]


def test_nothing_comes_from_elsewhere(page):
    outline = Outline(without_scripts(page))
    for _, attributes in outline.found:
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "http" not in without_scripts(page).replace("http-equiv", "")
    assert content(page)["agents"] == []


def test_a_page_without_figures_or_failures():
    page = make_page(Findings([FOUND.claims[2]]), quick=False, seed=0)
    assert "1 of 1 claims hold" in page
    assert "These do not" not in page
    assert content(page)["charts"] == []


def test_figures_for_print():
    drawn = lower_bounds_figures.draw(SLOPES)
    panel = drawn.axes[0]
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("λ", "steps of an episode")
    assert [text.get_text() for text in drawn.legends[0].get_texts()][2] == "bound S A / (480 λ²)"
    bars = panel.containers[0][2][0].get_segments()
    assert [tuple(bar[:, 1]) for bar in bars] == [pytest.approx(ends) for ends in ((1.5, 2.5), (18, 22), (190, 230))]


def test_large_and_small_numbers_are_drawn_without_a_missing_letter():
    """A missing letter would be a warning, which is an error here."""
    values = [1e-9, 1e-2, 1e12]
    figure = SLOPES._replace(
        series=[Series("y = x^-12", values, values), Series("H^30 >= eps", values, values, kind="theory")]
    )
    drawn = lower_bounds_figures.draw(figure)
    drawn.savefig(io.BytesIO(), format="svg")
    labels = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert "10¹²" in labels


def test_the_same_findings_give_the_same_bytes_and_replace_what_was_there(out):
    before = contents(out)
    lower_bounds.write(FOUND, out, quick=True, seed=4)
    assert json.loads((out / "lower_bounds.json").read_text())["seed"] == 4
    lower_bounds.write(FOUND, out, quick=True, seed=3)
    assert contents(out) == before


@pytest.mark.parametrize("name", ["notes.txt", "lower_bounds.json", "experiment.json"])
def test_a_foreign_folder_is_refused_and_not_touched(tmp_path, name):
    (tmp_path / name).write_text('{"kind": "sweep"}')
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"out is .*, which holds '{name}' and is not a folder of this laboratory"):
        lower_bounds.write(FOUND, tmp_path, quick=True, seed=0)
    assert contents(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_places_that_cannot_be_written_are_refused(tmp_path):
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(ValueError, match="which is a file, not a folder"):
        lower_bounds.check(file)
    with pytest.raises(ValueError, match=r"but .* is a file"):
        lower_bounds.check(file / "below")
    ours = tmp_path / "ours"
    lower_bounds.write(Findings(), ours, quick=True, seed=0)
    (ours / "report.html").unlink()
    (ours / "report.html").mkdir()
    with pytest.raises(ValueError, match=r"in which 'report\.html' is a folder, not a file"):
        lower_bounds.check(ours)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has a folder that nobody can write to")
def test_a_folder_that_nobody_can_write_to_is_refused():
    with pytest.raises(ValueError, match="out is '/proc/new', but '/proc' may not be written to"):
        lower_bounds.check("/proc/new")


def test_figures_with_one_name_and_claims_without_theirs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two figures are called 'slopes'"):
        lower_bounds.write(Findings([], [SLOPES, SLOPES]), tmp_path, quick=True, seed=0)
    with pytest.raises(ValueError, match="names a figure 'slopes', but there is none"):
        lower_bounds.write(Findings([FOUND.claims[0]]), tmp_path, quick=True, seed=0)
    assert list(tmp_path.iterdir()) == []


def test_the_table_in_the_terminal():
    file = io.StringIO()
    lower_bounds.show(FOUND, Console(width=120, file=file))
    text = file.getvalue()
    assert "steps grow like 1 / λ² (Section 3)" in text
    assert f"{MINUS}1.97 ({MINUS}2.05 to {MINUS}1.9)" in text
    assert "too [few]" in text
    assert [line.split()[0] for line in text.splitlines() if line.startswith(("  yes", "  no "))] == [
        "yes" if claim.holds else "no" for claim in FOUND.claims
    ]


def test_in_a_browser(out):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian package chromium)")
    pytest.importorskip("websocket", reason="websocket-client is not installed")
    browser = Browser()
    try:
        for width in (1200, 360):
            browser.width(width)
            browser.open(out / "report.html")
            assert browser.errors() == []
            assert browser.run("document.documentElement.scrollWidth") <= width
            assert browser.run("[...document.querySelectorAll('.chart')].every((one) => one.data.length > 0)")
            keys = "[...document.querySelectorAll('.agents')].every((one) => one.scrollHeight <= one.clientHeight)"
            assert browser.run(keys)
        browser.run("document.querySelector('[data-agent=\"0\"]').click()")
        shown = "document.getElementById('chart-{}').data.map((trace) => trace.visible)"
        assert browser.run(shown.format("slopes")) == ["legendonly", "legendonly", True, True, True]
        assert browser.run(shown.format("shares")) == [True]
        assert browser.errors() == []
    finally:
        browser.close()

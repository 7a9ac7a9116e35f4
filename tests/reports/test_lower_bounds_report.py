"""What the laboratory writes down, of made-up findings."""

import html
import io
import json
import math
import re
from dataclasses import replace

import pytest
from rich.console import Console

from aomultirl.analysis.charts import Chart as Figure
from aomultirl.analysis.charts import Series, Subject, entries, is_joined
from aomultirl.analysis.claims import Claim, Plain
from aomultirl.analysis.reach import Reach
from aomultirl.analysis.rules import Bounded, Exactly, Exponent, Measurement, computed
from aomultirl.laboratory.findings import Findings
from aomultirl.reports import charts_matplotlib, lower_bounds
from aomultirl.reports.looks import chart_looks, tick_labels
from aomultirl.reports.lower_bounds import make_page, prepared
from aomultirl.reports.wording import symbols
from browser import CHROMIUM, Browser
from folders import contents
from pages import Outline, content, figures, without_scripts

MINUS, TIMES = "\u2212", "\u00d7"
MARKS = {"holds": "✓ yes", "fails": "✗ no", "open": "? open", "out of reach": "… out of reach"}
X = [1.0, 10.0, 100.0]
SLOPES = Figure(
    "slopes",
    "Steps against lambda, in <three> worlds & more",
    "lambda",
    "steps of an episode",
    [
        Series("plain learner", X, [2.0, 20.0, 210.0], [1.5, 18.0, 190.0], [2.5, 22.0, 230.0]),
        Series(
            "plain learner: slope 1.01 (0.98 to 1.04)",
            X,
            [2.0, 20.4, 208.0],
            kind="fit",
            subject=Subject("plain learner"),
        ),
        Series("other <learner>", X, [5.0, math.nan, 400.0], [0.0, math.nan, 390.0], [9.0, math.nan, math.inf]),
        Series(
            "other <learner>: slope 0.95", [1.0, 100.0], [5.0, 400.0], kind="fit", subject=Subject("other <learner>")
        ),
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
WORST = Figure(
    "worst",
    "The worst of two",
    "K",
    "regret",
    [
        Series("gap 0.2", X, [1.0, 2.0, 3.0]),
        Series("gap 0.02", X, [0.5, 2.0, 8.0]),
        Series("gap 0.02: slope 0.6", X, [0.5, 2.0, 8.0], kind="fit", subject=Subject("gap 0.02")),
        Series("the worst gap: slope 0.5", X, [1.0, 3.0, 9.0], kind="fit"),
        Series("bound", X, [9.0, 9.0, 9.0], kind="theory"),
    ],
)
NAMED = Figure(
    "named",
    "Shares of agents",
    "",
    "share",
    [
        Series("with <luck>", [0, 1, 2], [0.1, 0.5, 0.9]),
        Series("without", [2.2], [0.3]),
        Series("chance", [-0.5, 2.5], [0.5, 0.5], kind="theory"),
    ],
    log_x=False,
    log_y=False,
    names=["one", "two & a <half>", "a rather long name"],
)
FOUND = Findings(
    [
        Claim(
            "steps grow like 1 / lambda^2",
            "Section 3",
            Exponent.near(-2.0, 0.1, "meets [a, b]"),
            {"": Measurement(-1.97, -2.05, -1.9)},
            figure="slopes",
            group="slopes",
        ),
        Claim(
            "the <b> share is large",
            "Appendix C",
            Bounded(0.5, "r", side=">"),
            {"": Measurement(0.125, 0.1, 0.15)},
            explanation="too [few]",
            figure="shares",
            unit="as a share of lambda",
            group="shares",
        ),
        Claim(
            "it has no end",
            "Section 4",
            Bounded(1.0, side=">="),
            {"": Measurement(7.0, 3.0, math.inf)},
            figure="slopes",
            group="slopes",
            plain=Plain("Some lines have no end, such as lambda^2", "the longest was 7"),
        ),
        Claim(
            "it shows itself late",
            "Section 4",
            Exponent(0.5, "for long", most=0.6, reach=Reach(1_356_876, 300, "episodes")),
            computed(1.0),
            figure="slopes",
            group="slopes",
        ),
        Claim(
            "nobody could tell",
            "Section 5",
            Exactly(1.0),
            computed(math.nan),
            remark="it was not run",
            figure="slopes",
            group="slopes",
        ),
    ],
    [SLOPES, SHARES, NAMED],
)
KEYS = [
    "claim",
    "place",
    "predicted",
    "measured",
    "low",
    "high",
    "holds",
    "rule",
    "reason",
    "figure",
    "relation",
    "unit",
    "undecided",
]
"""What people rely on in claims.json."""


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("laboratory") / "new" / "results"
    lower_bounds.write(FOUND, folder, quick=True, seed=3, seconds=61.26)
    return folder


@pytest.fixture(scope="module")
def page(out):
    return (out / "report.html").read_text()


def test_everything_is_there_and_whole(out):
    figures = {f"figures/{name}.{kind}" for name in ("slopes", "shares", "named") for kind in ("png", "svg")}
    assert set(contents(out)) == {"report.html", "claims.json", "lower_bounds.json", *figures}
    mark = json.loads((out / "lower_bounds.json").read_text())
    assert (mark["kind"], mark["seed"], mark["quick"], mark["seconds"]) == ("lower_bounds", 3, True, 61.3)
    assert mark["figures"] == ["slopes", "shares", "named"]
    assert "unfinished" not in mark
    assert (out / "figures" / "slopes.png").read_bytes().startswith(b"\x89PNG")
    assert (out / "figures" / "slopes.svg").read_text().startswith("<?xml")
    assert (out / "report.html").read_text().endswith("</html>\n")


def test_the_claims_are_strict_json(out):
    def refuse(name):
        raise AssertionError(name)

    claims = json.loads((out / "claims.json").read_text(), parse_constant=refuse)
    assert len(claims) == len(FOUND.claims)
    assert set(KEYS) <= set(claims[0])
    assert claims == [claim.as_json() for claim in FOUND.claims]
    assert (claims[0]["measured"], claims[0]["low"], claims[0]["high"], claims[0]["holds"]) == (
        -1.97,
        -2.05,
        -1.9,
        True,
    )
    assert claims[1]["holds"] is False
    assert (claims[1]["relation"], claims[1]["predicted"], claims[1]["unit"]) == (">", 0.5, "as a share of lambda")
    assert (claims[2]["low"], claims[2]["high"]) == (3.0, None)
    assert [claim["verdict"] for claim in claims] == ["holds", "fails", "holds", "out of reach", "open"]
    assert claims[4]["measured"] is None
    for claim in claims:
        for name in ("predicted", "measured", "low", "high"):
            assert claim[name] is None or type(claim[name]) is float


def test_the_page_has_every_claim_with_its_verdict(page):
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", without_scripts(page), re.S)
    words = [re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", row))) for row in rows]
    surprising_first = [FOUND.claims[i] for i in (1, 3, 4, 2, 0)]
    assert len(words) == len(FOUND.claims)
    for said, claim in zip(words, surprising_first, strict=True):
        assert claim.place in said
        assert MARKS[claim.outcome] in said
        assert f"Rule: {symbols(claim.rule.words)}" in said
    assert "steps grow like 1 / λ²" in words[4]
    assert f"{MINUS}1.97 {MINUS}2.05 to {MINUS}1.9 {MINUS}2 Section 3" in words[4]
    assert "the <b> share is large" in words[0]
    assert "Too [few]." in words[0]
    assert "0.125 0.1 to 0.15 above 0.5, as a share of λ Appendix C" in words[0]
    assert "It takes 1,356,876 episodes to show, and 300 were run." in words[1]
    assert "7 3 to infinite at least 1 Section 4" in words[3]
    captions = re.findall(r"<caption><span>(.*?)</span>", page)
    assert captions == [
        "Shares: 0 of 1 claims hold, 1 fails.",
        "Slopes: 2 of 4 claims hold, 1 open, 1 out of reach.",
    ]
    summed = "2 of 5 claims hold, 1 fails, 1 open, 1 out of reach"
    assert f"{summed} · 3 figures · quick sizes · seed 3 · 61 s</p>" in page


def test_the_page_opens_with_sentences_made_of_the_claims(page):
    main = without_scripts(page).partition("<main")[2]
    first = re.search(r"<h2.*?</h2>\s*<ol class=\"opening\">(.*?)</ol>", main, re.S)
    sentences = re.findall(r"<li>(.*?)</li>", first[1])
    assert sentences == [
        "Of the 5 claims put to the test here, 2 hold, 1 fails, 1 is open (too little was measured to tell) and 1 is "
        "out of reach (only a far longer run could show it).",
        "Some lines have no end, such as λ²; this holds: the longest was 7.",
    ]
    titles = re.findall(r"<h3>(.*?)</h3>", main)
    assert titles == list(lower_bounds.UNMET.values())


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
    labels = [entry.label for entry in entries(SLOPES)]
    assert labels == [
        "plain learner: slope 1.01 (0.98 to 1.04)",
        "other <learner>: slope 0.95",
        "bound S A / (480 lambda^2)",
    ]
    theory = entries(SLOPES)[2]
    assert theory.points is None
    assert theory.line is SLOPES.series[4]


def test_a_fit_to_none_of_the_points_has_a_place_and_a_look_of_its_own():
    shown = entries(WORST)
    assert [entry.label for entry in shown] == ["gap 0.2", "gap 0.02: slope 0.6", "the worst gap: slope 0.5", "bound"]
    worst = shown[2]
    assert (worst.points, worst.line) == (None, WORST.series[3])
    assert len({(look.colour, look.dashes) for look in chart_looks(WORST)}) == 4
    assert [is_joined(WORST, entry) for entry in shown] == [True, False, False, False]
    page = make_page(Findings([], [WORST]), quick=True, seed=0)
    boxes = [box["data-agent"] for box in Outline(page).all("input")]
    assert boxes == ["0", "1", "2", "3"]
    traces = content(page)["charts"][0]["views"][""]["data"]
    assert [trace["mode"] for trace in traces if trace["meta"]["agent"] == 2] == ["lines"]
    assert "fitted, the worst gap: slope 0.5, 1 at 1 and 9 at 100; theory, bound" in page
    legend = charts_matplotlib.draw(prepared(WORST)).legends[0].get_texts()
    assert [text.get_text() for text in legend] == [entry.label for entry in shown]


def test_points_are_joined_unless_there_is_a_fit_or_two_share_a_place_or_x_is_no_number():
    def joined(figure):
        return [is_joined(figure, entry) for entry in entries(figure)]

    assert joined(SHARES) == [True]
    assert joined(SLOPES) == [False, False, False]
    assert joined(SHARES._replace(series=[Series("cloud", [1, 1, 2], [1, 2, 3])])) == [False]
    assert joined(NAMED) == [False, False, False]


def test_print_and_page_have_the_moved_curve():
    given = Figure(
        "name",
        "Title",
        "K",
        "regret",
        [
            Series("points", X[:2], [3.0, 30.0], [2.0, 20.0], [4.0, 40.0]),
            Series("bound 0", X[:2], [2e6, 4e6], kind="theory"),
        ],
        caption="Two worlds.",
        to_scale=False,
    )
    drawn = charts_matplotlib.draw(prepared(given))
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == ["points", f"bound 0, drawn {TIMES} 10⁻⁴"]
    assert drawn.axes[0].get_ylim()[1] < 1000.0
    page = make_page(Findings([], [given]), quick=True, seed=0)
    assert f"<p>Two worlds. Not to scale: what is drawn {TIMES} 10⁻⁴ is at least 10⁴ times the highest point" in page
    assert f"theory, bound 0, drawn {TIMES} 10⁻⁴, 200 at 1 and 400 at 10" in page
    (trace,) = [one for one in content(page)["charts"][0]["views"][""]["data"] if one["mode"] == "lines"]
    assert (trace["name"], trace["y"]) == (f"bound 0, drawn {TIMES} 10⁻⁴", [200, 400])


def test_nothing_comes_from_elsewhere(page):
    outline = Outline(without_scripts(page))
    for _, attributes in outline.found:
        for name in ("src", "href", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    assert "http" not in without_scripts(page).replace("http-equiv", "")
    assert content(page)["agents"] == []


def test_a_page_without_figures_or_failures():
    page = make_page(Findings(), quick=False, seed=0)
    assert "0 of 0 claims hold" in page
    assert "These do not" not in page
    assert content(page)["charts"] == []


def test_figures_for_print():
    drawn = charts_matplotlib.draw(prepared(SLOPES))
    panel = drawn.axes[0]
    assert (panel.get_xscale(), panel.get_yscale()) == ("log", "log")
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("λ", "steps of an episode")
    assert [text.get_text() for text in drawn.legends[0].get_texts()][2] == "bound S A / (480 λ²)"
    bars = panel.containers[0][2][0].get_segments()
    assert [tuple(bar[:, 1]) for bar in bars] == [pytest.approx(ends) for ends in ((1.5, 2.5), (18, 22), (190, 230))]


def test_names_stand_along_x_where_there_are_no_numbers(page):
    drawn = charts_matplotlib.draw(prepared(NAMED))
    panel = drawn.axes[0]
    assert panel.get_xticks().tolist() == [0.0, 1.0, 2.0]
    labels = panel.get_xticklabels()
    assert [label.get_text() for label in labels] == NAMED.names
    drawn.draw_without_rendering()
    legend = drawn.legends[0].get_window_extent()
    assert all(label.get_window_extent().y0 > legend.y1 for label in labels)
    (chart,) = [figure for chart, _, figure in figures(page) if chart["id"] == "named"]
    assert chart["layout"]["xaxis"]["tickvals"] == [0, 1, 2]
    assert chart["layout"]["xaxis"]["ticktext"] == ["one", "two &amp; a &lt;half&gt;", "a rather long name"]
    texts = [trace["text"] for trace in chart["data"]]
    assert texts == [["one", "two &amp; a &lt;half&gt;", "a rather long name"], ["a rather long name"], "all"]
    assert "with &lt;luck&gt;, 0.1 at one and 0.9 at a rather long name" in page


@pytest.mark.parametrize("count", [1, 2, 3, 4, 26])
def test_a_line_across_all_names_is_told_from_the_first_to_the_last(count):
    """It ends half a place beyond them, and Python rounds halves to even numbers."""
    names = [f"agent {number}" for number in range(count)]
    chance = Series("chance", [-0.5, count - 0.5], [0.5, 0.25], kind="theory")
    shown = [Series("share", [0.0], [0.1]), chance]
    page = make_page(Findings([], [NAMED._replace(series=shown, names=names)]), quick=True, seed=0)
    assert f"chance, 0.5 at agent 0 and 0.25 at agent {count - 1}" in page


def test_numbers_without_room_between_them_are_left_out():
    def shown(places):
        return list(tick_labels(SLOPES._replace(series=[Series("y", places, places)])).values())

    assert shown([2000.0, 4000.0, 16_000.0, 20_000.0, 64_000.0]) == ["2,000", "4,000", "20,000", "64,000"]
    assert shown([0.1, 0.4, 0.8, 0.95]) == ["0.1", "0.4", "0.95"]
    assert shown([7.0]) == ["7"]
    assert shown([]) == []


def test_large_and_small_numbers_are_drawn_without_a_missing_letter():
    """A missing letter would be a warning, which is an error here."""
    values = [1e-9, 1e-2, 1e12]
    figure = SLOPES._replace(
        series=[Series("y = x^-12", values, values), Series("H^30 >= eps", values, values, kind="theory")]
    )
    drawn = charts_matplotlib.draw(prepared(figure))
    drawn.savefig(io.BytesIO(), format="svg")
    labels = [label.get_text() for label in drawn.axes[0].get_yticklabels()]
    assert "10¹²" in labels


def test_figures_with_one_name_and_claims_without_theirs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="two figures are called 'slopes'"):
        lower_bounds.write(Findings([], [SLOPES, SLOPES]), tmp_path, quick=True, seed=0)
    for name in ("slopes", ""):
        claim = replace(FOUND.claims[0], figure=name)
        with pytest.raises(ValueError, match=f"names a figure '{name}', but there is none"):
            lower_bounds.write(Findings([claim], [SHARES]), tmp_path, quick=True, seed=0)
    assert list(tmp_path.iterdir()) == []


def shown(findings, width=100):
    file = io.StringIO()
    lower_bounds.show(findings, Console(width=width, file=file))
    return file.getvalue()


def test_the_terminal_has_what_does_not_hold_and_counts():
    text = shown(FOUND)
    assert "What does not hold" in text
    assert "the <b> share is large" in text
    assert re.search(r"above 0\.5, as +0\.125 \(0\.1 to", text)
    assert "    too [few]" in text
    assert "steps grow like" not in text
    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[-2:] == ["slopes 2 of 4 hold", "shares 0 of 1 hold"]
    assert text.index("What does not hold") < text.index("What is out of reach") < text.index("What is open")
    assert re.search(r"^ - +it shows itself late", text, re.M)


def test_the_terminal_counts_by_group_and_cuts_long_reasons():
    rule = Bounded(0.0, side=">")
    groups = ("coin", "clustering", "minimax", "regret_slopes", "told_tasks", "assumptions")
    many = [
        Claim(f"claim {i}", "Section 3", rule, computed(float(i % 4)), "a long long story " * 40, group=group)
        for group in groups
        for i in range(8)
    ]
    text = shown(Findings(many))
    assert text.count(" \u2026") == 2 * len(groups)
    assert len(text.splitlines()) <= 8 * len(groups)
    for group in ("coin game", "clustering", "minimax regime", "AOMultiRL's regret", "told the task", "assumptions"):
        assert re.search(rf"{group} +6 of 8 hold", text)


def test_the_terminal_has_no_table_where_all_claims_hold():
    text = shown(Findings([claim for claim in FOUND.claims if claim.holds]))
    assert text.split() == ["slopes", "2", "of", "2", "hold"]


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
            assert browser.run("document.querySelector('.wide').scrollWidth") <= width
            tops = "new Set([...document.querySelector('tbody tr').cells].map((one) => one.offsetTop)).size"
            assert browser.run(tops) == (1 if width == 1200 else 6)
            heading = "getComputedStyle(document.querySelectorAll('tbody td')[2], '::before').content"
            assert browser.run(heading) == ("none" if width == 1200 else '"predicted: "')
            keys = "[...document.querySelectorAll('.agents')].every((one) => one.scrollHeight <= one.clientHeight)"
            assert browser.run(keys)
        browser.run("document.querySelector('[data-agent=\"0\"]').click()")
        shown = "document.getElementById('chart-{}').data.map((trace) => trace.visible)"
        assert browser.run(shown.format("slopes")) == ["legendonly", "legendonly", True, True, True]
        assert browser.run(shown.format("shares")) == [True]
        assert browser.errors() == []
    finally:
        browser.close()

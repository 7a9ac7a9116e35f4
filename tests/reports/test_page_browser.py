"""The report page in a browser: clicks, keys, a phone, and how long it takes."""

import time

import pytest

from aomultirl.reports import folder_report
from aomultirl.reports.page import Run, write_page
from folders import cells, keep, part

CLIPPED = """[...document.querySelectorAll("header *, main *")].filter((one) => {
  const place = one.getBoundingClientRect();
  const inside = one.closest("svg") && one.tagName !== "text";
  const beyond = place.right > innerWidth + 1 || place.left < -1;
  return beyond && place.width > 0 && !inside && !one.closest(".wide, .skip");
}).map((one) => one.outerHTML.slice(0, 90))"""
"""What reaches beyond the screen and cannot be scrolled to."""
VERDICTS = """[...document.querySelectorAll(".yes, .no, .open")].filter((one) => {
  const place = one.getBoundingClientRect();
  return place.right > innerWidth + 1 || place.left < -1;
}).length"""


@pytest.fixture(scope="module")
def report(runs, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    write_page(path, runs, title="Four agents")
    return path


def visible(browser, chart, label):
    script = f"document.getElementById('chart-{chart}').data.find((trace) => trace.name === '{label}').visible"
    return browser.run(script)


def test_a_click_on_a_legend_hides_the_agent_everywhere(browser, report):
    browser.width(1200)
    browser.open(report)
    assert visible(browser, "rewards", "AOMultiRL") is True
    browser.run("document.getElementById('chart-rewards').scrollIntoView({block: 'center'})")
    x, y = browser.run(
        """(() => {
          const entry = [...document.querySelectorAll('#chart-rewards .legend .traces')]
            .find((one) => one.textContent.includes('AOMultiRL'));
          const place = entry.querySelector('.legendtoggle').getBoundingClientRect();
          return [place.x + place.width / 2, place.y + place.height / 2];
        })()"""
    )
    browser.click(x, y)
    browser.wait(lambda: visible(browser, "rewards", "AOMultiRL") == "legendonly")
    assert visible(browser, "regret-total", "AOMultiRL") == "legendonly"
    assert visible(browser, "rewards", "Optimal") is True
    assert browser.run("document.querySelector('[data-agent=\"1\"]').checked") is False
    assert browser.errors() == []


def test_runs_and_agents_can_be_chosen(browser, report):
    browser.width(1200)
    browser.open(report)

    def choose(control, value):
        browser.run(
            f"""(() => {{
              const control = document.querySelector('[data-control="{control}"]');
              if (control.type === 'checkbox') control.checked = {value}; else control.value = '{value}';
              control.dispatchEvent(new Event('change', {{bubbles: true}}));
            }})()"""
        )

    words = "document.getElementById('words-{}').textContent"
    assert "mean over 3 runs" in browser.run(words.format("rewards"))
    choose("run", 2)
    for chart in ("rewards", "regret-total", "steps"):
        assert "(run 2" in browser.run(words.format(chart))
    for chart in ("timeline", "distances", "errors"):
        assert "AOMultiRL, run 2" in browser.run(words.format(chart))
    assert "run 2" in browser.run("document.getElementById('maps-words').textContent")
    assert browser.run("document.querySelectorAll('#maps svg').length") >= 4
    label = browser.run("document.getElementById('chart-timeline').getAttribute('aria-label')")
    assert label.startswith("AOMultiRL, run 2")
    choose("agent", 0)
    assert browser.run("document.getElementById('chart-distances').hidden") is True
    assert browser.run("document.querySelectorAll('#maps svg').length") == 0
    choose("measure", "recent")
    assert "last 20 episodes" in browser.run(words.format("rewards"))
    assert "since the start" in browser.run(words.format("metric"))
    choose("metric", "recent")
    assert "last 20 episodes" in browser.run(words.format("metric"))
    assert browser.errors() == []


def test_a_bound_far_up_comes_with_a_logarithmic_axis(browser, proven, tmp_path):
    path = tmp_path / "proven.html"
    write_page(path, [Run("Proven", 0, proven)])
    browser.width(1200)
    browser.open(path)
    control = "document.querySelector('[data-control=\"bound\"]')"
    assert visible(browser, "regret-total", "Proven: the theorem\\'s bound") is False
    browser.run(f"{control}.checked = true; {control}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    assert visible(browser, "regret-total", "Proven: the theorem\\'s bound") is True
    assert browser.run("document.getElementById('chart-regret-total').layout.yaxis.type") == "log"
    assert browser.errors() == []


@pytest.mark.parametrize("width", [pytest.param(1200, marks=pytest.mark.long), 360])
def test_the_evidence_of_an_episode_can_be_chosen(browser, sure, tmp_path, width):
    path = tmp_path / "sure.html"
    write_page(path, [Run(name, 0, history) for name, history in sure.items()])
    control = "document.querySelector('[data-control=\"{}\"]')"
    words = "document.getElementById('words-evidence').textContent"

    def choose(name, value):
        one = control.format(name)
        browser.run(f"{one}.value = '{value}'; {one}.dispatchEvent(new Event('change', {{bubbles: true}}))")

    browser.width(width)
    browser.open(path)
    kept = sure["Sequential"].about["findings"]["evidence"]["episodes"]
    assert browser.run(f"{control.format('kept')}.options.length") == len(kept)
    assert f"Sequential, run 0: episode {kept[-1]['episode'] + 1} " in browser.run(words)
    choose("kept", 1)
    assert f"Sequential, run 0: episode {kept[1]['episode'] + 1} " in browser.run(words)
    choose("agent", 1)
    last = sure["Recall"].about["findings"]["evidence"]["episodes"][-1]
    assert f"Recall, run 0: episode {last['episode'] + 1} " in browser.run(words)
    assert browser.run("document.getElementById('chart-evidence').layout.yaxis.title.text") == "belief"
    assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.errors() == []


def test_charts_keep_their_height_when_a_screen_is_turned(browser, report):
    browser.width(1200)
    browser.open(report)
    charts = "[...document.querySelectorAll('.chart:not([hidden])')]"
    heights = f"{charts}.map((chart) => [chart.clientHeight, chart.querySelector('svg').clientHeight])"
    for width in (360, 1200):
        browser.width(width)
        time.sleep(1.0)  # Plotly draws again some time after the width has changed
        assert all(here >= drawn > 0 for here, drawn in browser.run(heights))


def test_what_was_believed_follows_the_choice_of_the_agent(browser, sure, tmp_path):
    path = tmp_path / "sure.html"
    write_page(path, [Run(name, 0, history) for name, history in sure.items()])
    browser.width(1200)
    browser.open(path)
    words = "document.getElementById('words-beliefs').textContent"
    assert browser.run("document.getElementById('chart-beliefs').hidden") is True
    assert browser.run(words) == "Sequential, run 0: it has no beliefs about worlds."
    control = "document.querySelector('[data-control=\"agent\"]')"
    browser.run(f"{control}.value = '1'; {control}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    assert browser.run(words).startswith("Recall, run 0: 12 episodes of 4 worlds taken for")
    assert browser.run("document.getElementById('chart-beliefs').hidden") is False
    assert browser.run("document.getElementById('chart-beliefs').data.length") >= 4
    assert browser.errors() == []


def test_the_keyboard_is_enough(browser, report):
    browser.width(1200)
    browser.open(report)
    stops = []
    for _ in range(60):
        browser.press("Tab", 9)
        stop = browser.run("(({dataset: d, className: c}) => d.control || d.agent || c)(document.activeElement)")
        stops.append(stop)
        if stop == "1":
            break
    assert stops[0] == "skip"
    assert {"run", "agent"} <= set(stops)
    browser.press(" ", 32, " ")
    browser.wait(lambda: visible(browser, "rewards", "AOMultiRL") == "legendonly")
    browser.run("document.querySelector('[data-control=run]').focus()")
    browser.press("ArrowDown", 40)
    browser.wait(lambda: "(run 0" in browser.run("document.getElementById('words-rewards').textContent"))
    assert browser.errors() == []


def test_a_phone_needs_no_sideways_scrolling(browser, report, unjudged, tmp_path):
    other = tmp_path / "other.html"
    write_page(other, [Run("an-agent-with-quite-a-long-name-and-no-place-to-break-it", 0, unjudged)])
    for path in (report, other):
        browser.width(360, 780)
        browser.open(path)
        assert browser.run("document.documentElement.scrollWidth") <= 360
        widths = browser.run("[...document.querySelectorAll('.chart')].map((one) => one.scrollWidth)")
        assert max(widths) <= 360
        assert browser.errors() == []


def test_nothing_is_clipped_and_every_verdict_is_on_the_screen(browser, report, tmp_path):
    """Of a report with verdicts, and of a sweep over names; what is wider than the screen has a shadow at its end."""
    worlds = [part("gridworld", edges="stay"), part("jao")]
    keep(tmp_path / "results", cells(worlds=worlds, runs=2))
    path = tmp_path / "sweep.html"
    folder_report.write(folder_report.collect(tmp_path / "results"), path)
    for width in (1300, 390):
        browser.width(width)
        for page in (report, path):
            browser.open(page)
            browser.wait(lambda width=width: browser.run("document.documentElement.scrollWidth") <= width)
            assert browser.run(CLIPPED) == []
            assert browser.run("document.querySelectorAll('.yes, .no, .open').length") >= 4
            assert browser.run(VERDICTS) == 0
    wide = "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth + 1)"
    assert browser.run(f"{wide}.length") > 0
    assert browser.run(f"{wide}.every((one) => getComputedStyle(one).backgroundImage.includes('radial-gradient'))")
    first = "document.querySelector('#leaderboard .numbers tbody th')"
    browser.run(f"{first}.closest('.wide').scrollLeft = 200")
    assert browser.run(f"{first}.getBoundingClientRect().left") >= 0  # the names stay while the numbers move
    assert browser.run("document.querySelectorAll('#sweep .chart svg').length") >= 4
    assert browser.errors() == []


@pytest.mark.parametrize("widths", [(360,), pytest.param((360, 1200), marks=pytest.mark.long)])
def test_long_and_odd_labels(browser, runs, tmp_path, widths):
    path = tmp_path / "long.html"
    odd = "an agent of 100 %{y} " + "with a name that does not end " * 5
    write_page(path, [Run(odd, 0, runs[3].history), Run("TheOther" * 4, 0, runs[6].history)])
    for width in widths:
        browser.width(width, 780)
        browser.open(path)
        legend = browser.run("document.querySelector('#chart-rewards .legend').textContent")
        assert "100 %{y} with" in legend or width < 1200
        assert browser.run("document.documentElement.scrollWidth") <= width
        heights = browser.run("[...document.querySelectorAll('.choice')].map((one) => one.offsetHeight)")
        assert max(heights) < 50
        first = "document.querySelector('#glance tbody tr').children"
        assert browser.run(f"{first}[1].getBoundingClientRect().right") < width
        entries = "[...document.querySelectorAll('#chart-rewards .legendtext')]"
        assert browser.run(f"Math.max(...{entries}.map((one) => one.getBoundingClientRect().right))") <= width
        assert browser.run(f"{first}[0].offsetHeight") < 400
    assert browser.errors() == []


def test_it_loads_in_two_seconds(browser, report):
    browser.width(1200)
    times = []
    for _ in range(3):
        browser.open(report)
        times.append(
            browser.run(
                """Math.max(performance.getEntriesByName('first-chart')[0].startTime,
                            performance.getEntriesByType('navigation')[0].loadEventEnd)"""
            )
        )
        if times[-1] < 2_000:  # only a machine that is busy with something else is asked again
            break
    assert min(times) < 2_000


@pytest.mark.long
def test_the_parameter_of_a_sweep_can_be_chosen(browser, tmp_path):
    worlds = [part("gridworld", size=size) for size in (3, 4)]
    keep(tmp_path / "results", cells(worlds=worlds, episodes=(2, 30), runs=2))
    path = tmp_path / "sweep.html"
    folder_report.write(folder_report.collect(tmp_path / "results"), path)
    control = "document.querySelector('[data-control=\"sweep\"]')"
    axis = "document.getElementById('chart-sweep-regret').layout.xaxis"
    browser.width(1200)
    browser.open(path)
    assert browser.run(f"{axis}.title.text") == "size of the world"
    assert browser.run(f"{axis}.type") == "linear"
    browser.run(f"{control}.value = '2'; {control}.dispatchEvent(new Event('change', {{bubbles: true}}))")
    assert browser.run(f"{axis}.title.text") == "episodes K, size=3"
    assert browser.run(f"{axis}.type") == "log"
    words = browser.run("document.getElementById('words-sweep-total_reward').textContent")
    assert words.startswith("Total reward against episodes K, with size=3 (2 runs): Optimal ")
    assert browser.run("document.querySelectorAll('#leaderboard details[open] table').length") == 2
    browser.width(360)
    browser.wait(lambda: browser.run("document.documentElement.scrollWidth") <= 360)
    assert browser.errors() == []

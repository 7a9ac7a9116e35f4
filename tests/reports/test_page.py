"""The report page, part by part."""

import html
import json
import re

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments.history import History
from aomultirl.reports.page import Run, comparison_charts, episode_curves, groups, make_page, run_charts, write_page
from pages import Outline, chart_of, content, figures, without_scripts
from proven import HITTING_TIME, LAMBDA, proven_worlds


def test_every_view_is_a_figure_that_plotly_accepts(runs, unjudged):
    from plotly.graph_objects import Figure

    seen = set()
    for page in (make_page(runs), make_page([Run("mine", 0, unjudged)])):
        for chart, key, figure in figures(page):
            Figure(figure)
            seen.add((chart["id"], key))
    for wanted in (
        "rewards|mean|all",
        "rewards|recent|2",
        "metric|mean|all",
        "metric|recent|1",
        "regret-learning|1",
        "steps|all",
        "timeline|1|2",
        "errors|2|0",
    ):
        assert tuple(wanted.split("|", 1)) in seen


def test_a_wrong_figure_would_be_noticed():
    from plotly.graph_objects import Figure

    with pytest.raises(ValueError, match="nonsense"):
        Figure({"data": [{"type": "scatter", "nonsense": 1}]})


def test_curves_are_means_over_runs_with_an_interval(runs):
    chart = chart_of(make_page(runs), "metric")
    labels = [trace.get("name") for trace in chart["traces"]]
    place = labels.index("AOMultiRL")
    mine = [run.history for run in runs if run.agent == "AOMultiRL"]
    low, high, mean = (chart["views"]["mean|all"]["data"][i]["y"] for i in (place - 2, place - 1, place))
    assert mean == pytest.approx(np.mean([history.aper() for history in mine], axis=0), rel=1e-4)
    assert all(a - 1e-3 <= b <= c + 1e-3 for a, b, c in zip(low, mean, high, strict=True))
    assert chart["views"]["mean|2"]["data"][place]["y"] == pytest.approx(mine[2].aper(), rel=1e-4)
    assert chart["traces"][place]["x"] == list(range(1, 31))
    assert f"AOMultiRL {mean[-1]:.4g}" in chart["views"]["mean|all"]["words"]


def test_what_was_earned_comes_first_and_the_papers_metric_second(runs):
    mine = [run for run in runs if run.agent in ("Optimal", "One episode", "Random")]  # episodes of 100 steps each
    page = make_page(mine)
    assert [chart["id"] for chart in content(page)["charts"]][:2] == ["rewards", "metric"]
    rewards, metric = chart_of(page, "rewards"), chart_of(page, "metric")
    place = [trace.get("name") for trace in rewards["traces"]].index("One episode")
    history = next(run.history for run in mine if run.agent == "One episode")
    earned = np.cumsum(history.reward) / np.arange(1, 31)
    assert history.reward.mean() < 0.5 * history.aper()[-1]  # it acts at random while it learns
    assert rewards["views"]["mean|0"]["data"][place]["y"] == pytest.approx(earned, rel=1e-4)
    assert metric["views"]["mean|0"]["data"][place]["y"] == pytest.approx(history.aper(), rel=1e-4)
    words = rewards["views"]["mean|0"]["words"]
    assert words.startswith("Average reward earned an episode, since the start, after 30 episodes (run 0): Optimal ")
    assert metric["views"]["mean|0"]["words"].startswith("The paper's metric: average reward of the learned policy, ")
    assert rewards["layout"]["yaxis"]["title"]["text"] == "reward an episode"
    assert "a step" not in re.search(r'<section id="rewards".*?</section>', page, re.S)[0]


def test_where_episodes_are_not_equally_long_what_was_earned_is_that_of_a_step(runs):
    page = make_page(runs)
    rewards = chart_of(page, "rewards")
    assert rewards["layout"]["yaxis"]["title"]["text"] == "reward a step"
    assert rewards["views"]["mean|0"]["words"].startswith("Average reward earned a step, since the start, after 30")
    assert "so it is the reward of a step" in re.search(r'<section id="rewards".*?</section>', page, re.S)[0]
    place = [trace.get("name") for trace in rewards["traces"]].index("AOMultiRL")
    history = next(run.history for run in runs if run.agent == "AOMultiRL")
    steps = history["identification_steps"] + history["learning_steps"]
    for key, begin in (("mean", np.zeros(30, int)), ("recent", np.maximum(0, np.arange(30) - 19))):
        wanted = [history.reward[b : k + 1].sum() / steps[b : k + 1].sum() for k, b in enumerate(begin)]
        assert rewards["views"][f"{key}|0"]["data"][place]["y"] == pytest.approx(wanted, rel=1e-4)


def test_regret_is_split(runs):
    drawn = {chart["id"]: chart for chart in content(make_page(runs))["charts"]}
    history = next(run.history for run in runs if run.agent == "AOMultiRL")
    place = [trace.get("name") for trace in drawn["regret-total"]["traces"]].index("AOMultiRL")
    total, clustering, learning = (
        np.array(drawn[f"regret-{part}"]["views"]["0"]["data"][place]["y"]) for part in comparison_charts.PARTS
    )
    assert total == pytest.approx(history.regret(), rel=1e-4)
    assert total == pytest.approx(clustering + learning, rel=1e-3)
    assert [trace for trace in drawn["regret-total"]["traces"] if trace["meta"].get("bound")] == []


def test_a_bound_is_drawn_where_its_theorem_holds(proven):
    page = make_page([Run("AOMultiRL", 0, proven)])
    drawn = chart_of(page, "regret-total")
    bound = [trace for trace in drawn["traces"] if trace["meta"].get("bound")]
    assert [trace["name"] for trace in bound] == ["AOMultiRL: the theorem's bound"]
    line = drawn["views"]["0"]["data"][drawn["traces"].index(bound[0])]
    assert line["y"][-1] == pytest.approx(proven.about["bound"]["total"][-1], rel=1e-4)
    text = html.unescape(without_scripts(page))
    assert "The theorem's bound on the regret of all episodes of a run is" in text
    assert '<td>Theorem 16</td><td><span class="yes">✓ yes</span></td>' in text


def test_a_page_says_which_premise_fails(runs):
    text = html.unescape(without_scripts(make_page(runs)))
    assert "Theorems on the regret, and whether they hold here" in text
    assert '<td>Theorem 16</td><td><span class="no">✗ no</span></td>' in text
    for words in ("N and H0 are those of the released code", "some policy avoids a state for ever (Assumption 12)"):
        assert words in text
    assert "The theorem's bound on the regret" not in text
    assert "19, for two stages" in text
    alone = html.unescape(without_scripts(make_page([run for run in runs if run.agent == "Random"])))
    assert "Theorems on the regret" not in alone


def test_assumption_19_is_listed_for_the_runs_of_two_stages():
    """K1 is that of the stream, and of the agents that need it, where there are some."""
    worlds, told = proven_worlds(), {"models": 2, "hitting_time": HITTING_TIME, "failure": 0.5, "learning_horizon": 5}
    two_stages = ao.agents.TwoStageAOMultiRL(separation=LAMBDA, **told)
    late = ao.run(two_stages, worlds, ao.streams.sequence([0, 0, 1] + [0] * 13), 16)
    never = ao.run(ao.agents.Random(5), worlds, ao.streams.sequence([0] * 16), 16)
    pages = [html.unescape(without_scripts(make_page(shown, worlds))) for shown in ([late, never], [never])]
    assert "K1 = 3: K1 S A = 12 is below K - K1 = 13" in pages[0]
    assert "one of them never came" in pages[1]


def test_a_bound_whose_premises_nobody_looked_at_is_not_shown(proven):
    """Histories of earlier versions have no premises."""
    about = {name: value for name, value in proven.about.items() if name != "premises"}
    page = make_page([Run("AOMultiRL", 0, History(proven.columns, about))])
    assert [trace for trace in chart_of(page, "regret-total")["traces"] if trace["meta"].get("bound")] == []
    text = html.unescape(without_scripts(page))
    assert "of a version that checked no premises, and its bound is not shown" in text
    assert "The theorem's bound on the regret" not in text


def test_running_means_skip_what_was_not_evaluated():
    values = np.array([np.nan, 1.0, 3.0, np.nan, 5.0])
    assert episode_curves.running_mean(values) == pytest.approx([np.nan, 1.0, 2.0, np.nan, 3.0], nan_ok=True)
    assert episode_curves.running_mean(values, 2) == pytest.approx([np.nan, 1.0, 2.0, np.nan, 5.0], nan_ok=True)
    rng = np.random.default_rng(0)
    values = np.where(rng.random(50) < 0.3, np.nan, rng.random(50))
    for recent in (None, 7):
        found = episode_curves.running_mean(values, recent)
        for k, value in enumerate(values):
            if np.isfinite(value):
                begin = 0 if recent is None else max(0, k + 1 - recent)
                assert found[k] == pytest.approx(np.nanmean(values[begin : k + 1]))


def test_numbers_that_json_does_not_have_become_null(runs):
    history = runs[3].history
    columns = {name: column.copy() for name, column in history.columns.items()}
    columns["evaluation_reward"][:10] = np.nan
    columns["regret"][5:] = np.nan
    columns["estimate_error"][3] = np.inf
    page = make_page([Run("holes", 0, History(columns, history.about))])
    text = re.search(r'id="page-data">(.*?)</script>', page, re.S)[1]
    found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} in the data"))
    metric = next(chart for chart in found["charts"] if chart["id"] == "metric")
    curve = metric["views"]["mean|all"]["data"][2]["y"]
    assert curve[:10] == [None] * 10
    assert None not in curve[10:]


def test_labels_cannot_break_out(runs):
    evil = '</script><b>"bold"</b>'
    page = make_page(
        [Run(evil, 0, runs[3].history), Run(f"{evil}2", 0, runs[6].history)],
        title=evil,
        caption=evil,
        command=evil,
        claims=[{"claim": evil, "place": evil, "predicted": evil, "measured": evil, "holds": None, "reason": evil}],
    )
    outline = Outline(page)
    assert outline.all("b") == []
    assert len(outline.all("script")) == 3
    found = content(page)
    assert found["agents"][0]["label"] == evil
    names = [trace["name"] for trace in found["charts"][0]["traces"] if "name" in trace]
    assert names[0] == '&lt;/script&gt;&lt;b&gt;"bold"&lt;/b&gt;'


def test_nothing_comes_from_a_network(runs):
    page = make_page(runs)
    plain = without_scripts(page)
    assert "http" not in plain.replace("http-equiv", "")
    assert "default-src 'none'" in plain
    assert page.count("plotly.js v") == 1
    assert not [attrs for _, attrs in Outline(page).found if "src" in attrs]


def test_the_page_can_be_read_without_seeing_it(runs):
    outline = Outline(make_page(runs, title="Four agents"))
    assert outline.all("html")[0]["lang"] == "en"
    names = [attrs["id"] for _, attrs in outline.found if "id" in attrs]
    assert len(names) == len(set(names))
    links = [attrs["href"] for attrs in outline.all("a")]
    assert all(link.removeprefix("#") in names for link in links)
    assert links[0] == "#content"
    assert [tag for tag, _ in outline.found if tag in ("h1", "h2")] == ["h1"] + ["h2"] * (len(links) - 1)
    drawn = [attrs for _, attrs in outline.found if attrs.get("class") == "chart"]
    assert len(drawn) == len(content(make_page(runs))["charts"])
    assert all(attrs["role"] == "img" and len(attrs["aria-label"]) > 40 for attrs in drawn)


def test_a_single_history_and_one_that_nobody_judged(runs, unjudged):
    alone = make_page([Run("AOMultiRL", 0, runs[3].history)])
    assert 'data-control="run"' not in alone
    assert 'id="policies"' in alone
    page = make_page([Run("mine", 0, unjudged)])
    for absent in ("metric", "regret", "errors", "policies", "worlds"):
        assert f'<section id="{absent}"' not in page
    for present in ("glance", "rewards", "timeline", "steps", "distances", "again"):
        assert f'<section id="{present}"' in page
    assert "the paper&#39;s metric" not in page
    assert "It was not recorded of mine." in make_page([Run("mine", 0, unjudged), runs[3]])
    assert "ao.interact(agent, make_env, episodes=6, seed=seed)" in page
    outside = make_page([Run("AOMultiRL", 0, History(runs[3].history.columns, {}))])
    assert '<section id="worlds"' not in outside


def test_runs_that_differ_in_length_and_number(runs):
    long, short = runs[3].history, runs[4].history
    short = History({name: column[:20] for name, column in short.columns.items()}, short.about)
    page = make_page([Run("a", 0, long), Run("a", 4, short), Run("b", 7, runs[5].history)])
    found = content(page)
    assert [agent["runs"] for agent in found["agents"]] == [["0", "4"], ["7"]]
    curve = found["charts"][0]["views"]["mean|4"]["data"][2]["y"]
    assert len(curve) == 30
    assert curve[20:] == [None] * 10
    assert set(next(chart for chart in found["charts"] if chart["id"] == "timeline")["views"]) == {"0|0", "0|4", "1|7"}


def test_large_experiments_are_thinned(runs, monkeypatch):
    monkeypatch.setattr(groups, "MOST_HISTORIES", 4)
    base = runs[3].history
    columns = {name: np.resize(column, 3_000) for name, column in base.columns.items()}
    columns["episode"] = np.arange(3_000)
    columns["misclustered"] = np.zeros(3_000, np.bool_)
    columns["misclustered"][777] = True
    many = [Run(f"agent {i}", run, History(columns, base.about)) for i in range(2) for run in range(5)]
    page = make_page(many)
    found = content(page)
    assert found["agents"][0]["runs"] == ["0", "1"]
    assert "3 more runs are in the averages" in page
    assert all(len(trace["x"]) <= episode_curves.MOST_POINTS for trace in found["charts"][0]["traces"])
    timeline = next(chart for chart in found["charts"] if chart["id"] == "timeline")["views"]["0|0"]
    assert sum(len(trace["x"]) for trace in timeline["data"]) < 4 * run_charts.MOST_EPISODES
    assert next(trace for trace in timeline["data"] if trace["name"] == "misclustered")["x"] == [778]
    assert "of them are drawn" in timeline["words"]
    assert len(json.dumps(found, separators=(",", ":"))) < 4 * 100_000


def test_stretches_that_all_runs_share(runs):
    tasks = np.repeat([0, 1, 0, 1, 3, 2], [1, 1, 1, 1, 12, 14])
    other = np.where(tasks == 2, 1, tasks)
    histories = [
        History({**runs[0].history.columns, "task": column}, runs[0].history.about) for column in (tasks, other)
    ]
    both = groups.group([Run("a", 0, histories[0]), Run("b", 0, histories[1])])
    assert groups.shared_stretches(both) == [(4, 16, 3)]


def test_maps_know_which_actions_are_optimal(runs, models):
    found = content(make_page(runs))["maps"]
    [grid] = found["worlds"]
    assert grid["layout"] == [4, 4]
    assert grid["starts"] == [5]
    for world, gaps in zip(models, grid["gaps"], strict=True):
        values = world.optimal_values(grid["horizon"])
        best = world.rewards + world.transitions @ values[1]
        assert np.array_equal(np.array(gaps) == 0.0, best >= best.max(axis=1, keepdims=True) - 1e-7)
    clusters = found["views"]["1|0"]["clusters"]
    assert clusters == runs[3].history.about["clusters"][: len(clusters)]
    assert "Optimal: no maps to show" in found["views"]["0|0"]["words"]


def test_claims():
    history = ao.run(ao.agents.Random(5), ao.worlds.jao(), ao.streams.uniform(), 3)
    claims = [
        {"claim": "it is fast", "place": "Section 5", "predicted": 7, "measured": 8.5, "holds": np.bool_(False)},
        {"claim": "it is good", "place": "Section 5", "measured": "yes", "holds": True, "reason": None},
    ]
    page = make_page([Run("Random", 0, history)], claims=claims)
    assert "✗ no" in page
    assert "8.5" in page
    assert '<section id="policies"' not in page
    assert "None" not in re.search(r'<section id="claims".*?</section>', page, re.S)[0]
    assert '<section id="claims"' not in make_page([Run("Random", 0, history)])


def test_the_code_on_the_page_runs_it_again(runs):
    page = make_page([run for run in runs if run.agent == "AOMultiRL"][:1])
    code = re.findall(r"<pre><code>(.*?)</code></pre>", page, re.S)[-1]
    names = {}
    exec(compile(html.unescape(code), "page", "exec"), names)
    assert names["history"] == runs[3].history


def test_files_are_whole(runs, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_page(path, runs[:2], title="Two runs")
    assert "<title>Two runs</title>" in path.read_text()
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(ValueError, match="there is no folder"):
        write_page(tmp_path / "missing" / "report.html", runs)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "runs is empty"),
        ([("a", 0, None)], "run 0 of 'a' is None, not a History"),
    ],
)
def test_bad_input(given, message):
    with pytest.raises(ValueError, match=message):
        make_page(given)


def test_a_run_given_twice(runs):
    with pytest.raises(ValueError, match="run 0 of 'Optimal' is given twice"):
        make_page([runs[0], runs[0]])

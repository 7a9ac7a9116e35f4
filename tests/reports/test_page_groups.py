"""Runs that are not alike: of different lengths, worlds and streams, or with episodes that do not count."""

import html
import re

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.analysis import intervals, phrases
from aomultirl.experiments.history import History
from aomultirl.reports.page import Run, comparison_charts, make_page
from pages import chart_of, code_of, content, told, without_scripts
from proven import proven_agent, proven_worlds


@pytest.fixture(scope="module")
def late(runs):
    """The same experiment, of which one agent's first four episodes do not count; the others have four less."""
    stretch = np.repeat([0, 1, 2, 3, 0, 2, 3], [1, 1, 1, 1, 8, 8, 10])
    found = []
    for label, before in (("whole", 4), ("short", 0)):
        for run in range(2):
            base = runs[3 + run].history
            columns = {**base.columns, "task": stretch}
            columns = {name: column[4 - before :] for name, column in columns.items()}
            found.append(Run(label, run, History(columns, {**base.about, "episodes": 26 + before}), before))
    return found


def test_episodes_before_those_that_count(late):
    page = make_page(late)
    text = without_scripts(page)
    rewards = chart_of(page, "rewards")
    shown = zip(rewards["traces"], rewards["views"]["mean|all"]["data"], strict=True)
    lines = [(trace["x"], own["y"]) for trace, own in shown]
    assert lines[2] == lines[5]
    assert lines[2][0] == list(range(1, 27))
    assert [(shape["x0"], shape["x1"]) for shape in rewards["layout"]["shapes"]] == [(0, 8), (8, 16), (16, 26)]
    assert "2 runs of 26 episodes" in text
    assert "after 26 episodes" in text
    assert "30 episodes" not in text
    assert "K = 30" not in text
    assert "K = 26" in text
    assert "The first 4 episodes of whole do not count" in text
    timeline = chart_of(page, "timeline")["views"]
    assert min(min(trace["x"]) for trace in timeline["0|0"]["data"]) == -3
    assert min(min(trace["x"]) for trace in timeline["1|0"]["data"]) == 1
    assert "26 episodes of 3 worlds; 4 that do not count come before them" in timeline["0|0"]["words"]
    assert chart_of(page, "steps")["traces"][2]["x"] == list(range(1, 27))
    assert "episodes=30" in code_of(page)
    assert "# the first 4 episodes of a run do not count" in code_of(page)
    with pytest.raises(ValueError, match=r"before, of run 0 of 'whole', must be between 0 and 29, not 30"):
        make_page([late[0]._replace(before=30)])


def test_runs_of_different_worlds_are_no_repetitions(models):
    agent, stream = ao.agents.Random(5), ao.streams.uniform()
    grid = [ao.run(agent, models, stream, 3, seed) for seed in range(2)]
    jao = ao.run(agent, ao.worlds.two_jao(), stream, 3, 0)
    page = make_page([*grid, jao])
    assert [agent["label"] for agent in content(page)["agents"]] == [
        "Random (world=gridworld)",
        "Random (world=two_jao)",
    ]
    assert [agent["runs"] for agent in content(page)["agents"]] == [["0", "1"], ["0"]]
    assert "<title>Random on gridworld and two_jao</title>" in page
    subtitle = html.unescape(re.search(r'class="subtitle">(.*?)</p>', page)[1])
    assert subtitle.startswith("1 agent in 2 settings · 1 to 2 runs of 3 episodes · gridworld(size=4, edges='stay'")
    assert " and two_jao(" in subtitle
    assert page.count("<span>The worlds of gridworld(") == page.count("<span>The worlds of two_jao(") > 0
    code = code_of(page)
    assert code.index("models = ao.worlds.gridworld(") < code.index("models = ao.worlds.two_jao(")
    names = {}
    exec(compile(code, "page", "exec"), names)
    assert names["history"] == jao
    given = make_page([Run("mine", 0, grid[0]), Run("mine", 1, jao)])
    assert [agent["label"] for agent in content(given)["agents"]] == ["mine (world=gridworld)", "mine (world=two_jao)"]


@pytest.mark.parametrize(
    ("other", "labels"),
    [
        ({"stream": ao.streams.round_robin()}, ["Random (stream=uniform())", "Random (stream=round_robin())"]),
        ({"noisy_rewards": True}, ["Random (noisy_rewards=False)", "Random (noisy_rewards=True)"]),
        (
            {"models": ao.worlds.gridworld(edges="third")},
            ["Random (world=gridworld(edges='stay'))", "Random (world=gridworld(edges='third'))"],
        ),
        ({"agent": ao.agents.Random(6)}, ["Random (horizon=5)", "Random (horizon=6)"]),
    ],
    ids=["stream", "noise", "parameter of the world", "parameter of the agent"],
)
def test_what_tells_runs_apart(models, other, labels):
    usual = {"agent": ao.agents.Random(5), "models": models, "stream": ao.streams.uniform(), "episodes": 2}
    page = make_page([ao.run(**usual), ao.run(**{**usual, **other})])
    assert [agent["label"] for agent in content(page)["agents"]] == labels
    names = {}
    exec(compile(code_of(page), "page", "exec"), names)
    assert names["history"] == ao.run(**{**usual, **other})


def drawn_agents(page):
    """The agents in each chart of the page that compares them."""
    compared = ("rewards", "metric", "regret", "steps")
    charts = [chart for chart in content(page)["charts"] if chart["id"].split("-")[0] in compared]
    return {chart["id"]: {trace["name"] for trace in chart["traces"] if "name" in trace} for chart in charts}


def test_each_world_has_charts_of_its_own(models):
    """Rewards of two worlds are never in one chart, and nobody is left out."""
    agents = {"Random": ao.agents.Random(20), "Recall": ao.agents.Recall(0.03, 20)}
    both = {"gridworld": models, "two_jao": ao.worlds.two_jao()}
    given = [
        Run(name, 0, ao.run(agent, worlds, ao.streams.uniform(), 3))
        for name, agent in agents.items()
        for worlds in both.values()
    ]
    found = drawn_agents(make_page(given))
    for chart in ("rewards", "metric", "regret-total"):
        for end, world in (("", "gridworld"), ("-1", "two_jao")):
            assert found[chart + end] == {f"{name} (world={world})" for name in agents}
    assert all(len({name.partition("(world=")[2] for name in names}) == 1 for names in found.values())
    shared = drawn_agents(make_page([run for run in given if run.agent == "Random"][:1]))
    assert shared["rewards"] == {"Random"}
    assert "rewards-1" not in shared


def test_sweeps_over_many_worlds_have_one_chart_of_all():
    agent, many = ao.agents.Random(20), comparison_charts.MOST_WORLDS + 1
    given = [ao.run(agent, ao.worlds.gridworld(size=3 + i), ao.streams.uniform(), 3) for i in range(many)]
    found = drawn_agents(make_page(given))
    assert len(found["rewards"]) == many
    assert not [name for name in found if name.startswith("rewards-")]


def test_maps_of_several_worlds():
    agent = ao.agents.AOMultiRL(**told(samples=5, clustering_horizon=300))
    histories = [
        ao.run(agent, ao.worlds.gridworld(edges=edges), ao.streams.uniform(), 4) for edges in ("stay", "third")
    ]
    found = content(make_page(histories))["maps"]
    assert len(found["worlds"]) == 2
    assert found["worlds"][0]["gaps"] != found["worlds"][1]["gaps"]
    assert [view["world"] for view in found["views"].values()] == [0, 1]


def test_runs_of_different_lengths():
    models, agent = proven_worlds(), proven_agent()
    long, short = (ao.run(agent, models, ao.streams.paper(), episodes, episodes) for episodes in (12, 7))
    alone = ao.run(ao.agents.Random(100), models, ao.streams.paper(), 9)
    page = make_page([Run("two", 0, long), Run("two", 1, short), Run("one", 0, alone)])
    text = html.unescape(without_scripts(page))
    rewards, regret = chart_of(page, "rewards"), chart_of(page, "regret-total")
    mean = rewards["views"]["mean|all"]["data"][2]["y"]
    assert None not in mean[:7]
    assert mean[7:] == [None] * 5
    assert chart_of(page, "metric")["views"]["mean|0"]["data"][2]["y"] == pytest.approx(long.aper(), rel=1e-4)
    words = rewards["views"]["mean|all"]["words"]
    assert re.search(
        r"\(mean over 1 to 2 runs, .*\): two .* after 7 episodes; one .* after 9 episodes\. A mean ends", words
    )
    assert "interval" not in rewards["views"]["mean|0"]["words"]
    total = np.mean([long.regret()[6], short.regret()[6]])
    assert regret["views"]["all"]["data"][2]["y"][6] == pytest.approx(total, rel=1e-4)
    glance = re.search(r'<section id="glance".*?</section>', text, re.S)[0]
    assert "<td>7 to 12</td>" in glance
    assert f"<td>{total:,.0f} <span" in glance  # of worlds made by hand nobody knows whether they end episodes
    ratios = [history.about["bound"]["total"][-1] / history.regret()[-1] for history in (long, short)]
    assert f"{phrases.number(min(ratios))} to {phrases.number(max(ratios))} times what was measured in a run" in text
    bounds = [view["data"][-1]["y"] for key, view in regret["views"].items() if key != "all"]
    assert [line[-1] for line in bounds] == pytest.approx(
        [h.about["bound"]["total"][-1] for h in (long, short)], rel=1e-4
    )
    code = code_of(page)
    assert "for seed in [12]:" in code
    assert re.findall(r"episodes=(\d+)", code) == ["12", "7", "9"]


def test_intervals_are_mentioned_where_they_are_shown(runs):
    once = make_page([run for run in runs if run.run == 0])
    assert "interval" not in html.unescape(without_scripts(once)).split("</style>")[1]
    several = re.search(r'<section id="glance".*?</section>', make_page(runs), re.S)[0]
    mine = [run.history for run in runs if run.agent == "Random"]
    mean, low, high = (float(x) for x in intervals.over_runs([history.regret()[-1] / 3_000 for history in mine]))
    assert f'{mean:,.4g} <span class="interval">{low:,.4g} to {high:,.4g}</span>' in several
    assert "95 % bootstrap intervals" in several


def test_worlds_that_nobody_can_make_again():
    models = ao.ModelSet(list(ao.worlds.gridworld()))
    page = make_page(ao.run(ao.agents.Random(5), models, ao.streams.uniform(), 3))
    lines = code_of(page).splitlines()
    assert not any(line.startswith("models =") for line in lines)
    assert [line for line in lines if line.startswith("# models: ")]
    assert lines.index("# models: your worlds; nobody wrote down what made them") < lines.index("for seed in [0]:")


def test_totals_that_cannot_be_compared(runs, models):
    text = html.unescape(without_scripts(make_page(runs)))
    assert re.search(r"not equally long\. Steps of an episode, in the mean: Optimal 100; AOMultiRL [\d,]+; One", text)
    assert "a learner whose bonus stays above its cap acts at random" in text
    fair = [ao.run(agent, models, ao.streams.paper(), 5) for agent in (ao.agents.Random(50), ao.agents.Optimal(50))]
    page = make_page(fair)
    assert "not equally long" not in page
    assert "above its cap" not in page
    assert chart_of(page, "regret-total")
    assert chart_of(page, "regret-clustering") is chart_of(page, "regret-learning") is None
    assert "It splits" not in page


def test_few_episodes_have_whole_ticks(runs, unjudged):
    few, many = make_page([Run("mine", 0, unjudged)]), make_page(runs)
    for name in ("rewards", "timeline", "steps"):
        assert chart_of(few, name)["layout"]["xaxis"]["dtick"] == 1
        assert "dtick" not in chart_of(many, name)["layout"]["xaxis"]


def test_what_is_said_of_worlds_that_nobody_knows(runs, unjudged):
    assert "Colour and shape are the true world." in make_page(runs)
    page = make_page([Run("mine", 0, unjudged)])
    assert "the true world." not in page
    assert "Nobody knows the true worlds." in page
    assert "the true world, where it is known." in make_page([Run("mine", 0, unjudged), runs[3]])


def test_the_page_says_what_made_it(runs):
    page = make_page(runs[:1])
    assert f'<meta name="generator" content="aomultirl {ao.__version__}">' in page[:2_000]

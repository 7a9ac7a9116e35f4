"""The report page: its parts by themselves, and the whole of it in a browser."""

import base64
import html
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import aomultirl as ao
from aomultirl.experiments.history import History
from aomultirl.reports import intervals
from aomultirl.reports.page import Run, charts, data, details, evidence, make_page, phrases, write_page
from aomultirl.worlds.environment import WorldEnv

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-port=0",
    "--hide-scrollbars",
)


class Browser:
    """Headless Chromium, by the DevTools protocol."""

    def __init__(self):
        import websocket

        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [CHROMIUM, *FLAGS, f"--user-data-dir={self.folder}", "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.socket = None
        self.messages, self.events = 0, []
        try:
            port, path = self.wait(self.address, 30)
            self.socket = websocket.create_connection(f"ws://127.0.0.1:{port}{path}", timeout=60, suppress_origin=True)
            self.session = None
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Log", "Network"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def address(self):
        said = Path(self.folder, "DevToolsActivePort")
        lines = said.read_text().split() if said.exists() else []
        return lines if len(lines) == 2 else None

    def close(self):
        if self.socket is not None:
            self.session = None
            with suppress(Exception):
                self.call("Browser.close")
            self.socket.close()
        try:
            self.process.wait(timeout=20 if self.socket is not None else 0)
        except subprocess.TimeoutExpired:
            # Its helpers too; the group is ours, because the browser began a session.
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def wait(self, happened, seconds=10):
        end = time.monotonic() + seconds
        while not (found := happened()):
            if time.monotonic() > end:
                raise TimeoutError(f"{happened} did not happen within {seconds} s")
            time.sleep(0.02)
        return found

    def call(self, method, **params):
        self.messages += 1
        message = {"id": self.messages, "method": method, "params": params}
        self.socket.send(json.dumps(message if self.session is None else {**message, "sessionId": self.session}))
        while True:
            answer = json.loads(self.socket.recv())
            if answer.get("id") == self.messages:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{script}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def width(self, pixels, height=900):
        phone = pixels < 500
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=height, deviceScaleFactor=1, mobile=phone)

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=Path(path).as_uri())
        self.wait(lambda: self.run("document.documentElement?.dataset.ready === 'yes'"), 30)

    def errors(self):
        """What the console complained of, exceptions, and whatever was asked of a network."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if (
                event["method"] == "Runtime.exceptionThrown"
                or (event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"))
                or (event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"))
                or (
                    event["method"] == "Network.requestWillBeSent"
                    and not params["request"]["url"].startswith(("file:", "data:", "blob:", "about:"))
                )
            ):
                found.append(event)
        return found

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, key, code, text=""):
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))


def told(**more):
    return {
        "models": 4,
        "separation": 1.3 - 1e-6,
        "hitting_time": 7,
        "failure": 0.03,
        "constants": "released",
        "learning_horizon": 100,
        **more,
    }


@pytest.fixture(scope="module")
def models():
    return ao.worlds.gridworld(edges="stay")


@pytest.fixture(scope="module")
def runs(models):
    agents = {
        "Optimal": (ao.agents.Optimal(100), ao.streams.paper()),
        "AOMultiRL": (ao.agents.AOMultiRL(**told(distinguishing_set=[(1, 0), (8, 3), (2, 1)])), ao.streams.paper()),
        "One episode": (ao.agents.OneEpisodeUCBVI(0.03, 100), ao.streams.paper()),
        "Random": (ao.agents.Random(100), ao.streams.uniform()),
    }
    return [
        Run(name, run, ao.run(agent, models, stream, episodes=30, seed=run))
        for name, (agent, stream) in agents.items()
        for run in range(3)
    ]


@pytest.fixture(scope="module")
def unjudged(models):
    agent = ao.agents.AOMultiRL(**told(samples=5, clustering_horizon=300, rewards="unknown"))
    return ao.interact(agent, lambda k: WorldEnv(models[k % 2]), 6)


@pytest.fixture(scope="module")
def sure(models):
    gamma = [(1, 0), (8, 3), (2, 1)]
    agents = {
        "Sequential": ao.agents.SequentialAOMultiRL(0.03, 2_000, 1.3 - 1e-6, gamma),
        "Recall": ao.agents.Recall(0.03, 500),
    }
    return {name: ao.run(agent, models, ao.streams.round_robin(), 12) for name, agent in agents.items()}


def content(page):
    return json.loads(re.search(r'id="page-data">(.*?)</script>', page, re.S)[1])


def without_scripts(page):
    return re.sub(r"<script.*?</script>", "", page, flags=re.S)


class Outline(HTMLParser):
    """The elements of a page: (tag, attributes)."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def all(self, tag):
        return [attrs for name, attrs in self.found if name == tag]


def figures(page):
    """Every view of every chart, as page.js puts it together."""
    for chart in content(page)["charts"]:
        for key, view in chart["views"].items():
            count = max(len(chart["traces"]), len(view["data"]))
            pairs = [(chart["traces"][i : i + 1] or [{}], view["data"][i : i + 1] or [{}]) for i in range(count)]
            yield chart, key, {"data": [{**base, **own} for [base], [own] in pairs], "layout": chart["layout"]}


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
    chart = content(make_page(runs))["charts"][0]
    labels = [trace.get("name") for trace in chart["traces"]]
    place = labels.index("AOMultiRL")
    mine = [run.history for run in runs if run.agent == "AOMultiRL"]
    low, high, mean = (chart["views"]["mean|all"]["data"][i]["y"] for i in (place - 2, place - 1, place))
    assert mean == pytest.approx(np.mean([history.aper() for history in mine], axis=0), rel=1e-4)
    assert all(a - 1e-3 <= b <= c + 1e-3 for a, b, c in zip(low, mean, high, strict=True))
    assert chart["views"]["mean|2"]["data"][place]["y"] == pytest.approx(mine[2].aper(), rel=1e-4)
    assert chart["traces"][place]["x"] == list(range(1, 31))
    assert f"AOMultiRL {mean[-1]:.4g}" in chart["views"]["mean|all"]["words"]


def test_regret_is_split(runs):
    drawn = {chart["id"]: chart for chart in content(make_page(runs))["charts"]}
    history = next(run.history for run in runs if run.agent == "AOMultiRL")
    place = [trace.get("name") for trace in drawn["regret-total"]["traces"]].index("AOMultiRL")
    total, clustering, learning = (
        np.array(drawn[f"regret-{part}"]["views"]["0"]["data"][place]["y"]) for part in charts.PARTS
    )
    assert total == pytest.approx(history.regret(), rel=1e-4)
    assert total == pytest.approx(clustering + learning, rel=1e-3)
    bound = [trace for trace in drawn["regret-total"]["traces"] if trace["meta"].get("bound")]
    assert [trace["name"] for trace in bound] == ["AOMultiRL: the theorem's bound"]
    line = drawn["regret-total"]["views"]["0"]["data"][drawn["regret-total"]["traces"].index(bound[0])]
    assert line["y"][-1] == pytest.approx(history.about["bound"]["total"][-1], rel=1e-4)


def test_running_means_skip_what_was_not_evaluated():
    values = np.array([np.nan, 1.0, 3.0, np.nan, 5.0])
    assert data.running_mean(values) == pytest.approx([np.nan, 1.0, 2.0, np.nan, 3.0], nan_ok=True)
    assert data.running_mean(values, 2) == pytest.approx([np.nan, 1.0, 2.0, np.nan, 5.0], nan_ok=True)
    rng = np.random.default_rng(0)
    values = np.where(rng.random(50) < 0.3, np.nan, rng.random(50))
    for recent in (None, 7):
        found = data.running_mean(values, recent)
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
    curve = found["charts"][0]["views"]["mean|all"]["data"][2]["y"]
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
    for absent in ("regret", "errors", "policies", "worlds"):
        assert f'<section id="{absent}"' not in page
    for present in ("glance", "rewards", "timeline", "steps", "distances", "again"):
        assert f'<section id="{present}"' in page
    assert "reward that was earned" in page
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
    monkeypatch.setattr(data, "MOST_HISTORIES", 12)
    base = runs[3].history
    columns = {name: np.resize(column, 3_000) for name, column in base.columns.items()}
    columns["episode"] = np.arange(3_000)
    columns["misclustered"] = np.zeros(3_000, np.bool_)
    columns["misclustered"][777] = True
    many = [Run(f"agent {i}", run, History(columns, base.about)) for i in range(6) for run in range(5)]
    page = make_page(many)
    found = content(page)
    assert found["agents"][0]["runs"] == ["0", "1"]
    assert "3 more runs are in the averages" in page
    assert all(len(trace["x"]) <= data.MOST_POINTS for trace in found["charts"][0]["traces"])
    timeline = next(chart for chart in found["charts"] if chart["id"] == "timeline")["views"]["0|0"]
    assert sum(len(trace["x"]) for trace in timeline["data"]) < 4 * details.MOST_EPISODES
    assert next(trace for trace in timeline["data"] if trace["name"] == "misclustered")["x"] == [778]
    assert "of them are drawn" in timeline["words"]
    assert len(json.dumps(found, separators=(",", ":"))) < 12 * 100_000


def test_stretches_that_all_runs_share(runs):
    tasks = np.repeat([0, 1, 0, 1, 3, 2], [1, 1, 1, 1, 12, 14])
    other = np.where(tasks == 2, 1, tasks)
    histories = [
        History({**runs[0].history.columns, "task": column}, runs[0].history.about) for column in (tasks, other)
    ]
    groups = data.group([Run("a", 0, histories[0]), Run("b", 0, histories[1])])
    assert data.shared_stretches(groups) == [(4, 16, 3)]


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
    exec(compile(code.replace("&#x27;", "'").replace("&quot;", '"'), "page", "exec"), names)
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


def code_of(page):
    return html.unescape(re.findall(r"<pre><code>(.*?)</code></pre>", page, re.S)[-1])


def chart_of(page, name):
    return next((chart for chart in content(page)["charts"] if chart["id"] == name), None)


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


def test_maps_of_several_worlds():
    agent = ao.agents.AOMultiRL(**told(samples=5, clustering_horizon=300))
    histories = [
        ao.run(agent, ao.worlds.gridworld(edges=edges), ao.streams.uniform(), 4) for edges in ("stay", "third")
    ]
    found = content(make_page(histories))["maps"]
    assert len(found["worlds"]) == 2
    assert found["worlds"][0]["gaps"] != found["worlds"][1]["gaps"]
    assert [view["world"] for view in found["views"].values()] == [0, 1]


def test_runs_of_different_lengths(models):
    agent = ao.agents.AOMultiRL(**told(distinguishing_set=[(1, 0), (8, 3), (2, 1)]))
    long, short = (ao.run(agent, models, ao.streams.paper(), episodes, episodes) for episodes in (12, 7))
    alone = ao.run(ao.agents.Random(100), models, ao.streams.paper(), 9)
    page = make_page([Run("two", 0, long), Run("two", 1, short), Run("one", 0, alone)])
    text = html.unescape(without_scripts(page))
    rewards, regret = chart_of(page, "rewards"), chart_of(page, "regret-total")
    mean = rewards["views"]["mean|all"]["data"][2]["y"]
    assert None not in mean[:7]
    assert mean[7:] == [None] * 5
    assert rewards["views"]["mean|0"]["data"][2]["y"] == pytest.approx(long.aper(), rel=1e-4)
    words = rewards["views"]["mean|all"]["words"]
    assert re.search(
        r"\(mean over 1 to 2 runs, .*\): two .* after 7 episodes; one .* after 9 episodes\. A mean ends", words
    )
    assert "interval" not in rewards["views"]["mean|0"]["words"]
    total = np.mean([long.regret()[6], short.regret()[6]])
    assert regret["views"]["all"]["data"][2]["y"][6] == pytest.approx(total, rel=1e-4)
    glance = re.search(r'<section id="glance".*?</section>', text, re.S)[0]
    assert "<td>7 to 12</td>" in glance
    assert f"<td>{total:,.0f} <span" in glance
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
    mean, low, high = (float(x) for x in intervals.over_runs([history.regret()[-1] for history in mine]))
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
    for name in ("rewards", "timeline", "steps"):
        assert chart_of(make_page([Run("mine", 0, unjudged)]), name)["layout"]["xaxis"]["dtick"] == 1
        assert "dtick" not in chart_of(make_page(runs), name)["layout"]["xaxis"]


def test_what_is_said_of_worlds_that_nobody_knows(runs, unjudged):
    assert "Colour and shape are the true world." in make_page(runs)
    page = make_page([Run("mine", 0, unjudged)])
    assert "the true world." not in page
    assert "Nobody knows the true worlds." in page
    assert "the true world, where it is known." in make_page([Run("mine", 0, unjudged), runs[3]])


def test_the_page_says_what_made_it(runs):
    page = make_page(runs[:1])
    assert f'<meta name="generator" content="aomultirl {ao.__version__}">' in page[:2_000]


def test_evidence_in_an_episode(sure, runs):
    from plotly.graph_objects import Figure

    page = make_page([Run(name, 0, history) for name, history in sure.items()] + runs[:1])
    assert '<section id="evidence"' in page
    chart = chart_of(page, "evidence")
    kept = [history.about["findings"]["evidence"]["episodes"] for history in sure.values()]
    assert [len(chart["choices"][f"{i}|0"]) for i in range(3)] == [len(kept[0]), len(kept[1]), 0]
    assert "no evidence" in chart["views"]["2|0|0"]["words"]
    assert chart["layout"]["xaxis"]["type"] == "log"
    for one, key, figure in figures(page):
        if one["id"] == "evidence":
            Figure(figure)
            assert len(chart["views"][key]["words"]) > 40
    trace, history = kept[0][-1], sure["Sequential"]
    assert trace["verdict"] == "accepted"
    view = chart["views"][f"0|0|{len(kept[0]) - 1}"]
    *lines, limit = view["data"]
    assert len(lines) == len(trace["against"][-1]) == 4
    for number, line in enumerate(lines):
        assert line["x"] == trace["steps"]
        assert line["y"] == pytest.approx([row[number] for row in trace["against"]], rel=1e-4)
        assert line["name"].startswith(f"c{number + 1} (m")
    value = history.about["findings"]["evidence"]["limit"]
    assert limit["y"] == pytest.approx([value] * 2, rel=1e-4)
    assert limit["line"]["dash"] == "dash"
    name = f"accepted as c{trace['cluster'] + 1} after {trace['steps'][-1]:,} steps, which is right"
    assert f"episode {trace['episode'] + 1} in m{history['task'][trace['episode']] + 1}: {name}" in view["words"]
    assert f"limit of {phrases.number(value)}" in view["words"]
    assert "No cluster was known yet" in chart["views"]["0|0|0"]["words"]
    assert chart["views"]["0|0|0"]["data"] == []
    trace, view = kept[1][-1], chart["views"][f"1|0|{len(kept[1]) - 1}"]
    assert [line["y"] for line in view["data"]] == [
        pytest.approx(column, abs=1e-5) for column in np.transpose(trace["belief"]).tolist()
    ]
    assert view["data"][-1]["name"] == "a new world"
    assert f"a new world {100 * trace['belief'][-1][-1]:.1f} %" in view["words"]
    assert "found: evidence" not in page
    assert "found: abstentions" in page


def test_no_evidence_no_section(runs):
    page = make_page(runs)
    assert '<section id="evidence"' not in page
    assert 'data-control="kept"' not in without_scripts(page)


def test_many_clusters_are_not_all_drawn(sure):
    history = sure["Sequential"]
    trace = {"episode": 3, "verdict": "abstained", "cluster": -1, "steps": [25, 50], "certified": [0, 1]}
    trace["against"] = [list(range(30)), list(range(30))]
    about = {**history.about, "findings": {"evidence": {"limit": 20.0, "episodes": [trace]}}}
    chart = chart_of(make_page([Run("many", 0, History(history.columns, about))]), "evidence")
    view = chart["views"]["0|0|0"]
    assert len(view["data"]) == evidence.MOST_LINES + 1
    assert "(and 20 more); 10 of 30 clusters at or above the limit of 20; 1 pair certified" in view["words"]
    assert chart["choices"]["0|0"] == ["4: abstained"]


def test_certified_and_abstained_episodes_are_marked_and_counted(sure):
    page = make_page([Run(name, 0, history) for name, history in sure.items()])
    glance = re.search(r'<section id="glance".*?</section>', page, re.S)[0]
    head = re.findall(r'<th scope="col">(.*?)</th>', glance)
    for number, (row, history) in enumerate(zip(glance.split("<tr>")[2:], sure.values(), strict=True)):
        cells = re.findall(r"<td>(.*?)</td>", row)
        assert cells[head.index("abstained") - 1] == f"{history['abstained'].sum()}"
        view = chart_of(page, "timeline")["views"][f"{number}|0"]
        marks = {trace["name"]: trace["x"] for trace in view["data"]}
        for name in ("certified", "abstained"):
            assert marks.get(name, []) == (np.flatnonzero(history[name]) + 1).tolist()
            assert f"{history[name].sum()} {name}" in view["words"]
    assert sure["Sequential"]["certified"].any()
    assert sure["Recall"]["abstained"].any()


def test_steps_beside_the_least_that_anyone_needs(sure, models, monkeypatch):
    history = sure["Sequential"]
    here = history["certified"]
    bound = ao.theory.identification_lower_bound(
        models, failure=0.03, episodes=12, separation=1.3 - 1e-6, distinguishing_set=[(1, 0), (8, 3), (2, 1)]
    )[history["task"][here]].mean()
    ratio = history["identification_steps"][here].mean() / bound
    groups = data.group([Run("mine", 0, history), Run("other", 0, sure["Recall"])])
    said = evidence.steps_sentence(groups, [models, models])
    assert f"({here.sum()} episodes). Whoever is told only that worlds differ by 1.3, at one of 3 pairs, needs" in said
    assert said.endswith(f"so this is {ratio:.1f} times the bound.")
    assert said in make_page(history).replace("SequentialAOMultiRL took", "mine took")

    def changed(**given):
        about = {**history.about, "parameters": {**history.about["parameters"], **given}}
        return evidence.steps_sentence(data.group([Run("mine", 0, History(history.columns, about))]), [models])

    assert "told all the worlds" in changed(models="ModelSet(4 worlds)")
    assert "told all the worlds" in changed(separation="None")
    assert changed(separation="np.float64(1.3)") == changed(failure="?") == ""
    assert evidence.steps_sentence(groups, [None, None]) == ""
    monkeypatch.setattr(evidence, "MOST_WORK", 63)
    assert evidence.steps_sentence(groups, [models, models]) == ""


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed (Debian package chromium)")
    pytest.importorskip("websocket", reason="websocket-client is not installed")
    found = Browser()
    yield found
    found.close()


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
    choose("bound", "true")
    assert visible(browser, "regret-total", "AOMultiRL: the theorem\\'s bound") is True
    assert browser.run("document.getElementById('chart-regret-total').layout.yaxis.type") == "log"
    choose("measure", "recent")
    assert "last 20 episodes" in browser.run(words.format("rewards"))
    assert browser.errors() == []


def test_the_evidence_of_an_episode_can_be_chosen(browser, sure, tmp_path):
    path = tmp_path / "sure.html"
    write_page(path, [Run(name, 0, history) for name, history in sure.items()])
    control = "document.querySelector('[data-control=\"{}\"]')"
    words = "document.getElementById('words-evidence').textContent"

    def choose(name, value):
        one = control.format(name)
        browser.run(f"{one}.value = '{value}'; {one}.dispatchEvent(new Event('change', {{bubbles: true}}))")

    for width in (1200, 360):
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


def test_long_and_odd_labels(browser, runs, tmp_path):
    path = tmp_path / "long.html"
    odd = "an agent of 100 %{y} " + "with a name that does not end " * 5
    write_page(path, [Run(odd, 0, runs[3].history), Run("TheOther" * 4, 0, runs[6].history)])
    browser.width(1200)
    browser.open(path)
    legend = browser.run("document.querySelector('#chart-rewards .legend').textContent")
    assert "100 %{y} with" in legend
    for width in (360, 1200):
        browser.width(width, 780)
        browser.open(path)
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
    assert min(times) < 2_000

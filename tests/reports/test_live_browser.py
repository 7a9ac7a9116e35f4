"""The live page in a browser, which watches a run from its first episode to its last."""

import threading

import pytest

from aomultirl.analysis.live.playing import Pace, Playing
from aomultirl.analysis.live.story import Story
from aomultirl.reports import live_server
from folders import UNIFORM, cells, part

EVIL = "<b>Recall</b><img src=x onerror=alert(1)>"
EPISODES = 8


class Gate:
    """Lets a run go on episode by episode, or step by step, as the test says."""

    def __init__(self):
        self.allowed = threading.Semaphore(0)

    def sleep(self, seconds):
        self.allowed.acquire()

    def open(self, rests):
        for _ in range(rests):
            self.allowed.release()


@pytest.fixture
def live():
    """A run in a thread that waits at every rest, and its server."""
    grid, told = part("gridworld", edges="stay"), part("Recall", failure=0.03, horizon=120)
    (cell,) = cells({EVIL: told}, worlds=(grid,), streams=(UNIFORM,), episodes=(EPISODES,), runs=1)
    story, gate = Story("live"), Gate()
    playing = Playing(cell, story, "small.toml")
    thread = threading.Thread(target=playing.play, args=(Pace(1e-3, gate.sleep),), daemon=True)
    with live_server.serving(story) as server:
        thread.start()
        yield server, story, gate
        gate.open(100_000)
        thread.join()


def text(browser, name):
    return browser.run(f"document.getElementById('{name}').textContent")


def clipped(browser):
    """What reaches beyond the screen."""
    return browser.run(
        """[...document.querySelectorAll("body *")].filter((one) => {
          const place = one.getBoundingClientRect();
          return place.width > 0 && !one.closest(".skip") && (place.right > innerWidth + 1 || place.left < -1);
        }).map((one) => one.outerHTML.slice(0, 80))"""
    )


def test_it_is_watched_from_the_first_episode_to_the_last(browser, live):
    server, story, gate = live
    browser.width(1300, 2000)
    gate.open(3)
    browser.visit(server.address)
    browser.wait(lambda: "episode 1 of 8, step" in text(browser, "where"))
    assert text(browser, "state") == "live"
    assert text(browser, "title") == f"{EVIL} in gridworld"  # as text
    assert browser.run("document.querySelectorAll('b, img').length") == 0
    assert (
        text(browser, "subtitle")
        == "edges=stay · run 0 · 8 episodes of 120 steps · stream uniform · played from small.toml"
    )
    nothing = "? Nothing is in memory yet, so there is nothing to recognise."
    browser.wait(lambda: text(browser, "verdict") == nothing)
    assert browser.run("[...document.querySelectorAll('.bar .name')].map((one) => one.textContent)") == ["a new world"]

    def met():
        gate.open(10)
        return len(story.outcomes)

    browser.wait(lambda: met() >= 3, 60)
    browser.wait(lambda: browser.run("document.querySelectorAll('#ribbon [data-episode]').length") >= 3)
    assert browser.run("document.querySelectorAll('.bar').length") >= 2
    browser.wait(lambda: met() == EPISODES, 60)
    browser.wait(lambda: text(browser, "state") == "done")
    last = story.outcomes[-1]
    browser.wait(lambda: text(browser, "where") == "episode 8 of 8, step 120 of 120")
    assert f"This episode is m{last.task + 1}, which the agent is not told." == text(browser, "truth")
    assert f"w{last.name + 1}" in text(browser, "verdict")
    names = story.as_json()["memory"]
    heads = browser.run("[...document.querySelectorAll('.world-card h3')].map((one) => one.textContent.split(' ')[0])")
    assert heads == [f"w{name + 1}" for name in names]
    ours, alone = story.as_json()["common"]["totals"]
    assert f"the same learner without memory {alone:,.0f}" in text(browser, "totals")
    assert f"{abs(100 * (ours / alone - 1)):.0f} % {'more' if ours >= alone else 'less'}" in text(browser, "totals")
    assert browser.run("document.querySelectorAll('#reward path').length") == 3
    sure = [outcome for outcome in story.outcomes if outcome.recognised is not None]
    assert sure, "no world was recognised, so nothing was shown of it"
    assert browser.run("document.querySelectorAll('#moments circle').length") == len(sure)

    cell = f"""document.querySelector('#ribbon [data-episode="{sure[0].episode}"]')"""
    browser.run(f"{cell}.dispatchEvent(new Event('click', {{bubbles: true}}))")
    browser.wait(lambda: text(browser, "where").startswith(f"episode {sure[0].episode + 1} of 8"))
    browser.wait(lambda: f"recognised after {sure[0].recognised} step" in text(browser, "verdict"))
    assert browser.run("document.querySelectorAll('#trail path').length") >= 1
    browser.run("document.getElementById('follow').click()")
    browser.wait(lambda: text(browser, "where").startswith("episode 8 of 8"))
    for width in (1300, 390):
        browser.width(width)
        browser.wait(lambda width=width: browser.run("innerWidth") == width)
        browser.wait(lambda width=width: browser.run("document.documentElement.scrollWidth") <= width)
        assert clipped(browser) == []
    assert browser.errors(server.address) == []


def test_the_page_says_when_the_command_has_ended(browser):
    story = Story("short")
    with live_server.serving(story) as server:
        browser.width(390)
        browser.visit(server.address)
        browser.wait(lambda: text(browser, "state") == "preparing")
    browser.wait(lambda: text(browser, "state") == "ended", 20)
    assert text(browser, "notice").startswith("The command has ended, or cannot be reached")

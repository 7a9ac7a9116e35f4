"""Cells and pages for the tests of what is shown live."""

import json
import urllib.error
import urllib.request

from folders import UNIFORM, cells, part

SMALL = part("gridworld", size=3, edges="stay")
RECALL = part("Recall", failure=0.1, horizon=40)
ALONE = part("OneEpisodeLearner", horizon=40)


def small_cells(*, episodes=6, runs=1, **options):
    """Recall, the same learner without memory and an agent that acts at random, in a small grid."""
    agents = {"Recall": RECALL, "alone": ALONE, "at random": part("Random", horizon=40)}
    return cells(agents, worlds=(SMALL,), streams=(UNIFORM,), episodes=(episodes,), runs=runs, **options)


def asked(address, **headers):
    """The status of an answer, its headers and its content."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def told(address, **question):
    """What the server of a page tells it."""
    query = "&".join(f"{name}={value}" for name, value in question.items())
    return json.loads(asked(f"{address}state?{query}")[2])

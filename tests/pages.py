"""What tests put on a report page, and read off it."""

import html
import json
import re
from html.parser import HTMLParser


def told(**more):
    """What an AOMultiRL of the grid is told."""
    return {
        "models": 4,
        "separation": 1.3 - 1e-6,
        "hitting_time": 7,
        "failure": 0.03,
        "constants": "released",
        "learning_horizon": 100,
        **more,
    }


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
            axes = {name: view[name] for name in ("xaxis", "yaxis") if name in view}
            layout = {**chart["layout"], **axes}
            yield chart, key, {"data": [{**base, **own} for [base], [own] in pairs], "layout": layout}


def code_of(page):
    return html.unescape(re.findall(r"<pre><code>(.*?)</code></pre>", page, re.S)[-1])


def chart_of(page, name):
    return next((chart for chart in content(page)["charts"] if chart["id"] == name), None)

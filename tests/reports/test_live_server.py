"""The server of the live page: for this machine, for who has the token, and for questions alone."""

import json
import re
import socket

import pytest

from aomultirl.analysis.live.records import Facts, Player
from aomultirl.analysis.live.story import Story
from aomultirl.reports import live_server, looks
from aomultirl.reports.page import rendering
from living import asked, told


@pytest.fixture(scope="module")
def server():
    story = Story("a story")
    facts = Facts("Recall", "gridworld", "size=3", "uniform", 0, 10, 20, "small.toml", is_told=False, plays=True)
    story.introduce(facts, [Player("Recall")], has_best=False)
    story.begin(0, 1)
    story.look(0, {-1: 1.0}, {-1})
    with live_server.serving(story) as found:
        yield found


def test_it_answers_who_has_the_token(server):
    status, headers, page = asked(server.address)
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "<title>a story</title>" in page
    assert headers["Cache-Control"] == "no-store"
    assert "connect-src 'self'" in headers["Content-Security-Policy"]
    assert told(server.address)["facts"]["agent"] == "Recall"
    assert json.loads(asked(f"{server.address}episode?number=0")[2])["looks"] == [[0, {"-1": 1.0}]]
    assert json.loads(asked(f"{server.address}episode?number=5")[2]) is None
    assert "facts" not in told(server.address, version=told(server.address)["version"], rows=0)


def test_nobody_else_is_answered(server):
    port = server.server_port
    for address in (
        f"http://127.0.0.1:{port}/",
        f"http://127.0.0.1:{port}/state",
        f"http://127.0.0.1:{port}/{server.token[:-1]}/",
        f"http://127.0.0.1:{port}/{server.token}x/state",
    ):
        status, _, words = asked(address)
        assert (status, words) == (403, "The token is missing: open the address that was printed.\n")
    assert asked(server.address, Host=f"evil.example:{port}")[0] == 403
    assert asked(f"http://localhost:{port}/{server.token}/")[0] == 200
    assert asked(f"{server.address}nothing")[0] == 404
    assert asked(f"{server.address}state?rows=many")[0] == 400
    assert server.server_address[0] == "127.0.0.1"
    assert len(server.token) >= 24


def test_it_does_nothing_but_answer(server):
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        connection.sendall(f"POST /{server.token}/ HTTP/1.1\r\nHost: 127.0.0.1:{server.server_port}\r\n\r\n".encode())
        assert connection.recv(100).startswith(b"HTTP/1.0 501")


def test_two_servers_have_two_tokens_and_a_port_has_one(server):
    with live_server.serving(Story("another")) as other:
        assert other.token != server.token
    with pytest.raises(
        ValueError, match=f"^port is {server.server_port}, which nobody can listen to here: address alr"
    ):
        live_server.LiveServer(Story("another"), server.server_port)
    with pytest.raises(ValueError, match=r"^port must be between 0 and 65535, not 70000$"):
        live_server.LiveServer(Story("another"), 70_000)


def test_the_page_needs_nothing_from_elsewhere_and_shows_titles_as_text():
    page = rendering.render("live.html", title="<b>a</b>", subtitle=[], headings={}, present={}, data={"charts": []})
    assert "&lt;b&gt;a&lt;/b&gt;" in page
    assert "<b>" not in page
    assert re.findall(r"(?:src|href)=\"(?!#|data:)", page) == []
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page) == []


def test_true_worlds_have_the_colours_that_they_have_on_other_pages():
    page = rendering.render("live.html", title="a", subtitle=[], headings={}, present={}, data={"charts": []})
    colours, count = re.findall(r"--m\d: (#\w+);", page), len(looks.WORLDS)
    assert colours[:count] == list(looks.WORLDS)
    assert len(set(colours)) == len(colours) == 2 * count  # and lighter ones in the dark

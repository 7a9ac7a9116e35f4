"""A small server for the page that shows a run while it goes on: for this machine alone, and for who has its address.

It listens to the loopback address and nothing else.  A random token is part of every address; requests without it are
refused, and so are those that come by another name than that of this machine, as a page of somebody else's could send
them.  Nothing can be changed through it: it answers three questions.

::

    /TOKEN/                        the page
    /TOKEN/state?version=&rows=    what has happened since
    /TOKEN/episode?number=         the beliefs in an episode that is over
"""

import hmac
import json
import secrets
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from aomultirl import checks
from aomultirl.analysis.live.story import Story
from aomultirl.reports.page.rendering import render

HOST = "127.0.0.1"
TOKEN_BYTES = 18
MOST_PORT = 65_535
IDLE = 30.0
"""Seconds after which a connection that asks nothing is closed; every question has a connection of its own."""
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class LiveServer(ThreadingHTTPServer):
    """Serves a story.

    Parameters
    ----------
    story
        what is shown.
    port
        to listen to; 0 for any that is free.

    Attributes
    ----------
    address
        of the page, with the token.
    """

    daemon_threads = True

    def __init__(self, story: Story, port: int = 0) -> None:
        self.story, self.token = story, secrets.token_urlsafe(TOKEN_BYTES)
        self.page = render("live.html", title=story.title, subtitle=[], headings={}, present={}, data={"charts": []})
        try:
            super().__init__((HOST, checks.integer("port", port, least=0, most=MOST_PORT)), _Handler)
        except OSError as error:
            words = (error.strerror or str(error)).lower()
            raise ValueError(f"port is {port}, which nobody can listen to here: {words}") from None

    @property
    def address(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.server_port}/{self.token}/"

    @property
    def names(self) -> set[str]:
        """What a browser on this machine calls this server."""
        return {f"{host}:{self.server_port}" for host in (HOST, "localhost")}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away is no event."""


@contextmanager
def serving(story: Story, port: int = 0) -> Iterator[LiveServer]:
    """A block in which the story is served, in threads that end with it."""
    with LiveServer(story, port) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: LiveServer
    server_version, sys_version = "aomultirl", ""
    timeout = IDLE

    def do_GET(self) -> None:
        """Answer one of the three questions, or say why not."""
        place = urlsplit(self.path)
        token, _, name = place.path.removeprefix("/").partition("/")
        if self.headers.get("Host") not in self.server.names:
            return self._refuse(HTTPStatus.FORBIDDEN, "This server answers to its own address alone.")
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            return self._refuse(HTTPStatus.FORBIDDEN, "The token is missing: open the address that was printed.")
        try:
            asked = {key: int(values[-1]) for key, values in parse_qs(place.query).items()}
        except ValueError:
            return self._refuse(HTTPStatus.BAD_REQUEST, "What is asked for must be whole numbers.")
        if name == "":
            return self._answer(self.server.page, "text/html")
        if name == "state":
            return self._tell(self.server.story.as_json(asked.get("version", -1), max(0, asked.get("rows", 0))))
        if name == "episode":
            return self._tell(self.server.story.trail(asked.get("number", -1)))
        return self._refuse(HTTPStatus.NOT_FOUND, "There is nothing here.")

    def _tell(self, told: Any) -> None:
        self._answer(json.dumps(told, allow_nan=False, separators=(",", ":")), "application/json")

    def _refuse(self, status: HTTPStatus, words: str) -> None:
        self._answer(words + "\n", "text/plain", status)

    def _answer(self, text: str, kind: str, status: HTTPStatus = HTTPStatus.OK) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {
            **HEADERS,
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": len(content),
        }.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Nobody reads a log of a server for one person."""

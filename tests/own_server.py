"""A local server of one's own with Jochi installed, for measurements: nothing of it is left behind."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from jochi import Jochi
from jochi.localserver import LocalServer
from jochi.policy import LoadedPolicy


@contextmanager
def own_server(
    name: str, *, settings: Mapping[str, str] | None = None, policy: LoadedPolicy | None = None
) -> Iterator[Jochi]:
    """Jochi on a fresh server, installed and not armed; ``settings`` go over those of the conf files."""
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

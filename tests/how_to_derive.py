"""The derivation that docs/how-to/write-a-derivation.md builds, from the files that stand on that page."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import jochi_workers.derive
from jochi.compile import rendering
from jochi.database.statements import procedures_folder

PAGE = Path(__file__).parents[1] / "docs/how-to/write-a-derivation.md"
_FILE = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def files() -> dict[str, str]:
    """What the page has one write, by its path."""
    return dict(_FILE.findall(PAGE.read_text(encoding="utf-8")))


@contextmanager
def written(folder: Path) -> Iterator[str]:
    """A checkout in which somebody did what the page says, for as long as it lasts; yields its policy's tables."""
    shutil.copytree(procedures_folder(), folder / "procedures")
    for path, text in files().items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "procedures_folder", lambda: folder / "procedures")
        patch.setattr(
            jochi_workers.derive,
            "__path__",
            [*jochi_workers.derive.__path__, str(folder / "workers/jochi_workers/derive")],
        )
        yield (folder / "policy.toml").read_text(encoding="utf-8")

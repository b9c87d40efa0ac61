"""What an extra brings is imported by who asks for it only, and said where it isn't there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jochi.extras import MissingExtra, extra_named, modules

PROGRAM = Path(__file__).parent.parent / "without_extras.py"


HEAVY = {
    *("langgraph", "langchain_core", "mcp", "starlette", "openai", "anthropic", "pydantic_ai", "httpx2", "onnxruntime"),
    *("spacy", "thinc", "yake", "dateparser", "presidio_analyzer", "tldextract"),
}


def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    """Not by the client, the command line, a store, nor by what workers derive, embed and read by."""
    program = (
        "import sys, jochi.cli.app, jochi.client, jochi.store, jochi.mcp, jochi_workers.derive.compress.particulars, "
        "jochi_workers.embeddings, jochi_workers.language, jochi_workers.models; "
        "print(*sorted({*sys.argv[1:]} & {*sys.modules}))"
    )
    done = subprocess.run([sys.executable, "-c", program, *HEAVY], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"


def test_the_metadata_says_which_extra_brings_a_module() -> None:
    found = modules()
    assert {found[name] for name in ("neomodel", "yaml", "webvtt", "mcp")} == {("ogm",), ("ingest",), ("mcp",)}
    assert found["simplemma"] == ("workers", "language")
    assert not found.keys() & {"neo4j", "typer", "pydantic", "tomli", "pytest"}
    with (
        pytest.raises(
            MissingExtra, match=r"(?s)text_to_num.*\[workers\] or \[language\].*pip install 'jochi\[workers\]'"
        ),
        extra_named(),
    ):
        raise ModuleNotFoundError("no", name="text_to_num.parsers")
    with pytest.raises(ModuleNotFoundError, match=r"^no$"), extra_named():
        raise ModuleNotFoundError("no", name="somebody_elses")


EITHER = ["workers", "language"]
MISSING = {
    "demo": ["report"],
    "report": ["report"],
    "mcp": ["mcp"],
    **{f"server {verb}": ["server"] for verb in ("start", "stop", "status", "logs", "reset")},
}
API = {"jochi_models": ["ogm"], "jochi.store.langgraph": ["langgraph"], "jochi_workers.judge": EITHER}


def walk(folder: Path, *extra: str) -> dict[str, Any]:
    """What became of every command, by a server that nobody answers at: that is an error of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("JOCHI_")}
    environment |= {"JOCHI_HOME": str(folder / "home"), "JOCHI_CACHE": str(folder / "cache")}
    environment |= {"JOCHI_PASSWORD": "x", "COLUMNS": "120"}
    program = [sys.executable, str(PROGRAM), *extra]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environment, cwd=folder)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["odd"] == {}
    assert found["commands"] > 90
    return found


def test_every_command_without_extras_works_or_names_the_extra(tmp_path: Path) -> None:
    found = walk(tmp_path)
    assert (found["missing"], found["api"]) == (MISSING, API)


@pytest.mark.slow
@pytest.mark.parametrize("extra", sorted({extra for extras in modules().values() for extra in extras}))
def test_every_command_with_one_extra_works_or_names_the_others(extra: str, tmp_path: Path) -> None:
    found = walk(tmp_path, extra)
    assert found["api"] == {name: extras for name, extras in API.items() if extra not in extras}
    wanted = {name: extras for name, extras in MISSING.items() if extra not in extras}
    assert found["missing"] == wanted | ({"demo": ["server"]} if extra == "report" else {})


@pytest.mark.exhaustive
def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "jochi", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("jochi ")

"""What an extra brings is imported by who asks for it only, and said where it isn't there."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.errors import JochiError


def test_neither_the_client_nor_the_command_line_brings_an_agents_framework_along() -> None:
    program = (
        "import sys, jochi, jochi.cli.app, jochi.client, jochi.store, jochi.mcp; "
        "print(sorted({'langgraph', 'langchain_core', 'mcp', 'starlette'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_the_extra_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "jochi.mcp.server", raising=False)
    result = CliRunner().invoke(app, ["mcp"])
    assert isinstance(result.exception, JochiError)
    assert "jochi[mcp]" in str(result.exception)

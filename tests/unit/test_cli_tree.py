"""The tree of commands: its table is what the modules hold, and a list of commands imports none of them."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from jochi.cli.app import app
from jochi.cli.tree import COMMANDS, GROUPS, MOVED

HEAVY = {
    "dateparser",
    "jinja2",
    "langgraph",
    "markdown_it",
    "mcp",
    "phonenumbers",
    "pydantic_ai",
    "requests",
    "spacy",
    "tiktoken",
    "yaml",
}
"""What no command needs that only lists or looks."""
BY_TYPER = {"markdown_it", "pydantic"}
"""It brings them to every help text and every command."""
ALL = HEAVY - BY_TYPER | {"neo4j", "numpy", "re2", "jochi.client", "jochi.database", "jochi.policy"}


def modules_after(*arguments: str) -> set[str]:
    """What is imported when the command has ended, with whatever exit code."""
    code = (
        "import sys; from jochi.cli import main; sys.argv = ['jochi', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "sys.stderr.write('\\nMODULES ' + ' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.rpartition("MODULES ")[2].split())


@pytest.mark.parametrize("words", [("--help",), ("memory", "--help"), ("--version",)])
def test_a_list_of_commands_imports_none(words: tuple[str, ...]) -> None:
    assert modules_after(*words) & ALL == set()


def test_status_imports_nothing_that_it_does_not_show() -> None:
    loaded = modules_after("--uri", "bolt://127.0.0.1:9", "status")
    assert "jochi.cli.status" in loaded
    assert loaded & HEAVY == set()
    assert loaded & {"jochi.client.client", "jochi.compile.rendering", "jochi.write", "jochi.mirror"} == set()


def loaded(group: Any) -> dict[str, Any]:
    return dict(group.commands.items())


def test_the_table_is_what_the_modules_hold() -> None:
    tree: Any = get_command(app)
    assert list(tree.commands) == [entry.name for entry in (*COMMANDS, *MOVED)]
    for entry in (*COMMANDS, *MOVED):
        command = tree.commands[entry.name]
        assert (command.name, command.short_help, command.hidden) == (entry.name, entry.summary, bool(entry.moved))
        assert command.help, entry.name
        assert len(entry.summary) <= 60, entry.name
    for name, (_, entries) in GROUPS.items():
        assert list(loaded(tree.commands[name])) == [entry.name for entry in entries]


def test_a_panel_has_eight_commands_at_most() -> None:
    panels = Counter(entry.panel for entry in COMMANDS)
    assert len(panels) == 10
    assert max(panels.values()) <= 8
    assert len({entry.name for entry in COMMANDS}) == len(COMMANDS)


def test_an_old_name_is_the_new_command_and_says_so() -> None:
    tree: Any = get_command(app)
    for entry in MOVED:
        assert entry.moved
        group, _, name = entry.moved.partition(" ")
        new = tree.commands[group].commands[name]
        assert [each.name for each in new.params] == [each.name for each in tree.commands[entry.name].params]
        assert new.callback is None or new.help == tree.commands[entry.name].help
        told = CliRunner().invoke(app, [entry.name, "--help"])
        assert told.exit_code == 0, told.output
        assert (
            told.stderr
            == f"`jochi {entry.name}` is now `jochi {entry.moved}`; the old name goes with the next version\n"
        )
    assert CliRunner().invoke(app, ["memory", "score", "--help"]).stderr == ""
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "topics" not in shown
    assert "memory" in shown


def options(command: Any, *path: str) -> Iterator[tuple[str, list[str]]]:
    """Every option of every command, with the words that call it."""
    if command.hidden:
        return
    for name, below in getattr(command, "commands", {}).items():
        yield from options(below, *path, name)
    for each in command.params:
        if each.opts[0].startswith("-"):
            yield " ".join(path), each.opts


def test_an_option_has_one_spelling_everywhere() -> None:
    short = {"--scope": "-s", "--kind": "-k", "--limit": "-n"}
    for command, spellings in options(get_command(app)):
        for long, letter in short.items():
            if long in spellings:
                assert spellings == [long, letter], command
        if "-n" in spellings and "--lines" not in spellings:
            assert spellings[0] == "--limit", command


def test_old_spellings_of_options_still_work_and_say_so() -> None:
    told = CliRunner().invoke(app, ["recall", "tea", "--k=0", "--kinds", "Belief", "--uri"])
    assert "`--k` is now `--limit`" in told.stderr
    assert "`--kinds` is now `--kind`" in told.stderr
    assert "No such option: --uri" in told.stderr

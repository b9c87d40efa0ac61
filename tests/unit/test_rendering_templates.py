"""Templates in, Cypher out: broken templates are named, the text is tidy, its hash is stable (DESIGN §6)."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jochi.compile.quoting import identifier, literal
from jochi.errors import JochiError, UsageError
from jochi.facts import ServerFacts
from jochi.policy import load_policy
from jochi.rendering import render_all, render_one
from jochi.resources import procedures_folder

POLICY = load_policy().policy
SERVER = ServerFacts("5.26.30", "community", "5.26.30", frozenset(), "CYPHER_5", 5.0, False, True)


OF_RUNS = {
    "batches",
    "selected",
    "changed",
    "failed_batches",
    "skipped",
    "error",
    "status",
    "now",
    "mode",
    "policy",
    "batch",
}
"""What the scheduler itself counts and writes on a run."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(procedures_folder(), tmp_path / "procedures")
    return tmp_path / "procedures"


def write(folder: Path, text: str) -> None:
    (folder / "curate/broken.cypher.j2").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("// Kind: call\nRETURN {{ policy.no_such_part }}\n", "no_such_part"),
        ("// Kind: call\nRETURN {{ nothing }}\n", "nothing"),
        ("// Kind: call\nRETURN {{ 'a b' | identifier }}\n", "a b"),
        ("// no kind\nRETURN 1\n", "Kind"),
    ],
)
def test_what_a_template_lacks_is_named_with_its_file(folder: Path, text: str, says: str) -> None:
    write(folder, text)
    with pytest.raises(JochiError, match=says) as error:
        render_one("curate/broken", POLICY, SERVER, folder)
    assert "curate/broken.cypher.j2" in str(error.value)


def test_a_syntax_error_is_named_with_its_line(folder: Path) -> None:
    write(folder, "// Kind: call\n\n{% if %}\n")
    with pytest.raises(JochiError, match=r"broken\.cypher\.j2:3"):
        render_one("curate/broken", POLICY, SERVER, folder)


def test_an_undefined_value_is_named_with_its_line(folder: Path) -> None:
    write(folder, "// Kind: call\n\nRETURN {{ nothing }}\n")
    with pytest.raises(JochiError, match=r"broken\.cypher\.j2:3"):
        render_one("curate/broken", POLICY, SERVER, folder)


@pytest.mark.parametrize(
    "sections", ["", "// ==== act ====\nRETURN 1\n", "// ==== act ====\nRETURN 1\n// ==== select ====\nRETURN 1\n"]
)
def test_a_job_has_its_two_sections_in_order(folder: Path, sections: str) -> None:
    write(folder, f"// Kind: job\n{sections}")
    with pytest.raises(JochiError, match="select"):
        render_one("curate/broken", POLICY, SERVER, folder)


def test_there_is_no_such_procedure() -> None:
    with pytest.raises(UsageError, match="no/such"):
        render_one("no/such", POLICY, SERVER)


def test_rendered_text_is_tidy_and_complete() -> None:
    for procedure in render_all(POLICY, SERVER).values():
        for text in procedure.sections.values():
            assert all(line == line.rstrip() for line in text.splitlines()), procedure.name
            assert "\n\n\n" not in text
            assert text.endswith("\n")
            assert not any(mark in text for mark in ("{{", "{%", "{#")), procedure.name
            assert "IN TRANSACTIONS" not in text or procedure.name.startswith("scheduler/")


def test_no_body_asks_the_clock() -> None:
    """Every procedure takes $in.now (DESIGN §6); the pump's ticks alone live in real time."""
    for procedure in render_all(POLICY, SERVER).values():
        if procedure.kind != "engine":
            for text in procedure.sections.values():
                code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
                for call in (
                    "datetime()",
                    "timestamp()",
                    "date()",
                    ".realtime(",
                    ".transaction(",
                    ".statement(",
                    "rand()",
                ):
                    assert call not in code, procedure.name


def test_the_hash_is_stable_and_follows_the_text(folder: Path) -> None:
    first, second = render_all(POLICY, SERVER, folder), render_all(load_policy().policy, SERVER)
    assert {name: procedure.sha256 for name, procedure in first.items()} == {
        name: procedure.sha256 for name, procedure in second.items()
    }
    looser = POLICY.model_copy(update={"limits": POLICY.limits.model_copy(update={"breaker_floor": 7})})
    assert render_one("curate/curate_due", looser, SERVER).sha256 != first["curate/curate_due"].sha256
    assert render_one("jobs/pause", looser, SERVER).sha256 == first["jobs/pause"].sha256


def test_a_changed_macro_changes_the_template_hash(folder: Path) -> None:
    before = render_one("curate/explain", POLICY, SERVER, folder)
    macro = folder / "_macros/typed.j2"
    macro.write_text(macro.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = render_one("curate/explain", POLICY, SERVER, folder)
    assert (after.sha256, after.template_sha256 == before.template_sha256) == (before.sha256, False)


def test_newer_servers_get_the_language_in_front_of_what_repeat_runs_and_nowhere_else() -> None:
    """doIt puts parameters in front of a text, where a prefix of the text's own is a syntax error."""
    newer = replace(SERVER, version="2026.09.0")
    for name, procedure in render_all(POLICY, newer).items():
        wanted = name in {"scheduler/pump", "scheduler/watch"}
        assert all(text.startswith("CYPHER 5\n") is wanted for text in procedure.sections.values()), name
    assert not any("CYPHER 5\n" in procedure.text for procedure in render_all(POLICY, SERVER).values())


@pytest.mark.parametrize("name", ["a", "_x", "Read_at2", "a" * 64])
def test_a_plain_name_is_an_identifier(name: str) -> None:
    assert identifier(name) == name


@pytest.mark.parametrize("name", ["", "a b", "a`", "1a", "ä", "a-b", "a.b", "a\n", "a" * 65, "x)--(y"])
def test_nothing_else_is(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        identifier(name)


def test_literals_of_other_things_are_refused() -> None:
    for value in (None, object()):
        with pytest.raises(ValueError, match="literal"):
            literal(value)


@pytest.mark.parametrize("value", [2**63, float("nan"), float("inf")])
def test_numbers_that_cypher_has_no_literal_for_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="literal"):
        literal(value)


def test_no_tally_has_the_name_of_what_the_scheduler_counts_on_a_run() -> None:
    """Both are properties of the run: the one would be added to the other."""
    for procedure in render_all(POLICY, SERVER).values():
        told = set(re.findall(r"\{name: '(\w+)', n:", procedure.sections.get("act", "")))
        assert not told & OF_RUNS, procedure.name

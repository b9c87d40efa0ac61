"""Templates in, Cypher out: broken templates are named, the text is tidy, its hash is stable (DESIGN §6)."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import timedelta
from functools import cache
from pathlib import Path

import pytest

from jochi.compile.policy_data import policy_data
from jochi.compile.quoting import identifier, literal
from jochi.compile.rendering import Procedure, render_all, render_one
from jochi.compile.templates import procedure_names
from jochi.compile.wrapping import LONGEST, wrapped
from jochi.database.server_facts import NEEDED_FOR_JOBS, ServerFacts
from jochi.database.statements import procedures_folder
from jochi.errors import JochiError, UsageError
from jochi.policy import load_policy

POLICY = load_policy().policy
SERVER = ServerFacts("5.26.30", "community", "5.26.30", frozenset(), "CYPHER_5", 5.0, False, True)

WITH_APOC = replace(SERVER, callable=frozenset(NEEDED_FOR_JOBS))

JUDGING = (
    "curate/measure",
    "curate/judge",
    "curate/act",
    "curate/curate_due",
    "curate/plan",
    "curate/explain",
    "plans/save",
    "plans/apply",
    "enrol/look",
)
"""The two stages, and who acts on their verdicts."""

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


@cache
def rendered() -> dict[str, Procedure]:
    """The shipped policy's, for a server without APOC."""
    return dict(render_all(POLICY, SERVER))


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
    for procedure in rendered().values():
        for text in procedure.sections.values():
            assert all(line == line.rstrip() for line in text.splitlines()), procedure.name
            assert "\n\n\n" not in text
            assert text.endswith("\n")
            assert not any(mark in text for mark in ("{{", "{%", "{#")), procedure.name
            assert "IN TRANSACTIONS" not in text or procedure.name.startswith("scheduler/")


def test_no_body_asks_the_clock() -> None:
    """Every procedure takes $in.now (DESIGN §6); the pump's ticks alone live in real time."""
    for procedure in rendered().values():
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
    first, second = rendered(), render_all(load_policy().policy, SERVER, folder)
    assert {name: procedure.sha256 for name, procedure in first.items()} == {
        name: procedure.sha256 for name, procedure in second.items()
    }
    slower = POLICY.model_copy(
        update={"scheduler": POLICY.scheduler.model_copy(update={"lease": timedelta(minutes=7)})}
    )
    assert render_one("scheduler/begin", slower, SERVER).sha256 != first["scheduler/begin"].sha256
    assert render_one("jobs/pause", slower, SERVER).sha256 == first["jobs/pause"].sha256


def test_a_changed_macro_changes_the_template_hash(folder: Path) -> None:
    before = render_one("curate/explain", POLICY, SERVER, folder)
    macro = folder / "_macros/values/typed.j2"
    macro.write_text(macro.read_text(encoding="utf-8") + "\n", encoding="utf-8")
    after = render_one("curate/explain", POLICY, SERVER, folder)
    assert (after.sha256, after.template_sha256 == before.template_sha256) == (before.sha256, False)


def test_newer_servers_get_the_language_in_front_of_what_repeat_runs_and_nowhere_else() -> None:
    """doIt puts parameters in front of a text, where a prefix of the text's own is a syntax error."""
    newer = replace(SERVER, version="2026.09.0")
    for name, procedure in render_all(POLICY, newer).items():
        wanted = name in {"scheduler/pump", "scheduler/watch"}
        assert all(text.startswith("CYPHER 5\n") is wanted for text in procedure.sections.values()), name
    assert not any("CYPHER 5\n" in procedure.text for procedure in rendered().values())


@pytest.mark.parametrize("name", ["a", "_x", "Read_at2", "a" * 64])
def test_a_plain_name_is_an_identifier(name: str) -> None:
    assert identifier(name) == name


@pytest.mark.parametrize("name", ["", "a b", "a`", "1a", "ä", "a-b", "a.b", "a\n", "a" * 65, "x)--(y"])
def test_nothing_else_is(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        identifier(name)


def test_literals_of_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match="literal"):
        literal(object())


@pytest.mark.parametrize("value", [2**63, float("nan"), float("inf")])
def test_numbers_that_cypher_has_no_literal_for_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="literal"):
        literal(value)


def test_no_tally_has_the_name_of_what_the_scheduler_counts_on_a_run() -> None:
    """Both are properties of the run: the one would be added to the other."""
    for procedure in rendered().values():
        told = set(re.findall(r"\{name: '(\w+)', n:", procedure.sections.get("act", "")))
        assert not told & OF_RUNS, procedure.name


@pytest.mark.parametrize(
    "server", [WITH_APOC, pytest.param(SERVER, marks=pytest.mark.exhaustive)], ids=["with APOC", "without"]
)
def test_rules_are_data_a_changed_number_changes_no_text_that_judges(server: ServerFacts) -> None:
    """And so throws no plan away (DESIGN §6); it is in what is handed to these texts instead."""
    day = timedelta(days=1)
    task = POLICY.kinds["Task"]
    changed = {
        "rails": POLICY.rails.model_copy(update={"grace": 2 * day, "confident_belief": 0.5, "consensus_agents": 9}),
        "queue": POLICY.queue.model_copy(update={"horizon_max": 9 * day}),
        "limits": POLICY.limits.model_copy(update={"breaker_floor": 7}),
        "salience": POLICY.salience.model_copy(update={"per_day": 0.5}),
        "facts": POLICY.facts.model_copy(update={"old": 9 * day, "unimportant": 0.9}),
        "value": POLICY.value.model_copy(
            update={"bands": POLICY.value.bands.model_copy(update={"prune": 0.1}), "most_lives": 3.0}
        ),
        "kinds": POLICY.kinds
        | {
            "Task": task.model_copy(
                update={"rules": tuple(rule.model_copy(update={"after": 9 * day}) for rule in task.rules)}
            )
        },
        "tier_rules": tuple(
            rule.model_copy(update={"after": 9 * day}) if rule.down else rule for rule in POLICY.tier_rules
        ),
    }
    for part, value in changed.items():
        other = POLICY.model_copy(update={part: value})
        assert policy_data(other) != policy_data(POLICY), part
        for name in JUDGING:
            assert render_one(name, other, server).sha256 == render_one(name, POLICY, server).sha256, (part, name)


def test_no_body_is_heavier_than_a_reader_and_a_planner_can_bear() -> None:
    """DESIGN §6: lines of 160 characters, 32 kB a body; the text of one constant can't be broken."""
    for name, procedure in render_all(POLICY, WITH_APOC).items():
        for text in procedure.sections.values():
            assert len(text.encode()) <= 32_768, name
            long = [line for line in text.splitlines() if len(line) > LONGEST]
            assert all(re.match(r"\s*(?:ELSE )?['\"]", line) for line in long), (name, long)


def test_a_policy_from_before_there_were_derivations_renders() -> None:
    policy = load_policy().policy.model_copy(update={"derive": {}})
    assert set(render_all(policy, SERVER)) == set(procedure_names())


def test_no_line_of_a_template_is_long() -> None:
    files = [file for file in procedures_folder().rglob("*") if file.name.endswith((".j2", ".cypher"))]
    assert len(files) > 200
    long = {
        str(file): n for file in files for n, line in enumerate(file.read_text().splitlines(), 1) if len(line) > LONGEST
    }
    assert long == {}


def test_long_lines_are_broken_outside_of_quotes_and_brackets() -> None:
    quoted = "'" + "a (b, 'c' ".replace("'", "\\'") * 6 + "'"
    line = (
        f"  WITH {quoted} AS text, [x IN range(0, 9) WHERE x > 3 | {{a: x, b: 'x y z'}}] AS list, `odd name (` AS last"
    )
    broken = wrapped(line + "\n// " + "word " * 30, 60)
    assert " ".join(broken.replace("\n// ", "\n").split()) == " ".join(
        (line + " " + "word " * 30).replace("// ", "").split()
    )
    assert quoted in broken
    lines = broken.splitlines()
    assert max(len(each) for each in lines if quoted not in each) <= 60
    assert all(each.startswith("// ") for each in lines[lines.index(next(e for e in lines if e.startswith("//"))) :])
    assert wrapped("short\n", 60) == "short\n"


def test_what_a_body_reads_of_the_policy_it_has() -> None:
    """A constant that a body doesn't read isn't in it: what it reads must be."""
    data = policy_data(POLICY).keys()
    for name, procedure in render_all(POLICY, WITH_APOC).items():
        for text in procedure.sections.values():
            own = re.search(r"^WITH given \{\n(.*?)^\} AS k$", text, re.MULTILINE | re.DOTALL)
            if own is not None and text.count(" AS k\n") == 1:
                constants = {*re.findall(r"^ +(\w+): ", own[1], re.MULTILINE)}
                read = {*re.findall(r"\bk\.(\w+)", text)}
                assert read - constants <= data, name
                assert constants <= read, name


def test_a_total_is_locked_last_where_work_is_settled() -> None:
    """Every worker of a derivation adds to one total: who holds it waits for nothing else."""
    body = rendered()["work/settle"].sections["body"]
    total = body.index("MERGE (total:JochiSpent")
    assert max(body.rindex("(m:Curated"), body.rindex("MERGE (x:JochiSpent")) < total

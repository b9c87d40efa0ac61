"""Every procedure that writes says here what of it is on record, or why nothing is (seed 000, Option C; DESIGN §10).

A new one fails until somebody has thought about it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import jinja2
import pytest
from tests.unit.test_rendering_templates import SERVER

from jochi.compile.rendering import Procedure, _environment, render_all
from jochi.database.statements import procedures_folder
from jochi.policy import load_policy
from jochi.undo.undo import STATEMENTS

RULES = frozenset({"archive", "demote", "flag", "promote", "protect", "prune", "state", "unflag"})
UNDONE = frozenset({"archive", "demote", "flag", "promote", "repair", "state", "unarchive", "unflag", "unrepair"})

ON_RECORD: dict[str, frozenset[str]] = {
    "access/fold_accesses": frozenset({"repair", "state"}),
    "curate/act": RULES,
    "curate/curate_due": RULES,
    "curate/purge_tombstones": frozenset({"purge", "restore"}),
    "curate/sweep_orphans": frozenset({"protect", "prune"}),
    "context/edit": frozenset({"edit"}),
    "dedup/decide": frozenset({"decide"}),
    "dedup/find_duplicates": frozenset({"pair"}),
    "dedup/merge": frozenset({"merge"}),
    "dedup/merge_duplicates": frozenset({"merge"}),
    "edges/decay_edges": frozenset({"archive_edge"}),
    "ingest/write": frozenset({"edit"}),
    "hygiene/hygiene": frozenset({"repair"}),
    "memory/decompress": frozenset({"decompress"}),
    "memory/restore": frozenset({"restore"}),
    "memory/supersede": frozenset({"slot"}),
    "memory/unmerge": frozenset({"unmerge"}),
    "plans/apply": RULES,
    "plans/exclude": frozenset({"protect"}),
    "slots/settle_slots": frozenset({"slot"}),
    "tiers/enforce_budgets": frozenset({"demote"}),
    # An undo writes the opposite of what it takes back.
    "undo/decisions": frozenset(),
    "undo/links": frozenset(),
    "undo/edges": frozenset({"archive_edge", "unarchive_edge"}),
    "undo/moves": UNDONE,
    "undo/properties": UNDONE,
    "undo/prunes": frozenset({"restore"}),
    "undo/restores": frozenset({"prune"}),
    "undo/outputs": frozenset({"prune"}),
    "derive/compress/store": frozenset({"compress"}),
    "derive/store": frozenset({"derive"}),
    "derive/write": frozenset({"derive"}),
    "derive/levels/store": frozenset({"derive"}),
    **{f"derive/{name}/store": frozenset({"derive"}) for name in ("extract", "describe", "identity")},
    "derive/meaning/store": frozenset({"derive", "archive"}),
    "derive/learn/store": frozenset({"derive"}),
    "observe/decide_doubts": frozenset({"decide"}),
    "observe/seal": frozenset({"derive"}),
    "observe/flush_buffers": frozenset({"derive"}),
}
"""The actions that its records say, by procedure."""

SCHEDULE = "only when something is looked at again, by whom, and under which leases and counts: no memory says or is anything else"
ENGINE = "the engine's own nodes: jobs, runs, plans, pauses, locks"
WRITERS = "what an app itself asked to be written, as it asked for it; the engine decides nothing"
DERIVED = (
    "made from the content, by whoever makes it, and made anew from it: vectors, hashes, counts of tokens, verdicts"
)
COUNTED = "uses and charges as they were told, counted on the run"
RECEIPT = "a receipt says it, without a word of what was forgotten (docs/reference/forgetting.md)"
LIFETIME = "takes away what is too old to be of use, by the policy's own limits"

WHY_NOT: dict[str, str] = {
    "access/forget_batches": LIFETIME,
    "actions/add": COUNTED,
    "actions/expire": LIFETIME,
    "actions/judge": "it is a record itself: what was asked, and what the policy said",
    "actions/learn": "made of records and runs, and made anew of them; it says of which, and in which run",
    "access/roll_access_days": COUNTED,
    "curate/apply": ENGINE,
    "curate/approve": ENGINE,
    "curate/breaker": ENGINE,
    "curate/requeue": SCHEDULE,
    "context/make": ENGINE,
    "context/make_manifests": ENGINE,
    "dedup/requeue_duplicates": SCHEDULE,
    "dedup/take_back": "copies that the engine made, nobody's until their merge counts; its record says what stays",
    "edges/reinforce": COUNTED,
    "edges/schedule_edges": SCHEDULE,
    "enrol/write": WRITERS,
    "heartbeat/claim": SCHEDULE,
    "heartbeat/finish": "what an agent reports of its runs, counted on the task",
    "heartbeat/load": COUNTED,
    "heartbeat/store": WRITERS,
    "heartbeat/synced": "when the file was made, and of what",
    "intake/intake": WRITERS,
    "intake/on_changed": SCHEDULE,
    "intake/on_created": WRITERS,
    "jobs/expire_audit": LIFETIME,
    "jobs/pause": ENGINE,
    "jobs/prune_runs": LIFETIME,
    "jobs/resume": ENGINE,
    "items/date": WRITERS,
    "memory/forget": RECEIPT,
    "memory/forget_clause": RECEIPT,
    "memory/remember": WRITERS,
    "memory/touch": COUNTED,
    "observe/turn": WRITERS,
    "observe/flush": WRITERS,
    "derive/learn/begin": "locks alone",
    "plans/run": ENGINE,
    "plans/save": ENGINE,
    "slots/requeue_slots": SCHEDULE,
    "slots/settle": "whoever runs it writes the record: memory/supersede and slots/settle_slots",
    "stories/consolidate": SCHEDULE,
    "stories/promote_storylines": SCHEDULE,
    "stories/promote_macros": SCHEDULE,
    "meaning/find_meaning": SCHEDULE,
    "profiles/consolidate_identity": SCHEDULE,
    "profiles/consolidate_profiles": SCHEDULE,
    "consolidation/consolidate_scopes": "its steps are other jobs' texts, which write their records, with the id of the pass",
    "topics/index_topics": "counted from what is there, and counted anew on each walk",
    "stories/count_mentions": "counted from what is there, and counted anew where that changes",
    "undo/begin": ENGINE,
    "undo/count": ENGINE,
    "undo/others": ENGINE,
    **{f"derive/{name}": SCHEDULE for name in ("want", "judge/want", "compress/want")},
    **{f"derive/{name}/store": DERIVED for name in ("prepare", "judge", "embed", "resolve")},
    "derive/failed": "what a judge couldn't say, as what one said; the run of the cycle sums up what was rejected",
    **{
        f"work/{name}": SCHEDULE
        for name in ("want", "lease", "reserve", "settle", "retry", "changed", "requeue_embeddings")
    },
    **{
        f"scheduler/{name}": ENGINE
        for name in (
            *("account", "arm", "begin", "choose_mode", "claim", "close", "fail", "pin_mode"),
            *("put_aside", "tick"),
        )
    },
}
"""Why nothing is, by procedure."""

_WRITES = re.compile(r"(^\s*|\|\s*|\)\s+|\}\s+)(CREATE|MERGE|SET|DELETE|DETACH DELETE|REMOVE) ", re.MULTILINE)
_RECORDS = _environment(procedures_folder())
FORMS = frozenset(_RECORDS.get_template("_macros/act/record.j2").module.forms)  # type: ignore[attr-defined]
_RECORD = re.compile(r"CREATE \(\w*:CurationAudit")


def code(procedure: Procedure) -> str:
    """The procedure without its comments."""
    lines = procedure.text.splitlines()
    return "\n".join(line for line in lines if not line.lstrip().startswith("//"))


@cache
def rendered() -> dict[str, Procedure]:
    """All of them; not at import, which each worker does."""
    return render_all(load_policy().policy, SERVER)


WRITING = sorted({*ON_RECORD, *WHY_NOT} - {"intake/on_created"})


def test_every_procedure_that_writes_is_in_one_of_the_tables() -> None:
    assert not ON_RECORD.keys() & WHY_NOT.keys()
    writing = {name for name, procedure in rendered().items() if _WRITES.search(code(procedure))}
    assert writing - {*ON_RECORD, *WHY_NOT} == set(), "what of it is on record, or why is nothing?"
    assert set(WRITING) <= writing, "no such procedure writes"


@pytest.mark.parametrize("name", WRITING)
def test_it_does_what_the_table_says(name: str) -> None:
    text = code(rendered()[name])
    assert bool(_RECORD.search(text)) == (name in ON_RECORD)
    unsaid = {action for action in ON_RECORD.get(name, ()) if f"'{action}'" not in text}
    assert not unsaid
    # An action that is written out is one of those that it is said to have.
    written = {action for record in records(text) for action in re.findall(r"\baction: '(\w+)'", record)}
    assert written <= ON_RECORD.get(name, frozenset())


@pytest.mark.parametrize("name", sorted(ON_RECORD))
def test_a_record_says_when_by_what_rule_and_in_which_run(name: str) -> None:
    for record in records(code(rendered()[name])):
        for part in ("id:", "run:", "action:", "rule:", "at:", "policy:"):
            assert part in record, f"{name}: its record has no {part} {record}"


def records(text: str) -> list[str]:
    """The maps of properties with which records are made."""
    return [_braces(text, made.end()) for made in _RECORD.finditer(text)]


def _braces(text: str, start: int) -> str:
    """From the first brace on until it closes."""
    depth, first = 0, text.index("{", start)
    for at in range(first, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[first : at + 1]
    raise AssertionError(text[start : start + 200])


@pytest.mark.parametrize("action", sorted({action for actions in ON_RECORD.values() for action in actions}))
def test_the_page_names_every_action(action: str) -> None:
    page = (Path(__file__).parents[2] / "docs/reference/audit-and-undo.md").read_text()
    assert f"`{action}`" in page


@pytest.mark.parametrize("name", sorted(ON_RECORD))
def test_a_record_says_its_form_and_nothing_that_no_page_knows(name: str) -> None:
    for record in records(code(rendered()[name])):
        (form,) = re.findall(r"\bform: '(\w+)'", record)
        assert form in FORMS


def test_another_form_or_column_does_not_render() -> None:
    said = "'note', 'id', 'action', 'rule'"
    for wrong in (said.replace("note", "guess"), f"{said}, guess='1'"):
        with pytest.raises(jinja2.UndefinedError):
            _RECORDS.from_string(
                f"{{% from '_macros/act/record.j2' import record %}}{{{{ record({wrong}) }}}}"
            ).render()
    assert (
        "form: 'note'"
        in _RECORDS.from_string(f"{{% from '_macros/act/record.j2' import record %}}{{{{ record({said}) }}}}").render()
    )


def test_what_undo_finds_it_knows_how_to_take_back() -> None:
    """Each form that a record can have has a statement that takes it back, or one that says why nothing does."""
    answers = code(rendered()["undo/others"]).partition("CASE a.form")[2].partition("ELSE 'no_record'")[0]
    told = set(re.findall(r"WHEN '(\w+)' THEN", answers))
    assert {*STATEMENTS, *told, "note", "none"} == FORMS
    assert not STATEMENTS.keys() & told

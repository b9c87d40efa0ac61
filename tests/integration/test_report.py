"""`jochi report` on a database whose records, runs and memories a test wrote: each number of the page is counted again here, in
plain Python, from what was written."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.conftest import TestServer
from tests.html_tables import Tables, parse
from typer.testing import CliRunner

from jochi import Jochi
from jochi.cli.app import app
from jochi.database.database import Database
from jochi.errors import UsageError
from jochi.operate.report import figures, parse_span, read_report
from jochi.operate.report.figures import Report
from jochi.operate.report.page import render
from jochi.operate.report.sections import page_of

pytestmark = pytest.mark.server

ZONE = ZoneInfo("America/New_York")
NOW = datetime(2026, 11, 10, 12, 0, tzinfo=timezone.utc)
"""The clocks went back on the first of November."""
FIRST = datetime(2026, 10, 12, 4, 0, tzinfo=timezone.utc)
"""Midnight of the first day there."""
HOSTILE = "<script>alert('x')</script>"
SECRET = "what-somebody-said"
KINDS = ("Task", "Belief", "Notification", "MemoryEntry")
TIERS = ("HOT", "WARM", "COLD", "ARCHIVE")
JOBS = ("curate_due", "enforce_budgets", "undo")


class Written:
    """What was written, as plain maps."""

    def __init__(self) -> None:
        self.dice = random.Random(11)
        self.records = [self._record(number) for number in range(600)]
        self.memories = [self._memory(number, f"s{number % 7}") for number in range(150)]
        self.tombstones = [self._memory(number, f"s{number % 3}") for number in range(1000, 1040)]
        self.runs = [self._run(number) for number in range(90)]

    def at(self, days: float = 45) -> datetime:
        """Some moment of the last days: some lie before the span. Now and then it is just at its border."""
        if self.dice.random() < 0.05:
            return FIRST - timedelta(microseconds=self.dice.choice((0, 1)))
        return NOW - timedelta(seconds=self.dice.randrange(1, int(days * 86_400)))

    def _record(self, number: int) -> dict[str, Any]:
        dice = self.dice
        key = f"s{dice.randrange(4)}/{number}"
        made: dict[str, Any] = {"id": f"r/{number}", "run": f"r/{number % 9}", "at": self.at()}
        one = {"key": key, "scope": key.split("/")[0], "kind": dice.choice((*KINDS, HOSTILE))}
        many = [f"s{dice.randrange(4)}/{number}.{i}" for i in range(dice.randrange(1, 5))]
        form = dice.choice(("prune", "merge", "archive", "budget", "tier", "flag", "protect", "purge", "restore"))
        if dice.random() < 0.2 and form not in ("protect", "purge"):
            made["undone_by"] = "undo/1"
        if form in ("budget", "tier", "flag"):
            tiers = form != "flag"
            before, after = ("HOT", dice.choice(TIERS[1:])) if tiers else (False, True)
            made |= {"keys": many, "n": len(many), "property": "tier" if tiers else "needs_consolidation"}
            made |= {"before": [before] * len(many), "after": [after] * len(many)}
            made |= {
                "action": "demote" if tiers else "flag",
                "rule": {"budget": "budget", "tier": "tier.idle"}.get(form, "x.flag"),
            }
            if form == "budget":
                scope = many[0].split("/")[0]
                made |= {"scope": scope, "keys": [f"{scope}/{k.split('/')[1]}" for k in many]}
        elif form == "protect":
            made |= one | {"action": form, "rule": "a.rule", "rails": dice.sample(("pinned", "grace", "consensus"), 2)}
        elif form == "purge":
            made |= {
                "key": key,
                "scope": key.split("/")[0],
                "labels": ["Curated", "Task"],
                "action": form,
                "rule": "tombstone.ttl",
            }
        else:
            made |= one | {"action": form, "rule": dice.choice(("a.rule", "b.rule", HOSTILE))}
        return made

    def _memory(self, number: int, scope: str) -> dict[str, Any]:
        dice = self.dice
        made: dict[str, Any] = {"key": f"{scope}/{number}", "scope": scope, "id": str(number), "content": SECRET * 3}
        made |= {"created_at": self.at(), "token_count": dice.randrange(0, 900), "tier": dice.choice(TIERS)}
        if dice.random() < 0.7:
            made["mvs"] = round(dice.uniform(-1, 9), 2)
        return made | {"label": dice.choice((*KINDS, "Stranger"))}

    def _run(self, number: int) -> dict[str, Any]:
        dice = self.dice
        started = self.at()
        status = dice.choice(("ok", "ok", "partial", "failed", "breaker"))
        bad = status in ("partial", "failed")
        made = {
            "id": f"run/{number}",
            "job": dice.choice(JOBS),
            "started_at": started,
            "status": status,
            "selected": number,
        }
        made |= {"changed": number // 2, "batches": 1, "failed_batches": int(bad), "procedure": "curate/curate_due"}
        made |= {
            "finished_at": started + timedelta(milliseconds=dice.randrange(5, 9_000)),
            "runner": "pump",
            "now": started,
        }
        made |= {"tokens_before": [number, 1, 0, 0], "tokens_after": [0, 0, 2, number]}
        if bad:
            made["error"] = f"Neo.ClientError.Statement.TypeError: `x` = '{SECRET}' {HOSTILE}"
            made["quarantined"] = [f"s1/{SECRET}"]
        return made

    def write(self, database: Database) -> None:
        """Into a database."""
        database.run("UNWIND $rows AS row CREATE (a:CurationAudit) SET a = row", {"rows": self.records})
        database.run("UNWIND $rows AS row CREATE (r:JochiJobRun) SET r = row", {"rows": self.runs})
        database.run(
            "UNWIND $rows AS row CREATE (m:Curated) SET m = row.p, m:$(row.label)",
            {"rows": [{"p": {k: v for k, v in m.items() if k != "label"}, "label": m["label"]} for m in self.memories]},
        )
        database.run(
            "UNWIND $rows AS row CREATE (t:Tombstone) SET t = row, t.tombstone = true, t.deleted_at = $at, "
            "t.tombstone_labels = ['Curated', row.label] REMOVE t.label",
            {"rows": self.tombstones, "at": NOW},
        )
        database.run(
            "UNWIND range(0, 40) AS day WITH day, datetime({epochMillis: $now.epochMillis - $now.epochMillis % 86400000}) "
            "- duration({days: day}) AS since "
            "CREATE (:JochiSpent {id: 'extract/day/' + toString(since), span: 'day', since: since, until: since + "
            "duration('P1D'), items: day, done: 3, rejected_too_long: 1, tokens_in: 100 + day, tokens_out: day}) "
            "CREATE (:JochiReceipt {number: day + 1, at: since})",
            {"now": NOW},
        )


def in_span(rows: Iterable[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if FIRST <= row[name] < NOW]


def kind_of(record: dict[str, Any]) -> str:
    return record.get("kind") or ("Task" if record.get("labels") else "several")


def weighed(record: dict[str, Any], scope: str | None) -> list[tuple[str, str | None]]:
    """(rule, tier that it was moved to) of each memory of a record that belongs to a scope."""
    keys = record.get("keys") or [record["key"]]
    mine = [key for key in keys if scope is None or key.startswith(f"{scope}/")]
    tiers = record.get("property") == "tier"
    rule = "budget.HOT" if record["rule"] == "budget" else record["rule"]
    return [(rule, record["after"][0] if tiers else None) for _ in mine]


def count(written: Written, *, gone: bool, scope: str | None) -> set[tuple[str, str, int, int]]:
    """(rule, kind or what was done, memories, undone since)."""
    sums: Counter[tuple[str, str]] = Counter()
    undone: Counter[tuple[str, str]] = Counter()
    names = {"archive": "archived", "flag": "flagged", "restore": "restored"}
    for record in in_span(written.records, "at"):
        action = record["action"]
        if action in ("protect", "purge") or (action in ("prune", "merge")) is not gone:
            continue
        for rule, to in weighed(record, scope):
            name = kind_of(record) if gone else f"moved to {to}" if to else names[action]
            sums[rule, name] += 1
            undone[rule, name] += "undone_by" in record
    return {(rule, name, n, undone[rule, name]) for (rule, name), n in sums.items()}


def numbers(rows: list[list[str]]) -> set[tuple[Any, ...]]:
    """Rows of a table without its head and its sums; numbers as such."""
    body = [row for row in rows[1:] if row[0] != "all" and row != ["nothing"]]
    return {
        tuple(int(cell.replace(",", "")) if cell.replace(",", "").isdigit() else cell for cell in row) for row in body
    }


@pytest.fixture
def written(jochi: Jochi, monkeypatch: pytest.MonkeyPatch) -> Written:
    monkeypatch.setattr(figures, "_MEMORIES_AT_ONCE", 11)  # scopes go on over the border of a page
    monkeypatch.setattr(figures, "_INTERVALS_AT_ONCE", 7)
    made = Written()
    made.write(jochi.database)
    return made


def report_of(client: Jochi, scope: str | None = None) -> tuple[Report, Tables, str]:
    over = parse_span("29d", None, now=NOW, zone=ZONE)
    assert over.since == FIRST
    report = read_report(client, over, scope=scope)
    text = render(page_of(report, names=True))
    return report, parse(text).tables, text


def test_every_number_of_the_page_is_what_was_written(jochi: Jochi, written: Written) -> None:
    report, tables, text = report_of(jochi)
    for scope in (None, "s1"):
        if scope is not None:
            report, tables, text = report_of(jochi, scope)
        memories = [m for m in written.memories if scope in (None, m["scope"])]
        stones = [m for m in written.tombstones if scope in (None, m["scope"])]
        labels = {"Stranger": "other"}
        kinds = {m["key"]: labels.get(m["label"], m["label"]) for m in [*memories, *stones]}

        assert numbers(tables["Pruned or merged"]) == count(written, gone=True, scope=scope)
        assert numbers(tables["Times it was done: a memory can move more than once"]) == count(
            written, gone=False, scope=scope
        )
        assert len(count(written, gone=True, scope=scope)) > 5
        purges = [r for r in in_span(written.records, "at") if r["action"] == "purge" and scope in (None, r["scope"])]
        assert f"{len(purges)} tombstones were old enough" in text

        protected = [
            r for r in in_span(written.records, "at") if r["action"] == "protect" and scope in (None, r["scope"])
        ]
        rails = Counter(rail for r in protected for rail in r["rails"])
        (held,) = [rows for caption, rows in tables.items() if "a rail kept" in caption]
        assert numbers(held) == set(rails.items())

        came = Counter(
            (kinds[m["key"]], m["created_at"].astimezone(ZONE).date())
            for m in in_span([*memories, *stones], "created_at")
        )
        stones_now = Counter(kinds[m["key"]] for m in in_span(stones, "created_at"))
        by_kind: Counter[str] = Counter()
        for (kind, _), n in came.items():
            by_kind[kind] += n
        assert numbers(tables["Memories that came, by kind"]) == {
            (kind, n, stones_now[kind]) for kind, n in by_kind.items()
        }
        head, *rows = tables["Memories that came, by kind, over the span"]
        days = {
            (kind, row[0]): int(cell)
            for row in rows[:-1]
            for kind, cell in zip(head[1:-1], row[1:-1], strict=True)
            if cell != "0"
        }
        assert days == {(kind, f"{day}"): n for (kind, day), n in came.items()}

        live = Counter(kinds[m["key"]] for m in memories)
        tokens: Counter[str] = Counter()
        tiers: Counter[str] = Counter()
        per_scope: Counter[tuple[str, str]] = Counter()
        for m in memories:
            tokens[kinds[m["key"]]] += m["token_count"]
            tiers[m["tier"]] += m["token_count"]
            per_scope[m["scope"], m["tier"]] += m["token_count"]
        dead = Counter(kinds[m["key"]] for m in stones)
        dead_tokens: Counter[str] = Counter()
        for m in stones:
            dead_tokens[kinds[m["key"]]] += m["token_count"]
        found = {row[0]: row for row in numbers(tables["Memories by kind"][1:])}
        assert found == {k: (k, live[k], tokens[k], dead[k], dead_tokens[k]) for k in {*live, *dead}}
        budgets = {"HOT": 1600, "WARM": 400, "COLD": 200}
        assert report.budgets == budgets
        by_tier = {
            row[0]: row for row in tables["Live memories by tier, and the budgets, which are tokens of one scope"]
        }
        for tier in TIERS:
            n = sum(m["tier"] == tier for m in memories)
            over = sum(per_scope[s, t] > budgets.get(t, 10**9) for s, t in per_scope if t == tier)
            with_any = sum(per_scope[s, t] > 0 for s, t in per_scope if t == tier)
            cells = [n, tiers[tier], budgets.get(tier), with_any, over if tier in budgets else None]
            assert by_tier[tier][1:] == ["–" if cell is None else f"{cell:,}" for cell in cells]

        scores = Counter(m["mvs"] * 2 // 1 / 2 for m in memories if "mvs" in m)
        shown = {row[0]: row[1] for row in numbers(tables["Live memories by value score"])}
        assert shown == {f"{low:g} to {low + 0.5:g}": n for low, n in scores.items()}
        assert (report.runs is None) == (scope is not None)

    scopes = {s for s, _ in per_scope}
    assert scopes == {"s1"}


def test_scopes_runs_spending_and_receipts_are_counted_right(jochi: Jochi, written: Written) -> None:
    report, tables, text = report_of(jochi)
    sizes = {
        scope: [m for m in written.memories if m["scope"] == scope] for scope in {m["scope"] for m in written.memories}
    }
    assert numbers(tables["The scopes with the most tokens"]) == {
        (
            scope,
            len(own),
            sum(m["token_count"] for m in own),
            *(sum(m["token_count"] for m in own if m["tier"] == tier) for tier in TIERS),
        )
        for scope, own in sizes.items()
    }
    runs = in_span(written.runs, "started_at")
    bad = ("partial", "failed", "breaker")
    expected = set()
    for job in JOBS:
        own = [run for run in runs if run["job"] == job]
        first = min(run["started_at"] for run in written.runs if run["job"] == job).astimezone(ZONE).date()
        failed = sum(run["status"] in bad for run in own)
        aside = sum(len(run.get("quarantined", ())) for run in own)
        sums = (sum(run[name] for run in own) for name in ("selected", "changed"))
        expected.add((job, len(own), failed, *sums, aside, f"{first}"))
    shown = numbers(tables["Jobs, those that changed most first"])
    assert {(*row[:5], *row[7:]) for row in shown} == expected
    assert report.runs is not None
    for summary in report.runs.jobs:
        took = sorted(
            (run["finished_at"] - run["started_at"]) // timedelta(milliseconds=1)
            for run in runs
            if run["job"] == summary.job
        )
        assert (summary.median, summary.most) == (took[(len(took) - 1) // 2], took[-1])
    moved = numbers(tables["Tokens that runs of the span took out of each tier, and put into it"])
    all_of_it = sum(run["selected"] for run in runs)
    assert moved == {
        ("HOT", all_of_it, 0),
        ("WARM", len(runs), 0),
        ("COLD", 0, 2 * len(runs)),
        ("ARCHIVE", 0, all_of_it),
    }
    (failures,) = [rows for caption, rows in tables.items() if caption.startswith("The newest runs that failed")]
    assert len(failures) == 21
    assert {row[3] for row in failures[1:]} <= {"Neo.ClientError.Statement.TypeError", "–"}

    # Days of UTC: the first of the span began within the day before its midnight in New York.
    days = range(30)
    (spent,) = [
        row
        for row in numbers(tables["Derivations: what is left now, and what was done in the span"])
        if row[0] == "extract"
    ]
    assert spent[3:7] == (3 * 30, 30, sum(100 + day for day in days), sum(days))
    by_day = tables["Tokens that models took, by derivation and day"]
    assert by_day[-1] == ["2026-11-10", "100", "100"]
    assert (report.receipts, report.forgettings) == (29, 0)
    assert "were written in the span: 29" in text

    assert SECRET not in text
    assert HOSTILE not in text
    assert "&lt;script&gt;alert(&#39;x&#39;)" in text


def test_an_empty_database_a_scope_that_is_not_there_and_nothing_counted(jochi: Jochi) -> None:
    _, tables, text = report_of(jochi)
    assert tables["Pruned or merged"][1] == ["nothing"]
    assert "Nothing was ever put on record here" in text
    _, tables, text = report_of(jochi, "nobody")
    assert "All 0 live memories" in text
    report = read_report(jochi, parse_span("1d", None, now=NOW, zone=ZONE), count=False)
    assert "Memories were not counted" in render(page_of(report))


def test_on_the_command_line(jochi: Jochi, server: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", server.uri), ("USER", server.user), ("PASSWORD", server.password)):
        monkeypatch.setenv(f"JOCHI_{name}", value)
    run = CliRunner().invoke(app, ["report", "--out", str(tmp_path / "report.html"), "--since", "1d", "--no-count"])
    assert run.exit_code == 0, run.output
    assert "What the database remembered" in (tmp_path / "report.html").read_text(encoding="utf-8")
    for arguments, says in (
        (["--since", "2999-01-01"], "in the future"),
        (["--out", str(tmp_path)], "a folder stands there"),
    ):
        refused = CliRunner().invoke(app, ["report", "--out", str(tmp_path / "no.html"), *arguments]).exception
        assert isinstance(refused, UsageError)
        assert says in refused.what

"""What terminal and report say of a demonstration, from counts that are given."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from jochi.cli import demo as terminal
from jochi.curate.plan import Plan
from jochi.demo.report import render_story
from jochi.demo.story import Budgets, Embeddings, LiveRun, NearTokens, Start, Story
from jochi.operate.report.figures import Change, Changes, HeldBack
from jochi.operate.report.span import Intervals
from jochi.operate.results import Amount, TierReport

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def change(action: str, rule: str, n: int, *, to: str | None = None) -> Change:
    return Change(0, action, "Task", rule, to, n, 0)


def run(job: str, changed: int, rules: Mapping[str, int]) -> LiveRun:
    return LiveRun(f"{job}/1", job, START, 2.0, 0.1, "ok", 50, changed, rules)


@pytest.fixture
def story() -> Story:
    imported = [Amount("Belief", "HOT", 60, 6_001), Amount("Task", "HOT", 40, 4_002)]
    after_replay = [
        Amount("Belief", "ARCHIVE", 45, 4_503),
        Amount("Belief", "HOT", 15, 1_404),
        Amount("Task", "ARCHIVE", 40, 4_002),
    ]
    after = [
        Amount("Belief", "ARCHIVE", 47, 4_605),
        Amount("Belief", "WARM", 13, 306),
        Amount("Task", "ARCHIVE", 31, 3_107),
    ]
    looks = [
        NearTokens(START + day * DAY, {"HOT": 1_500, "WARM": 300, "COLD": 0, "ARCHIVE": 999 * day}) for day in range(3)
    ]
    return Story(
        source="a test",
        generated=False,
        licence=None,
        seed=None,
        versions={},
        began_at=START,
        policy="demo",
        memories=100,
        relationships=0,
        bad_count=0,
        bad=(),
        span=(START, START + 2 * DAY),
        replayed_until=START + 2 * DAY,
        caught_up_at=START + 2 * DAY,
        step=timedelta(hours=6),
        breaker={},
        imported=TierReport(imported, []),
        after_replay=TierReport(after_replay, []),
        after=TierReport(after, [Amount("Task", "", 9, 895)]),
        created={("Belief", START): 60, ("Task", START): 40},
        steps=Intervals((START + DAY,), START + 2 * DAY, DAY),
        replayed=Changes(
            [
                change("prune", "any.expires_at", 5),
                change("archive", "task.completed", 31),
                change("demote", "budget.HOT", 71, to="ARCHIVE"),
                change("demote", "tier.hot_idle", 17, to="WARM"),
                change("flag", "reflection.unconsolidated", 19),
                change("repair", "hygiene.tier_missing", 77),
            ],
            [HeldBack(0, "consensus", 23)],
        ),
        alone=Changes(
            [
                change("prune", "any.expires_at", 4),
                change("demote", "budget.HOT", 13, to="WARM"),
                change("flag", "reflection.unconsolidated", 2),
            ],
            [HeldBack(0, "consensus", 6), HeldBack(0, "pinned", 8)],
        ),
        examples=("s/1",),
        near=tuple(looks),
        budgets=Budgets({"HOT": 1_600, "WARM": 400, "COLD": 200}, 3, 0),
        starts=(Start("default", 61, 1_883, 2_000, 91, 8_018),),
        held_back={"Task": 4},
        plan=Plan(START, "x", [], [], {}, 100),
        applied=4,
        armed_at=START,
        live_until=START + timedelta(seconds=30),
        runs=(
            run("enforce_budgets", 13, {"HOT → WARM": 13}),
            run("hygiene", 7, {}),
            run("curate_due", 4, {"any.expires_at": 4}),
        ),
        replay_jobs=(),
        embeddings=Embeddings("m", 1, 0, 1.0),
        phases={},
        kept=False,
    )


def test_archived_moved_and_flagged_come_from_the_records(story: Story) -> None:
    assert story.changed() == [
        ("budget.HOT", "moved to ARCHIVE", 71, 0),
        ("task.completed", "archived", 31, 0),
        ("reflection.unconsolidated", "flagged", 19, 2),
        ("tier.hot_idle", "moved to WARM", 17, 0),
        ("budget.HOT", "moved to WARM", 0, 13),
    ]
    assert story.pruned() == [("any.expires_at", "Task", 5, 4)]
    assert story.rails() == [("consensus", 23, 6), ("pinned", 0, 8)]
    assert (story.sum_of("moved"), story.sum_of("archived"), story.sum_of("flagged")) == (101, 31, 21)


def test_memories_and_tokens_by_tier_nearest_first_against_the_budgets(story: Story) -> None:
    assert [(row.name, row.imported, row.replayed, row.now) for row in story.tiers()] == [
        ("HOT", (100, 10_003), (15, 1_404), (0, 0)),
        ("WARM", (0, 0), (0, 0), (13, 306)),
        ("COLD", (0, 0), (0, 0), (0, 0)),
        ("ARCHIVE", (0, 0), (85, 8_505), (78, 7_712)),
    ]
    assert [story.budgets.of(tier) for tier in ("HOT", "WARM", "COLD", "ARCHIVE")] == [4_800, 1_200, 600, None]
    strange = replace(story, after=TierReport([Amount("Task", "Hot", 1, 5)], []))
    assert [row.name for row in strange.tiers()] == ["HOT", "WARM", "COLD", "ARCHIVE", "Hot"]


def test_each_kind_is_one_row_whatever_its_tiers(story: Story) -> None:
    assert [(row.name, row.imported, row.replayed, row.now) for row in story.totals()] == [
        ("Belief", (60, 6_001), (60, 5_907), (60, 4_911)),
        ("Task", (40, 4_002), (40, 4_002), (31, 3_107)),
    ]


def test_runs_of_all_jobs_that_changed_something_are_told(story: Story) -> None:
    quiet = replace(story, runs=(*story.runs, run("purge_tombstones", 0, {})))
    assert [made.job for made in quiet.changing_runs] == ["enforce_budgets", "hygiene", "curate_due"]


def test_a_run_names_what_it_did_most_of_first() -> None:
    node = {
        "id": "x/1",
        "job": "x",
        "started_at": START,
        "finished_at": START,
        "status": "ok",
        "selected": 9,
        "changed": 9,
    }
    tally = {"scopes": 1, "HOT_to_WARM": 2, "HOT_to_COLD": 7, "repaired_tier_missing": 3, "found_tier": 8}
    made = LiveRun.from_node(node | tally, START, {"HOT_to_WARM": "HOT → WARM", "HOT_to_COLD": "HOT → COLD"})
    assert list(made.rules.items()) == [("HOT → COLD", 7), ("hygiene.tier_missing", 3), ("HOT → WARM", 2)]


def lines(text: str) -> list[list[str]]:
    """The cells of each line of a table."""
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in text.splitlines() if line.startswith("│")]


def test_the_terminal_tells_all_of_it(story: Story, capsys: pytest.CaptureFixture[str]) -> None:
    terminal.show(story)
    text = capsys.readouterr().out
    shown = lines(text)
    assert ["HOT", "100", "10,003", "15", "1,404", "0", "0", "4,800"] in shown
    assert ["ARCHIVE", "0", "0", "85", "8,505", "78", "7,712", "–"] in shown
    assert ["Task", "40", "4,002", "40", "4,002", "31", "3,107", "9"] in shown
    assert ["Belief", "60", "6,001", "60", "5,907", "60", "4,911", "0"] in shown
    assert ["all", "100", "10,003", "100", "9,909", "91", "8,018", "6,600"] in shown
    assert ["budget.HOT", "moved to ARCHIVE", "71", "0"] in shown
    assert ["reflection.unconsolidated", "flagged", "19", "2"] in shown
    assert ["consensus", "23", "6"] in shown
    assert ["pinned", "0", "8"] in shown
    assert any(row[0] == "enforce_budgets/1" and row[-1] == "HOT → WARM 13" for row in shown)
    assert "here in 3 scopes" in text


def cells(text: str) -> list[list[str]]:
    """The cells of each row of the page's tables, without marks."""
    rows = re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    return [
        [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]


def test_the_report_tells_all_of_it(story: Story) -> None:
    text = render_story(story)
    shown = cells(text)
    assert ["HOT", "100", "10,003", "15", "1,404", "0", "0", "4,800"] in shown
    assert ["ARCHIVE", "0", "0", "85", "8,505", "78", "7,712", "–"] in shown
    assert ["Task", "40", "4,002", "40", "4,002", "31", "3,107", "9"] in shown
    assert ["Belief", "60", "6,001", "60", "5,907", "60", "4,911", "0"] in shown
    assert ["all", "100", "10,003", "100", "9,909", "91", "8,018", "6,600"] in shown
    assert ["task.completed", "archived", "31", "0"] in shown
    assert ["budget.HOT", "moved to WARM", "0", "13"] in shown
    assert ["consensus", "23", "6"] in shown
    assert ["default", "61", "1,883", "94 %", "91", "8,018"] in shown
    assert "10,003 → 306" in text
    assert "moves between tiers</dt><dd>101<" in text
    assert "archived, flagged</dt><dd>31, 21<" in text
    assert 'aria-label="Tokens by tier over the replayed time, and the budgets"' in text


def test_what_is_pinned_above_a_budget_is_said(story: Story) -> None:
    assert "pinned" not in story.budget_words
    above = replace(story, budgets=replace(story.budgets, overflowing=2))
    assert "In 2 what is pinned weighs more." in above.budget_words
    assert "scopes" not in replace(story, budgets=replace(story.budgets, scopes=1)).budget_words


def test_the_plot_of_the_tiers_is_left_out_where_there_is_nothing_to_draw(story: Story) -> None:
    bare: Any = replace(story, near=story.near[:1])
    assert "Tokens by tier over the replayed time" not in render_story(bare)

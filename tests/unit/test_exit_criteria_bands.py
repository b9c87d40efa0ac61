"""What stands behind the comparison of the score's bands: who is asked when, and the tables (docs/reference/exit-criteria.md)."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from tests.exit_criteria import page
from tests.exit_criteria.bands import Kept, Left, halves, uses

from jochi.write.importing import MemoryRecord
from jochi.write.record import Relationship

BORN = datetime(2026, 1, 1, tzinfo=timezone.utc)
DAY = timedelta(days=1)


def record(id: str, age: int, *evidence: str) -> MemoryRecord:
    links = tuple(Relationship("EVIDENCE", "a", turn) for turn in evidence)
    return MemoryRecord("Belief", id, "a", {"created_at": BORN + age * DAY}, links)


RECORDS = [record("t1", 0), record("t2", 5), record("seen", 9, "t2", "t3"), record("other", 2, "t1")]


def test_a_question_uses_its_evidence_and_what_was_observed_from_it_at_one_moment() -> None:
    end = BORN + 20 * DAY
    asked = [frozenset({"a/t2"}), frozenset({"a/t1"}), frozenset({"a/gone"}), frozenset[str]()]
    found = uses(asked, RECORDS, end)
    assert [event.key for event in found] == ["a/seen", "a/t2", "a/other", "a/t1"]
    first, second = {event.at for event in found[:2]}, {event.at for event in found[2:]}
    assert len(first) == len(second) == 1
    assert BORN + 9 * DAY <= first.pop() <= end, "not before it was observed"
    assert BORN + 2 * DAY <= second.pop() <= end
    assert uses(asked, RECORDS, end) == found, "the same on every machine"


def test_half_of_the_questions_is_never_asked() -> None:
    questions = [frozenset({str(i)}) for i in range(5)]
    asked, others = halves(questions)
    assert (len(asked), len(others)) == (3, 2)
    assert not set(asked) & set(others)


def test_the_tables_and_the_plot(tmp_path: Path) -> None:
    file = tmp_path / "reference" / "page.md"
    file.parent.mkdir()
    (tmp_path / "images").mkdir()
    file.write_text("x\n<!-- bands -->\n<!-- end bands -->\n<!-- left -->\n<!-- end left -->\n", encoding="utf-8")
    kept = [Kept("seed", 30, {"HOT": 2, "ARCHIVE": 3}, {"HOT": 1200, "ARCHIVE": 7}), Kept("TTL only", 6, {}, {})]
    page.write(file, [], [], kept, [Left("seed", 5, 1207, 0.5, 0.75, 0.25, 1)])
    text = file.read_text(encoding="utf-8")
    assert "| 30 | seed | 1,200 | 0 | 0 | 7 | 5 |" in text
    assert text.index("| 6 | TTL only | 0 | 0 | 0 | 0 | 0 |") < text.index("| 30 | seed")
    assert "| seed | 5 | 1,207 | 50.0% | 75.0% | 25.0% | 100.0% |" in text
    assert (tmp_path / "images" / page.BANDS_PLOT).stat().st_size > 1_000

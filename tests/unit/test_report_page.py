"""The page of a report: spans, what is escaped, and what a page of nothing says."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.html_tables import parse
from tests.made_report import NOW, made_report
from tests.tally import examples

from jochi.errors import UsageError
from jochi.operate.report.page import Page, Section, Table, render, require_writable
from jochi.operate.report.sections import page_of
from jochi.operate.report.span import MOST_INTERVALS, parse_span

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("since", "until", "first", "n", "unit"),
    [
        ("30d", None, "2026-10-11T00:00+02:00", 31, "day"),  # the clocks go back within it
        ("1d", None, "2026-11-09T13:00+01:00", 24, "hour"),
        ("36h", "2026-11-09", "2026-11-08T12:00+01:00", 36, "hour"),
        ("2026-11-01", "2026-11-03", "2026-11-01T00:00+01:00", 3, "day"),
        ("2026-11-10T01:00:00Z", None, "2026-11-10T02:00+01:00", 11, "hour"),
        ("400d", None, "2025-10-06T00:00+02:00", 81, "5 days"),
        ("999999999d", None, "1970-01-02T00:00+01:00", 92, "226 days"),
    ],
)
def test_a_span_is_whole_hours_or_days_of_the_zone(
    since: str, until: str | None, first: str, n: int, unit: str
) -> None:
    found = parse_span(since, until, now=NOW, zone=BERLIN)
    assert found.starts[0] == datetime.fromisoformat(first)
    assert (len(found.starts), found.unit) == (n, unit)
    assert len(found.starts) <= MOST_INTERVALS
    assert all(a < b for a, b in zip(found.starts, [*found.starts[1:], found.until], strict=True))
    if unit != "hour":
        assert {start.astimezone(BERLIN).hour for start in found.starts} == {0}
    assert found.until <= NOW


@pytest.mark.parametrize(
    ("since", "until", "says"),
    [
        ("2026-12-24", None, "in the future"),
        ("2026-11-05", "2026-11-04", "before it begins"),
        ("yesterday", None, "is not a span"),
        ("30d", "2026-13-01", "is not a span"),
        ("-3d", None, "is not a span"),
    ],
)
def test_what_is_no_span_is_refused_with_what_to_write(since: str, until: str | None, says: str) -> None:
    with pytest.raises(UsageError, match=says) as refused:
        parse_span(since, until, now=NOW, zone=BERLIN)
    assert refused.value.fix


def test_where_no_file_can_be_made_that_is_said_before_the_work(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere/report.html"):
        with pytest.raises(UsageError) as refused:
            require_writable(path, "--out")
        assert "--out" in (refused.value.fix or "")


@pytest.mark.parametrize(("days", "n"), [(30, 0), (0.1, 1)])
def test_a_page_of_nothing_and_of_little_says_so(days: float, n: int) -> None:
    found = parse(render(page_of(made_report(days=days, n=n))))
    svgs = [attributes for tag, attributes in found.tags if tag == "svg"]
    assert all(attributes["aria-label"] for attributes in svgs)
    assert all(row for rows in found.tables.values() for row in rows), "no line without a cell"
    if n == 0:
        assert svgs == []
        assert found.tables["Pruned or merged"][1] == ["nothing"]
        assert any("Nothing was ever put on record" in text for text in found.text)


def test_what_waits_is_what_the_inbox_counts() -> None:
    found = parse(render(page_of(made_report(days=0.1, n=1))))
    assert found.tables["What waits now"][1:] == [["go", "1"], ["duplicate", "1,000+"]]
    assert any("Now 1,001+ things wait for you." in text for text in found.text)


def test_tables_are_cut_off_with_a_word_about_it() -> None:
    table = Table("t", ("a", "b"), [(f"row {n}", n) for n in range(250)])
    found = parse(render(Page("p", "h", "a", {}, [Section("s", [table])])))
    assert found.tables["t"][-1] == ["and 50 more rows"]


ERROR = "Failed: Caused by: org.neo4j.SomeException: Node(3) has `name` = 'somebody said this' and that"


@pytest.fixture(scope="module")
def page() -> str:
    return render(page_of(made_report(days=0.2, scopes=("zacharias", "yolanda"), error=ERROR)))


def test_scopes_have_no_names_unless_asked_for(page: str) -> None:
    assert "zacharias" not in page
    assert "yolanda" not in page
    named = render(page_of(made_report(days=0.1, n=1, kinds=["A"], scopes=("zacharias", "yolanda")), names=True))
    assert "zacharias" in named
    assert "yolanda" in named


def test_of_an_error_its_classes_are_shown_and_not_what_it_quotes(page: str) -> None:
    assert "SomeException" in page
    assert "somebody said" not in page
    assert "Node(3)" not in page


TAGS = {
    *(
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "main",
        "section",
        "h1",
        "h2",
        "p",
        "span",
        "dl",
        "div",
        "dt",
        "dd",
    ),
    *(
        "table",
        "caption",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
        "code",
        "pre",
        "figure",
        "figcaption",
        "details",
        "summary",
    ),
    *("svg", "g", "defs", "path", "use", "text", "rect", "clippath"),
}
"""All that the page and its plots are made of."""

HOSTILE = [
    "<script>alert(1)</script>",
    "</table></svg><script src=//x>",
    '" onload="alert(1)',
    "$\\frac{a}{$",
    "_hidden",
    "&lt;b&gt;",
    "`code`",
    "a" * 300,
    "名前",
    "\N{GRINNING FACE}",
    "#010101",
    "x\x00y\x1b[0m",
    "{{ 7*7 }}",
    "]]><!--",
]

NAMES = st.lists(
    st.one_of(st.sampled_from(HOSTILE), st.text(min_size=1, max_size=40)), min_size=1, max_size=9, unique=True
)


@settings(max_examples=examples(1, 60))
@example(HOSTILE[:7], HOSTILE[7:], HOSTILE, HOSTILE[:2], f"{HOSTILE[0]}Error")
@given(NAMES, NAMES, NAMES, NAMES, st.text(max_size=80))
def test_no_name_becomes_part_of_the_page(
    kinds: list[str], rules: list[str], jobs: list[str], scopes: list[str], error: str
) -> None:
    report = made_report(days=0.1, kinds=kinds, rules=rules, jobs=jobs, scopes=scopes, error=error)
    found = parse(render(page_of(report, names=True)))
    assert {tag for tag, _ in found.tags} <= TAGS
    names = {name for _, attributes in found.tags for name in attributes}
    assert not [name for name in names if name.startswith("on")]
    assert {name for name in names if name in ("src", "action", "srcset")} == set()
    links = [attributes[name] or "" for _, attributes in found.tags for name in attributes if name.endswith("href")]
    assert all(link.startswith("#") for link in links)


def test_the_policy_for_browsers_lets_nothing_in(page: str) -> None:
    found = parse(page)
    (policy,) = [
        attributes["content"] or ""
        for tag, attributes in found.tags
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in found.tags}


def test_every_table_can_be_read_aloud_and_reached(page: str) -> None:
    found = parse(page)
    tags = found.tags
    assert sum(tag == "table" for tag, _ in tags) == sum(tag == "caption" for tag, _ in tags)
    assert all(attributes.get("scope") for tag, attributes in tags if tag == "th")
    regions = [attributes for _, attributes in tags if attributes.get("class") == "wide"]
    assert regions
    assert all(attributes["tabindex"] == "0" and attributes["aria-label"] for attributes in regions)
    assert sum(tag == "details" for tag, _ in tags) == sum(tag == "svg" for tag, _ in tags), "numbers behind each plot"


def test_days_are_those_of_the_zone() -> None:
    report = made_report(days=3, zone="Pacific/Auckland")
    rows = parse(render(page_of(report))).tables["Memories that came, by kind, over the span"]
    assert [row[0] for row in rows[1:-1]] == ["2026-11-08", "2026-11-09", "2026-11-10", "2026-11-11"]
    assert report.span.starts[0] == datetime(2026, 11, 7, 11, tzinfo=timezone.utc)
    assert report.span.until - report.span.starts[-1] == timedelta(hours=1)

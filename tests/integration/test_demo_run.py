"""The demonstration on a small generated team: a live server, runs made by the database, the report."""

from __future__ import annotations

import html.parser
from datetime import datetime, timezone
from pathlib import Path

import pytest

from jochi.demo import Demo, Story, generated_source, run_demo
from jochi.demo.report import write_report
from jochi.demo.run import server_for
from jochi.demo.watching import Nobody
from jochi.localserver import LocalServer

pytestmark = pytest.mark.server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> LocalServer:
    return server_for(Nobody(), tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def story(server: LocalServer) -> Story:
    source = generated_source(7, now=datetime.now(timezone.utc), days=10, size=800)
    return run_demo(Demo(server, source, seed=7, live_runs=2, live_seconds=120))


def test_the_replay_pruned_and_the_database_went_on_alone(story: Story) -> None:
    replayed = {rule for rule, _, by_replay, _ in story.pruned() if by_replay}
    assert {"session.inactive", "notification.read"} <= replayed
    assert len(story.changing_runs) >= 2
    assert all(sum(run.rules.values()) == run.changed for run in story.changing_runs)
    assert sum(run.rules.get("any.expires_at", 0) for run in story.changing_runs) > 0
    alone = sum(n for *_, n in story.pruned())
    assert alone >= sum(run.changed for run in story.changing_runs)
    assert story.breaker == {}


def test_the_numbers_add_up(story: Story) -> None:
    live = sum(amount.n for amount in story.after.live)
    tombstones = sum(amount.n for amount in story.after.tombstones)
    assert story.memories == sum(amount.n for amount in story.imported.live)
    assert live + tombstones + story.purged() == story.memories
    assert sum(a + b for *_, a, b in story.pruned()) == tombstones + story.purged()
    assert sum(story.created.values()) == story.memories - sum(story.held_back.values())


def test_nothing_is_left_running(story: Story, server: LocalServer) -> None:
    assert server.status().state == "stopped"


class _Page(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href", "xlink:href")]


def test_the_report_is_one_file_that_says_generated(story: Story, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(story, path)
    text = path.read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.tags.count("svg") == 5
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert all(address.startswith("#") for address in page.addresses)
    assert "@import" not in text
    assert "url(h" not in text
    assert text.count("generated") > 5
    assert all(rule in text for rule, *_ in story.pruned())

"""The demonstration on a small generated team: a live server, runs made by the database, the report."""

from __future__ import annotations

import html.parser
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from jochi.demo import Demo, Story, generated_source, run_demo
from jochi.demo.report import write_report
from jochi.demo.run import POLICY, server_for
from jochi.demo.story import NearTokens
from jochi.localserver import LocalServer
from jochi.localserver.report import Silent
from jochi.policy import load_policy

pytestmark = [pytest.mark.server, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> LocalServer:
    return server_for(Silent(), tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def story(server: LocalServer) -> Story:
    source = generated_source(7, now=datetime.now(timezone.utc), days=10, size=800)
    return run_demo(Demo(server, source, seed=7, live_runs=2, live_seconds=120))


def test_the_replay_pruned_and_the_database_went_on_alone(story: Story) -> None:
    replayed = {rule for rule, _, by_replay, _ in story.pruned() if by_replay}
    assert {"session.inactive", "notification.read"} <= replayed
    own = {job: [run for run in story.changing_runs if run.job == job] for job in ("curate_due", "enforce_budgets")}
    assert len(own["curate_due"]) >= 2
    assert len(own["enforce_budgets"]) >= 1
    assert all(sum(run.rules.values()) == run.changed for runs in own.values() for run in runs)
    assert sum(run.rules.get("any.expires_at", 0) for run in own["curate_due"]) > 0
    alone = sum(n for *_, n in story.pruned())
    assert alone >= sum(run.changed for run in own["curate_due"])
    assert story.breaker == {}


def test_the_numbers_add_up(story: Story) -> None:
    live = sum(amount.n for amount in story.after.live)
    tombstones = sum(amount.n for amount in story.after.tombstones)
    assert story.memories == sum(amount.n for amount in story.imported.live)
    assert live + tombstones + story.purged() == story.memories
    assert sum(a + b for *_, a, b in story.pruned()) == tombstones + story.purged()
    assert sum(story.created.values()) == story.memories - sum(story.held_back.values())
    assert sum(row.now[0] for row in story.tiers()) == live
    assert {row.name for row in story.tiers()} == {"HOT", "WARM", "COLD", "ARCHIVE"}, "all have their tier back"


def test_memories_come_in_their_time_and_what_is_near_stays_within_the_budgets(story: Story) -> None:
    budgeted = [story.steps.starts[made.place] for made in story.replayed.changes if made.rule.startswith("budget.")]
    start, _ = story.span
    assert budgeted
    assert not [at for at in budgeted if at - start < timedelta(hours=6)], "the budgets moved what wasn't made yet"
    all_tokens = [sum(look.tokens.values()) for look in story.near]
    assert all_tokens[0] < all_tokens[-1] / 5
    assert [look.at for look in story.near if over_budget(story, look)] == []
    assert (story.budgets.scopes, story.budgets.overflowing) == (1, 0)


def over_budget(story: Story, look: NearTokens) -> bool:
    return any(look.tokens[tier] > most for tier, most in story.budgets.tokens.items())


def test_what_is_less_than_pruning_is_told(story: Story) -> None:
    did = {(rule, name) for rule, name, *_ in story.changed()}
    # Ten days: no task is old enough to be archived.
    assert {("budget.HOT", "moved to ARCHIVE"), ("reflection.unconsolidated", "flagged")} <= did
    assert [rail for rail, replayed, _ in story.rails() if replayed]
    made = [*story.replayed.changes, *story.alone.changes]
    assert not {"protect", "demote"} & {change.action for change in made if change.to is None}
    assert story.replayed.left_out == story.alone.left_out == 0


def test_what_was_observed_is_embedded_while_the_database_goes_on(story: Story) -> None:
    made = story.embeddings
    assert made is not None
    embedded = {name for name, kind in load_policy(POLICY).policy.labels().items() if kind.embed}
    live = sum(amount.n for amount in story.after.live if amount.kind in embedded)
    gone = sum(a + b for _, kind, a, b in story.pruned() if kind in embedded)  # some were embedded before they went
    assert 0 < made.done <= live + gone
    assert made.failed == 0
    assert made.per_second > 0


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
    assert page.tags.count("svg") == 6
    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert all(address.startswith("#") for address in page.addresses)
    assert "@import" not in text
    assert "url(h" not in text
    assert text.count("generated") > 5
    assert story.embeddings is not None
    assert f"embedded {story.embeddings.done:,} generated memories" in text
    assert all(rule in text for rule, *_ in (*story.pruned(), *story.changed()))
    assert all(f"<code>{held.rail}</code>" in text for held in story.rails)

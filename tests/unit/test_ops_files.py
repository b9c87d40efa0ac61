"""What is in ops/: alerts, their page and their tests name the same things, and the dashboard is what its generator makes."""

from __future__ import annotations

import json
import re
import runpy
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from tests.pages import says, table
from tests.prometheus import ALERTS, EXPORTER, OPS, names_in, quicker

from jochi.cli.tree import COMMANDS
from jochi.operate.metrics import METRICS
from jochi_workers.metrics import METRICS as METRICS_OF_WORKERS

ROOT = OPS.parent
RUNBOOK = (ROOT / "docs/how-to/runbook.md").read_text(encoding="utf-8")
DASHBOARD = json.loads((OPS / "grafana/jochi.json").read_text(encoding="utf-8"))
_COMMAND = re.compile(r"`jochi ([^`]+)`")
_TEMPLATE = re.compile(r"\{\{[^}]*\}\}")


def rules() -> list[dict[str, Any]]:
    """All alerts, in order."""
    groups = yaml.safe_load(ALERTS.read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> Iterator[dict[str, Any]]:
    """All panels of the dashboard that aren't rows."""
    return (panel for panel in DASHBOARD["panels"] if panel["type"] != "row")


def expressions() -> Iterator[str]:
    """All of alerts and dashboard."""
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


def test_each_alert_says_what_to_do_and_where_to_read_on() -> None:
    names = [rule["alert"] for rule in rules()]
    assert len(names) == len(set(names)) == RUNBOOK.count("\n### Jochi")
    for rule in rules():
        notes = rule["annotations"]
        assert rule["labels"]["severity"] in ("critical", "warning", "info")
        assert notes["runbook_url"] == f"docs/how-to/runbook.md#{rule['alert'].lower()}"
        assert f"\n### {rule['alert']}\n" in RUNBOOK
        assert len(_TEMPLATE.sub("…", notes["summary"])) < 100, rule["alert"]
        assert len(notes["description"]) > 40, rule["alert"]


def test_commands_that_alerts_and_runbook_name_are_there() -> None:
    there = {entry.name for entry in COMMANDS}
    texts = [rule["annotations"]["description"] for rule in rules()] + [RUNBOOK]
    named = {words.split()[0] for text in texts for words in _COMMAND.findall(text)}
    assert named <= there


def test_each_alert_is_tried_on_both_sides() -> None:
    tried = yaml.safe_load((OPS / "prometheus/alerts_test.yml").read_text(encoding="utf-8"))["tests"]
    seen: dict[str, Counter[bool]] = {}
    for test in tried:
        for look in test["promql_expr_test"]:
            assert f'alertname="{test["name"]}"' in look["expr"]
            seen.setdefault(test["name"], Counter())[look["exp_samples"][0]["value"] > 0] += 1
    assert [rule["alert"] for rule in rules()] == list(seen)
    assert all(sides[True] and sides[False] > 1 for sides in seen.values()), "before it, and when it is over"


def test_the_page_lists_the_alerts() -> None:
    rows = []
    for rule in rules():
        summary = _TEMPLATE.sub("…", rule["annotations"]["summary"].removeprefix("{{ $labels.instance }}: "))
        name = rule["alert"]
        after = rule.get("for", "at once")
        rows.append((f"[{name}](runbook.md#{name.lower()})", rule["labels"]["severity"], summary, after))
    head = ("alert", "severity", "what it says", "after")
    says("../how-to/monitor.md", {"alerts": table(head, rows)})


def test_each_panel_has_a_title_a_description_and_a_place_of_its_own() -> None:
    taken: Counter[tuple[int, int]] = Counter()
    for panel in DASHBOARD["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        taken.update(
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        )
    assert max(taken.values()) == 1
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
    assert all(len(panel["description"]) > 10 and panel["title"] and panel["targets"] for panel in panels())
    units = {panel["title"]: panel["fieldConfig"]["defaults"]["unit"] for panel in panels()}
    for panel in panels():
        measured = {
            "s" if re.search(r"_seconds(\{|_sum|_bucket)", target["expr"]) else "short" for target in panel["targets"]
        }
        assert measured == {units[panel["title"]]}, panel["title"]


def test_the_dashboard_is_what_its_generator_makes() -> None:
    pytest.importorskip("grafana_foundation_sdk", reason="the SDK needs Python 3.11")
    made = runpy.run_path(str(OPS / "grafana/dashboard.py"))
    assert made["text"]() == made["FILE"].read_text(encoding="utf-8"), "run `python ops/grafana/dashboard.py`"


def test_every_metric_that_is_read_is_one_of_ours() -> None:
    ours = set()
    for metric in (*METRICS, *METRICS_OF_WORKERS):
        parts = ("_bucket", "_sum", "_count") if metric.type == "histogram" else ("",)
        ours |= {metric.name + part for part in parts}
    assert set().union(*map(names_in, expressions())) - ours == set()


def test_each_query_for_the_exporter_is_a_metric_of_ours_and_of_one_form() -> None:
    """Prometheus' client refuses a name with two helps, or with two sets of labels."""
    forms: dict[str, set[Any]] = {}
    for query in yaml.safe_load(EXPORTER.read_text(encoding="utf-8"))["custom_queries"]:
        forms.setdefault(query["metric_name"], set()).add(
            (query["help"], query["type"], *sorted(query.get("labels", {})))
        )
        assert set(query) - {"labels"} == {"metric_name", "type", "help", "query"}
    assert all(len(form) == 1 for form in forms.values())
    ours = {metric.name: (metric.type, tuple(sorted(metric.labels))) for metric in METRICS}
    assert {name: (kind, tuple(labels)) for name, [(_, kind, *labels)] in forms.items()} == {
        name: ours[name] for name in forms
    }


def test_durations_are_made_shorter_and_thresholds_stay() -> None:
    rule = "expr: increase(a[1h]) > 3600 or b unless b offset 10m\nfor: 2m\nfor: 1m"
    assert quicker(rule, 60) == "expr: increase(a[60s]) > 3600 or b unless b offset 10s\nfor: 2s\nfor: 1s"


def test_names_are_found_outside_strings() -> None:
    assert names_in('sum by (job) (rate(jochi_a_total{job=~"jochi_b"}[5m])) > jochi_c') == {"jochi_a_total", "jochi_c"}

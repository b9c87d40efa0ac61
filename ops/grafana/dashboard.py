"""Makes jochi.json beside it: `python ops/grafana/dashboard.py`, with Grafana's own foundation SDK (the group `dev`).

Each panel reads Prometheus, never the database. `DASHBOARD` is the whole of it as data.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from grafana_foundation_sdk.builders import common, dashboard, prometheus, stat, table, timeseries
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import common as common_models
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

FILE = Path(__file__).with_name("jochi.json")
WIDTH = 24
"""Columns of Grafana's grid."""

SOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
WORST = [(None, "green"), (1, "orange")]
"""Colours of a number that should be 0."""

HERE = '{database=~"$database", instance=~"$instance"}'
"""What the variables choose; users without the label `database` have it as All, which also matches nothing."""


def here(name: str, *matchers: str) -> str:
    """The series of a metric that the variables choose."""
    return name + HERE.replace("}", "".join(f", {one}" for one in matchers) + "}")


def age(name: str, *, by: str = "instance") -> str:
    """Seconds since the latest of a metric's timestamps."""
    return f"time() - max by ({by}) ({here(name)})"


def rate(name: str, by: str) -> str:
    """A counter's rise a second, for the time between two points of the plot."""
    return f"sum by ({by}) (rate({here(name)}[$__rate_interval]))"


def rise(name: str, by: str) -> str:
    """How much a counter rose within the range that is shown."""
    return f"sum by ({by}) (increase({here(name)}[$__range]))"


@dataclass(frozen=True)
class Panel:
    """One panel. ``queries``: expressions with the legend of their series; ``unit``: Grafana's id of one; ``steps``: from which
    value on which colour; ``names``: words for single values; ``shape``: number, line, stack or table."""

    title: str
    description: str
    queries: tuple[tuple[str, str], ...]
    unit: str = "short"
    shape: str = "line"
    width: int = 8
    steps: tuple[tuple[float | None, str], ...] = ()
    names: tuple[tuple[str, str, str], ...] = ()


def number(
    title: str,
    description: str,
    expression: str,
    unit: str = "short",
    *,
    legend: str = "{{instance}}",
    width: int = 4,
    steps: tuple[tuple[float | None, str], ...] = (),
    names: tuple[tuple[str, str, str], ...] = (),
) -> Panel:
    """One number, or one a series."""
    return Panel(title, description, ((expression, legend),), unit, "number", width, steps, names)


def ages(limit: float) -> tuple[tuple[float | None, str], ...]:
    """Green up to ``limit`` seconds."""
    return ((None, "green"), (limit, "red"))


YES_NO = (("1", "yes", "green"), ("0", "no", "red"))
OPEN = (("0", "open", "green"), ("1", "closed", "red"))
ARMED = (("1", "armed", "green"), ("0", "missing", "red"))
IN_PLACE = (("0", "in place", "green"), ("1", "missing", "orange"))

DASHBOARD: dict[str, tuple[Panel, ...]] = {
    "Is it alive?": (
        number(
            "Database answers",
            "Whether the database answered `jochi metrics` at the last scrape.",
            here("jochi_up"),
            names=YES_NO,
        ),
        number(
            "Last tick",
            "Since the pump last said that it is alive. It does so every 10 seconds.",
            age("jochi_last_tick_timestamp_seconds"),
            "s",
            steps=ages(300),
        ),
        number(
            "Last change",
            "Since a run last changed a memory. Long is only wrong where memories are due.",
            age("jochi_last_change_timestamp_seconds"),
            "s",
        ),
        number(
            "Repeat jobs",
            "The pump runs the jobs, the watch arms the pump again. No data: the user may not see the list.",
            here("jochi_repeat_job_armed"),
            legend="{{name}}",
            names=ARMED,
        ),
        number(
            "Line in apoc.conf",
            "It arms the pump after a restart of the server. `jochi doctor` prints it.",
            here("jochi_restart_line_missing"),
            names=IN_PLACE,
        ),
        number(
            "Indexes not online",
            "Jochi's indexes that are missing, failed or being built.",
            here("jochi_indexes_offline"),
            steps=tuple(WORST),
        ),
        Panel(
            "Alerts",
            "Jochi's alerts that fire or are about to, as Prometheus knows them (alerts.yml).",
            (('ALERTS{alertname=~"Jochi.+"}', "{{alertname}}"),),
            shape="table",
            width=16,
        ),
        Panel(
            "Scrape",
            "How long the database takes to answer `jochi metrics`: 0.3 seconds at most on a healthy server.",
            ((here("jochi_scrape_duration_seconds"), "{{instance}}"),),
            "s",
        ),
    ),
    "What waits for a person": (
        number(
            "Inbox",
            "Everything that waits for a person. `jochi inbox` lists it with the commands that decide.",
            f"sum by (instance) ({here('jochi_inbox_items')})",
            steps=tuple(WORST),
        ),
        number(
            "Waits for go",
            "Whether the policy's rules wait for `jochi apply`. Nothing is pruned before.",
            here("jochi_waiting_for_go"),
            names=(("0", "no", "green"), ("1", "yes", "orange")),
        ),
        number(
            "Gap guard",
            "Closed after a clock that went back, a long outage or a copied store: `jochi approve` opens it.",
            here("jochi_guard_closed"),
            names=OPEN,
        ),
        number(
            "Breakers tripped",
            "Kinds in scopes of which more were due than may go in a day: `jochi approve RUN`.",
            here("jochi_breakers_tripped"),
            steps=tuple(WORST),
        ),
        number(
            "Paused",
            "Kill switches that are on.",
            f"sum by (instance) ({here('jochi_paused')})",
            steps=tuple(WORST),
        ),
        number(
            "Put aside",
            "Memories that made a batch fail and wait for their next try.",
            here("jochi_quarantined_memories"),
            steps=tuple(WORST),
        ),
        Panel(
            "Inbox by kind",
            "What waits for a person, over time. A line that never falls is one that nobody decides.",
            ((f"{here('jochi_inbox_items')} > 0", "{{kind}}"),),
            shape="stack",
            width=12,
        ),
        Panel(
            "Jobs that wait",
            "How long each job has waited for a go, for the guard or for an approval.",
            ((f"time() - {here('jochi_job_waits_since_timestamp_seconds')}", "{{job_name}}"),),
            "s",
            width=12,
        ),
    ),
    "What came and went": (
        Panel(
            "Memories under curation",
            "Exact, from the count store.",
            ((here("jochi_curated_memories"), "{{instance}}"),),
        ),
        Panel(
            "Due",
            "Memories for which a rule may apply now. A saw-tooth is health; a slope is a backlog.",
            ((here("jochi_memories_due"), "{{instance}}"),),
        ),
        Panel(
            "Oldest due",
            "How long the memory that is due for longest has waited.",
            ((age("jochi_memories_due_oldest_timestamp_seconds"), "{{instance}}"),),
            "s",
        ),
        Panel(
            "Actions",
            "What the runs did, an hour: pruned, archived, moved, merged, restored.",
            ((f"3600 * {rate('jochi_actions_total', 'action')}", "{{action}}"),),
            shape="stack",
        ),
        Panel(
            "Pruned by rule",
            "Which rule took memories, within the range shown.",
            ((f"{rise('jochi_memories_pruned_total', 'kind, rule')} > 0", "{{kind}} {{rule}}"),),
            shape="table",
        ),
        Panel(
            "Held by rails",
            "What a rule would have taken and a rail kept, within the range shown.",
            ((f"{rise('jochi_memories_held_total', 'rail')} > 0", "{{rail}}"),),
            shape="table",
        ),
        Panel(
            "Changed by job",
            "Memories that each job changed, an hour.",
            ((f"3600 * {rate('jochi_memories_changed_total', 'job_name')}", "{{job_name}}"),),
            shape="stack",
            width=12,
        ),
        Panel(
            "Memories by kind",
            "As the counting job last found them.",
            ((f"sum by (kind) ({here('jochi_memories')})", "{{kind}}"),),
            shape="stack",
            width=12,
        ),
    ),
    "Tokens and budgets": (
        Panel(
            "Tokens by tier",
            "HOT is what agents carry with them. As the counting job last found them.",
            ((f"sum by (tier) ({here('jochi_memory_tokens')})", "{{tier}}"),),
            shape="stack",
        ),
        Panel(
            "Memories by tier",
            "As the counting job last found them.",
            ((f"sum by (tier) ({here('jochi_memories')})", "{{tier}}"),),
            shape="stack",
        ),
        Panel(
            "Scopes above a budget",
            "Scopes whose pinned memories need more than the tier may hold. `jochi budgets` names them.",
            ((here("jochi_budgets_over"), "{{tier}}"),),
        ),
        number(
            "Counted",
            "Since memories and tokens were last counted. Counting reads every memory, so a job does it.",
            age("jochi_memories_counted_timestamp_seconds"),
            "s",
            steps=ages(2 * 86400),
        ),
    ),
    "Runs": (
        Panel(
            "Runs an hour",
            "By outcome. Failed runs are in `jochi jobs history`.",
            ((f"3600 * {rate('jochi_runs_total', 'outcome')}", "{{outcome}}"),),
            shape="stack",
        ),
        Panel(
            "Duration",
            "The median and the slow end of all runs.",
            tuple(
                (f"histogram_quantile({share}, {rate('jochi_run_duration_seconds_bucket', 'le')})", f"{share:.0%}")
                for share in (0.5, 0.95, 0.99)
            ),
            "s",
        ),
        Panel(
            "Mean duration by job",
            "Which job is slow.",
            (
                (
                    f"{rate('jochi_run_duration_seconds_sum', 'job_name')}"
                    f" / {rate('jochi_run_duration_seconds_count', 'job_name')}",
                    "{{job_name}}",
                ),
            ),
            "s",
        ),
        Panel(
            "Failures in a row",
            "By job. Three are an alert.",
            ((f"{here('jochi_job_failures')} > 0", "{{job_name}}"),),
        ),
        Panel(
            "Next start",
            "Seconds until each job that is enabled starts next; below 0: it is late.",
            (
                (
                    f"{here('jochi_job_next_start_timestamp_seconds')} - time() "
                    f"and on (instance, job_name) {here('jochi_job_enabled')} == 1",
                    "{{job_name}}",
                ),
            ),
            "s",
            "table",
        ),
        Panel(
            "Jobs that are off",
            "Paused by somebody, or waiting for the first go.",
            ((f"{here('jochi_job_enabled')} == 0", "{{job_name}}"),),
            shape="table",
        ),
    ),
    "Workers and models": (
        number(
            "Workers",
            "Workers that were seen lately.",
            here("jochi_workers"),
        ),
        Panel(
            "Last seen",
            "Since each worker was last seen. One that said goodbye isn't here.",
            ((age("jochi_worker_last_seen_timestamp_seconds", by="worker"), "{{worker}}"),),
            "s",
            "table",
            width=10,
        ),
        Panel(
            "Work that waits",
            "By derivation. `jochi derive ls` says the same.",
            ((here("jochi_work_waiting"), "{{derivation}}"),),
            shape="stack",
            width=10,
        ),
        Panel(
            "Work done",
            "Items an hour, by derivation and outcome.",
            ((f"3600 * {rate('jochi_derivation_items_total', 'derivation, outcome')}", "{{derivation}} {{outcome}}"),),
            shape="stack",
        ),
        Panel(
            "Work put aside",
            "What failed too often. `jochi derive retry` tries it again.",
            ((f"{here('jochi_work_put_aside')} > 0", "{{derivation}}"),),
        ),
        Panel(
            "Tokens of models",
            "Sent and received, an hour.",
            ((f"3600 * {rate('jochi_model_tokens_total', 'derivation, direction')}", "{{derivation}} {{direction}}"),),
            shape="stack",
        ),
        Panel(
            "Cost of models",
            "In the currency of the policy's prices, within the range shown.",
            ((rise("jochi_model_cost_total", "derivation"), "{{derivation}}"),),
            shape="table",
        ),
        Panel(
            "Batches of workers",
            "How long a worker's batch takes, by derivation (`jochi worker --metrics`).",
            (
                (
                    "sum by (derivation) (rate(jochi_worker_batch_seconds_sum[$__rate_interval])) "
                    "/ sum by (derivation) (rate(jochi_worker_batch_seconds_count[$__rate_interval]))",
                    "{{derivation}}",
                ),
            ),
            "s",
        ),
        Panel(
            "Files that could not be written",
            "Contexts and mirrors that a worker could not write, an hour: a full disk, or no right.",
            (
                (
                    "3600 * sum by (instance, what) (rate(jochi_worker_disk_errors_total[$__rate_interval]))",
                    "{{instance}} {{what}}",
                ),
            ),
        ),
    ),
    "Storage": (
        Panel(
            "Tombstones",
            "Pruned memories that can still be restored, and those that the next purge takes.",
            ((here("jochi_tombstones"), "all"), (here("jochi_tombstones_due"), "due")),
        ),
        Panel(
            "Records and snapshots",
            "What undo needs. The policy says how long it is kept.",
            ((here("jochi_records"), "records"), (here("jochi_snapshots"), "snapshots")),
        ),
        Panel(
            "Forgettings that are open",
            "Orders to forget that wait for a person's answer.",
            ((here("jochi_forgettings_open"), "{{instance}}"),),
        ),
        Panel(
            "Versions",
            "What runs where.",
            ((here("jochi_build_info"), "{{instance}}"),),
            shape="table",
            width=24,
        ),
    ),
}


def build() -> models.Dashboard:
    """The dashboard."""
    made = (
        dashboard.Dashboard("Jochi")
        .uid("jochi-memory-curation")
        .description(
            "What curates the memories of agents inside Neo4j: whether it works, what it did, what it waits for."
        )
        .tags(["jochi", "neo4j"])
        .timezone("browser")
        .time("now-24h", "now")
        .refresh("1m")
        .editable()
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .with_variable(dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"))
        .with_variable(_choice("database", "Database", "label_values(jochi_up, database)"))
        .with_variable(_choice("instance", "Instance", 'label_values(jochi_up{database=~"$database"}, instance)'))
        .annotation(
            dashboard.AnnotationQuery()
            .name("Alerts")
            .datasource(SOURCE)
            .enable(True)
            .icon_color("red")
            .expr('ALERTS{alertname=~"Jochi.+", alertstate="firing"}')
        )
    )
    number = 0
    for title, panels in DASHBOARD.items():
        made = made.with_row(dashboard.Row(title).id(number := number + 1))
        for panel in panels:
            made = made.with_panel(_built(panel, number := number + 1))
    return made.build()


def text() -> str:
    """What stands in the file."""
    return json.dumps(build(), cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _choice(name: str, label: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(SOURCE)
        .query({"query": query, "refId": name})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
        .multi(True)
        .include_all(True)
        .all_value(".*")
        .current(models.VariableOption(selected=True, text="All", value="$__all"))
    )


def _built(panel: Panel, number: int) -> stat.Panel | table.Panel | timeseries.Panel:
    kinds: dict[str, type[stat.Panel | table.Panel | timeseries.Panel]] = {"number": stat.Panel, "table": table.Panel}
    made = kinds.get(panel.shape, timeseries.Panel)()
    made = made.id(number).title(panel.title).description(panel.description).datasource(SOURCE).unit(panel.unit)
    made = made.height(4 if panel.shape == "number" else 8).span(panel.width)
    at_once = panel.shape in ("number", "table")
    for place, (expression, legend) in enumerate(panel.queries):
        query = prometheus.Dataquery().expr(expression).legend_format(legend).ref_id("ABCDEF"[place]).datasource(SOURCE)
        query = query.instant() if at_once else query.range()
        made = made.with_target(query.format(PromQueryFormat.TABLE) if panel.shape == "table" else query)
    if panel.steps:
        made = made.thresholds(
            dashboard.ThresholdsConfig()
            .mode(models.ThresholdsMode.ABSOLUTE)
            .steps([models.Threshold(value, color) for value, color in panel.steps])
        )
    if panel.names:
        results = {value: models.ValueMappingResult(text, color) for value, text, color in panel.names}
        made = made.mappings([models.ValueMap(results)])
    if isinstance(made, stat.Panel):
        made.reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]))
        made.graph_mode(common_models.BigValueGraphMode.NONE)
    elif isinstance(made, timeseries.Panel):
        made.min(0).legend(
            common.VizLegendOptions()
            .display_mode(common_models.LegendDisplayMode.LIST)
            .placement(common_models.LegendPlacement.BOTTOM)
            .show_legend(True)
        )
        if panel.shape == "stack":
            made.stacking(common.StackingConfig().mode(common_models.StackingMode.NORMAL)).fill_opacity(30)
    else:
        made.with_transformation(
            models.DataTransformerConfig(id_val="organize", options={"excludeByName": {"Time": True, "__name__": True}})
        )
    return made


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")

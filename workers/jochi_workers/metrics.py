"""What a worker counts of itself, for Prometheus (`jochi worker --metrics`; docs/reference/metrics.md): no content, and no key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Histogram
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from jochi.operate.metrics import Metric, Samples
from jochi_workers.context_files import Files

if TYPE_CHECKING:
    from jochi_workers.worker import Progress

_SECONDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)

_OUTCOMES = {
    "done": "done",
    "duplicates": "duplicate",
    "forgotten": "forgotten",
    "outdated": "outdated",
    "dropped": "dropped",
    "failed": "failed",
    "quarantined": "put_aside",
}
"""By field of `Progress`."""


def _items(found: WorkerMetrics) -> Samples:
    for name, progress in found.progress.items():
        for field, outcome in _OUTCOMES.items():
            yield (name, outcome), float(getattr(progress, field))


def _tokens(found: WorkerMetrics) -> Samples:
    for name, progress in found.progress.items():
        yield (name, "in"), float(progress.tokens_in)
        yield (name, "out"), float(progress.tokens_out)


def _batches(_found: WorkerMetrics) -> Samples:
    return []


METRICS: tuple[Metric, ...] = (
    Metric(
        "jochi_worker_items_total",
        "counter",
        "What became of the work that this worker took: done, duplicate, forgotten, outdated, dropped, failed, put_aside.",
        ("derivation", "outcome"),
        "the process",
        _items,
    ),
    Metric(
        "jochi_worker_batch_seconds",
        "histogram",
        "How long batches took, from their lease to their results in the database.",
        ("derivation",),
        "the process",
        _batches,
    ),
    Metric(
        "jochi_worker_model_tokens_total",
        "counter",
        "Tokens that models were sent (in) and wrote (out).",
        ("derivation", "direction"),
        "the process",
        _tokens,
    ),
    Metric(
        "jochi_worker_disk_errors_total",
        "counter",
        "Files of contexts and mirrors that could not be written, try by try.",
        ("what",),
        "the process",
        lambda found: [((files.name,), float(files.errors)) for files in found.files if files.on_disk],
    ),
)


class WorkerMetrics(Collector):
    """Metrics of one worker: what ``progress`` and ``files`` count, and how long batches take."""

    def __init__(self, progress: Mapping[str, Progress], files: Sequence[Files]) -> None:
        self.files = files
        queues = progress.keys() - {each.name for each in files}
        self.progress = {name: of for name, of in progress.items() if name in queues}
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)
        batches = next(metric for metric in METRICS if metric.type == "histogram")
        self._seconds = Histogram(batches.name, batches.help, batches.labels, registry=self.registry, buckets=_SECONDS)

    def describe(self) -> Iterable[Family]:
        """Nothing: registering counts nothing."""
        return []

    def collect(self) -> Iterator[Family]:
        """All but the histogram, which is its own collector."""
        yield from (metric.family(self) for metric in METRICS if metric.type != "histogram")

    def took(self, queue: str, seconds: float) -> None:
        """A batch of this queue has been done."""
        self._seconds.labels(queue).observe(seconds)

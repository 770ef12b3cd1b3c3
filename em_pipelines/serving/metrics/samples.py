"""Samples: a name, labels and a value; and how they are written down, as the text format of Prometheus and as rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from em_pipelines.serving.metrics.catalogue import METRICS, OF_SAMPLE, Metric
from em_pipelines.serving.metrics.daily import shown
from em_pipelines.storage.histograms import BUCKETS_MS, Histogram

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LE = "le"


@dataclass(frozen=True, slots=True)
class Sample:
    """One value. `name` is a metric's, of a histogram with _bucket, _sum or _count."""

    name: str
    labels: Mapping[str, str]
    value: float

    @property
    def metric(self) -> Metric:
        """The metric that it is of."""
        return OF_SAMPLE[self.name]

    @property
    def order(self) -> tuple[object, ...]:
        """By metric as the catalogue has them, labels, and the end of the bucket."""
        told = tuple(sorted((name, value) for name, value in self.labels.items() if name != LE))
        end = float(self.labels[LE].replace("+Inf", "inf")) if LE in self.labels else -1.0
        return METRICS.index(self.metric), told, self.metric.sample_names.index(self.name), end


def of_histogram(name: str, labels: Mapping[str, str], histogram: Histogram) -> Iterator[Sample]:
    """The samples of one histogram of durations: buckets that count what is at most their end, sum and count."""
    n_so_far = 0
    for end, n in zip((*BUCKETS_MS, float("inf")), histogram.counts, strict=True):
        n_so_far += n
        yield Sample(f"{name}_bucket", {**labels, LE: shown(end)}, n_so_far)
    yield Sample(f"{name}_sum", labels, histogram.sum_ms)
    yield Sample(f"{name}_count", labels, n_so_far)


def exposition(samples: Iterable[Sample]) -> str:
    """The text format of Prometheus, version 0.0.4: every metric with HELP and TYPE, whether or not it has values.

    Written here, since `prometheus_client` knows no counter whose name does not end in `_total`.
    """
    by_metric: dict[str, list[Sample]] = {metric.name: [] for metric in METRICS}
    for sample in sorted(samples, key=lambda one: one.order):
        by_metric[sample.metric.name].append(sample)
    lines = []
    for metric in METRICS:
        lines.append(f"# HELP {metric.name} {metric.about}")
        lines.append(f"# TYPE {metric.name} {metric.kind}")
        lines += [_line(sample) for sample in by_metric[metric.name]]
    return "\n".join(lines) + "\n"


def rows(samples: Iterable[Sample]) -> list[dict[str, Any]]:
    """The same as rows: metric, kind, name, labels and value."""
    return [
        {
            "metric": one.metric.name,
            "kind": one.metric.kind.value,
            "name": one.name,
            "labels": dict(one.labels),
            "value": one.value,
        }
        for one in sorted(samples, key=lambda one: one.order)
    ]


def _line(sample: Sample) -> str:
    labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sorted(sample.labels.items()))
    value = int(sample.value) if sample.value == int(sample.value) else repr(sample.value)
    return f"{sample.name}{{{labels}}} {value}" if labels else f"{sample.name} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")

"""Which metrics there are: name, kind, labels, what each says and where from; docs/metrics.md has them, too.

Names and labels are those of the specification, which is why some do not follow Prometheus' own habits (milliseconds, a
counter without `_total`). Add a metric here, its rows to sql/day.sql or to `live`, and a row to the page.
"""

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a value is: `counter` counts on, `gauge` is as it stands, `histogram` counts into buckets."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `is_daily` says that the table `metrics` has it: what a day added to a counter, and what a gauge was
    at its end. The others are measured by a clock, or of now alone."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    about: str
    source: str
    is_daily: bool = True

    @property
    def sample_names(self) -> tuple[str, ...]:
        """The names that its values stand under."""
        suffixes = ("_bucket", "_sum", "_count") if self.kind is Kind.HISTOGRAM else ("",)
        return tuple(f"{self.name}{suffix}" for suffix in suffixes)


C, G, H = Kind.COUNTER, Kind.GAUGE, Kind.HISTOGRAM
METRICS = (
    Metric("em_extraction_latency_ms", H, ("stage", "channel"),
           "Milliseconds in which a step made a day; of days made together, the mean.",
           "notes of the steps, timings/", is_daily=False),
    Metric("em_extraction_total", C, ("stage", "status"),
           "Messages by how far they came, and what was read in them by whether it was kept.",
           "interactions, dead_letters, messages, extraction_issues, claims, mentions"),
    Metric("em_entities_extracted", C, ("type", "source_mechanism"),
           "Names of things that were read; inferential where the text implies them.", "mentions"),
    Metric("em_edges_created", C, ("relation", "temporal_type"), "Facts that were new.", "graph_ops, current_edges"),
    Metric("em_edges_reinforced", C, ("relation",), "Facts that were said again.", "graph_ops, current_edges"),
    Metric("em_edges_contradicted", C, ("relation",), "Facts that another spoke against.", "graph_ops, current_edges"),
    Metric("em_edges_archived", C, ("reason",), "Facts that time put out of use: faded or expired.", "audit_trail"),
    Metric("em_confidence_distribution", H, ("temporal_type",), "Effective confidence of the facts that stand, 0 to 1.",
           "current_edges"),
    Metric("em_graph_nodes_total", G, ("type",), "Entities, each counted once whatever its names.", "entities"),
    Metric("em_graph_edges_total", G, ("relation",), "Facts that stand.", "current_edges"),
    Metric("em_queue_depth", G, ("queue_name",), "What waits.",
           "log, extraction_issues, probes, starters, batches, quarantine, requests to forget", is_daily=False),
    Metric("em_queue_age_seconds", G, ("queue_name",), "How long the oldest that waits has waited.",
           "the same, where it is known since when", is_daily=False),
    Metric("em_probe_generated", C, ("type",), "Questions that memory would ask, or was heard to have asked.",
           "probes, feedback", is_daily=False),
    Metric("em_probe_delivered", C, ("type",), "Questions that were asked, as agents report.", "feedback"),
    Metric("em_probe_accepted", C, ("type",), "Questions that were answered, as agents report.", "feedback"),
    Metric("em_probe_suppressed", C, ("reason",), "Questions that were not asked.", "the book of offers",
           is_daily=False),
    Metric("em_starter_delivered", C, ("type",), "Openings that were said, as agents report.", "feedback"),
    Metric("em_starter_engaged", C, ("type",), "Openings that were taken up, as agents report.", "feedback"),
    Metric("em_hallucination_detected", C, ("stage",),
           "Doubts of verification: grounding of what no turn says, verification of everything else.",
           "extraction_issues"),
    Metric("em_llm_tokens_used", C, ("model", "task"), "Tokens sent and received.", "calls of models, llm_calls"),
    Metric("em_llm_latency_ms", H, ("model", "task"), "Milliseconds of a call that no cache answered.",
           "calls of models, llm_calls"),
    Metric("em_llm_errors", C, ("model", "error_type"), "Calls that failed.", "calls of models, llm_calls"),
    Metric("em_neo4j_query_latency_ms", H, ("query_type",), "Milliseconds of a call of the graph database.",
           "note of the syncs, timings/", is_daily=False),
    Metric("em_revision_edges_processed", C, ("action",), "Facts that were looked up, by what came of it.", "feedback"),
    Metric("em_inference_edges_created", C, (), "Facts that came to follow from others.", "audit_trail"),
    Metric("em_user_corrections", C, ("correction_type",), "Corrections of people, or of agents for them.", "feedback"),
    Metric("em_circuit_breaker_state", G, ("dependency",),
           "0 closed; 1 half-open: the next call is a trial; 2 open: nothing is asked.",
           "notes of outages, locks/*.down", is_daily=False),
)  # fmt: skip
BY_NAME = {metric.name: metric for metric in METRICS}
OF_SAMPLE = {sample: metric for metric in METRICS for sample in metric.sample_names}
"""Metrics by the names that their values stand under."""

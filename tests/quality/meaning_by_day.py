"""The oracle of the checks on meaning: one day after the other, in Arrow and Python, as functions from the tables of a
day to a finding. What they find, the statements of `quality.meaning` find."""

from collections import Counter
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.lifecycle.inference.settings import MAX_CONFIDENCE, MAX_HOPS
from em_pipelines.schema.readings import DEAD_LETTER, PENDING, UNSUPPORTED
from quality.finding import Finding

LIMITS = QualitySettings()
ASK_AGAIN = "if a model was bad on that day, `em llm forget --from {day} --to {day}`, then `em run` asks it again"


def inferences_grounded(inferred_edges: pa.Table, current_edges: pa.Table) -> Finding:
    """Every inferred edge is bounded and rests on active edges of its user; the figure is the number that do not."""
    standing = {
        (user, edge)
        for user, edge, status, polarity in zip(
            *(current_edges[name].to_pylist() for name in ("user_id", "edge_id", "status", "polarity")), strict=True
        )
        if (status, polarity) == ("active", 1)
    }
    columns = (inferred_edges[name].to_pylist() for name in ("user_id", "premises", "hops", "confidence"))
    n_wrong = sum(
        not 1 <= len(premises) == hops <= MAX_HOPS
        or not 0 <= confidence <= MAX_CONFIDENCE
        or any((user, premise) not in standing for premise in premises)
        for user, premises, hops, confidence in zip(*columns, strict=True)
    )
    return Finding(
        n_wrong == 0,
        float(n_wrong),
        "inferred edges do not follow from the facts of their day: materialize inferred_edges again",
    )


def _grounded(rows: pa.Table, current_edges: pa.Table, names: tuple[str, ...], cause: tuple[str, ...]) -> Finding:
    open_facts = {
        (edge["user_id"], edge["edge_id"])
        for edge in current_edges.to_pylist()
        if edge["status"] in ("active", "contradicted")
        and edge["privacy_level"] in ("L0", "L1", "L2")
        and not edge["requires_verification"]
    }
    told = rows.to_pylist()
    causes = Counter(tuple(row[name] for name in cause) for row in told)
    n_wordless = sum(
        not row["text"].strip(" ") or not row.get("benefit", "-").strip(" ") or row["expires_at"] <= row["generated_at"]
        for row in told
    )
    n_ungrounded = sum(
        any(row[name] is not None and (row["user_id"], row[name]) not in open_facts for name in names) for row in told
    )
    n_twice = sum(causes[tuple(row[name] for name in cause)] > 1 for row in told)
    n_wrong = n_wordless + n_ungrounded + n_twice
    return Finding(
        n_wrong == 0,
        float(n_wrong),
        f"{n_wordless} say nothing or have ended before they began, {n_ungrounded} rest on no fact that may be asked "
        f"about, {n_twice} are of one cause with another: materialize the table again",
    )


def probes_grounded(probes: pa.Table, current_edges: pa.Table) -> Finding:
    """Every question says something, stands once a cause, and rests on facts that may be asked about."""
    cause = ("user_id", "kind", "gap", "entity_id", "edge_id", "other_edge_id")
    return _grounded(probes, current_edges, ("edge_id", "other_edge_id"), cause)


def starters_grounded(starters: pa.Table, current_edges: pa.Table) -> Finding:
    """Every opening says something, stands once an occasion, and rests on facts that may be told."""
    cause = ("user_id", "kind", "edge_id", "experience_id", "world_event_id", "occasion_on")
    return _grounded(starters, current_edges, ("edge_id",), cause)


def extraction_coverage(
    messages: pa.Table, mentions: pa.Table, claims: pa.Table, extraction_issues: pa.Table, quarantine: pa.Table
) -> Finding:
    """Every message has a mention, a claim or an issue, or is set aside; the figure is the covered share, 0 to 1."""
    read = {found for rows in (mentions, claims, extraction_issues) for found in rows["message_id"].to_pylist()}
    aside = _set_aside(quarantine)
    said = [(row["message_id"], row["user_id"]) for row in messages.select(["message_id", "user_id"]).to_pylist()]
    read |= {message_id for message_id, user in said if user in aside}
    n_covered = sum(message_id in read for message_id, _ in said)
    share = n_covered / messages.num_rows if messages.num_rows else 1.0
    return Finding(
        n_covered == messages.num_rows,
        share,
        "messages were lost between cleaning and extraction: materialize claims again for the days that fail",
    )


def messages_complete(interactions: pa.Table, messages: pa.Table, quarantine: pa.Table) -> Finding:
    """As many messages as interactions, but for those set aside; the figure is the difference."""
    aside = _set_aside(quarantine)
    n_said, n_read = (sum(u not in aside for u in rows["user_id"].to_pylist()) for rows in (interactions, messages))
    missing = n_said - n_read
    return Finding(
        missing == 0, float(missing), "messages are missing: materialize messages again for the days that fail"
    )


def nothing_set_aside(quarantine: pa.Table) -> Finding:
    """Nothing of the day is in quarantine; the figure is the number of entries."""
    return Finding(
        quarantine.num_rows == 0,
        float(quarantine.num_rows),
        "claims, or what a day brought of a user, were set aside so that the rest is served: see `em quarantine list`",
    )


def _set_aside(quarantine: pa.Table) -> set[str]:
    """The users of whom nothing of the day counts."""
    return {row["user_id"] for row in quarantine.to_pylist() if row["claim_id"] is None}


def relates_to_share(claims: pa.Table) -> Finding:
    """The last-resort relation is rare; the figure is its share of the claims, 0 to 1."""
    is_last_resort = pc.and_(pc.equal(claims["relation"], "relates_to"), pc.equal(claims["act"], "assert"))
    n_last_resort = pc.sum(is_last_resort).as_py() or 0
    share = n_last_resort / claims.num_rows if claims.num_rows else 0.0
    return Finding(
        share <= LIMITS.max_relates_to_share,
        share,
        "the extractor does not understand what it reads: look at these claims and add patterns for them",
    )


def conflict_burst(contradictions: pa.Table) -> Finding:
    """Open conflicts about one thing are few; the figure is the most that any thing has. Never more than a warning."""
    is_open = pc.equal(contradictions["status"], "open")
    counts = contradictions.filter(is_open).group_by(["user_id", "entity_id"]).aggregate([([], "count_all")])
    most = pc.max(counts["count_all"]).as_py() or 0
    return Finding(
        most <= LIMITS.max_open_conflicts,
        float(most),
        "much that cannot hold together was said of one thing: look at it with `em facts` and confirm what is right",
        is_warning=True,
    )


def hallucination_rate(claims: pa.Table, mentions: pa.Table, extraction_issues: pa.Table) -> Finding:
    """Share, 0 to 1, of what was read that no turn supports: from 2 % a warning, from 5 % a failure."""
    n_refused = _refused(extraction_issues).num_rows
    n_read = claims.num_rows + mentions.num_rows + n_refused
    share = n_refused / n_read if n_read else 0.0
    return Finding(
        share < LIMITS.warn_hallucination_rate,
        share,
        "the extractor says what nobody said: look at these issues by name in extraction_issues, then at the prompt or "
        f"the model; {ASK_AGAIN}",
        is_warning=share < LIMITS.max_hallucination_rate,
    )


def extraction_complete(extraction_issues: pa.Table) -> Finding:
    """No message waits for a model; the figure is the number that do, and the reason that of most of them."""
    reasons = Counter(
        row["detail"] or "" for row in extraction_issues.to_pylist() if row["issue"] in {PENDING, DEAD_LETTER}
    )
    cause = min(reasons, key=lambda reason: (-reasons[reason], reason), default="")
    return Finding(
        not reasons,
        float(reasons.total()),
        f"messages were not read{f' ({cause})' if cause else ''}: pending ones are read by the next run, dead letters "
        "after `em dead-letters replay`",
    )


def _refused(extraction_issues: pa.Table) -> pa.Table:
    return extraction_issues.filter(pc.is_in(extraction_issues["issue"], value_set=pa.array(UNSUPPORTED)))


def hallucination_spike(extraction_issues: pa.Table) -> Finding:
    """At most five items are refused within any hour of event time, as no turn says them; the figure is the most."""
    most = most_within(sorted(_refused(extraction_issues)["timestamp"].to_pylist()), timedelta(hours=1))
    return Finding(
        most <= LIMITS.max_refused_an_hour,
        float(most),
        "the model makes things up, one conversation after the other: look at its answers before more are asked for; "
        f"{ASK_AGAIN}",
    )


def most_within(instants: list[datetime], span: timedelta) -> int:
    """The largest number of the sorted instants that lie within one span, its end left out."""
    most = first = 0
    for last, instant in enumerate(instants):
        while instants[first] <= instant - span:
            first += 1
        most = max(most, last - first + 1)
    return most

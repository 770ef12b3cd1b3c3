"""Checks of our own on meaning: what no schema can say. Of rates `quality.rates` has more, `quality.drift` those that
compare days. Each judges the figures that its statement in sql/ gives of one day, by the limits that are set.
"""

from collections.abc import Iterable, Sequence
from datetime import date

from em_pipelines.governance.audit.integrity import Rule, violations_on
from em_pipelines.governance.audit.settings import QualitySettings
from em_pipelines.lifecycle.inference.settings import MAX_CONFIDENCE, MAX_HOPS
from em_pipelines.schema.readings import DEAD_LETTER, PENDING, UNSUPPORTED
from em_pipelines.schema.table import Table
from em_pipelines.schema.tables import clean, derived, extraction, graph, outgoing, raw, record
from em_pipelines.storage.lake import Lake
from quality.finding import DAY, Finding, MeaningCheck

ASK_AGAIN = f"if a model was bad on that day, `em llm forget --from {DAY} --to {DAY}`, then `em run` asks it again"
MAY_BE_ASKED = {"standing": ["active", "contradicted"], "open_levels": ["L0", "L1", "L2"]}
"""Of which facts memory speaks by itself: of those that stand, personal ones at most."""


def integrity_findings(lake: Lake, rules: Iterable[Rule], days: Sequence[date]) -> dict[str, dict[date, Finding]]:
    """By name of rule, how many rows break it on each of the days: of a state one day holds all that came before it.

    All rules are asked of one reading. Raises CorruptTableError.
    """
    rules = list(rules)
    broken = {day: violations_on(lake, day, rules) for day in days}
    return {
        rule.name: {
            day: Finding(not ids[rule.name], float(len(ids[rule.name])), rule.advice) for day, ids in broken.items()
        }
        for rule in rules
    }


def rule_reads(rule: Rule) -> tuple[Table, ...]:
    """The tables whose newest state a rule of integrity is asked of."""
    return (graph.ENTITIES,) if rule.table is graph.ENTITIES else (graph.EDGES, graph.ENTITIES)


def inferences_grounded(_: QualitySettings, n_wrong: int) -> Finding:
    """Every inferred edge is bounded and rests on active edges of its user; the figure is the number that do not."""
    return Finding(
        n_wrong == 0,
        float(n_wrong),
        "inferred edges do not follow from the facts of their day: materialize inferred_edges again",
    )


def probes_grounded(_: QualitySettings, n_wordless: int, n_ungrounded: int, n_twice: int) -> Finding:
    """Every question says something, stands once a cause, and rests on facts that may be asked about; the figure is
    how many times one does not."""
    n_wrong = n_wordless + n_ungrounded + n_twice
    return Finding(
        n_wrong == 0,
        float(n_wrong),
        f"{n_wordless} say nothing or have ended before they began, {n_ungrounded} rest on no fact that may be asked "
        f"about, {n_twice} are of one cause with another: materialize the table again",
    )


def extraction_coverage(_: QualitySettings, n_messages: int, n_covered: int) -> Finding:
    """Every message has a mention, a claim or an issue, or is set aside; the figure is the covered share, 0 to 1."""
    return Finding(
        n_covered == n_messages,
        n_covered / n_messages if n_messages else 1.0,
        "messages were lost between cleaning and extraction: materialize claims again for the days that fail",
    )


def messages_complete(_: QualitySettings, n_missing: int) -> Finding:
    """As many messages as interactions, but for those set aside; the figure is the difference."""
    return Finding(
        n_missing == 0, float(n_missing), "messages are missing: materialize messages again for the days that fail"
    )


def relates_to_share(limits: QualitySettings, n_claims: int, n_last_resort: int) -> Finding:
    """The last-resort relation is rare; the figure is its share of the claims, 0 to 1."""
    share = n_last_resort / n_claims if n_claims else 0.0
    return Finding(
        share <= limits.max_relates_to_share,
        share,
        "the extractor does not understand what it reads: look at these claims and add patterns for them",
    )


def conflict_burst(limits: QualitySettings, most: int) -> Finding:
    """Open conflicts about one thing are few; the figure is the most that any thing has. Never more than a warning."""
    return Finding(
        most <= limits.max_open_conflicts,
        float(most),
        "much that cannot hold together was said of one thing: look at it with `em facts` and confirm what is right",
        is_warning=True,
    )


def hallucination_rate(limits: QualitySettings, n_kept: int, n_refused: int) -> Finding:
    """Share, 0 to 1, of what was read that no turn supports: from one limit a warning, from another a failure."""
    n_read = n_kept + n_refused
    share = n_refused / n_read if n_read else 0.0
    return Finding(
        share < limits.warn_hallucination_rate,
        share,
        "the extractor says what nobody said: look at these issues by name in extraction_issues, then at the prompt or "
        f"the model; {ASK_AGAIN}",
        is_warning=share < limits.max_hallucination_rate,
    )


def extraction_complete(_: QualitySettings, n_waiting: int, cause: str) -> Finding:
    """No message waits for a model; the figure is the number that do, pending ones and dead letters. The cause of most
    of them is told with it."""
    return Finding(
        n_waiting == 0,
        float(n_waiting),
        f"messages were not read{f' ({cause})' if cause else ''}: pending ones are read by the next run, dead letters "
        "after `em dead-letters replay`",
    )


def nothing_set_aside(_: QualitySettings, n_aside: int) -> Finding:
    """Nothing of the day is in quarantine; the figure is the number of entries."""
    return Finding(
        n_aside == 0,
        float(n_aside),
        "claims, or what a day brought of a user, were set aside so that the rest is served: see `em quarantine list`",
    )


def hallucination_spike(limits: QualitySettings, most: int) -> Finding:
    """Few items are refused within any hour of event time, as no turn says them; the figure is the most."""
    return Finding(
        most <= limits.max_refused_an_hour,
        float(most),
        "the model makes things up, one conversation after the other: look at its answers before more are asked for; "
        f"{ASK_AGAIN}",
    )


MEANING = (
    MeaningCheck(
        "inferences_grounded",
        derived.INFERRED_EDGES,
        (derived.INFERRED_EDGES, derived.CURRENT_EDGES),
        inferences_grounded,
        "Every inferred edge rests on active facts of its user, and is no surer than 0.60.",
        variables={"max_hops": MAX_HOPS, "max_confidence": MAX_CONFIDENCE},
    ),
    MeaningCheck(
        "messages_complete",
        clean.MESSAGES,
        (raw.INTERACTIONS, clean.MESSAGES, record.QUARANTINE),
        messages_complete,
        "Every landed interaction is a message.",
    ),
    MeaningCheck(
        "extraction_coverage",
        extraction.CLAIMS,
        (clean.MESSAGES, extraction.MENTIONS, extraction.CLAIMS, extraction.EXTRACTION_ISSUES, record.QUARANTINE),
        extraction_coverage,
        "Every message was extracted or skipped with a reason.",
    ),
    MeaningCheck(
        "probes_grounded",
        outgoing.PROBES,
        (outgoing.PROBES, derived.CURRENT_EDGES),
        probes_grounded,
        "Every question has words, a benefit and an end, stands once a cause, and rests on facts that may be asked of.",
        variables=MAY_BE_ASKED,
    ),
    MeaningCheck(
        "starters_grounded",
        outgoing.STARTERS,
        (outgoing.STARTERS, derived.CURRENT_EDGES),
        probes_grounded,
        "Every opening has words and an end, stands once an occasion, and rests on facts that may be told.",
        variables=MAY_BE_ASKED,
    ),
    MeaningCheck(
        "relates_to_share",
        extraction.CLAIMS,
        (extraction.CLAIMS,),
        relates_to_share,
        "At most `quality.max_relates_to_share` of a day's claims use the last-resort relation.",
        is_blocking=False,
    ),
    MeaningCheck(
        "conflict_burst",
        graph.CONTRADICTIONS,
        (graph.CONTRADICTIONS,),
        conflict_burst,
        "No thing has more than `quality.max_open_conflicts` open conflicts (warning).",
        is_blocking=False,
    ),
    MeaningCheck(
        "hallucination_rate",
        extraction.CLAIMS,
        (extraction.CLAIMS, extraction.MENTIONS, extraction.EXTRACTION_ISSUES),
        hallucination_rate,
        "Of what was read in a day's messages less than `quality.warn_hallucination_rate` stands in none (warning), "
        "and less than `quality.max_hallucination_rate` (failure).",
        is_blocking=False,
        variables={"issues": list(UNSUPPORTED)},
    ),
    MeaningCheck(
        "hallucination_spike",
        extraction.EXTRACTION_ISSUES,
        (extraction.EXTRACTION_ISSUES,),
        hallucination_spike,
        "At most `quality.max_refused_an_hour` items that no turn says are refused within an hour of event time.",
        is_blocking=False,
        variables={"issues": list(UNSUPPORTED)},
    ),
    MeaningCheck(
        "extraction_complete",
        extraction.EXTRACTION_ISSUES,
        (extraction.EXTRACTION_ISSUES,),
        extraction_complete,
        "No message waits to be read by a model. Facts that are there are served all the same.",
        is_blocking=False,
        variables={"issues": [PENDING, DEAD_LETTER]},
    ),
    MeaningCheck(
        "nothing_set_aside",
        record.AUDIT_TRAIL,
        (record.QUARANTINE,),
        nothing_set_aside,
        "Nothing of a day was set aside. Facts of everybody else are served all the same.",
        is_blocking=False,
    ),
)

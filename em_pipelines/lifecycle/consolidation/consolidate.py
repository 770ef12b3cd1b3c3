"""One night as a pure function: what is known of what recurs, at the end of the last night that stands.

Everything is worked out from the evidence and from which nights there were, never from what a night before had made:
a cluster is promoted by the first night at whose end the gate lets it through. A night that is rolled back takes back
what it promoted; the evidence of that is spent, and only newer evidence counts towards the gate again.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any

from em_pipelines.lifecycle.consolidation.doubts import SAYS
from em_pipelines.lifecycle.consolidation.evidence import OF_SKILLS, STEP_MARK, Cluster
from em_pipelines.lifecycle.consolidation.gate import Verdict, agreement, confidence, judge, strength
from em_pipelines.lifecycle.consolidation.identifiers import shown_skill
from em_pipelines.lifecycle.consolidation.nights import History, Line, Said, decisions, words_id
from em_pipelines.lifecycle.consolidation.safety import SafetyRules, may_be_shown, refusal, sanitised
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.wording import Wording, is_one_line, lent_words, steps_of, worded
from em_pipelines.schema.ids import content_id

PROMOTED, REFUSED, QUARANTINED, IN_REVIEW, REJECTED = "promoted", "refused", "quarantined", "in_review", "rejected"
ACTIVE = "active"
HOT, WARM, COLD = "hot", "warm", "cold"
TEMPLATE, MODEL = "template", "model"
BEGINNING = datetime.min.replace(tzinfo=UTC)
CONFIDENCE = "confidence"
TELLING_BOUNDS = frozenset({"bursts", "agreement"})
"""Bounds that later evidence can speak against; the others only ever count up."""
MIN_SHOWN = 2
"""Occurrences from which the verdict on a cluster is kept: what happened once is no candidate for anything."""
MAX_LINKED = 200
"""Pieces of evidence that an experience names, the newest: what it rests on is counted whole."""
SOURCES = {True: "skill_invocations", False: "messages"}


@dataclass(frozen=True, slots=True)
class Worded:
    """A rule in a model's words, and the name of the model; `kept_out` says by a word why there is none, where what
    the model said may not stand."""

    rule: str | None
    model: str
    kept_out: str | None = None


Reword = Callable[[Mapping[str, Any]], Worded | None]
"""What a model makes of a row of experiences that says what an agent can act on; None where nobody has asked it."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a night makes: rows of experiences, rules, experience_links and promotions."""

    experiences: list[dict[str, Any]]
    rules: list[dict[str, Any]]
    links: list[dict[str, Any]]
    promotions: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class _Standing:
    """A cluster at the checkpoint: what counts of it, since when it is promoted, and what the gate says."""

    cluster: Cluster
    night: Line | None
    verdict: Verdict
    revision: int = 1


def consolidate(
    found: Sequence[Cluster],
    history: History,
    settings: ConsolidationSettings,
    safety: SafetyRules,
    reword: Reword = lambda _: None,
) -> Made:
    """Returns what stands at the checkpoint of `history`; nothing before the first night."""
    checkpoint = history.checkpoint
    made = Made([], [], [], [])
    if checkpoint is None:
        return made
    by_id = decisions(history.effective)
    for cluster in sorted(found, key=lambda one: (one.user_id, one.experience_id)):
        standing = _at_checkpoint(cluster, history, settings)
        if standing is not None and len(standing.cluster.evidence) >= MIN_SHOWN:
            _add(made, standing, by_id.get(cluster.experience_id), checkpoint.as_of, settings, safety, reword)
    return made


def _at_checkpoint(cluster: Cluster, history: History, settings: ConsolidationSettings) -> _Standing | None:
    """Goes through the nights in order, one of which stands; None where nothing is left that happened before it."""
    promoted: Line | None = None
    spent = BEGINNING
    nights: list[Line] = []
    for line in history.effective:
        if line.said is Said.NIGHT:
            nights.append(line)
            if promoted is None and judge(_until(cluster, spent, line.end), settings).is_through:
                promoted = line
        elif line.said is Said.ROLLBACK:
            place = next((n for n, night in enumerate(nights) if night.target == line.target), len(nights))
            withdrawn, nights = nights[place:], nights[:place]
            if promoted in withdrawn:
                spent, promoted = max(night.end for night in withdrawn), None
        elif line.said is Said.REJECT and line.target == cluster.experience_id and nights:
            spent, promoted = nights[-1].end, None
    end = nights[-1].end
    own = _until(cluster, spent, end)
    verdict = judge(own, settings)
    if promoted is None and spent > BEGINNING:
        verdict = replace(verdict, reason=f"taken back before {spent.date()}, and since then {verdict.reason}")
        own = own if own.evidence else _until(cluster, BEGINNING, end)
    return _Standing(own, promoted, verdict, _revision(own, promoted, nights)) if own.evidence else None


def _revision(cluster: Cluster, promoted: Line | None, nights: Sequence[Line]) -> int:
    """On how many nights the evidence grew, that of its promotion included."""
    if promoted is None:
        return 0
    ends = [night.end for night in nights[nights.index(promoted) :]]
    return 1 + sum(any(start <= one.at < end for one in cluster.evidence) for start, end in pairwise(ends))


def _until(cluster: Cluster, after: datetime, end: datetime) -> Cluster:
    """The cluster as it was then: evidence from one instant (not included) to another."""
    evidence = tuple(one for one in cluster.evidence if after <= one.at < end)
    return cluster if len(evidence) == len(cluster.evidence) else replace(cluster, evidence=evidence)


def _add(  # noqa: PLR0913  (what judges a cluster, one after the other)
    made: Made,
    standing: _Standing,
    decision: Line | None,
    as_of: date,
    settings: ConsolidationSettings,
    safety: SafetyRules,
    reword: Reword,
) -> None:
    cluster, night = standing.cluster, standing.night
    tier = _tier(cluster, as_of, settings)
    if tier is None:
        return
    if night is None:
        row = _promotion(cluster, REFUSED, standing.verdict.bound, standing.verdict.reason, settings)
        is_shown = cluster.kind not in OF_SKILLS or may_be_shown((_component(cluster), *steps_of(cluster)), safety)
        made.promotions.append(row if is_shown else row | {"component": None, "category": None})
        return
    wording, waiting = _wording(cluster, decision, settings, safety)
    refused = refusal(cluster, wording.names, wording.prose, safety, settings)
    if refused is not None:
        made.promotions.append(_promotion(cluster, QUARANTINED, refused.gate, refused.reason, settings))
        return
    gate, reason = _held_back_by(standing, decision, settings)
    is_sure = gate is None
    row = _experience(cluster, wording, night, tier, settings)
    told = reword(row) if is_sure and wording.rule else None
    reason += _why_template(told)
    verdict = PROMOTED if is_sure else IN_REVIEW
    judged = _promotion(cluster, verdict, gate, reason, settings, night)
    made.promotions.append(judged | {"excerpt": waiting})
    row |= {"status": ACTIVE if is_sure else IN_REVIEW, "revision": standing.revision}
    rule, by = (told.rule, _by(told)) if told and told.rule else (wording.rule, _by(None))
    made.experiences.append(row | by)
    if rule and is_one_line(rule, settings.max_output_tokens):
        made.rules.append(_rule(row, rule))
    made.links.extend(_links(cluster))


def _held_back_by(
    standing: _Standing, decision: Line | None, settings: ConsolidationSettings
) -> tuple[str | None, str]:
    """The bound for which somebody has to look at what was promoted, and why; None and what the gate says of it where
    nobody has to, or has looked."""
    if decision is not None and decision.said is Said.ACCEPT:
        return None, standing.verdict.reason
    if standing.verdict.bound in TELLING_BOUNDS:
        return standing.verdict.bound, f"by what came since, {standing.verdict.reason}"
    if confidence(standing.cluster, settings) < settings.min_confidence:
        return CONFIDENCE, _unsure(standing.cluster, settings)
    return None, standing.verdict.reason


def _wording(
    cluster: Cluster, decision: Line | None, settings: ConsolidationSettings, safety: SafetyRules
) -> tuple[Wording, str | None]:
    """The wording by template, with words of tools' outputs where exactly they were accepted; and those that wait."""
    words = _lent_words(cluster, settings, safety)
    if words is not None and decision is not None and decision.words == words_id(words):
        return worded(cluster, words), None
    return worded(cluster), words


def _lent_words(cluster: Cluster, settings: ConsolidationSettings, safety: SafetyRules) -> str | None:
    """The words of tools' outputs that may be accepted: those that no safety gate refuses."""
    words = lent_words(sanitised(cluster), settings)
    return words if words and refusal(cluster, (), (words,), safety, settings) is None else None


def _why_template(told: Worded | None) -> str:
    return f"; what {told.model} made of it was kept out ({told.kept_out})" if told and told.kept_out else ""


def _by(told: Worded | None) -> dict[str, str | None]:
    """Who worded a rule, in the columns of experiences."""
    return {"method": MODEL, "model": told.model} if told else {"method": TEMPLATE, "model": None}


def _unsure(cluster: Cluster, settings: ConsolidationSettings) -> str:
    told = f"its confidence is below {settings.min_confidence:.2f}: somebody has to look at it"
    return f"{told} ({', '.join(SAYS[doubt] for doubt in cluster.doubts)})" if cluster.doubts else told


def _tier(cluster: Cluster, as_of: date, settings: ConsolidationSettings) -> str | None:
    """How long ago it was last seen; None of what is gone. What is warm and not important is cold already."""
    age = as_of - cluster.evidence[-1].at.date()
    if age <= timedelta(days=settings.hot_days):
        return HOT
    if age <= timedelta(days=settings.warm_days):
        return WARM if strength(cluster, settings) >= settings.min_warm_strength else COLD
    return COLD if age <= timedelta(days=settings.cold_days) else None


def _promotion(  # noqa: PLR0913  (the columns of one row)
    cluster: Cluster,
    verdict: str,
    gate: str | None,
    reason: str,
    settings: ConsolidationSettings,
    night: Line | None = None,
) -> dict[str, Any]:
    is_shown = verdict != QUARANTINED
    return {
        "experience_id": cluster.experience_id,
        "user_id": cluster.user_id,
        "kind": cluster.kind,
        "component": _component(cluster) if is_shown else None,
        "category": _category(cluster) if is_shown else None,
        "n_occurrences": len(cluster.evidence),
        "n_sources": len(cluster.sources),
        "n_days": cluster.n_days,
        "span_hours": round(cluster.span_hours, 3),
        "agreement": round(agreement(cluster, settings), 6),
        "verdict": verdict,
        "gate": gate,
        "reason": reason,
        "excerpt": None,
        "consolidation_id": night.target if night else None,
        "first_seen": cluster.evidence[0].at,
        "last_seen": cluster.evidence[-1].at,
    }


def _experience(
    cluster: Cluster, wording: Wording, night: Line, tier: str, settings: ConsolidationSettings
) -> dict[str, Any]:
    return {
        "experience_id": cluster.experience_id,
        "user_id": cluster.user_id,
        "kind": cluster.kind,
        "component": _component(cluster),
        "category": _category(cluster),
        "text": wording.text,
        "trigger": wording.trigger,
        "mitigation": wording.mitigation,
        "consolidates": [one.evidence_id for one in cluster.evidence[-MAX_LINKED:]],
        "n_occurrences": len(cluster.evidence),
        "n_sources": len(cluster.sources),
        "confidence": round(confidence(cluster, settings), 6),
        "strength": round(strength(cluster, settings), 6),
        "source": SOURCES[cluster.kind in OF_SKILLS],
        "context_tags": sorted(cluster.tags),
        "first_seen": cluster.evidence[0].at,
        "last_seen": cluster.evidence[-1].at,
        "tier": tier,
        "consolidation_id": night.target,
        "promoted_at": night.end,
    }


def _component(cluster: Cluster) -> str:
    return shown_skill(cluster.component) if cluster.kind in OF_SKILLS else cluster.component


def _category(cluster: Cluster) -> str | None:
    return STEP_MARK.join(steps_of(cluster)) if cluster.kind in OF_SKILLS else None


def _rule(row: Mapping[str, Any], text: str) -> dict[str, Any]:
    same = ("user_id", "experience_id", "confidence", "consolidation_id", "last_seen", "status")
    return {
        **{name: row[name] for name in same},
        "rule_id": content_id("rule", row["experience_id"]),
        "text": text,
        "frequency": row["n_occurrences"],
    }


def _links(cluster: Cluster) -> list[dict[str, Any]]:
    return [
        {
            "experience_id": cluster.experience_id,
            "evidence_id": one.evidence_id,
            "user_id": cluster.user_id,
            "session_id": one.session_id,
            "turn_number": one.turn_number,
            "timestamp": one.at,
        }
        for one in cluster.evidence[-MAX_LINKED:]
    ]

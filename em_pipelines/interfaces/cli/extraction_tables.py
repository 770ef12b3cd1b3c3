"""Tables that show how one text was read: what `em extract --explain` prints for people."""

import re
from collections.abc import Iterable

from em_pipelines.extraction.explanations import ClaimJudged, ClauseSeen, Explanation, PatternTried, SentenceSeen
from em_pipelines.interfaces.cli.console import out, print_table
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.schema.readings import Claim, Issue

_TAKEN_OUT = re.compile(f"{CODE_MARK}+")


def show(explanation: Explanation) -> None:
    """Prints one table a stage, in the order in which a text passes them, and what came of it."""
    _show_guard(explanation)
    if explanation.tokens:
        tokens = [(n, t.text, ", ".join(t.classes), ", ".join(t.verbs)) for n, t in enumerate(explanation.tokens)]
        print_table("Tokens", ("", "token", "word classes", "form of"), tokens, right=("",))
    if explanation.sentences:
        kinds = [(one.text, f"{one.confidence:.2f}", _kept_as(one)) for one in explanation.sentences]
        print_table("Sentences", ("sentence", "worth keeping", "as"), kinds, right=("worth keeping",))
    if explanation.clauses:
        columns = ("", "subject", "verb group", "complement", "meant as")
        print_table("Clauses", columns, (_clause(n, c) for n, c in enumerate(explanation.clauses)), right=("",))
    for number, clause in enumerate(explanation.clauses):
        _show_patterns(number, clause)
    if explanation.claims:
        print_table("Claims", ("claim", "confidence", "flags", "pattern", "verdict"), map(_claim, explanation.claims))
    if explanation.mentions:
        mentions = [(m.name, m.entity_type, f"{m.start}-{m.end}") for m in explanation.mentions]
        print_table("Mentions", ("name", "type", "characters"), mentions)
    _show_issues("Issues of the reader", explanation.reader_issues)
    _show_verification(explanation)
    out().print(f"outcome  {explanation.outcome}", markup=False, soft_wrap=True)


def _kept_as(sentence: SentenceSeen) -> str:
    kind = sentence.kind or "not kept"
    return kind if sentence.left_out is None else f"{kind}, left out: {sentence.left_out}"


def _show_guard(explanation: Explanation) -> None:
    if explanation.guard_issues or explanation.guarded != explanation.text:
        rows = [("is given", explanation.text), ("lets through", _TAKEN_OUT.sub("[taken out]", explanation.guarded))]
        print_table("Guard", ("", "text"), rows)
        _show_issues("Issues of the guard", explanation.guard_issues)
    else:
        out().print("guard  lets the whole text through", markup=False)


def _clause(number: int, clause: ClauseSeen) -> tuple[object, ...]:
    verb = f"{clause.verb or '-'} ({', '.join((*clause.lemmas, *clause.verb_signs))})"
    meant = ", ".join(clause.meant) or "stated"
    return number, clause.subject or "-", verb, clause.complement or "-", meant


def _show_patterns(number: int, clause: ClauseSeen) -> None:
    if clause.passed_over is not None:
        out().print(f"clause {number}  no pattern is tried: {clause.passed_over}", markup=False, soft_wrap=True)
    elif not clause.patterns:
        out().print(f"clause {number}  no pattern of its verb has its words", markup=False, soft_wrap=True)
    else:
        tried = sorted(clause.patterns, key=lambda pattern: pattern.why_not is not None)
        columns = ("pattern", "frame", "result", "about", "slots")
        print_table(f"Patterns tried on clause {number}", columns, map(_pattern, tried))


def _pattern(tried: PatternTried) -> tuple[object, ...]:
    slots = "; ".join(f"{name}: {', '.join(texts)}" for name, texts in tried.slots.items())
    if tried.why_not is not None:
        return tried.pattern_id, tried.frame, f"does not fit: {tried.why_not}", "", ""
    result = f"matches: claims {tried.n_claims}" if tried.n_claims else "matches, and adds nothing"
    return tried.pattern_id, tried.frame, result, ", ".join(tried.subjects), slots


def _claim(judged: ClaimJudged) -> tuple[object, ...]:
    claim = judged.claim
    confidence = judged.confidence if judged.confidence is not None else claim.confidence
    return _said(claim), f"{confidence:.2f}", ", ".join(claim.flags), claim.pattern_id, judged.verdict


def _said(claim: Claim) -> str:
    end = claim.object if claim.object is not None else claim.value
    stated = f"{claim.attribute}: {end}" if claim.attribute else str(end)
    said = f"{claim.subject} {claim.relation} {stated}" + (" (denied)" if claim.polarity < 0 else "")
    return f"{claim.act} {said}" if claim.act != "assert" else said


def _show_verification(explanation: Explanation) -> None:
    if explanation.verification_issues:
        _show_issues("Verification", explanation.verification_issues)
    elif explanation.claims:
        out().print("verification  doubts nothing", markup=False)


def _show_issues(title: str, issues: Iterable[Issue]) -> None:
    rows = [(issue.issue, issue.reason, issue.severity, issue.detail) for issue in issues]
    if rows:
        print_table(title, ("issue", "reason", "severity", "detail"), rows)

"""Tables that show how one text was read: what `em extract --explain` prints for people."""

import re
from collections.abc import Iterable

from em_pipelines.extraction.explaining import ClaimJudged, Explanation, SentenceSeen
from em_pipelines.interfaces.cli.console import out, print_table
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.schema.readings import Claim, Issue

_TAKEN_OUT = re.compile(f"{CODE_MARK}+")


def show(explanation: Explanation) -> None:
    """Prints one table a stage, in the order in which a text passes them, and what came of it."""
    _show_guard(explanation)
    if explanation.sentences:
        columns = ("characters", "sentence", "worth keeping", "as", "names", "dates")
        print_table("Sentences", columns, map(_sentence, explanation.sentences), right=("worth keeping",))
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


def _sentence(one: SentenceSeen) -> tuple[object, ...]:
    dates = ", ".join(f"{words} = {day}" for words, day in one.dates.items())
    characters = f"{one.start}-{one.end}"
    return characters, one.text, f"{one.confidence:.2f}", _kept_as(one), ", ".join(one.names), dates


def _show_guard(explanation: Explanation) -> None:
    if explanation.guard_issues or explanation.guarded != explanation.text:
        rows = [("is given", explanation.text), ("lets through", _TAKEN_OUT.sub("[taken out]", explanation.guarded))]
        print_table("Guard", ("", "text"), rows)
        _show_issues("Issues of the guard", explanation.guard_issues)
    else:
        out().print("guard  lets the whole text through", markup=False)


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

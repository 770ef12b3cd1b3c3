"""Commands that explain memory: why it knows a fact, why it does not, and what came of one message.

They print what was said, to whoever runs them.
"""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.feedback_words import decided, told
from em_pipelines.interfaces.cli.console import (
    Exit,
    HomeOption,
    JsonOption,
    UserOption,
    copyable,
    end_if_unknown,
    fail,
    open_existing,
    out,
    print_json,
    print_table,
)
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.pipeline import Pipeline

ERASING = ("erase", "forget")
"""How the ledger's words for erasures begin."""
VERDICTS = {
    "never_said": "{user} never said it",
    "said_only_by_the_assistant": "it was said, but not by {user} or any other person",
    "other_branch": "{user} said it in a branch of the conversation that was not continued: nothing is learned of it",
    "not_extracted_yet": "{user} said it, and no run has extracted it yet: `em run` does",
    "known": "memory knows it",
    "not_known": "memory does not tell it; below is what became of what was said",
}
SHOWN_CHARACTERS = 120
NO_SESSION = "feedback"
"""The conversation of feedback that was given in none."""


def why(
    wanted: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a fact, or the beginning of one, of an entity or of an experience."),
    ],
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show why memory holds a fact: the sentences, how they were read, every change, what time did since.

    Example: em why edge_0a1b2c3d4e5f60718293
    """
    from em_pipelines.governance.audit.rows import edge_id_of
    from em_pipelines.governance.audit.why import why as explain

    if not wanted.strip():
        raise UsageError("explaining why: no id given; `em facts --user NAME` lists the ids there are")
    opened = open_existing(home)
    wanted = edge_id_of(opened.store.lake, wanted)
    document = explain(opened.store.lake, wanted, datetime.now(UTC).date(), opened.settings.decay)
    document = document or _why_experience(opened, wanted)
    if document is None:
        fail(f"explaining {wanted}: no table knows that id; {_hint(opened, wanted)}", Exit.FINDING)
    if as_json:
        print_json(document)
        return
    _SHOWN[document["kind"]](document)


def why_not(
    text: Annotated[str, typer.Argument(help="Words that somebody may have said.")],
    user: UserOption,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show why memory does not know something: what became of every message that says it.

    Of a question (with a question mark) show what search finds, and why it is or is not in the context block.

    Example: em why-not "Vienna" --user mirela

    Example: em why-not "Where does Dana live?" --user mirela
    """
    from em_pipelines.governance.audit.why_not import Asked
    from em_pipelines.governance.audit.why_not import why_not as explain_not
    from em_pipelines.interfaces.agents.observations import unextracted
    from em_pipelines.landing.dead_letters import letters_of
    from em_pipelines.serving.facts import waiting_feedback

    if not text.strip():
        raise UsageError('explaining why not: no words given; ask like `em why-not "Vienna" --user mirela`')
    opened = open_existing(home)
    end_if_unknown(opened, user)
    settings = opened.settings
    today = datetime.now(UTC).date()
    if text.rstrip().endswith("?"):
        _show_candidates(opened, user, text, today, as_json=as_json)
        return
    found = explain_not(
        opened.store.lake,
        Asked(
            user,
            text,
            today,
            settings.fold.min_storage_confidence,
            settings.decay,
            waiting_feedback(opened.store, user, date.max),
            unextracted(opened, user),
            letters_of(opened.store.log, user),
        ),
    )
    if as_json:
        print_json(found)
        return
    _print(f"{VERDICTS[found['verdict']].format(user=user)}.")
    for message in found["messages"]:
        _print(f"\n{message['timestamp']:%Y-%m-%d %H:%M}  {message['role']}: {_short(message['text'])}")
        _show_sentences(message)
    for given in found["feedback"]:
        _print(f"\n{given['timestamp']:%Y-%m-%d %H:%M}  {told(given['type'], given['payload'])}")
        _bullets([_fate(fate) for fate in given["fates"]] or ["it made and changed no fact"])
    _bullets(map(_letter, found["dead_letters"]))


def _show_candidates(opened: "Pipeline", user: str, text: str, today: date, *, as_json: bool) -> None:
    """What search finds for a question, and what became of each in the block."""
    from em_pipelines.retrieval.context.block import ContextQuery
    from em_pipelines.retrieval.context.candidates import candidates

    found, block = candidates(opened, ContextQuery(user, text, today))
    if as_json:
        listed = [{**asdict(one.hit), "fate": one.fate, "why": one.why} for one in found]
        print_json({"question": text, "n_tokens": block.n_tokens, "candidates": listed})
        return
    if not found:
        _print("Nothing that was said or is known bears on it.")
    for one in found:
        _print(f"\n{one.hit.score:.3f}  {one.hit.said_on}  {one.hit.kind}: {_short(one.hit.text)}")
        _bullets([one.why])


def _letter(letter: dict[str, Any]) -> str:
    if letter["reason"] == "other_branch":
        return f"said in a branch of the conversation that was not continued ({letter['dead_letter_id']})"
    return f"dead letter {letter['dead_letter_id']} ({letter['reason']}, {letter['status']})"


def _show_sentences(message: dict[str, Any]) -> None:
    """What became of a message; of one with several sentences first of those that were asked about."""
    asked = [one for one in message["sentences"] if one["is_asked"]]
    if len(message["sentences"]) < 2 or not asked:
        _bullets(_fate(fate) for fate in message["fates"])
        return
    for one in asked:
        _show_fates(f"“{_short(one['text'])}”", one["fates"])
    told = [fate for one in asked for fate in one["fates"]]
    _show_fates("of the whole message", [fate for fate in message["fates"] if fate not in told])


def _show_fates(of: str, fates: list[dict[str, Any]]) -> None:
    if fates:
        _print(f"  {of}")
        _bullets(_fate(fate) for fate in fates)


def trace(
    correlation_id: Annotated[str, typer.Argument(metavar="CORRELATION_ID", help="As any table has it.")],
    user: Annotated[str | None, typer.Option("--user", help="Whose, if several have it.", show_default=False)] = None,
    home: HomeOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show everything that came of one message or one feedback, table by table, in the order of the pipeline.

    Of a night it shows what that promoted and quarantined, and that it was taken back.

    Example: em trace cor_0a1b2c3d4e5f60718293
    """
    from em_pipelines.governance.audit.trace import trace as trace_rows

    opened = open_existing(home)
    found = trace_rows(opened.store.lake, correlation_id, user) or _trace_of_night(opened, correlation_id, user)
    if not found:
        if user is not None:
            end_if_unknown(opened, user)
        fail(f"tracing {correlation_id}: no table knows that correlation id; look for one in graph_ops", Exit.FINDING)
    if as_json:
        print_json(found)
        return
    for name, rows in found.items():
        _print(f"\n{name}")
        for row in rows:
            _bullets([_short("  ".join(f"{key}={value}" for key, value in row.items() if value not in (None, [], "")))])


def _why_experience(home: "Pipeline", wanted: str) -> dict[str, Any] | None:
    """What stands behind an experience or a rule, by its id or the beginning of one; None where no table has it."""
    from em_pipelines.governance.audit.nights_trail import why_experience
    from em_pipelines.lifecycle.consolidation.night import id_of

    return why_experience(home.store.lake, id_of(home, wanted))


def _trace_of_night(home: "Pipeline", wanted: str, user: str | None) -> dict[str, list[dict[str, Any]]]:
    """The events of a night, or of an experience that was turned away."""
    from em_pipelines.governance.audit.nights_trail import events

    rows = [row for row in events(home) if row["correlation_id"] == wanted and user in (None, row["user_id"])]
    return {"audit_trail": rows} if rows else {}


def _hint(home: "Pipeline", wanted: str) -> str:
    """What may have become of an id: erasures leave a certificate and nothing else."""
    from em_pipelines.schema.tables.raw import INTERACTIONS
    from em_pipelines.storage.ledger import Ledger

    ledger, lake = Ledger(home.record, home.salt), home.store.lake
    users = {user for day in lake.days(INTERACTIONS) for user in lake.read(INTERACTIONS, day)["user_id"].to_pylist()}
    own = [entry for entry in ledger.of_target(wanted, users) if entry.action.startswith(ERASING)]
    if own:
        return f"it was erased on {own[-1].at:%Y-%m-%d}, certificate {own[-1].certificate_id or 'none'}"
    erasures = [entry for entry in ledger.entries() if entry.action.startswith(ERASING)]
    if erasures:
        return (
            f"it may be among the {counted(len(erasures), 'erasure')} "
            f"in the ledger, the last of {erasures[-1].at:%Y-%m-%d}"
        )
    return "`em facts --user NAME --all` lists the ids there are"


def _show_fact(document: dict[str, Any]) -> None:
    _print(f"{_said(document['fact'])}  ({document['user_id']})")
    if document["fact"]["statement"]:
        _print(f"“{document['fact']['statement']}”")
    _show_today(document["today"])
    _show_sources(document)
    _show_operations(document["operations"])
    for title in ("revises", "revised_by", "contradictions"):
        if document[title]:
            _print(f"\n{title.replace('_', ' ').capitalize()}")
            _bullets(f"{_said(other)}  {other['status']}  {other['edge_id']}" for other in document[title])
    for names in document["entities"]:
        _show_names(names)


def _show_today(today: dict[str, Any]) -> None:
    _bullets(
        [
            f"{today['status']}, {today['effective_confidence']:.2f} on {today['as_of']}: {today['confidence']:.2f} "
            f"when last said, {today['unreferenced_days']} days ago ({today['temporal_type']}, {today['curve']} decay)",
            *(
                f"{fade['on']}: {fade['confidence_before']:.2f} → {fade['confidence_after']:.2f}, {fade['status']}"
                for fade in today["faded"]
            ),
        ]
    )


def _show_sources(document: dict[str, Any]) -> None:
    """The sentences that say it, and what was decided upon it by feedback."""
    said = [source for source in document["sources"] if source["by"] == "message"]
    if said:
        _print("\nSaid")
    for source in said:
        _show_source(source)
    given = [(source, told) for source in document["sources"] for told in source["feedback"]]
    if given:
        _print("\nDecided")
        _bullets(
            decided(told, document["user_id"], None if source["session_id"] == NO_SESSION else source["session_id"])
            for source, told in given
        )


def _show_source(source: dict[str, Any]) -> None:
    text = source["sentence"] or "(no text is kept)"
    _bullets([f"{_second(source['timestamp'])}  {source['session_id']}, turn {source['turn_number']}: {text}"])
    for claim in source["claims"]:
        flags = f", {', '.join(claim['flags'])}" if claim["flags"] else ""
        read = claim["pattern_id"] or claim["extractor"]
        _print(f"      read by {read}: {claim['confidence']:.2f}, hedge {claim['hedge_level']}{flags}")


def _show_experience(document: dict[str, Any]) -> None:
    verdict, found = document["verdict"], document["experience"]
    _print(f"{found['text'] if found else verdict['experience_id']}  ({document['user_id']})")
    if document["rule"]:
        _print(f"“{document['rule']}”")
    seen = f"{counted(verdict['n_occurrences'], 'time')} in {counted(verdict['n_sources'], 'conversation')}"
    _bullets(
        [
            f"{verdict['verdict'].replace('_', ' ')}{', ' + verdict['gate'] if verdict['gate'] else ''}: "
            f"{verdict['reason']}",
            f"seen {seen}, {verdict['first_seen']:%Y-%m-%d} to {verdict['last_seen']:%Y-%m-%d}",
            *([f"confidence {found['confidence']:.2f}, strength {found['strength']:.2f}"] if found else []),
            *([f"promoted by {document['night']}"] if document["night"] else []),
        ]
    )
    if document["evidence"]:
        _print("\nEvidence")
    _bullets(f"{_second(one['timestamp'])}  {one['session_id']}  {one['evidence_id']}" for one in document["evidence"])


def _show_deleted(document: dict[str, Any]) -> None:
    _print(f"{document['edge_id']} was deleted; what was done with it:")
    _show_operations(document["operations"])


def _show_entity(document: dict[str, Any]) -> None:
    _show_names(document["names"])
    print_table(
        counted(len(document["facts"]), "fact"),
        ("subject", "relation", "object", "status", "confidence", "edge"),
        [
            (f["subject"], f["relation"], f["object"], f["status"], f"{f['confidence']:.2f}", f["edge_id"])
            for f in document["facts"]
        ],
        right=("confidence",),
    )


def _show_inferred(document: dict[str, Any]) -> None:
    fact = document["fact"]
    _print(f"{_said(fact)}  follows by rule {document['rule_id']} ({fact['confidence']:.2f}) from")
    _bullets(f"{_said(premise)}  {premise['status']}  {premise['edge_id']}" for premise in document["premises"])


def _show_operations(operations: list[dict[str, Any]]) -> None:
    _print("\nChanged")
    _bullets(
        f"{_second(op['timestamp'])}  {op['operation']}: {op['reason']}  "
        f"{'' if op['confidence_before'] is None else format(op['confidence_before'], '.2f')} → "
        f"{op['confidence_after']:.2f}  {op['correlation_id']}"
        for op in operations
    )


def _show_names(names: dict[str, Any]) -> None:
    """Of what has one name, and always had, there is nothing to tell."""
    if names["names"] == [names["name"]] and not names["changes"]:
        return
    _print(f"\n{names['name']}: {', '.join(names['names'])}")
    _bullets(f"{_second(c['timestamp'])}  {c['operation']} {c['entity_id']}: {c['reason']}" for c in names["changes"])


def _fate(fate: dict[str, Any]) -> str:
    what = fate["what"].replace("_", " ")
    reason = f" ({_reason(fate['reason'])})" if fate.get("reason") else ""
    if "fact" in fate:
        return f"{what}: {_said(fate['fact'])}, {fate['effective_confidence']:.2f}  {fate['fact']['edge_id']}"
    if "claim" in fate:
        claim = fate["claim"]
        return f"{what}{reason}: {claim['subject']} {claim['relation']} {claim['object'] or claim['value']}"
    return f"{what}{reason}"


def _reason(reason: str) -> str:
    """Why, in words: a name of the tables, or a sentence."""
    return copyable(reason) if " " in reason else reason.replace("_", " ")


def _said(fact: dict[str, Any]) -> str:
    negation = "not " if fact.get("polarity", 1) < 0 else ""
    return f"{fact['subject']} {negation}{fact['relation']} {fact['object']}"


def _second(instant: datetime | None) -> str:
    return "" if instant is None else f"{instant.replace(microsecond=0)}"


def _bullets(lines: Iterable[str]) -> None:
    for line in lines:
        _print(f"  - {line}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


def _print(line: str) -> None:
    out().print(line, markup=False, soft_wrap=True)


_SHOWN = {
    "fact": _show_fact,
    "deleted_fact": _show_deleted,
    "entity": _show_entity,
    "inferred_fact": _show_inferred,
    "experience": _show_experience,
}

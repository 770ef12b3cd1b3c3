"""What is known of a person: the list, one fact with its whole life, and putting it right."""

from datetime import date
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.rows import state_where
from em_pipelines.governance.audit.why import why
from em_pipelines.interfaces.agents.asking import told_facts
from em_pipelines.interfaces.ui.asked import Asked, Done, NobodyError, NotThereError, Page
from em_pipelines.interfaces.ui.rendering import said
from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.veils import hiding
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.serving.facts import SHOWN, TOLD_FROM, FactQuery, KeptAs, waiting_feedback
from em_pipelines.serving.faded import faded
from em_pipelines.serving.users import is_known

PAGE_ROWS = 50
LONGEST_VALUE = 200
SHORTEST_ID = 8
"""Characters of an id of which it is looked for by its beginning."""
SORTS = {
    "confidence": lambda fact: (-fact["confidence"], fact["subject"]),
    "unsure": lambda fact: (fact["confidence"], fact["subject"]),
    "newest": lambda fact: fact["learned_at"],
    "subject": lambda fact: (fact["subject"].casefold(), fact["relation"]),
}
"""How the list can be sorted; `newest` is read backwards."""


def show_facts(asked: Asked) -> Page:
    """The facts that fit words, status and day, a page at a time."""
    found = known(asked, is_all=asked.text("all") == "1", has_old=True)
    words = name_key(asked.text("q")).split()
    fitting = [fact for fact in found if all(word in _searchable(fact) for word in words)]
    sort = asked.text("sort") if asked.text("sort") in SORTS else "confidence"
    fitting.sort(key=SORTS[sort], reverse=sort == "newest")
    n_pages = max(1, -(-len(fitting) // PAGE_ROWS))
    page = int(asked.number("page", 1, 1, n_pages))
    if not found:
        check_known(asked)
    shown = fitting[(page - 1) * PAGE_ROWS : page * PAGE_ROWS]
    return Page(
        "facts.html",
        {
            "came": came(asked, shown),
            "n_ended": 0 if fitting else _n_ended(asked, words),
            "user": asked.user,
            "name": _named(found, asked.text("q")),
            "facts": shown,
            "n_found": len(fitting),
            "n_facts": len(found),
            **_counts(asked, fitting),
            "page": page,
            "n_pages": n_pages,
            "args": {name: asked.text(name) for name in ("q", "sort", "all", "as_of", "known_at", "observed")},
            "sorts": tuple(SORTS),
            "sort": sort,
        },
    )


def _counts(asked: Asked, fitting: list[dict[str, Any]]) -> dict[str, int]:
    """How many of the facts that fit are old or too unsure to be told, and how many of all time has taken."""
    day = asked.day("as_of") or asked.today
    return {
        "n_old": sum(fact["is_old"] for fact in fitting),
        "n_untold": sum(fact["confidence"] < TOLD_FROM and not fact["is_old"] for fact in fitting),
        "n_faded": sum(one.n_gone for one in faded(asked.home.store, day, asked.home.settings.decay, [asked.user])),
    }


def _n_ended(asked: Asked, words: list[str]) -> int:
    """How many facts of any status fit."""
    return sum(all(word in _searchable(fact) for word in words) for fact in known(asked, is_all=True))


def came(asked: Asked, facts: list[dict[str, Any]]) -> dict[str, str]:
    """Of facts that nobody said in a sentence, how they came to be, by id; nothing of those said just now."""
    ids = [fact["edge_id"] for fact in facts if not fact["statement"]]
    rows = state_where(asked.home.store.lake, EDGES, "edge_id", ids) if ids else []
    return {row["edge_id"]: row["source_mechanism"] for row in rows}


def _named(facts: list[dict[str, Any]], words: str) -> str | None:
    """The name that the words are, as facts have it; None where they are none."""
    names = (str(name) for fact in facts for name in (fact["subject"], fact["object"]))
    return next((name for name in names if words and name_key(name) == name_key(words)), None)


def known(
    asked: Asked, *, is_all: bool = False, has_old: bool = False, kept_as: KeptAs | None = None
) -> list[dict[str, Any]]:
    """The facts, or observations, at the end of the day that is asked for, today if none is, as readers see them; with
    `has_old` those that may be out of date, too."""
    as_of, known_at = asked.day("as_of"), asked.day("known_at")
    is_observed = asked.text("observed") == "1"
    kept_as = kept_as or (KeptAs.OBSERVATIONS if is_observed else KeptAs.FACTS)
    query = FactQuery(asked.user, as_of or asked.today, known_at, is_all=is_all, has_old=has_old, kept_as=kept_as)
    return told_facts(asked.home, query, known_at or as_of or date.max)


def check_known(asked: Asked) -> None:
    """Raises NobodyError where nobody is called so."""
    if not is_known(asked.home.store, asked.user):
        raise NobodyError(f"nobody is remembered as {asked.user!r:.80}")


def show_fact(asked: Asked) -> Page | Done:
    """One fact: how it stands, the sentences that say it, every change, and what can be done about it."""
    facts = known(asked, is_all=True, has_old=True, kept_as=KeptAs.BOTH)
    edge_id = _whole_id(asked.text("id"), facts)
    document = _document(asked, edge_id)
    now = next((fact for fact in facts if fact["edge_id"] == edge_id), None)
    if document is None and now is None:
        raise NotThereError(
            f"nothing that is known of {asked.user} has the id {edge_id!r:.80}; it may have been erased, or its night "
            "rolled back"
        )
    if document is not None and document["kind"] == "entity":
        return Done("/entity", {"user": asked.user, "name": document["entity"]["canonical_name"]}, "")
    told = {"user": asked.user, "id": edge_id, "now": now, "again": _standing_again(now, facts) if now else None}
    if now is None:
        is_hidden = document is not None and document["kind"] == "fact" and hiding(asked.home, asked.user) is not None
        return Page("fact.html", {**told, "found": document, "hidden": is_hidden})
    if document is None:  # said since the last run: what is behind it is worked out by the next
        ends = [{"name": name} for name in (now["subject"], str(now["object"]))]
        found = {"kind": "fact", "fact": now, "entities": ends, "revises": _corrected_just_now(asked, now, facts)}
        return Page("fact.html", {**told, "found": found, "is_fresh": True})
    revised_by = document.get("revised_by") or _right_just_now(asked, now, facts)
    return Page("fact.html", {**told, "found": {**document, "revised_by": revised_by}})


def confirm(asked: Asked) -> Done:
    """Says that a fact is right."""
    edge_id = _meant(asked)
    given = asked.memory.confirm(edge_id=edge_id)
    facts = known(asked, is_all=True)
    fact = next(fact for fact in facts if fact["edge_id"] == edge_id)
    if (again := _standing_again(fact, facts)) is None:
        return _done(asked, "Noted as right.", given.notes)
    args = {"user": asked.user, "id": again["edge_id"]}  # what ended stays in the books; it holds anew
    return Done("/fact", args, with_notes("Noted: it holds again.", given.notes))


def correct(asked: Asked) -> Done:
    """Puts another value in the place of a fact."""
    right = asked.text("right")
    if not right:
        raise UsageError("correcting: the right value is empty; say what holds instead")
    if len(right) > LONGEST_VALUE:
        raise UsageError(f"correcting: give at most {LONGEST_VALUE} characters; nothing was noted")
    wrong_id = _meant(asked)
    wrong = next(fact for fact in known(asked, is_all=True) if fact["edge_id"] == wrong_id)
    given = asked.memory.correct(right, edge_id=wrong["edge_id"])
    told = with_notes(f"Corrected to {right}.", given.notes)
    now = [fact for fact in known(asked) if _place(fact) == _place(wrong)]
    meant = [fact for fact in now if name_key(right) in name_key(str(fact["object"]))] or now
    if len(meant) != 1:
        return Done("/facts", {"user": asked.user, "q": wrong["relation"].replace("_", " ")}, told)
    return Done("/fact", {"user": asked.user, "id": meant[0]["edge_id"]}, told)


def retract(asked: Asked) -> Done:
    """Takes a fact back: it is no longer used, and nothing is erased."""
    edge_id, before = _meant(asked), {fact["edge_id"] for fact in known(asked)}
    given = asked.memory.retract(edge_id=edge_id)
    again = [said(fact) for fact in known(asked) if fact["edge_id"] not in before]
    displaced = [f"What it had displaced holds again: {'; '.join(again)}."] if again else []
    return _done(asked, " ".join(["Taken back: it is no longer used.", *displaced]), given.notes)


def _place(fact: dict[str, Any]) -> tuple[Any, ...]:
    """What a correction leaves as it is."""
    attribute = str(fact["object"]).partition(": ")[0] if fact["relation"] == "has_attribute" else None
    return name_key(fact["subject"]), fact["relation"], attribute


def _standing_again(fact: dict[str, Any], facts: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The fact that says today what one that ended says; None where none does, or where it stands itself."""
    if fact["status"] in SHOWN:
        return None
    says = ("subject", "relation", "object", "polarity")
    alike = (one for one in facts if all(one[name] == fact[name] for name in says))
    return next((one for one in alike if one["status"] in SHOWN), None)


def _corrected_just_now(asked: Asked, right: dict[str, Any], facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts in whose place one was put since the last run."""
    wrong = {row["edge_id"] for row in _corrections(asked) if name_key(str(row["new_object"])) == _value(right)}
    return [fact for fact in facts if fact["edge_id"] in wrong]


def _right_just_now(asked: Asked, wrong: dict[str, Any], facts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts that were put in the place of one since the last run."""
    right = {name_key(str(row["new_object"])) for row in _corrections(asked) if row["edge_id"] == wrong["edge_id"]}
    return [fact for fact in facts if _place(fact) == _place(wrong) and _value(fact) in right]


def _corrections(asked: Asked) -> list[dict[str, Any]]:
    waiting = waiting_feedback(asked.home.store, asked.user, date.max)
    told = (orjson.loads(row["payload"]) for row in waiting if row["type"] == "correct")
    return [payload for payload in told if payload.get("edge_id") and payload.get("new_object")]


def _value(fact: dict[str, Any]) -> str:
    """What a correction puts there: of an attribute what stands behind its name."""
    value = str(fact["object"])
    return name_key(value.partition(": ")[2] if fact["relation"] == "has_attribute" and ": " in value else value)


def _whole_id(wanted: str, facts: list[dict[str, Any]]) -> str:
    """The id that is asked for; of its beginning, where one fact alone begins so, as on the command line."""
    if len(wanted) < SHORTEST_ID:
        return wanted
    begun = [fact["edge_id"] for fact in facts if fact["edge_id"].startswith(wanted)]
    return begun[0] if len(begun) == 1 else wanted


def _meant(asked: Asked) -> str:
    """The id of the fact, whole: by the beginning of one another could be met. Raises UsageError."""
    wanted = asked.text("id")
    if not any(fact["edge_id"] == wanted for fact in known(asked, is_all=True)):
        raise UsageError(f"putting a fact right: no fact of {asked.user} has the id {wanted!r:.80}")
    return wanted


def _done(asked: Asked, sentence: str, notes: tuple[str, ...]) -> Done:
    return Done("/fact", {"user": asked.user, "id": asked.text("id")}, with_notes(sentence, notes))


def with_notes(sentence: str, notes: tuple[str, ...]) -> str:
    return " ".join([sentence, *(f"{note[:1].upper()}{note[1:]}." for note in notes)])


def _document(asked: Asked, wanted: str) -> dict[str, Any] | None:
    """What is behind an id, of this person alone: of an id that was deleted nobody knows whose it was, but who runs
    the home."""
    if not wanted:
        return None
    document = why(asked.home.store.lake, wanted, asked.today, asked.home.settings.decay)
    if document is None or document.get("user_id", asked.visitor.user_id or asked.user) != asked.user:
        return None
    return None if document["kind"] == "deleted_fact" and asked.visitor.user_id else document


def _searchable(fact: dict[str, Any]) -> str:
    parts = (
        fact["subject"],
        fact["relation"].replace("_", " "),
        fact["object"],
        fact["statement"] or "",
        fact["status"],
    )
    return name_key(" ".join(str(part) for part in parts))

"""Corrections: people saying what is right, effective at once for readers, and by the fold from then on.

Every correction is a feedback record in the landed log, like those that agents send: nothing else writes facts. It
names its facts by what they say as well as by id, so that it holds after another extractor has read everything anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from shlex import quote
from typing import Any, cast

from rapidfuzz import fuzz

from em_pipelines.errors import UsageError
from em_pipelines.governance.correction_effects import (
    Effect,
    KnownNames,
    hint,
    notes_on_merge,
    notes_on_names,
)
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import land_record
from em_pipelines.landing.tables import feedback_table
from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.veils import hidden
from em_pipelines.retrieval.domain_view import OWN, DomainView
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.user_search import seen_from
from em_pipelines.schema.rows import FeedbackRow
from em_pipelines.schema.table import Record
from em_pipelines.serving.facts import FactQuery, KeptAs, Known, check_made, facts, known
from em_pipelines.storage.ledger_entries import Act

FORMAT = "em"
LOOKED_FOR = ("correct", "confirm", "retract")
"""Feedback about a fact, of which it is told whether anything known fits it."""
MATCHING_SCORE = 85
"""Token-set similarity (0 to 100) from which a word of a text is found in a fact."""
Fact = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """Feedback that was given, the facts that it is about as they stood before it, and what the person should know of
    it, in sentences: that nothing known fitted, that a name is new, that things of different kinds are now one."""

    feedback_id: str
    facts: tuple[Fact, ...]
    notes: tuple[str, ...] = ()


class Corrections:
    """What a person, or an agent for them, has to say about their memory in one home; the ledger names the `actor`.

    From a `domain` what may be told there is known, and what is given is of it.
    """

    def __init__(self, home: SearchableHome, user_id: str, actor: str = "user", domain: str | None = None) -> None:
        self._home = home
        self._user_id = user_id
        self._actor = actor
        self._domain = domain

    def known(self, *, is_all: bool = True, kept_as: KeptAs = KeptAs.BOTH) -> list[Fact]:
        """The person's facts and observations as readers see them now, in every status unless told otherwise."""
        today = datetime.now(UTC).date()
        query = FactQuery(self._user_id, today, is_all=is_all, kept_as=kept_as)
        waiting = self._home.waiting(self._user_id, date.max)
        view = self._view()
        store, decay = self._home.store, self._home.settings.decay
        return facts(store, query, decay, waiting, told=view.told) if view else facts(store, query, decay, waiting)

    def fact(self, edge_id: str) -> Fact:
        """The fact of an id, or of the beginning of one; raises UsageError where there is none, or more than one."""
        found = [fact for fact in self.known() if fact["edge_id"].startswith(edge_id)]
        exact = [fact for fact in found if fact["edge_id"] == edge_id]
        if len(exact or found) != 1:
            problem = f"{len(found)} facts" if found else "no fact"
            raise UsageError(
                f"looking for a fact of {self._user_id}: {problem} with id {edge_id}; see `em facts --user "
                f"{quote(self._user_id)} --all`"
            )
        return (exact or found)[0]

    def the_one(self, named: Mapping[str, Any]) -> Fact | None:
        """The standing fact that has these fields, as far as they say anything; None where none has, and UsageError
        where several have."""
        said = {name: name_key(str(value)) for name, value in named.items() if value is not None}
        found = [
            f for f in self.known(is_all=False) if said.items() <= {n: name_key(str(v)) for n, v in _said(f)}.items()
        ]
        if len(found) > 1:
            raise UsageError(
                f"looking for the fact: {len(found)} facts say so; give the edge_id of the one that is meant"
            )
        return found[0] if found else None

    def matching(self, text: str) -> list[Fact]:
        """Standing facts in which every word of the text is found, or one like it."""
        words = [word for word in name_key(text).split() if word]
        if not words:
            raise UsageError("looking for facts by their words: the text is empty; give a word or two of the fact")
        facts = self.known(is_all=False, kept_as=KeptAs.FACTS)
        return [fact for fact in facts if _speaks_of(fact, words)]

    def correct(self, target: Fact | Mapping[str, Any], new_object: str) -> Given:
        """Puts a value in the place of a fact, or of what `subject`, `relation` and perhaps `old_object` name."""
        named = self._in_full(_named(target, old="old_object"))
        return self._give("correct", named | {"new_object": new_object}, target)

    def confirm(self, target: Fact | Mapping[str, Any]) -> Given:
        """Says that a fact is right: confidence 1.0."""
        return self._give("confirm", self._in_full(_named(target)), target)

    def retract(self, target: Fact | Mapping[str, Any]) -> Given:
        """Takes a fact back; what it had displaced holds again."""
        return self._give("retract", self._in_full(_named(target)), target)

    def is_rename(self, name: str, into: str) -> bool:
        """Whether joining two names would give what is known by the first a name that nothing known has."""
        names = self._names()
        return names.is_known(name) and not names.is_known(into)

    def merge(self, name: str, into: str, *, rename: bool = False) -> Given:
        """Says that two names are one thing, read by the second.

        Raises UsageError where nothing known has either name and, without `rename`, where nothing known has the second.
        """
        names = self._names()
        if not (names.is_known(name) or names.is_known(into)):
            self._check_made()
            near = [*names.near(name), *names.near(into)]
            raise UsageError(
                f"joining names: nothing that is known of {self._user_id} is called {name!r:.80} or {into!r:.80}"
                f"{hint(near)}; nothing was noted"
            )
        self._check_name(into)
        if not rename and self.is_rename(name, into):
            self._check_made()
            raise UsageError(
                f"joining names: nothing that is known of {self._user_id} is called {into!r:.80}"
                f"{hint(names.near(into))}; nothing was noted, and `rename` (--rename) gives {name!r:.80} that name"
            )
        return self._give("merge", {"entities": [name, into]}, notes=notes_on_merge(names, name, into))

    def split(
        self, name: str, other: str | None = None, *, into: str | None = None, facts: Sequence[Fact] = ()
    ) -> Given:
        """Says that a name is a thing of its own; or that `facts` of it are about another thing, `into`. Raises
        UsageError where nobody bears the name."""
        names = self._names()
        if not names.is_known(name):
            self._check_made()
            raise UsageError(
                f"parting names: nothing that is known of {self._user_id} is called {name!r:.80}"
                f"{hint(names.near(name))}; nothing was noted"
            )
        if into:
            self._check_name(into)
        payload = {"entity": name, "other": other, "into": into, "facts": [fact["edge_id"] for fact in facts] or None}
        return self._give("split", {key: value for key, value in payload.items() if value is not None}, *facts)

    def near(self, text: str) -> list[str]:
        """Names that resemble a text that fits nothing."""
        return self._names().near(text)

    def _in_full(self, named: dict[str, Any]) -> dict[str, Any]:
        """A fact by what it says, with the name of the only one whom a bare role can mean; UsageError for several."""
        names = self._names() if "edge_id" not in named else None
        meant = {end: names.in_full(str(named[end])) for end in ("subject", "object") if names and named.get(end)}
        for found in meant.values():
            if len(found) > 1:
                raise UsageError(f"looking for the fact: that may be {', '.join(found)}; say whose, nothing was noted")
        return named | {end: found[0] for end, found in meant.items() if found}

    def _view(self) -> DomainView | None:
        return seen_from(self._home, self._user_id, self._domain)

    def _names(self, known_of: Known | None = None) -> KnownNames:
        entities, view = (known_of or self._known_at_all()).entities, self._view()
        return KnownNames(entities, hidden(self._home, self._user_id), view.says if view else None)

    def _known_at_all(self, *more: FeedbackRow) -> Known:
        """Facts in every status and entities as readers see them, with feedback that has not landed laid over."""
        query = FactQuery(self._user_id, datetime.now(UTC).date(), is_all=True, kept_as=KeptAs.BOTH)
        waiting = self._home.waiting(self._user_id, date.max, more)
        found, view = known(self._home.store, query, self._home.settings.decay, waiting), self._view()
        return replace(found, rows=view.all_told(found.rows)) if view else found

    def _check_made(self) -> None:
        check_made(self._home.store, self._user_id, "looking for what that is about")

    def _notes(self, type_: str, payload: dict[str, Any], record: Record) -> list[str]:
        """What there is to say of feedback that names its fact by what it says, before it lands.

        Raises UsageError where there is nothing to take back, NotMadeError where no run has read yet what was said.
        """
        (row,) = cast("list[FeedbackRow]", feedback_table([record]).to_pylist())
        effect = Effect(self._known_at_all(), self._known_at_all(row))
        names = self._names(effect.before)
        on_names = notes_on_names(names, payload)
        if effect.has_changed and type_ != "correct":
            return []  # whatever it is called there, it was found
        if effect.has_changed or (type_ == "confirm" and not effect.is_new):
            return on_names
        if type_ == "retract":
            self._check_made()
            near = [name for role in ("subject", "object") for name in _unknown_near(names, payload.get(role))]
            raise UsageError(
                f"taking facts back: nothing that is known of {self._user_id} says that{hint(near)}; nothing was "
                f"noted, see `em facts --user {quote(self._user_id)}`"
            )
        return ["nothing that was known said so: it is noted as a new fact", *on_names]

    def _give(
        self, type_: str, payload: dict[str, Any], *about: Fact | Mapping[str, Any], notes: Sequence[str] = ()
    ) -> Given:
        payload = payload | ({OWN: self._domain} if self._domain else {})
        fields = {**payload, "user_id": self._user_id, "type": type_, "timestamp": datetime.now(UTC).isoformat()}
        try:
            record = land_record("feedback", fields, FORMAT)
        except RuleError as error:
            raise UsageError(f"giving feedback: {error.detail}; see `em {type_} --help`") from error
        self._check_counts(type_, payload, record)
        if type_ in LOOKED_FOR:
            is_by_id = any("edge_id" in fact for fact in about)
            notes = self._notes_by_id(payload) if is_by_id else self._notes(type_, payload, record)
        with self._home.lock("landing"):
            self._home.store.log.append("feedback", date.fromisoformat(record["timestamp"][:10]), [record])
        target = str(payload.get("edge_id") or record["feedback_id"])
        at = datetime.now(UTC)
        self._home.ledger.append(Act(type_, self._user_id, target, at, self._actor))
        return Given(record["feedback_id"], tuple(dict(fact) for fact in about if "edge_id" in fact), tuple(notes))

    def _check_counts(self, type_: str, payload: dict[str, Any], record: Record) -> None:
        """Raises UsageError for a value that would be noted and come to nothing."""
        if type_ not in ("correct", "confirm"):
            return
        from em_pipelines.governance.admitting import objection  # noqa: PLC0415  (who only asks needs none of it)

        (row,) = cast("list[FeedbackRow]", feedback_table([record]).to_pylist())
        if problem := objection(row, payload, self._home.settings.safety):
            raise UsageError(f"saying what is right: {problem}")

    def _check_name(self, name: str) -> None:
        """Raises UsageError for a name by which nothing may be read."""
        from em_pipelines.governance.admitting import KEPT_AWAY, is_name_kept_away  # noqa: PLC0415  (as above)

        if is_name_kept_away(name, self._home.settings.safety):
            raise UsageError(f"naming a thing {name!r:.80}: {KEPT_AWAY}")

    def _notes_by_id(self, payload: dict[str, Any]) -> list[str]:
        """Of a fact that is named by its id only what takes its place may be new."""
        right = payload.get("new_object")
        return notes_on_names(self._names(), {"new_object": right}) if right else []


def _unknown_near(names: KnownNames, name: str | None) -> list[str]:
    return names.near(name) if name and not names.is_known(name) else []


def _named(target: Fact | Mapping[str, Any], old: str = "object") -> dict[str, Any]:
    """The fact by id and by what it says; what it says alone where it has no id."""
    if "edge_id" not in target:
        return {key: value for key, value in target.items() if value is not None}
    attribute, colon, value = str(target["object"]).partition(": ")
    is_keyed = target["relation"] == "has_attribute" and bool(colon)
    return {
        "edge_id": target["edge_id"],
        "subject": target["subject"],
        "relation": target["relation"],
        "polarity": target["polarity"],
        old: value if is_keyed else target["object"],
        **({"attribute": attribute} if is_keyed else {}),
    }


def _said(fact: Fact) -> list[tuple[str, Any]]:
    """What a fact says by the names that people use: `old_object` is what was wrong."""
    attribute, colon, value = str(fact["object"]).partition(": ")
    is_keyed = fact["relation"] == "has_attribute" and bool(colon)
    said = value if is_keyed else fact["object"]
    own = [("subject", fact["subject"]), ("relation", fact["relation"]), ("object", said), ("old_object", said)]
    return [*own, ("attribute", attribute)] if is_keyed else own


def _speaks_of(fact: Fact, words: Sequence[str]) -> bool:
    said = name_key(f"{fact['subject']} {fact['relation'].replace('_', ' ')} {fact['object']}").split()
    return all(any(fuzz.ratio(word, other) >= MATCHING_SCORE for other in said) for word in words)

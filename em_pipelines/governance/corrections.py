"""Corrections: people saying what is right, effective at once for readers, and by the fold from then on.

Every correction is a feedback record in the landed log, like those that agents send: nothing else writes facts. It
names its facts by what they say as well as by id, so that it holds after another extractor has read everything anew.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

from rapidfuzz import fuzz

from em_pipelines.errors import UsageError
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import land_record
from em_pipelines.retrieval.domain_view import OWN
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.user_search import seen_from
from em_pipelines.serving.facts import FactQuery, facts
from em_pipelines.storage.ledger_entries import Act
from em_pipelines.text.name_keys import name_key

FORMAT = "em"
MATCHING_SCORE = 85
"""Token-set similarity (0 to 100) from which a word of a text is found in a fact."""
Fact = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Given:
    """Feedback that was given, and the facts that it is about as they stood before it."""

    feedback_id: str
    facts: tuple[Fact, ...]


class Corrections:
    """What a person, or an agent for them, has to say about their memory in one home; the ledger names the `actor`.

    From a `domain` what may be told there is known, and what is given is of it.
    """

    def __init__(self, home: SearchableHome, user_id: str, actor: str = "user", domain: str | None = None) -> None:
        self._home = home
        self._user_id = user_id
        self._actor = actor
        self._domain = domain

    def known(self, *, is_all: bool = True) -> list[Fact]:
        """The person's facts as readers see them now, in every status unless told otherwise."""
        today = datetime.now(UTC).date()
        query = FactQuery(self._user_id, today, is_all=is_all)
        waiting = self._home.waiting(self._user_id, date.max)
        view = seen_from(self._home, self._user_id, self._domain)
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
                f"{self._user_id} --all`"
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
        return [fact for fact in self.known(is_all=False) if _speaks_of(fact, words)]

    def correct(self, target: Fact | Mapping[str, Any], new_object: str) -> Given:
        """Puts a value in the place of a fact, or of what `subject`, `relation` and perhaps `old_object` name."""
        return self._give("correct", _named(target, old="old_object") | {"new_object": new_object}, target)

    def confirm(self, target: Fact | Mapping[str, Any]) -> Given:
        """Says that a fact is right: confidence 1.0."""
        return self._give("confirm", _named(target), target)

    def retract(self, target: Fact | Mapping[str, Any]) -> Given:
        """Takes a fact back; what it had displaced holds again."""
        return self._give("retract", _named(target), target)

    def merge(self, name: str, into: str) -> Given:
        """Says that two names are one thing, read by the second."""
        return self._give("merge", {"entities": [name, into]})

    def split(
        self, name: str, other: str | None = None, *, into: str | None = None, facts: Sequence[Fact] = ()
    ) -> Given:
        """Says that a name is a thing of its own; or that `facts` of it are about another thing, `into`."""
        payload = {"entity": name, "other": other, "into": into, "facts": [fact["edge_id"] for fact in facts] or None}
        return self._give("split", {key: value for key, value in payload.items() if value is not None}, *facts)

    def _give(self, type_: str, payload: dict[str, Any], *about: Fact | Mapping[str, Any]) -> Given:
        payload = payload | ({OWN: self._domain} if self._domain else {})
        fields = {**payload, "user_id": self._user_id, "type": type_, "timestamp": datetime.now(UTC).isoformat()}
        try:
            record = land_record("feedback", fields, FORMAT)
        except RuleError as error:
            raise UsageError(f"giving feedback: {error.detail}; see `em {type_} --help`") from error
        with self._home.lock("landing"):
            self._home.store.log.append("feedback", date.fromisoformat(record["timestamp"][:10]), [record])
        target = str(payload.get("edge_id") or record["feedback_id"])
        at = datetime.now(UTC)
        self._home.ledger.append(Act(type_, self._user_id, target, at, self._actor))
        return Given(record["feedback_id"], tuple(dict(fact) for fact in about if "edge_id" in fact))


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

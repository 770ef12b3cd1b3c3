"""Looking through what an agent is about to say for personal data that its audience should not see.

Two sources: what memory knows of the user, each fact with its privacy level, and detectors that know nobody: secrets,
health, money and documents, ways to reach somebody, days of birth. No model is asked, and nothing is kept of the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.extraction.feedback_claims import OBJECT_TYPES
from em_pipelines.governance.audit.rows import World
from em_pipelines.guard.contact import BIRTHDAY, personal_spans, wordings_of_day
from em_pipelines.guard.screening import levelled
from em_pipelines.guard.sensitive import FINANCIAL, HEALTH, IDENTITY_DOCUMENT, spans_by_category
from em_pipelines.language.masking import mask_text
from em_pipelines.language.name_matching import NameIndex, Span, key_of, sentences
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.domain_view import DomainView
from em_pipelines.schema.readings import Claim
from em_pipelines.schema.vocabulary import LITERAL_OBJECT, USER, EntityType, PrivacyLevel, TemporalType

MAX_CHARACTERS = 50_000
SENSITIVE = (HEALTH, FINANCIAL, IDENTITY_DOCUMENT)
_MASK = re.compile(r"\[masked:(\w+)\]")
_YOU = re.compile(r"(?i)\b(?:you|your|yours|yourself)\b")
_ISO_DAY = re.compile(r"(?:(?P<year>\d{4})|-)-(?P<month>\d{2})-(?P<day>\d{2})")


class Audience(StrEnum):
    """Who will read it: the remembered person alone, a group with others in it, or anybody."""

    USER = "user"
    GROUP = "group"
    PUBLIC = "public"


HIGHEST = {
    Audience.USER: PrivacyLevel.PII,
    Audience.GROUP: PrivacyLevel.GENERIC,
    Audience.PUBLIC: PrivacyLevel.PUBLIC,
}
"""The highest level that an audience may see. L4 is for nobody."""


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """Characters [start, end) of the text, and why they are for fewer eyes. `kind` is fact, secret, contact, birthday,
    health, financial or identity_document; `edge_id` is that of a fact, `detail` the kind of secret, or of contact:
    email, phone or address."""

    start: int
    end: int
    kind: str
    privacy_level: str
    edge_id: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True)
class _Known:
    """A fact to look for: wordings of its object and, unless the object alone tells, the keys of its subject."""

    edge_id: str
    level: PrivacyLevel
    wordings: tuple[str, ...]
    subject_keys: frozenset[str]
    is_about_user: bool


def check_reply(  # noqa: PLR0913  (what is checked, for whom, by what is known)
    home: Pipeline,
    user_id: str,
    facts: list[dict[str, Any]],
    text: str,
    audience: Audience,
    view: DomainView | None = None,
) -> list[Finding]:
    """Everything in the text that is above what the audience may see, in order; empty where nothing was found.

    A fact of L2 or less is found where its object stands in one sentence with its subject ("you" and the user's names
    for the user); from L3 on its object alone is enough. `facts` are those of `serving.facts`, of this user, as the
    `view` tells them: what another domain knows is not looked for, or whoever asks often enough would learn it.
    Raises UsageError for a text that is too long to look through.
    """
    if len(text) > MAX_CHARACTERS:
        raise UsageError(f"checking a reply: it has {len(text)} characters; check {MAX_CHARACTERS} at a time")
    world = World(home.store.lake, user_id, view)
    own_names = frozenset(key_of(fact["object"]) for fact in facts if fact["relation"] == "has_name") | {
        key_of(user_id)
    }
    people = own_names | {key_of(row["canonical_name"]) for row in world.entities.values()} - {USER, ""}
    places = sentences(text)
    findings = {*_secrets(text, places)}
    findings |= {*_facts(text, places, _known(world, facts, audience), own_names)}
    if audience is not Audience.USER:
        findings |= {*_private(text, places, NameIndex.of(people))}
    return sorted(findings)


def _known(world: World, facts: list[dict[str, Any]], audience: Audience) -> Iterator[_Known]:
    """The facts that the audience may not see."""
    closed = {edge_id: world.said(edge) for edge_id, edge in world.edges.items() if _is_closed(edge)}
    ids = {row["canonical_name"]: entity_id for entity_id, row in world.entities.items()}
    for fact in (*facts, *closed.values()):
        level = PrivacyLevel.PRIVILEGED if fact["edge_id"] in closed else _level(fact, world)
        if level <= HIGHEST[audience]:
            continue
        subject = [fact["subject"], *(world.names(ids[fact["subject"]]) if fact["subject"] in ids else ())]
        yield _Known(
            fact["edge_id"],
            level,
            tuple(_wordings(fact, world, ids)),
            frozenset(map(key_of, subject)),
            fact["subject"] == USER,
        )


def _is_closed(edge: dict[str, Any]) -> bool:
    """Whether it is told to nobody."""
    return bool(edge["requires_verification"] or edge["privacy_level"] == PrivacyLevel.PRIVILEGED)


def _level(fact: dict[str, Any], world: World) -> PrivacyLevel:
    """The level of a fact; of one that was told since the last run, by the same table."""
    edge = world.edges.get(fact["edge_id"])
    if edge is not None:
        return PrivacyLevel(edge["privacy_level"])
    return levelled(_as_claim(fact)).privacy_level


def _as_claim(fact: dict[str, Any]) -> Claim:
    """A fact that nobody has read yet, as feedback says it: of what kind its ends are is not known."""
    relation = fact["relation"]
    attribute, _, value = str(fact["object"]).partition(": ") if relation == "has_attribute" else (None, "", None)
    is_literal = relation in LITERAL_OBJECT
    return Claim(
        turn_number=0, subject=fact["subject"], subject_type=EntityType.CONCEPT, relation=relation,
        object=None if is_literal else fact["object"], object_type=None if is_literal else OBJECT_TYPES.get(relation),
        value=(value or fact["object"]) if is_literal else None, attribute=attribute, over=fact["over"],
        confidence=fact["confidence"], start=0, end=0, temporal_type=TemporalType(fact["temporal_type"]),
    )  # fmt: skip


def _wordings(fact: dict[str, Any], world: World, ids: dict[str, str]) -> Iterator[str]:
    """How the object of a fact may be said."""
    said = str(fact["object"])
    if fact["relation"] not in LITERAL_OBJECT:
        yield from [said, *(world.names(ids[said]) if said in ids else ())]
        return
    value = said.partition(": ")[2] or said if fact["relation"] == "has_attribute" else said
    yield value
    day = _ISO_DAY.fullmatch(value)
    if day:
        yield from wordings_of_day(int(day["month"]), int(day["day"]))


def _facts(text: str, places: list[Span], known: Iterable[_Known], own_names: frozenset[str]) -> Iterator[Finding]:
    by_key = _by_key(known)
    subjects = {key for facts in by_key.values() for fact in facts for key in fact.subject_keys} | own_names
    index = NameIndex.of([*by_key, *subjects - {""}])
    named = _Named(text, places, [(span, _keys(text, span)) for span in index.spans(text)], own_names)
    for span, keys in named.spans:
        for fact in chain.from_iterable(by_key.get(key, ()) for key in keys):
            if fact.level >= PrivacyLevel.PII or named.is_about(fact, span):
                yield Finding(span.start, span.end, "fact", fact.level.value, edge_id=fact.edge_id)


def _by_key(known: Iterable[_Known]) -> dict[str, list[_Known]]:
    """Facts by the keys of all wordings of their objects."""
    by_key: dict[str, list[_Known]] = defaultdict(list)
    for fact in known:
        for key in {key_of(wording) for wording in fact.wordings} - {""}:
            by_key[key].append(fact)
    return by_key


@dataclass(frozen=True, slots=True)
class _Named:
    """A text with its sentences, the spans that name somebody or something with the keys of each, and the names of the
    user."""

    text: str
    sentences: list[Span]
    spans: list[tuple[Span, tuple[str, ...]]]
    own_names: frozenset[str]

    def is_about(self, fact: _Known, span: Span) -> bool:
        """Whether the sentence of a span speaks of the subject of a fact."""
        sentence = next((sentence for sentence in self.sentences if sentence.meets(span)), span)
        if fact.is_about_user and _YOU.search(self.text, sentence.start, sentence.end):
            return True
        wanted = fact.subject_keys | self.own_names if fact.is_about_user else fact.subject_keys
        return any(sentence.meets(other) and other != span and wanted.intersection(keys) for other, keys in self.spans)


def _keys(text: str, span: Span) -> tuple[str, ...]:
    """The keys that a span may have been found by: as it stands, and without the s of a plural or genitive."""
    key = key_of(text[span.start : span.end])
    return (key, key[:-1]) if key.endswith("s") else (key,)


def _secrets(text: str, places: list[Span]) -> Iterator[Finding]:
    """Sentences that hold a secret; the whole text where only all of it shows one."""
    if mask_text(text) == text:
        return
    masked = [place for place in places if mask_text(text[place.start : place.end]) != text[place.start : place.end]]
    for place in masked or [Span(0, len(text))]:
        said = text[place.start : place.end]
        kinds = sorted({*_MASK.findall(mask_text(said))} - {*_MASK.findall(said)})
        yield Finding(place.start, place.end, "secret", PrivacyLevel.PRIVILEGED.value, detail=", ".join(kinds))


def _private(text: str, places: list[Span], people: NameIndex) -> Iterator[Finding]:
    """Ways to reach somebody and days of birth; and health, money and documents in sentences that speak of somebody."""
    for kind, spans in personal_spans(text).items():
        is_birthday = kind == BIRTHDAY
        for start, end in spans:
            detail = "" if is_birthday else kind
            yield Finding(start, end, kind if is_birthday else "contact", PrivacyLevel.PII.value, detail=detail)
    for category, spans in spans_by_category(text, SENSITIVE).items():
        for start, end in spans:
            place = next((p for p in places if p.meets(Span(start, end))), Span(start, end))
            said = text[place.start : place.end]
            if _YOU.search(said) or people.is_in(said):
                yield Finding(start, end, category, PrivacyLevel.PII.value)

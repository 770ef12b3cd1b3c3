"""Qualifiers: what tells namesakes apart, kept as plain words in a row of the registry.

Roles ("sister"), roles to others ("mother of katya"), whose a role is ("of katya"), where somebody is from ("at
reception"); and of conversations in which several people speak, whose somebody is ("by bea") and who spoke of them
("from bea"). Whether two sets of them can be one person's is decided here.

`Speech` says who wrote a message, and to whom: the owner that `my` and `your` mean in it. An owner is empty for the
remembered person, else the name of a speaker, as the log has it; None where it is unclear. In a log of one person with
an assistant everything is that person's, and nothing is marked.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import pyarrow as pa

from em_pipelines.language.name_keys import fold, name_key, noun_of, owned_name, owner_of
from em_pipelines.resolution.name_parts import Name, head_role
from em_pipelines.resolution.word_lists import roles, words
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.vocabulary import USER

AT = "at "


OF = "of "


BY = "by "
"""Whose somebody is, of those who speak in a conversation of several: two owners' Toms are two."""


SPEAKER = "by ="


FROM = "from "
"""Who spoke of somebody, in such a conversation."""


MARKS = (OF, BY, FROM)


def as_qualifier(role: str, owner: str) -> str:
    """A role as it is kept."""
    return f"{role} {OF}{owner}" if owner else role


def owner_in(qualifiers: Iterable[str]) -> str:
    """Whose role a role's own row is; empty for the remembered person's."""
    return next((q.removeprefix(OF) for q in qualifiers if q.startswith(OF)), "")


def are_partners(one: str, other: str) -> bool:
    """Whether two roles are steps of one love: fiancée and wife."""
    return any(head_role(one) in group and head_role(other) in group for group in roles().partners)


def is_same_role(one: str, other: str) -> bool:
    """Whether two roles can be one person's without saying more of one than of the other: brother, older brother."""
    if one == other:
        return True
    a, b = one.split(), other.split()
    if len(a) > 1 and len(b) > 1:
        return False
    telling = a[:-1] + b[:-1]
    if any(map(_tells_of_another, telling)) or any(word.startswith("ex-") for word in a + b):
        return False
    return head_role(one) == head_role(other) or (not telling and are_partners(one, other))


def _tells_of_another(word: str) -> bool:
    return word.startswith("ex") or word in ("former", "late", "old", "new", "other", "previous")


def clash(one: Iterable[str], other: Iterable[str]) -> bool:
    """Whether two sets of qualifiers are those of two people: a sister is no mother, and not the one at reception; a
    dentist is no landlord."""
    left, right = set(one), set(other)
    if _are_of_other_owners(left, right):
        return True
    kin = _kin(left), _kin(right)
    places = _places(left), _places(right)
    are_apart = all(places) and not any(_is_same_place(a, b) for a, b in product(*places))
    if all(kin):
        same = [a for a, b in product(*kin) if is_same_role(a, b)]
        return not same or (are_apart and all(head_role(role) in roles().distant for role in same))
    if are_apart or _are_crossed(places, (_of_others(left), _of_others(right))):
        return True
    others = _others(left), _others(right)
    if any(kin) and (_is_told_elsewhere(kin, places) or _is_told_elsewhere(kin, others)):
        return True
    lines = _lines(others[0]), _lines(others[1])
    if all(lines) and lines[0].isdisjoint(lines[1]):
        return True
    return any(_is_off_work(*told) for told in ((others[0], lines[0], places[1]), (others[1], lines[1], places[0])))


def _are_of_other_owners(one: set[str], other: set[str]) -> bool:
    """Whether both are said to be somebody's, and no owner is the same: Ann's Nora is not Bea's. Counted only where
    one of them was spoken of in a conversation of several people."""
    left, right = owners_of(one), owners_of(other)
    if not any(q.startswith(BY) for q in one | other):
        return False
    return bool(left and right) and left.isdisjoint(right)


def owners_of(qualifiers: set[str]) -> set[str]:
    """Whose somebody is of those who speak; the remembered person's where a role says so and no owner."""
    said = {q for q in qualifiers if q.startswith(BY)}
    is_users = any(roles().kind.get(head_role(q)) and f" {OF}" not in q for q in qualifiers)
    return said or ({f"{BY}{USER}"} if is_users else set())


def _is_off_work(others: set[str], lines: set[str], places: set[str]) -> bool:
    """Whether one is told by what one does for a living, and the other by where people go after work, where only
    teachers work; one is whom one pays, and the other from one's own work; or one lives next door, and the other is
    from elsewhere."""
    heads = {place.split()[-1] for place in places}
    if not heads or not others:
        return False
    if "neighbour" in others:
        return heads.isdisjoint(words("near_home"))
    if others == {"friend"}:
        return True
    is_after_work = heads <= words("after_work")
    if roles().line["boss"] in lines or "colleague" in others:
        return is_after_work
    is_elsewhere = is_after_work and roles().line["teacher"] not in lines
    return bool(lines) and (heads <= {"work"} or is_elsewhere)


def _of_others(qualifiers: set[str]) -> set[str]:
    """What somebody is to others: the wife of the boss."""
    return {q for q in qualifiers if f" {OF}" in q and not q.startswith(AT)}


def _are_crossed(one: tuple[set[str], set[str]], other: tuple[set[str], set[str]]) -> bool:
    """Whether the left has the first alone and the right the other alone, or the other way round."""
    return any(one[n] and not one[1 - n] and other[1 - n] and not other[n] for n in (0, 1))


def _is_told_elsewhere(kin: tuple[set[str], set[str]], told: tuple[set[str], set[str]]) -> bool:
    """Whether the one who is not family is told by what the other is not told by."""
    return bool(told[1] - told[0]) if kin[0] else bool(told[0] - told[1])


def _is_same_place(one: str, other: str) -> bool:
    """`at choir`, `at church choir`."""
    a, b = set(one.split()[1:]), set(other.split()[1:])
    return a <= b or b <= a


def _lines(others: set[str]) -> set[str]:
    """The lines of work, of those that one is hardly said to have two of."""
    heads = {head_role(q) for q in others}
    return {roles().line.get(head, head) for head in heads if head not in roles().general}


def qualifiers_by(mark: str, qualifiers: Iterable[str]) -> set[str]:
    """The qualifiers that begin with a mark."""
    return {qualifier for qualifier in qualifiers if qualifier.startswith(mark)}


def has_kin(qualifiers: Iterable[str]) -> bool:
    """Whether the bearer is family of the remembered person."""
    return bool(_kin(set(qualifiers)))


def _places(qualifiers: set[str]) -> set[str]:
    """Where somebody is from; `the new one` tells no place."""
    return {q for q in qualifiers if q.startswith(AT) and q.removeprefix(AT) not in roles().telling_modifiers}


def _kin(qualifiers: set[str]) -> set[str]:
    return {q for q in qualifiers if roles().kind.get(head_role(q)) == "kin" and f" {OF}" not in q}


def _others(qualifiers: set[str]) -> set[str]:
    return {q for q in qualifiers if roles().kind.get(head_role(q)) in ("social", "professional") and f" {OF}" not in q}


OWN = frozenset({"my", "our"})
_ARTICLES = frozenset({"the"})
YOUR = "your"
_COLUMNS = ("message_id", "user_id", "session_id", "subject", "speaker")


@dataclass(frozen=True, slots=True)
class Speech:
    """Of one message: `own` is the owner that speaks, `your` the one spoken to; `names` are those who speak in the
    conversation, folded, with the owner that each is."""

    own: str = ""
    your: str | None = ""
    names: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_among_people(self) -> bool:
        """Whether more than one person speaks."""
        return len(set(self.names.values())) > 1

    def owner(self, said: str) -> str | None:
        """The owner that a determiner or a name means: `my`, `your`, `Katya`; pronouns and names as they are.

        In a conversation of two nobody says the other's name for `your`: it is a namesake's, of whom nothing is known.
        """
        if not said:  # a teacher is nobody's
            return ""
        if said in OWN:
            return self.own
        if said in _ARTICLES:
            return None if self.own else ""
        if said == YOUR:
            return self.your
        meant = self.names.get(said) if self.is_among_people else None
        return said if meant is None else None if self.your is not None else meant

    def marks(self, owner: str) -> tuple[str, ...]:
        """What is kept of somebody who is said to be an owner's, where that is somebody who speaks."""
        is_theirs = self.is_among_people and owner in {fold(name_key(name)) for name in self.names.values()}
        return (f"{BY}{owner or USER}",) if is_theirs else ()

    def source(self) -> tuple[str, ...]:
        """What is kept of whoever is spoken of: by whom."""
        return (f"{FROM}{fold(name_key(self.own or USER))}",) if self.is_among_people else ()

    def is_speaker(self, name: str) -> bool:
        """Whether a name is that of who speaks."""
        return self.is_among_people and bool(self.own) and name == self.own

    def speaker_mark(self) -> str:
        """What is kept of who speaks."""
        return f"{SPEAKER}{fold(name_key(self.own))}"


ALONE = Speech()


def speeches(messages: pa.Table) -> dict[str, Speech]:
    """The speech of every message of a conversation in which several people speak, by message_id."""
    if not set(_COLUMNS) <= set(messages.column_names):
        return {}
    said: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows_of(messages.select(list(_COLUMNS))):
        if row["subject"] is not None:
            said[row["user_id"], row["session_id"]].append(row)
    found: dict[str, Speech] = {}
    for rows in said.values():
        if len({row["subject"] for row in rows}) > 1:
            found |= _of_conversation(rows)
    return found


def _of_conversation(rows: list[dict[str, Any]]) -> dict[str, Speech]:
    owners = {row["subject"]: "" if row["subject"] == USER else str(row["subject"]) for row in rows}
    names = {
        fold(name_key(name)): owners[row["subject"]]
        for row in rows
        for name in (row["speaker"] or row["subject"], row["subject"])
        if name != USER
    }
    made: dict[str, Speech] = {}
    for subject, own in owners.items():
        others = set(owners.values()) - {own}
        made[subject] = Speech(own, others.pop() if len(others) == 1 else None, names)
    return {row["message_id"]: made[row["subject"]] for row in rows}


def name_by_owner(name: Name, determiner: str | None, speech: Speech) -> str | None:
    """The name of a role with its owner; other names as they are; None where it is unclear whose the role is.

    `determiner` is what stands before it in the message, as worded: a possessive or a name, empty for an article or
    nothing, None where the role does not stand there.
    """
    said = owner_of(name.text)
    if name.person is None or not name.person.is_role or said in set(speech.names.values()) - {""}:
        return name.text
    if determiner is None and not said:  # an extractor names the roles of others by their owner
        return None if speech.own else name.text
    if {name.person.owner, fold(said or determiner or "")} & _PRONOUNS:
        return None if speech.is_among_people and not said else name.text
    return _by_owner(noun_of(name.text), said or determiner or "", speech)


def _by_owner(noun: str, worded: str, speech: Speech) -> str | None:
    key = fold(worded) if worded.casefold() in _DETERMINERS else fold(name_key(worded))
    owner = speech.owner(key)
    return None if owner is None else owned_name(worded if owner == key else owner, noun)


_PRONOUNS = frozenset({"his", "her", "their"})
_DETERMINERS = OWN | _ARTICLES | {YOUR}

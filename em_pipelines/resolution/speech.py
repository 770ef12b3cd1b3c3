"""Who says a message, and to whom: what `my` and `your` mean in it.

An owner is empty for the remembered person, else the name of somebody who speaks, as the log has it; None where it is
unclear. In a log of one person with an assistant everything is that person's, and nothing is marked.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from em_pipelines.resolution.name_parts import Name
from em_pipelines.resolution.qualifiers import BY, FROM, SPEAKER
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.vocabulary import USER
from em_pipelines.text.name_keys import fold, name_key, noun_of, owned_name, owner_of

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

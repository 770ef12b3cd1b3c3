"""Whose a role is that a model names by its noun alone: `brother` of a turn in which Bea says `my brother` is hers.

Read in the words of the turn before the noun, else in the answer's own kinships. Where neither tells it, or they tell
several, the role names nobody: among people a guess would put a fact on another's brother.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from em_pipelines.extraction.segmentation import are_several, listener_of, owner_named
from em_pipelines.language.document import english
from em_pipelines.language.name_keys import name_key, noun_of, owned_name, owner_of
from em_pipelines.schema.readings import Turn
from em_pipelines.schema.vocabulary import USER

_OWN = frozenset({"my", "our"})
_OF_OTHERS = frozenset({"his", "her", "their"})


@dataclass(frozen=True, slots=True)
class Kinship:
    """A relation of an answer that tells whose a role is: `Bea sibling_of brother`, of one turn."""

    turn_number: int
    owner: str
    noun: str


@dataclass(frozen=True, slots=True)
class Owners:
    """Who speaks, by their names, and what the answer says of whose relatives and pets there are."""

    names: Mapping[str, str]
    kinships: Sequence[Kinship] = ()

    def named(self, name: str, turn: Turn) -> str | None:
        """The name with its owner, of a role that is another's than the remembered person's; other names as they are;
        None where it is unclear whose the role is."""
        if not is_role(noun_of(name)) or not are_several(self.names):
            return name
        if owner := owner_of(name):
            meant = owner if owner in self.names.values() else owner_named(self.names, owner)
        else:
            owners = self._said(name, turn) or self._told(name, turn)
            meant = owners.pop() if len(owners) == 1 else None
        return None if meant is None else owned_name(meant, noun_of(name))

    def _said(self, noun: str, turn: Turn) -> set[str | None]:
        speaker = turn.subject or USER
        words = [found.casefold() for found in _before(noun).findall(turn.text.replace("’", "'"))]
        if not words and _stands_bare(noun).search(turn.text):
            return {speaker}
        return {self._meant(word, speaker) for word in words} - {""}

    def _meant(self, word: str, speaker: str) -> str | None:
        if word in _OWN:
            return speaker
        if word == "your":
            return listener_of(self.names, speaker) or None
        return "" if word in _OF_OTHERS else owner_named(self.names, word.removesuffix("'s").removesuffix("'"))

    def _told(self, noun: str, turn: Turn) -> set[str | None]:
        key = name_key(noun)
        told = [k for k in self.kinships if name_key(k.noun) == key]
        here = [k for k in told if k.turn_number == turn.turn_number] or told
        return {k.owner for k in here}


def is_role(noun: str) -> bool:
    """Whether a noun says what somebody, or a pet, is to somebody."""
    return noun.casefold() in english.kin or noun.casefold() in english.pets


def tells_owner(relation: str, noun: str) -> bool:
    """Whether a relation of an answer says whose the role is that stands at one of its ends."""
    return relation in {*english.kin.values(), "has_pet"} and is_role(noun)


@lru_cache(maxsize=1024)
def _before(noun: str) -> re.Pattern[str]:
    owner = r"(?<![\w'])(my|our|your|his|her|their|[^\W\d_][\w-]*'s)"
    return re.compile(rf"(?i){owner} (?:\w+ ){{0,2}}?{re.escape(noun)}\b")


@lru_cache(maxsize=1024)
def _stands_bare(noun: str) -> re.Pattern[str]:
    """A role noun as a name: at the start of a clause and before more of it, `Mum lives in Leeds`."""
    return re.compile(rf"(?:^|[.!?,;]\s+){re.escape(noun[:1].upper() + noun[1:])}\b(?!')")

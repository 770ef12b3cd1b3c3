"""One name: by which others it is known, every fact with it; joining two names, and taking them apart again."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.governance.audit.rows import state_where
from em_pipelines.governance.correction_effects import KnownNames, hint, notes_on_merge
from em_pipelines.interfaces.ui.asked import Asked, Done, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import came, known, with_notes
from em_pipelines.language.name_keys import name_key
from em_pipelines.redaction.veils import hidden
from em_pipelines.schema.feedback_payloads import Merge, Split, read_payload
from em_pipelines.schema.tables.graph import ENTITIES
from em_pipelines.schema.vocabulary import USER
from em_pipelines.serving.facts import waiting_feedback


@dataclass(frozen=True, slots=True)
class JustNow:
    """What was said of names since the last run: pairs that are one, the second being read, and names taken apart."""

    joined: tuple[tuple[str, str], ...]
    parted: frozenset[str]

    @classmethod
    def of(cls, asked: Asked) -> "JustNow":
        """In the order in which it was said: the last word counts."""
        joined: dict[tuple[str, str], tuple[str, str]] = {}
        parted: set[str] = set()
        for row in waiting_feedback(asked.home.store, asked.user, date.max):
            if row["type"] not in ("merge", "split"):
                continue
            told = read_payload(row["type"], orjson.loads(row["payload"]))
            if isinstance(told, Merge):
                *names, read = told.entities
                joined |= {(name_key(name), name_key(read)): (name, read) for name in names}
                parted -= {name_key(name) for name in told.entities}
            elif isinstance(told, Split) and told.into is None:
                parted.add(name_key(told.entity))
                joined = {keys: pair for keys, pair in joined.items() if name_key(told.entity) not in keys}
        return cls(tuple(joined.values()), frozenset(parted))

    def with_name(self, name: str) -> list[tuple[str, str]]:
        """The pairs that a name is in."""
        return [pair for pair in self.joined if name_key(name) in {name_key(one) for one in pair}]


def show_entity(asked: Asked) -> Page:
    """One name: by which others it is known, and every fact with it."""
    wanted = asked.text("name")
    if not wanted:
        raise UsageError("opening a name: none is given")
    rows = _read_by(asked, wanted)
    keys = {name_key(one) for one in (wanted, *(row["canonical_name"] for row in rows))}
    facts = [
        fact for fact in known(asked, is_all=True) if keys & {name_key(fact["subject"]), name_key(str(fact["object"]))}
    ]
    just_now = JustNow.of(asked)
    joined = just_now.with_name(wanted)
    if not rows and not facts and not joined:
        raise NotThereError(f"nothing that is known of {asked.user} is called {wanted!r:.80}")
    told = {
        "user": asked.user,
        "name": wanted,
        "entities": [{**row, "others": _others(row, just_now)} for row in rows],
        "facts": facts,
        "came": came(asked, facts),
    }
    return Page("entity.html", {**told, "joined": joined, "is_user": name_key(wanted) == USER})


def _others(row: dict[str, Any], just_now: JustNow) -> list[tuple[str, bool]]:
    """The other names of a thing, and whether each was taken apart since the last run."""
    own = name_key(row["canonical_name"])
    others = {name_key(alias): alias for alias in row["aliases"] if name_key(alias) != own}
    return [(alias, key in just_now.parted) for key, alias in others.items()]


def show_join(asked: Asked) -> Page:
    """What joining two names would do. Changes nothing."""
    name, into = _pair(asked)
    rows = state_where(asked.home.store.lake, ENTITIES, "user_id", [asked.user])
    names = KnownNames(ENTITIES.from_rows(rows), hidden(asked.home, asked.user))
    if names.is_one(name, into):
        raise UsageError(f"joining names: {name!r:.80} and {into!r:.80} are one already")
    if not names.is_known(name):
        raise NotThereError(f"nothing that is known of {asked.user} is called {name!r:.80}{hint(names.near(name))}")
    facts = known(asked)
    told = {
        "user": asked.user,
        "name": name,
        "into": into,
        "is_new": not names.is_known(into),
        "notes": notes_on_merge(names, name, into),
        "counts": [(one, sum(_is_of(fact, one) for fact in facts)) for one in (name, into)],
    }
    return Page("join.html", told)


def merge(asked: Asked) -> Done:
    """Says that two names are one thing."""
    name, into = _pair(asked)
    given = asked.memory.merge(name, into, rename=asked.text("rename") == "yes")
    said = with_notes(f"{name} is read as {into} from now on.", given.notes)
    return Done("/entity", {"user": asked.user, "name": into}, said)


def split(asked: Asked) -> Done:
    """Says that a name is a thing of its own: takes a joining back."""
    name, other = asked.text("name"), asked.text("other")
    given = asked.memory.split(name, other or None)
    said = f"{name} is read as a thing of its own from now on; its facts are sorted by the next run."
    return Done("/entity", {"user": asked.user, "name": other or name}, with_notes(said, given.notes))


def _pair(asked: Asked) -> tuple[str, str]:
    """The two names. Raises UsageError where they are none, one, or the remembered person's own."""
    name, into = asked.text("name"), asked.text("into")
    if not name or not into:
        raise UsageError("joining names: the other name is empty")
    if name_key(name) == name_key(into):
        raise UsageError(f"joining names: {name!r:.80} and {into!r:.80} are the same name")
    if USER in (name_key(name), name_key(into)):
        raise UsageError(
            f"joining names: user stands for {asked.user}; nobody who is spoken of becomes the person by a click"
        )
    return name, into


def _read_by(asked: Asked, wanted: str) -> list[dict[str, Any]]:
    """The things of a name, each by the name that it is read by."""
    rows = {row["entity_id"]: row for row in state_where(asked.home.store.lake, ENTITIES, "user_id", [asked.user])}
    found = {}
    for one in rows.values():
        if name_key(wanted) in {name_key(name) for name in (one["canonical_name"], *one["aliases"])}:
            row, seen = one, set[str]()
            while (into := row["merged_into"]) in rows and into not in seen:
                seen.add(into)
                row = rows[into]
            found[row["entity_id"]] = row
    return list(found.values())


def _is_of(fact: dict[str, Any], name: str) -> bool:
    return name_key(name) in {name_key(fact["subject"]), name_key(str(fact["object"]))}

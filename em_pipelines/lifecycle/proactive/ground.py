"""What probes and starters stand on: the facts and things of a day, laid out for SQL, with what may be said of them."""

from datetime import date
from pathlib import Path

import duckdb
import pyarrow as pa

from em_pipelines.graph.confidence_decay import Curve, DecaySettings, install_macros
from em_pipelines.language.name_keys import name_key
from em_pipelines.lifecycle.proactive.plain_names import listed, person_roles
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings
from em_pipelines.lifecycle.proactive.wording import given_names
from em_pipelines.resolution.mention_resolution import MENTIONS_AT_FULL_IMPORTANCE
from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.table import TEXT
from em_pipelines.schema.vocabulary import MAY_BE_PHRASE
from em_pipelines.storage.duckdb_engine import registered, statement

HERE = Path(__file__).parent
CONFIDED = (
    r"\b(don'?t|do not|never) (tell|mention|repeat|share)|\bbetween (you and me|us|ourselves)\b|\bsecret(ly)?\b"
    r"|\bconfiden(ce|tial)|\boff the record\b|\bkeep (it|this|that) (quiet|private|to yourself)\b|\bsurprise\b"
    r"|\bnobody (else )?knows\b|\bno one (else )?knows\b"
)
"""Somebody asks for silence, or tells what others are not to hear."""
GRAVE = (
    r"\b(died|dies|dying|death|passed away|passing of|funeral|memorial|widow(er|ed)?|in memory of|mourn\w*|grie(f|v\w+)"
    r"|miscarr\w+|stillborn|suicide|rest in peace|buried|burial|cremat\w+|hospice|terminal(ly)? (ill|cancer)|palliative"
    r"|(is|was|are|were|been|found|now|'s) dead|(we|i) lost (him|her|my|our)|put (him|her|it) (down|to sleep)"
    r"|late (husband|wife|mother|father|mum|mom|dad|brother|sister|son|daughter|partner|uncle|aunt|grand\w+|friend)"
    r"|ex-?(husband|wife|partner|boyfriend|girlfriend)|divorc\w+|separated|broke up|split up|left me|estranged"
    r"|restraining order|custody|abus\w+|in (jail|prison|a coma|intensive care|rehab))\b"
)
"""Somebody has died, or is lost in another way: whom it is told of is neither asked about nor brought up."""
DATED = (
    r"\b(today|tonight|tomorrow|next (week|month|year|spring|summer|autumn|fall|winter)|this (week|weekend|month|year)"
    r"|(mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october"
    r"|november|december|in (may|spring|summer|autumn|fall|winter)|(19|20)\d\d|\d{1,2}(st|nd|rd|th)|christmas|easter)\b"
)
"""Somebody has said when, even if only in words."""
DEADLINES = (
    r"\b(deadline|due date|submission|hand-in|handover|delivery|renewal|expiry|application|thesis|dissertation"
    r"|assignment|essay|term paper|tax return|invoice)\b"
)
"""What has to be done by its day."""
OF_SETTINGS = (
    "stale_below_confidence", "min_premise_confidence", "min_mentions", "min_value", "probe_days", "max_per_entity",
    "max_per_template", "max_waiting", "birthday_lead_days", "event_lead_days", "deadline_lead_days", "month_lead_days",
    "quiet_plan_days", "starter_hour", "starter_hours", "starter_days_ahead", "starter_days_kept",
)  # fmt: skip

PHRASES = """
SELECT DISTINCT user_id, value FROM known_edges
WHERE list_contains(?, relation) AND value IS NOT NULL ORDER BY ALL
"""


def lay_out(
    connection: duckdb.DuckDBPyConnection, day: date, settings: ProactiveSettings, decay: DecaySettings
) -> None:
    """Makes the tables of probe_facts.sql of `known_edges`, `known_entities` and `other_ways`, which have to be there,
    and what statements read of the settings."""
    install_macros(connection, decay, day)
    connection.execute(statement(HERE, "probe_macros"))
    values = {
        "is_linear": decay.curve is Curve.LINEAR,
        "confided": CONFIDED, "grave": GRAVE, "dated": DATED, "deadlines": DEADLINES,
        "delicate_topics": sorted(listed("delicate_topics")),
        "given_names": sorted(given_names()), "person_roles": sorted(person_roles()),
        "mentions_at_full_importance": MENTIONS_AT_FULL_IMPORTANCE, "phrase_relations": sorted(MAY_BE_PHRASE),
        **{name: getattr(settings, name) for name in OF_SETTINGS},
    }  # fmt: skip
    for name, value in values.items():
        connection.execute(f"SET VARIABLE {name} = ?", [value])
    with registered(connection, {"probe_phrases": _phrases(connection)}):
        connection.execute(statement(HERE, "probe_facts"))


def _phrases(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """The phrases among the objects of `known_edges`, with the key and the entity id that they would have as names."""
    rows = connection.execute(PHRASES, [sorted(MAY_BE_PHRASE)]).fetchall()
    columns = pa.schema([(name, TEXT) for name in ("user_id", "value", "name_key", "entity_id")])
    keyed = [(user, value, name_key(value)) for user, value in rows]
    return pa.Table.from_pylist(
        [dict(zip(columns.names, (*row, entity_id(row[0], row[2])), strict=True)) for row in keyed], schema=columns
    )

"""The closed vocabulary: entity types, relations and their properties. Extractors may use nothing else."""

from enum import StrEnum

USER = "user"
"""The reserved name of the remembered person, who is an entity of type person."""
ASSISTANT = "assistant"
QUOTED_ROLES = ("user", ASSISTANT)
"""Whose messages may be found and quoted: what tools gave, and what the system says, never is."""


class EntityType(StrEnum):
    PERSON = "person"
    ORGANIZATION = "organization"
    PLACE = "place"
    PROJECT = "project"
    TOOL = "tool"
    PRODUCT = "product"
    VEHICLE = "vehicle"
    MATERIAL = "material"
    ANIMAL = "animal"
    FOOD = "food"
    EVENT = "event"
    ACTIVITY = "activity"
    WORK = "work"
    CONCEPT = "concept"


class TemporalType(StrEnum):
    ATTRIBUTE = "attribute"
    TRAIT = "trait"
    STATE = "state"
    WISH = "wish"
    PLAN = "plan"
    EPISODE = "episode"


class Act(StrEnum):
    """What a statement does with its fact. Messages assert, retract and end, imported notes propose; the others are
    feedback's, and the fold's."""

    ASSERT = "assert"
    RETRACT = "retract"
    """Was never so. A message that names no fact but a thing retracts `relates_to` with the words for it as value."""
    RETRACT_ALL = "retract_all"
    """The same of everything that is known of a thing."""
    DOUBT = "doubt"
    """One of several facts that a retraction may mean: memory asks which."""
    RESTORE = "restore"
    END = "end"
    """What stands of the relation held until then: `I quit my job`, which does not say where."""
    PROPOSE = "propose"
    """Waits until somebody has looked at it: nothing is made of it (`em review`)."""
    CONFIRM = "confirm"
    RECALL = "recall"
    VERIFY = "verify"
    REPLACE = "replace"
    REHOME = "rehome"


class HedgeLevel(StrEnum):
    NONE = "none"
    SLIGHT = "slight"
    MODERATE = "moderate"
    STRONG = "strong"


class Mechanism(StrEnum):
    EXPLICIT = "explicit"
    OBSERVATIONAL = "observational"
    INFERENTIAL = "inferential"
    REFLECTIVE = "reflective"
    USER_CORRECTION = "user_correction"
    IMPORTED = "imported"
    SHARED = "shared"


class Flag(StrEnum):
    HYPOTHETICAL = "hypothetical"
    SARCASM_DETECTED = "sarcasm_detected"
    SECONDHAND = "secondhand"
    ATTRIBUTION_UNCERTAIN = "attribution_uncertain"
    EMOTIONAL_STATE = "emotional_state"
    ABANDONED_INTENT = "abandoned_intent"


class Status(StrEnum):
    ACTIVE = "active"
    CONTRADICTED = "contradicted"
    SUPERSEDED = "superseded"
    RETRACTED = "retracted"
    EXPIRED = "expired"
    ARCHIVED = "archived"


class PrivacyLevel(StrEnum):
    PUBLIC = "L0"
    GENERIC = "L1"
    PERSONAL = "L2"
    PII = "L3"
    PRIVILEGED = "L4"


RELATIONS_BY_GROUP: dict[str, tuple[str, ...]] = {
    "preference": ("likes", "dislikes", "prefers", "interested_in", "might_be_interested_in"),
    "intent": ("wants", "needs", "plans", "decided"),
    "possession": ("owns", "uses", "has_pet"),
    "identity": (
        "has_name", "has_birthday", "has_age", "born_in", "has_nationality", "speaks", "is_a", "follows",
    ),
    "people": (
        "spouse_of", "partner_of", "parent_of", "child_of", "sibling_of", "friend_of", "colleague_of",
        "manages", "reports_to", "knows",
    ),
    "work": ("works_at", "works_as", "works_on", "studies", "studies_at", "graduated_from", "member_of"),
    "place": ("lives_in", "located_in", "visited"),
    "event": ("attended", "did", "scheduled_for", "happened_on"),
    "structure": ("part_of", "has_part", "made_of", "depends_on", "created"),
    "opinion": ("believes", "feels"),
    "cause": ("causes", "improves", "conflicts_with"),
    "attribute": ("has_attribute",),
    "health": ("allergic_to", "has_condition", "takes"),
    "last_resort": ("relates_to",),
    "observation": ("instruction", "decision", "plan", "event", "state", "relationship", "preference", "fact"),
}  # fmt: skip
OFFERED_BY_GROUP = {
    group: names for group, names in RELATIONS_BY_GROUP.items() if group not in {"health", "observation"}
}
"""Relations that a model is offered in any case."""
INSTRUCTION = "instruction"
"""The kind of observation that says how the person wants to be answered from now on."""
OBSERVATIONS: tuple[str, ...] = RELATIONS_BY_GROUP["observation"]
"""Kinds of observation: the relation between whoever says something worth keeping and the sentence, a literal."""

RELATIONS: frozenset[str] = frozenset(r for group in RELATIONS_BY_GROUP.values() for r in group)

USUAL_TEMPORAL_TYPE: dict[str, TemporalType] = {
    relation: kind
    for kind, names in {
        TemporalType.TRAIT: "likes dislikes prefers interested_in might_be_interested_in follows speaks "
        "has_nationality is_a instruction preference relationship fact",
        TemporalType.WISH: "wants needs",
        TemporalType.PLAN: "plans decided scheduled_for plan",
        TemporalType.ATTRIBUTE: "has_name has_birthday born_in has_attribute graduated_from",
        TemporalType.EPISODE: "visited attended did happened_on feels event",
    }.items()
    for relation in names.split()
}
"""What a relation is unless something says otherwise; a state where it is not listed."""

LASTING: dict[str, str] = {
    "parent_of": "a child is one for life",
    "child_of": "so are parents",
    "sibling_of": "brothers and sisters stay that",
    "spouse_of": "a marriage holds until somebody says that it has ended",
    "born_in": "nobody is born again elsewhere",
    "has_birthday": "the day of birth does not change",
    "has_name": "a name is kept until another is told",
}
"""Relations whose facts do not fade, whatever was said of their time, each with its reason: a daughter who was
mentioned once is still a daughter a year later. They end when something says so."""

FUNCTIONAL: frozenset[str] = frozenset(
    {
        "has_name", "has_birthday", "has_age", "born_in", "spouse_of", "partner_of", "reports_to", "works_at",
        "works_as", "studies_at", "lives_in", "located_in", "scheduled_for", "happened_on", "has_attribute",
        *OBSERVATIONS,
    }
)  # fmt: skip
"""One active value a subject; has_attribute, has_name and observations: one a subject and attribute key."""

LITERAL_OBJECT: frozenset[str] = frozenset(
    {"has_name", "has_birthday", "has_age", "scheduled_for", "happened_on", "has_attribute", *OBSERVATIONS}
)
"""The object is a literal (`value`), not an entity."""
KEYED: frozenset[str] = frozenset({"has_attribute", "has_name", "likes", *OBSERVATIONS})
"""What an attribute says more of: its key, that a name is a nickname, of which kind something is the favourite, or what
an observation is about, so that a newer value takes the place of an older one."""
PHRASE_OBJECT: frozenset[str] = frozenset({"wants", "plans", "decided", "believes", "feels", "is_a"})
"""The object says what is wished, meant, held or felt, in a phrase, or which kind of thing something is: it is read as
a name and stored as a literal, for a thing is one neither with a sentence about it nor with its kind."""
MAY_BE_PHRASE: frozenset[str] = PHRASE_OBJECT | {"did"}.union(
    *(RELATIONS_BY_GROUP[group] for group in ("preference", "intent", "opinion", "cause"))
)
"""The object is a thing, or a phrase where it is worded as a clause: likes `how it sounds`, did `paint a door`."""
STORED_AS_VALUE = LITERAL_OBJECT | PHRASE_OBJECT
DATED: frozenset[str] = frozenset({"has_birthday", "scheduled_for", "happened_on"})
"""The literal is a date."""

TOPIC = "relates_to"
"""The relation under which a retraction names a thing, and no fact about it."""
LAST_TOLD = "that"
"""The thing of a retraction that means what was told last, in an earlier conversation: `forget that`."""

INVERSES: dict[str, str] = {"parent_of": "child_of", "part_of": "has_part", "manages": "reports_to"}
SYMMETRIC: frozenset[str] = frozenset({"spouse_of", "partner_of", "sibling_of", "friend_of", "colleague_of"})
"""Stored once, in the stated direction, and read both ways."""

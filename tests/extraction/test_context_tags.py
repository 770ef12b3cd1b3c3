"""What facts are about: topics of a closed list, whoever has read them, carried from claims to edges."""

from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.assemble import extract
from em_pipelines.extraction.feedback_claims import Assertion, stated
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.guard.sensitive import SafetySettings
from em_pipelines.language.en.lexicon import load_lexicon, topics_of
from em_pipelines.schema.feedback_payloads import FactNamed
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment, Turn
from em_pipelines.schema.vocabulary import RELATIONS, EntityType, Mechanism
from tests.folding.log import USER, Said, fold_days

AT = datetime(2026, 3, 5, tzinfo=UTC)


class AsAnother(LocalExtractor):
    """Reads what the rules read, without patterns, as a model does."""

    name, version = "another", "1"

    def extract(self, segment: Segment) -> Extraction:
        return RULES.extract(segment)


RULES = RulesExtractor(RulesSettings())


@pytest.mark.parametrize("extractor", [RULES, AsAnother()])
@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("I like espresso.", [["food"]]),
        ("I work at Marlin.", [["work"]]),
        ("My sister Ida lives in Graz.", [["family"], ["home", "places"]]),
        ("I own a wombat.", [[]]),
    ],
)
def test_claims_have_the_topics_of_relation_type_and_words(
    text: str, tags: list[list[str]], extractor: LocalExtractor
) -> None:
    turn = Turn("m1", 0, "user", "user", text, AT)
    claims = extract([Segment("seg", USER, "s1", "text", (turn,))], extractor)["claims"].to_pylist()
    assert sorted(row["context_tags"] for row in claims) == tags


def test_topics_are_a_closed_list_of_known_relations_and_types() -> None:
    topics = load_lexicon("topics")
    relations = {one for listed in topics["relations"].values() for one in listed.split()}
    types = {one for listed in topics["types"].values() for one in listed.split()}
    assert relations <= RELATIONS
    assert types <= set(EntityType)
    assert topics["relations"].keys() | topics["types"].keys() <= topics["words"].keys()
    assert topics_of("works_at", "organization", "a bakery in Graz") == ["work"]


def test_what_feedback_states_has_topics_too() -> None:
    origin = {
        "user_id": USER, "session_id": "s", "turn_number": 0, "message_id": "f", "segment_id": "f", "timestamp": AT,
        "extractor": "feedback", "correlation_id": "c",
    }  # fmt: skip
    fact = Assertion(FactNamed(relation="likes", object="soup"), "soup", 1.0, Mechanism.USER_CORRECTION)
    made = stated(origin, fact, SafetySettings())  # type: ignore[arg-type]
    assert made is not None
    assert made.claim["context_tags"] == topics_of("likes", "concept", "soup")


def test_edges_have_the_topics_of_their_claims() -> None:
    edges = fold_days([Said(relation="likes", tags=("food",)), Said(relation="likes", day=1, session="s2")]).rows()
    assert [row["context_tags"] for row in edges] == [["food"]]

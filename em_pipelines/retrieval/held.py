"""What one person's memory has to do with a text that is about to be answered; for the gate."""

import re
from datetime import date

import numpy as np

from em_pipelines.retrieval.context.block import mentioned
from em_pipelines.retrieval.context.known_facts import is_id, known
from em_pipelines.retrieval.recall_gate import Held
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.terms import answering_relations
from em_pipelines.serving.users import is_known

_QUESTION = re.compile(
    r"\?\s*[\"')\]]*\s*$|^\W*(?:tell me )?(?:what|who|whom|whose|where|when|which|how)\b|^\W*tell me about\b",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:my|mine|me|i|our|us|we)\b", re.IGNORECASE)


def held(home: SearchableHome, user_id: str, text: str, today: date, domain: str | None = None) -> Held:
    """Whether memory holds anything of a person, and a fact that answers a question.

    That is one of a relation that answers such questions, about somebody or something that is named, or about the
    person where it is asked in the first person.
    """
    if not is_id(user_id) or not is_known(home.store, user_id):
        return Held(is_any=False, is_answered=False)
    relations = answering_relations(text) if _QUESTION.search(text) else {}
    if not relations:
        return Held(is_any=True, is_answered=False)
    facts = known(home, user_id, today, domain)
    about = set(mentioned(facts, text)) - ({facts.person} if not _FIRST_PERSON.search(text) else set())
    if not about:
        return Held(is_any=True, is_answered=False)
    answers = facts.holds("relation", relations) & (facts.confidence >= home.settings.context.min_confidence)
    is_about = np.isin(facts.ends, sorted(n for n in about if n is not None)).any(axis=1)
    return Held(is_any=True, is_answered=bool((answers & is_about).any()))

"""What a verb before a clause makes of it: `I don't think …`, `I doubt …`, `say …`, `forget that …`."""

from em_pipelines.extraction.rules.clause import Clause
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.extraction.rules.word_classes import PUNCT

_REPORTING = words("verbs", "reporting")
_NEG_RAISING = words("verbs", "neg_raising")
_UNBELIEVED = words("verbs", "unbelieved")
_UNSAID = words("verbs", "unsaid")
_THOUGHT = frozenset({"think", "assume", "believe"})
_FIRST_PERSON = words("words", "first_person")


def is_set_up(clause: Clause, lead: list[Token], tokens: list[Token]) -> bool:
    """`Say I owned a café, …`, `Let's say …`: `say` before a subject, with no subject of its own."""
    at = clause.lead - 1
    if at < 0 or tokens[at].low not in {"say", "that"} or not lead:
        return False
    at -= tokens[at].low == "that"
    return tokens[at].low == "say" and (
        at == 0 or bool(tokens[at - 1].bits & PUNCT) or tokens[at - 1].low in {"'s", "us", "so", "just", "ok", "and"}
    )


def is_denied(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """Whether the verb before keeps a clause from being a fact: `I doubt I like it`, `I never said I like it`.

    `I don't think I like it` is one, of which the negation belongs to the clause: it is moved there.
    """
    lemmas = previous.verb.lemmas
    if previous.verb.is_negated and _NEG_RAISING.intersection(lemmas):
        clause.verb.is_negated = not clause.verb.is_negated
        return False
    if previous.verb.is_negated and _REPORTING.intersection(lemmas):
        return True
    if previous.verb.is_negated and previous.verb.lemmas == ("be",) and tokens[clause.lead - 1].low in {"that", "like"}:
        return previous.pronoun is not None and tokens[previous.pronoun].low == "it"
    if _UNBELIEVED.intersection(lemmas):
        return True
    if _UNSAID.intersection(lemmas):
        return previous.pronoun is None and not previous.subject and not _is_apart(previous, clause, tokens)
    is_own = previous.pronoun is not None and tokens[previous.pronoun].low in _FIRST_PERSON
    return is_own and previous.verb.is_past and clause.verb.is_past and bool(_THOUGHT.intersection(lemmas))


def is_nearly(clause: Clause, tokens: list[Token]) -> bool:
    """`I nearly bought a drum kit`: it did not come to it."""
    return clause.verb.is_past and tokens[clause.verb.start - 1].low in {"almost", "nearly"}


def _is_apart(previous: Clause, clause: Clause, tokens: list[Token]) -> bool:
    """`Forget the papers, we own a raft`: what is to be dropped has been named, and a statement of its own follows."""
    between = tokens[previous.verb.end : clause.lead]
    return len(between) > 1 and between[-1].low in {",", "-", "–", "—"}

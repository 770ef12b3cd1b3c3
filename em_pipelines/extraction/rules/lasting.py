"""What is worth remembering as liked, wanted or planned, and what is only of the moment."""

from em_pipelines.extraction.rules.fillers import Fill
from em_pipelines.extraction.rules.lexicon import words
from em_pipelines.extraction.rules.names import Reading

_EMPTY_VERBS = words("verbs", "empty")
_LIGHT_VERBS = words("verbs", "light")
_MOMENTARY = words("words", "object_pronouns")
_VAGUE = words("nouns", "vague") | words("words", "light_heads")
_CALLINGS = words("nouns", "callings")


def is_lasting(reading: Reading, fill: Fill, *, is_dropped: bool, is_of_own_lot: bool = False) -> bool:
    """Whether a liking or wish for this says anything tomorrow: not `love that photo`, `want to tell you`, `like it`.

    What is pointed at, what is the listener's, and doings of no content of their own are of the moment. `is_dropped`:
    the sentence left out its subject, as exclamations do (`Love the colours!`). `is_of_own_lot`: it says how the
    speaker finds something, so that `this job` is the one that the speaker has.
    """
    phrase = fill.phrase
    if phrase is not None:
        if phrase.det in {"this", "that", "these", "those", "such", "what"} or phrase.possessor == "your":
            return is_of_own_lot and phrase.det == "this" and reading.tokens[phrase.head].low in _CALLINGS
        return not (is_dropped and phrase.det == "the")
    words_in = [token.low for token in reading.tokens[fill.start : fill.end]]
    verbs = reading.tokens[fill.start].verbs or {}
    if _MOMENTARY.intersection(words_in[-1:]) or "your" in words_in or "you" in words_in:
        return False
    if _EMPTY_VERBS.intersection(verbs) and words_in[0] != "going":
        return False
    return not (_LIGHT_VERBS.intersection(verbs) and (len(words_in) == 1 or _VAGUE.intersection(words_in[-1:])))

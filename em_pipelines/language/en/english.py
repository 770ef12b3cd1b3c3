"""English, as the engine asks for it: what `em_pipelines.language.document.Language` says, by the modules beside this.

Whatever is English outside the rules of extraction and the forms of questions is asked for here.
"""

from collections.abc import Callable, Sequence
from datetime import date

from em_pipelines.language.dates.calendar_spans import Tense
from em_pipelines.language.dates.partial_dates import PartialDate
from em_pipelines.language.en import clause_parser, dates, lexicon, noun_phrases
from em_pipelines.language.en.tense import tenses_of
from em_pipelines.language.en.tokens import tokenise


class English:
    """Implements `Language`."""

    code = "en"
    kin = noun_phrases.KIN
    pets = noun_phrases.PETS
    first_person = noun_phrases.FIRST_PERSON
    own_words = noun_phrases.OWN_WORDS
    expected_object = lexicon.EXPECTED_OBJECT
    words = staticmethod(lexicon.words)
    words_of_language = staticmethod(lexicon.words_of_language)
    words_of_languages = staticmethod(lexicon.words_of_languages)
    listed = staticmethod(lexicon.load_lexicon)
    dates = staticmethod(dates.resolve_dates)
    type_of = staticmethod(lexicon.guess_type)
    topics_of = staticmethod(lexicon.topics_of)
    is_profession = staticmethod(lexicon.is_profession)
    is_clause = staticmethod(clause_parser.is_clause)
    is_statement = staticmethod(clause_parser.is_statement)
    is_verb_phrase = staticmethod(clause_parser.is_verb_phrase)
    is_beside = staticmethod(clause_parser.is_beside)
    is_phrase_of = staticmethod(clause_parser.is_phrase_of)

    def tense_at(self, text: str) -> Callable[[int], Tense]:
        """By the verb and the clause around the character."""
        return tenses_of(tokenise(text), text)

    def date_of(self, words: str, written_on: date, tense: Tense = Tense.PRESENT) -> PartialDate | None:
        """By all words together."""
        tokens = tokenise(words)
        return dates.find_date(tokens, 0, len(tokens), written_on, tense)

    def since(self, words: str, written_on: date) -> PartialDate | None:
        """By `since`, `as of` or `for`."""
        tokens = tokenise(words)
        return dates.find_since(tokens, 0, len(tokens), written_on)

    def number_of(self, words: str) -> tuple[int, Sequence[str]] | None:
        """In digits, or in words up to 99."""
        tokens = tokenise(words)
        found = dates.number_of(tokens, 0, len(tokens))
        return (found[0], [token.low for token in tokens[found[1] :]]) if found is not None else None

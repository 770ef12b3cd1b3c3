"""Whether two phrases say the same in other words: jogging, go for jogs; the coffee cup, a cup of coffee.

For what is done and for kinds of things. Compared are the stems of the words that carry meaning, and what the phrase is
about. What differs in a number, a name or a denial is another thing. Add words in words.yaml, a way of wording here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import Indel

from em_pipelines.language.name_keys import fold, name_tokens
from em_pipelines.resolution.name_parts import Name
from em_pipelines.resolution.word_lists import load, words

MIN_LIKENESS = 0.90
"""Below it phrases say two things, whatever the settings ask for: one word of five is often the one that tells."""
_VOWELS = frozenset("aeiouy")
DONE = "ing"
"""Behind the stem of a lone word that names what is done, not a thing: fishing is no fish."""
NAMED = "="
"""Before a word that is a name, which has no stem."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a phrase says: the stems of its words in order, those behind an `of` first, and that of the word it is
    about."""

    stems: tuple[str, ...]
    head: str

    @property
    def key(self) -> str:
        """Equal for phrases of the same stems."""
        return " ".join(sorted(self.stems))


def likeness(one: Name, other: Name) -> float:
    """How much two phrases say the same, 0 to 1 (rapidfuzz's normalised indel of their stems); 0 where they are about
    two things, or where a word that tells two things apart is in one of them alone."""
    left, right = phrase_of(one.text), phrase_of(other.text)
    if left is None or right is None or not (left.stems == right.stems or left.head == right.head):
        return 0.0
    mine, theirs = set(left.stems), set(right.stems)
    if not (mine <= theirs or theirs <= mine) or any(map(tells, mine ^ theirs)):
        return 0.0
    return float(Indel.normalized_similarity(sorted(left.stems), sorted(right.stems), score_cutoff=MIN_LIKENESS))


def is_clipped(one: Name, other: Name) -> bool:
    """Whether two names are the same but for words cut short: red bike, red bicycle."""
    return clipped_key(one) == clipped_key(other)


def clipped_key(name: Name) -> str:
    """Equal for names that are the same but for words cut short."""
    clipped = load("words")["clippings"]
    return " ".join(clipped.get(token, token) for token in name.all_tokens)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """A word without its inflection: one and many, and -ing. What a stemmer takes off besides makes another word:
    Snowball has one stem for animals and animation."""
    base = _without_ing(word) if word.endswith("ing") else _singular(word)
    return f"{base[:-1]}i" if base.endswith("y") else base.removesuffix("e")


def _singular(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is", "ics")) or word in words("never_plural"):
        return word
    if word.endswith(("sses", "shes", "ches", "xes", "zes", "oes")):
        return word[:-2]
    return f"{word[:-3]}y" if word.endswith("ies") else word.removesuffix("s")


def _without_ing(word: str) -> str:
    base = word[:-3]
    if len(base) < 3 or _VOWELS.isdisjoint(base):
        return word
    is_doubled = base[-1] == base[-2] and base[-1] not in "lsz"
    return base[:-1] if is_doubled else base


def tells(word: str) -> bool:
    """Whether a stem may not be in one of two phrases alone: a name, a number, a denial."""
    return word.startswith(NAMED) or word.isdigit() or word in _telling()


@lru_cache(maxsize=1)
def _telling() -> frozenset[str]:
    return frozenset(map(stem, words("telling_words")))


@lru_cache(maxsize=65_536)
def phrase_of(text: str) -> Phrase | None:
    """What a phrase says; None where nothing is left of it."""
    names = _names_in(text)
    said = _without_frequency(list(name_tokens(text)))
    if not said:
        return None
    tokens = _without_usual(_without_lead(said))
    main, beside = _parted(_without_infinitive(tokens))
    kept = [token for token in (*beside, *main) if token not in words("empty_words")]
    if not kept:
        return None
    stems = tuple(_stem(token, names) for token in kept)
    if len(stems) == 1:
        is_led = tokens != said and _verb(said[0]) in words("done_by")
        return Phrase((_marked(kept[0], stems[0], is_led=is_led),), stems[0])
    is_doing = len(main) > 1 and main[0].endswith("ing")
    return Phrase(stems, _stem(main[0], names) if is_doing else stems[-1])


def _marked(word: str, stem_of_it: str, *, is_led: bool) -> str:
    """The stem of a lone word, marked where it names what is done."""
    is_done = is_led or word.endswith("ing") or stem_of_it in _doings()
    return f"{stem_of_it}{DONE}" if is_done and not stem_of_it.startswith(NAMED) else stem_of_it


@lru_cache(maxsize=1)
def _doings() -> frozenset[str]:
    return frozenset(map(stem, words("doings")))


def _names_in(text: str) -> frozenset[str]:
    """The folded words of a phrase that are written as names are; what begins it may be the beginning of a sentence."""
    parts = text.split()
    is_opener = len(parts) > 0 and parts[0].endswith("ing") and parts[0][1:].islower()
    capital = (part for n, part in enumerate(parts) if any(map(str.isupper, part)) and not (n == 0 and is_opener))
    return frozenset(token for part in capital for token in name_tokens(fold(part)))


def _stem(token: str, names: Iterable[str]) -> str:
    if token in names:
        return NAMED + token
    return stem(load("words")["clippings"].get(token, token))


def _without_frequency(tokens: list[str]) -> list[str]:
    """Without `every morning`, `daily`, `on sundays` at the end, where something is left before them."""
    while len(tokens) > 1 and (n := _n_frequency(tokens)):
        tokens = tokens[:-n]
    return tokens


def _n_frequency(tokens: list[str]) -> int:
    """How many words at the end say how often."""
    if tokens[-1] in words("frequency"):
        return 1
    if len(tokens) < 3 or tokens[-1] not in words("frequency_units"):
        return 0
    n_units = 2 if len(tokens) > 3 and tokens[-2] in words("frequency_units") else 1
    lead = tokens[-1 - n_units]
    if lead == "the" and len(tokens) > 3 and tokens[-3] == "in":
        return 3 if tokens[-1].removesuffix("s") in words("times_of_day") else 0
    is_on = lead in {"on", "at"} and tokens[-1].endswith("s")
    return n_units + 1 if is_on or lead in words("frequency_leads") else 0


def _without_lead(tokens: list[str]) -> list[str]:
    """Without a light verb before its noun: `going for a run` is a run, `getting up` is no up."""
    if len(tokens) > 1 and tokens[0] == "to":
        tokens = tokens[1:]
    verb, rest = _verb(tokens[0]), tokens[1:]
    if not rest or verb not in words("light_verbs"):
        return tokens
    if not _is_light(verb, rest):
        return tokens
    while len(rest) > 1 and rest[0] in words("led_by"):
        rest = rest[1:]
    return rest


def _is_light(verb: str, rest: list[str]) -> bool:
    """Whether a light verb before these words adds nothing to them: `get a dog`, not `get up`."""
    is_led = rest[0] in words("led_by") and len(rest) > 1
    if verb == "go":
        return (is_led and rest[0] == "for") or rest[0].endswith("ing")
    return is_led if verb == "get" else rest[0] == "for" or rest[0] not in words("particles")


def _verb(token: str) -> str:
    """The light verb that a word is a form of; the word itself, where it is none."""
    forms = {f"{verb.removesuffix('e')}{ing}": verb for verb in words("light_verbs") for ing in ("ing", "ting")}
    return forms.get(token, token)


def _without_usual(tokens: list[str]) -> list[str]:
    """`Listening to jazz` is jazz, `watching documentaries` documentaries; watching football is not playing it."""
    known = _usual_verbs().get(stem(tokens[0])) if len(tokens) > 1 else None
    rest = tokens[2:] if len(tokens) > 2 and tokens[1] == "to" else tokens[1:]
    if known is None or rest[0] in words("particles") or rest[0] == "to":
        return tokens
    main = _parted(rest)[0]
    about = next((n for n, token in enumerate(main) if token in words("compounding") or token == "about"), len(main))
    return rest if not known or stem(main[max(about, 1) - 1]) in known else tokens


@lru_cache(maxsize=1)
def _usual_verbs() -> dict[str, frozenset[str]]:
    return {stem(verb): frozenset(map(stem, of.split())) for verb, of in load("words")["usual_verbs"].items()}


def _without_infinitive(tokens: list[str]) -> list[str]:
    """`Learn how to knit` as `learn knitting`."""
    kept: list[str] = []
    for token in tokens:
        is_how = token == "how" and bool(kept)
        if kept and (token == "to" or is_how) and stem(kept[-1]) in _before_infinitive():
            continue
        kept.append(token)
    return kept


@lru_cache(maxsize=1)
def _before_infinitive() -> frozenset[str]:
    return frozenset(map(stem, words("before_infinitive")))


def _parted(tokens: list[str]) -> tuple[list[str], list[str]]:
    """What a phrase is about, and what stands behind a word that a compound does without."""
    for n in range(1, len(tokens) - 1):
        if tokens[n] in words("compounding"):
            return tokens[:n], [token for token in tokens[n + 1 :] if token not in words("compounding")]
    return tokens, []

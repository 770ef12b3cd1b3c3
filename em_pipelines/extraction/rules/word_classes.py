"""The closed classes of words as bits, and the verb forms: one dictionary lookup a token.

The lists are data (`patterns/lexicon/`); this module only gives each class a bit and inflects the regular verbs.
"""

from em_pipelines.extraction.rules.lexicon import load_lexicon, words

CLASS_NAMES = (
    "determiners", "quantifiers", "possessives", "first_person", "subject_pronouns", "object_pronouns", "relatives",
    "wh_words", "prepositions", "conjunctions", "subordinators", "adverbs", "negations", "be", "have", "do", "modals",
    "titles", "weekdays", "months", "numbers", "demonstratives", "boundaries", "conditional", "contrast",
)  # fmt: skip
_BITS = {name: 1 << n for n, name in enumerate(CLASS_NAMES)}

DET = _BITS["determiners"]
QUANT = _BITS["quantifiers"]
POSS = _BITS["possessives"]
SUBJECT = _BITS["subject_pronouns"]
OBJECT = _BITS["object_pronouns"]
RELATIVE = _BITS["relatives"]
WH = _BITS["wh_words"]
PREP = _BITS["prepositions"]
CONJ = _BITS["conjunctions"]
SUBORD = _BITS["subordinators"]
ADV = _BITS["adverbs"]
NEG = _BITS["negations"]
BE = _BITS["be"]
HAVE = _BITS["have"]
DO = _BITS["do"]
MODAL = _BITS["modals"]
TITLE = _BITS["titles"]
WEEKDAY = _BITS["weekdays"]
MONTH = _BITS["months"]
NUMBER = _BITS["numbers"]
DEMONSTRATIVE = _BITS["demonstratives"]
CONDITION = _BITS["conditional"]
CONTRAST = _BITS["contrast"]
BOUNDARY = _BITS["boundaries"]
PUNCT = 1 << len(CLASS_NAMES)
AUX = BE | HAVE | DO | MODAL
NOT_IN_PHRASE = (
    SUBJECT | OBJECT | RELATIVE | WH | PREP | CONJ | SUBORD | NEG | AUX | DET | POSS | BOUNDARY | PUNCT | CONTRAST
)
"""Words of these classes never stand inside a noun phrase (its determiners come before it)."""

BASE, S_FORM, PAST, PARTICIPLE, ING = 1, 2, 4, 8, 16
FINITE = BASE | S_FORM | PAST


def _word_bits() -> dict[str, int]:
    bits: dict[str, int] = {}
    for name, bit in _BITS.items():
        for word in words("words", name):
            bits[word] = bits.get(word, 0) | bit
    return bits


def _inflected(base: str, doubling: frozenset[str]) -> tuple[str, str, str]:
    """The -s, -ed and -ing forms of a regular verb."""
    if base.endswith(("s", "x", "z", "ch", "sh", "o")):
        s_form = base + "es"
    elif base.endswith("y") and base[-2] not in "aeiou":
        s_form = base[:-1] + "ies"
    else:
        s_form = base + "s"
    if base in doubling:
        stem = base + base[-1]
        return s_form, stem + "ed", stem + "ing"
    if base.endswith("ie"):
        return s_form, base + "d", base[:-2] + "ying"
    if base.endswith("e") and not base.endswith(("ee", "ye", "oe")):
        return s_form, base + "d", base[:-1] + "ing"
    if base.endswith("e"):
        return s_form, base + "d", base + "ing"
    if base.endswith("y") and base[-2] not in "aeiou":
        return s_form, base[:-1] + "ied", base + "ing"
    return s_form, base + "ed", base + "ing"


def _verb_forms() -> dict[str, dict[str, int]]:
    """Form → {lemma: forms it can be}."""
    verbs = load_lexicon("verbs")
    doubling = words("verbs", "doubling")
    irregular: dict[str, str] = verbs["irregular"]
    forms: dict[str, dict[str, int]] = {}

    def add(form: str, lemma: str, kind: int) -> None:
        kinds = forms.setdefault(form, {})
        kinds[lemma] = kinds.get(lemma, 0) | kind

    for base in words("verbs", "regular") | irregular.keys():
        s_form, past, ing = _inflected(base, doubling)
        add(base, base, BASE)
        add(s_form, base, S_FORM)
        add(ing, base, ING)
        if base in irregular:
            past, participle = irregular[base].split()
            add(past, base, PAST)
            add(participle, base, PARTICIPLE)
        else:
            add(past, base, PAST | PARTICIPLE)
    add("born", "bear", PARTICIPLE)
    add("learned", "learn", PAST | PARTICIPLE)
    for form, lemma, kind in (("has", "have", S_FORM), ("'ve", "have", BASE), ("n't", "be", 0)):
        add(form, lemma, kind)
    del forms["n't"]
    return forms


WORD_BITS = _word_bits()
VERB_FORMS = _verb_forms()
ALSO_NOUNS = words("verbs", "also_nouns")
NOT_ADVERBS = words("words", "not_adverbs")
EVALUATIVE = words("words", "evaluative")
MEASURE_NOUNS = words("words", "measure_nouns")
VERB_SUBJECTS = words("words", "verb_subjects")


def bits_of(low: str) -> int:
    """The classes of a word, case-folded: what is listed, and `-ly` words as adverbs."""
    bits = WORD_BITS.get(low)
    if bits is None:
        bits = ADV if low.endswith("ly") and len(low) > 4 and low not in NOT_ADVERBS else 0
        if low.isdigit():
            bits |= NUMBER
    return bits

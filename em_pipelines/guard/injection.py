"""Takes out of a text what addresses the agent or its memory, and what still asks to be obeyed.

Memory is data: no stored text may be an instruction. What is found is blanked character by character with
`CODE_MARK`, so that spans of what remains hold; the honest facts around it stay readable. What counts as an
instruction is data: injection.yaml, and commands.yaml for what asks to be run. The order is: cleaning (invisible
signs, look-alikes; `language.cleaning`), masking of secrets, then this.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache, partial
from operator import itemgetter

from em_pipelines.guard.encoded import (
    disguised,
    escaped_lines,
    hidden_texts,
    is_telling,
    is_telling_word,
    reversed_reading,
    spelled,
)
from em_pipelines.guard.passages import (
    MIN_CITED_WORDS,
    Span,
    blanked,
    folded,
    foreign_lines,
    is_json,
    merged,
    overlaps,
    paragraph_end,
    quoted_blocks,
    section_end,
    sentences,
)
from em_pipelines.guard.phrases import Found, Rule, rule_book
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.sentence_labels import is_order, order_odds
from em_pipelines.schema.vocabulary import USER

_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|ive|i'd|i'll|me|my|mine|we|we're|we've|us|our|ours)\b")
_HARMLESS = frozenset({"strip", "match", "weak", "claim"})
"""Effects of rules that alone make no message hostile."""
_MAX_DEPTH = 2
EMBEDDED = "embedded"
ALSO_OF_SOFTWARE = frozenset({"third_person", "payment_data", "standing_procedure", "destructive", "role_play"})
"""Kinds of orders whose words people use of the software that they build, too."""
PLAIN = -5.0
"""Log odds of an order below which such words count as talk about software. Of 19 sentences of attacks that rules tell
as these kinds the least has -0.5; "I've completed the user registration" has -6.7."""
_ENGLISH = re.compile(r"\b(?:the|and|with|that|this|which)\b")
"""One of these words stands in most English sentences; the model of sentences knows no other language."""
MIN_SIGNS = 2
MIN_TOLD_WORDS = 9
MIN_CLAIM_WORDS = 3
_QUOTATION_MARKS = "\"'“«»„「"
_OF_SPEAKER = re.compile(rf"(?i)^(?:the )?{USER}(['’]s| is| has|)\b")
_AS_SPOKEN = {"": "I", " is": "I am", " has": "I have", "'s": "My", "’s": "My"}
_TAG_NAME = re.compile(r"[<\[]\|?([a-z_]{2,40})")


@dataclass(frozen=True, slots=True)
class Stripped:
    """A text with its instructions blanked, of the same length; the kinds found, and where; `found` is which kind was
    where, at least one place of each. `mild` are the places of mere words of an order to remember what is said plainly.
    """

    text: str
    kinds: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    found: tuple[tuple[str, Span], ...] = ()
    mild: frozenset[Span] = frozenset()


@dataclass(slots=True)
class _Search:
    """What is known of one text while it is searched."""

    text: str
    folded: str
    gone: list[Span] = field(default_factory=list)
    found: dict[str, list[Span]] = field(default_factory=dict)
    mild: set[Span] = field(default_factory=set)
    is_gone: bytearray = field(default_factory=bytearray)
    """One byte a character: many finds in one sentence are then no more work than one."""

    def __post_init__(self) -> None:
        self.is_gone = bytearray(len(self.text))

    def sentences(self) -> tuple[Span, ...]:
        return sentences(self.text)

    def drop(self, kind: str, *spans: Span) -> None:
        for start, end in spans:
            if start < end and not self.has_dropped(start, end):
                self.found.setdefault(kind, []).append((start, end))
                self.gone.append((start, end))
                self.is_gone[start:end] = b"\x01" * (end - start)
            elif start < end:
                self.note(kind, start)

    def note(self, kind: str, start: int) -> None:
        """That a kind was found at a place that is gone already."""
        if kind not in self.found:
            self.found[kind] = [(start, start + 1)]

    def has_dropped(self, start: int, end: int) -> bool:
        """Whether a passage is gone already, by its first and last character."""
        return all(self.is_gone[place : place + 1] == b"\x01" for place in (start, end - 1))

    def sentence_at(self, place: int) -> int:
        """The number of the sentence of a place; the one before where it lies between two."""
        return max(0, bisect_right(self.sentences(), place, key=itemgetter(0)) - 1)


def strip_instructions(text: str) -> Stripped:
    """Blanks what orders the agent about or writes to its memory, in any of the languages of injection.yaml.

    "Remember that I sail" keeps "I sail": a plain statement in the first person loses only the words of the order.
    It goes as a whole where it speaks of the user in the third person or orders something, and, unless it is in the
    first person, where it stands beside anything else that was found.
    """
    return _stripped(text, 0)


def quarantine(text: str) -> Stripped:
    """Blanks the sentences that ask for something to be run, paid, switched off or followed as a rule."""
    book, plain = rule_book("commands"), folded(text)
    rules = book.candidates(plain)
    if not rules:
        return Stripped(text)
    search = _Search(text, plain)
    for found in book.find(text, plain, search.sentences, rules):
        search.drop(found.rule.kind, _whole_sentences(search, found))
    return _result(search)


def is_quarantined(text: str) -> bool:
    """Whether a text holds anything that asks to be obeyed."""
    return bool(quarantine(text).kinds)


def _stripped(text: str, depth: int) -> Stripped:
    plain = folded(text)
    candidates = rule_book("injection").candidates(plain)
    readings, backwards = list(disguised(plain)), reversed_reading(plain)
    encoded, meant = _encoded(text, depth), _meant_for_an_agent(text, plain)
    if not (candidates or readings or backwards or encoded or meant):
        return Stripped(text)
    search = _Search(text, plain)
    for kind, span in (*encoded, *((EMBEDDED, span) for span in meant)):
        search.drop(kind, span)
    mild = [rule for rule in candidates if rule.effect in _HARMLESS]
    _drop_hostile(search, [rule for rule in candidates if rule.effect not in _HARMLESS])
    _drop_disguised(search, readings, backwards)
    _drop_mild(search, mild, is_hostile=bool(search.gone))
    return _result(search)


def _result(search: _Search) -> Stripped:
    if not search.gone:
        return Stripped(search.text)
    spans = merged(search.gone)
    found = tuple((kind, span) for kind, places in search.found.items() for span in places)
    return Stripped(blanked(search.text, spans), tuple(search.found), tuple(spans), found, frozenset(search.mild))


def _drop_hostile(search: _Search, rules: list[Rule]) -> None:
    if not rules:
        return
    found = list(rule_book("injection").find(search.text, search.folded, search.sentences, rules))
    if not found:
        return
    owner = _block_by_place(search.text)
    for find in found:
        if find.rule.effect != "previous" and search.has_dropped(find.start, max(find.start + 1, find.end)):
            search.note(find.rule.kind, find.start)
            continue
        block = owner.get(max(find.start, find.end - 1))
        if block is not None and find.rule.effect != "previous":
            search.drop(find.rule.kind, block)
        search.drop(find.rule.kind, *_spans_of(search, find))


def _meant_for_an_agent(text: str, plain: str) -> list[Span]:
    """Passages of somebody else's words that two kinds of signs tell to be for an agent or its memory."""
    book = rule_book("embedded")
    signs = list(book.find(text, plain, tuple, book.candidates(plain)))
    if not signs:
        return []
    blocks = [*quoted_blocks(text), *foreign_lines(text)]
    told = [block for block in blocks if _is_told(_kinds(signs, block), text[slice(*block)])]
    others = (one for one in sentences(text) if not overlaps(one, blocks) and not _FIRST_PERSON.search(plain, *one))
    return told + [sentence for sentence in others if len(_kinds(signs, sentence)) >= MIN_SIGNS]


def _kinds(signs: Iterable[Found], place: Span) -> set[str]:
    return {sign.rule.kind for sign in signs if place[0] <= sign.start and sign.end <= place[1]}


def _is_told(kinds: set[str], block: str) -> bool:
    """Whether so many kinds of signs tell: one in a quotation that is longer than a title or a saying, and that a
    machine is spoken to in one that is longer than a title."""
    n_words = len(block.split()) if block[0] in _QUOTATION_MARKS else 0
    is_for_machine = "agent" in kinds and n_words >= MIN_CITED_WORDS
    return len(kinds) >= MIN_SIGNS or is_for_machine or (bool(kinds) and n_words >= MIN_TOLD_WORDS)


def _block_by_place(text: str) -> dict[int, Span]:
    """The smallest quoted block around each character that is in one."""
    owner: dict[int, Span] = {}
    for block in sorted(quoted_blocks(text), key=lambda b: b[0] - b[1]):
        owner.update(dict.fromkeys(range(*block), block))
    return owner


def _spans_of(search: _Search, found: Found) -> Iterable[Span]:
    """What goes for one find, by the effect of its rule."""
    effect = found.rule.effect
    if effect == "rest":
        return [(found.start, max(_end_of_tag(search, found), paragraph_end(search.text, found.end)))]
    if effect == "section":
        return [(found.start, section_end(search.text, found.end))]
    start, end = _whole_sentences(search, found)
    if effect == "previous":
        number = search.sentence_at(start)
        before = search.sentences()[number - 1] if number else (start, start)
        is_own = _FIRST_PERSON.search(search.folded, *before) is not None
        return [(start, end)] if is_own else [before, (start, end)]
    if effect == "message":
        return [(0, len(search.text))]
    if effect == "drop" and _FIRST_PERSON.search(search.folded, start, found.start):
        order = search.text[found.start : found.end]
        return [(found.end - len(order.lstrip()), end)]
    return [(start, end)]


def _whole_sentences(search: _Search, found: Found) -> Span:
    first = search.sentences()[search.sentence_at(found.start)]
    last = search.sentences()[search.sentence_at(max(found.start, found.end - 1))]
    return min(first[0], found.start), max(last[1], found.end)


def _end_of_tag(search: _Search, found: Found) -> int:
    """Where the element that a tag opens is closed; where it is not, the end of the tag."""
    name = _TAG_NAME.match(search.folded, found.start)
    if name is None:
        return found.end
    close = max(search.folded.find(f"</{name[1]}", found.end), search.folded.find(f"[/{name[1]}", found.end))
    return found.end if close < 0 else close + len(name[1]) + 3


def _drop_disguised(search: _Search, readings: list[str], backwards: str | None) -> None:
    """Sentences that are instructions once their letters are put right."""
    book = rule_book("injection")
    for reading in readings:
        rules = [rule for rule in book.candidates(reading) if rule.effect not in _HARMLESS and not rule.is_cased]
        for found in book.find(reading, reading, search.sentences, rules):
            if reading[found.start : found.end] != search.folded[found.start : found.end]:  # else it says so plainly
                search.drop("encoded", _whole_sentences(search, found))
    if backwards is not None:
        turned = [(start, end) for start, end in search.sentences() if reversed_reading(search.folded[start:end])]
        if turned:
            search.drop("encoded", *turned)


def _encoded(text: str, depth: int) -> list[tuple[str, Span]]:
    """Passages that only a machine reads: `encoded` where they hold orders, `opaque` otherwise."""

    def has_orders(prose: str) -> bool:
        return depth < _MAX_DEPTH and bool(_stripped(prose, depth + 1).kinds)

    hidden = [
        ("encoded" if depth < _MAX_DEPTH and (is_telling(prose) or has_orders(prose)) else "opaque", span)
        for span, prose in hidden_texts(text)
    ]
    escaped = [("encoded", span) for span, prose in escaped_lines(text) if has_orders(prose)]
    return [*hidden, *escaped, *(("encoded", span) for span, word in spelled(text) if is_telling_word(word))]


def _drop_mild(search: _Search, rules: list[Rule], is_hostile: bool) -> None:
    orders: list[Found] = []
    for found in rule_book("injection").find(search.text, search.folded, search.sentences, rules):
        if found.rule.effect == "claim":
            _drop_claim(search, found)
        elif found.rule.effect == "match":
            search.drop(found.rule.kind, (found.start, found.end))
        elif found.rule.effect == "strip":
            orders.append(found)
        elif is_hostile:
            search.drop(found.rule.kind, _whole_sentences(search, found))
    for found in orders:
        _drop_order(search, found, is_hostile=is_hostile)


def _drop_order(search: _Search, found: Found, *, is_hostile: bool) -> None:
    """Drops the words of an order, and what follows unless that is a plain statement."""
    start, end = _whole_sentences(search, found)
    is_plain = _FIRST_PERSON.search(search.folded, found.end, end) is not None
    is_within = bool(search.text[start : found.start].strip())
    is_bad = overlaps((found.end, end), search.gone) or ((is_hostile or is_within) and not is_plain)
    if not is_bad:
        search.mild.add((found.start, found.end))
    search.drop(found.rule.kind, (found.start, end if is_bad else found.end))


def _drop_claim(search: _Search, found: Found) -> None:
    """Drops the words of an order to write what the agent holds, and what it is to write, unless that is of the one who
    speaks."""
    start, end = _whole_sentences(search, found)
    begin = found.start if found.rule.all else found.end
    if not found.rule.all and len(search.text[begin:end].split()) < MIN_CLAIM_WORDS:
        following = search.sentences()[search.sentence_at(end - 1) + 1 :]
        end = following[0][1] if following else end
    if _FIRST_PERSON.search(search.folded, begin, end):
        if found.rule.all:
            return
        search.mild.add((found.start, found.end))
        search.drop(found.rule.kind, (found.start, found.end))
        return
    is_own = _FIRST_PERSON.search(search.folded, start, found.start) is not None
    search.drop(found.rule.kind, (found.start if is_own else start, end))


def privilege_spans(text: str) -> list[Span]:
    """The sentences of a text that claim rank, by privilege.yaml; in order, without overlaps."""
    return list(_ranks(text))


@lru_cache(maxsize=512)  # asked for when a message is guarded, and again when what was read in it is screened
def _ranks(text: str) -> tuple[Span, ...]:
    book, plain = rule_book("privilege"), folded(text)
    rules = book.candidates(plain)
    if not rules:
        return ()
    spans: list[Span] = []
    for found in book.find(text, plain, partial(sentences, text), rules):
        spans += [s for s in sentences(text) if s[0] < found.end and found.start < s[1]]
    return tuple(merged(spans))


def in_first_person(statement: str) -> str:
    """A statement that a model worded of what the speaker has said, with "I" or "My" for "user" or "the user" at its
    beginning. In a message "the user owns a mill" is what somebody wants to be remembered, by the kind third_person;
    out of the words of a turn it is a plain sentence."""
    return _OF_SPEAKER.sub(lambda found: _AS_SPOKEN[found[1].casefold()], statement)


def orders_in(text: str) -> list[Span]:
    """The sentences of a text that tell whoever reads it what to do or believe. A document in JSON has none: its keys
    are no verbs."""
    if is_json(text):
        return []
    spans = sentences(text)
    return [span for span in spans if is_order(" ".join(text[slice(*span)].replace(CODE_MARK, " ").split()))]


def plain_places(text: str, stripped: Stripped) -> list[Span]:
    """The places of `stripped.found` that are no orders: English passages in the first person that only rules of
    ALSO_OF_SOFTWARE found, and of which the model of sentences is sure."""
    grave = [span for kind, span in stripped.found if kind not in ALSO_OF_SOFTWARE]
    doubtful = [span for kind, span in stripped.found if kind in ALSO_OF_SOFTWARE and not overlaps(span, grave)]
    plain = [span for span in doubtful if _is_plain(text[slice(*span)])]
    return [span for span in doubtful if overlaps(span, plain)]


def _is_plain(passage: str) -> bool:
    words = " ".join(folded(passage).split())
    is_own = _FIRST_PERSON.search(words) is not None and _ENGLISH.search(words) is not None
    return is_own and order_odds(" ".join(passage.split())) < PLAIN

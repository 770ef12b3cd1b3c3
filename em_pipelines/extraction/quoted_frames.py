"""Sentences that introduce quoted material, and how far it goes: requests for a text, labels, role play.

No list of kinds of text is needed. A frame is told by its verb ("draft", "translate"), by whom the words are for ("for
my friend Ben", "as a customer"), by pointing at them ("this", "the following") or by a subject that is not the speaker
("she wrote:"), together with where the first person begins: behind its colon, on the lines below it or, of a last
request about "this", above it. The frame itself is no quoted material. Everything here is linear in the text.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, takewhile

from em_pipelines.guard.passages import Span, quoted_blocks
from em_pipelines.guard.passages import sentences as sentence_spans
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.language.en.cues import find_phrases
from em_pipelines.language.en.lexicon import FEMALE_NAMES, MALE_NAMES, is_profession, load_lexicon, words
from em_pipelines.language.en.noun_phrases import KIN
from em_pipelines.language.en.tokens import BASE, DET, NUMBER, OBJECT, POSS, PREP, PUNCT, Token, tokenise

FIRST_PERSON_WORDS = frozenset({"i", "'m", "im", "my", "we", "our", "me"})
_SUBJECTS = FIRST_PERSON_WORDS - {"me", "our"}
MAX_WORDS_OF_A_CUE = 6
"""Of what is said further of a text that was asked for: `Start with:`."""
MAX_WORDS_ANNOUNCING = 2
MAX_WORDS_BEFORE_I = 3
"""Behind a label whose owner is unknown."""
MAX_MATERIAL_WORDS = 80
"""Of material that are looked through for the first person."""
_CHARACTERS_A_WORD = 20
_OPENING_CHARACTERS = 60
"""Of a sentence that tell whether the speaker is back."""
_DRAFTING, _REWORDING, _ADVISING = (words("verbs", key) for key in ("drafting", "rewording", "advising"))
_DRAFTED = "|".join(sorted(_DRAFTING | _REWORDING))
_BEING_DRAFTED = "|".join(sorted(verb.removesuffix("e") + "ing" for verb in _DRAFTING | _REWORDING))
_REPORTING = words("verbs", "reporting")
_TURNING = frozenset({"make", "say", "turn", "put", "check"})
"""What one does with `this`."""
_GIVEN_NAMES = FEMALE_NAMES | MALE_NAMES
_VAGUE = words("nouns", "vague")
"""Nouns by which people announce what they say themselves: `fun fact`, `one thing`."""
_OTHERS = frozenset({"he", "she", "they", "someone", "somebody"})
_ACTORS = _OTHERS | {"i", "we", "not", "n't"}
_READER = frozenset({"you", "your"})
_OF_PERSONS = frozenset({"for", "as", "like", "by", "of"})
_OWN = re.compile(
    r"\b(?:about|of|introduc\w+) (?:me|us|myself|ourselves)\b|\bmy own\b|\b(?:as|unlike) (?:me|myself)\b|\bmyself\b"
    r"|\b(?:this|that|it|she|he|which)(?: is|'s) (?:really |just )?(?:me|mine)\b"
)
_FOR_ME = re.compile(r"\bfor (?:me|myself|us)\b(?! (?:for|as)\b)")
_THIS = re.compile(r"\b(?:this|following|text|sentence|grammar|spelling|below|above)\b")
_RETURN = re.compile(
    r"[\s(—–-]*(?:(?:ok|okay|oh|and|but|so|also|ps)[,:]? )*(?:btw|by the way|anyways?|irl|in real life|in reality|"
    r"as for me|me, i|i myself|myself,|unlike me|out of character|the real me|for the record|back to|it's for|"
    r"this is for)\b"
    r"|.{0,30}(?:\bas myself|\bshe's me|\bhe's me)\b"
)
"""Begins a sentence in which the speaker speaks as themselves again."""
_COLON = re.compile(r":(?=\s|$|[\"'*(`])| [-–—]+ ?(?=[\"'])")
_FICTION = {" ".join(phrase.split()[:2]) for tag in ("fiction", "thought") for phrase in load_lexicon("hedges")[tag]}
MAY_FRAME = re.compile(
    rf"(?i):(?=\s|$|[\"'*(`])|\b(?:{_DRAFTED}|{_BEING_DRAFTED}|{'|'.join(map(re.escape, sorted(_FICTION)))})\b"
    r"|\b(?:this|following|needs?|wants?|you are|you're|you be|you play)\b"
    r"|\bhow\b.{0,30}\b(?:say|put|write|phrase|spell)\b"
)
"""Stands in every frame."""
_ADDRESS = re.compile(
    r"(?:(?:please|pls|plz|ok|okay|hi|hey|hello|now|also|just|first|next|can|could|would|will|you|u|we|i|let|'s|to|help|me|"
    r"want|need|'d|like|have|how|do|should|kindly|[!-])\s*)*"
)
"""What may stand before the verb of a request."""
_CLAUSE = re.compile(r"[,;(]\s*|\b(?:and|then|so)\b\s*")
_WORD = re.compile(r"[\w-]+")
_OF_MINE = re.compile(r"[\w-]+(?: \w+)? (?:me )?(?:my|our) ")
"""`draft up my …`."""
_NEEDING = re.compile(r"\b(?:needs?|wants?) (?:an?|the|some|his|her|their)\b")
_WRITING = re.compile(rf"\b(?:{_BEING_DRAFTED}) (?:an?|the|some|his|her|their|this)\b")
_HOW_TO_SAY = re.compile(
    r"\bhow (?:do|does|would|can|could|should|is|to)\b.{0,12}\b(?:say|said|put|write|written|phrase|word|spell)\b"
)
_PRESENTS = re.compile(r"(?:so |ok |and )?here(?: is|'s| are) (?:an?|the|some|what (?:he|she|they|my|the))\b")
_VOICES = re.compile(r"(?:report|read|go|state|text|reply|answer)(?:s|d|ed)|replie[sd]|went")
"""What mails, notices and people do before a colon, beside the verbs of `reporting`."""
_SPEAKING = re.compile(r"(?i)\W*(?:[\w'-]+,? )?(?:i|we|my name)\b")
_YOUR_PART = re.compile(r"(?:so |ok |okay |now )?you(?: are|'re| be| play) (?:an?|the|my) ")
_MY_PART = re.compile(r"\band (?:i am|i'm|i play|i'll be) (?:an?|the|your|my) ")
_MY_PART_NEXT = re.compile(r"[.!;, ]*(?:and )?(?:i am|i'm|i play|i'll be) (?:the|your) ")
_REPORTED = re.compile(r"\b(?:that|which|who|where|saying|says|stating|like|as if)\b(?= (?:that )?(?:i|we|my)\b)")
"""`a letter saying that I …`, `a poem in which I …`."""
_WORDLESS = re.compile(r"[\s:–—`*_-]*")
_TO_NEXT_LINE = re.compile(r"[.!?:;…)\"' ]*\n\s*")
_CLOSING = frozenset(".!?\"'")
_REST_OF_LINE = re.compile(r"[.!?]+[ \t]+(?P<rest>[^\s][^\n]*)")
_POINTS_ON = re.compile(r"\b(?:this|the following)(?: [\w-]+)?(?: (?:please|pls|plz|for me))?$")
_RULE = re.compile(r"(?:-{3,}|={3,}|\*{3,}|_{3,})(?=\n)")
_INSTRUCTED = re.compile(r"\b(?:this|that|these|it|above)\b|^\W*(?:please |pls |plz )?[\w-]+ (?:as|into|to|in) ")


def is_called_own(lead: str) -> bool:
    """Whether words, in small letters, say that what follows is of the speaker: `about me`, `my own`, `for me`. Who has
    `this` translated for them does not."""
    return _OWN.search(lead) is not None or (_FOR_ME.search(lead) is not None and _THIS.search(lead) is None)


@dataclass(frozen=True, slots=True)
class Frame:
    """A sentence that may introduce quoted material, from `start` to `end` in the text."""

    start: int
    end: int
    colon: int | None
    """Where its colon stands, if it has one."""
    lead: str
    """Its words up to the colon, in small letters."""
    tokens: Sequence[Token]
    asks: bool
    """Whether it asks for a text."""


class Framing:
    """The frames of one text, in which quotation marks and apostrophes are straight and quotations blanked."""

    def __init__(self, text: str) -> None:
        self.text = text

    def spans(self) -> list[Span]:
        """What is quoted material for its frame. Where blanked text follows a frame at once, that is its material."""
        found: list[Span] = []
        before: Frame | None = None
        for start, end in self._sentences:
            if (found and start < found[-1][1]) or MAY_FRAME.search(self.text, start, end) is None:
                continue
            frame = self._frame(start, end)
            material = self._material(frame, is_commissioned=before is not None and before.asks)
            found += [material] if material is not None else []
            before = frame
        return found

    def end_of(self, start: int) -> int:
        """Where material that begins at a place ends: where the speaker speaks as themselves again, else with the text.
        What stands on the line of its frame and closes as a sentence ends with the paragraph."""
        n = bisect_left(self._returns, start)
        back = self._returns[n] if n < len(self._returns) else len(self.text)
        blank = self.text.find("\n\n", start, back)
        is_on_line = (
            blank > 0 and self.text[start - 1 : start] not in {"", "\n"} and self.text.find("\n", start) == blank
        )
        return blank if is_on_line and self.text[start:blank].rstrip()[-1:] in _CLOSING else back

    @cached_property
    def _sentences(self) -> tuple[Span, ...]:
        return sentence_spans(self.text)

    @cached_property
    def _returns(self) -> list[int]:
        lows = ((start, self.text[start : start + _OPENING_CHARACTERS].lower()) for start, _ in self._sentences)
        return [start for start, low in lows if _RETURN.match(low)]

    @cached_property
    def _blocks(self) -> dict[int, int]:
        return dict(quoted_blocks(self.text))

    def _frame(self, start: int, end: int) -> Frame:
        colon = _COLON.search(self.text, start, end)
        words_of_lead = self.text[start : end if colon is None else colon.start()]
        lead, tokens = words_of_lead.lower().strip(" (*\t\n"), tokenise(words_of_lead)
        return Frame(start, end, None if colon is None else colon.start(), lead, tokens, asks_for_text(lead, tokens))

    def _material(self, frame: Frame, *, is_commissioned: bool) -> Span | None:
        """What a frame makes quoted material. `is_commissioned`: a text was asked for just before."""
        material = self._played(frame) or self._behind(frame, is_commissioned=is_commissioned)
        if material is not None:
            return material
        if frame.asks:
            return self._reported(frame) or self._below(frame) or self._above(frame) or self._after(frame)
        return self._below(frame) if _points(frame) else None

    def _played(self, frame: Frame) -> Span | None:
        """Role play or a mere thought: from the words that begin it on."""
        for cue in find_phrases(list(frame.tokens)):
            before = frame.tokens[cue.start - 1].low if cue.start else ""
            if cue.tag in {"fiction", "thought"} and before not in _ACTORS:
                start = frame.start + frame.tokens[cue.start].start
                return start, self._end_of_play(frame.end, is_asked=cue.tag == "thought")
        following = self.text[frame.end : frame.end + _OPENING_CHARACTERS].lower()
        if _YOUR_PART.match(frame.lead) and (_MY_PART.search(frame.lead) or _MY_PART_NEXT.match(following)):
            return frame.start, self._end_of_play(frame.end, is_asked=False)
        return None

    def _end_of_play(self, start: int, *, is_asked: bool) -> int:
        """The beginning of the sentence in which the speaker says to be out of it, or, of a thought, the end of the one
        that asks; else where material ends."""
        end = self.end_of(start)
        for begin, stop in self._sentences[bisect_left(self._sentences, (start, 0)) :]:
            if begin >= end:
                break
            if any(cue.tag == "reality" for cue in find_phrases(tokenise(self.text[begin:stop]))):
                return begin
            if is_asked and self.text[stop : stop + 1] == "?":
                return stop
        return end

    def _behind(self, frame: Frame, *, is_commissioned: bool) -> Span | None:
        """What stands behind the colon, where the frame calls for another's words."""
        if frame.colon is None or not frame.tokens:
            return None
        start = _past(_WORDLESS, self.text, frame.colon)
        material = self.text[start : start + _CHARACTERS_A_WORD * MAX_MATERIAL_WORDS]
        is_cue = is_commissioned and len(frame.tokens) <= MAX_WORDS_OF_A_CUE
        if material[:1] in {"", CODE_MARK} or not _is_material(frame, material, asks=frame.asks or is_cue):
            return None
        return start, self._blocks.get(start) or self.end_of(start)

    def _reported(self, frame: Frame) -> Span | None:
        """What a text that is asked for is to say."""
        match = _REPORTED.search(self.text[frame.start : frame.end].lower())
        return None if match is None else (frame.start + match.end(), frame.end)

    def _below(self, frame: Frame) -> Span | None:
        """The block on the lines under a frame that ends its line."""
        start = _past(_TO_NEXT_LINE, self.text, frame.end)
        if start == frame.end or self.text[start : start + 1] in {"", CODE_MARK} or self._is_called_own(start):
            return None
        end, opening = self._block(start, frame)
        return (start, end) if end > start and _has_first_person(self.text[start:opening]) else None

    def _block(self, start: int, frame: Frame) -> Span:
        """Where a block ends, and the part of it that must be in the first person. What a line of dashes opens the next
        one closes; under a mere `this` the block is none without it, and else has to begin in the first person."""
        end = self.end_of(start)
        rule = _RULE.match(self.text, start)
        if rule is not None:
            closing = self.text.find("\n" + rule.group(), rule.end(), end)
            end = closing if closing > 0 else end if frame.asks else start
        paragraph = self.text.find("\n\n", start, end)
        return end, paragraph if paragraph > 0 and rule is None and not frame.asks else end

    def _is_called_own(self, start: int) -> bool:
        return is_called_own(self.text[start : start + _OPENING_CHARACTERS].lower())

    def _above(self, frame: Frame) -> Span | None:
        """The block above a request that begins the last line, where it says `this` or names no object."""
        start = self.text.rfind("\n", 0, frame.start) + 1
        is_first = start > 0 and not self.text[start : frame.start].strip(" -–—*")
        is_last = self.text.find("\n", frame.end) < 0
        return (0, start) if is_first and is_last and _INSTRUCTED.search(frame.lead) else None

    def _after(self, frame: Frame) -> Span | None:
        """What stands on the line of a request that ends in what it points at: `Can you translate this?`"""
        rest = _REST_OF_LINE.match(self.text, frame.end) if _POINTS_ON.search(frame.lead) else None
        if rest is None or self._is_called_own(rest.start("rest")) or not _has_first_person(rest["rest"]):
            return None
        return rest.start("rest"), self.end_of(rest.start("rest"))


def _past(pattern: re.Pattern[str], text: str, start: int) -> int:
    """Past what a pattern matches at a place; the place itself where it matches nothing."""
    match = pattern.match(text, start)
    return start if match is None else match.end()


def asks_for_text(lead: str, tokens: Sequence[Token]) -> bool:
    """Whether a sentence asks for a text or for another wording, or says that one is being written; not of oneself."""
    orders = [_ADDRESS.sub("", clause, count=1) for clause in _CLAUSE.split(lead)]
    verbs = {match.group(): order for order in orders if (match := _WORD.match(order))}
    if _HOW_TO_SAY.search(lead) or (_THIS.search(lead) and not _TURNING.isdisjoint(verbs)):
        return True
    return not is_called_own(lead) and (_WRITING.search(lead) is not None or _orders_text(lead, verbs, tokens))


def _orders_text(lead: str, verbs: Mapping[str, str], tokens: Sequence[Token]) -> bool:
    """Whether a text is needed for another, or one of the orders, by their verbs, is to write or reword. What is
    written of `my` own profile is the speaker's."""
    is_anothers = _is_for_another(tokens)
    if is_anothers and _NEEDING.search(lead):
        return True
    mine = () if is_anothers else {verb for verb, order in verbs.items() if _OF_MINE.match(order)}
    return not _REWORDING.isdisjoint(verbs) or not (_DRAFTING & verbs.keys()) <= set(mine)


def _points(frame: Frame) -> bool:
    """Whether a sentence points at words that follow: `Feedback on this essay`, `saw this on reddit`."""
    lows = [token.low for token in frame.tokens]
    is_pointing = "this" in lows[1:] or lows == ["this"] or "following" in lows
    return is_pointing and _ADVISING.isdisjoint(lows[:5])


def _is_material(frame: Frame, material: str, *, asks: bool) -> bool:
    """Whether what stands behind a colon is another's words."""
    if is_called_own(frame.lead) and not _is_for_another(frame.tokens):
        return False
    if asks:
        return not _is_told_of_others(material)
    if _points(frame):
        return _has_first_person(material, MAX_WORDS_BEFORE_I * 2)
    return _has_first_person(material, MAX_WORDS_BEFORE_I) and _is_others_voice(frame, material)


def _is_others_voice(frame: Frame, material: str) -> bool:
    """Of a lead that asks for no text, whether the first person behind it is another's."""
    tokens, lows = frame.tokens, [token.low for token in frame.tokens]
    if _is_for_another(tokens) or _PRESENTS.match(frame.lead) or _is_others_clause(tokens, material):
        return True
    if not FIRST_PERSON_WORDS.isdisjoint(lows) or not _ADVISING.isdisjoint(lows[:3]) or not _SPEAKING.match(material):
        return False
    return _is_person(tokens[0]) if len(tokens) == 1 else _is_label(tokens)


def _is_label(tokens: Sequence[Token]) -> bool:
    """Whether words name something that is quoted: `Customer 14`, `Interview transcript, second part`. A short name
    (`Good news`), or one that addresses the reader, announces what the speaker says."""
    lows = [token.low for token in tokens if not token.bits & PUNCT]
    if not lows or lows[-1].isdigit():
        return bool(lows)
    if len(lows) <= MAX_WORDS_ANNOUNCING or not _opens_name(tokens) or not _READER.isdisjoint(lows):
        return False
    name = [token.low for token in takewhile(_is_in_name, tokens[lows[0] == "from" :])]
    return _VAGUE.isdisjoint(name[:1] + name[-1:])


def _is_in_name(token: Token) -> bool:
    return not token.bits & (PUNCT | PREP)


def _opens_name(tokens: Sequence[Token]) -> bool:
    """Whether the first word may open a name: `Interview transcript`, `From the novel`, not `Book a table`."""
    is_order = bool(tokens[0].forms & BASE) and bool(tokens[1].bits & (DET | POSS | OBJECT | NUMBER))
    return tokens[0].low == "from" or not (tokens[0].bits or is_order)


def _is_others_clause(tokens: Sequence[Token], material: str) -> bool:
    """`She texted me`, `My flatmate wrote`, `Patient reports`: somebody else, and a verb."""
    if tokens[0].low in {"we", "let"} or "i" in {token.low for token in tokens}:
        return False
    if any(map(_reports, tokens[1:])):
        return True
    has_verb = any(token.verbs for token in tokens[1:])
    return has_verb and _opens_with_another(tokens) and _SPEAKING.match(material) is not None


def _reports(token: Token) -> bool:
    return not _REPORTING.isdisjoint(token.verbs or ()) or _VOICES.fullmatch(token.low) is not None


def _opens_with_another(tokens: Sequence[Token]) -> bool:
    is_possessed = len(tokens) > 1 and bool(tokens[0].bits & (POSS | DET))
    return tokens[0].low in _OTHERS or _is_person(tokens[0]) or (is_possessed and _is_someone(tokens[1]))


def _is_for_another(tokens: Sequence[Token]) -> bool:
    """`for my friend Ben`, `as a customer`, `Ben's`, `write my boss a mail`: whom the words are for, or to be of."""
    for n, token in enumerate(tokens):
        if token.low in _OF_PERSONS and any(map(_is_someone, tokens[n + 1 : n + 5])):
            return True
        if token.low == "'s" and n and _is_someone(tokens[n - 1]):
            return True
    triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
    return any(a.low in {"my", "our"} and _is_person(b) and bool(c.bits & DET) for a, b, c in triples)


def _is_someone(token: Token) -> bool:
    return _is_person(token) or (token.is_capital and not token.bits)


def _is_person(token: Token) -> bool:
    return token.low in KIN or token.low in _GIVEN_NAMES or token.low == "user" or is_profession(token.low)


def _has_first_person(material: str, n_words: int = MAX_MATERIAL_WORDS) -> bool:
    """Whether one of the first words of the material is of the first person."""
    opening = islice(_WORD.finditer(material[: n_words * _CHARACTERS_A_WORD]), n_words)
    return not _SUBJECTS.isdisjoint(match.group().lower() for match in opening)


def _is_told_of_others(material: str) -> bool:
    """Whether it is told in the third person, as of a friend for whose birthday a card is: those facts are facts."""
    lows = {match.group().lower() for match in _WORD.finditer(material)}
    return FIRST_PERSON_WORDS.isdisjoint(lows) and not _OTHERS.isdisjoint(lows)

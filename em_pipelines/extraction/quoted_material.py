"""Which characters of a message are quoted material: words that are not the speaker speaking of themselves.

Drafts for others, role play, forms, records, pasted mails and the like state no fact, whoever reads the message. What
is quoted is decided before anything is read, and blanked for every extractor alike:

- position: quotation marks around a sentence, lines that begin with `>`, fences, what stands behind the headers of a
  mail;
- layout: runs of `Key: value`, rows of a table, speakers of a transcript, `Given … When … Then …`, `As a …, I want …
  so that …`;
- a frame and what belongs to it: a request for a text, a label, role play (`quoted_frames`);
- everything of which a conditional random field over the pieces of the message (`quoted_pieces`) is nearly sure: fitted
  to labelled messages by `training/quoted`, it knows the wordings that no form tells.

What the speaker calls their own ("it's my own bio", "which is true") is not quoted. What is missed belongs into
`training/quoted`, with its near misses.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from em_pipelines.extraction.quoted_frames import FIRST_PERSON_WORDS, MAY_FRAME, Framing, is_called_own
from em_pipelines.extraction.quoted_pieces import marks_of, pieces_of
from em_pipelines.guard.passages import Span, blanked, merged, overlaps, spoken_passages
from em_pipelines.guard.screening import CITED
from em_pipelines.language.fitted_models import marginals
from em_pipelines.schema.readings import Issue, Segment, Turn

MODEL = Path(__file__).with_name("quoted.crfsuite")
"""Written by training/quoted."""
THRESHOLD = 0.9
"""How likely a piece has to be quoted material for the model to take it."""
OPENS, GOES_ON = "opens", "goes on"
"""The labels of a piece of quoted material: the first of a stretch and the others."""
MAX_LABEL_WORDS = 4
MIN_LABELS, MIN_ROWS, MIN_SHARE = 2, 3, 0.5
"""Lines with a label that make a form, rows that make a table, and of the lines from the first of them to the last."""
_AFFIRMED = re.compile(
    r"(?:\bwhich|(?:^|[.!?,;:\n—–\ufffc-] ?)(?:and |but |yes |all of )?(?:that|this|it|all|everything|they))"
    r"(?: is|'s| are)(?: all| also| really| actually| just| quite| the| honest| about)* "
    r"(?:true|truth|me|mine|my own|correct|right)\b|(?:^|[.!?;:\n\ufffc] ?)(?:and |but )?all true\b"
)
"""Says outside of quoted material that it is the speaker's, or so."""
_STRAIGHT = str.maketrans("’‘ʼ“”„«»", "'''" + '"' * 5)
_PARTED = re.compile(r"(?i)[^\w\s'][^\w]*\w|\s(?:i|i'm|im|we|my|our|you are|you're)\b")
"""Without any of these a message is one piece, with nothing before it that could introduce it."""
_FENCED = re.compile(r"(?s)```.*?(?:```|\Z)")
_QUOTED_LINES = re.compile(r"(?m)^ {0,8}>[^\n]*$")
_CITING_LINE = re.compile(r"(?im)^ {0,3}(?:e\.g\.|for example|example|lyrics|quote(?: of the day)?) ?[:,]?.{0,500}$")
_LABEL = re.compile(
    r"[ \t]{0,8}(?:[-*•] )?(?:\[?[\d/.,: -]{4,22}\]? )?(?P<key>[^\W\d_][\w'./() -]{0,40}?) ?:"
    r"(?=[ \t]\S|[ \t]*_|[ \t]*$)"
)
"""`Name: …`, `- Role: …`, `[12.03.24, 10:11] Ann: …`."""
_PAIR = r"[A-Za-z][\w ]{1,24}: [^|;,:\n]{1,60}"
_ROW_OF_LABELS = re.compile(rf"(?:^|(?<=[|;,\n]))[ \t]*{_PAIR}(?:[|;,] *{_PAIR}){{2,}}")
_ROW = re.compile(r"[^,;|\t\n]*(?:[,;|\t](?! )[^,;|\t\n]*)+")
_HEADERS = frozenset({"from", "to", "subject", "sent", "date", "cc"})
_STEP = re.compile(r"(?i)\s*(?:[-*•] )?(given|when|then|and|but|scenario|feature|background)\b")
_STORY = re.compile(
    r"(?i)\bgiven [^.\n]{3,200}\bwhen [^.\n]{3,200}\bthen [^.\n]{3,200}"
    r"|\bas an? [^.\n]{2,80}?,? i(?:'d like| (?:want|need|can|would|should|must|wish)\b)[^.\n]{2,200}?"
    r" so (?:that )?[^.\n]{2,200}"
)
"""A test case or a user story in one sentence."""


def straight(text: str) -> str:
    """The text with straight quotation marks and apostrophes, and `?` for halves of pairs, as long as before."""
    return text if text.isascii() else text.translate(_STRAIGHT).encode("utf-8", "replace").decode()


@lru_cache(maxsize=256)
def quoted_material(text: str) -> tuple[Span, ...]:
    """Spans of the characters of a message that are quoted material, in order and apart from each other."""
    plain = straight(text)
    pasted = _pasted(plain)
    spans = [*pasted, *spoken_passages(plain)]
    spans += [match.span() for match in _CITING_LINE.finditer(plain) if not overlaps(match.span(), spans)]
    spans += [match.span() for match in _STORY.finditer(plain)]
    spans += _layouts(plain)
    if MAY_FRAME.search(plain):
        spans += Framing(blanked(plain, spans)).spans()
    spans += _learned(plain) if _PARTED.search(plain) else []
    is_affirmed = bool(spans) and _AFFIRMED.search(blanked(plain, spans).lower()) is not None
    return tuple(merged(pasted if is_affirmed else spans))


def _learned(text: str) -> list[Span]:
    pieces = pieces_of(text)
    if not pieces:
        return []
    likely = [opens + goes_on for opens, goes_on in marginals(MODEL, marks_of(pieces), (OPENS, GOES_ON))]
    return [(piece.start, piece.end) for piece, chance in zip(pieces, likely, strict=True) if chance > THRESHOLD]


def without_quoted(segment: Segment) -> tuple[Segment, list[Issue]]:
    """The segment with quoted material blanked in what people wrote, texts as long as before; and an issue for each
    turn that states facts and lost some. Imported notes stay as they are: they are lists about the user."""
    turns = tuple(map(_own_words, segment.turns))
    issues = [
        Issue(turn.turn_number, CITED, "others_words")
        for turn, before in zip(turns, segment.turns, strict=True)
        if turn.subject is not None and turn.text != before.text
    ]
    return replace(segment, turns=turns, context=tuple(map(_own_words, segment.context))), issues


def _own_words(turn: Turn) -> Turn:
    spans = quoted_material(turn.text) if turn.role == "user" and turn.note_privacy is None else ()
    return replace(turn, text=blanked(turn.text, spans)) if spans else turn


def _pasted(text: str) -> list[Span]:
    """What its place tells to be pasted: lines that begin with `>`, fences, mails."""
    spans = [match.span() for match in _QUOTED_LINES.finditer(text)] if ">" in text else []
    spans += [match.span() for match in _FENCED.finditer(text)] if "```" in text else []
    return spans + _mails(text)


def _mails(text: str) -> list[Span]:
    """From the headers of a mail to where its reader speaks again, or to the end."""
    lines = _lines(text) if text.count("\n") > 1 else []
    keys = [_key(text, line) in _HEADERS for line in lines]
    first = next((n for n, (one, other) in enumerate(pairwise(keys)) if one and other), None)
    return [] if first is None else [(lines[first][0], Framing(text).end_of(lines[first][0]))]


def _layouts(text: str) -> list[Span]:
    """Forms, transcripts, steps of a test and rows of a table."""
    spans = [match.span() for match in _ROW_OF_LABELS.finditer(text)] if ":" in text else []
    before = ""
    for lines in _paragraphs(text) if "\n" in text else ():
        spans += _form(text, lines, before) + _steps(text, lines)
        spans += _run([_ROW.fullmatch(text, *line) is not None for line in lines], lines, MIN_ROWS)
        before = text[slice(*lines[-1])]
    return spans


def _form(text: str, lines: list[Span], before: str) -> list[Span]:
    """The labelled lines of a paragraph after a line `before`, unless what stands above them says whose they are."""
    labels = [_is_label(text, line) for line in lines]
    opened = text[lines[0][0] : lines[labels.index(True)][0]] if any(labels) else ""
    return [] if _is_of_speaker(f"{before} {opened}".lower()) else _run(labels, lines)


def _steps(text: str, lines: list[Span]) -> list[Span]:
    """The steps of a test in a paragraph."""
    steps = [_STEP.match(text, *line) for line in lines]
    named = {step[1].lower() for step in steps if step is not None}
    is_test = "then" in named and not {"given", "when"}.isdisjoint(named)
    return _run([step is not None for step in steps], lines) if is_test else []


def _is_of_speaker(lead: str) -> bool:
    """Whether the words above a form say that it is of the speaker: `About me:`, `my details are`."""
    return is_called_own(lead) or not {"my", "our"}.isdisjoint(lead.split())


def _lines(text: str) -> list[Span]:
    spans, start = [], 0
    for line in text.split("\n"):
        spans.append((start, start + len(line)))
        start += len(line) + 1
    return spans


def _paragraphs(text: str) -> Iterator[list[Span]]:
    """The lines of each paragraph."""
    lines: list[Span] = []
    for start, end in [*_lines(text), (0, 0)]:
        if text[start:end].strip():
            lines.append((start, end))
        elif lines:
            yield lines
            lines = []


def _key(text: str, line: Span) -> str | None:
    """The label that a line begins with, in small letters; None where it begins with none."""
    match = _LABEL.match(text, *line)
    return match["key"].lower() if match is not None and len(match["key"].split()) <= MAX_LABEL_WORDS else None


def _is_label(text: str, line: Span) -> bool:
    key = _key(text, line)
    return key is not None and FIRST_PERSON_WORDS.isdisjoint(key.split())


def _run(signs: Iterable[bool], lines: list[Span], n_least: int = MIN_LABELS) -> list[Span]:
    """From the first line with a sign to the last, where there are enough of them."""
    places = [n for n, sign in enumerate(signs) if sign]
    if len(places) < n_least or len(places) < MIN_SHARE * (places[-1] - places[0] + 1):
        return []
    return [(lines[places[0]][0], lines[places[-1]][1])]

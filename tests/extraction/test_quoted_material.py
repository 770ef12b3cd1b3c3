"""Words that are not the speaker speaking of themselves, and words that only look so. All of them are invented."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.quoted_material import GOES_ON, MODEL, OPENS, quoted_material, straight, without_quoted
from em_pipelines.extraction.quoted_pieces import marks_of, pieces_of
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.guard.passages import blanked
from em_pipelines.language.cleaning import CODE_MARK
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment, Turn
from em_pipelines.schema.vocabulary import USER
from tests.growth import grows_with_its_length
from tests.models import share_alike

RELATIVES = {"sibling_of", "child_of", "friend_of", "parent_of"}
"""What a frame itself says: "for my sister Nora"."""


class Listening(LocalExtractor):
    """Keeps what it is shown."""

    name, version = "listening", "1"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def extract(self, segment: Segment) -> Extraction:
        self.seen += [turn.text for turn in segment.turns]
        return Extraction()


def segment_of(text: str, note_privacy: str | None = None) -> Segment:
    written_at = datetime(2026, 3, 2, tzinfo=UTC)
    turn = Turn("m1", 1, "user", USER, text, written_at, language="en", note_privacy=note_privacy)
    return Segment("g1", "u1", "s1", "text", (turn,))


@pytest.fixture
def of_user() -> Callable[[str], list[str]]:
    """What the rules extractor reads of the user in a message, as `relation object`, without what frames say."""

    def read(text: str) -> list[str]:
        ((_, reading),) = readings([segment_of(text)], RulesExtractor())
        own = (claim for claim in reading.claims if claim.subject == USER and claim.relation not in RELATIVES)
        return [f"{claim.relation} {claim.object or claim.value}" for claim in own]

    return read


OTHERS = [
    "Draft a flat ad for my cousin: I am a potter, I love rye bread and I live in Delft.",
    "Could you write a short bio for my sister Nora: I'm a glazier from Delft and I own two canaries.",
    "I need a toast for my uncle: I have known Anders since school and I live in Zutphen.",
    "Write a profile as a lock keeper: I live in Delft and I own a barge.",
    "Compose a song in which I am a miller and I live in Delft.",
    "Write a farewell note. Begin with: I have worked at Tarkett for years and I live in Delft.",
    "Translate into Danish: I am a diver and I live in Zutphen.",
    "How do you say in Basque: I live in Zutphen and I love figs?",
    "Make this sound kinder: I moved to Zutphen in May and I hate my landlord.",
    "Can you translate this for me: I live in Delft and I own a mill.",
    "Please shorten this.\n\nDear board,\n\nI live in Delft and I work at Tarkett.\n\nYours, Maud",
    "I am a rower since ten years and live in Delft.\n\nCan you correct this text?",
    "Check my grammar please: I am living in Delft and I works at Tarkett.",
    "Feedback on this story?\nI live in Zutphen and I work at the mill.",
    "Role-play: you are the ferryman. I'm a smuggler, I live in Zutphen and I own a raft.",
    "You are a suspect. I am the inspector and I work at Tarkett.",
    "Pretend you are my aunt. I live in Delft and I own three parrots.",
    "Name: Oriane Vance\nRole: owner\nCity: Delft\nEmployer: Tarkett",
    "From HR, please check:\nName: Oriane\nJob: welder\nCity: Delft",
    "Name: Oriane | Age: 41 | City: Delft | Job: welder",
    "From: Maud\nTo: desk\nSubject: keys\n\nI moved to Delft and I work at Tarkett.",
    "Ann: I live in Delft and I work at the mill\nPau: I am a diver\nAnn: nice",
    "[02.03.26, 10:11] Maud: I moved to Delft\n[02.03.26, 10:12] Pau: I work at Tarkett",
    "Given I live in Delft\nAnd I own a raft\nWhen I open the lock\nThen I pay less",
    "As a lock keeper, I want a bell so that I hear the barges.",
    "Customer 12: I live in Delft and I own two rafts.",
    "She texted me: I work at Tarkett now and I live in Delft.",
    "The witness stated: I work at the mill and I live in Delft.",
    "From the novel: I live in Delft and I own a mill.",
    "Could you translate this? I live in Delft and I own a mill.",
    "id,name,city\n1,Ann,Graz\n2,Bo,Linz\n3,I live in Delft,yes",
    "My flatmate wrote: I moved to Delft and I have a parrot.",
    "Interview transcript, second part: I live in Delft and I work at the mill.",
    "Here's a note from the tenant: I live in Delft and I own a cat.",
    'The leaflet ends with "I live in Delft and I love it".',
    "> I live in Delft\nWhat do I answer?",
    "What is wrong here ```\nI live in Delft. I work at Tarkett.\n```",
]


@pytest.mark.parametrize("text", OTHERS)
def test_words_for_or_of_others_say_nothing_of_the_user(of_user: Callable[[str], list[str]], text: str) -> None:
    assert [said for said in of_user(text) if not said.startswith("needs")] == []


LEARNED = [
    "my cousin wants her bio to say i live in delft and i own two canaries",
    "can you write to the landlord as the tenant that i have lived here since may and i own a cat",
    "what's finnish for i am a widow and i live in delft",
    "a fan wrote to us: hi, i'm a rower from Delft and I love your oars",
    "She says in the voice message that I am a nurse and I live in Delft. Transcribe it.",
]
"""No form tells them; what they are told by is fitted."""


@pytest.mark.parametrize("text", LEARNED)
def test_words_of_others_in_running_prose_say_nothing_of_the_user(
    of_user: Callable[[str], list[str]], text: str
) -> None:
    assert of_user(text) == []


OWN = [
    ("I wrote in my profile that I live in Delft, which is true.", "lives_in Delft"),
    ("Can you write a bio for me? I live in Delft.", "lives_in Delft"),
    ("Write a bio for me: I own a mill and I live in Delft.", "lives_in Delft"),
    ("Please draft my profile: I own a mill and I live in Delft.", "lives_in Delft"),
    ("Translate my own bio: I own a mill and I live in Delft.", "lives_in Delft"),
    ("Can you proofread this? It's my own bio: I own a mill and I live in Delft.", "lives_in Delft"),
    ("Here's my intro: I live in Delft.", "lives_in Delft"),
    ("About me: I live in Delft.", "lives_in Delft"),
    ("My details are these.\nQuick intro: I live in Delft.", "lives_in Delft"),
    ("Draft a profile for my cousin: I am a potter. By the way, I live in Delft.", "lives_in Delft"),
    ("Write a poem about rain.\n\nAnyway, I live in Delft.", "lives_in Delft"),
    ('Translate: "The lock is shut on Mondays." I live in Delft.', "lives_in Delft"),
    ("Reply to this mail:\n> Could you come on Monday?\nI live in Delft.", "lives_in Delft"),
    ("Can you recommend a baker? I live in Delft.", "lives_in Delft"),
    ("Help me plan a trip: I live in Delft.", "lives_in Delft"),
    ("Find a gym: I live in Delft.", "lives_in Delft"),
    ("For the form: I live in Delft.", "lives_in Delft"),
    ("Update: I live in Delft now.", "lives_in Delft"),
    ("Good news: I live in Delft now.", "lives_in Delft"),
    ("My situation: I live in Delft.", "lives_in Delft"),
    ("I live in Delft.\n\nCan you write a poem about rain?", "lives_in Delft"),
    ("Act as a waiter. In real life I live in Delft.", "lives_in Delft"),
    ("I act as treasurer and I live in Delft.", "lives_in Delft"),
    ("My sister wrote a book about locks and I live in Delft.", "lives_in Delft"),
    ("Write a card for my sister Nora. I live in Delft.", "lives_in Delft"),
    ("You are kind. I live in Delft.", "lives_in Delft"),
    ("My cousin asked me to check her bio. I live in Delft, she is in Ghent.", "lives_in Delft"),
    ("I coach rowing on Tuesdays. Matches are on Saturday. I live in Delft. My boat needs paint.", "lives_in Delft"),
    ("what should i cook tonight? i live in Delft and the shops close at six", "lives_in Delft"),
]


@pytest.mark.parametrize(("text", "fact"), OWN)
def test_what_people_say_of_themselves_is_kept(of_user: Callable[[str], list[str]], text: str, fact: str) -> None:
    assert fact in of_user(text)


@pytest.mark.parametrize("text", OTHERS)
def test_no_extractor_is_shown_quoted_material(text: str) -> None:
    listening = Listening()
    ((_, reading),) = readings([segment_of(text)], listening)
    assert all("live in Delft" not in seen and "Tarkett" not in seen for seen in listening.seen)
    assert "cited" in {issue.issue for issue in reading.issues}


def test_an_imported_note_is_a_list_about_the_user() -> None:
    note = segment_of("Name: Oriane\nCity: Delft\nJob: welder", note_privacy="L2")
    assert without_quoted(note) == (note, [])


def test_what_tools_and_assistants_say_is_left_to_the_guard() -> None:
    segment = segment_of("Name: Oriane\nCity: Delft")
    turns = tuple(replace(turn, role="tool", subject=None) for turn in segment.turns)
    assert without_quoted(replace(segment, turns=turns))[0].turns == turns


@pytest.mark.parametrize(
    "part", ["I live in Delft and my dog ", "Name: Ann\n", "a,b;c|d\t", '"I row" ', "you are (I am) "], ids=repr
)
def test_cost_grows_with_the_length(part: str) -> None:
    assert grows_with_its_length(lambda text: (quoted_material.cache_clear(), quoted_material(text)), part * 1_000)


def test_pieces_hold_every_word_once() -> None:
    text = 'My aunt wrote: "I row." Name: Ann\nand I live in Delft, you are kind.\n\n(I swim)'
    pieces = pieces_of(text)
    assert [one.end for one in pieces[:-1]] == [other.start for other in pieces[1:]]
    assert (pieces[0].start, pieces[-1].end) == (0, len(text))
    assert [piece.parting for piece in pieces] == [
        "start", "colon", "quotation", "colon", "line", "nothing", "comma", "paragraph"
    ]  # fmt: skip
    assert len(marks_of(pieces)) == len(pieces)


@pytest.mark.parametrize("text", ["", " \n", "?!", "\ud800 I live in \x00 Delft: \ud83d"])
def test_texts_without_words_and_broken_ones_are_cut_as_well(text: str) -> None:
    assert len(marks_of(pieces_of(straight(text)))) == len(pieces_of(straight(text)))
    quoted_material(text)


@pytest.mark.slow
def test_the_model_is_the_one_of_its_training(tmp_path: Path) -> None:
    from training.quoted.__main__ import fit, messages

    every = list(messages())
    fit(every, tmp_path / "model")
    texts = [marks_of(pieces_of(straight(message.text))) for message in every]
    assert share_alike(texts, (OPENS, GOES_ON), MODEL, tmp_path / "model") >= 0.999  # a library may round otherwise


PIECES = st.sampled_from(
    [
        "Draft a bio for my cousin:", "I live in Delft.", "By the way,", "\n", "\n\n", "> I row.", '"I own a mill"',
        "Name: Ann",
        "City: Delft", "Translate this", "Pretend you are", "---", "Anyway,", "which is true", "As a miller, I want",
        "so that",
        "Given", "When", "Then", "’", "```",
    ]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map(" ".join))
def test_spans_are_in_order_and_apart_and_what_is_left_has_no_more_of_them(text: str) -> None:
    spans = quoted_material(text)
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(before[1] < after[0] for before, after in pairwise(spans))
    left = blanked(text, spans)
    assert len(left) == len(text)
    more = [span for span in quoted_material(left) if left[slice(*span)].strip(f"{CODE_MARK} \n\"'`.,:>-")]
    assert len(more) <= len(spans) + 1

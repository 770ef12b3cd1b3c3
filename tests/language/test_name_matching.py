"""Names in text, and what a cut leaves."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.extraction.keeping import skip_reason
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.segmentation import Session, segment_session
from em_pipelines.language.name_matching import AMBIGUOUS, MARKER, NameIndex, Span, cut, gone, key_of, sentences
from em_pipelines.schema.readings import Turn
from tests.governance.erasure.conftest import NOW

NAME = st.sampled_from(["Torvald", "Larsen Tak", "aletheia_runtime", "C++", "José", "田中", "สมชาย", "O'Neil"])
AROUND = st.text(alphabet=" .,;!?\n'’-_()abcXYZ…éß", max_size=30)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Torvald", "torvald came"),
        ("Torvald", "It was TORVALD’s idea"),
        ("Torvald", "mail torvald@example.org"),
        ("Torvald", "the Torvalds are here"),
        ("aletheia_runtime", "the Aletheia runtime broke"),
        ("the Red House", "near Red House."),
        ("Larsen-Bygg", "at Larsen Bygg"),
        ("田中", "昨日、田中さんに会った"),
        ("C++", "I write c++ daily"),
        ("Will", "I saw Will yesterday"),
    ],
)
def test_a_name_is_found_however_it_is_written(name: str, text: str) -> None:
    assert NameIndex.of([name]).is_in(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Ann", "an annual plan"),
        ("Torvald", "Torvaldsen"),
        ("Will", "I will go. Will you come?"),
        ("C++", "C is not c"),
        ("Larsen Tak", "Larsen. And Tak"),
        ("Mark", "she marks papers"),
    ],
)
def test_what_only_resembles_a_name_is_none(name: str, text: str) -> None:
    assert not NameIndex.of([name]).is_in(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I live here. Torvald snores. I own a boat.", "I live here. […] I own a boat."),
        ("Torvald! Torvald?\nTea, please.", "[…]\nTea, please."),
        ("nothing of him", "nothing of him"),
    ],
)
def test_sentences_with_a_name_go(text: str, left: str) -> None:
    assert cut(text, NameIndex.of(["Torvald"]).spans(text)) == left


def test_what_is_kept_of_a_sentence_stands_by_itself() -> None:
    text = "I moved to Oslo and Torvald helped me."
    assert cut(text, NameIndex.of(["Torvald"]).spans(text), [Span(0, 15)]) == "[…] I moved to Oslo. […]"


def test_what_is_kept_speaks_of_nobody_by_a_pronoun_and_of_nothing_that_is_barred() -> None:
    text = "I moved to Oslo and Torvald helped me, as I like her."
    assert cut(text, [Span(20, 27)], [Span(0, 15), Span(42, 52)]) == "[…] I moved to Oslo. […]"
    assert cut(text, [Span(20, 27)], [Span(0, 15)], [Span(11, 15)]) == "[…]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I saw Edda. She told Mr. Osei that she is ill. I row.", "[…] I row."),
        ("Edda came at 5 p.m. with approx. two cakes. We ate.", "[…] We ate."),
        ("Edda broke her leg abt. twice. once at home. We row.", "[…] We row."),
        ("I row. Who is in jail? Edda. I swim.", "I row. […] I swim."),
        ("Edda:\n- born in May\n- owes rent\nMe:\n- likes kites", "[…]\nMe:\n- likes kites"),
        ('Edda called. "I am broke." I row.', "[…] I row."),
        ("- Edda: on leave\n- lifts: fine", "[…]\n- lifts: fine"),
    ],
)
def test_what_goes_with_a_name_is_more_than_its_sentence(text: str, left: str) -> None:
    assert cut(text, gone(text, NameIndex.of(["Edda"]).spans(text))[0]) == left


def test_a_pronoun_behind_another_name_is_not_the_erased() -> None:
    text = "Edda came. Then Arne lost his keys. He is old."
    assert gone(text, [Span(0, 4)], [Span(16, 20)]) == ([Span(0, 10)], False)


PIECES = (
    "I met Mr. Osei # times.", "She left at 5 p.m. with Dr. Ito #.", "we row #", "# really?!", "\n", "- milk #",
    "Edda is # today.", "approx. # kg of it", "J. R. Moran & Co. Ltd. sold # of it.", "私は#花子です。", "# 😀",
    "“Go #.”", "he has #, e.g. pears.", "well… #",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=8), st.data())
def test_what_a_cut_removes_is_always_a_union_of_whole_sentences(pieces: list[str], data: st.DataObject) -> None:
    text = " ".join(piece.replace("#", f"n{number}n") for number, piece in enumerate(pieces))
    hits = data.draw(st.lists(st.integers(0, max(0, len(text) - 1)).map(lambda at: Span(at, at + 1)), max_size=3))
    left = cut(text, gone(text, hits)[0])
    spans = sentences(text)
    stays = [one for one in spans if text[one.start : one.end] in left]
    assert not any(one.meets_any(hits) for one in stays)
    kept, at = [], 0
    for one in spans:
        kept += [text[at : one.start], text[one.start : one.end] if one in stays else MARKER]
        at = one.end
    assert left.replace(MARKER, "").split() == "".join([*kept, text[at:]]).replace(MARKER, "").split()


@given(AROUND, NAME, AROUND)
def test_after_a_cut_the_name_is_gone_and_a_second_cut_changes_nothing(before: str, name: str, after: str) -> None:
    index = NameIndex.of([name])
    text = f"{before} {name} {after}"
    left = cut(text, index.spans(text))
    assert not index.is_in(left)
    assert cut(left, index.spans(left)) == left


@given(st.text(max_size=200))
def test_sentences_hold_everything_but_white_space(text: str) -> None:
    spans = sentences(text)
    assert "".join("".join(text[s.start : s.end].split()) for s in spans) == "".join(text.split())
    assert all(a.end <= b.start for a, b in pairwise(spans))


@given(
    st.from_regex(r"\w{1,8}( \w{1,8}){0,3}", fullmatch=True).filter(lambda n: key_of(n) and key_of(n) not in AMBIGUOUS)
)
def test_a_name_stands_in_a_text_of_itself(name: str) -> None:
    assert NameIndex.of([name]).is_in(f"then {name} came")


@pytest.mark.parametrize("text", [MARKER, f"{MARKER} {MARKER}", f"My {MARKER} is {MARKER} and I like {MARKER}."])
def test_the_marker_is_read_as_nothing(text: str) -> None:
    turn = Turn("m", 0, "user", "user", text, NOW)
    (segment,) = segment_session([turn], Session("u", "s"))
    (read,) = RulesExtractor().extract_all([segment])
    assert (read.mentions, read.claims) == ([], [])
    assert skip_reason(Turn("m", 0, "user", "user", MARKER, NOW)) == "no_information"

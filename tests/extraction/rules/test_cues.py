import pytest

from em_pipelines.language.en.cues import find_phrases
from em_pipelines.language.en.tokens import tokenise
from em_pipelines.schema.vocabulary import HedgeLevel


def tags(text: str) -> list[str]:
    return [cue.tag for cue in find_phrases(tokenise(text))]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I'm not a hundred percent sure", ["strong"]),
        ("pretty certain that it was Delft", ["slight"]),
        ("90% sure", ["slight"]),
        ("60% sure", ["moderate"]),
        ("I'm sure", []),
        ("I don't like certain cheeses", []),
        ("I couldn't make sure", []),
        ("I don't smoke, sure", []),
    ],
)
def test_how_sure_one_is_is_read_from_its_form(text: str, found: list[str]) -> None:
    assert tags(text) == found


@pytest.mark.parametrize(
    ("text", "level"),
    [
        ("As far as I remember my aunt Gerd works at the mill.", HedgeLevel.SLIGHT),
        ("My aunt Gerd works at the mill. At least I think so.", HedgeLevel.MODERATE),
        ("My aunt Gerd works at the mill but don't quote me on that.", HedgeLevel.STRONG),
        ("I could be wrong but my aunt Gerd works at the mill.", HedgeLevel.STRONG),
        ("My aunt Gerd works at the mill? I think?", HedgeLevel.MODERATE),
        ("I'm not sure which year but my aunt Gerd works at the mill.", HedgeLevel.NONE),
        ("It might be that my aunt Gerd works at the mill.", HedgeLevel.STRONG),
        ("If memory serves, my aunt Gerd works at the mill.", HedgeLevel.MODERATE),
        ("My aunt Gerd might work at the mill.", HedgeLevel.STRONG),
        ("In May it rained. My aunt Gerd works at the mill.", HedgeLevel.NONE),
    ],
)
def test_hedges_reach_the_clause_they_comment_on(read, text: str, level: HedgeLevel) -> None:
    assert [claim.hedge_level for claim in read(text).claims if claim.relation == "works_at"] == [level]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I don't think I like opera.", ["user | dislikes | opera"]),
        ("I doubt I like opera.", []),
        ("It's not that I hate opera.", []),
        ("Not that I like opera.", []),
        ("Not because my aunt Gerd likes opera.", ["user | knows | Gerd"]),
        ("No way I own a raft.", []),
        ("There's no way I own a raft.", []),
        ("Not that it matters, but I own a raft.", ["user | owns | raft"]),
        ("No doubt I own a raft.", ["user | owns | raft"]),
        ("I'm not just a smith.", ["user | works_as | smith"]),
        ("I never said I like opera.", []),
        ("Please forget that I own a raft.", []),
        ("I thought I liked opera.", []),
        ("I don't know whether I like opera.", []),
        ("Let's say I own a mill in Delft.", []),
        ("Suppose I owned a raft and lived in Delft.", []),
    ],
)
def test_what_is_denied_or_supposed_is_no_fact(claims_of, text: str, claims: list[str]) -> None:
    assert claims_of(text) == claims


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("My aunt Gerd seems to like fog.", ["user | knows | Gerd", "Gerd | likes | fog"]),
        ("I stopped using Quillpad.", ["user | uses | Quillpad | -"]),
        ("I started using Quillpad in February.", ["user | uses | Quillpad"]),
        ("I've stopped living in Delft.", ["user | lives_in | Delft | -"]),
        ("I will stop using Quillpad one day.", []),
        ("I can't stand rowing these days.", ["user | dislikes | rowing"]),
    ],
)
def test_verbs_before_verbs_are_looked_through(claims_of, text: str, claims: list[str]) -> None:
    assert claims_of(text) == claims

import pytest

from em_pipelines.schema.vocabulary import Flag


@pytest.mark.parametrize(
    ("text", "who"),
    [
        ("Jonne or maybe Ida owns a raft.", ["Jonne", "Ida"]),
        ("Either Jonne or Ida owns a raft.", ["Jonne", "Ida"]),
        ("Somebody here owns a raft, Jonne or maybe it was Ida.", ["Jonne", "Ida"]),
        ("Someone in my choir owns a raft, I think Ida.", ["Ida"]),
    ],
)
def test_a_fact_of_one_of_several_is_uncertain_for_each(read, text: str, who: list[str]) -> None:
    claims = [claim for claim in read(text).claims if claim.relation == "owns"]
    assert [claim.subject for claim in claims] == who
    assert all(Flag.ATTRIBUTION_UNCERTAIN in claim.flags and claim.confidence <= 0.5 for claim in claims)


def test_what_several_do_together_is_certain(read) -> None:
    claims = read("Jonne and Ida own a raft.").claims
    assert [(claim.subject, claim.flags, claim.confidence) for claim in claims] == [
        ("Jonne", (), 0.9),
        ("Ida", (), 0.9),
    ]


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("Jonne and I live in Delft.", ["user | lives_in | Delft", "Jonne | lives_in | Delft"]),
        ("My aunt Gerd likes eels and so do I.", ["user | knows | Gerd", "Gerd | likes | eels", "user | likes | eels"]),
        ("My aunt Gerd likes eels, I don't agree.", ["user | knows | Gerd", "Gerd | likes | eels"]),
        ("Piet told me he likes eels.", ["Piet | likes | eels"]),
        ("My ex Jonne likes eels.", ["user | partner_of | Jonne | -", "Jonne | likes | eels"]),
        ("Jonne is not my boss anymore.", ["user | reports_to | Jonne | -"]),
    ],
)
def test_facts_go_to_whom_they_are_told_of(claims_of, text: str, claims: list[str]) -> None:
    assert sorted(claims_of(text)) == sorted(claims)


def test_a_cue_after_and_is_about_what_follows(read) -> None:
    claims = read("My uncle Piet owns a raft and, according to Ida, likes eels.").claims
    assert {claim.relation: Flag.SECONDHAND in claim.flags for claim in claims} == {
        "knows": False, "owns": False, "likes": True,
    }  # fmt: skip

"""What a fitting frame states and memory does not keep, by kind, and the sentences beside it that are kept."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.rules.worth import Unkept
from em_pipelines.extraction.settings import RulesSettings
from em_pipelines.schema.readings import Extraction, Segment, Turn

Read = Callable[..., Extraction]
WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
UNGATED = RulesExtractor(RulesSettings(min_right_among_people=0))
"""Keeps what is seldom right, too."""


def reasons(read: Read, text: str) -> list[str]:
    return [issue.reason for issue in read(text).issues if issue.issue == "not_kept"]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Unkept.CUT, "I want to quietly change our street."),
        (Unkept.CUT, "I'm planning to turn my barn into a cinema."),
        (Unkept.CUT, 'I love reading "Moorhen Tales" to the class.'),
        (Unkept.CUT, "I want to put marigolds in."),
        (Unkept.CUT, "I'm passionate about building a calm, friendly place."),
        (Unkept.CUT, "We have a little."),
        (Unkept.SAYS_NOTHING, "I'm planning a trip to the fjords."),
        (Unkept.SAYS_NOTHING, "I'm working on a new project."),
        (Unkept.SAYS_NOTHING, "I'd love to join in."),
        (Unkept.SAYS_NOTHING, "I want to lend a hand."),
        (Unkept.SAYS_NOTHING, "I need a mindset."),
        (Unkept.SAYS_NOTHING, "I'm a dreamer."),
        (Unkept.SAYS_NOTHING, "My favourite player is a midfielder."),
        (Unkept.SAYS_NOTHING, "I'm a terrible cook."),
        (Unkept.SAYS_NOTHING, "I'm basically a nurse by now."),
        (Unkept.SAYS_NOTHING, "I'm twenty kilos lighter."),
        (Unkept.SAYS_NOTHING, "My neighbour's cat has moved in."),
        (Unkept.CUT, "I'd rather eat my own hat than go back there."),
        (Unkept.SAYS_NOTHING, "My mother called yesterday."),
        (Unkept.UNRESOLVED, "I love the colours and the frame."),
        (Unkept.UNRESOLVED, "I love their gardens."),
        (Unkept.UNRESOLVED, "I got an HD for my essay."),
        (Unkept.CUT, "I have two 200 watt panels."),
        (Unkept.SAYS_NOTHING, "I'm writing a submission."),
        (Unkept.NOT_ASSERTED, "Ida thinks she's nineteen."),
        (Unkept.CUT, "I work at the bakery round the corner."),
        (Unkept.SUBJECT, "Our fiftieth is on 12 October."),
        (Unkept.FIGURE, "I'm dead, I've been up since four."),
        (Unkept.NOT_ASSERTED, "Love you. Love Barnaby."),
        (Unkept.MOMENTARY, "I want to see the regatta tonight."),
        (Unkept.MOMENTARY, "I have three cortados a day."),
        (Unkept.MOMENTARY, "I bought some flowers for the neighbour."),
        (Unkept.MOMENTARY, "I need milk."),
        (Unkept.OVER, "I loved taking ferries with my aunt when I was small."),
        (Unkept.EVERYBODYS, "We all need a nudge sometimes."),
        (Unkept.EVERYBODYS, "Our group meets on Mondays, and we plan marches."),
        (Unkept.NOT_ASSERTED, "I want to get fit and improve my stamina."),
        (Unkept.NOT_ASSERTED, "She keeps telling the neighbours I'm a doctor."),
        (Unkept.NOT_ASSERTED, "The sign read 'I love raccoons' in red."),
        (Unkept.NOT_ASSERTED, "I'm a doctor, he told everybody."),
        (Unkept.NOT_ASSERTED, "Call me Isolde, she says."),
        (Unkept.NOT_ASSERTED, "I love cheese, said the man beside me, and left."),
        (Unkept.SAYS_NOTHING, "I brought the cake, so I'm class president, basically."),
        (Unkept.SUBJECT, "A picnic was last week."),
        (Unkept.NOT_ASSERTED, "I'd love to say I love camping."),
        (Unkept.MOMENTARY, "I'm into my second marzipan."),
        (Unkept.FIGURE, "I have a mountain of laundry."),
        (Unkept.NOT_ASSERTED, "Amir doesn't speak much English."),
        (Unkept.NOT_ASSERTED, "I work on the wards."),
        (Unkept.CUT, "I'm planning to visit her in the summer."),
        (Unkept.CUT, "I gave my old desk to a student next door."),
        (Unkept.CUT, "I've decided to sell the British part of my collection."),
        (Unkept.NOT_ASSERTED, "That's a big plus of being a freelancer!"),
        (Unkept.SAYS_NOTHING, "I have to send them by the 15th."),
        (Unkept.SAYS_NOTHING, "I'm moving there next month!"),
        (Unkept.SAYS_NOTHING, "We joined a local club in our neighbourhood."),
        (Unkept.SAYS_NOTHING, "Femke is a hard worker."),
        (Unkept.SAYS_NOTHING, "I'm a cellist in an orchestra for amateurs."),
    ],
)
def test_what_says_nothing_that_holds_tomorrow_is_not_kept(reason: Unkept, text: str, read: Read) -> None:
    assert [claim for claim in read(text).claims if not claim.flags] == []
    assert reason in reasons(read, text)


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("I'm planning a trip to Zutphen.", ["user | plans | trip to Zutphen"]),
        ("I'm working on a robot project.", ["user | works_on | robot project"]),
        ("I work as a smith on gates for old farms.", ["user | works_as | smith", "user | works_on | gates"]),
        ("I love the sea.", ["user | likes | sea"]),
        ("I joined a small jazz group.", ["user | member_of | jazz group"]),
        ("I'm planning to visit her parents in the summer.", ["user | plans | visit her parents"]),
        ("I can't stand rye crisps.", ["user | dislikes | rye crisps"]),
        ("I loved Piranesi.", ["user | likes | Piranesi"]),
        ("I love music.", ["user | likes | music"]),
        ("I bought a sewing machine.", ["user | owns | sewing machine"]),
        ("I own three bikes and a raft.", ["user | owns | bikes", "user | owns | raft"]),
        ("My mother lives in Graz.", ["user | child_of | mother", "mother | lives_in | Graz"]),
        ("We moved from DeskHub to Larkpost.", ["user | uses | Larkpost", "user | uses | DeskHub | -"]),
        ("We moved from Utrecht to Zutphen.", ["user | lives_in | Zutphen", "user | lives_in | Utrecht | -"]),
        ("I want to learn how to make ravioli.", ["user | wants | learn how to make ravioli"]),
        ("I hate operetta.", ["user | dislikes | operetta"]),
        ("I live in Graz, as I said.", ["user | lives_in | Graz"]),
        ("I live in Graz, which she says is cold.", ["user | lives_in | Graz"]),
        ("I own a boat, I tell you.", ["user | owns | boat"]),
        ("I like tea, people say it is good for you.", ["user | likes | tea"]),
    ],
)
def test_what_is_whole_is_kept(text: str, claims: list[str], claims_of: Callable[..., list[str]]) -> None:
    assert sorted(claims_of(text)) == sorted(claims)


def talk(extractor: RulesExtractor, *said: tuple[str, str]) -> list[tuple[str, str, str | None]]:
    """The ends of what is read in a conversation of Ida, the user, and others, given as (name, words)."""
    turns = tuple(
        Turn(f"m{n}", n, "user", "user" if name == "Ida" else name, text, WRITTEN_AT)
        for n, (name, text) in enumerate(said)
    )
    claims = extractor.extract(Segment("seg", "Ida", "s1", "group", turns)).claims
    return [(claim.subject, claim.relation, claim.object) for claim in claims]


@pytest.mark.parametrize(
    "said",
    [
        (("Jonne", "Ida, my sister, good to hear you!"),),
        (("Ida", "Jonne, that sounds super rewarding!"),),
        (("Jonne", "Ida told me. She values small things and believes in ghosts."),),
        (("Ida", "ok ok mom. go to sleep"),),
        (("Ida", "Off to the match with my brother in law."),),
        (("Ida", "A pal of mine adopted last year, they're happy with their new kid."),),
    ],
)
def test_who_is_spoken_to_is_not_spoken_of(said: tuple[tuple[str, str], ...], extractor: RulesExtractor) -> None:
    assert talk(extractor, *said) == []


def test_an_invented_customer_is_nobody(claims_of: Callable[..., list[str]]) -> None:
    assert claims_of("Our typical customer is Sandra, 45, a nurse in Leeds.") == []


def test_of_a_list_only_what_is_denied_is_denied(claims_of: Callable[..., list[str]]) -> None:
    assert claims_of("I own two rafts and no car.") == ["user | owns | rafts", "user | owns | car | -"]


def test_a_pronoun_means_nobody_of_whom_long_ago_was_spoken(extractor: RulesExtractor) -> None:
    said = (
        ("Jonne", "I'm turning into my aunt Pia."),
        ("Ida", "It happens. To all of us."),
        ("Jonne", "She hates eels."),
    )
    assert talk(extractor, *said) == [("Jonne", "knows", "Pia")]


def test_confidence_falls_where_such_claims_are_seldom_right(read: Read) -> None:
    def confidence(text: str) -> float:
        return read(text).claims[0].confidence

    assert confidence("I love falconry.") == 0.9
    assert confidence("We love falconry.") < 0.9
    assert confidence("We love falconry, archery and fencing.") < confidence("We love falconry.")
    assert confidence("I think I love falconry.") == 0.65
    assert confidence("We moved from Kestrelmail to Larkpost.") < confidence("We moved from Utrecht to Zutphen.")


def test_confidence_is_never_above_the_table(read: Read) -> None:
    said = "I live in Graz. My sister Ida lives in Linz. We adopted a cat. The regatta is on 4 May. I own a raft."
    assert all(0.6 < claim.confidence <= 0.9 for claim in read(said).claims)


@pytest.mark.parametrize(
    "text",
    [
        "Who doesn't love marzipan?",
        "Can't wait for another weekend with the twins!",
        "Nothing I love more than the sea.",
    ],
)
def test_what_may_be_meant_is_not_mocked(text: str, claims_of: Callable[..., list[str]]) -> None:
    assert [claim for claim in claims_of(text) if "dislikes" in claim] == []


def test_a_frog_in_a_throat_is_no_pet(claims_of: Callable[..., list[str]]) -> None:
    assert claims_of("I've got a frog in my throat.") == []


def test_they_are_not_one(extractor: RulesExtractor) -> None:
    said = (("Ida", "My sister Solvei called."), ("Jonne", "Their dog bit the postman."))
    assert talk(extractor, *said) == [("user", "sibling_of", "Solvei")]


def among_people(extractor: RulesExtractor, *said: tuple[str, str]) -> Extraction:
    """What the last of the turns states, said among people."""
    turns = [
        Turn(f"m{n}", n, "user", "user" if who == "user" else who, text, WRITTEN_AT)
        for n, (who, text) in enumerate(said)
    ]
    return extractor.extract(Segment("seg", "u1", "s1", "text", (turns[-1],), tuple(turns[:-1])))


@pytest.mark.parametrize(
    ("said", "n_claims"),
    [
        ("He likes sardines more than people.", 0),
        ("Ask Barnaby. He likes sardines.", 1),
        ("My suitcase is in Trieste.", 0),
        ("Our bakery is in Trieste.", 1),
        ("I love Jasmine already.", 0),
        ("I want Jussara, after my grandma.", 0),
        ("My boss is a welder.", 0),
        ("So I'm the inspector, and he's the driver.", 0),
        ("I'm an inspector.", 1),
        ("The deadline is on Friday.", 0),
        ("The first lesson is on 12 May.", 0),
        ("He's better, thank God. He's 71 and never goes to the doctor.", 0),
        ("Someone bought my painting after you left!", 0),
        ("I start next Wednesday!", 0),
        ("Our wedding is on 5 June.", 1),
        ("I like standing there with a net.", 0),
    ],
)
def test_among_people_less_is_what_it_seems(said: str, n_claims: int) -> None:
    found = among_people(UNGATED, ("Renske", "My uncle Wolter came by with the hen."), ("user", said))
    assert len(found.claims) == n_claims


def test_what_is_said_among_people_is_less_sure(read: Read) -> None:
    said = "I have a loom."
    (alone,) = read(said).claims
    (among,) = among_people(UNGATED, ("Renske", "How are you?"), ("user", said)).claims
    assert among.confidence < 0.7 < alone.confidence


@pytest.mark.parametrize(
    ("said", "n_claims"),
    [
        ("I love falconry.", 1),
        ("He has a barn.", 0),
        ("I joined the rowing club.", 1),
        ("I sold the caravan.", 1),
        ("We settled on the red one.", 0),
        ("I'm going to have to lie down.", 0),
    ],
)
def test_among_people_what_is_seldom_right_is_not_kept(extractor: RulesExtractor, said: str, n_claims: int) -> None:
    before = ("Renske", "Barnaby came by with the hen.")
    assert len(among_people(extractor, before, ("user", said)).claims) == n_claims


def test_what_is_seldom_right_is_named_and_still_denies(read: Read) -> None:
    strict = RulesExtractor(RulesSettings(min_right_among_people=0.95))
    found = among_people(strict, ("Renske", "How are you?"), ("user", "My wife and I broke up on Monday."))
    assert [(claim.relation, claim.object) for claim in found.claims] == []
    assert [issue.reason for issue in found.issues] == [Unkept.SELDOM_RIGHT]
    assert [claim.relation for claim in read("I own a barn.").claims] == ["owns"]


@pytest.mark.parametrize(
    ("said", "acts"),
    [
        ("I'm a trapeze artist. Just kidding.", []),
        ("Forget what I said about the rowing club.", [("relates_to", "retract")]),
    ],
)
def test_among_people_only_what_names_a_thing_or_was_stated_before_is_retracted(
    extractor: RulesExtractor, said: str, acts: list[tuple[str, str]]
) -> None:
    before = (("user", "I joined the rowing club."), ("Renske", "Oh, did you?"))
    assert [(c.relation, c.act) for c in among_people(extractor, *before, ("user", said)).claims] == acts

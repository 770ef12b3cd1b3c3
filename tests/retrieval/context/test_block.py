"""The block: what is in it, in which order, for whom, and what is not in it any more."""

from datetime import UTC, date, datetime, timedelta
from xml.etree import ElementTree

import pytest

from em_pipelines.governance.corrections import Corrections
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.block import ROOT, ContextQuery, context_block
from em_pipelines.retrieval.context.sections import ORDER
from em_pipelines.settings import load_settings


def asked(home: Pipeline, user: str, text: str, today: date, **more) -> ElementTree.Element:
    block = context_block(home, ContextQuery(user, text, today, **more))
    root = ElementTree.fromstring(block.text)
    assert root.tag == ROOT
    assert [part.tag for part in root] == [name for name in ORDER if root.find(name) is not None]
    assert len(block.edge_ids) == len(set(block.edge_ids)) == len(list(root.iter("fact")))
    assert all(a.startswith(b.get("id")) for a, b in zip(block.edge_ids, root.iter("fact"), strict=True))
    assert len(block.turns) == len(list(root.iter("quote")))
    assert block.n_tokens <= home.settings.context.budget_tokens
    return root


def facts(root: ElementTree.Element, section: str = "*") -> list[str]:
    return [fact.text for fact in root.findall(f"{section}//fact")]


def quotes(root: ElementTree.Element) -> list[str]:
    return [quote.text for quote in root.iter("quote")]


def test_what_is_known_of_what_is_named_comes_before_what_is_further_away(home: Pipeline, today: date) -> None:
    root = asked(home, "ada", "Where do Dana and her family live?", today)
    assert "Dana lives in Graz" in facts(root, "facts")
    assert not set(facts(root, "facts")) & set(facts(root, "related"))
    assert all("Dana" in text for text in facts(root, "facts"))
    assert facts(root, "related") == ["user lives in Bremen"], "of what is further away only what answers"


def test_a_name_is_heard_whatever_its_case_and_accents_and_within_words_it_is_not(
    bare: Pipeline, fill, today: date
) -> None:
    fill(bare, "ada", [{"subject": "Zoë", "object": "tea"}, {"subject": "Zoë Ødegård", "object": "kale"},
                       {"subject": "user", "object": "rain"}])  # fmt: skip
    assert facts(asked(bare, "ada", "what does ZOE drink", today), "facts") == ["Zoë likes tea"]
    assert facts(asked(bare, "ada", "and zoe odegard?", today), "facts") == ["Zoë Ødegård likes kale"]
    assert facts(asked(bare, "ada", "teapots and zoetropes", today), "facts") == []


def test_the_thread_says_who_is_meant_and_is_not_quoted_back(home: Pipeline, today: date) -> None:
    root = asked(home, "ada", "Where does she live?", today, thread=("Dana works at Weserlink.", "Does she?"))
    assert "Dana lives in Graz" in facts(root, "facts")
    assert "Dana works at Weserlink." not in quotes(root)


def test_what_was_said_is_quoted_with_speaker_and_day(home: Pipeline, today: date) -> None:
    root = asked(home, "ada", "How was the opera?", today)
    (quote,) = [q for q in root.iter("quote") if "opera" in q.text]
    assert quote.attrib == {"by": "user", "on": "2026-03-09"}


def test_the_remembered_person_is_one_whatever_the_log_calls_them(bare: Pipeline, fill, today: date) -> None:
    said = [
        {"text": "The ferry was late.", "subject": "user"},
        {"text": "The ferry to Vaxholm, again.", "speaker": "Nora", "subject": "user"},
        {"text": "No ferry today, says the ferry company.", "speaker": "Piet", "subject": "Piet"},
        {"text": "The ferry runs at nine.", "speaker": "assistant", "role": "assistant"},
    ]
    fill(bare, "ada", [{"subject": "user", "object": "rain"}], said)
    root = asked(bare, "ada", "When does the ferry run?", today)
    assert {q.text.split()[0]: q.get("by") for q in root.iter("quote") if not q.text.startswith("The")} == {
        "No": "Piet"
    }
    assert {q.get("by") for q in root.iter("quote")} == {"user", "user (Nora)", "Piet", "assistant"}


def test_what_was_pasted_is_not_told_as_their_own_words(bare: Pipeline, fill, today: date) -> None:
    said = [
        {
            "text": "Shorten this for me, please:\n> My chalet in Zermatt has a sauna.\n> Yours, Bruno",
            "subject": "user",
        },
        {"text": "> The chalet is let until May.", "subject": "user"},
        {"text": "I have booked the chalet.\n> a line of a mail", "subject": "user"},
    ]
    fill(bare, "ada", [{"subject": "user", "object": "rain"}], said)
    root = asked(bare, "ada", "What about the chalet in Zermatt?", today)
    told = {q.text: (q.get("by"), q.get("pasted_by")) for q in root.iter("quote")}
    assert told == {
        "My chalet in Zermatt has a sauna. Yours, Bruno": (None, "user"),
        "The chalet is let until May.": (None, "user"),
        "I have booked the chalet.": ("user", None),
    }


def test_dates_ahead_are_reminders(home: Pipeline, today: date) -> None:
    root = asked(home, "ada", "What should I cook?", today)
    assert [fact.get("on") for fact in root.findall("reminders/fact")] == ["2026-03-25", "2026-03-30"]
    assert root.find("reminders/fact").text == "dentist appointment scheduled for 2026-03-25"
    assert asked(home, "ada", "What should I cook?", date(2026, 4, 20)).find("reminders") is None


def test_breadth_comes_before_depth_and_nobody_has_more_than_five(bare: Pipeline, fill, today: date) -> None:
    fill(bare, "ada", [{"subject": who, "object": f"{who} thing {n}"} for who in ("Ida", "Piet") for n in range(9)])
    told = facts(asked(bare, "ada", "Ida and Piet", today), "facts")
    owners = [text.split()[0] for text in told]
    assert owners == ["Ida", "Piet"] * 5
    few = facts(asked(bare, "ada", "Ida and Piet", today, budget_tokens=120), "facts")
    assert sorted(text.split()[0] for text in few) == ["Ida", "Piet"]


def test_over_budget_the_least_relevant_entities_go_whole(bare: Pipeline, fill, today: date) -> None:
    names = [f"Person{chr(65 + n)}" for n in range(20)]
    fill(
        bare,
        "ada",
        [{"subject": who, "object": f"thing {n}", "confidence": 0.5 + n / 50} for n, who in enumerate(names)],
    )
    told = [text.split()[0] for text in facts(asked(bare, "ada", " ".join(names), today, budget_tokens=200), "facts")]
    assert told == names[::-1][: len(told)]
    assert 0 < len(told) < len(names)


def test_facts_that_cannot_both_hold_come_together(bare: Pipeline, fill, today: date) -> None:
    ahead = {"relation": "scheduled_for", "temporal_type": "plan", "subject": "recital"}
    later = {"last_reinforced": datetime(2026, 3, 5, tzinfo=UTC)}
    fill(
        bare, "ada",
        [
            {"subject": "Dana", "relation": "lives_in", "object": "Graz", "status": "contradicted"},
            {"subject": "Dana", "relation": "lives_in", "object": "Wien", "status": "contradicted", **later},
            {"subject": "Dana", "object": "Graz"},
            {**ahead, "object": "2026-03-25"}, {**ahead, "object": "2026-03-26", **later},
        ],
    )  # fmt: skip
    root = asked(bare, "ada", "Dana", today)
    (pair,) = root.findall("facts/conflict")
    assert [fact.text for fact in pair] == ["Dana lives in Wien", "Dana lives in Graz"]
    assert "Dana likes Graz" in [fact.text for fact in root.findall("facts/fact")]
    assert len(root.find("reminders/conflict")) == 2


def test_a_group_hears_nothing_personal(bare: Pipeline, fill, home: Pipeline, today: date) -> None:
    levels = [
        {"subject": "Dana", "object": f"thing {level}", "privacy_level": level} for level in ("L0", "L1", "L2", "L3")
    ]
    fill(bare, "ada", levels, [{"text": "Dana told me her salary"}])
    root = asked(bare, "ada", "Dana", today, is_group=True)
    assert set(facts(root)) == {"Dana likes thing L0", "Dana likes thing L1"}
    assert quotes(root) == []
    assert root.get("audience") == "group"
    assert len(asked(home, "ada", "Dana", today, is_group=True)) == 0


def test_what_is_privileged_unverified_or_unsure_is_never_told(bare: Pipeline, fill, today: date) -> None:
    kept = [
        {"subject": "user", "object": "admin rights", "privacy_level": "L4"},
        {"subject": "user", "object": "root access", "requires_verification": True},
        {"subject": "user", "object": "maybe", "confidence": 0.39},
        {"subject": "user", "object": "gone", "status": "superseded"},
    ]
    fill(bare, "ada", kept)
    for is_group in (False, True):
        assert len(asked(bare, "ada", "What about me?", today, is_group=is_group)) == 0


def test_corrections_and_requests_to_forget_show_at_once(home_path, tell, today: date) -> None:
    home = Pipeline(load_settings(home=home_path))
    tell(home, "ada", "My sister Dana lives in Graz.", "Ossian lives in Turku.", "I like tea.")
    assert "Dana lives in Graz" in facts(asked(home, "ada", "Dana", today))
    mine = Corrections(home, "ada")
    wanted = next(fact for fact in mine.known() if fact["object"] == "Graz")
    mine.correct(wanted, "Linz")
    now = datetime.now(UTC).date()
    assert "Dana lives in Linz" in facts(asked(home, "ada", "Dana", now))
    assert "Dana lives in Graz" not in facts(asked(home, "ada", "Dana", now))
    assert "Ossian" in str([*facts(asked(home, "ada", "Ossian", now)), *quotes(asked(home, "ada", "Ossian", now))])
    home.book.put(home.book.request(Scope(ScopeKind.ENTITY, "ada", "Ossian"), datetime.now(UTC), "ada"))
    assert "Ossian" not in context_block(home, ContextQuery("ada", "Where is Ossian?", now)).text
    home.book.put(home.book.request(Scope(ScopeKind.USER, "ada"), datetime.now(UTC), "ada"))
    assert len(asked(home, "ada", "Where does Dana live?", now)) == 0


def test_a_day_that_is_asked_for_knows_nothing_of_later_ones(home: Pipeline, today: date) -> None:
    root = asked(home, "ada", "Where do I live? How was the opera?", today, as_of=date(2026, 3, 5))
    assert "user lives in Bremen" not in facts(root)
    assert not [text for text in quotes(root) if "opera" in text]
    assert root.get("as_of") == "2026-03-05"


def test_the_same_question_gives_the_same_bytes(home: Pipeline, today: date) -> None:
    query = ContextQuery("ada", "What is Dana up to?", today)
    fresh = Pipeline(load_settings(home=home.path))
    assert context_block(home, query) == context_block(home, query) == context_block(fresh, query)


@pytest.mark.parametrize("budget", [40, 60, 100, 300, 799])
def test_a_smaller_budget_is_kept(home: Pipeline, today: date, budget: int) -> None:
    block = context_block(home, ContextQuery("ada", "What is Dana up to?", today, budget_tokens=budget))
    assert block.n_tokens <= budget
    ElementTree.fromstring(block.text)


def test_what_lies_long_ago_matters_less(bare: Pipeline, fill, today: date) -> None:
    said = [datetime(2026, 3, 20, tzinfo=UTC) - timedelta(days=days) for days in (100, 3, 45)]
    fill(bare, "ada", [{"subject": "Dana", "object": f"thing {n}", "last_reinforced": at, "temporal_type": "attribute"}
                       for n, at in enumerate(said)])  # fmt: skip
    told = facts(asked(bare, "ada", "Dana", today), "facts")
    assert told == ["Dana likes thing 1", "Dana likes thing 2", "Dana likes thing 0"]

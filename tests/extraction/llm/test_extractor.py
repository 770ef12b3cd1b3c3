"""One question a segment, one smaller one for what is missing; whoever cannot be read is pending or a dead letter."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from em_pipelines.extraction.llm.extractor import FOLLOW_UP_TASK, TASK, LLMExtractor
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.ladder_state import LadderStore
from em_pipelines.llm.settings import BudgetSettings
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import DEAD_LETTER, PENDING, Extraction, Outcome, Segment, Turn
from em_pipelines.settings import load_settings
from resources.models import answers_path
from tests.model_server import oracle
from tests.model_server.script import Call, Step, answer, by_attempt, failed, rate_limited, truncated
from tests.model_server.server import ModelServer

SAID = "I live in Tartu. I think I love rowing."
DEEP = "[" * 50_000
HALF_A_PAIR = '{"entities":[{"t":0,"name":"\ud83d","type":"place"}],"relations":[],"tone":[],"times":[]}'


def turn(number: int, text: str, *, role: str = "user", subject: str | None = "user") -> Turn:
    return Turn(f"m{number}", number, role, subject, text, datetime(2026, 3, 5, 18, 20, tzinfo=UTC))


def segment(*texts: str, name: str = "seg", context: tuple[str, ...] = ()) -> Segment:
    turns = tuple(turn(10 + n, text) for n, text in enumerate(texts or (SAID,)))
    earlier = tuple(turn(n, text) for n, text in enumerate(context))
    return Segment(name, "u", "s", "text", turns, earlier)


def read_one(extractor: LLMExtractor, read: Segment | None = None) -> Extraction:
    (found,) = extractor.extract_all([read or segment()])
    return found


def stated(found: Extraction) -> set[tuple[str, str, str]]:
    return {(c.subject, c.relation, str(c.object or c.value)) for c in found.claims}


def sections_of(call: Call) -> list[str]:
    assert call.schema is not None
    return list(call.schema["schema"]["properties"])


def without(*names: str) -> Callable[[Call], Step]:
    """The oracle, which leaves these sections out of the first answer to each prompt that asks for all."""

    def script(call: Call) -> Step:
        step = oracle.reading(call)
        if len(sections_of(call)) < 4:
            return step
        document = json.loads(step.text(call))
        return answer({name: items for name, items in document.items() if name not in names})

    return script


def test_a_segment_is_one_question_and_a_second_reading_is_none(llm: Any) -> None:
    extractor, server = llm(oracle.reading)
    first = read_one(extractor)
    assert stated(first) >= {("user", "lives_in", "Tartu"), ("user", "likes", "rowing")}
    assert (first.outcome, len(first.calls), server.n_calls) == (Outcome.COMPLETE, 1, 1)
    second = read_one(extractor)
    assert (second.claims, second.mentions, server.n_calls) == (first.claims, first.mentions, 1)


def test_what_a_model_thought_before_it_answered_is_not_read(llm: Any) -> None:
    draft = '{"relations": [{"t":0,"subject":"user","relation":"lives_in","object":"Reval"'
    extractor, _ = llm(lambda call: answer(f"<think>Perhaps {draft}</think>\n{oracle.reading(call).text(call)}"))
    assert stated(read_one(extractor)) == {("user", "lives_in", "Tartu"), ("user", "likes", "rowing")}


def test_what_the_gate_holds_back_is_never_asked_about(llm: Any) -> None:
    extractor, server = llm(oracle.reading)
    found = read_one(extractor, segment("thanks!", "ok", "sounds good, bye"))
    assert server.n_calls == 0
    assert [(issue.issue, issue.reason) for issue in found.issues] == [("skipped", "no_information")] * 3


@pytest.mark.parametrize("lost", [("times",), ("tone", "times"), ("relations",), ("entities",), ("entities", "times")])
def test_what_is_missing_is_asked_for_alone_and_smaller_and_gives_what_the_whole_would_have(
    llm: Any, tmp_path: Path, lost: tuple[str, ...]
) -> None:
    whole, _ = llm(oracle.reading)
    wanted = read_one(whole)
    answers_path(tmp_path / "home").unlink()
    extractor, server = llm(without(*lost))
    found = read_one(extractor)
    assert (found.outcome, found.claims, found.mentions) == (Outcome.COMPLETE, wanted.claims, wanted.mentions)
    first, again = server.calls
    asked = [*lost, "tone", "times"] if "relations" in lost else list(lost)
    assert sections_of(again) == asked
    assert len(json.dumps(again.schema)) < len(json.dumps(first.schema))
    assert again.messages[0] == first.messages[0], "the prefix that the provider has in its cache stays"
    assert again.n_prompt_characters < first.n_prompt_characters + 100
    assert {call["task"] for call in found.calls} == {TASK, FOLLOW_UP_TASK}


def test_an_answer_cut_in_the_middle_is_completed_by_one_follow_up(llm: Any) -> None:
    extractor, server = llm(by_attempt(truncated(lambda call: oracle.reading(call).text(call), 0.6)))
    server.script = lambda call: (
        oracle.reading(call) if len(sections_of(call)) < 4 else truncated(oracle.reading(call).text(call), 0.6)
    )
    found = read_one(extractor)
    assert found.outcome is Outcome.COMPLETE
    assert ("user", "lives_in", "Tartu") in stated(found)
    assert server.n_calls == 2


def test_a_follow_up_that_never_comes_is_a_dead_letter_and_what_was_read_is_kept(llm: Any) -> None:
    def script(call: Call) -> Step:
        return without("tone", "times")(call) if len(sections_of(call)) == 4 else answer("no JSON today")

    extractor, server = llm(script)
    found = read_one(extractor)
    assert (found.outcome, found.reason) == (Outcome.FAILED, "unusable_answer")
    assert ("user", "lives_in", "Tartu") in stated(found)
    assert {claim.confidence for claim in found.claims} == {0.65}, "of a tone that is not known the worst is assumed"
    assert [(i.turn_number, i.issue) for i in found.issues] == [(10, DEAD_LETTER)]
    n_asked = server.n_calls
    again = read_one(extractor)
    assert (again.outcome, again.claims, server.n_calls) == (Outcome.FAILED, found.claims, n_asked)


def test_the_ladder_asks_the_same_twice_then_with_less_context_then_with_none(llm: Any, tmp_path: Path) -> None:
    extractor, server = llm(oracle.reading)
    assert read_one(extractor, segment(name="other")).outcome is Outcome.COMPLETE
    server.calls.clear()
    server.script = lambda call: answer("I'd rather not.")
    context = ("We met in Narva.", "It was cold.", "Then it thawed.", "Finally!")
    found = read_one(extractor, segment(context=context))
    assert (found.outcome, found.claims) == (Outcome.FAILED, [])
    shown = [[said in call.prompt for said in context] for call in server.calls]
    assert shown == [[True] * 4, [True] * 4, [False, False, True, True], [False] * 4]
    with AnswerStore(answers_path(tmp_path / "home")) as store:
        assert LadderStore(store.database).reset("u", "seg") == 1
    server.script = oracle.reading
    assert read_one(extractor, segment(context=context)).outcome is Outcome.COMPLETE


def test_what_a_model_that_nobody_ever_understood_was_asked_is_pending_with_the_reason(llm: Any) -> None:
    extractor, server = llm([answer("I'd rather not.")])
    segments = [segment(f"I live in Town{n}.", name=f"seg{n}") for n in range(9)]
    readings = list(extractor.extract_all(segments))
    assert {reading.outcome for reading in readings} == {Outcome.PENDING}
    asked = {n for n in range(9) for call in server.calls if f"Town{n}." in call.prompt}
    assert asked == {0, 4, 8}, "some are tried, far apart, and no more"
    assert {issue.detail for reading in readings for issue in reading.issues} == {
        "reading an answer: entities, relations, tone, times missing or not in the form asked for; it is asked again; "
        "if this goes on, try another model"
    }
    server.script = oracle.reading
    assert {reading.outcome for reading in extractor.extract_all(segments)} == {Outcome.COMPLETE}


def test_a_wrong_name_of_a_model_is_asked_about_once_and_told_in_the_servers_words(llm: Any) -> None:
    for step, n_calls in ((failed(404, "The model `small` does not exist.", "model_not_found"), 3), (failed(401), 1)):
        extractor, server = llm([step])
        readings = list(extractor.extract_all([segment(f"I live in Town{n}.", name=f"seg{n}") for n in range(9)]))
        assert {reading.outcome for reading in readings} == {Outcome.PENDING}
        assert server.n_calls == n_calls
        assert step.message in readings[-1].issues[0].detail


TURNS = tuple(f"I live in Town{n}." for n in range(8))


def towns(found: Extraction) -> set[str]:
    return {str(claim.object) for claim in found.claims if claim.relation == "lives_in"}


def n_asked(call: Call) -> int:
    return sum(line[:1].isdigit() for line in call.messages[-1]["content"].splitlines())


def test_an_answer_that_is_cut_off_is_asked_for_in_halves(llm: Any) -> None:
    def script(call: Call) -> Step:
        return oracle.reading(call) if n_asked(call) <= 2 else truncated(oracle.reading(call).text(call))

    extractor, server = llm(script)
    found = read_one(extractor, segment(*TURNS))
    assert (found.outcome, towns(found)) == (Outcome.COMPLETE, {f"Town{n}" for n in range(8)})
    assert [n_asked(call) for call in server.calls] == [8, 4, 2, 2, 4, 2, 2]
    assert towns(read_one(extractor, segment(*TURNS))) == towns(found)
    assert server.n_calls == 7, "a second reading asks nothing"


@pytest.mark.parametrize(
    "declined",
    [
        answer("", finish_reason="content_filter"),
        failed(400, "Filtered for the prompt, see linkid=2198766", "content_filter"),
    ],
    ids=["answer", "prompt"],
)
def test_a_turn_that_a_filter_declines_costs_no_other_turn(llm: Any, declined: Step) -> None:
    def script(call: Call) -> Step:
        is_declined = any(line.endswith("I live in Town5.") for line in call.messages[-1]["content"].splitlines())
        return declined if is_declined else oracle.reading(call)

    extractor, server = llm(script)
    found = read_one(extractor, segment(*TURNS))
    assert towns(found) == {f"Town{n}" for n in range(8)} - {"Town5"}
    dead = [issue for issue in found.issues if issue.issue == DEAD_LETTER]
    assert [(issue.turn_number, issue.reason) for issue in dead] == [(15, "answer_refused")]
    assert "declined" in dead[0].detail
    assert server.n_calls <= 12
    assert max(server.duplicates.values(), default=1) == 1, "no declined question is asked again unchanged"


def test_a_context_that_is_too_short_is_asked_about_less(llm: Any) -> None:
    def script(call: Call) -> Step:
        n_tokens = call.n_prompt_characters // 4
        wording = f"This model's maximum context length is 4096 tokens, and the request has {n_tokens + 256}."
        return failed(400, wording) if n_tokens + call.body["max_tokens"] > 4096 else oracle.reading(call)

    said = [f"I live in Town{n}." + " It is a quiet place, as such places are." * 12 for n in range(8)]
    extractor, server = llm(script)
    found = read_one(extractor, segment(*said))
    assert (found.outcome, towns(found)) == (Outcome.COMPLETE, {f"Town{n}" for n in range(8)})
    n_refused = sum(call.n_prompt_characters // 4 + call.body["max_tokens"] > 4096 for call in server.calls)
    assert n_refused == 1, "it is learned once"


@pytest.mark.parametrize(
    "text",
    [
        "Draft: {draft}\nNo, I do not see that. The answer: {right}",
        "{right}\nHad nothing been said I would have written {empty}",
        "{right}",
    ],
)
def test_of_several_documents_the_last_that_says_something_is_read(llm: Any, text: str) -> None:
    def script(call: Call) -> Step:
        right = oracle.reading(call).text(call)
        empty = json.dumps({name: [] for name in sections_of(call)})
        return answer(text.format(right=right, empty=empty, draft=right.replace("Tartu", "Narva")))

    extractor, _ = llm(script)
    assert towns(read_one(extractor)) == {"Tartu"}


@pytest.mark.parametrize("step", [failed(), failed(401, code="invalid_api_key"), rate_limited(3600)])
def test_who_cannot_be_asked_now_is_pending_and_nothing_of_it_is_kept(llm: Any, step: Step) -> None:
    extractor, server = llm([step])
    found = read_one(extractor, segment(SAID, "thanks!"))
    assert (found.outcome, found.claims, found.mentions) == (Outcome.PENDING, [], [])
    assert [(i.turn_number, i.issue) for i in found.issues] == [(10, PENDING), (11, "skipped")]
    assert found.reason
    server.script = oracle.reading
    extractor, _ = llm(oracle.reading)
    assert read_one(extractor).outcome is Outcome.COMPLETE


def test_half_a_reading_is_none_while_the_other_half_is_pending(llm: Any) -> None:
    extractor, server = llm(lambda call: without("times")(call) if len(sections_of(call)) == 4 else failed())
    found = read_one(extractor)
    assert (found.outcome, found.claims, found.mentions) == (Outcome.PENDING, [], [])
    server.script = without("times")
    extractor, again = llm(without("times"))
    assert read_one(extractor).outcome is Outcome.COMPLETE
    assert [len(sections_of(call)) for call in again.calls] == [1], "the half that was answered is not asked again"


def test_a_spent_budget_defers(llm: Any) -> None:
    extractor, server = llm(oracle.reading, budget=BudgetSettings(max_calls_a_night=1), max_concurrent_calls=1)
    readings = list(extractor.extract_all([segment(name="a"), segment("I own a canoe.", name="b")]))
    assert [r.outcome for r in readings] == [Outcome.COMPLETE, Outcome.PENDING]
    assert (readings[1].reason, server.n_calls) == ("budget_spent", 1)


def test_what_was_prepared_is_not_asked_again_and_is_given_once(llm: Any) -> None:
    extractor, server = llm(oracle.reading)
    segments = [segment(f"I own {n} canoes.", name=f"seg{n}") for n in range(2, 7)]
    extractor.prepare(segments)
    assert server.n_calls == 5
    answers = list(extractor.extract_all(segments[1:3]))
    assert [r.mentions[0].name for r in answers] == [r.mentions[0].name for r in extractor.extract_all(segments[1:3])]
    assert len(list(extractor.extract_all(segments))) == 5
    assert server.n_calls == 5


def test_segments_of_one_name_keep_their_own_readings(llm: Any) -> None:
    extractor, _ = llm(oracle.reading)
    pair = [segment("I own a canoe."), segment("I live in Tartu.")]
    for _ in range(2):
        assert [stated(r) for r in extractor.extract_all(pair)] == [{("user", "owns", "canoe")},
                                                                   {("user", "lives_in", "Tartu")}]  # fmt: skip
        extractor.prepare(pair)


def test_equal_questions_of_two_users_are_two_questions(llm: Any) -> None:
    extractor, server = llm(oracle.reading)
    for user in ("ada", "bo"):
        read_one(extractor, replace(segment(), user_id=user))
    assert server.n_calls == 2


@pytest.mark.parametrize("text", [DEEP, HALF_A_PAIR, "", "\x00", "null", "9" * 5000])
def test_no_answer_breaks_the_reading_of_the_others(llm: Any, text: str) -> None:
    extractor, _ = llm(lambda call: answer(text) if "canoe" in call.prompt else oracle.reading(call))
    found = list(extractor.extract_all([segment("I own a canoe.", name="a"), segment(name="b")]))
    assert ("user", "lives_in", "Tartu") in stated(found[1])
    assert found[1].outcome is Outcome.COMPLETE
    for reading in found:
        json.dumps([c.object for c in reading.claims], ensure_ascii=False).encode()


def test_health_is_asked_for_where_the_settings_of_the_home_keep_it(llm: Any, tmp_path: Path) -> None:
    extractor, server = llm(oracle.reading, is_health_asked=True)
    plain, other = llm(oracle.reading)
    read_one(extractor)
    read_one(plain)
    assert "allergic_to" in json.dumps(server.calls[0].schema)
    assert "allergic_to" in server.calls[0].messages[0]["content"]
    assert "allergic_to" not in json.dumps(other.calls[0].body)
    assert extractor.version != plain.version


@pytest.mark.parametrize("is_enabled", [True, False])
def test_a_home_asks_for_health_where_safety_keeps_it(tmp_path: Path, is_enabled: bool) -> None:
    settings = load_settings(home=tmp_path / "home", extractor="llm", safety={"is_health_enabled": is_enabled})
    with ModelServer(oracle.reading) as server:
        from resources.model_access import asking_of

        asked = settings.model_copy(update={"llm": settings.llm.model_copy(update={"base_url": server.base_url})})
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("EM_LLM_API_KEY", "sk-test-0000000000000000")
            found = list(Pipeline(asked, asking_of).extractor.extract_all([segment()]))
        assert found[0].outcome is Outcome.COMPLETE
        assert ("allergic_to" in json.dumps(server.calls[0].body)) is is_enabled


INVENTED = [{"t": 0, "name": name, "type": "person"} for name in ("Orsolya", "Bendegúz", "Ludmilla")]


def inventing(call: Call) -> Step:
    """The oracle, which lists three people whom nobody has named, and no place."""
    document = json.loads(oracle.reading(call).text(call))
    return answer({**document, "entities": INVENTED, "relations": [], "tone": [], "times": []})


def outcomes(found: Extraction) -> list[str]:
    return sorted(call["outcome"] for call in found.calls)


def test_an_answer_that_is_mostly_made_up_is_asked_for_once_more_by_the_next_run(llm: Any) -> None:
    extractor, server = llm(inventing)
    assert (outcomes(read_one(extractor)), server.n_calls) == (["refused"], 1), "not in the run that found it"
    server.script = oracle.reading
    again = read_one(extractor)
    assert ("user", "lives_in", "Tartu") in stated(again)
    assert (outcomes(again), server.n_calls) == (["ok", "refused"], 2)
    assert (stated(read_one(extractor)), server.n_calls) == (stated(again), 2)


def test_a_model_that_makes_the_same_up_again_is_believed_to_have_no_other_answer(llm: Any) -> None:
    extractor, server = llm(inventing)
    for n_calls in (1, 2, 2, 2):
        found = read_one(extractor)
        assert (found.outcome, server.n_calls) == (Outcome.COMPLETE, n_calls)
    assert outcomes(found)[-2:] == ["refused", "refused"]


@pytest.mark.parametrize("n_invented", [2, 3])
def test_an_answer_of_which_half_is_sound_is_kept(llm: Any, n_invented: int) -> None:
    """Two refused items are too few to say anything of an answer; three of six are not more than half."""

    def script(call: Call) -> Step:
        document = json.loads(oracle.reading(call).text(call))
        sound = document["entities"] if n_invented == 3 else []
        relations = document if n_invented == 3 else {"relations": [], "tone": [], "times": []}
        return answer({**document, **relations, "entities": [*sound, *INVENTED[:n_invented]]})

    extractor, server = llm(script)
    for _ in range(2):
        assert "refused" not in outcomes(read_one(extractor))
    assert server.n_calls == 1


def test_of_an_answer_with_a_follow_up_both_are_asked_for_again(llm: Any) -> None:
    def script(call: Call) -> Step:
        if len(sections_of(call)) < 4:
            return oracle.reading(call)
        return answer({"entities": INVENTED, "relations": []})

    extractor, server = llm(script)
    assert outcomes(read_one(extractor)) == ["refused", "refused"]
    read_one(extractor)
    assert server.n_calls == 4
    read_one(extractor)
    assert server.n_calls == 4

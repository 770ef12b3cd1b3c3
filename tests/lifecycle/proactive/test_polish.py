"""Questions in a small model's words: the real client, gateway and store over a scripted server."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.errors import UnusableAnswerError
from em_pipelines.governance.erasure.forget import catch_up, forget
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.landing.land import land
from em_pipelines.lifecycle.proactive.gaps import load_gaps
from em_pipelines.lifecycle.proactive.polish import is_same_question, read
from em_pipelines.llm.answers import AnswerStore
from em_pipelines.llm.clock import ManualClock
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.outgoing import PROBES
from em_pipelines.settings import load_settings
from resources.model_access import asking_of
from tests.model_server.script import Call, Script, answer, failed
from tests.model_server.server import ModelServer

NOON = datetime(2026, 6, 2, 12, tzinfo=UTC)
ROW = {
    "text": "When is Dana's birthday? I can then remind you in time for a present.",
    "benefit": "so that you can be reminded in time",
}
World = Callable[..., tuple[Callable[[], Pipeline], ModelServer]]


def turned(call: Call) -> Any:
    """The gain first, and then the question; what has no gain behind it stays as it is."""
    told = json.loads(call.messages[-1]["content"])["question"]
    question, _, gain = told.partition("? ")
    return answer({"question": f"{gain} {question}?" if gain else told})


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """script → what opens a home in which somebody has spoken, anew each time, and its model server."""
    monkeypatch.setenv("EM_LLM_API_KEY", "sk-test-0000000000000000")
    with ExitStack() as stack:

        def make(script: Script | list[Any], **proactive: Any) -> tuple[Callable[[], Pipeline], ModelServer]:
            server = stack.enter_context(ModelServer(script))
            clock = ManualClock(NOON)

            def opened() -> Pipeline:
                chosen = load_settings(
                    home=tmp_path / "home",
                    proactive={"is_polish_enabled": True, **proactive},
                    llm={"base_url": server.base_url, "small": "small"},
                )
                return Pipeline(chosen, lambda settings: asking_of(settings, clock))

            said = ("I live in Graz.", "I have a dog called Bosse.", "My sister Dana lives in Vienna.")
            records = [
                {"user_id": "ines", "session_id": "s", "turn_number": n, "role": "user", "content": text,
                 "timestamp": f"2026-06-01T10:0{n}:00Z"} for n, text in enumerate(said)
            ]  # fmt: skip
            path = tmp_path / "log.jsonl"
            path.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))
            home = opened()
            land([path], home.store.log, now=NOON, settings=home.settings.landing)
            catch_up(home)
            home.refresh_proactive()
            return opened, server

        yield make


def texts(home: Pipeline) -> dict[str, str]:
    (day,) = home.store.lake.days(PROBES)
    return {row["probe_id"]: row["text"] for row in home.store.lake.read(PROBES, day).to_pylist()}


def test_a_model_words_questions_anew_and_the_table_is_made_of_its_answers(world: World) -> None:
    opened, server = world(turned)
    before = texts(opened())
    asked = opened().polish_probes()
    after = texts(opened())

    changed = {id_: text for id_, text in after.items() if text != before[id_]}
    assert changed
    assert asked.n_worded == len(before)
    assert all(is_same_question(text, before[id_]) for id_, text in changed.items())
    n_calls = len(server.calls)
    assert opened().polish_probes().n_waiting == 0
    assert len(server.calls) == n_calls, "what was answered is asked no more"
    home = opened()
    assert home.is_proactive_current
    home.refresh_proactive(is_forced=True)
    assert texts(home) == after


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("I could remind you in time. When is Rui's birthday?", "another_question"),
        ("When is your own birthday? I can then remind you in time.", "another_question"),
        ("Where does Dana live? I can then remind you in time.", "another_question"),
        ("When is Dana's birthday? My records have no date for it.", "words"),
        ("Since she was ill, a present would be kind. When is Dana's birthday?", "words"),
        ("Ignore what you were told. When is Dana's birthday?", "words"),
        ("I need to know this. When is Dana's birthday?", "objected"),
        ("When is Dana's birthday? And where do you live?", "another_question"),
        ("Tell me about Dana.", "another_question"),
        ("When is\nDana's birthday?", "form"),
        ("", "another_question"),
    ],
)  # fmt: skip
def test_what_is_another_question_or_says_more_is_kept_out(said: str, reason: str) -> None:
    with pytest.raises(UnusableAnswerError, match=rf"\({reason}\)"):
        read(json.dumps({"question": said}), "stop", ROW)


@pytest.mark.parametrize("text", ["When is Dana's birthday?", "{}", '{"question": 3}', '["q"]', "[" * 100_000])
def test_what_is_no_answer_of_its_form_is_kept_out(text: str) -> None:
    with pytest.raises(UnusableAnswerError, match=r"\(form\)"):
        read(text, "stop", ROW)


def test_an_answer_that_was_cut_short_is_kept_out() -> None:
    whole = json.dumps({"question": "I could remind you in time. When is Dana's birthday?"})
    assert read(whole, "stop", ROW).startswith("I could")
    with pytest.raises(UnusableAnswerError):
        read(whole, "length", ROW)


def test_every_wording_could_stand_for_every_other_of_its_gap_of_the_same_form() -> None:
    for name, gap in load_gaps().items():
        thing = "your dog" if name in {"pet_name", "kin_name"} else "Fjordbank"
        slots = {"object": thing, "other": "Norrvik", "whose": f"{thing}'s"}
        for wording in gap.wordings:
            text = wording.format(**slots)
            assert read(json.dumps({"question": text}), "stop", {"text": text, "benefit": gap.benefit}) == text, name


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(
            lambda _: answer({"question": "Your memory file says you live in Graz. Is that so?"}),
            marks=pytest.mark.slow,
        ),
        pytest.param(lambda _: answer("I would rather write an essay about dogs. " * 40), marks=pytest.mark.slow),
        lambda _: failed(500),
    ],
    ids=["internals", "an essay", "down"],
)
def test_templates_stand_where_a_model_answers_badly_or_not_at_all(world: World, script: Script) -> None:
    opened, _ = world(script)
    before = texts(opened())
    assert opened().polish_probes().n_worded == 0
    assert texts(opened()) == before


@pytest.mark.slow
def test_a_night_asks_no_more_than_its_budget(world: World) -> None:
    opened, server = world(turned, polish_max_calls=2)
    asked = opened().polish_probes()
    assert len(server.calls) == 2
    assert asked.n_waiting > 0
    assert "proactive.polish_max_calls" in (asked.note or "")


@pytest.mark.slow
def test_nobody_is_asked_unless_it_is_wanted(world: World) -> None:
    opened, server = world(turned, is_polish_enabled=False)
    assert opened().polish_probes().n_calls == 0
    assert server.calls == []


@pytest.mark.slow
def test_what_a_model_is_shown_is_the_question_alone_and_goes_with_its_user(world: World) -> None:
    opened, server = world(turned)
    opened().polish_probes()
    assert {tuple(json.loads(call.messages[-1]["content"])) for call in server.calls} == {("question", "gains")}
    assert not server.has_seen("ines")
    assert not server.has_seen("My sister Dana lives")
    home = opened()
    forget(home, Scope(ScopeKind.USER, "ines", ""), now=NOON)
    with AnswerStore(home.answers) as store:
        assert store.database.rows("SELECT key FROM answers WHERE task = 'polish'") == []

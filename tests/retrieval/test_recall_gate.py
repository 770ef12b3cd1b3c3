"""Whether to look into memory, and how often that was so."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from em_pipelines.interfaces.cli.app import app
from em_pipelines.interfaces.memory import Memory
from em_pipelines.language.values import read_yaml
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import recall_gate
from em_pipelines.retrieval.held import held
from em_pipelines.retrieval.recall_gate import Held, Reason, Situation, recall, refers_back
from em_pipelines.retrieval.recalls import WANTED_RATE
from em_pipelines.schema.table import rows_of
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.settings import load_settings

KINDS = read_yaml(Path(recall_gate.__file__).with_name("recall.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (Situation("Do it the same way as last time."), Reason.LAST_TIME),
        (Situation("What did we decide about the boat?"), Reason.LAST_TIME),
        (Situation("Do you remember Dana's address?", confidence=1.0), Reason.LAST_TIME),
        (Situation("Run the tests.", is_error_retry=True), Reason.ERROR_RETRY),
        (Situation("Run the tests.", confidence=0.84), Reason.UNSURE),
        (Situation("Run the tests.", confidence=0.85), Reason.NOT_NEEDED),
        (Situation("Which port?", rules_say="80", model_says="443"), Reason.DISSONANCE),
        (Situation("Which port?", rules_say="Port 80 ", model_says="port  80"), Reason.NOT_NEEDED),
        (Situation("Which port?", rules_say="80"), Reason.NOT_NEEDED),
        (Situation("The last bus leaves at nine, what time is it?"), Reason.NOT_NEEDED),
        (Situation(""), Reason.NOT_NEEDED),
    ],
)
def test_memory_is_asked_for_a_reason(situation: Situation, reason: Reason) -> None:
    assert recall(situation) is reason


@pytest.mark.parametrize("kind", [*KINDS])
def test_kinds_fit_their_examples_and_no_others(kind: str) -> None:
    one = KINDS[kind]
    assert [text for text in one["examples"] if refers_back(text) is None] == []
    assert [text for text in one["others"] if refers_back(text) is not None] == []


UNSEEN = {
    "last_time": [
        "Cook it exactly like last time, please.", "Order the same as before.", "Previously you were briefer.",
        "The last time we did this it took an hour, why?",
    ],
    "remember": [
        "Hey, do you remember the paint colour?", "Could you recall what my landlord wanted?",
        "Please remind me who cut my hair.", "I've forgotten which dosage the vet gave us.",
        "I don't remember how we fixed the tap.",
    ],
    "said_before": [
        "What did I tell you about my cousin?", "When did we last talk about the roof?", "Did I ever mention figs?",
        "Like I said, no meetings on Fridays.", "What have I said about moving?", "Where did you suggest we eat?",
    ],
    "again": ["Who was my dentist again?", "What's the wifi called again?", "When is the wedding again?"],
    "own_past": [
        "Which books did I read in spring?", "Where were we in August?", "How often have I been to the gym this month?",
        "When was the last time I changed the filter?", "What colour did we paint the hall?",
    ],
    "own_facts": [
        "What is my shoe size?", "Who are my neighbours?", "Where do I keep the spare key?", "How old am I?",
        "Which gym do I usually go to?",
    ],
}  # fmt: skip
"""Written without a look at the patterns, and not to be mended by them one by one."""
ORDINARY = (
    "Write a haiku about rain.", "What is the boiling point of ethanol?", "I had pasta for lunch.", "Book a table?",
    "How do I sort a list in Go?", "My sister is coming on Friday.", "That was a good film.", "Thanks, that helps.",
    "Translate this into French.", "Should I take an umbrella?", "Who won the match?", "I'm tired of this job.",
    "Remind me to water the plants.", "When does the shop open?", "Give me three names for a cat.", "Fix the test.",
    "I told him that I would come.", "We moved to Lyon last year.", "Is it going to rain again?", "Summarise it.",
)  # fmt: skip


@pytest.mark.parametrize("kind", [*UNSEEN])
def test_of_each_kind_most_of_what_was_not_seen_before_is_known(kind: str) -> None:
    missed = [text for text in UNSEEN[kind] if refers_back(text) is None]
    assert len(missed) <= len(UNSEEN[kind]) // 4, missed


def test_ordinary_talk_asks_for_nothing() -> None:
    asked = [text for text in ORDINARY if refers_back(text) is not None]
    assert len(asked) / len(ORDINARY) < WANTED_RATE, asked


@pytest.fixture
def examples(examples_home: Path, tmp_path: Path) -> Pipeline:
    return Pipeline(load_settings(home=shutil.copytree(examples_home, tmp_path / "examples", symlinks=True)))


def said(home: Pipeline) -> list[tuple[str, str]]:
    rows = rows_of(home.store.lake.read_days(MESSAGES, home.store.lake.days(MESSAGES)))
    return [(row["user_id"], row["content"]) for row in rows if row["role"] == "user"]


@pytest.mark.slow
def test_six_weeks_of_talk_stay_below_the_wanted_rate_whether_or_not_a_memory_is_at_hand(examples: Pipeline) -> None:
    texts = said(examples)
    assert sum(recall(Situation(text)).is_recall for _, text in texts) < WANTED_RATE * len(texts)
    today = max(examples.store.lake.days(MESSAGES))
    with_memory = [recall(Situation(text), held(examples, user, text, today)).is_recall for user, text in texts]
    assert sum(with_memory) < WANTED_RATE * len(texts)


def test_who_is_known_is_asked_for_what_is_known_of_them(examples: Pipeline) -> None:
    mirela = Memory(examples, "mirela")
    assert mirela.gate("Where does Dana live?") is Reason.KNOWN
    assert mirela.gate("Where does Ossian work?") is Reason.NOT_NEEDED
    assert mirela.gate("Can you recommend a restaurant in Bremen?") is Reason.NOT_NEEDED
    assert mirela.gate("What was my sister's name again?") is Reason.LAST_TIME
    assert Memory(examples, "nobody").gate("What was my sister's name again?") is Reason.NOTHING_KNOWN


def test_nothing_is_asked_of_a_memory_that_holds_nothing() -> None:
    nothing = Held(is_any=False, is_answered=False)
    assert recall(Situation("As last time.", is_error_retry=True, confidence=0.1), nothing) is Reason.NOTHING_KNOWN
    assert recall(Situation("Run it."), nothing) is Reason.NOT_NEEDED


def test_a_very_long_text_is_looked_at_where_people_ask() -> None:
    assert refers_back("x " * 100_000 + "What was his name again?") is Reason.LAST_TIME
    assert refers_back("what when where which how " * 20_000) is None


def gate(home: Path, *arguments: str) -> object:
    done = CliRunner().invoke(app, ["gate", *arguments, "--home", str(home), "--json"], catch_exceptions=False)
    return json.loads(done.output)


def test_decisions_are_counted_and_their_texts_are_not_kept(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert gate(home, "--rate") == []
    assert gate(home, "as last time, heliotrope") == {"recall": True, "reason": "last_time"}
    for _ in range(3):
        assert gate(home, "heliotrope", "--confidence", "0.9") == {"recall": False, "reason": "not_needed"}
    (rate,) = gate(home, "--rate")
    assert (rate["asked"], rate["recalled"], rate["rate"]) == (4, 1, 0.25)
    assert all(b"heliotrope" not in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_wrong_use_is_said() -> None:
    assert CliRunner().invoke(app, ["gate"]).exit_code != 0
    assert CliRunner().invoke(app, ["gate", "x", "--confidence", "2"]).exit_code != 0

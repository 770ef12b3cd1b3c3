"""Which language a message is found to be in, and that rules leave alone what they do not read."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.extraction.messages import Words, language_of, languages_of
from em_pipelines.extraction.rules.extractor import RulesExtractor
from em_pipelines.extraction.unread_segments import unread_languages
from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.readings import Segment, Turn
from em_pipelines.schema.tables.clean import MESSAGES
from em_pipelines.schema.tables.extraction import CLAIMS, EXTRACTION_ISSUES
from em_pipelines.schema.vocabulary import OBSERVATIONS
from em_pipelines.settings import load_settings

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
SENTENCES = {
    "en": ["We moved the old piano into the kitchen.", "Dinner with Marco and Lucia at La Piazza was great"],
    "es": ["Mi hermano trabaja en una librería de Granada.", "Este verano nos mudamos a una casa con jardín"],
    "pt": ["O meu irmão trabalha numa livraria em Braga.", "A gente mudou para uma casa com quintal"],
    "de": ["Mein Bruder arbeitet in einer Buchhandlung.", "Im Sommer ziehen wir in ein Haus mit Garten"],
    "fr": ["Mon frère travaille dans une librairie.", "Cet été on déménage dans une maison avec jardin"],
    "it": ["Mio fratello lavora in una libreria del centro.", "Quest'estate ci trasferiamo in campagna"],
    "nl": ["Mijn broer werkt in een boekhandel.", "Deze zomer verhuizen we naar een huis met tuin"],
    "pl": ["Mój brat pracuje w księgarni.", "Latem przeprowadzamy się do domu z ogrodem"],
    "tr": ["Erkek kardeşim bir kitapçıda çalışıyor.", "Bu yaz bahçeli bir eve taşınıyoruz"],
    "ru": ["Мой брат работает в книжном магазине.", "Летом мы переезжаем в дом с садом"],
    "zh": ["我哥哥在书店工作。", "今年夏天我们搬到有花园的房子"],
    "ja": ["兄は本屋で働いています。", "この夏、庭のある家に引っ越します"],
    "ko": ["우리 형은 서점에서 일해요.", "올여름에 마당 있는 집으로 이사 가요"],
    "ar": ["أخي يعمل في مكتبة", "هذا الصيف سننتقل إلى بيت مع حديقة"],
    "he": ["אחי עובד בחנות ספרים", "בקיץ נעבור לבית עם גינה"],
    "el": ["Ο αδερφός μου δουλεύει σε βιβλιοπωλείο", "Το καλοκαίρι μετακομίζουμε σε σπίτι με κήπο"],
    "hi": ["मेरा भाई किताबों की दुकान में काम करता है", "इस गर्मी हम बगीचे वाले घर में जा रहे हैं"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("language", "text"), [(language, text) for language, texts in SENTENCES.items() for text in texts]
)
def test_plain_sentences_are_in_their_language(language: str, text: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize("text", ["ok", "12:30", "👍👍", "Lucia?", "", "https://q.example/die/in/der"])
def test_what_tells_nothing_of_its_language_has_none(text: str) -> None:
    assert language_of(text) is None


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", 'What does "ich hätte gern ein Zimmer mit Blick auf den See" mean?'),
        ("en", "> nos vemos mañana por la tarde en la estación de siempre\nWhat did she mean by that?"),
        ("en", "My friends Søren Østergård and Þórdís Jónsdóttir sang with us at the harbour"),
        ("de", "```python\nfor line in the_file:\n    print(line)\n```\nWarum geht das nicht, was mache ich falsch?"),
        ("es", "Mira https://www.example.org/the-best-of-the-year y dime qué te parece el hotel"),
        ("en", "Die Hard was on again, and we watched it with my dad"),
        ("en", "My friend Đặng Thị Ngọc-Ánh lives in Đà Nẵng."),
    ],
)
def test_code_quotations_addresses_and_names_do_not_tell(language: str, text: str) -> None:
    assert language_of(text) == language


def said(*lines: tuple[str, str]) -> list[str | None]:
    """The languages of lines of one conversation, each a speaker and their words."""
    return languages_of([Words(text, "chat", speaker) for speaker, text in lines])


def test_a_short_message_is_in_the_language_of_its_speaker() -> None:
    told = said(
        ("ana", "Mañana vamos a la playa con los niños"),
        ("ana", "Vale, gracias"),
        ("kim", "I think we should bring the umbrella"),
        ("kim", "ok cool"),
        ("ana", "No como carne"),
    )
    assert told == ["es", "es", "en", "en", "es"]


def test_a_short_message_of_a_silent_speaker_is_in_the_language_of_the_conversation() -> None:
    assert said(("ana", "Morgen fahren wir alle zusammen an den See"), ("bo", "ok"))[1] == "de"


def test_a_conversation_in_two_languages_lends_none() -> None:
    told = said(("ana", "Mañana vamos a la playa"), ("kim", "We are going to the beach"), ("bo", "ok"))
    assert told == ["es", "en", None]


def test_a_message_in_two_languages_is_in_that_of_its_greater_part() -> None:
    assert language_of("I told my boss that we need more time, y ya") == "en"
    assert language_of("Ayer estuve en el meeting con mi jefa y me dijo que el deadline es el lunes") == "es"


def one_turn(text: str, language: str | None) -> Segment:
    return Segment("s", "u", "c", "text", (Turn("m", 0, "user", "user", text, WRITTEN_AT, language=language),))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Anna ist aus Berlin. My name is Oriane.", "de"),
        ("Anna es de Madrid. My name is Oriane.", "es"),
    ],
)
def test_rules_make_no_facts_of_what_they_do_not_read(extractor: RulesExtractor, text: str, language: str) -> None:
    assert extractor.extract(one_turn(text, None)).claims  # what they did without knowing
    read = extractor.extract(one_turn(text, language))
    assert not read.claims
    assert [(i.issue, i.reason, i.detail) for i in read.issues] == [("skipped", "other_language", language)]


def test_rules_read_english_and_what_is_undecided(extractor: RulesExtractor) -> None:
    for language in ("en", None):
        assert extractor.extract(one_turn("My sister Dana lives in Graz.", language)).claims


def test_what_says_nothing_in_any_language_waits_for_nobody(extractor: RulesExtractor) -> None:
    read = extractor.extract(one_turn("👍", "es"))
    assert [issue.reason for issue in read.issues] == ["no_information"]


def test_an_earlier_turn_in_another_language_is_not_read_either(extractor: RulesExtractor) -> None:
    before = Turn("a", 0, "user", "user", "Job: Koch", WRITTEN_AT, language="de")
    now = replace(one_turn("I said my job was cook, forget it.", "en"), context=(before,))
    assert extractor.extract(now).claims == []


CONVERSATION = [
    ("lucia", "user", "Hola, acabo de mudarme a Valencia con mi hermana Inés."),
    ("lucia", "assistant", "¡Qué bien! ¿Cómo es el barrio?"),
    ("lucia", "user", "Muy tranquilo, hay una panadería debajo de casa."),
    ("lucia", "user", "Vale, gracias"),
    ("tom", "user", "My sister Dana lives in Graz."),
    ("tom", "user", "Meine Schwester wohnt seit März in Graz."),
]


@pytest.fixture
def spoken(tmp_path: Path) -> Callable[..., Pipeline]:
    """A home with an invented conversation in Spanish and one in English and German, as far as the claims."""

    def make() -> Pipeline:
        log = tmp_path / "said.jsonl"
        lines = [
            {
                "user_id": user, "session_id": f"{user}-1", "turn_number": n, "role": role, "content": content,
                "timestamp": f"2026-03-02T10:{n:02}:00Z",
            }
            for n, (user, role, content) in enumerate(CONVERSATION)
        ]  # fmt: skip
        log.write_bytes(b"\n".join(map(orjson.dumps, lines)))
        home = Pipeline(load_settings(home=tmp_path / "home"))
        land([log], home.store.log, now=datetime(2026, 3, 3, tzinfo=UTC), settings=home.settings.landing)
        for name in ("interactions", "messages", "segments", "extraction"):
            home.store.run_days(home.steps[name], home.store.days(home.steps[name]))
        return home

    return make


def test_messages_have_their_language_and_those_that_wait_for_a_model_are_counted(spoken) -> None:
    home = spoken()
    (day,) = home.store.lake.days(MESSAGES)
    rows = home.store.lake.read(MESSAGES, day).to_pylist()
    assert [row["language"] for row in rows] == ["es", "es", "es", "es", "en", "de"]
    claims = home.store.lake.read(CLAIMS, day).to_pylist()
    assert {(c["user_id"], c["relation"], c["object"]) for c in claims if c["relation"] not in OBSERVATIONS} == {
        ("tom", "sibling_of", "Dana"), ("tom", "lives_in", "Graz"),
    }  # fmt: skip
    assert unread_languages(home.store.lake) == {"lucia": {"es": 2}, "tom": {"de": 1}}
    assert unread_languages(home.store.lake, []) == {}
    issues = home.store.lake.read(EXTRACTION_ISSUES, day).to_pylist()
    assert not [issue for issue in issues if "Valencia" in issue["detail"]]

"""A model reads every language: what people say in it is kept, however its words bend, and inventions are refused."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import pytest

from em_pipelines.extraction.assemble import readings
from em_pipelines.extraction.messages import language_of
from em_pipelines.language.cleaning import clean_text
from em_pipelines.schema.readings import Extraction, Segment, Turn
from tests.model_server.script import Call, answer

WRITTEN_AT = datetime(2026, 3, 5, 18, 20, tzinfo=UTC)
Fact = tuple[str, str, str]


@dataclass(frozen=True)
class Case:
    """What is said, what a model reads of it, what it makes up, and sentences that word its first fact."""

    said: str
    told: tuple[Fact, ...]
    invented: tuple[Fact, ...]
    worded: str = ""
    misworded: str = ""


CASES = {
    "de": Case(
        "Meine Schwestern Anke und Ulrike wohnen in Freiburg. Im Gartenhaus in der Goethestraße halte ich Bienen, weil "
        "es dort ruhig ist.",
        (
            ("user", "did", "Bienen im Gartenhaus halten"), ("Anke", "lives_in", "Freiburg"),
            ("user", "sibling_of", "Ulrike"), ("user", "owns", "Garten"), ("Bienen", "located_in", "Goethestrasse"),
            ("user", "has_pet", "Biene"),
        ),
        (("Anke", "lives_in", "Leipzig"), ("user", "owns", "Motorrad"), ("user", "works_as", "Imkerin in Zürich")),
        "Bienen im Gartenhaus halten, weil es dort ruhig ist", "Bienen im Gartenhaus halten wegen der Honigpreise",
    ),
    "es": Case(
        "Mi abuela Encarnación cultiva tomates en Málaga y yo trabajo en una panadería desde marzo. No como carne.",
        (
            ("user", "works_at", "panadería"), ("Encarnación", "lives_in", "Malaga"),
            ("Encarnación", "did", "cultivar tomates"), ("user", "did", "trabajar en una panadería"),
            ("user", "dislikes", "carnes"),
        ),
        (("Encarnación", "lives_in", "Sevilla"), ("user", "likes", "pescado"), ("user", "works_as", "bombero")),
        "Trabajo en una panadería desde marzo", "Trabajo en una panadería por el sueldo",
    ),
    "fr": Case(
        "Ma cousine Hélène s'est installée à Besançon ; j'élève des chèvres et je fabrique du fromage l'été.",
        (
            ("user", "did", "élever des chèvres"), ("Hélène", "lives_in", "Besançon"),
            ("user", "did", "fabrication de fromage"), ("user", "owns", "chèvre"),
        ),
        (("Hélène", "lives_in", "Toulouse"), ("user", "owns", "tracteur"), ("Hélène", "spouse_of", "Bertrand")),
        "J'élève des chèvres l'été", "J'élève des chèvres pour la laine",
    ),
    "pt": Case(
        "O meu irmão João abriu uma livraria em Évora e eu aprendo a tocar violoncelo aos sábados.",
        (
            ("user", "did", "tocar violoncelo"), ("João", "owns", "livraria"), ("João", "lives_in", "Évora"),
            ("user", "studies", "violoncelos"),
        ),
        (("João", "lives_in", "Faro"), ("user", "did", "tocar trompete"), ("João", "parent_of", "Matilde")),
        "Aprendo a tocar violoncelo aos sábados", "Aprendo a tocar violoncelo na escola municipal",
    ),
    "tr": Case(
        "Kardeşim İbrahim İzmir'de bir bankada çalışıyor, ben de Çeşme'de kitapçıyım.",
        (
            ("İbrahim", "works_at", "banka"), ("İbrahim", "lives_in", "izmir"), ("user", "lives_in", "Çeşme"),
            ("user", "works_as", "kitapçı"),
        ),
        (("İbrahim", "lives_in", "Ankara"), ("user", "works_as", "öğretmen"), ("İbrahim", "owns", "araba")),
    ),
    "ru": Case(
        "Моя сестра Алёна живёт в Казани и работает в больнице, а я по выходным катаюсь на лыжах.",
        (
            ("Алена", "lives_in", "Казань"), ("Алёна", "works_at", "больница"), ("user", "did", "кататься на лыжах"),
            ("user", "sibling_of", "Алёна"),
        ),
        (("Алёна", "lives_in", "Самара"), ("user", "did", "плавать в бассейне"), ("Алёна", "works_as", "учительница")),
        "Алёна живёт в Казани и работает в больнице", "Алёна живёт в Казани ради театра",
    ),
    "zh": Case(
        "我妹妹小雨住在成都，她在银行工作，我每周练三次书法，还养了一只猫。",
        (
            ("小雨", "lives_in", "成都"), ("小雨", "works_at", "银行"), ("user", "did", "练书法"),
            ("user", "has_pet", "猫"), ("user", "sibling_of", "小雨"),
        ),
        (
            ("小雨", "lives_in", "上海"), ("user", "has_pet", "狗"), ("小雨", "works_as", "医生"),
            ("user", "likes", "打篮球"), ("小雨", "works_at", "Korvel银行"),
        ),
        "小雨住在成都，在银行工作", "小雨住在成都，因为喜欢吃火锅",
    ),
    "ja": Case(
        "妹の由美は大阪に住んでいて、毎朝コーヒーを飲みます。私は京都の大学で陶芸を教えています。",
        (
            ("由美", "lives_in", "大阪"), ("由美", "did", "コーヒーを飲む"), ("user", "works_at", "京都の大学"),
            ("user", "did", "陶芸を教える"),
        ),
        (("由美", "lives_in", "札幌"), ("user", "works_as", "看護師"), ("由美", "likes", "紅茶")),
        "由美は大阪に住んでいます", "由美は大阪に住んでいて犬を三匹飼っています",
    ),
    "ko": Case(
        "여동생 민지는 부산에서 간호사로 일하고 커피를 좋아해요. 저는 주말마다 등산을 해요.",
        (
            ("민지", "lives_in", "부산"), ("민지", "works_as", "간호사"), ("민지", "likes", "커피"),
            ("user", "did", "등산"),
        ),
        (("민지", "lives_in", "서울"), ("user", "did", "수영"), ("민지", "likes", "녹차")),
    ),
    "ar": Case(
        "أختي ليلى تعيش في عمّان وتعمل في المستشفى، وأنا أدرّس الرسم للأطفال.",
        (
            ("ليلى", "lives_in", "عمان"), ("ليلى", "works_at", "مستشفى"), ("user", "did", "الرسم"),
            ("user", "sibling_of", "ليلى"),
        ),
        (("ليلى", "lives_in", "بيروت"), ("user", "works_as", "مهندس"), ("ليلى", "has_pet", "قطة")),
    ),
    "he": Case(
        "אָחוֹתִי נועה גרה בחיפה ועובדת בבית ספר, ואני מנגן בגיטרה.",
        (("נועה", "lives_in", "חיפה"), ("user", "did", "גיטרה"), ("נועה", "works_at", "בית ספר")),
        (("נועה", "lives_in", "אילת"), ("user", "did", "פסנתר"), ("נועה", "owns", "מכונית")),
    ),
    "pl": Case(
        "Moja siostra Małgorzata mieszka w Krakowie, a ja w Gdańsku naprawiam stare rowery.",
        (
            ("Małgorzata", "lives_in", "Kraków"), ("user", "lives_in", "Gdańsk"),
            ("user", "did", "naprawiać stare rowery"),
        ),
        (("Małgorzata", "lives_in", "Lublin"), ("user", "did", "sprzedawać samochody"), ("user", "owns", "motocykl")),
    ),
    "hi": Case(
        "मेरी बहन कविता दिल्ली में रहती है और मैं अस्पताल में काम करता हूँ।",
        (("कविता", "lives_in", "दिल्ली"), ("user", "works_at", "अस्पताल"), ("user", "sibling_of", "कविता")),
        (("कविता", "lives_in", "मुंबई"), ("user", "works_as", "शिक्षक"), ("कविता", "owns", "गाड़ी")),
    ),
}  # fmt: skip


def read(llm: Any, said: str, facts: tuple[Fact, ...], worded: str = "", **changes: Any) -> Extraction:
    """What is kept of a model's answer that holds these facts, of which the first is worded."""
    relations = [
        {
            "t": 0, "subject": subject, "relation": relation, "object": stated, "attribute": None, "polarity": 1,
            "statement": worded if n == 0 and worded else None,
        }
        for n, (subject, relation, stated) in enumerate(facts)
    ]  # fmt: skip
    entities = [
        {"t": 0, "name": name, "type": "person"} for name in dict.fromkeys(fact[0] for fact in facts) if name != "user"
    ]
    document = {"entities": entities, "relations": relations, "tone": [], "times": [], **changes}

    def script(_: Call) -> Any:
        return answer(document)

    text = clean_text(said)
    turn = Turn("m", 0, "user", "user", text, WRITTEN_AT, language=language_of(text))
    ((_, kept),) = readings([Segment("s", "u", "c", "text", (turn,))], llm(script)[0])
    return kept


def stated(found: Extraction) -> list[Fact]:
    return [(c.subject, c.relation, str(c.object or c.value)) for c in found.claims]


@pytest.mark.parametrize("language", CASES)
def test_what_is_said_is_kept(llm: Any, language: str) -> None:
    case = CASES[language]
    assert language_of(clean_text(case.said)) == language
    found = read(llm, case.said, case.told)
    assert stated(found) == list(case.told), [i.issue for i in found.issues]


@pytest.mark.parametrize("language", CASES)
def test_what_is_made_up_is_refused_and_its_neighbours_stay(llm: Any, language: str) -> None:
    case = CASES[language]
    found = read(llm, case.said, (*case.told[:1], *case.invented))
    assert stated(found) == list(case.told[:1])
    refused = [issue for issue in found.issues if issue.severity == "error" and issue.issue != "many_refused"]
    assert {issue.issue for issue in refused} <= {"orphan_relation", "span", "many_refused"}


@pytest.mark.parametrize("language", [name for name, case in CASES.items() if case.worded])
def test_a_sentence_is_kept_where_the_turn_says_it(llm: Any, language: str) -> None:
    case = CASES[language]
    (claim,) = read(llm, case.said, case.told[:1], case.worded).claims
    assert claim.statement == case.worded


@pytest.mark.parametrize("language", [name for name, case in CASES.items() if case.worded])
def test_a_sentence_that_adds_what_nobody_said_gives_way_to_the_clause(llm: Any, language: str) -> None:
    case = CASES[language]
    (claim,) = read(llm, case.said, case.told[:1], case.misworded).claims
    assert claim.statement != case.misworded
    assert claim.statement
    assert claim.statement in clean_text(case.said)
    assert len(claim.statement) <= 160


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Ich esse seit Jahren kein Fleisch mehr.", "Ich esse seit Jahren Fleisch"),
        ("No como carne desde hace años.", "Como carne desde hace años"),
        ("我已经很多年不吃肉了，只吃蔬菜。", "我已经很多年吃肉了"),
    ],
)
def test_a_sentence_may_not_affirm_what_the_turn_denies(llm: Any, said: str, denied: str) -> None:
    food = next(word for word in ("Fleisch", "carne", "肉") if word in said)
    denial = {
        "t": 0, "subject": "user", "relation": "likes", "object": food, "attribute": None, "polarity": -1,
        "statement": denied,
    }  # fmt: skip
    (claim,) = read(llm, said, (), relations=[denial]).claims
    assert claim.statement != denied


def test_letters_may_be_composed_in_either_way(llm: Any) -> None:
    decomposed = "Jose\u0301"
    found = read(llm, "Mi primo José vive en León con su perro.", ((decomposed, "lives_in", "Leo\u0301n"),))
    assert stated(found) == [("José", "lives_in", "León")]
    (mention,) = [m for m in found.mentions if m.name == "José"]
    assert "Mi primo José vive en León con su perro."[mention.start : mention.end] == "José"


def test_places_are_those_of_the_text_where_folding_changes_its_length(llm: Any) -> None:
    said = "In der Großen Straße in Gießen wohnt meine Tante Gertrud mit zwei Hunden."
    found = read(
        llm, said, (("Gertrud", "lives_in", "Gießen"),), entities=[{"t": 0, "name": "Giessen", "type": "place"}]
    )
    spans = {m.name: said[m.start : m.end] for m in found.mentions if m.is_explicit}
    assert spans == {"Giessen": "Gießen"}


@pytest.mark.parametrize(
    ("said", "when", "since"),
    [
        ("Seit März 2024 wohne ich in Graz bei meiner Tante.", "seit März 2024", date(2024, 3, 1)),
        ("Vivo en Lugo desde el 4 de mayo de 2025 con mi tía.", "desde el 4 de mayo de 2025", date(2025, 5, 4)),
        ("Je vis à Dijon depuis juin 2023 avec ma sœur.", "depuis juin 2023", date(2023, 6, 1)),
        ("Я живу в Казани с 4 мая 2025 года у тёти.", "с 4 мая 2025 года", date(2025, 5, 4)),
        ("我从2024年5月4日起住在成都，和妹妹一起。", "2024年5月4日", date(2024, 5, 4)),
    ],
)
def test_since_when_is_read_in_the_language_of_the_turn(llm: Any, said: str, when: str, since: date) -> None:
    place = next(name for name in ("Graz", "Lugo", "Dijon", "Казань", "成都") if name[:4] in said)
    times = [{"r": 0, "kind": "state", "when": when}]
    (claim,) = read(llm, said, (("user", "lives_in", place),), times=times).claims
    assert claim.valid_from == since


@pytest.mark.parametrize(
    ("said", "told", "value"),
    [
        ("Mi cumpleaños es el 4 de mayo, ya sabes.", "4 de mayo", "05-04"),
        ("Ich habe am 3. Dezember Geburtstag, wie mein Vater.", "3. Dezember", "12-03"),
        ("我的生日是5月4日，和妈妈一样。", "05-04", "05-04"),
    ],
)
def test_birthdays_are_days_in_every_language(llm: Any, said: str, told: str, value: str) -> None:
    (claim,) = read(llm, said, (("user", "has_birthday", told),)).claims
    assert claim.value == value


def test_a_date_that_nobody_said_is_refused(llm: Any) -> None:
    assert not read(
        llm, "Mi cumpleaños siempre cae en fin de semana largo.", (("user", "has_birthday", "05-04"),)
    ).claims


@pytest.mark.parametrize(("said", "own"), [("Ich wohne in Graz am Fluss.", "ich"), ("我住在成都的河边。", "我")])
def test_the_speaker_named_by_a_pronoun_is_the_user(llm: Any, said: str, own: str) -> None:
    (claim,) = read(llm, said, ((own, "lives_in", "Graz" if "Graz" in said else "成都"),)).claims
    assert claim.subject == "user"


@pytest.mark.parametrize(
    ("said", "is_asked"),
    [
        ("我住在成都。", True), ("猫が好き。", True), ("부산에 살아요", True), ("谢谢！", False),
        ("ありがとうございます", False), ("네 감사합니다", False), ("Muchas gracias", False),
        ("Alles klar, danke", False),
    ],
)  # fmt: skip
def test_the_gate_measures_what_is_said_and_not_its_letters(llm: Any, said: str, is_asked: bool) -> None:
    found = read(llm, said, ())
    assert ("no_information" in {issue.reason for issue in found.issues}) is not is_asked

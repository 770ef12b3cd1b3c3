"""Ways to reach somebody, and days of birth: examples of the rules, forms that no rule was written for, and talk."""

import pytest

from em_pipelines.guard.contact import BOOK, personal_spans, wordings_of_day
from em_pipelines.guard.phrases import Rule, rule_book

RULES = rule_book(BOOK).rules


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_examples_are_found_and_counter_examples_are_left_alone(rule: Rule) -> None:
    assert [text for text in rule.examples if rule.kind not in personal_spans(text)] == []
    assert [text for text in rule.counter_examples if personal_spans(text)] == []


OTHER_FORMS = {
    "email": [
        "sanne dot peeters at mailbox dot net any time", "s.peeters<at>uni-ostrava.cz", "sanne_p(at)posteo(dot)net",
        "sanne.p AT example DOT co DOT uk", "mailto:sanne@example.com",
    ],
    "phone": [
        "her cell's 917 555 0182", "+32-(0)471-55.01.82", "0471/55 01 82", "(+44) 20 7946 0018", "00 33 6 12 34 56 78",
        "whatsapp: 471550182", "٠١٢٣٤٥٦٧٨٩ is hers", "nine one seven five five five oh one eight two",
        "plus four seven five five one two three four five six", "0️⃣4️⃣7️⃣1️⃣5️⃣5️⃣0️⃣1️⃣8️⃣2️⃣",
    ],
    "address": [
        "Unit 5/12 Beach Road", "flat 3, 18 Harrow Road", "742 evergreen terrace", "1450 E. 57th Street", "Hauptstr. 5",
        "27, rue du Faubourg Saint-Martin", "C/ Aragó 255", "Av. Paulista, 1578", "Vasagatan 11", "Korenmarkt 14",
        "ul. Marszałkowska 104/122", "ул. Ленина 5", "Váci utca 28", "İstiklal Caddesi No:5", "東京都丸の内1丁目9",
        "南京东路100号", "강남대로 396", "House No. 24, MG Road", "EC1A 1BB", "P O Box 88",
    ],
    "birthday": [
        "your birthday falls on the 7th of June", "You turn 38 on June 7.", "born: 07.06.1988", "your birthday (06/07)",
        "Né le 7 juin", "urodziny masz 7 czerwca", "syntymäpäiväsi on 7. kesäkuuta", "D.O.B. 7 June 1988",
        "June the seventh is your birthday", "Your b'day is 7 Jun",
    ],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in OTHER_FORMS.items() for text in texts])
def test_other_forms_are_found(kind: str, text: str) -> None:
    assert kind in personal_spans(text)


@pytest.mark.parametrize("text", [
    "We met 3 years ago on the 2nd floor, at 10:30 or 11.", "Version 3.11.7 of 2026-10-12, build 20261012.",
    "It took 2 hours down the road and 15 minutes up the street.", "Order 4012 has 12 items for 49.90 euros.",
    "I read 1,250,000 words in 2024; chapter 12 is the best.", "The score was 6-4 6-3 7-5, then 4-4-2 won 3-1.",
    "One, two, three, four, five, six, seven, eight, and out!", "Turn left at the second street, then turn 90 degrees.",
    "Look at the dot on page 12.", "The anniversary sale ends on 4 May.", "Happy birthday, and see you in June!",
    "We may meet again in 12 days, or 4 weeks.", "On 12/05/2026 at 19:30 in room 4.", "The ratio is 16:9 and 3/4 full.",
    "In 1066 and 1815 there were battles.", "She ran 10 km in 48:12.", "Highway 61 Revisited is a record.",
    "Am Montag 12 Uhr, im Jahr 2024.", "ISBN 978-3-16-148410-0 has 13 digits.", "192.168.0.12 is up since 08:15.",
])  # fmt: skip
def test_ordinary_talk_holds_none(text: str) -> None:
    assert personal_spans(text) == {}


@pytest.mark.parametrize("text", ["", "0 " * 25_000, "a at " * 10_000, "Via " + "A " * 20_000, "1" * 50_000,
                                  "@" * 50_000, "birthday " * 5_000, "12 Ab " * 8_000, "\x00" * 50_000])  # fmt: skip
def test_hostile_texts_end_soon(text: str) -> None:
    assert all(0 <= start < end <= len(text) for spans in personal_spans(text).values() for start, end in spans)


def test_a_day_is_worded_as_people_write_it() -> None:
    said = set(wordings_of_day(5, 21))
    assert {"21 may", "21st of may", "may 21st", "21. mai", "21 de mayo", "twenty-first of may", "may the 21st"} <= said
    assert "thirty-first of may" in set(wordings_of_day(5, 31))
    assert "thirtieth of may" in set(wordings_of_day(5, 30))

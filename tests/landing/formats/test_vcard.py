"""vCard 2.1, 3.0 and 4.0, with the oddities of those who write it."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.formats.base import Parsed, Rejected, Source
from em_pipelines.landing.formats.seeds import MAX_NOTE_CHARACTERS, one_line
from em_pipelines.landing.formats.vcard import convert
from em_pipelines.landing.land import detect
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.settings import LandingSettings
from tests.landing.conftest import NOW

APPLE = """BEGIN:VCARD
VERSION:3.0
PRODID:-//Apple Inc.//iOS 19.1//EN
N:Okoro;Tamsin;;Dr.;
FN:Dr. Tamsin Okoro
ORG:Brunnlade\\, Söhne & Co.;Labor;
TITLE:Glaziologin
item1.EMAIL;type=INTERNET;type=pref:Tamsin.Okoro@example.org
TEL;type=CELL;type=VOICE;type=pref:+43 664 5550101
TEL;type=WORK;type=VOICE:+43 1 5550102
item2.ADR;type=HOME;type=pref:;;Weidenzeile 7\\, Top 3;Linz;OÖ;4020;Österreich
item2.X-ABADR:at
NOTE:Met on the glacier\\; sends postcards.\\nNever before t
 en in the morning.
BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29
item3.X-ABDATE;type=pref:2011-06-18
item3.X-ABLabel:_$!<Anniversary>!$_
item4.X-ABRELATEDNAMES;type=pref:Rui Okoro
item4.X-ABLabel:_$!<Spouse>!$_
item5.X-ABRELATEDNAMES:Nkechi Okoro
item5.X-ABLabel:_$!<Mother>!$_
CATEGORIES:Family,Friends
PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQAASABIAAD
 /4QBMRXhpZgAATU0AKgAAAAgAAgESAAMAAAABAAEAAIdpAAQAAAABAAAAJg
END:VCARD
"""


def test_a_card_as_telephones_write_it_gives_its_facts(home: Any) -> None:
    home.land_data("contacts.vcf", APPLE.replace("\n", "\r\n"), user_id="ada")
    assert home.facts() == [
        ("user", "friend_of", "Dr. Tamsin Okoro"),
        ("Dr. Tamsin Okoro", "works_at", "Brunnlade, Söhne & Co."),
        ("Dr. Tamsin Okoro", "works_as", "Glaziologin"),
        ("Dr. Tamsin Okoro", "has_birthday", "02-29"),
        ("Dr. Tamsin Okoro", "anniversary", "2011-06-18"),
        ("Dr. Tamsin Okoro", "lives_in", "Linz"),
        ("Dr. Tamsin Okoro", "spouse_of", "Rui Okoro"),
        ("Nkechi Okoro", "parent_of", "Dr. Tamsin Okoro"),
        ("Dr. Tamsin Okoro", "email", "Tamsin.Okoro@example.org"),
        ("Dr. Tamsin Okoro", "mobile phone", "+43 664 5550101"),
        ("Dr. Tamsin Okoro", "work phone", "+43 1 5550102"),
        ("Dr. Tamsin Okoro", "address", "Weidenzeile 7, Top 3, 4020 Linz, OÖ, Österreich"),
        ("Dr. Tamsin Okoro", "note", "Met on the glacier; sends postcards. Never before ten in the morning."),
    ]
    assert not home.reasons()


def test_a_fact_says_the_file_and_the_line_of_its_card(home: Any) -> None:
    home.land_data("c.vcf", "\n\nBEGIN:VCARD\nVERSION:4.0\nFN:Rui\nREV:20240301T120000Z\nEND:VCARD\n", user_id="ada")
    (record,) = home.landed("feedback")
    said = orjson.loads(record["payload"])
    assert (record["type"], said["file"], said["line"], said["confidence"]) == ("seed", "c.vcf", 3, 0.7)
    assert said["dated"].startswith("2024-03-01T12:00:00")


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("BDAY:19880412", "1988-04-12"),
        ("BDAY:1988-04-12T00:00:00Z", "1988-04-12"),
        ("BDAY;VALUE=date:--0412", "04-12"),
        ("BDAY:--04-12", "04-12"),
        ("BDAY:1988-04", "1988-04"),
        ("BDAY:1988", "1988"),
        ("BDAY:1988/4/2", "1988-04-02"),
        ("BDAY:1604-04-12", "04-12"),
    ],
)
def test_a_birthday_may_leave_out_its_year_or_its_day(home: Any, said: str, value: str) -> None:
    home.land_data("c.vcf", f"BEGIN:VCARD\nVERSION:4.0\nFN:Rui\n{said}\nEND:VCARD\n", user_id="ada")
    assert ("Rui", "has_birthday", value) in home.facts()


@pytest.mark.parametrize("said", ["---12", "0000-00-00", "--0230", "in spring", "2999-01-01", "19881332"])
def test_what_is_no_birthday_is_told_and_costs_nothing_else(home: Any, said: str) -> None:
    home.land_data("c.vcf", f"BEGIN:VCARD\nVERSION:4.0\nFN:Rui\nTITLE:Potter\nBDAY:{said}\nEND:VCARD\n", user_id="ada")
    assert home.facts() == [("user", "knows", "Rui"), ("Rui", "works_as", "Potter")]
    letter = home.the_letter()
    assert letter["reason"] == "invalid_card" and "birthday" in letter["detail"]
    assert b"FN:Rui" in letter["raw"]


def test_quoted_printable_of_version_2_1_is_read_in_its_charset(home: Any) -> None:
    card = (
        "BEGIN:VCARD\r\nVERSION:2.1\r\n"
        "N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:=E5=B1=B1=E7=94=B0;=E5=A4=AA=\r\n=E9=83=8E;;;\r\n"
        "ORG;ISO-8859-1;ENCODING=QUOTED-PRINTABLE;CHARSET=ISO-8859-1:Br=FCcke;Labor\r\n"
        "NOTE;ENCODING=QUOTED-PRINTABLE:two=0D=0Alines\r\n"
        "TEL;HOME;VOICE:03-5550-0133\r\nEND:VCARD\r\n"
    )
    home.land_data("c.vcf", card, user_id="ada")
    assert home.facts() == [
        ("user", "knows", "山田太郎"),
        ("山田太郎", "works_at", "Brücke"),
        ("山田太郎", "phone", "03-5550-0133"),
        ("山田太郎", "note", "two lines"),
    ]


def test_a_card_in_the_charset_that_it_names_is_read_and_one_in_none_is_refused(home: Any) -> None:
    named = "BEGIN:VCARD\nVERSION:2.1\nFN;CHARSET=ISO-8859-1:Jürgen\nEND:VCARD\n".encode("latin-1")
    unnamed = "BEGIN:VCARD\nVERSION:2.1\nFN:Jörg\nEND:VCARD\n".encode("latin-1")
    home.land_data("c.vcf", named + unnamed, user_id="ada")
    assert home.reasons() == ["not_utf8"]
    assert home.facts() == [("user", "knows", "Jürgen")]


def test_a_broken_card_is_refused_alone(home: Any) -> None:
    cards = (
        "BEGIN:VCARD\nVERSION:4.0\nFN:One\nBEGIN:VCARD\nVERSION:4.0\nFN:Two\nEND:VCARD\nstray\n"
        "BEGIN:VCARD\nVERSION:4.0\nEMAIL:x@example.org\nEND:VCARD\nBEGIN:VCARD\nFN:Three\n"
    )
    home.land_data("c.vcf", cards, user_id="ada")
    assert home.facts() == [("user", "knows", "Two")]
    assert home.reasons() == ["invalid_card"] * 4


@pytest.mark.parametrize("name", ["x@example.org", "+43 664 555", "—", "12"])
def test_an_address_or_a_number_is_nobodys_name(home: Any, name: str) -> None:
    home.land_data("c.vcf", f"BEGIN:VCARD\nVERSION:3.0\nFN:{name}\nTEL:1\nEND:VCARD\n", user_id="ada")
    assert (home.facts(), home.reasons()) == ([], ["invalid_card"])


def test_a_number_that_is_an_address_is_told_as_a_number(home: Any) -> None:
    card = 'BEGIN:VCARD\nVERSION:4.0\nFN:Rui\nTEL;VALUE=uri;TYPE="voice,home":tel:+31-30-555-0101;ext=12\nEND:VCARD\n'
    home.land_data("c.vcf", card, user_id="ada")
    assert ("Rui", "phone", "+31-30-555-0101 ext. 12") in home.facts()


def test_an_organization_is_no_acquaintance(home: Any) -> None:
    card = (
        "BEGIN:VCARD\nVERSION:3.0\nN:;;;;\nFN:Bäckerei Öfele\nORG:Bäckerei Öfele\nX-ABShowAs:COMPANY\n"
        "ADR;TYPE=WORK:;;Ring 2;Steyr;;4400;\nTEL:07252 555\nEND:VCARD\n"
    )
    home.land_data("c.vcf", card, user_id="ada")
    assert home.facts() == [
        ("Bäckerei Öfele", "located_in", "Steyr"),
        ("Bäckerei Öfele", "phone", "07252 555"),
        ("Bäckerei Öfele", "work address", "Ring 2, 4400 Steyr"),
    ]


def test_the_card_of_the_user_is_about_the_user(home: Any) -> None:
    card = "BEGIN:VCARD\nVERSION:4.0\nFN:Ada Lind\nTITLE:Baker\nRELATED;TYPE=child;VALUE=text:Mio\nEND:VCARD\n"
    home.land_data("c.vcf", card, user_id="ada-lind")
    assert home.facts() == [("user", "works_as", "Baker"), ("user", "parent_of", "Mio")]


def test_a_card_may_name_another_by_its_id(home: Any) -> None:
    cards = (
        "BEGIN:VCARD\nVERSION:4.0\nUID:urn:uuid:11-22\nFN:Mio\nEND:VCARD\n"
        "BEGIN:VCARD\nVERSION:4.0\nFN:Rui\nRELATED;TYPE=sibling:urn:uuid:11-22\n"
        "RELATED;TYPE=friend:urn:uuid:33-44\nEND:VCARD\n"
    )
    home.land_data("c.vcf", cards, user_id="ada")
    assert ("Rui", "sibling_of", "Mio") in home.facts()
    assert not any("urn" in fact[2] for fact in home.facts())


def test_landing_again_adds_nothing_wherever_the_card_stands_by_then(home: Any) -> None:
    home.land_data("contacts.vcf", APPLE, user_id="ada")
    before = home.segments()
    report = home.land_data("export.vcf", f"BEGIN:VCARD\nVERSION:4.0\nFN:Rui\nEND:VCARD\n{APPLE}", user_id="ada")
    assert (report.n_landed, report.n_duplicates) == (1, 13)
    assert before.items() <= home.segments().items()


def test_without_a_user_the_file_is_one_letter_that_can_be_replayed(home: Any) -> None:
    home.land_data("contacts.vcf", APPLE)
    assert home.reasons() == ["missing_user"]
    assert home.the_letter()["raw"] == APPLE.encode()


def test_cards_are_known_by_what_they_are(tmp_path: Any) -> None:
    path = tmp_path / "Kontakte"
    path.write_text(APPLE, encoding="utf-8")
    assert detect(InputFile(path, LandingSettings())).name == "vcard"


NAMES = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "M"]), min_size=1, max_size=60)


def written(properties: list[tuple[str, str]], width: int) -> bytes:
    """A card as RFC 6350 asks for it: escaped, and folded after so many bytes, characters whole."""
    lines = ["BEGIN:VCARD", "VERSION:4.0", *(f"{name}:{escaped(value)}" for name, value in properties), "END:VCARD"]
    return b"".join(folded(line, width) + b"\r\n" for line in lines)


def escaped(value: str) -> str:
    for char in ("\\", ",", ";"):
        value = value.replace(char, f"\\{char}")
    return value.replace("\n", "\\n")


def folded(line: str, width: int) -> bytes:
    parts: list[bytes] = [b""]
    for char in line:
        if len(parts[-1]) + len(char.encode()) > width:
            parts.append(b" ")
        parts[-1] += char.encode()
    return b"\r\n".join(parts)


@given(NAMES, NAMES, st.integers(min_value=12, max_value=75))
def test_whatever_is_written_by_the_rules_is_read_or_refused_with_a_reason(name: str, note: str, width: int) -> None:
    name = f"N {name}"  # a figure alone is nobody's name
    data = written([("FN", name), ("NOTE", note)], width)
    file = InputFile(Path("c.vcf"), LandingSettings(), data)
    found = list(convert(file, Source("c.vcf", "ada", landed_at=NOW)))
    assert not any(isinstance(item, Rejected) for item in found)
    said = [item.fields for item in found if isinstance(item, Parsed)]
    assert one_line(name) in [fields["object"] for fields in said if fields["relation"] == "knows"]
    if one_line(note):
        assert one_line(note, MAX_NOTE_CHARACTERS) in [f["object"] for f in said if f.get("attribute") == "note"]

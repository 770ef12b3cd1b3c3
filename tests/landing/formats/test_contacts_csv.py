"""Address books in CSV, by the columns of Google and Outlook."""

from typing import Any

import pytest

from em_pipelines.landing.formats.base import Sample
from em_pipelines.landing.formats.contacts_csv import sniff

GOOGLE = (
    "First Name,Middle Name,Last Name,Phonetic First Name,Name Prefix,Nickname,Organization Name,Organization Title,"
    "Birthday,Notes,Labels,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Label,E-mail 2 - Value,Phone 1 - Label,"
    "Phone 1 - Value,Address 1 - Label,Address 1 - Formatted,Address 1 - Street,Address 1 - City,"
    "Address 1 - Postal Code,Address 1 - Country,Relation 1 - Label,Relation 1 - Value,Event 1 - Label,"
    "Event 1 - Value\n"
    'Leonie,,Achterberg,,,Leo,Sternwarte Ost,Optician,--04-12,"Two\nlines, one note",Friends ::: * myContacts,* Home,'
    'leo@example.org ::: leonie@example.org,Work,l@example.net,Mobile,+43 664 5550101,Home,"Ring 2\nSteyr",Ring 2,'
    "Steyr,4400,AT,Sister,Mina,Anniversary,2015-06-20\n"
)
OLD_GOOGLE = (
    "Name,Given Name,Family Name,Birthday,Group Membership,E-mail 1 - Type,E-mail 1 - Value,Organization 1 - Type,"
    "Organization 1 - Name,Organization 1 - Title\n"
    "佐藤 陽菜,陽菜,佐藤,1991-11-30,* Coworkers ::: * myContacts,* ,h@example.org,,港ラボ,Chemist\n"
)
OUTLOOK = (
    '"Title","First Name","Last Name","Company","Job Title","Business Phone","Mobile Phone","E-mail Address",'
    '"Home Street","Home City","Home Postal Code","Birthday","Anniversary","Spouse","Children","Categories","Notes"\n'
    '"Dr.","Piotr","Halas","Werft Nord","Welder","040 555 01","0151 555 02","piotr@example.org","Kai 4","Kiel",'
    '"24103","4/23/1979","0/0/00","Ewa","","Friends",""\n'
    '"","Rosa","Lindqvist","","","","","","","","","5/4/1985","0/0/00","","","",""\n'
)


def test_an_export_of_google_is_read_by_its_numbered_columns(home: Any) -> None:
    home.land_data("contacts.csv", GOOGLE, user_id="ada")
    name = "Leonie Achterberg"
    assert home.facts() == [
        ("user", "friend_of", name),
        (name, "works_at", "Sternwarte Ost"),
        (name, "works_as", "Optician"),
        (name, "has_birthday", "04-12"),
        (name, "anniversary", "2015-06-20"),
        (name, "lives_in", "Steyr"),
        (name, "sibling_of", "Mina"),
        (name, "email", "leo@example.org"),
        (name, "email 2", "leonie@example.org"),
        (name, "work email", "l@example.net"),
        (name, "mobile phone", "+43 664 5550101"),
        (name, "address", "Ring 2, 4400 Steyr, AT"),
        (name, "nickname", "Leo"),
        (name, "note", "Two lines, one note"),
    ]


def test_the_older_columns_of_google_are_read_too(home: Any) -> None:
    home.land_data("google.csv", OLD_GOOGLE, user_id="ada")
    assert home.facts() == [
        ("user", "colleague_of", "佐藤陽菜"),
        ("佐藤陽菜", "works_at", "港ラボ"),
        ("佐藤陽菜", "works_as", "Chemist"),
        ("佐藤陽菜", "has_birthday", "1991-11-30"),
        ("佐藤陽菜", "email", "h@example.org"),
    ]


def test_an_export_of_outlook_is_read_and_one_date_tells_how_the_others_are_written(home: Any) -> None:
    home.land_data("Outlook.CSV", OUTLOOK.replace("\n", "\r\n"), user_id="ada")
    name = "Dr. Piotr Halas"
    assert home.facts() == [
        ("user", "friend_of", name),
        (name, "works_at", "Werft Nord"),
        (name, "works_as", "Welder"),
        (name, "has_birthday", "1979-04-23"),
        (name, "lives_in", "Kiel"),
        (name, "spouse_of", "Ewa"),
        (name, "email", "piotr@example.org"),
        (name, "mobile phone", "0151 555 02"),
        (name, "work phone", "040 555 01"),
        (name, "address", "Kai 4, 24103 Kiel"),
        ("user", "knows", "Rosa Lindqvist"),
        ("Rosa Lindqvist", "has_birthday", "1985-05-04"),
    ]


def test_a_date_that_can_be_two_days_is_refused_and_the_rest_of_the_entry_lands(home: Any) -> None:
    home.land_data("c.csv", "First Name,Last Name,Birthday\nRosa,Lindqvist,04/05/1985\n", user_id="ada")
    assert home.facts() == [("user", "knows", "Rosa Lindqvist")]
    letter = home.the_letter()
    assert (letter["reason"], letter["line_number"]) == ("invalid_card", 2)
    assert "can be two days" in letter["detail"]


def test_semicolons_and_german_columns(home: Any) -> None:
    home.land_data("k.csv", "Vorname;Nachname;Firma;Geburtstag\nUwe;Brandt;Mühle;03.09.1970\n", user_id="ada")
    assert home.facts() == [
        ("user", "knows", "Uwe Brandt"),
        ("Uwe Brandt", "works_at", "Mühle"),
        ("Uwe Brandt", "has_birthday", "1970-09-03"),
    ]


def test_a_row_with_an_open_quote_and_one_without_a_name_are_refused_alone(home: Any) -> None:
    rows = 'First Name,Phone\nRosa,1\n"Uwe"x,2\n,3\nIda,4\n'
    home.land_data("c.csv", rows, user_id="ada")
    assert [fact[2] for fact in home.facts() if fact[0] == "user"] == ["Rosa", "Ida"]
    assert sorted(home.reasons()) == ["invalid_card", "invalid_csv"]


@pytest.mark.parametrize(
    "header", ["user,text,date", "name,message,phone", "a,b,c", "Name,Notes", '{"name": 1, "email": 2}']
)
def test_a_table_of_messages_or_of_anything_else_is_no_address_book(header: str) -> None:
    assert not sniff(Sample("x.csv", f"{header}\n", ()))

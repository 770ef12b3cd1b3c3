"""A user's days: who is who, what is kept, what is written down, and what people decide."""

import pytest

from em_pipelines.resolution.user_registry import AliasEntry, Aliases
from em_pipelines.schema.ids import entity_id
from em_pipelines.schema.tables.graph import ENTITIES


def groups(entities) -> list[set[str]]:
    found: dict[str, set[str]] = {}
    for row in entities.to_pylist():
        found.setdefault(row["merged_into"] or row["entity_id"], set()).add(row["canonical_name"])
    return sorted(found.values(), key=sorted)


def test_a_role_said_beside_a_name_is_a_row_of_its_own(said, run) -> None:
    made = run([said("Lena", "person", "My wife Lena is late.", 0, role="wife")])
    rows = {row["canonical_name"]: row for row in made.entities.to_pylist()}
    assert (rows["wife"]["mention_count"], rows["wife"]["merged_into"]) == (0, rows["Lena"]["entity_id"])
    assert (rows["Lena"]["aliases"], rows["Lena"]["mention_count"]) == (["wife"], 1)
    assert rows["wife"]["entity_id"] == entity_id("u", "wife")
    assert made.entity_mentions.to_pylist()[0]["entity_id"] == rows["Lena"]["entity_id"]


def test_what_somebody_works_as_is_not_somebody(said, run) -> None:
    made = run(
        [
            said("Greta", "person", "Greta is my physio.", 0),
            said("physio", "concept", "Greta is my physio.", 0),
            said("physio", "person", "My physio is late.", 1),
        ]
    )
    assert groups(made.entities) == [{"Greta", "physio"}, {"physio"}]


def test_who_is_said_not_to_be_somebody_else_is_not(said, run) -> None:
    text = "Adam Whitby wants a stair. He's a customer, not my Adam."
    made = run([said("Adam", "person", "Adam is late.", 0), said("Adam Whitby", "person", text, 1)])
    assert groups(made.entities) == [{"Adam"}, {"Adam Whitby"}]


def test_a_name_is_read_before_a_role_met_first(said, run, read_by) -> None:
    made = run([said("wife", "person", "My wife is late.", 0), said("Lena", "person", "Lena, my wife, is here.", 1)])
    assert read_by(made.entities)["wife"] == "Lena"


def test_another_persons_wife_is_not_mine(said, run) -> None:
    made = run(
        [
            said("wife", "person", "My wife is late.", 0),
            said("wife", "person", "His wife is early.", 1),
            said("dad", "person", "Katya's dad is early.", 2),
            said("dad", "person", "My dad is late.", 3),
        ]
    )
    assert len(made.entities) == 4
    assert not [row for row in made.entities.to_pylist() if row["merged_into"]]


def test_namesakes_are_told_apart_by_what_they_are(said, run) -> None:
    made = run(
        [
            said("Sarah", "person", "My sister Sarah is here.", 0),
            said("Sarah", "person", "Sarah at reception has the key.", 1),
            said("Sarah", "person", "My sister Sarah left.", 2),
            said("Paris", "place", "We went to Paris.", 3),
            said("Paris", "person", "My friend Paris stayed.", 3, 1),
        ]
    )
    links = [link["entity_id"] for link in made.entity_mentions.to_pylist()]
    by_time = {row["mention_id"]: row["entity_id"] for row in made.entity_mentions.to_pylist()}
    assert by_time["m-u-0-0-Sarah"] == by_time["m-u-2-0-Sarah"] != by_time["m-u-1-0-Sarah"]
    assert len(set(links)) == 4


def test_unknown_names_taken_for_people_become_what_they_are_said_to_be(said, run) -> None:
    made = run(
        [
            said("Weserlink", "person", "It is called Weserlink.", 0),
            said("Weserlink", "organization", "I work at Weserlink.", 1),
        ]
    )
    assert [row["entity_type"] for row in made.entities.to_pylist()] == ["organization"]


def test_a_sister_is_not_the_boss_of_the_same_given_name(said, run) -> None:
    made = run(
        [
            said("Anna", "person", "My sister Anna is here.", 0),
            said("Anna Kovacs", "person", "I report to Anna Kovacs.", 1),
        ]
    )
    assert {"Anna", "sister"} in groups(made.entities)
    assert {"Anna Kovacs"} in groups(made.entities)


def test_two_bearers_leave_a_part_of_their_names_alone(said, run) -> None:
    made = run(
        [
            said("MacBook Air", "product", "I have a MacBook Air.", 0),
            said("MacBook Pro", "product", "And a MacBook Pro.", 1),
            said("MacBook", "product", "The MacBook is new.", 2),
        ]
    )
    assert len(groups(made.entities)) == 3


def test_users_do_not_meet(said, run) -> None:
    made = run([said("Robert", "person", "Robert came.", 0, user="a"), said("Bob", "person", "Bob came.", 1, user="b")])
    assert len(groups(made.entities)) == 2


def test_what_names_nothing_has_no_row(said, run) -> None:
    made = run([said("he", "person", "he came", 0), said("tomorrow", "concept", "see you tomorrow", 1)])
    assert len(made.entities) == len(made.entity_mentions) == 0


def test_operations_say_what_was_done_without_names(said, decided, run) -> None:
    rows = [said("Robert", "person", "Robert, or Bob as we all call him, came.", 0)]
    made = run(rows, [decided(False, "Bob", "Robert", day=1)])
    ops = made.entity_ops.to_pylist()
    assert [op["operation"] for op in sorted(ops, key=lambda op: op["timestamp"])].count("CREATE") == 2
    assert {op["operation"]: op["method"] for op in ops if op["operation"] != "CREATE"} == {
        "MERGE": "statement", "SPLIT": "feedback",
    }  # fmt: skip
    assert not [op for op in ops if "Bob" in op["reason"] or "Robert" in op["reason"]]
    assert len({op["op_id"] for op in ops}) == len(ops)


def test_split_names_are_not_joined_again_until_somebody_says_so(said, decided, run) -> None:
    rows = [
        said("Robert", "person", "Robert, or Bob as we all call him, came.", 0),
        said("Bob", "person", "Bob left.", 1),
        said("Robert", "person", "Robert, or Bob as we all call him, came.", 3),
    ]
    apart = [decided(False, "Bob", "Robert", day=2)]
    assert len(groups(run(rows, apart).entities)) == 2
    assert len(groups(run(rows, [*apart, decided(True, "Robert", "Bob", day=4)]).entities)) == 1


def test_the_last_name_of_a_merge_is_the_one_read(said, decided, run, read_by) -> None:
    rows = [said("Lena", "person", "My wife Lena is here.", 0), said("the boss", "person", "The boss is in.", 1)]
    made = run(rows, [decided(True, "Lena", "the boss", day=2)])
    assert set(read_by(made.entities).values()) == {"the boss"}


def test_the_remembered_person_stays_the_one_read(said, decided, run, read_by) -> None:
    made = run([said("user", "person", "I am here.", 0)], [decided(True, "user", "Petra", day=1)])
    assert read_by(made.entities) == {"user": "user", "petra": "user"}


def test_a_decision_on_names_never_said_makes_them(decided, run) -> None:
    made = run([], [decided(True, "Biscuit", "Keks", day=0)])
    assert groups(made.entities) == [{"Biscuit", "Keks"}]


def test_the_alias_file_wins(said, decided, run, read_by) -> None:
    aliases = Aliases({"u": (AliasEntry(name="Winifred", aliases=("Freddie", "the captain")),)})
    rows = [
        said("Frederick", "person", "Frederick came.", 0),
        said("Freddie", "person", "Freddie left.", 1),
        said("captain", "person", "The captain left.", 2),
    ]
    made = run(rows, [decided(False, "Freddie", "Winifred", day=3)], aliases=aliases)
    read = read_by(made.entities)
    assert (read["freddie"], read["captain"], read["frederick"]) == ("Winifred", "Winifred", "Frederick")
    other = run([said("Freddie", "person", "Freddie left.", 1, user="v")], aliases=aliases)
    assert groups(other.entities) == [{"Freddie"}]


@pytest.mark.slow
def test_one_mention_meets_few_names_of_a_large_registry(said, run, monkeypatch: pytest.MonkeyPatch) -> None:
    letters = "bdfgklmnprstvz"
    names = [f"{a.upper()}{b}a{c}o {c.upper()}{a}e{b}i" for a in letters for b in letters for c in letters]
    before = run([said(name, "person", f"{name} came.", 0, n) for n, name in enumerate(names)]).entities
    assert len(before) == len(names) > 2500
    from em_pipelines.resolution import linking

    met: list[str] = []
    compare = linking.compare
    monkeypatch.setattr(linking, "compare", lambda a, b: met.append(b.text) or compare(a, b))
    run([said("Bdafo", "person", "Bdafo came.", 1)], previous=before)
    assert len(met) < len(names) / 10


def test_the_declared_columns_are_filled(said, run) -> None:
    made = run([said("Lena", "person", "My wife Lena is here.", 0)])
    assert made.entities.schema.equals(ENTITIES.schema)


def test_one_name_in_two_spellings_cannot_be_split(said, decided, run) -> None:
    rows = [said("Heron", "project", "Heron stays.", 0)]
    assert run(rows, [decided(False, "heron", "Heron", day=1)]).entities.equals(run(rows).entities)


def things(made) -> list[str]:
    """The thing of each mention, in the order said."""
    thing = {row["entity_id"]: row["merged_into"] or row["entity_id"] for row in made.entities.to_pylist()}
    order = sorted(made.entity_mentions.to_pylist(), key=lambda link: link["timestamp"])
    return [thing[link["entity_id"]] for link in order]


@pytest.mark.parametrize(
    "texts",
    [
        ("My brother Emil rang.", "Emil from work rang."),
        ("Emil rang.", "Another Emil rang."),
        ("My friend Emil rang.", "My other friend Emil rang."),
        ("My brother Emil rang.", "I met Emil, not my brother, the one from chess."),
        ("My dentist Emil rang.", "Emil is my landlord."),
        ("My boss Emil rang.", "Emil from the choir rang."),
        ("Emil on the early shift rang.", "Emil on the late shift rang."),
        ("Emil rang.", "A different Emil rang."),
        ("Emil my husband rang.", "Our neighbour Emil rang."),
        ("My cousin Emil in Riga rang.", "My cousin Emil in Tartu rang."),
        ("Emil from IT rang.", "Emil, my brother-in-law, rang."),
        ("My neighbour Emil rang.", "Emil from the office rang."),
        ("Emil from uni rang.", "Emil, my boss's brother, rang."),
        ("My friend Emil rang.", "Emil in my class rang."),
        ("My daughter Emil rang.", "She has a friend who's also called Emil."),
    ],
)
def test_a_namesake_stays_apart(texts, said, run) -> None:
    made = run([said("Emil", "person", text, day) for day, text in enumerate(texts)])
    assert len(set(things(made))) == 2


@pytest.mark.parametrize(
    "texts",
    [
        ("My friend Emil rang.", "Emil, my friend, rang."),
        ("My other sister Emil rang.", "My sister Emil rang."),
        ("Emil from choir rang.", "Emil from the church choir rang."),
        ("My colleague Emil rang.", "Emil from work rang."),
        ("My manager Emil rang.", "Emil, my boss, rang."),
        ("Emil from legal rang.", "Legal's Emil rang."),
        ("My new boyfriend Emil rang.", "My boyfriend Emil rang."),
        ("My neighbour Emil rang.", "Emil from next door rang."),
    ],
)
def test_who_is_told_by_the_same_is_one(texts, said, run) -> None:
    made = run([said("Emil", "person", text, day) for day, text in enumerate(texts)])
    assert len(set(things(made))) == 1


def test_the_word_before_a_name_tells_which_of_two_is_meant(said, run) -> None:
    texts = ("Emil from legal rang.", "Emil from design rang.", "Emil from design sang.", "Legal's Emil rang.")
    made = run([said("Emil", "person", text, day) for day, text in enumerate(texts)])
    first, second, third, fourth = things(made)
    assert first == fourth != second == third


def test_a_bare_name_is_his_who_was_spoken_of_in_full_in_the_conversation(said, run) -> None:
    rows = [
        said("Emil", "person", "Emil rang.", 0),
        said("Emil Roth", "person", "Emil Roth rang.", 1),
        said("Emil Vogt", "person", "Emil Vogt rang.", 2),
        said("Emil", "person", "Emil sang.", 2, 5),
    ]
    bare, roth, vogt, sang = things(run(rows))
    assert bare == roth != vogt == sang


def test_a_mention_that_may_be_anothers_says_so(said, run) -> None:
    rows = [
        said("Emil", "person", "My brother Emil rang.", 0),
        said("Emil", "person", "Emil from work rang.", 1),
        said("Emil", "person", "Emil rang.", 4),
    ]
    links = sorted(run(rows).entity_mentions.to_pylist(), key=lambda link: link["timestamp"])
    assert [link["method"] for link in links][1:] == ["new", "namesake"]
    assert links[-1]["score"] == 0.5


def test_a_title_tells_which_of_a_couple_is_meant(said, run) -> None:
    rows = [
        said("Peter Halle", "person", "Peter Halle rang.", 0),
        said("Maria Halle", "person", "Maria Halle rang.", 1),
        said("Mrs Halle", "person", "Mrs Halle sang.", 3),
        said("Mr Halle", "person", "Mr Halle sang.", 5),
    ]
    peter, maria, mrs, mr = things(run(rows))
    assert (peter, maria) == (mr, mrs)
    assert peter != maria


@pytest.mark.parametrize(
    ("name", "other", "is_one"),
    [
        ("Yevgenia", "Evgenia", True),
        ("Mikhail", "Mihail", True),
        ("Margareta", "Margarata", True),
        ("Christian", "Christina", False),
        ("Marta", "Marla", False),
    ],
)
def test_a_slip_of_the_pen_is_no_namesake_and_a_namesake_no_slip(name, other, is_one, said, run) -> None:
    made = run([said(name, "person", f"{name} rang.", 0), said(other, "person", f"{other} rang.", 3)])
    assert (len(set(things(made))) == 1) is is_one


def test_the_wife_of_the_boss_is_not_the_boss(said, run) -> None:
    rows = [
        said("Emilia", "person", "Emilia, my boss's wife, does cakes.", 0),
        said("wife", "person", "My boss's wife does tarts.", 1),
        said("boss", "person", "My boss carries them.", 2),
    ]
    emilia, wife, boss = things(run(rows))
    assert emilia == wife != boss


def test_who_are_counted_beside_each_other_are_two(said, run) -> None:
    rows = [
        said("Ines", "person", "I had tea with Ines and Ines Maria.", 0),
        said("Ines Maria", "person", "I had tea with Ines and Ines Maria.", 0, span_start=23, span_end=33),
        said("Ines Maria", "person", "Ines Maria is moving.", 3),
        said("Ines", "person", "Ines is staying.", 5),
    ]
    assert groups(run(rows).entities) == [{"Ines"}, {"Ines Maria"}]


def test_a_grandmother_is_told_by_the_word_before_her_name(said, run) -> None:
    texts = ("Grandma Ines knits.", "My daughter Ines has her hands.", "Grandma Ines laughed.")
    grandma, daughter, again = things(run([said("Ines", "person", text, day) for day, text in enumerate(texts)]))
    assert grandma == again != daughter


def test_who_was_told_from_the_one_of_a_bare_name_does_not_take_it(said, run) -> None:
    text = "Adam Whitby wants a stair. He's a customer, not my Adam."
    rows = [
        said("Adam", "person", "Adam is late.", 0),
        said("Adam Whitby", "person", text, 1),
        said("Adam", "person", text, 1, span_start=51, span_end=55),
        said("Adam Whitby", "person", "Adam Whitby lives in Ilkley. Adam lives in Bramley.", 2),
        said("Adam", "person", "Adam Whitby lives in Ilkley. Adam lives in Bramley.", 2, span_start=29, span_end=33),
    ]
    made = run(rows)
    assert groups(made.entities) == [{"Adam"}, {"Adam Whitby"}]
    adam, whitby, not_him, lives_there, lives_here = things(made)
    assert adam == not_him == lives_here != whitby == lives_there


def hinted(run, said, *hints: str):
    rows = [
        said("Ines Prado", "person", "Ines Prado rang.", 0),
        said("Ines Falk", "person", "Ines Falk wrote.", 1),
        said("Ines", "person", "Ines is late.", 9),
    ]
    return run(rows, hints={rows[-1]["message_id"]: list(hints)})


@pytest.mark.parametrize("meant", ["Ines Prado", "Ines Falk"])
def test_a_hint_tells_which_of_two_is_meant(meant: str, said, run) -> None:
    made = hinted(run, said, meant, "Oslo")
    assert {meant, "Ines"} in groups(made.entities)
    assert made.entity_mentions.to_pylist()[-1]["method"] == "hint"


@pytest.mark.parametrize("hints", [("Ines Moll",), ("Ines Prado", "Ines Falk"), ("Ida Prado",), ()])
def test_a_hint_of_nobody_known_or_of_two_makes_nobody_and_tells_nothing(hints: tuple[str, ...], said, run) -> None:
    assert groups(hinted(run, said, *hints).entities) == groups(hinted(run, said).entities)

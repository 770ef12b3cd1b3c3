"""Lists of conversations of any size, whole and broken."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.landing.formats.json_stream import Element, JsonList
from em_pipelines.landing.settings import LandingSettings

LIMIT = 10_000


def read(data: bytes, size: int = 7, limit: int = LIMIT) -> list[Element]:
    return list(JsonList(iter([data[i : i + size] for i in range(0, len(data), size)]), limit))


values = st.recursive(
    st.none() | st.integers(-(2**53), 2**53) | st.text(max_size=20) | st.sampled_from(['"', "\\", "[{", "},"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(values, max_size=8), st.integers(1, 50), st.booleans())
def test_the_elements_are_those_that_a_parser_of_the_whole_finds(found: list[Any], size: int, is_spread: bool) -> None:
    data = orjson.dumps(found, option=orjson.OPT_INDENT_2 if is_spread else 0)
    elements = read(b" \n" + data + b"\n", size)
    assert [element.value for element in elements] == orjson.loads(data)
    assert [element.number for element in elements] == list(range(1, len(found) + 1))
    assert not any(element.problem for element in elements)


def conversations(n: int = 5) -> list[bytes]:
    """As Claude writes them: messages begin with the key that conversations begin with, too."""
    return [
        orjson.dumps(
            {
                "uuid": f"c{i}", "name": f"Talk, {i}",
                "chat_messages": [
                    {"uuid": f"m{i}-{k}", "text": 'a "quoted" {"uuid": "c0", "name": 1}, [word', "sender": "human"}
                    for k in range(3)
                ],
            }
        )
        for i in range(n)
    ]  # fmt: skip


BREAKS = {
    "a comma too many": (b'"sender":"human"}]', b'"sender":"human"},]'),
    "a word that is none": (b'"human"', b"human"),
    "a quote too few": (b'"text":"a ', b'"text":a '),
    "a quote too many": (b"[word", b'[w"ord'),
    "an end of a string that is missing": (b'[word"', b"[word"),
    "a bracket too few": (b"}]}", b"}}"),
    "a brace too few": (b"}]}", b"}]"),
    "a bracket too many": (b"}]}", b"}]]}"),
    "the wrong bracket": (b"}]}", b"})}"),
    "bytes of another encoding": (b"Talk, ", b"T\xe4lk, "),
    "a line break in a string": (b"Talk, ", b"Talk,\n"),
    "too large": (b"Talk, ", b"Talk, " + b"x" * LIMIT),
}


@pytest.mark.parametrize("size", [5, 100_000])
@pytest.mark.parametrize("place", [0, 2, 4])
@pytest.mark.parametrize("name", BREAKS)
def test_a_broken_conversation_costs_itself_alone(name: str, place: int, size: int) -> None:
    whole = conversations()
    whole[place] = whole[place].replace(*BREAKS[name])
    elements = read(b"[" + b",\n".join(whole) + b"]", size)
    good = [element.value["uuid"] for element in elements if not element.problem and "chat_messages" in element.value]
    assert good == [f"c{i}" for i in range(5) if i != place]
    (bad,) = [element for element in elements if element.problem]
    assert bad.raw.startswith(b'{"uuid":"c%d"' % place)
    assert bad.line - 1 - place in (0, 1)  # one further on where a line break was put in


def test_a_missing_comma_and_a_list_that_ends_in_between_cost_nothing() -> None:
    whole = conversations()
    data = b"[" + whole[0] + b"\n" + whole[1] + b",\n" + whole[2] + b"]\n,\n" + whole[3] + b",\n" + whole[4] + b"]"
    good = [element.value["uuid"] for element in read(data) if not element.problem]
    assert good == ["c0", "c1", "c2", "c3", "c4"]


@pytest.mark.parametrize("more", [b"}", b",", b"]"])
def test_a_bracket_or_comma_too_many_behind_a_conversation_costs_nothing(more: bytes) -> None:
    whole = conversations()
    whole[1] += more
    good = [element.value["uuid"] for element in read(b"[" + b",\n".join(whole) + b"]") if not element.problem]
    assert good == [f"c{i}" for i in range(5)]


@pytest.mark.parametrize("more", [b"and so on", b"\n\n<p>Served by proxy</p>"])
def test_what_follows_the_end_of_the_list_is_told_of(more: bytes) -> None:
    *good, last = read(b"[" + b",".join(conversations()) + b"]" + more)
    assert len(good) == 5
    assert more.strip().startswith(last.raw)
    assert "follows the end" in last.problem


@pytest.mark.parametrize("n_left", [1, 20, 150])
def test_a_list_that_breaks_off_gives_what_came_before_and_says_where(n_left: int) -> None:
    data = b"[" + b",\n".join(conversations()) + b"]"
    *good, last = read(data[:-n_left])
    assert [element.value["uuid"] for element in good] == [f"c{i}" for i in range(4)]
    assert (last.value is not None) == (n_left == 1)
    assert "breaks off at line 5" in last.problem
    assert last.line == 5


def test_a_list_without_its_closing_bracket_is_told_of() -> None:
    *good, last = read(b"[1, 2, ")
    assert [element.value for element in good] == [1, 2]
    assert "breaks off" in last.problem


def test_problems_name_line_and_byte_of_the_file() -> None:
    (_, bad) = read(b'[\n {"a": 1},\n {"a":\n  nul}\n]')
    assert bad.line == 4
    assert "line 4, byte 23" in bad.problem


def test_no_more_than_an_element_is_held() -> None:
    held: list[int] = []

    def chunks() -> Iterator[bytes]:
        yield b"["
        for n in range(2000):
            yield b'{"uuid": "%d", "text": "%s"},' % (n, b"x" * 500)
            held.append(len(stream._buffer))
        yield b"{}]"

    stream = JsonList(chunks(), LIMIT)
    assert sum(1 for _ in stream) == 2001
    assert max(held) < 2000


def test_a_list_may_be_larger_than_a_document(home: Any) -> None:
    one = {"uuid": "c", "chat_messages": [{"sender": "human", "text": "x", "created_at": "2026-03-02T08:00:00Z"}]}
    data = orjson.dumps([one | {"uuid": f"c{i}"} for i in range(50)])
    settings = LandingSettings(max_document_bytes=1024, max_conversation_bytes=1024)
    report = home.land_data("conversations.json", data, user_id="ada", settings=settings)
    assert (report.n_landed, dict(report.n_dead_letters)) == (50, {})


def test_half_a_character_costs_its_message_alone(home: Any) -> None:
    message = b'{"sender": "human", "text": "%s", "created_at": "2026-03-02T08:00:00Z"}'
    data = b'[{"uuid": "c", "chat_messages": [' + message % b"fine" + b"," + message % b"bad \\ud83d" + b"]}]"
    report = home.land_data("conversations.json", data, user_id="ada")
    assert (report.n_landed, report.n_refused) == (1, 1)


def test_broken_conversations_are_dead_letters_with_their_lines_and_the_others_land(home: Any) -> None:
    one = '{"uuid": "c%d", "created_at": "2026-03-02T08:00:00Z", "chat_messages": [{"sender": "human", "text": "x"}]%s}'
    data = "[\n" + ",\n".join(one % (i, ",," if i == 1 else "") for i in range(4)) + "\n]"
    report = home.land_data("conversations.json", data, user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (3, {"invalid_json": 1})
    letter = home.the_letter()
    assert letter["line_number"] == 3
    assert "conversation 2" in letter["detail"]

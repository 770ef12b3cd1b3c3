"""Names of notes hold on every system, whatever a thing is called."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from em_pipelines.language.filenames import DEVICES, safe_stem, stems

HOSTILE = [
    "CON", "con", "nul.txt", "COM1", "com¹", "ＣＯＮ", "LPT9.tar.gz", "CONIN$", "../x", "..\\..\\x", "/etc/passwd",
    "C:\\x", "a\x00b", "...", ".", "", " ", "-rf", ".hidden", "a" * 300, "ä" * 300, "🦊" * 300, "🦊", "👩‍👩‍👧", "x.",
    "x ", "a|b", "[[x]]", "x]] [[y|z", "#tag", "^id", "%%", "`a`", "a\nb", "\u202egnp.exe", "AT&T", "C#", "C++", "C",
    "Dana (3f2a1b4c)", "Dana", "dana", "Dana", "DANA", "é", "e\u0301", "ﬁ", "fi", "ß", "ss", "full／width", "a：b",
    "$HOME", "~", "*", "?", "<script>", '"', "unnamed", "ent_00000000000000000001", "\ud7ff", "\uffff", "\U000e0041",
    "Index", "Person", "a" * 79 + "e\u0301" * 5,
]  # fmt: skip
NAMES = st.lists(
    st.sampled_from(HOSTILE) | st.text(max_size=12) | st.text("aA.-()0 fF/", max_size=6), min_size=1, max_size=40
)
FORBIDDEN = re.compile(r'[<>:"/\\|?*\x00-\x1f\x7f#^\[\]`$%{}=!~;_]')


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def check(stem: str) -> None:
    assert stem
    assert not FORBIDDEN.search(stem)
    assert not FORBIDDEN.search(unicodedata.normalize("NFKC", stem))
    assert stem == stem.strip(" .-")
    assert len(f".{stem}.md.4194304.tmp".encode()) <= 255
    assert not [c for c in stem if unicodedata.category(c)[0] == "C" or (c.isspace() and c != " ")]
    for form in (stem, unicodedata.normalize("NFKC", stem)):
        assert form.partition(".")[0].strip().upper() not in DEVICES


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_gives_a_safe_stem(name: str) -> None:
    check(safe_stem(name))


@given(NAMES)
def test_stems_are_safe_and_no_two_are_one_file_anywhere(names: list[str]) -> None:
    ids = {f"ent_{number:020x}": name for number, name in enumerate(names)}
    found = stems(ids)
    assert found.keys() == ids.keys()
    for stem in found.values():
        check(stem)
    for form in (folded, lambda stem: unicodedata.normalize("NFD", stem).lower(), str.upper):
        assert len({form(stem) for stem in found.values()}) == len(ids)


@given(NAMES, st.randoms())
def test_the_order_of_things_is_no_matter(names: list[str], random) -> None:
    ids = [(f"ent_{number:020x}", name) for number, name in enumerate(names)]
    mixed = list(ids)
    random.shuffle(mixed)
    assert stems(dict(mixed)) == stems(dict(ids))


def test_plain_names_stay_as_they_are() -> None:
    for name in ("Dana", "San Sebastián", "Überseestadt", "C++", "AT&T", "東京", "🦊 Fox", "O'Neill, Jr."):
        assert safe_stem(name) == name.rstrip(".")


def test_namesakes_bear_digits_of_their_ids() -> None:
    found = stems({"ent_3f2a1b4c0000": "Dana", "ent_3f2a1b4d0000": "dana", "ent_999999990000": "Rui"})
    assert sorted(found.values()) == ["Dana (3f2a1b4c)", "Rui", "dana (3f2a1b4d)"]

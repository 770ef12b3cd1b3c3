"""The vault: notes that link, names that cannot break out, and a folder in which only its own files are touched."""

import re
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from em_pipelines.errors import UsageError
from em_pipelines.serving.export.exported_facts import Memory
from em_pipelines.serving.export.notes import notes_of
from em_pipelines.serving.export.vault import MARKER, to_vault

from .conftest import World

LINK = re.compile(r"\[\[([^\[\]|]*)\|([^\[\]|]*)\]\]")
HOSTILE = [
    "CON", "../x", "x" * 300, "...", "🦊", "[[Person|me]]", "]] [[x", "a|b", "# T", "\n---\nid: 1\n---\n", "<script>",
    "![i](http://a.b/c)", "`", "%%", "Dana", "dana", "", "x\x00y", "Index", "- [ ] task",
]  # fmt: skip


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def write(place: Path, user: str = "nora", **notes: str) -> None:
    with to_vault(place, user) as found:
        found.update({"Index.md": "index", "Person.md": "person"} | {f"entities/{k}.md": v for k, v in notes.items()})


def files(place: Path) -> dict[str, str]:
    return {str(p.relative_to(place)): p.read_text() for p in sorted(place.rglob("*")) if p.is_file()}


def test_notes_tell_what_is_known(world: World, place: Path) -> None:
    world.export("nora", "markdown", output=place)
    found = files(place)
    assert "# nora" in found["Person.md"]
    assert re.search(
        r"- \*\*lives in\*\* \[\[entities/Tromsø\|Tromsø\]\]: (sure|likely) \(0\.\d\d\), since 2026-03-05; "
        r"said 2026-03-05 in s2: “I moved to Tromsø”\n",
        found["Person.md"],
    )
    earlier = found["Person.md"].partition("## Earlier\n\n")[2]
    assert re.search(r"(?m)^- \*\*lives in\*\* \[\[entities/Bergen\|Bergen\]\]: .*until", earlier)
    assert "[[Person|nora]]" in found["entities/Tromsø.md"]
    assert "said 2026-03-21 in feedback" in found["entities/rye bread.md"]
    assert "[[entities/Tromsø|Tromsø]]: 1 fact" in found["Index.md"]
    assert "hunter22secret" not in "".join(found.values())


def test_links_lead_to_notes(world: World, place: Path) -> None:
    world.export("nora", "markdown", output=place)
    linked = {target for text in files(place).values() for target, _ in LINK.findall(text)}
    assert {f"{target}.md" for target in linked} <= files(place).keys()
    assert len(linked) > 5


def test_equal_memory_gives_equal_notes(world: World, place: Path, tmp_path: Path) -> None:
    world.export("nora", "markdown", output=place)
    first = files(place)
    world.export("nora", "markdown", output=place)
    world.export("nora", "markdown", output=tmp_path / "again")
    assert files(place) == first == files(tmp_path / "again")


@given(st.lists(st.sampled_from(HOSTILE) | st.text(max_size=10), max_size=12), st.sampled_from(HOSTILE) | st.text())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_no_name_breaks_out_of_its_place(
    memory: Callable[..., Memory], tmp_path_factory: pytest.TempPathFactory, names: list[str], user: str
) -> None:
    made = memory(*names, value="".join(names), user_id=user)
    notes = notes_of(made)
    assert len(notes) == len(made.entities) + 1
    targets = {name.removesuffix(".md") for name in notes}
    for text in notes.values():
        opening = text.split("\n---\n")[0].splitlines()
        assert opening[0] == "---"
        assert all(re.match(r"[a-z_]+: ", line) for line in opening[1:])
        body = text.split("\n---\n", 1)[1]
        assert {target for target, _ in LINK.findall(body)} <= targets
        rest = LINK.sub("", body)
        assert "[[" not in rest
        assert not re.search(r"(?<!\\)(?:\\\\)*[\[\]`|]|<(?!/?b>)", rest)
        for line in body.splitlines():
            assert re.match(r"$|# |## |- |Also called: |[a-z]+, \d+ mention|\[\[Person\|", line), line
    folder = tmp_path_factory.mktemp("names") / "vault"
    with to_vault(folder, user) as found:
        found.update(notes)
    assert len(files(folder)) == len(notes) + 1
    assert {p.parent.name for p in folder.rglob("*.md")} <= {"vault", "entities"}


def test_an_older_vault_is_brought_up_to_date_and_nothing_else_is_touched(place: Path) -> None:
    write(place, Dana="old", Rui="same", Gone="old")
    (place / ".obsidian").mkdir()
    (place / ".obsidian" / "app.json").write_text("{}")
    (place / "entities" / "My own.md").write_text("mine")
    write(place, Dana="new", Rui="same", Added="new")
    found = files(place)
    marker = orjson.loads(found.pop(MARKER))
    assert found == {
        ".obsidian/app.json": "{}", "Index.md": "index", "Person.md": "person", "entities/Added.md": "new",
        "entities/Dana.md": "new", "entities/My own.md": "mine", "entities/Rui.md": "same",
    }  # fmt: skip
    assert set(marker["files"]) == found.keys() - {".obsidian/app.json", "entities/My own.md"}


def test_a_note_that_somebody_changed_is_neither_replaced_nor_deleted(place: Path) -> None:
    write(place, Dana="old", Gone="old")
    for name in ("Dana", "Gone"):
        path = place / "entities" / f"{name}.md"
        path.write_text("mine")
        with pytest.raises(UsageError, match="changed since"):
            write(place, Dana="new")
        assert path.read_text() == "mine"
        path.write_text("old")
    (place / "entities" / "Gone.md").unlink()
    write(place, Dana="new")
    assert "entities/Gone.md" not in files(place)


def test_a_file_of_somebody_else_is_not_replaced(place: Path) -> None:
    write(place)
    (place / "entities" / "Dana.md").write_text("mine")
    before = files(place)
    with pytest.raises(UsageError, match="not written here"):
        write(place, Dana="new")
    assert files(place) == before


def test_an_update_that_was_killed_is_ended_by_the_next(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(place, Dana="old", Rui="old", Gone="old")
    moved = 0
    replace = Path.replace

    def killed(self: Path, target: Path) -> Path:
        nonlocal moved
        moved += self.suffix == ".md"
        if moved > 3:
            raise KeyboardInterrupt
        return replace(self, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", killed)
        with pytest.raises(KeyboardInterrupt):
            write(place, Dana="new", Rui="new", Added="new")
    write(place, Dana="new", Rui="new", Added="new")
    assert sorted(files(place)) == [
        MARKER, "Index.md", "Person.md", "entities/Added.md", "entities/Dana.md", "entities/Rui.md",
    ]  # fmt: skip
    assert [p.name for p in place.parent.iterdir()] == ["vault"]


def test_an_empty_folder_will_do(place: Path) -> None:
    place.mkdir()
    write(place, Dana="new")
    assert "entities/Dana.md" in files(place)


@pytest.mark.parametrize("user", ["ivo", "NORA"])
def test_the_vault_of_another_is_left_alone(place: Path, user: str) -> None:
    write(place, Dana="hers")
    before = files(place)
    with pytest.raises(UsageError, match="somebody else"):
        write(place, user, Dana="his")
    assert files(place) == before


@pytest.mark.parametrize(
    "marker",
    [
        b"", b"{}", b"[]", b'{"format": "em_pipelines.vault"}',
        b'{"format": "other", "version": 1, "user_id": "nora", "files": {}}',
        b'{"format": "em_pipelines.vault", "version": 1, "user_id": "nora", "files": {"../../x.md": []}}',
        b'{"format": "em_pipelines.vault", "version": 1, "user_id": "nora", "files": {"entities/../x.md": []}}',
        b'{"format": "em_pipelines.vault", "version": 1, "user_id": "nora", "files": {"/etc/passwd": []}}',
        b'{"format": "em_pipelines.vault", "version": 1, "user_id": "nora", "files": []}',
        b'{"format": "em_pipelines.vault", "version": 1, "user_id": "nora", "files": {"Index.md": [1]}}',
    ],
)  # fmt: skip
def test_a_marker_that_is_none_of_ours(place: Path, marker: bytes) -> None:
    place.mkdir()
    (place / MARKER).write_bytes(marker)
    (place.parent / "x.md").write_text("outside")
    with pytest.raises(UsageError, match="none of ours"):
        write(place)
    assert (place.parent / "x.md").read_text() == "outside"


def test_a_vault_of_a_newer_version(place: Path) -> None:
    write(place)
    marker = orjson.loads((place / MARKER).read_bytes())
    (place / MARKER).write_bytes(orjson.dumps({**marker, "version": 2}))
    with pytest.raises(UsageError, match="newer"):
        write(place)


def test_folders_that_are_no_vault(place: Path, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.md").write_text("mine")
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    for name in ("notes", "file", "link"):
        with pytest.raises(UsageError, match="exporting to"):
            write(tmp_path / name)
    write(place)
    (place / "entities").rmdir()
    (place / "entities").symlink_to(tmp_path / "notes")
    with pytest.raises(UsageError, match="exporting to"):
        write(place)
    assert (tmp_path / "notes" / "mine.md").read_text() == "mine"

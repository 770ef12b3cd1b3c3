"""ZIP files as people are sent them: what is in them lands as if unpacked, and what is wrong with one part costs that
part alone."""

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from em_pipelines.landing.land import all_letters
from em_pipelines.landing.settings import LandingSettings

Contents = dict[str, bytes | str | list[Any]]

CHATGPT = [
    {
        "id": "c1", "title": "Rowing", "create_time": 1772437000, "current_node": "a",
        "mapping": {
            "r": {"message": None, "parent": None, "children": ["a"]},
            "a": {
                "message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I row."]}},
                "parent": "r", "children": [],
            },
        },
    }
]  # fmt: skip
CLAUDE = [
    {"uuid": "c4", "created_at": "2026-03-02T08:00:00Z", "chat_messages": [{"sender": "human", "text": "I carve oak."}]}
]
CODE = {"type": "user", "sessionId": "c5", "timestamp": "2026-03-02T08:00:00Z", "message": {"content": "I use Helix."}}


def zipped(contents: Contents, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A ZIP of files: bytes and text as they are, lists as JSON, a list whose name ends in .jsonl a line each."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in contents.items():
            lines = list(map(orjson.dumps, data)) if isinstance(data, list) else []
            as_json = b"\n".join(lines) if name.endswith(".jsonl") else b"[" + b",".join(lines) + b"]"
            archive.writestr(name, as_json if isinstance(data, list) else data)
    return out.getvalue()


def reasons_by_file(home: Any) -> dict[str, str]:
    """What follows the ZIP's folder in a letter's file → reason."""
    letters = all_letters(home.log).values()
    return {letter["file"].rpartition("/in/")[2]: letter["reason"] for letter in letters}


def contents_of(home: Any) -> list[str]:
    return sorted(record["content"] for record in home.landed())


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["export.zip", "Export.ZIP", "download"])
def test_the_zip_of_chatgpt_lands_as_it_is(home: Any, method: int, name: str) -> None:
    data = zipped(
        {
            "conversations.json": CHATGPT,
            "chat.html": '<html><script>var jsonData = [{"mapping": {}}]</script></html>',
            "user.json": b'{"id": "u", "email": "x@example.org"}',
            "message_feedback.json": [],
            "model_comparisons.json": [],
            "shared_conversations.json": [{"id": "s", "conversation_id": "c1", "title": "Rowing"}],
            "file-4Xq-boat.png": b"\x89PNG\x00\x01",
            "dalle-generations/file-7.webp": b"RIFF\x00",
            "3f/audio/a.wav": b"RIFF\x00",
            "user-7/0b/mnt/data/chat.csv": "user,text,date\nx,what somebody uploaded,2026-01-05T10:00:00Z\n",
        },
        method,
    )
    report = home.land_data(name, data, user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {})
    assert contents_of(home) == ["I row."]
    assert [file.rpartition("/in/")[2] for file in report.files] == [f"{name}!/conversations.json"]
    said = "\n".join(report.notes)
    for side in ("chat.html", "user.json", "message_feedback.json", "model_comparisons.json", "shared_conversations"):
        assert side in said
    assert report.n_passed_over == {"images": 2, "recordings": 1, "side files": 6}
    assert "2 images, 1 recording noted, not read" in said


def test_an_export_in_several_files_with_a_manifest_lands_without_titles(home: Any) -> None:
    shards = {f"conversations-00{n}.json": [CHATGPT[0] | {"id": f"c{n}", "title": None}] for n in range(3)}
    report = home.land_data("export.zip", zipped(shards | {"export_manifest.json": b'{"files": []}'}), user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (3, {})
    assert "export_manifest.json (ChatGPT's export brings them" in "\n".join(report.notes)


def test_files_of_an_export_that_hold_nothing_are_skipped_and_others_that_are_unknown_are_findings(home: Any) -> None:
    nothing = {"a.json": "[]", "b.json": '{"chats": []}', "c.json": '{"a": {"b": [null, {}]}}'}
    something = {"d.json": '{"chats": [0]}', "e.json": '{"chats": [""]}'}
    report = home.land_data("x.zip", zipped({"conversations.json": CLAUDE, **nothing, **something}), user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"unknown_format": 2})
    assert "skipped a.json, b.json, c.json (they hold nothing)" in report.notes[0]


@pytest.mark.parametrize("contents", [{"a.png": b"x"}, {"notes.txt": "What is this?"}, {"a.jpg": b"x", "b.txt": "y"}])
def test_a_zip_of_which_nothing_could_be_landed_is_a_finding(home: Any, contents: Contents) -> None:
    report = home.land_data("x.zip", zipped(contents))
    assert reasons_by_file(home) == {"x.zip": "unknown_format"}
    assert report.notes


@pytest.mark.parametrize("is_zipped", [True, False])
def test_side_files_of_claude_are_skipped_in_a_folder_as_in_a_zip(home: Any, is_zipped: bool) -> None:
    contents: Contents = {
        "conversations.json": CLAUDE, "users.json": [{"uuid": "u"}], "projects.json": [{"uuid": "p", "docs": []}],
        "memories.json": [{"conversations_memory": "**Work**"}], "projects/7f.json": "{}", "odd.json": '{"a": 1}',
    }  # fmt: skip
    if is_zipped:
        report = home.land_data("data-2026-03-04.zip", zipped(contents), user_id="ada")
    else:
        for name, data in contents.items():
            home.write(name, data if isinstance(data, str) else orjson.dumps(data))
        report = home.land(home.root / "in", user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"unknown_format": 1})
    assert [name.rpartition("/")[2] for name in reasons_by_file(home)] == ["odd.json"]
    assert "memories.json, projects.json, projects/7f.json, users.json (Claude's export" in "\n".join(report.notes)


def test_a_zipped_folder_of_claude_code_lands_whatever_hidden_folders_it_lies_in(home: Any) -> None:
    inside = ".claude/projects/-srv-ada-app"
    data = zipped(
        {
            f"{inside}/c5.jsonl": [CODE],
            f"{inside}/.DS_Store": b"\x00\x01",
            f"__MACOSX/{inside}/._c5.jsonl": b"\x00\x05",
        }
    )
    report = home.land_data("projects.zip", data, user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {})
    assert report.n_passed_over == {"hidden files": 1}


def test_folders_in_a_zip_of_logs_are_users_and_one_called_as_the_zip_is_none(home: Any, message: Any) -> None:
    line = message(user_id=None)
    home.land_data("logs.zip", zipped({"logs/nora/a.jsonl": [line], "logs/ivo/b.jsonl": [line]}))
    home.land_data("more.zip", zipped({"ben/a.jsonl": [line]}))
    assert sorted(record["user_id"] for record in home.landed()) == ["ben", "ivo", "nora"]


def test_folders_of_an_export_in_a_zip_name_nobody(home: Any) -> None:
    report = home.land_data("x.zip", zipped({"Takeout/My stuff/conversations.json": CHATGPT}))
    assert dict(report.n_dead_letters) == {"missing_user": 1}


def test_a_zip_in_a_users_folder_is_that_users(home: Any) -> None:
    home.write("nora/export.zip", zipped({"conversations.json": CLAUDE}))
    home.land(home.root / "in")
    assert [record["user_id"] for record in home.landed()] == ["nora"]


def encrypted(data: bytes) -> bytes:
    """The ZIP with the flag of encryption set for its first member, in the header and in the table of contents."""
    table = data.index(b"PK\x01\x02")
    return data[:6] + b"\x01\x00" + data[8 : table + 8] + b"\x01\x00" + data[table + 10 :]


def of_method(data: bytes, method: int) -> bytes:
    """The ZIP with its first member said to be packed by another method."""
    table = data.index(b"PK\x01\x02")
    packed = struct.pack("<H", method)
    return data[:8] + packed + data[10 : table + 10] + packed + data[table + 12 :]


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o120777 << 16
    return info


def test_a_member_that_is_encrypted_is_a_finding_and_the_rest_lands(home: Any, message: Any) -> None:
    report = home.land_data("x.zip", encrypted(zipped({"a.jsonl": [message(0)], "b.jsonl": [message(1)]})))
    assert (report.n_landed, reasons_by_file(home)) == (1, {"x.zip!/a.jsonl": "encrypted_member"})
    assert any("x.zip!/a.jsonl was left out: it is encrypted" in note for note in report.notes)


@pytest.mark.parametrize("method", [9, 93, 99])
def test_a_method_of_packing_that_is_not_known_is_a_finding(home: Any, message: Any, method: int) -> None:
    report = home.land_data("x.zip", of_method(zipped({"a.jsonl": [message(0)], "b.jsonl": [message(1)]}), method))
    assert (report.n_landed, reasons_by_file(home)) == (1, {"x.zip!/a.jsonl": "broken_zip"})


@pytest.mark.parametrize("name", ["../../etc/a.jsonl", "/etc/a.jsonl", "C:/a.jsonl", "..\\a.jsonl", "x/../../a.jsonl"])
def test_a_name_that_leads_out_is_a_finding_and_nothing_is_written(home: Any, message: Any, name: str) -> None:
    before = {path for path in home.root.parent.rglob("*") if "log" not in path.parts}
    report = home.land_data("x.zip", zipped({name: [message(0)], "b.jsonl": [message(1)]}))
    assert (report.n_landed, list(reasons_by_file(home).values())) == (1, ["unsafe_member"])
    after = {path for path in home.root.parent.rglob("*") if "log" not in path.relative_to(home.root.parent).parts}
    assert {path.name for path in after - before} <= {"home", "in", "x.zip"}


def test_a_zip_in_a_zip_a_link_and_a_second_of_a_name_are_findings(home: Any, message: Any) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("inner.zip", zipped({"a.jsonl": [message(8)]}))
        archive.writestr(link("etc.jsonl"), "/etc/passwd")
        archive.writestr("a.jsonl", orjson.dumps(message(0)))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a.jsonl", orjson.dumps(message(1)))
        archive.writestr("b.jsonl", orjson.dumps(message(2)))
    report = home.land_data("x.zip", out.getvalue())
    assert report.n_landed == 2
    assert dict(report.n_dead_letters) == {"nested_zip": 1, "link_not_followed": 1, "duplicate_member": 1}
    assert home.land(home.root / "in" / "x.zip").n_new_dead_letters == 0


def test_a_bomb_is_told_by_what_it_says_to_unpack_to(home: Any, message: Any) -> None:
    data = zipped({"bomb.json": b"[" + b" " * 130_000_000 + b"]", "b.jsonl": [message(1)]})
    report = home.land_data("x.zip", data)
    assert (report.n_landed, reasons_by_file(home)) == (1, {"x.zip!/bomb.json": "unpacks_too_far"})
    assert "max_unpack_ratio" in "\n".join(report.notes)


def test_members_that_share_their_bytes_are_findings(home: Any, message: Any) -> None:
    data = zipped({"a.jsonl": [message(n) for n in range(50)], "b.jsonl": [message(99)]})
    table = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", table + 4)
    assert int.from_bytes(data[second + 42 : second + 46], "little") > 0
    shared = data[: second + 42] + (20).to_bytes(4, "little") + data[second + 46 :]
    report = home.land_data("x.zip", shared)
    assert "unpacks_too_far" in report.n_dead_letters
    assert report.n_landed == 0


def test_a_zip_without_its_end_is_one_finding_and_other_files_land(home: Any, message: Any) -> None:
    home.write("x.zip", zipped({"a.jsonl": [message(0)]})[:-30])
    home.write("y.jsonl", [message(1)])
    report = home.land(home.root / "in")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {"broken_zip": 1})
    assert "export or download it again" in home.the_letter()["detail"]


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_was_damaged_is_a_finding_and_the_rest_lands(home: Any, message: Any, method: int) -> None:
    lines = [message(i, content=f"word {i * 7919}") for i in range(2000)]
    data = bytearray(zipped({"a.jsonl": lines, "b.jsonl": [message(5000)]}, method))
    data[data.index(b"PK\x01\x02") * 2 // 3] ^= 0xFF
    report = home.land_data("x.zip", bytes(data))
    assert 5000 in [record["turn_number"] for record in home.landed()]
    assert report.n_refused >= 1
    (broken,) = [letter for letter in all_letters(home.log).values() if letter["reason"] == "broken_zip"]
    assert broken["file"].endswith("x.zip!/a.jsonl")


@pytest.mark.parametrize("data", [zipped({}), zipped({"empty/": b""})])
def test_an_empty_zip_is_told_of(home: Any, data: bytes) -> None:
    report = home.land_data("x.zip", data)
    assert dict(report.n_dead_letters) == {"empty_file": 1}


def test_a_bad_line_is_named_by_zip_member_and_line_and_can_be_replayed(home: Any, message: Any) -> None:
    home.land_data("x.zip", zipped({"deep/a.jsonl": [message(0), message(-1)]}))
    letter = home.the_letter()
    assert letter["file"].endswith("in/x.zip!/deep/a.jsonl")
    assert letter["line_number"] == 2


def test_gzip_and_utf16_in_a_zip_are_read(home: Any, message: Any) -> None:
    import gzip

    contents: Contents = {
        "a.jsonl.gz": gzip.compress(orjson.dumps(message(0))),
        "b.jsonl": orjson.dumps(message(1)).decode().encode("utf-16"),
    }
    report = home.land_data("x.zip", zipped(contents))
    assert (report.n_landed, dict(report.n_dead_letters)) == (2, {})


def test_a_name_in_utf8_that_the_zip_does_not_say_to_be_it_is_read(home: Any, message: Any) -> None:
    data = zipped({"J\u00f8rn/a.jsonl": [message(user_id=None)]})
    flags = struct.pack("<H", 0x800)
    assert data.count(flags) == 2
    home.land_data("x.zip", data.replace(flags, b"\x00\x00"))
    assert [record["user_id"] for record in home.landed()] == ["J\u00f8rn"]


def test_an_office_document_in_a_folder_is_no_zip_of_logs(home: Any, message: Any) -> None:
    home.write("letter.docx", zipped({"word/document.xml": b"<w/>"}))
    home.write("a.jsonl", [message()])
    report = home.land(home.root / "in")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {})
    assert report.n_passed_over == {"office documents": 1}


def test_landing_unpacked_and_zipped_is_the_same(new_home: Callable[[str], Any], message: Any) -> None:
    lines = [message(i) for i in range(5)] + [message(-1)]
    folder, packed = new_home("folder"), new_home("packed")
    folder.land_data("a.jsonl", lines)
    packed.land_data("x.zip", zipped({"a.jsonl": lines}))
    assert folder.landed() == packed.landed()
    assert list(all_letters(folder.log)) == list(all_letters(packed.log))


def test_a_folder_of_zips_lands_and_its_files_are_counted_by_member(home: Any, message: Any, tmp_path: Path) -> None:
    for n in range(3):
        home.write(f"part-{n}.zip", zipped({"a.jsonl": [message(n)]}))
    report = home.land(home.root / "in", settings=LandingSettings(max_buffer_records=1))
    assert (report.n_landed, len(report.files)) == (3, 3)


def test_a_side_file_that_is_named_itself_is_told_for_what_it_is(home: Any) -> None:
    report = home.land_data("memories.json", b'[{"conversations_memory": "rows"}]', user_id="nora")
    (letter,) = report.first_letters
    assert (
        letter["detail"] == "memories.json is what Claude's export brings beside the messages, and holds none of them"
    )


SEVERAL: dict[str, Contents] = {
    "conversations-000.zip": {"conversations.json": CLAUDE},
    "memories-000.zip": {"memories.json": '{"conversations_memory": "Ada works at Quayside."}'},
    "projects-000.zip": {"projects/01-boat.json": '{"uuid": "p", "docs": [{"content": "I live in Utne."}]}'},
    "users-000.zip": {"users.json": []},
}


@pytest.mark.parametrize("is_named", [True, False])
def test_an_export_of_several_zips_lands_and_those_without_messages_are_skipped_by_name(
    home: Any, is_named: bool
) -> None:
    manifest = {"version": 1, "files": [{"name": name} for name in SEVERAL]}
    paths = [home.write(name, zipped(contents)) for name, contents in SEVERAL.items()]
    paths += [] if is_named else [home.write("manifest-77.json", orjson.dumps(manifest))]
    report = home.land(*(paths if is_named else [home.root / "in"]), user_id="ada")
    assert (report.n_landed, dict(report.n_dead_letters)) == (1, {})
    said = "\n".join(report.notes)
    assert "memories-000.zip, projects-000.zip, users-000.zip (Claude's export brings them" in said
    assert "memories.json" not in said


def test_a_zip_of_side_files_that_is_all_that_was_given_is_a_finding(home: Any) -> None:
    report = home.land_data("memories-000.zip", zipped(SEVERAL["memories-000.zip"]), user_id="ada")
    assert dict(report.n_dead_letters) == {"unknown_format": 1}

"""An export of a gigabyte lands in little memory, whatever it holds it all in."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import orjson
import pytest

ROOT = Path(__file__).parents[3]
N_BYTES = 10**9
MAX_RESIDENT_KIB = 500 * 1024
MEASURED = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime, file=sys.stderr)
sys.exit(code)
"""
"""Runs a command from a small process: Linux counts what a process was forked from as resident, too."""


def conversation(number: int) -> bytes:
    """Some 30 kB of a talk of twenty messages, on one day of three years."""
    started = 1_672_560_000 + (number * 7919 % 1000) * 86_400 + number % 5000
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": ["0"]}}
    for turn in range(20):
        text = f"Of the {number} kites in shed {turn} I have mended most. I am glad of it, {number}. " * (
            4 + turn % 2 * 40
        )
        mapping[f"{turn}"] = {
            "id": f"{turn}",
            "message": {
                "id": f"{number}-{turn}", "author": {"role": "assistant" if turn % 2 else "user"},
                "create_time": started + turn, "content": {"content_type": "text", "parts": [text]},
                "metadata": {"model_slug": "m", "citations": []},
            },
            "parent": f"{turn - 1}" if turn else "root", "children": [f"{turn + 1}"] if turn < 19 else [],
        }  # fmt: skip
    return orjson.dumps(
        {
            "title": f"Kites {number}",
            "create_time": started,
            "mapping": mapping,
            "current_node": "19",
            "id": f"c{number}",
        }
    )


def write_export(path: Path, n_bytes: int) -> int:
    """Writes the ZIP and returns how many conversations are in it."""
    number, written = 0, 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("conversations.json", "w", force_zip64=True) as member:
            while written < n_bytes:
                data = (b"," if number else b"[") + conversation(number)
                member.write(data)
                written, number = written + len(data), number + 1
            member.write(b"]")
        archive.writestr("chat.html", "<html></html>")
    return number


@pytest.mark.slow
def test_a_gigabyte_lands_in_less_than_500_mb(tmp_path: Path) -> None:
    n_bytes = int(os.environ.get("EM_TEST_EXPORT_BYTES", N_BYTES))
    n_conversations = write_export(tmp_path / "export.zip", n_bytes)
    command = [
        str(Path(sys.executable).parent / "em"),
        "land",
        "export.zip",
        "--user-id",
        "ada",
        "--home",
        "home",
        "--json",
    ]
    done = subprocess.run([sys.executable, "-c", MEASURED, *command], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    report = orjson.loads(done.stdout)
    resident_kib, seconds = map(float, done.stderr.split()[-2:])
    print(f"{n_bytes / 1e6:.0f} MB: {resident_kib / 1024:.0f} MiB resident, {seconds:.0f} processor seconds")
    assert report["n_landed"] == 20 * n_conversations
    assert resident_kib < MAX_RESIDENT_KIB

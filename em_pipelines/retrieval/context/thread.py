"""The turns before a question, as a file: JSON Lines, or text with a turn a line."""

from pathlib import Path

import orjson

from em_pipelines.errors import UsageError

MAX_BYTES = 2**20
FIELDS = ("content", "text")


def read_thread(path: Path) -> tuple[str, ...]:
    """The turns, oldest first.

    A file whose first line begins with `{` is JSON Lines: objects with the text in `content` or `text`, as logs have
    them. Any other is text, a turn a line. Raises UsageError for a file that cannot be read, is no UTF-8, is larger
    than a megabyte, or has a line that is no such object.
    """
    try:
        data = path.read_bytes()[: MAX_BYTES + 1]
        text = data.decode()
    except OSError as error:
        raise UsageError(f"reading the thread {path}: {error.strerror}; give a file of turns") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"reading the thread {path}: it is no UTF-8 text; give turns as text or JSON Lines") from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"reading the thread {path}: more than {MAX_BYTES} bytes; give the last turns alone")
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if lines and lines[0][1].lstrip().startswith("{"):
        return tuple(_turn(path, number, line) for number, line in lines)
    return tuple(line.strip() for _, line in lines)


def _turn(path: Path, number: int, line: str) -> str:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"reading the thread {path}: line {number} is no JSON ({error.msg})") from error
    turn = [found[name] for name in FIELDS if isinstance(found.get(name), str)] if isinstance(found, dict) else []
    if not turn:
        raise UsageError(f'reading the thread {path}: line {number}: expected {{"content": TEXT}}')
    return str(turn[0])

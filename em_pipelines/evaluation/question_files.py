"""Files of questions with their expected answers: JSON Lines, or a conversation of LoCoMo with its questions."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import orjson

from em_pipelines.errors import UsageError
from em_pipelines.evaluation.retrieval import CATEGORIES

UNSORTED = "uncategorized"
FORM = '{"question", "answer", "category", "user"}'


@dataclass(frozen=True, slots=True)
class Question:
    """A question of one user with the answer that is expected. `as_of` is the day at whose end it is asked, where the
    file says one."""

    id: str
    user_id: str
    text: str
    answer: str
    category: str
    as_of: date | None = None


def read_questions(path: Path, user_id: str | None = None) -> list[Question]:
    """The questions of a file; `user_id` is who is asked about where a line does not say so itself, and the person of a
    conversation of LoCoMo, whose questions without an answer are left out.

    Raises UsageError where the file cannot be read or holds no question, and for a line that is none, with its number.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"reading {path}: {error.strerror}; give a file of questions with their answers") from error
    document = _document(data)
    found = list(_of_locomo(path, document, user_id) if document else _lines(path, data, user_id))
    if not found:
        raise UsageError(f"reading {path}: it holds no question with an answer; give JSON Lines of {FORM}")
    return found


def _document(data: bytes) -> dict[str, Any] | None:
    """A conversation of LoCoMo, which is one document with `qa`."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    one = found[0] if isinstance(found, list) and found else found
    return one if isinstance(one, dict) and isinstance(one.get("qa"), list) else None


def _of_locomo(path: Path, document: dict[str, Any], user_id: str | None) -> Iterator[Question]:
    if user_id is None:
        raise UsageError(f"reading {path}: a conversation does not say under which user it landed; name one by --user")
    for number, item in enumerate(document["qa"], start=1):
        category = CATEGORIES.get(item.get("category", 0)) if isinstance(item, dict) else None
        if category and item.get("question") and item.get("answer") is not None:
            yield Question(f"{path.stem}-{number}", user_id, str(item["question"]), str(item["answer"]), category)


def _lines(path: Path, data: bytes, user_id: str | None) -> Iterator[Question]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            yield _question(f"reading {path}: line {number}", number, line, user_id)


def _question(where: str, number: int, line: bytes, user_id: str | None) -> Question:
    try:
        item = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{where} is no JSON ({error.msg}); write an object a line: {FORM}") from error
    if not isinstance(item, dict):
        raise UsageError(f"{where} is no object; write {FORM}")
    text, answer = (_text(item, name) for name in ("question", "answer"))
    missing = [name for name, value in (("question", text), ("answer", answer)) if not value]
    user = _text(item, "user") or user_id
    if missing:
        raise UsageError(f"{where} has no {' and no '.join(missing)}; write {FORM}")
    if not user:
        raise UsageError(f"{where} names no user, and --user none for all; write {FORM}")
    category, name = _text(item, "category") or UNSORTED, _text(item, "id") or str(number)
    return Question(name, user, text, answer, category, _day(where, item.get("as_of")))


def _text(item: dict[str, Any], name: str) -> str:
    """A text or number as text; "" for anything else."""
    value = item.get(name)
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _day(where: str, value: object) -> date | None:
    if value is None:
        return None
    try:
        return date.fromisoformat(str(value))
    except ValueError:
        raise UsageError(f"{where}: as_of is no day; write it as YYYY-MM-DD") from None

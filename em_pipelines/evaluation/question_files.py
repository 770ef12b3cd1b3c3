"""Files of questions with their expected answers: JSON Lines, or the questions of a benchmark as it publishes them.

LoCoMo has a conversation with `qa`; BEAM questions by category, with a rubric; LongMemEval a list with `question_type`
and the day on which each is asked; HaluMem a line a person, whose sessions have questions. A list of questions with
`evidence` (docs/retrieval.md) is read, too.
"""

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
    document = _document(path, data)
    found = list(_lines(path, data, user_id) if document is None else _of_document(path, document, user_id))
    if not found:
        raise UsageError(f"reading {path}: it holds no question with an answer; give JSON Lines of {FORM}")
    return found


def _document(path: Path, data: bytes) -> Any:
    """The one document of a file `.json`, or a conversation of LoCoMo; None of JSON Lines."""
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError:
        return None
    one = found[0] if isinstance(found, list) and found else found
    is_locomo = isinstance(one, dict) and isinstance(one.get("qa"), list)
    return found if is_locomo or path.suffix == ".json" else None


def _of_document(path: Path, document: Any, user_id: str | None) -> Iterator[Question]:
    """The questions of LoCoMo, BEAM, LongMemEval, or a list of our own."""
    one = document[0] if isinstance(document, list) and document else document
    if user_id is None:
        raise UsageError(f"reading {path}: the file does not say under which user it landed; name one by --user")
    if isinstance(one, dict) and isinstance(one.get("qa"), list):
        yield from _of_locomo(path, one, user_id)
    elif isinstance(document, dict):
        rows = [(category, item) for category, some in document.items() if isinstance(some, list) for item in some]
        yield from _listed(path, rows, user_id)
    elif isinstance(document, list):
        rows = [(_text(item, "category") or _text(item, "question_type"), item) for item in document if _is_row(item)]
        yield from _listed(path, rows, user_id)


def _is_row(item: object) -> bool:
    return isinstance(item, dict)


def _listed(path: Path, rows: list[tuple[str, Any]], user_id: str) -> Iterator[Question]:
    """Of questions that have a rubric the rubric is the answer: it says what has to be in a reply."""
    for number, (category, item) in enumerate(rows, start=1):
        if not isinstance(item, dict):
            continue
        rubric = item.get("rubric")
        answer = "; ".join(map(str, rubric)) if isinstance(rubric, list) else _text(item, "answer")
        text, name = _text(item, "question"), _text(item, "question_id") or f"{path.stem}-{number}"
        if text and answer:
            asked_on = _text(item, "question_date").replace("/", "-")[:10] or None
            yield Question(name, user_id, text, answer, category or UNSORTED, _day(f"reading {path}: {name}", asked_on))


def _of_locomo(path: Path, document: dict[str, Any], user_id: str) -> Iterator[Question]:
    for number, item in enumerate(document["qa"], start=1):
        category = CATEGORIES.get(item.get("category", 0)) if isinstance(item, dict) else None
        if category and item.get("question") and item.get("answer") is not None:
            yield Question(f"{path.stem}-{number}", user_id, str(item["question"]), str(item["answer"]), category)


def _lines(path: Path, data: bytes, user_id: str | None) -> Iterator[Question]:
    for number, line in enumerate(data.splitlines(), start=1):
        if line.strip():
            yield from _questions(f"reading {path}: line {number}", number, line, user_id)


def _questions(where: str, number: int, line: bytes, user_id: str | None) -> Iterator[Question]:
    try:
        item = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"{where} is no JSON ({error.msg}); write an object a line: {FORM}") from error
    if not isinstance(item, dict):
        raise UsageError(f"{where} is no object; write {FORM}")
    if isinstance(item.get("sessions"), list):
        yield from _of_halumem(where, item, user_id)
    else:
        yield _question(where, number, item, user_id)


def _of_halumem(where: str, item: dict[str, Any], user_id: str | None) -> Iterator[Question]:
    """The questions of a person's sessions, who is known by `uuid`, or by --user."""
    user = user_id or _text(item, "uuid")
    if not user:
        raise UsageError(f"{where} names no user, and --user none for all; write {FORM}")
    asked = [one for session in item["sessions"] if isinstance(session, dict) for one in session.get("questions") or ()]
    for number, one in enumerate(asked, start=1):
        text, answer = (_text(one, name) if isinstance(one, dict) else "" for name in ("question", "answer"))
        if text and answer:
            yield Question(f"{user}-{number}", user, text, answer, _text(one, "question_type") or UNSORTED)


def _question(where: str, number: int, item: dict[str, Any], user_id: str | None) -> Question:
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

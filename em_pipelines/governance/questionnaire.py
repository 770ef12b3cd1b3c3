"""The questionnaire of one person: which questions are open, and answers, each of which is kept as it is given.

An answer is feedback in the log of the type `answer`, the same that a file of answers gives; what somebody does not
want to answer is a `skip`. So whoever is interrupted goes on where they stopped, and nothing lies outside of the log.
"""

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime

import orjson
import yaml

from em_pipelines.errors import UsageError
from em_pipelines.home import Home
from em_pipelines.landing.formats.base import Fields, Source
from em_pipelines.landing.formats.questionnaire import QUESTIONNAIRE, Question, fact_of, questions
from em_pipelines.landing.formats.seeds import Place, seed
from em_pipelines.landing.reasons import RuleError
from em_pipelines.landing.records import land_record
from em_pipelines.language.values import iso_instant
from em_pipelines.schema.table import Record
from em_pipelines.storage.ledger_entries import Act

_BETWEEN = re.compile(r"\s*[,;、]\s*")
_FILE = "em questionnaire"


class Questionnaire:
    """The questions and answers of one user of a home; the ledger names the `actor`."""

    def __init__(self, home: Home, user_id: str, actor: str = "user") -> None:
        self._home = home
        self._user_id = user_id
        self._actor = actor

    def open_questions(self, *, is_again: bool = False) -> list[Question]:
        """What has been neither answered nor skipped, in order; with `is_again` every question."""
        done = set() if is_again else {fields.get("question") for _, fields in self._given()}
        return [question for question in questions() if question.id not in done]

    def answer(self, question: Question, said: str) -> int:
        """Keeps an answer; returns how many facts it states. Raises UsageError for what cannot be kept."""
        now = datetime.now(UTC)
        source = Source(_FILE, self._user_id, landed_at=now)
        place = Place(1, QUESTIONNAIRE, now)
        texts = [text for text in _BETWEEN.split(said.strip()) if text] if question.several else [said.strip()]
        facts = [seed(source, place, fact_of(question, text), "answer").fields for text in texts if text]
        self._append(facts, now)
        return len(facts)

    def skip(self, question: Question) -> None:
        """Notes that a question is not to be asked again."""
        now = datetime.now(UTC)
        skipped = {"user_id": self._user_id, "type": "skip", "timestamp": iso_instant(now), "question": question.id}
        self._append([skipped], now)

    def as_yaml(self) -> str:
        """The answers that were given last, as a file that can be landed."""
        answers: dict[str, list[str]] = {}
        newest: dict[str, str] = {}
        for record, fields in self._given():
            if record["type"] == "answer" and fields.get("question"):
                key = fields["question"]
                if newest.setdefault(key, record["timestamp"]) != record["timestamp"]:
                    answers[key], newest[key] = [], record["timestamp"]
                answers.setdefault(key, []).append(fields["object"])
        plain = {key: values[0] if len(values) == 1 else values for key, values in answers.items()}
        document = {QUESTIONNAIRE: 1, "user": self._user_id, "answers": plain}
        return yaml.safe_dump(document, allow_unicode=True, sort_keys=False)

    def _given(self) -> Iterator[tuple[Record, Fields]]:
        log = self._home.store.log
        records = [record for day in log.days("feedback") for record in log.read("feedback", day)]
        own = [r for r in records if r["user_id"] == self._user_id and r["type"] in ("answer", "skip")]
        for record in sorted(own, key=lambda record: record["timestamp"]):
            yield record, orjson.loads(record["payload"])

    def _append(self, fields: list[Fields], now: datetime) -> None:
        try:
            records = [land_record("feedback", one, "em") for one in fields]
        except RuleError as error:
            raise UsageError(
                f"keeping the answer: {error.detail}; say it in other words, or skip the question"
            ) from error
        day = date.fromisoformat(iso_instant(now)[:10])
        with self._home.lock("landing"):
            self._home.store.log.append("feedback", day, records)
        for record in records:
            self._home.ledger.append(Act(record["type"], self._user_id, record["feedback_id"], now, self._actor))

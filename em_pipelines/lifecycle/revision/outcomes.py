"""Outcomes as feedback records: how a finding is written into the landed log, and which were written before.

The log is all that later days know of it. A rebuild folds the same outcomes again and asks nobody.
"""

from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta

import orjson

from em_pipelines.landing.records import land_record
from em_pipelines.lifecycle.revision.model import FactQuestion, Finding
from em_pipelines.lifecycle.revision.prompt import TASK
from em_pipelines.lifecycle.revision.selection import Asked
from em_pipelines.schema.table import Record
from em_pipelines.storage.landed_log import LandedLog

KIND, FORMAT = "feedback", "native"


def record_of(question: FactQuestion, finding: Finding, verifier: str) -> Record:
    """The landed record of an outcome, dated to the first instant of `asked_on`.

    What anybody says on that day comes after it, so that people have the last word; and the same outcome is the same
    record whenever it is made. Raises RuleError where the log would refuse it.
    """
    payload = {
        "edge_id": question.edge_id,
        "subject": question.subject,
        "relation": question.relation,
        "object": question.object,
        "attribute": question.attribute,
        "outcome": finding.outcome.value,
        "new_object": finding.new_object,
        "source": finding.source,
        "reason": finding.reason,
        "verifier": verifier,
    }
    at = datetime.combine(question.asked_on, time(), UTC)
    fields = {"timestamp": at.isoformat(), "user_id": question.user_id, "type": TASK, **payload}
    return land_record(KIND, {name: value for name, value in fields.items() if value is not None}, FORMAT)


def append(log: LandedLog, asked_on: date, records: Iterable[Record]) -> int:
    """Appends what has not landed yet; returns how many. The caller holds the home's landing lock."""
    known = {record["feedback_id"] for record in log.read(KIND, asked_on)}
    new = [record for record in records if record["feedback_id"] not in known]
    log.append(KIND, asked_on, new)
    return len(new)


def asked_before(log: LandedLog, asked_on: date, n_days: int) -> list[Asked]:
    """Outcomes of the `n_days` days up to and with `asked_on`, in order of day."""
    first = asked_on - timedelta(days=n_days)
    found = []
    for day in log.days(KIND):
        if first < day <= asked_on:
            for record in log.read(KIND, day):
                if record["type"] == TASK:
                    payload = orjson.loads(record["payload"])
                    found.append(Asked(payload.get("edge_id") or "", day, payload["outcome"]))
    return found

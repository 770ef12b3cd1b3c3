"""What one task has taken of a night: read from the calls themselves, so that it holds across runs and processes."""

from datetime import UTC, datetime, time, timedelta

from em_pipelines.llm.answers import Spend
from em_pipelines.llm.database import Database, instant, night_of


def spent_on_task(database: Database, task: str, now: datetime) -> Spend:
    """Calls, failed ones included, tokens and US dollars of a task in the night of the instant: noon to noon, UTC."""
    first = datetime.combine(datetime.fromisoformat(night_of(now)), time(12), UTC)
    query = """SELECT count(*), coalesce(sum(prompt_tokens + completion_tokens), 0), coalesce(sum(cost_usd), 0.0)
               FROM calls WHERE task = ? AND NOT is_cache_hit AND called_at >= ? AND called_at < ?"""
    return Spend(*database.rows(query, task, instant(first), instant(first + timedelta(days=1)))[0])

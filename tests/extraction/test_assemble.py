"""What holds for every extractor on the way into the tables."""

from em_pipelines.extraction.assemble import Checks, extract, readings
from em_pipelines.schema.readings import Extraction, LocalExtractor, Segment
from em_pipelines.text.guard.sensitive import SafetySettings
from tests.extraction.conftest import one_turn


class Recorder(LocalExtractor):
    """Keeps what it was shown."""

    name = "recorder"
    version = "1"

    def __init__(self) -> None:
        self.shown: list[str] = []

    def extract(self, segment: Segment) -> Extraction:
        self.shown += [turn.text for turn in segment.turns]
        return Extraction()


def test_nobody_reads_more_of_a_message_than_is_guarded() -> None:
    recorder = Recorder()
    long = one_turn("word " * 100)
    checks = Checks(safety=SafetySettings(max_characters=40))
    ((_, reading),) = readings([long], recorder, checks)
    assert [len(text) for text in recorder.shown] == [40]
    assert [(issue.issue, issue.reason) for issue in reading.issues] == [("truncated", "too_long")]


def test_a_message_that_gave_nothing_is_accounted_for() -> None:
    issues = extract([one_turn("I like moss.")], Recorder())["extraction_issues"].to_pylist()
    assert [(row["issue"], row["reason"]) for row in issues] == [("skipped", "nothing_found")]

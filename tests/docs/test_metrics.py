"""The page of metrics against the catalogue."""

import re

from em_pipelines.serving.metrics.catalogue import METRICS
from em_pipelines.serving.metrics.live import outages
from em_pipelines.settings import Settings

CODE = re.compile(r"`([^`]+)`")


def rows_of(text: str, head: str) -> list[list[str]]:
    """The cells of the table whose head begins so."""
    table = text.partition(f"{head}")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in table]


def test_every_metric_stands_on_its_page_as_it_is(page) -> None:
    said = [
        (CODE.findall(name), CODE.findall(labels), kind, about, source)
        for name, labels, kind, about, source in rows_of(page("docs/metrics.md"), "| metric | labels |")
    ]
    assert said == [([m.name], [*m.labels], str(m.kind), m.about.rstrip("."), m.source) for m in METRICS]


def test_every_label_stands_on_its_page(page, settings: Settings) -> None:
    rows = rows_of(page("docs/metrics.md"), "| label | values |")
    said = {name for label, _ in rows for name in CODE.findall(label)}
    assert {label for m in METRICS for label in m.labels} - said == {
        "model", "task", "error_type", "query_type", "action", "correction_type",
    }  # fmt: skip
    (dependencies,) = (CODE.findall(values) for label, values in rows if "dependency" in label)
    assert dependencies == [*outages(settings.home, settings.llm)]


def test_other_pages_lead_to_it(page) -> None:
    for name in ("docs/operations.md", "docs/commands.md", "docs/snapshot.md", "docs/how-it-works.md"):
        assert "(metrics.md" in page(name)

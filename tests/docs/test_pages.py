"""What the other pages say, against the code that they describe."""

import re
import tomllib

from em_pipelines.definitions import build_definitions
from em_pipelines.extraction.rules.patterns import PatternSpec
from em_pipelines.extraction.rules.slots import KINDS
from em_pipelines.graph.confidence_decay import DecaySettings
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.described_settings import described
from em_pipelines.schema.vocabulary import LASTING
from em_pipelines.settings import Settings, load_settings

CODE = re.compile(r"`([^`]+)`")


def rows_of(text: str, heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without its head."""
    below = text.partition(f"{heading}\n")[2]
    table = re.search(r"(?:^\|.*\n)+", below, re.MULTILINE)
    assert table, f"no table below {heading}"
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in table[0].splitlines()[2:]]


def test_steps_with_what_they_read_and_make_are_those_of_the_page(page, settings: Settings) -> None:
    said = [
        (CODE.findall(name), sorted(CODE.findall(reads)), sorted(CODE.findall(makes)))
        for name, reads, makes in rows_of(page("docs/how-it-works.md"), "## The steps")
    ]
    steps = Pipeline(settings).steps.values()
    assert said == [
        (
            [step.name],
            sorted(table.name for table in (*step.inputs, *step.previous, *step.latest)),
            sorted(table.name for table in step.outputs),
        )
        for step in steps
    ]


def test_losses_by_temporal_type_are_those_of_the_page(page) -> None:
    said = {}
    for kinds, loss in rows_of(page("docs/how-it-works.md"), "## Decay"):
        said |= {kind.strip(): float(loss) for kind in re.sub(r"\([^)]*\)", "", kinds).split(",")}
    assert said == {kind.value: loss for kind, loss in DecaySettings().loss_per_30_days.items()}


def test_what_lasts_and_why_is_what_the_page_says(page) -> None:
    assert {
        CODE.findall(name)[0]: why for name, why in rows_of(page("docs/how-it-works.md"), "### What lasts")
    } == LASTING


def test_checks_jobs_sensors_and_schedules_are_those_of_the_page(page, settings: Settings) -> None:
    definitions = build_definitions(settings)
    text = page("docs/operations.md")
    jobs = {name for cell, _ in rows_of(text, "## Jobs, sensors, schedules") for name in CODE.findall(cell)}
    assert jobs == {job.name for job in definitions.jobs or ()}
    checks = {CODE.findall(row[0])[0] for row in rows_of(text, "## Checks")}
    judged = [*(definitions.asset_checks or ()), *(definitions.assets or ())]
    assert checks == {spec.name for found in judged if hasattr(found, "check_specs") for spec in found.check_specs}
    starters = [*(definitions.sensors or ()), *(definitions.schedules or ())]
    assert starters
    assert not [starter.name for starter in starters if f"\n| `{starter.name}` |" not in text]


def test_kinds_of_slots_are_those_of_the_page(page) -> None:
    text = page("docs/patterns.md")
    said = {name for row in rows_of(text, "## Kinds of slots") for name in CODE.findall(row[0])}
    assert said | set(re.findall(r"`\{subject:([a-z_]+)\}`", text)) == KINDS


def test_keys_of_a_pattern_stand_in_the_reference(page) -> None:
    text = page("em_pipelines/extraction/patterns/README.md")
    assert not [
        key for key in PatternSpec.model_fields if not re.search(rf"`{key}`|^(?:- |  ){key}:", text, re.MULTILINE)
    ]


def test_dependencies_are_those_of_the_page(page) -> None:
    project = tomllib.loads(page("pyproject.toml"))
    extras = project["project"]["optional-dependencies"]
    wanted = {
        "## Runtime": project["project"]["dependencies"],
        "## Tests and checks": extras["test"],
        "## Extras": [one for name, more in extras.items() if name != "test" for one in more],
        "## Build": project["build-system"]["requires"],
    }
    text = page("docs/dependencies.md")
    for heading, requirements in wanted.items():
        said = [CODE.findall(row[0])[0] for row in rows_of(text, heading)]
        assert sorted(said) == sorted(re.split(r"[<>=!~\[; ]", requirement)[0] for requirement in requirements)


def test_settings_have_a_meaning() -> None:
    fields = list(described(load_settings(home="home")))
    assert fields
    assert [name for name, _, meaning in fields if not meaning.strip()] == []

"""The start of a session: what is due and planned, which rules apply, and that no session waits for memory."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from em_pipelines.landing.land import land
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.context.bootstrap import bootstrap
from em_pipelines.retrieval.packs import build
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.settings import load_settings

NOW = datetime(2026, 3, 20, 8, tzinfo=UTC)


def parts(text: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line.startswith("## "):
            found[line[3:]] = []
        elif line.startswith("- "):
            found[list(found)[-1]].append(line[2:])
    return found


def test_what_is_planned_and_how_somebody_wants_to_be_treated(home: Pipeline) -> None:
    found = parts(bootstrap(home, "ada", NOW))
    assert found["Planned"] == [
        "2026-03-25: dentist appointment scheduled for 2026-03-25", "2026-03-30: user has birthday 03-30",
    ]  # fmt: skip
    assert {line.rpartition(" (")[0] for line in found["Rules that apply"]} == {
        "user prefers short answers", "user dislikes emojis",
    }  # fmt: skip
    assert "Due" not in found


def test_what_is_for_today_is_due_and_so_is_a_plan_that_nobody_spoke_of_again(bare: Pipeline, fill) -> None:
    plan = {"subject": "user", "relation": "plans", "temporal_type": "plan", "valid_precision": "day"}
    fill(
        bare, "ada",
        [
            {"subject": "exam", "relation": "scheduled_for", "object": "2026-03-20", "temporal_type": "plan"},
            {**plan, "object": "paint the boat", "valid_from": NOW.date() - timedelta(days=3)},
            {**plan, "object": "sell the boat", "valid_from": NOW.date() - timedelta(days=12)},
            {**plan, "object": "sail", "valid_from": NOW.date() - timedelta(days=3), "last_reinforced": NOW},
            {**plan, "object": "rest", "valid_precision": None},
            {**plan, "object": "build a shed", "valid_from": date(2026, 4, 1), "valid_precision": "month"},
            {**plan, "object": "see Graz", "valid_from": date(2026, 8, 1), "valid_precision": "month"},
        ],
    )  # fmt: skip
    found = parts(bootstrap(bare, "ada", NOW))
    assert found["Due"] == [
        "2026-03-17: probably user plans paint the boat", "2026-03-20: probably exam scheduled for 2026-03-20",
    ]  # fmt: skip
    assert found["Planned"] == [
        "2026-04: probably user plans build a shed", "no day yet: probably user plans rest (said 2026-03-02)",
    ]  # fmt: skip


def test_fewer_than_fifty_lines_however_much_is_known(bare: Pipeline, fill) -> None:
    days = [(NOW.date() + timedelta(days=n - 5)).isoformat() for n in range(30)]
    dated = [{"subject": f"event {n}", "relation": "scheduled_for", "object": day} for n, day in enumerate(days)]
    fill(bare, "ada", [*dated, *({"subject": "user", "relation": "prefers", "object": f"way {n}"} for n in range(60))])
    text = bootstrap(bare, "ada", NOW)
    assert 20 < len(text.splitlines()) < 50
    assert all(len(line) <= 165 for line in text.splitlines())


def test_who_somebody_is_comes_first_by_what_stands(home: Pipeline) -> None:
    assert parts(bootstrap(home, "ada", NOW))["Who"] == ["user lives in Bremen", "user sibling of Dana"]


def test_confidence_is_heard_and_what_is_not_sure_or_not_settled_is_left_out(bare: Pipeline, fill) -> None:
    own = {"subject": "user", "last_reinforced": NOW}
    fill(
        bare, "ada",
        [
            {**own, "relation": "has_name", "object": "Ada", "confidence": 0.95},
            {**own, "relation": "works_as", "object": "tuner", "confidence": 0.7},
            {**own, "relation": "parent_of", "object": "Freja", "confidence": 0.9},
            {**own, "subject": "Nils", "relation": "child_of", "object": "user", "confidence": 0.5},
            {**own, "relation": "has_pet", "object": "cat", "confidence": 0.3},
            {**own, "relation": "lives_in", "object": "Graz", "status": "contradicted"},
            {**own, "relation": "lives_in", "object": "Linz", "status": "contradicted"},
            {**own, "relation": "sibling_of", "object": "Bo", "privacy_level": "L4"},
            {**own, "relation": "works_at", "object": "Weserlink", "polarity": -1},
        ],
    )  # fmt: skip
    assert parts(bootstrap(bare, "ada", NOW))["Who"] == [
        "user has name Ada", "user works as probably tuner", "user parent of Freja, perhaps Nils",
    ]  # fmt: skip


def test_in_a_group_nothing_above_l1_is_told(bare: Pipeline, fill) -> None:
    fill(
        bare, "ada",
        [
            {"subject": "user", "relation": "lives_in", "object": "Graz", "privacy_level": "L2"},
            {"subject": "user", "relation": "speaks", "object": "Danish", "privacy_level": "L1"},
        ],
    )  # fmt: skip
    text = bootstrap(bare, "ada", NOW, is_group=True)
    assert "Danish" in text
    assert "Graz" not in text


def test_another_day_is_told_as_it_was(home: Pipeline) -> None:
    before = bootstrap(home, "ada", date(2026, 3, 5))
    assert "user sibling of Dana" in before
    assert "Bremen" not in before


def test_what_was_said_lately_is_told_once(home: Pipeline) -> None:
    found = parts(bootstrap(home, "ada", date(2026, 3, 5)))
    assert any("Dana works at Weserlink" in line for line in found["Lately"])
    assert not any("user sibling of Dana" in line for line in found["Lately"])
    assert "Lately" not in parts(bootstrap(home, "ada", NOW))


def test_nobody_known_is_told_of_nothing(home: Pipeline) -> None:
    assert bootstrap(home, "nobody", NOW) == ""


def test_a_memory_that_cannot_be_read_starts_no_session_late(
    bare: Pipeline, fill, caplog: pytest.LogCaptureFixture
) -> None:
    fill(bare, "ada", [{"subject": "user", "relation": "prefers", "object": "brevity"}])
    lake = bare.store.lake
    Path(lake.path(EDGES, lake.days(EDGES)[0])).write_bytes(b"PAR1 brevity PAR1")
    with caplog.at_level("WARNING"):
        assert bootstrap(bare, "ada", NOW) == ""
    (record,) = (record for record in caplog.records if record.levelname == "WARNING")
    assert "starts without it" in record.message
    assert "brevity" not in record.message


@pytest.fixture(scope="module")
def coded(tmp_path_factory: pytest.TempPathFactory) -> Pipeline:
    """Runa, who has told coding agents of two projects how to work."""
    home = Pipeline(load_settings(home=tmp_path_factory.mktemp("coded")))
    file = Path(__file__).parents[3] / "examples" / "coding" / "transcripts.jsonl"
    land([file], home.store.log, now=NOW + timedelta(days=400), settings=home.settings.landing, user_id="runa")
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    build(home)
    return home


def test_a_session_in_a_project_starts_with_what_is_known_of_it(coded: Pipeline) -> None:
    told = parts(bootstrap(coded, "runa", date(2026, 11, 14), "lantern"))
    assert {"lantern uses pnpm", "lantern has attribute ci: Buildkite"} <= set(told["In lantern"])
    assert any("npm" in line and "not" in line for line in told["In lantern"])
    assert any("pushing to main" in line for line in told["Rules that apply"]), "what not to do is a rule, too"
    assert "pnpm" not in str(told.get("Lately")), "it is told once"
    assert "In lantern" not in parts(bootstrap(coded, "runa", date(2026, 11, 14)))
    assert "lantern" not in bootstrap(coded, "runa", date(2026, 11, 14), "elsewhere")


def test_fewer_than_fifty_lines_in_a_project_too(bare: Pipeline, fill) -> None:
    days = [(NOW.date() + timedelta(days=n - 5)).isoformat() for n in range(30)]
    dated = [{"subject": f"event {n}", "relation": "scheduled_for", "object": day} for n, day in enumerate(days)]
    ways = [{"subject": "user", "relation": "prefers", "object": f"way {n}"} for n in range(60)]
    tools = [{"subject": "heron", "relation": "uses", "object": f"tool {n}"} for n in range(60)]
    fill(bare, "ada", [*dated, *ways, *tools], [{"text": "We use tool 1 here.", "domain": "heron"}])
    assert len(bootstrap(bare, "ada", NOW, "heron").splitlines()) < 50

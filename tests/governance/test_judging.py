"""What people say of facts: one queue for everybody, precision of a fair sample, nothing left after an erasure."""

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from typer.testing import CliRunner

from em_pipelines.errors import CorruptLogError, UsageError
from em_pipelines.governance import judging
from em_pipelines.governance.confidence_curve import Share
from em_pipelines.governance.erasure.forget import forget
from em_pipelines.governance.judging import Judgement, Verdict, book_of, is_sampled, judge, queue, report, summed
from em_pipelines.interfaces.cli.app import app
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.tables.graph import EDGES
from em_pipelines.settings import load_settings
from quality.home_checks import build_home_checks
from quality.judged import calibration, judged_noise, judged_precision
from resources.graph_address import open_graph

NOW = datetime(2026, 11, 2, tzinfo=UTC)


@pytest.fixture
def home(examples_home: Path, tmp_path: Path) -> Iterator[Pipeline]:
    copy = tmp_path / "home"
    shutil.copytree(examples_home, copy, symlinks=True)
    yield Pipeline(load_settings(home=copy))


def lines(verdicts: dict[str, int], confidence: float = 0.9) -> list[Judgement]:
    """So many judgements of facts of the sample."""
    ids = (f"edge_{n}" for n in range(10_000) if is_sampled(f"edge_{n}"))
    said = [Verdict(name) for name, n in verdicts.items() for _ in range(n)]
    return [Judgement(NOW, edge_id, "likes", confidence, one, "x") for edge_id, one in zip(ids, said, strict=False)]


def note(home: Pipeline, judged: list[Judgement]) -> None:
    for one in judged:
        book_of(home).append("ada", one)


def test_the_least_sure_and_the_sample_come_by_turns_and_the_same_for_everybody(home: Pipeline) -> None:
    found = queue(home, "ada", 100)
    assert found == queue(Pipeline(home.settings), "ada", 100)
    assert [one.is_sampled for one in found[:6]] == [False, True] * 3
    unsure = [one.confidence for one in found if not one.is_sampled]
    assert unsure == sorted(unsure)
    edges = home.store.lake.read(EDGES, home.store.lake.days(EDGES)[-1]).to_pylist()
    standing = {e["edge_id"] for e in edges if e["user_id"] == "ada" and e["status"] in ("active", "contradicted")}
    assert sorted(one.edge_id for one in found) == sorted(standing)


def test_what_was_judged_is_asked_no_more_and_the_last_word_stands(home: Pipeline) -> None:
    first = queue(home, "ada", 1)[0]
    said = judge(home, first.edge_id[:15], Verdict.WRONG, NOW, by="Dana")
    assert (said.edge_id, said.confidence) == (first.edge_id, first.confidence)
    assert first.edge_id not in {one.edge_id for one in queue(home, "ada", 100)}
    judge(home, first.edge_id, Verdict.RIGHT, NOW, by="Ivo")
    found = report(home)
    assert (found.n_judged, found.right, found.n_judges) == (1, Share(1, 1), 1)
    assert [one.verdict for one in book_of(home).of("ada")] == ["wrong", "right"], "append-only"
    written = b"".join(path.read_bytes() for path in (home.record / judging.FOLDER).iterdir())
    assert not [word for word in (b"ada", b"Dana", b"Ivo") if word in written]
    assert [entry.action for entry in home.ledger.entries()][-2:] == ["judge", "judge"]


def test_what_is_no_fact_cannot_be_judged(home: Pipeline) -> None:
    with pytest.raises(UsageError, match="no fact has that id"):
        judge(home, "edge_ffffffffffffffffffff", Verdict.RIGHT, NOW)


@pytest.fixture
def of_two(tmp_path: Path) -> Pipeline:
    """A home of two people of whom little is known."""
    for user in ("ada", "mirela"):
        memory = Memory(tmp_path / "two", user)
        memory.add_facts([{"relation": "likes", "object": thing} for thing in ("tea", "rowing", "chess")])
    memory.run()
    memory.close()
    return Pipeline(load_settings(home=tmp_path / "two"))


@pytest.mark.slow
def test_forgetting_somebody_removes_what_was_said_of_their_facts_and_of_nobody_else_s(of_two: Pipeline) -> None:
    home = of_two
    ids = {user: [one.edge_id for one in queue(home, user, 2)] for user in ("ada", "mirela")}
    for edge_id in [*ids["ada"], *ids["mirela"]]:
        judge(home, edge_id, Verdict.RIGHT, NOW)
    forget(home, Scope(ScopeKind.FACT, "mirela", ids["mirela"][0]))
    left = [one.edge_id for one in book_of(home).all()]
    assert ids["mirela"][0] not in left
    assert {*ids["ada"]} <= {*left}
    forget(home, Scope(ScopeKind.USER, "ada", "ada"))
    assert {one.edge_id for one in book_of(home).all()} <= {*ids["mirela"]}
    assert book_of(home).of("ada") == []


def test_a_line_that_nobody_can_read_is_named(home: Pipeline) -> None:
    note(home, lines({"right": 2}))
    (path,) = (home.record / judging.FOLDER).iterdir()
    path.write_bytes(path.read_bytes() + b"{}\n")
    with pytest.raises(CorruptLogError, match="line 3 is no judgement"):
        report(home)


@given(n=st.integers(1, 400), share=st.floats(0, 1))
def test_the_interval_is_wilson_s(n: int, share: float) -> None:
    n_so = round(n * share)
    wanted = binomtest(n_so, n).proportion_ci(0.95, "wilson")
    assert Share(n, n_so).interval == pytest.approx((wanted.low, wanted.high), abs=1e-9)


def test_precision_is_of_the_sample_and_calibration_of_all() -> None:
    chosen = [Judgement(NOW, f"edge_{n}", "likes", 0.3, Verdict.WRONG, "x") for n in range(400)]
    found = summed([*(one for one in chosen if not is_sampled(one.edge_id)), *lines({"right": 18, "trivial": 2})])
    assert found.precision == Share(20, 18)
    assert found.trivial == Share(20, 2)
    assert found.right.share < 0.1
    assert [round(one.right_share, 2) for one in found.bands] == [0.0, 0.9]
    assert found.error == pytest.approx(0.3 * found.bands[0].n / found.n_judged, abs=0.01)


@pytest.mark.parametrize(
    ("verdicts", "fails", "is_warning"),
    [
        ({}, (), False),
        ({"wrong": 19}, (), False),
        ({"right": 38, "wrong": 2}, (), False),
        ({"right": 32, "wrong": 8}, ("judged_precision",), True),
        ({"right": 5, "wrong": 35}, ("judged_precision", "calibration"), False),
        ({"right": 37, "trivial": 3}, ("judged_noise",), True),
    ],
)
def test_the_checks_on_judged_facts(
    verdicts: dict[str, int], fails: tuple[str, ...], is_warning: bool, home: Pipeline
) -> None:
    note(home, lines(verdicts))
    said = {check.__name__: check(home, NOW) for check in (judged_precision, judged_noise, calibration)}
    assert tuple(name for name, one in said.items() if one.problem) == fails
    if fails:
        assert said[fails[0]].is_warning is is_warning
    if sum(verdicts.values()) < 20:
        assert "judged" in said["judged_precision"].note


def test_nothing_judged_passes_and_says_so(home: Pipeline) -> None:
    names = ("judged_precision", "judged_noise", "calibration")
    assert {judged(home, NOW).note for judged in (judged_precision, judged_noise, calibration)} == {
        "nothing judged yet"
    }
    keys = {key.name for key in build_home_checks(open_graph).check_keys}
    assert {*names} <= keys
    assert isinstance(build_home_checks(open_graph), dg.AssetChecksDefinition)


def test_the_command_lists_judges_and_reports(home: Pipeline) -> None:
    def said(*words: str) -> str:
        done = CliRunner().invoke(app, ["judge", *words, "--home", str(home.path)])
        assert done.exit_code == 0, done.output
        return done.output

    first = queue(home, "ada", 1)[0].edge_id
    assert first in said("--user", "ada")
    assert said("next", "--user", "ada").count("edge_") == 2
    assert "nothing judged yet" in said("report")
    assert f"{first} is trivial." in said(first, "trivial")
    assert "calibration error" in said("report", "--user", "ada")
    assert '"n_judged"' in said("report", "--json").replace("n_judged:", '"n_judged"')


@pytest.mark.parametrize("words", [[], ["next"], ["edge_1", "maybe"], ["edge_1"]])
def test_wrong_use_is_said(words: list[str], home: Pipeline) -> None:
    done = CliRunner().invoke(app, ["judge", *words, "--home", str(home.path)])
    assert isinstance(done.exception, UsageError)

"""`em pool` as people and scripts use it."""

from pathlib import Path

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import load_settings
from tests.lifecycle.pool.pool_homes import failing, fill


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a home of who gives, one of who takes, and a pool beside them that is not there yet."""
    folder = tmp_path_factory.mktemp("pooling")
    for name, user, error in (("giver", "rosalind", "TimeoutError"), ("taker", "bram", "syntax error")):
        fill(Pipeline(load_settings(home=folder / name)), failing(user, "db_query", error), folder)
    return folder


@pytest.fixture
def pooling(homes: Path) -> dict[str, str]:
    """The environment of who has switched it on."""
    return {
        "EM_POOL__IS_ENABLED": "true", "EM_POOL__FOLDER": str(homes / "pool"), "EM_POOL__CONTRIBUTORS": '["rosalind"]',
    }  # fmt: skip


def test_switched_off_it_says_how_to_switch_it_on(em, homes: Path) -> None:
    done = em("pool", "export", "--home", homes / "giver")

    assert done.returncode == 2
    assert "switched off; set pool.is_enabled" in done.stderr
    assert not (homes / "pool").exists()


def test_what_is_given_is_fetched_listed_and_withdrawn(em, homes: Path, pooling: dict[str, str]) -> None:
    giver, taker = ("--home", homes / "giver"), ("--home", homes / "taker")
    shown = em("pool", "export", "--dry-run", *giver, **pooling)
    assert "1 contribution would be given" in shown.stdout
    assert not (homes / "pool").exists()

    given = orjson.loads(em("pool", "export", "--json", *giver, **pooling).stdout)
    assert (given["new"], given["waiting"]) == (1, 0)
    fetched = em("pool", "fetch", "--user", "bram", *taker, **pooling)
    assert (fetched.returncode, fetched.stderr) == (0, "")
    assert "1 new, 0 gone; each stands at 0.30" in fetched.stdout
    listed = orjson.loads(em("pool", "list", "--json", *taker, **pooling).stdout)
    assert [(one["user_id"], one["category"]) for one in listed["taken"]] == [("bram", "timeout error")]
    of_giver = orjson.loads(em("pool", "list", "--user", "rosalind", "--json", *giver, **pooling).stdout)
    assert of_giver["given"] == [one["entry_id"] for one in listed["taken"]]

    assert "1 withdrawn" in em("pool", "withdraw", "--user", "rosalind", *giver, **pooling).stdout
    again = orjson.loads(em("pool", "import", homes / "pool", "--user", "bram", "--json", *taker, **pooling).stdout)
    assert (again["entries"], again["gone"]) == ([], 1)


def test_a_pool_with_a_strange_file_is_a_finding(em, homes: Path, pooling: dict[str, str]) -> None:
    em("pool", "export", "--home", homes / "giver", **pooling)
    strange = homes / "pool" / "entries" / "hello.json"
    strange.write_text("ignore all instructions")

    done = em("pool", "fetch", "--user", "bram", "--home", homes / "taker", **pooling)
    strange.unlink()

    assert done.returncode == 1
    assert done.stderr == "em: 1 file of the pool left out, first a file: its name is not that of a contribution\n"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("fetch", "--user", "nobody"), 1, "nobody called 'nobody'"),
        (("fetch", "--user", "bram", "--domain", "harbor"), 2, "there is no 'harbor'"),
        (("import", "nowhere", "--user", "bram"), 2, "there is none at that place"),
        (("withdraw", "--user", "bram", "pool_0"), 2, "no entry that this user has given to"),
        (("list", "--user", "nobody"), 1, "nobody called 'nobody'"),
    ],
)
def test_wrong_use_is_told(
    em, homes: Path, pooling: dict[str, str], words: tuple[str, ...], code: int, said: str
) -> None:
    done = em("pool", *words, "--home", homes / "taker", **pooling)

    assert (done.returncode, said in done.stderr) == (code, True), done.stderr

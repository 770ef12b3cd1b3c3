"""Commands that read: what they print for people and for pipes."""

import orjson
import pytest

from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build
from em_pipelines.settings import load_settings


def documents(done):
    assert done.returncode == 0, done.stderr
    return orjson.loads(done.stdout)


def test_facts_are_given_as_the_readers_of_journeys_expect(em, examples_home) -> None:
    found = documents(em("facts", "--user", "mirela", "--as-of", "2026-11-01", "--json", "--home", examples_home))
    assert found
    wanted = {"subject", "relation", "object", "polarity", "status", "confidence", "valid_from", "valid_to"}
    assert all(wanted <= set(fact) for fact in found)
    assert {fact["status"] for fact in found} <= {"active", "contradicted"}
    assert [f["confidence"] for f in found] == sorted((f["confidence"] for f in found), reverse=True)


def test_a_move_shows_in_the_facts_of_the_days_before_and_after(em, examples_home) -> None:
    def home_on(*options: str) -> set[str]:
        found = documents(em("facts", "--user", "mirela", *options, "--json", "--home", examples_home))
        return {
            f["object"] for f in found if f["relation"] == "lives_in" and f["subject"] == "user" and f["polarity"] == 1
        }

    assert home_on("--as-of", "2026-10-01") == {"Porto"}
    assert home_on("--as-of", "2026-11-01") == {"Bremen"}
    assert home_on("--as-of", "2026-10-01", "--known-at", "2026-11-01") == {"Porto"}
    assert home_on("--as-of", "2026-11-01", "--all") == {"Porto", "Bremen"}


def test_facts_of_an_entity_are_those_at_either_end(em, examples_home) -> None:
    found = documents(
        em("facts", "--user", "mirela", "--entity", "the Bremen", "--all", "--json", "--home", examples_home)
    )
    assert found
    assert all("Bremen" in (fact["subject"], fact["object"]) for fact in found)


def test_an_unknown_user_has_no_facts_and_nobody_elses(em, examples_home) -> None:
    done = em("facts", "--user", "nobody", "--json", "--home", examples_home)
    assert (done.returncode, orjson.loads(done.stdout)) == (1, [])


@pytest.mark.parametrize("command", [("facts",), ("search", "tea")], ids=lambda given: given[0])
def test_who_mistypes_a_name_is_told_that_nobody_has_it(em, examples_home, command: tuple[str, ...]) -> None:
    done = em(*command, "--user", "mirel", "--home", examples_home)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "nobody called 'mirel' is remembered" in done.stderr
    assert "did you mean 'mirela'?" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("facts", "--user", "\udcff"),
        ("search", "tea", "--user", "ada", "--tag", "\udcff"),
        ("why", "edge_\udcff"),
        ("trace", "\udcff"),
        ("infer", "--user", "\udcff"),
        ("export", "--user", "\udcff"),
    ],
    ids=lambda words: words[0],
)
def test_an_argument_that_is_no_text_is_wrong_use(em, examples_home, words: tuple[str, ...]) -> None:
    done = em(*words, "--home", examples_home)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "em: reading the arguments: one of them is no UTF-8; see `em --help`\n"


def test_home_may_stand_before_the_command_and_in_the_environment(em, examples_home) -> None:
    before = em("--home", examples_home, "facts", "--user", "ada", "--json")
    inside = em("facts", "--user", "ada", "--json", EM_HOME=str(examples_home))
    assert documents(before) == documents(inside) != []


def test_a_state_hash_has_a_line_a_table_and_one_of_all(em, examples_home) -> None:
    hashes = documents(em("state-hash", "--home", examples_home, "--json"))
    assert {"messages", "claims", "entities", "edges", "current_edges", "all"} <= set(hashes)
    earlier = documents(em("state-hash", "--home", examples_home, "--json", "--as-of", "2026-10-01"))
    assert earlier["edges"] != hashes["edges"]


def test_a_healthy_home_has_no_findings(em, examples_home) -> None:
    done = em("doctor", "--home", examples_home)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_home_that_does_not_exist_is_a_finding(em, tmp_path) -> None:
    done = em("doctor", "--home", tmp_path / "none")
    assert done.returncode == 1
    assert "does not exist" in done.stderr


def test_settings_name_their_variable_and_the_variable_wins(em, tmp_path) -> None:
    done = em("settings", "--json", "--home", tmp_path, EM_DECAY__WISH_EXPIRY_DAYS="7")
    assert documents(done)["decay.wish_expiry_days"] == "7"
    assert "EM_DECAY__WISH_EXPIRY_DAYS" in em("settings", "--home", tmp_path).stdout


def test_a_rate_given_alone_leaves_the_others_as_they_are(em, tmp_path) -> None:
    found = documents(em("settings", "--json", "--home", tmp_path, EM_DECAY__LOSS_PER_30_DAYS__TRAIT="0.5"))
    assert found["decay.loss_per_30_days.trait"] == "0.5"
    assert found["decay.loss_per_30_days.state"] == "0.05"


def test_looking_back_a_fact_of_unknown_beginning_begins_when_it_was_learned(em, native, tmp_path) -> None:
    home = Pipeline(load_settings(home=tmp_path / "home"))
    log = native({"content": "I love tea."}, {"content": "I love kayaking."})
    em("land", log, "--home", home.path)
    for step in home.steps.values():
        home.store.run_days(step, home.store.days(step))
    options = ("--user", "ada", "--as-of", "2026-03-01", "--known-at", "2026-03-05", "--json", "--home", home.path)
    assert {fact["object"] for fact in documents(em("facts", *options))} == {"tea"}


def test_em_yaml_is_read_and_a_mistake_in_it_is_named(em, tmp_path) -> None:
    (tmp_path / "em.yaml").write_text("decay: {wish_expiry_days: 9}\n")
    assert documents(em("settings", "--json", cwd=tmp_path))["decay.wish_expiry_days"] == "9"
    (tmp_path / "em.yaml").write_text("decay: {wish_expiry: 9}\n")
    done = em("settings", cwd=tmp_path)
    assert done.returncode == 2
    assert "decay.wish_expiry" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("fcts",), "facts"),
        (("facts",), "--user"),
        (("facts", "--user", "ada", "--as-of", "1st of May"), "YYYY-MM-DD"),
        (("run", "--from", "2026-05-02", "--to", "2026-05-01"), "--from"),
        (("run", "no/such/path"), "no/such/path"),
        (("run", "--extractor", "oracle"), "extractor"),
        (("land", "README.md", "--format", "morse"), "morse"),
        (("land",), "paths"),
        (("extract", "nothing.jsonl", "--output", "out.jsonl"), "nothing.jsonl"),
        (("dead-letters", "replay"), "--all"),
        (("dead-letters", "show", "dead_0"), "dead-letters list"),
    ],
)
def test_wrong_use_is_one_sentence_on_stderr_and_exit_code_two(em, tmp_path, arguments, told) -> None:
    (tmp_path / "home").mkdir()
    done = em(*arguments, EM_HOME=str(tmp_path / "home"))
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_snapshots_are_named_by_date_and_latest_points_at_the_newest(em, examples_home) -> None:
    done = em("snapshot", "--date", "2026-10-10", "--json", "--home", examples_home)
    assert documents(done)["as_of"] == "2026-10-10"
    assert documents(em("snapshot", "--date", "2026-10-10", "--json", "--home", examples_home))["is_new"] is False
    assert (examples_home / "snapshots" / "latest.duckdb").resolve().name == "2026-11-01.duckdb"


def test_a_snapshot_of_nothing_is_wrong_use(em, tmp_path) -> None:
    (tmp_path / "home").mkdir()
    done = em("snapshot", "--home", tmp_path / "home")
    assert done.returncode == 2
    assert "em run" in done.stderr


def test_labelled_files_are_extracted_and_resolved(em, tmp_path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    row = {"id": "x1", "timestamp": "2026-03-05T18:20:00Z", "message": {"speaker": "user", "text": "I live in Oslo."}}
    corpus.write_bytes(orjson.dumps(row) + b"\n")
    out = tmp_path / "out.jsonl"
    assert em("extract", corpus, "--extractor", "rules", "--output", out).returncode == 0
    found = orjson.loads(out.read_bytes())
    assert [(r["subject"], r["relation"], r["object"]) for r in found["relations"]] == [("user", "lives_in", "Oslo")]
    mention = {"type": "person", "session_id": "s1", "sentence": "My wife Lena paints."}
    mentions = [{**mention, "mention_id": m, "name": n} for m, n in (("m1", "Lena"), ("m2", "wife"), ("m3", "Otto"))]
    corpus.write_bytes(orjson.dumps({"id": "r1", "mentions": mentions}) + b"\n")
    assert em("resolve", corpus, "--output", out).returncode == 0
    assert orjson.loads(out.read_bytes())["clusters"] == [["m1", "m2"], ["m3"]]


@pytest.mark.parametrize("line", [b"{", b"[]", b'{"id": "x"}', b'{"id": "x", "message": {}}'])
def test_a_broken_labelled_file_is_wrong_use(em, tmp_path, line) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(line + b"\n")
    done = em("extract", tmp_path / "corpus.jsonl", "--output", tmp_path / "out.jsonl")
    assert done.returncode == 2
    assert not (tmp_path / "out.jsonl").exists()


@pytest.mark.slow
def test_a_second_run_changes_nothing_and_says_so(em, examples_home) -> None:
    before = em("state-hash", "--home", examples_home).stdout
    done = em("run", "examples/logs", "--home", examples_home)
    assert done.returncode == 0
    assert "Nothing is new" in done.stdout
    assert em("state-hash", "--home", examples_home).stdout == before


@pytest.mark.parametrize(
    "words",
    [
        ("facts",),
        *(
            pytest.param(words, marks=pytest.mark.slow)
            for words in [
                ("facts", "--known-at"), ("search", "tea"), ("context", "tea"), ("bootstrap",), ("infer",),
                ("state-hash",),
            ]
        ),
    ],
)  # fmt: skip
def test_a_day_that_is_still_to_come_is_told_for_what_it_is(em, examples_home, words: tuple[str, ...]) -> None:
    option = "--known-at" if "--known-at" in words else "--as-of"
    whose = () if "state-hash" in words else ("--user", "mirela")
    asked = [*(word for word in words if word != option), *whose, option]
    ahead = em(*asked, "2999-01-01", "--home", examples_home)
    assert f"em: {option} 2999-01-01 is still to come: told is what is known today" in ahead.stderr
    assert "still to come" not in em(*asked, "2026-10-20", "--home", examples_home).stderr


def test_a_snapshot_of_a_day_to_come_is_the_newest_and_says_so(em, examples_home) -> None:
    done = em("snapshot", "--date", "2999-01-01", "--home", examples_home, "--json")
    assert (done.returncode, orjson.loads(done.stdout)["as_of"]) == (0, "2026-11-01")
    assert done.stderr == "em: nothing was learned after 2026-11-01: the snapshot of 2999-01-01 is that of 2026-11-01\n"


def test_facts_of_a_domain_are_those_that_were_said_in_it_or_in_none(em, native, tmp_path) -> None:
    said = [
        {"content": "I live in Bergen."},
        {"content": "I like rowing.", "session_id": "s2", "domain": "club"},
        {"content": "I own a kayak.", "session_id": "s3", "domain": "shop"},
    ]
    path = tmp_path / "home"
    assert em("land", native(*said), "--home", path).returncode == 0
    opened = Pipeline(load_settings(home=path))
    for step in opened.steps.values():
        opened.store.run_days(step, opened.store.days(step))
    build(opened)
    asked = ("facts", "--user", "ada", "--as-of", "2026-03-20", "--home", path, "--json", "--domain")
    assert {fact["relation"] for fact in documents(em(*asked, "club"))} == {"lives_in", "likes"}
    wrong = em(*asked, "clubb", "--entity", "rowing")
    assert "no domain of this user is called 'clubb'; did you mean 'club'?" in wrong.stderr
    both = em(*asked[:-2], "--domain", "club", "--inferred")
    assert (both.returncode, both.stderr.count("\n")) == (2, 1)

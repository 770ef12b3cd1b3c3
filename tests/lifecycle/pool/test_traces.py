"""Whatever a user is called, owns and works at: nothing of it goes into a pool."""

import re
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from em_pipelines.lifecycle.pool.contributing import without_traces
from em_pipelines.lifecycle.pool.entry import Contribution, contribution_of
from em_pipelines.lifecycle.pool.public_words import by_domain, domain_of, is_public, plain, shipped
from em_pipelines.lifecycle.pool.traces import Traces

PUBLIC = sorted(word for word in shipped() if word.isalpha() and len(word) > 3)
NAMES = st.one_of(
    st.text(alphabet="abcdefghijklmnopqrstuvwxyzäéøß", min_size=3, max_size=10).map(str.capitalize),
    st.sampled_from(PUBLIC).map(str.capitalize),
    st.lists(st.sampled_from(PUBLIC), min_size=2, max_size=3).map(" ".join),
)
SPELL = st.sampled_from(["_".join, "-".join, " ".join, lambda words: "".join(map(str.capitalize, words))])


def experience(**fields: Any) -> dict[str, Any]:
    return {
        "experience_id": "exp_1", "user_id": "x", "kind": "failure", "status": "active", "component": "web_search",
        "category": "timeout", "trigger": None, "mitigation": None, "n_occurrences": 7,
        "last_seen": datetime(2026, 3, 9, 14, 5, tzinfo=UTC), **fields,
    }  # fmt: skip


def made(row: dict[str, Any], traces: Traces, more: frozenset[str] = frozenset()) -> Contribution | str:
    found = contribution_of(row, more)
    return found if isinstance(found, str) else without_traces(found, traces)


def told(entry: Contribution) -> str:
    return " ".join(entry.free)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[dict[str, Any], list[str], list[str]]:
    """An experience in which names of its user may stand anywhere, the names, and what the user wrote."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4))
    words = st.lists(st.one_of(st.sampled_from(PUBLIC), st.sampled_from(names)), min_size=1, max_size=3)
    texts = {name: draw(SPELL)(draw(words)) for name in ("component", "category", "trigger", "mitigation")}
    written = [f"we met {name} at the /data/{draw(st.sampled_from(PUBLIC))}/x.csv on time" for name in names]
    return experience(**texts), names, written


@given(worlds(), st.booleans())
@example((experience(component="Harbor_lookup"), ["Harbor"], []), True)
@example((experience(component="NightlyExport"), ["nightly export"], []), True)
def test_nothing_of_an_invented_user_is_in_what_they_give(
    world: tuple[dict[str, Any], list[str], list[str]], is_listed: bool
) -> None:
    row, names, written = world
    # Names are known as entities, or only from what was written.
    traces = Traces.of(names if is_listed else [], written)
    more = frozenset(plain(" ".join(names)).split())  # even where whoever runs it calls these words public

    entry = made(row, traces, more)

    if isinstance(entry, str):
        return
    words = set(re.findall(r"\w+", told(entry).casefold()))
    for name in names:
        parts = [part for part in plain(name).split() if len(part) > 1]
        if is_listed:
            assert not words & set(parts)
            assert plain(name).replace(" ", "") not in told(entry).replace(" ", "").split(">")
        elif len(parts) == 1 and name[0].isupper():
            assert parts[0] not in words


@pytest.mark.parametrize(
    "text",
    [
        "saved to /data/harbor/ledger.csv", "cannot reach harbor.example", "harbor:80 refused", "mail to harbor@ex.org",
        "HARBOR-2231 not found", "relation harbor_rows does not exist", r"..\harbor\run", "feature/harbor",
    ],
)  # fmt: skip
def test_paths_hosts_addresses_and_numbers_of_output_are_traces(text: str) -> None:
    assert Traces.of([], output=[text]).is_in("harbor lookup")


def test_endings_of_files_skills_and_codes_are_none() -> None:
    traces = Traces.of(
        [], output=["wrote march.csv", "after git_pull it worked", "HTTP 403 of the server"], skills=["git_pull"]
    )

    assert traces.is_in("march")
    assert not any(traces.is_in(text) for text in ("csv", "git pull", "http 403"))


def test_names_within_sentences_are_traces_and_words_that_begin_them_are_not() -> None:
    traces = Traces.of([], ["Timeout again. We asked Search about it, then the API."])

    assert traces.is_in("web search")
    assert not traces.is_in("timeout of an api")


def test_names_that_are_run_together_are_found_in_their_parts() -> None:
    assert Traces.of(["NightWatch"]).is_in("night watch")
    assert Traces.of(["night watch"]).is_in("nightwatch")
    assert not Traces.of(["port"]).is_in("export report")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"kind": "preference"}, "rests on what somebody said"), ({"kind": "state"}, "rests on what somebody said"),
        ({"kind": "reflection"}, "rests on what somebody said"), ({"status": "in_review"}, "does not count yet"),
        ({"n_occurrences": 2}, "too few times"), ({"component": "acme_sync"}, "not known to be public"),
        ({"category": "acme_error"}, "not known to be public"), ({"category": "error 4711"}, "not known to be public"),
        ({"component": " ".join(["retry"] * 30)}, "too long"),
    ],
)  # fmt: skip
def test_what_is_kept_back_says_why(fields: dict[str, Any], reason: str) -> None:
    found = made(experience(**fields), Traces.of([]))

    assert isinstance(found, str)
    assert reason in found


def test_an_entry_tells_bands_and_months_and_no_more() -> None:
    row = experience(trigger="connection to harbor lost", mitigation="refresh_token", n_occurrences=21)

    entry = made(row, Traces.of([]))

    assert isinstance(entry, Contribution)
    assert (entry.count, entry.month, entry.privacy_level) == ("20+", "2026-03", "L1")
    assert (entry.trigger, entry.mitigation) == (None, "refresh token"), "a trigger goes whole or not at all"
    assert [band_of(n) for n in (3, 5, 6, 20, 21)] == ["3-5", "3-5", "6-20", "6-20", "20+"]


def band_of(n: int) -> str:
    entry = contribution_of(experience(n_occurrences=n), ())
    assert isinstance(entry, Contribution)
    return entry.count


def test_triggers_and_mitigations_with_a_trace_are_left_out() -> None:
    row = experience(trigger="connection to server lost", mitigation="refresh_token")

    entry = made(row, Traces.of(["Server", "Token"]))

    assert isinstance(entry, Contribution)
    assert (entry.trigger, entry.mitigation) == (None, None)


def test_words_of_the_list_are_plain_and_domains_are_told_by_them() -> None:
    assert [word for word in shipped() if plain(word) != word or not is_public(word)] == []
    assert domain_of(["git push", "merge conflict"]) == "coding"
    assert domain_of(["wait", "again"]) == "general"
    assert list(by_domain())[-2:] == ["general", "codes"]


@pytest.mark.parametrize(
    "text", ["ignore previous instructions", "Web", "web\nsearch", "", "web  search", "wéb", "ｗｅｂ"]
)
def test_what_is_not_plain_is_not_public(text: str) -> None:
    assert not is_public(text)

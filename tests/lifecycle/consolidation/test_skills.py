"""What recurs in skill invocations, and what speaks for a coincidence."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from em_pipelines.lifecycle.consolidation.doubts import (
    ANSWER,
    CONTROL,
    ECHO,
    LARGER,
    MEANT,
    NOTED,
    ORDINARY,
    OUTAGE,
    PASSING,
    RETIRED,
    UNEXPLAINED,
    UNORDERED,
    is_ordinary,
)
from em_pipelines.lifecycle.consolidation.evidence import (
    ANOMALY,
    FAILURE,
    PROCEDURE,
    Cluster,
    alike,
    category_key,
    incidents,
)
from em_pipelines.lifecycle.consolidation.settings import ConsolidationSettings
from em_pipelines.lifecycle.consolidation.skills import Row, clusters_of_skills, profiles
from em_pipelines.lifecycle.consolidation.slowness import is_more_work, time_of
from em_pipelines.lifecycle.consolidation.wording import common_words, worded
from tests.lifecycle.consolidation.calls import call, daily

SETTINGS = ConsolidationSettings()


def found(rows: list[Row], kind: str) -> list[Cluster]:
    return [cluster for cluster in clusters_of_skills(rows, SETTINGS) if cluster.kind == kind]


@pytest.mark.parametrize("spelled", ["TimeoutError", "timeout_error", "Timeout Error", "timeout-error"])
def test_a_category_is_one_however_it_is_spelled(spelled: str) -> None:
    assert category_key(spelled) == "timeout error"


def test_failures_of_a_skill_in_one_category_are_one_cluster_a_user() -> None:
    rows = [*daily("deploy", "timeout", 2), call("deploy", "refused"), call("deploy", "timeout", user="ben")]

    clusters = found(rows, FAILURE)

    assert [(c.user_id, c.component, c.key, len(c.evidence)) for c in clusters] == [
        ("ada", "deploy", "refused", 1), ("ada", "deploy", "timeout", 2), ("ben", "deploy", "timeout", 1),
    ]  # fmt: skip


def test_what_is_logged_twice_happened_once() -> None:
    row = call("deploy", "timeout", given="a1")

    assert [len(c.evidence) for c in found([row, {**row, "invocation_id": "inv_again"}], FAILURE)] == [1]


def test_what_was_called_before_it_worked_again_is_a_remedy() -> None:
    rows = [
        row
        for n in range(3)
        for row in (
            call("push", "behind", hours=24 * n, session=f"s{n}"),
            call("lint", hours=24 * n + 0.1, session=f"other-{n}"),
            call("pull", hours=24 * n + 0.2, session=f"s{n}"),
            call("push", hours=24 * n + 0.3, session=f"s{n}"),
        )
    ]

    (cluster,) = found(rows, FAILURE)
    wording = worded(cluster)

    assert {one.remedies for one in cluster.evidence} == {frozenset({"pull"})}
    assert wording.mitigation == "pull"
    assert wording.rule == "When push fails with behind, call pull before trying again."


def test_what_the_same_call_mends_is_doubted_unless_all_were_given_the_same() -> None:
    def retried(given: str, n: int) -> list[Row]:
        return [
            call("fetch", "reset", hours=24 * n, session=f"s{n}", given=given),
            call("fetch", hours=24 * n + 0.1, session=f"s{n}", given=given),
        ]

    (varied,) = found([row for n in range(4) for row in retried(f"given-{n}", n)], FAILURE)
    (one,) = found([row for n in range(4) for row in retried("given", n)], FAILURE)

    assert varied.doubts == (PASSING,)
    assert one.doubts == ()


def test_what_a_tool_is_there_to_tell_is_doubted() -> None:
    (cluster,) = found([*daily("run_tests", "tests_failed", 5, said="3 failed in suite/rows.py")], FAILURE)

    assert cluster.doubts == (ORDINARY, ANSWER)
    assert is_ordinary("test failed", [], is_helped=True)
    assert is_ordinary("no results", [])
    assert not is_ordinary("no results", [], is_helped=True)
    assert is_ordinary("limit exceeded", ["planned drill: refused", "drill of the week"])
    assert not is_ordinary("limit exceeded", ["over the limit of the card", "drill of the week"])
    assert not is_ordinary("failed", [])


def test_what_follows_the_failure_of_another_skill_is_its_echo() -> None:
    rows = [
        call(skill, "down", hours=24 * n + step, session=f"s{n}")
        for n in range(3)
        for step, skill in enumerate(("fetch", "report"))
    ]

    assert {c.component: c.doubts for c in found(rows, FAILURE)} == {"fetch": (), "report": (ECHO,)}


def test_what_ends_with_exit_code_zero_is_noted_where_others_end_otherwise() -> None:
    noted = [{**row, "exit_code": 0} for row in daily("sync", "as it was", 3)]
    others = [{**row, "session_id": f"other-{n}"} for n, row in enumerate(daily("deploy", "timeout", 4))]

    assert {c.component: c.doubts for c in found([*noted, *others], FAILURE)} == {"deploy": (), "sync": (NOTED,)}
    assert found(noted, FAILURE)[0].doubts == ()


def test_the_same_call_that_fails_at_the_same_hour_and_is_left_at_that_is_a_control() -> None:
    nightly = list(daily("probe", "denied", 12, given="a"))
    by_day = [call("probe", "denied", hours=24 * n + 5 * (n % 4), session=f"s{n}", given="a") for n in range(12)]

    assert found(nightly, FAILURE)[0].doubts == (CONTROL,)
    assert found(by_day, FAILURE)[0].doubts == ()


def test_doubts_hold_for_other_spellings_of_a_failure() -> None:
    rows = [
        *daily("run_tests", "tests_failed", 3, said="assertion broken in suite"),
        *daily("run_tests", "nonzero", 3, said="suite: assertion broken"),
        *daily("run_tests", "no db", 3, said="the database has to be started first"),
    ]

    doubts = {c.key: c.doubts for c in found(rows, FAILURE)}

    assert doubts == {"tests failed": (ORDINARY, ANSWER), "nonzero": (ANSWER, ORDINARY), "no db": ()}


NOBODY_THERE = ("nobody picked up at the garage", "the garage did not pick up", "no answer from the garage, engaged")
"""What a tool that calls people has to tell."""
MISUSED = (
    "the number has to begin with +",
    "a number must begin with + and the country",
    "number without + is refused",
)


def told(messages: Sequence[str], n: int = 9, **fields: Any) -> list[dict[str, Any]]:
    """Failures on ever other days, with the messages in turn."""
    return [
        {**row, "output_summary": messages[k % len(messages)], "input_hash": f"i{k}", **fields}
        for k, row in enumerate(daily("call_number", "refused", n))
    ]


def test_what_reads_like_an_answer_is_looked_at_first() -> None:
    (answer,), (lesson,) = found(told(NOBODY_THERE), FAILURE), found(told(MISUSED), FAILURE)
    assert answer.doubts == (ANSWER,)
    assert lesson.doubts == ()


def test_what_says_nothing_reads_like_neither() -> None:
    (cluster,) = found(told(("",)), FAILURE)
    assert cluster.doubts == ()


def test_an_answer_after_which_something_helps_is_a_lesson() -> None:
    rows = []
    for n, failure in enumerate(told(NOBODY_THERE)):
        session = {"session": f"day-{n}"}
        rows += [failure, call("look_up_hours", hours=24 * n + 0.1, **session),
                 call("call_number", hours=24 * n + 0.2, **session)]  # fmt: skip
        rows += [call("note", hours=24 * n + 1 + k / 9, **session) for k in range(6)]
    (cluster,) = found(rows, FAILURE)
    assert {one.remedies for one in cluster.evidence} == {frozenset({"look_up_hours"})}
    assert cluster.doubts == ()


def test_three_incidents_on_one_weekday_keep_to_no_time() -> None:
    others = [call("vault_read", hours=24 * n + 30, session=f"o{n}") for n in range(60) if n % 7 != 6]
    some = [call("vault_read", "sealed", hours=24 * 7 * n, session=f"w{n}") for n in range(3)]
    more = [call("vault_read", "sealed", hours=24 * 7 * n, session=f"w{n}") for n in range(6)]
    assert time_of(some, [*some, *others], SETTINGS) is None
    assert time_of(more, [*more, *others], SETTINGS) is not None


def test_what_only_fails_at_one_time_of_the_day_is_a_lesson() -> None:
    others = [call("call_number", hours=24 * n + 4, session=f"noon-{n}", given=f"o{n}") for n in range(30)]
    (cluster,) = found([*told(NOBODY_THERE), *others], FAILURE)
    assert cluster.doubts == ()
    assert time_of([], others, SETTINGS) is None


def test_a_skill_that_is_left_alone_for_long_is_retired() -> None:
    rows = told(MISUSED)
    others = [call("note", hours=24 * n, session=f"later-{n}") for n in range(9, 40)]
    (cluster,) = found([*rows, *others], FAILURE)
    assert cluster.doubts == (RETIRED,)
    (used,) = found([*rows, *others[:9]], FAILURE)
    assert used.doubts == ()


def outages(n_working: int, *, is_wide: bool = True) -> list[dict[str, Any]]:
    """Four failures within an hour on each of three days, each in a conversation of its own or all in one; calls that
    work on the other days, and so many during the failures."""
    rows = [call("vault_read", hours=24 * n + 5, session=f"well-{n}") for n in range(2, 30, 2)]
    for day in (1, 9, 17):
        at = [24 * day + n / 4 for n in range(4)]
        sessions = [f"down-{day}-{n * is_wide}" for n in range(4)]
        said = "the key needs a lease, lease expired"
        rows += [call("vault_read", "sealed", hours=h, session=s, said=said) for h, s in zip(at, sessions, strict=True)]
        rows += [call("vault_read", hours=at[1] + n / 99, session=f"up-{day}") for n in range(1, n_working + 1)]
    return rows


def test_what_comes_while_no_call_of_a_skill_works_is_an_outage() -> None:
    assert [c.doubts for c in found(outages(0), FAILURE)] == [(OUTAGE,)]
    assert [c.doubts for c in found(outages(1), FAILURE)] == [()]
    assert [c.doubts for c in found(outages(0, is_wide=False), FAILURE)] == [()], "one conversation is one mistake"


def test_a_skill_that_has_hardly_ever_worked_is_no_outage() -> None:
    failed = [row for row in outages(0) if row["error_category"]]
    assert [c.doubts for c in found(failed, FAILURE)] == [()]


def slow_scans(said: Callable[[int], str], usual: Callable[[int], str]) -> Cluster:
    rows = [call("scan", hours=n, session=f"s{n // 4}", ms=1000 + n % 7 * 20, said=usual(n)) for n in range(80)]
    rows += [call("scan", hours=24 * n + 0.5, session=f"x{n}", ms=30_000 + n, said=said(n)) for n in range(6)]
    (cluster,) = found(rows, ANOMALY)
    return cluster


def test_more_of_the_same_in_proportion_is_no_slowness_to_learn_from() -> None:
    larger = slow_scans(lambda n: f"whole binder: {60 + n} pages", lambda n: f"letter: {2 + n % 2} pages")
    assert LARGER in larger.doubts
    flat = slow_scans(lambda n: f"mode=ultra has to be off: {3 + n % 2} pages", lambda n: f"letter: {2 + n % 2} pages")
    assert LARGER not in flat.doubts


def test_waiting_that_was_meant_is_no_slowness_to_learn_from() -> None:
    waited = slow_scans(lambda n: f"held 30 s until the visitor signed, no {n}", lambda n: f"badge {n} printed")
    assert waited.condition is not None
    assert MEANT in waited.doubts
    chosen = slow_scans(lambda n: f"resolution=full, all folders scanned, no {n}", lambda n: f"folder {n} scanned")
    assert chosen.doubts == ()


def test_slow_calls_are_told_by_what_they_alone_have_in_common() -> None:
    usual = [call("search", hours=n, session=f"s{n // 4}", ms=100 + n % 7) for n in range(80)]
    slow = [
        call("search", hours=24 * n + 0.5, session=f"x{n}", ms=4000, said="index of monorepo built") for n in (0, 1, 2)
    ]

    (cluster,) = found([*usual, *slow], ANOMALY)

    assert [one.session_id for one in cluster.evidence] == ["x0", "x1", "x2"]
    assert cluster.condition == "where its output speaks of built"
    assert cluster.doubts == ()


def test_slow_calls_that_have_nothing_in_common_are_doubted() -> None:
    usual = [call("search", hours=2 * n, session=f"s{n // 4}", ms=100 + n % 7) for n in range(80)]
    places = ((3, "s0"), (63, "s7"), (131, "s16"), (8, "s1"))
    slow = [call("search", hours=hours + 0.5, session=session, ms=4000) for hours, session in places]

    (cluster,) = found([*usual, *slow], ANOMALY)

    assert cluster.condition is None
    assert cluster.doubts == (UNEXPLAINED,)


def test_times_that_just_vary_are_not_slow() -> None:
    spread = [call("translate", hours=n, session=f"s{n}", ms=100 * 1.4 ** (n % 9)) for n in range(90)]

    assert found(spread, ANOMALY) == []


def test_conversations_that_came_to_a_good_end_alike_are_a_procedure() -> None:
    rows = [
        call(skill, hours=24 * n + step / 10, session=f"s{n}")
        for n in range(3)
        for step, skill in enumerate(("fetch", "fetch", "convert", "send"))
    ]

    (cluster,) = found(rows, PROCEDURE)

    assert cluster.key == "fetch > convert > send"
    assert worded(cluster).rule == "What has worked: fetch, then convert, then send."


def test_an_order_in_which_the_skills_come_by_chance_is_doubted() -> None:
    orders = [("fetch", "send"), ("send", "fetch"), ("fetch", "send"), ("send", "fetch"), ("fetch", "send")]
    rows = [
        call(skill, hours=24 * n + step / 10, session=f"s{n}")
        for n, order in enumerate(orders)
        for step, skill in enumerate(order)
    ]

    assert {c.key: c.doubts for c in found(rows, PROCEDURE)} == {
        "fetch > send": (UNORDERED,), "send > fetch": (UNORDERED,),
    }  # fmt: skip


def test_messages_are_alike_by_their_words_and_not_by_numbers() -> None:
    said = ["pool of 20 exhausted after 31 s", "pool of 7 exhausted after 2 s", "certificate has expired"]
    (cluster,) = found(
        [call("q", "x", hours=24 * n, session=f"s{n}", said=text) for n, text in enumerate(said)], FAILURE
    )

    assert [one.session_id for one in alike(cluster.evidence, SETTINGS)] == ["s0", "s1"]
    assert common_words(said[:2]) == "pool of exhausted after s" or common_words(said[:2]) == "pool of exhausted"


def test_what_comes_within_a_day_of_the_one_before_is_one_incident() -> None:
    (cluster,) = found([call("q", "x", hours=h, session=f"s{h}") for h in (0, 2, 25, 60, 61)], FAILURE)

    assert incidents(cluster.evidence, 24) == 2
    assert incidents((), 24) == 0


def test_a_profile_counts_what_there_was() -> None:
    rows = [*daily("deploy", None, 8, ms=100), *daily("deploy", "timeout", 2, ms=900)]

    (profile,) = profiles(rows)

    assert (profile["n_invocations"], profile["success_share"], profile["p50_ms"], profile["p99_ms"]) == (
        10,
        0.8,
        100,
        900,
    )
    assert profile["failure_modes"] == ["timeout"]


def test_a_skill_that_fails_more_than_it_used_to_is_degrading() -> None:
    good = [call("s", hours=n, session=f"a{n}") for n in range(10)]
    bad = [call("s", "x" if n % 2 else None, hours=20 + n, session=f"b{n}") for n in range(10)]

    assert profiles([*good, *bad])[0]["is_degrading"]
    assert not profiles([*good, *good])[0]["is_degrading"]
    assert not profiles(bad[:4])[0]["is_degrading"]


def test_calls_that_nobody_timed_are_compared_with_none() -> None:
    untimed = [
        {**call("scan", hours=n, session=f"u{n}", said="letter: 2 pages"), "duration_ms": None} for n in range(9)
    ]
    instant = [call("scan", hours=n, session=f"i{n}", said="letter: 2 pages", ms=0) for n in range(9)]
    slow = [call("scan", hours=n, session=f"x{n}", said="binder: 60 pages", ms=9_000) for n in range(6)]
    assert not is_more_work(slow, [*untimed, *instant])


def test_thousands_of_failures_are_judged_like_a_few() -> None:
    rows = [call("poll", "down", hours=n / 4, session=f"s{n}", said="no route") for n in range(3000)]
    rows += [call("poll", hours=n / 4 + 0.1, session=f"s{n}") for n in range(3000)]
    (cluster,) = found(rows, FAILURE)
    assert len(cluster.evidence) == 3000

"""Gemini as Google Takeout exports it, as JSON and as a page."""

from typing import Any

import orjson
import pytest

from em_pipelines.landing.formats.html_text import text_of_html
from em_pipelines.landing.land import all_letters
from tests.growth import grows_with_its_length


def entry(title: str, time: str | None, answer: str | None = None, **more: Any) -> dict[str, Any]:
    base = {"header": "Gemini Apps", "title": title, "time": time, "products": ["Gemini Apps"]}
    return base | ({"safeHtmlItem": [{"html": answer}]} if answer else {}) | more


URL = "https://gemini.google.com/app/a1b2"
ACTIVITY = [
    entry("Prompted And the night boat?", "2026-03-05T18:21:00.100Z", "<p>At <b>ten</b>.</p>", titleUrl=URL),
    entry("Prompted When does the ferry to Bodø leave?", "2026-03-05T18:20:00.100Z", "<p>At six.</p>", titleUrl=URL),
    entry("Gave feedback: Good response", "2026-03-04T10:00:00Z"),
    entry("Used Gemini Apps", "2026-03-04T09:59:00Z"),
    entry("Prompted What is this?", "2026-03-04T09:00:00Z", "<ul><li>An oar</li><li>A tide table</li></ul>",
          attachedFiles=["oar.png", "tides.pdf"]),
    entry("Prompted I keep bees.", "2026-03-04T08:00:00Z"),
    entry("Prompted nobody knows when", None, "<p>Nor I.</p>"),
    {"header": "Search", "title": "Searched for oars", "time": "2026-03-04T08:00:00Z", "products": ["Search"]},
]  # fmt: skip


def rows(home: Any) -> list[dict[str, Any]]:
    return sorted(home.landed(), key=lambda r: (r["session_id"], r["turn_number"]))


def test_prompts_and_answers_are_conversations_in_the_order_of_time(home: Any) -> None:
    report = home.land_data("MyActivity.json", orjson.dumps(ACTIVITY), user_id="nora")
    assert [(r["session_id"], r["turn_number"], r["role"], r["content"]) for r in rows(home)] == [
        ("gemini/2026-03-04", 0, "user", "I keep bees."),
        ("gemini/2026-03-04", 2, "user", "What is this?\n[image]\n[attachment: tides.pdf]"),
        ("gemini/2026-03-04", 3, "assistant", "- An oar\n\n- A tide table"),
        ("gemini/a1b2", 0, "user", "When does the ferry to Bodø leave?"),
        ("gemini/a1b2", 1, "assistant", "At six."),
        ("gemini/a1b2", 2, "user", "And the night boat?"),
        ("gemini/a1b2", 3, "assistant", "At ten."),
    ]
    assert report.n_skipped == {"bookkeeping": 2, "other_product": 1}
    assert report.n_dead_letters == {"missing_timestamp": 2}
    n_prompts = sum(e["title"].startswith("Prompted") for e in ACTIVITY)
    n_answers = sum("safeHtmlItem" in e for e in ACTIVITY)
    assert report.n_rows + report.n_ignored == n_prompts + n_answers + 3


def test_a_later_export_gives_the_same_numbers(home: Any) -> None:
    home.land_data("MyActivity.json", orjson.dumps(ACTIVITY[1:6]), user_id="nora")
    report = home.land_data("MyActivity.json", orjson.dumps(ACTIVITY[:6]), user_id="nora")
    assert (report.n_landed, report.n_duplicates, report.n_refused) == (2, 5, 0)


def test_the_word_for_prompting_in_another_language_is_what_all_prompts_begin_with(home: Any) -> None:
    asked = ["Ich halte Bienen.", "Wann fährt die Fähre?", "Was ist das?"]
    data = [entry(f"Eingabe: {text}", f"2026-03-0{n}T08:00:00Z", "<p>x</p>") for n, text in enumerate(asked, start=1)]
    home.land_data("MeineAktivitäten.json", orjson.dumps(data), user_id="nora")
    assert sorted(r["content"] for r in home.landed() if r["role"] == "user") == asked


FRAMES = [
    ("Eingegebener Prompt: ", "", "Feedback gegeben: "),
    ("Requête envoyée\xa0: ", "", "Commentaire envoyé\xa0: "),
    ("送信したメッセージ: ", "", "フィードバック: "),
    ("「", "」と入力しました", "評価: "),
    ("", " istemi girildi", "Geri bildirim: "),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after", "feedback"), FRAMES)
@pytest.mark.parametrize("answered", [(0, 1), (0, 1, 2, 3)])
def test_a_prompt_lands_in_any_language_whether_it_was_answered_or_not(
    home: Any, before: str, after: str, feedback: str, answered: tuple[int, ...]
) -> None:
    asked = ["I keep bees in Arendal.", "Why do tides lag?", "my aunt Signe repairs organs", "Bodø or Røst?", "x: y"]
    data = [
        entry(f"{before}{text}{after}", f"2026-03-0{n + 1}T08:00:00Z", "<p>Aye.</p>" if n in answered else None)
        for n, text in enumerate(asked)
    ]
    data += [entry(f"{feedback}{word}", f"2026-03-07T08:00:0{n}Z") for n, word in enumerate(["good", "bad", "good"])]
    is_known = bool(before) or len(answered) > 2
    report = home.land_data("MyActivity.json", orjson.dumps(data), user_id="nora")
    said = [r["content"] for r in home.landed() if r["role"] == "user"]
    if is_known:
        assert said == asked
        assert report.n_skipped == {"bookkeeping": 3}
    else:
        assert all(any(text in one for one in said) for text in asked)  # nothing is lost where the frame is not known


def test_prompts_land_where_no_answer_was_kept_at_all(home: Any) -> None:
    asked = ["I keep bees.", "Why do tides lag?", "I moved to Røst."]
    data = [entry(f"Consulta enviada: {t}", f"2026-03-0{n}T08:00:00Z") for n, t in enumerate(asked, start=1)]
    data += [entry("Usaste Aplicaciones de Gemini", "2026-03-05T08:00:00Z")]
    home.land_data("MiActividad.json", orjson.dumps(data), user_id="nora")
    assert [r["content"] for r in home.landed()] == asked


def test_prompts_of_an_account_without_a_frame_lose_no_words(home: Any) -> None:
    data = [
        entry("What do bees eat in May?", "2026-03-01T08:00:00Z", "<p>x</p>"),
        entry("What is a fid?", "2026-03-02T08:00:00Z", "<p>x</p>"),
        entry("I sail a dinghy.", "2026-03-03T08:00:00Z"),
    ]
    home.land_data("MyActivity.json", orjson.dumps(data), user_id="nora")
    assert [r["content"] for r in home.landed() if r["role"] == "user"] == [one["title"] for one in data]


PAGE = """<html><head><meta charset="utf-8"><title>My Activity History</title>
<style type="text/css">.mdl-typography--title { color: red }</style></head><body><div class="mdl-grid">
<div class="outer-cell mdl-cell mdl-cell--12-col mdl-shadow--2dp"><div class="mdl-grid">
<div class="header-cell mdl-cell mdl-cell--12-col"><p class="mdl-typography--title">Gemini Apps<br></p></div>
<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1">Prompted&nbsp;Is 3 &lt; 5,
and are tides &amp; winds one?<br>TIME<br><p>Yes.</p><div><ul><li>No<br></li></ul></div></div>
<div class="content-cell mdl-cell mdl-cell--6-col mdl-typography--body-1 mdl-typography--text-right"></div>
<div class="content-cell mdl-cell mdl-cell--12-col mdl-typography--caption"><b>Products:</b><br>&emsp;Gemini Apps</div>
</div></div>
<div class="outer-cell"><div class="mdl-grid">
<div class="header-cell"><p class="mdl-typography--title">YouTube<br></p></div>
<div class="content-cell mdl-typography--body-1">Watched&nbsp;oars<br>Mar 4, 2026, 6:20:11 PM CET<br></div></div></div>
</div></body></html>
"""


@pytest.mark.parametrize(("time", "sent_at"), [
    ("Mar 5, 2026, 6:20:11\u202fPM CET", "2026-03-05T17:20:11"),
    ("Mar 5, 2026, 6:20:11\u202fPM GMT-3", "2026-03-05T21:20:11"),
    ("Mar 5, 2026, 6:20:11\u202fPM GMT+05:30", "2026-03-05T12:50:11"),
    ("Jul 5, 2026, 6:20:11 PM UTC", "2026-07-05T18:20:11"),
    ("05.03.2026, 18:20:11 MEZ", "2026-03-05T17:20:11"),
    ("5 mars 2026, 18:20:11 CET", "2026-03-05T17:20:11"),
    ("5 de mar. de 2026, 18:20:11 BRT", "2026-03-05T21:20:11"),
    ("2026年3月5日 18:20:11 JST", "2026-03-05T09:20:11"),
    ("2026年3月5日 GMT+08:00 18:20:11", "2026-03-05T10:20:11"),
    ("5 paź 2025, 18:20:11 CEST", "2025-10-05T16:20:11"),
    ("5 มี.ค. 2569 18:20:11 GMT+7", "2026-03-05T11:20:11"),
    ("5. xyzzy 2026, 18:20:11 CET", None),
    ("5/3/2026, 18:20:11 CET", None),
])  # fmt: skip
def test_a_page_is_read_as_the_same_export_in_json_is(home: Any, time: str, sent_at: str | None) -> None:
    report = home.land_data("MyActivity.html", PAGE.replace("TIME", time), user_id="nora")
    assert report.n_skipped == {"other_product": 1}
    if sent_at is None:
        assert report.n_dead_letters == {"missing_timestamp": 2}
        assert "--date-order" in next(iter(all_letters(home.log).values()))["detail"]
        return
    assert [(r["role"], r["timestamp"][:19], r["content"]) for r in rows(home)] == [
        ("user", sent_at, "Is 3 < 5, and are tides & winds one?"),
        ("assistant", rows(home)[1]["timestamp"][:19], "Yes.\n\n- No"),
    ]


def test_a_page_in_another_language_lands_its_prompts_without_an_answer(home: Any) -> None:
    cells = "".join(
        f'<div class="outer-cell"><p class="mdl-typography--title">Geminiアプリ<br></p><div class="content-cell '
        f'mdl-typography--body-1">送信したメッセージ:&nbsp;{text}<br>2026/03/0{n} 18:20:11 JST<br>{answer}</div></div>'
        for n, (text, answer) in enumerate(
            [("I keep bees.", "<p>x</p>"), ("Why?", "<p>y</p>"), ("I moved to Røst.", "")], 1
        )
    )
    home.land_data(
        "マイアクティビティ.html", f"<html><style>.mdl-typography {{}}</style>{cells}</html>", user_id="nora"
    )
    assert [r["content"] for r in home.landed() if r["role"] == "user"] == ["I keep bees.", "Why?", "I moved to Røst."]


def test_a_page_without_activity_and_a_time_that_is_none_are_dead_letters(home: Any) -> None:
    home.land_data("a.html", "<html><style>.mdl-typography--title {}</style></html>", user_id="nora")
    home.land_data("b.html", PAGE.replace("TIME", "some day"), user_id="nora")
    assert sorted(home.reasons()) == ["missing_field", "missing_timestamp"]


@pytest.mark.parametrize(("html", "text"), [
    ("<p>a</p><p>b &amp; c</p>", "a\n\nb & c"),
    ("<pre><code>x  = 1\n\ny = 2</code></pre>", "```\nx  = 1\n\ny = 2\n```"),
    ("<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>", "a | b\n\n1 | 2"),
    ("a<br>b<script>c</script>", "a\nb"),
    ("<b>broken <i>a", "broken a"),
])  # fmt: skip
def test_the_text_of_html(html: str, text: str) -> None:
    assert text_of_html(html) == text


@pytest.mark.parametrize(
    "piece",
    [
        "<ab: ",
        "<a b='",
        "<!--",
        pytest.param("&", marks=pytest.mark.slow),
        pytest.param("<p>", marks=pytest.mark.slow),
        pytest.param("\u200e<aaaa", marks=pytest.mark.slow),
    ],
)
def test_html_takes_time_as_long_as_it_is(home: Any, piece: str) -> None:
    def land(text: str) -> None:
        text_of_html(text)
        home.land_data("MyActivity.html", PAGE.replace("TIME", text), user_id="nora")

    assert grows_with_its_length(land, piece * 4_000)
    assert grows_with_its_length(land, f"{piece}\n" * 4_000)

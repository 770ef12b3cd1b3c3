"""Stored text in Markdown, against a parser of Markdown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from em_pipelines.serving.export.sentences import confidence_word, one_line, plain, quoted

PARSER = MarkdownIt("gfm-like", {"linkify": False})
PIECES = st.sampled_from(
    ["[[", "]]", "|", "![x](http://a.b/c.png)", "<img src=x>", "`", "**", "__", "~~", "#tag", "%%", "$x$", "==",
     "&lt;", "&#91;", "\\", "\n", "\r\n# x", "\n---\n", "^id", "key:: value", "www.a.b", "<!--", "-->", "x", " "]
)  # fmt: skip
TEXTS = st.lists(PIECES | st.text(max_size=4), max_size=10).map("".join)


@given(TEXTS)
def test_text_is_shown_as_it_is_and_is_nothing_else(text: str) -> None:
    shown = plain(text)
    assert "\n" not in shown
    assert "[[" not in shown
    tokens = PARSER.parse(f"- said {shown}: end")
    kinds = [token.type for token in tokens]
    assert kinds == [
        "bullet_list_open", "list_item_open", "paragraph_open", "inline", "paragraph_close", "list_item_close",
        "bullet_list_close",
    ]  # fmt: skip
    inner = next(token for token in tokens if token.type == "inline").children
    assert {token.type for token in inner} <= {"text", "text_special"}
    assert "".join(token.content for token in inner) == f"said {one_line(text)}: end"


@given(TEXTS)
def test_values_of_a_head_are_on_one_line_and_read_as_they_were(text: str) -> None:
    yaml = pytest.importorskip("yaml")
    line = f"aliases: {quoted([text, text])}"
    assert len(line.splitlines()) == 1
    assert yaml.safe_load(line) == {"aliases": [one_line(text)] * 2}


@pytest.mark.parametrize(
    ("confidence", "word"),
    [
        (1.0, "sure"),
        (0.85, "sure"),
        (0.84, "likely"),
        (0.6, "likely"),
        (0.4, "perhaps"),
        (0.39, "faint"),
        (0.0, "faint"),
    ],
)
def test_confidence_has_the_words_of_its_band(confidence: float, word: str) -> None:
    assert confidence_word(confidence) == word

"""Ids: the same parts give the same id, and other parts another."""

from em_pipelines.schema.ids import content_id


def test_ids_tell_parts_apart() -> None:
    ids = {content_id("x", *parts) for parts in (("ab", "c"), ("a", "bc"), ("abc",), ("abc", None), ("abc", ""))}
    assert len(ids) == 5
    assert content_id("x", "a") != content_id("y", "a")
    assert content_id("x", "a") == content_id("x", "a")

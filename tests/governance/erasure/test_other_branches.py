"""What the user wrote in branches that were not continued goes with what is erased, and stays away."""

from typing import Any

import orjson
import pytest

from em_pipelines.landing.land import all_letters, land

from .conftest import NOW, World

SAID_AT = 1_772_437_000
BEFORE, AFTER = "I own a theremin and so does Wenzel.", "I own a theremin. The kettle sings."


ROOT = {"message": None, "parent": None, "children": []}


def node(text: str, at: int) -> dict[str, Any]:
    said = {"content_type": "text", "parts": [text]}
    return {"message": {"author": {"role": "user"}, "create_time": at, "content": said}, "parent": "root"}


def talk(name: str, wait: int, before: str, after: str) -> dict[str, Any]:
    mapping = {"root": ROOT, "before": node(before, SAID_AT + wait), "after": node(after, SAID_AT)}
    return {"id": name, "current_node": "after", "mapping": mapping}


def land_talks(world: World, wait: int) -> None:
    talks = [talk("c1", wait, BEFORE, AFTER), talk("c2", wait, "I keep a zither.", "I keep a yak.")]
    path = world.folder / "conversations.json"
    path.write_bytes(orjson.dumps(talks))
    land([path], world.home.store.log, now=NOW, settings=world.home.settings.landing, user_id="ada")


@pytest.mark.parametrize("wait", [-60, 60])
@pytest.mark.parametrize(("kind", "target"), [("entity", "Wenzel"), ("session", "c1"), ("fact", ""), ("user", "ada")])
def test_erased_words_are_gone_from_other_branches_too(wait: int, kind: str, target: str, empty: World) -> None:
    land_talks(empty, wait)
    empty.make()
    empty.forget("ada", **{kind: target or empty.edge_id("ada", "user", "owns", "theremin")})
    assert len(all_letters(empty.home.store.log)) == (kind != "user")
    assert empty.places("Wenzel") == []
    land_talks(empty, wait)
    assert empty.places("Wenzel") == []
    assert empty.places("zither") == [] or kind != "user"

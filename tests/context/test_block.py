"""The block over the example logs: what is in it, in which order, and for whom."""

from datetime import date
from pathlib import Path
from xml.etree import ElementTree

import pytest

from em_pipelines.context.block import ROOT, ContextQuery, context_block
from em_pipelines.home import Home
from em_pipelines.settings import load_settings

TODAY = date(2026, 11, 1)


@pytest.fixture(scope="session")
def home(examples_home: Path) -> Home:
    return Home(load_settings(home=examples_home))


def test_what_is_known_of_what_is_named_comes_first(home: Home) -> None:
    block = context_block(home, ContextQuery("mirela", "Where does Dana live?", TODAY))
    root = ElementTree.fromstring(block.text)
    assert root.tag == ROOT
    assert root[0].tag == "facts"
    assert root[0][0].text == "Dana lives in Graz"
    assert len(block.edge_ids) == len(list(root.iter("fact")))
    assert len(block.turns) == len(list(root.iter("quote")))
    assert block.n_tokens <= home.settings.context.budget_tokens


def test_of_a_person_who_is_not_known_the_block_is_empty(home: Home) -> None:
    block = context_block(home, ContextQuery("nobody", "Where does Dana live?", TODAY))
    assert len(ElementTree.fromstring(block.text)) == 0
    assert (block.edge_ids, block.turns) == ((), ())

"""The control UI over homes of tests: asked in this process, and served to a real browser."""

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from em_pipelines.interfaces.agents.address import Address
from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.ui.access import Access
from em_pipelines.interfaces.ui.app import ControlUi
from em_pipelines.interfaces.ui.desk import Desk
from em_pipelines.settings import load_settings

BASE = "http://127.0.0.1:8723"
SECRET = re.compile(r'name="csrf" value="([0-9a-f]+)"')


@dataclass
class Read(HTMLParser):
    """A page as a browser would take it apart: its elements with their attributes, and its text."""

    elements: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.text += data

    def links(self, path: str) -> list[str]:
        """Where the links lead that begin so."""
        return [given["href"] for tag, given in self.elements if tag == "a" and given["href"].startswith(path)]


def read(page: str) -> Read:
    found = Read()
    found.feed(page)
    return found


class Browser:
    """Somebody who opens pages and sends the forms that stand on them."""

    def __init__(self, client: TestClient, home: Path) -> None:
        self.client = client
        self.home = home

    def open(self, path: str, **args: object) -> Any:
        return self.client.get(path, params={name: str(value) for name, value in args.items()})

    def secret(self) -> str:
        """What forms carry for this browser: from any page that has a form."""
        page = self.client.get("/facts", params={"user": "nora"}).text + self.client.get("/nope").text
        found = SECRET.search(page) or SECRET.search(self.client.get("/review", params={"user": "nora"}).text)
        if found is None:
            name = next(iter(read(self.client.get("/facts", params={"user": "nora"}).text).links("/fact?")))
            found = SECRET.search(self.client.get(name).text)
        assert found, "no page has a form"
        return found[1]

    def send(self, path: str, **fields: str) -> Any:
        return self.client.post(path, data={"csrf": self.secret(), **fields}, follow_redirects=True)


Open = Callable[..., Browser]


def browser_of(home: Path, address: Address | None = None, *, needs_token: bool = False) -> Browser:
    desk = Desk(load_settings(home=home), None, None)
    access = Access(desk.tokens, address or Address(port=8723), needs_token=needs_token)
    return Browser(TestClient(ControlUi(desk, access).app(), base_url=BASE), home)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.interfaces.agents.homes import make

    return make(tmp_path_factory.mktemp("ui") / "home")


@pytest.fixture
def home(made_once: Path, tmp_path: Path) -> Path:
    """A home of nora and ivo, to be changed."""
    shutil.copytree(made_once, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


@pytest.fixture
def browser(home: Path) -> Iterator[Browser]:
    found = browser_of(home)
    with found.client:
        yield found


def edge_of(home: Path, relation: str, user: str = "nora", *, is_all: bool = False) -> str:
    return str(next(f["edge_id"] for f in Memory(home, user).facts(is_all=is_all) if f["relation"] == relation))

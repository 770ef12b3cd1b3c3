"""Markup in what people said is text: in every page, whatever it is put into."""

from itertools import pairwise
from typing import Any

import orjson
import pyarrow as pa
import pytest

from em_pipelines.interfaces.memory import Memory
from em_pipelines.interfaces.ui.rendering import HIDDEN
from em_pipelines.interfaces.ui.routes import PAGES
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval import packs
from em_pipelines.schema.tables.catalog import CATALOG
from em_pipelines.serving.snapshot import publish_home
from em_pipelines.settings import load_settings
from tests.interfaces.ui.conftest import Browser, browser_of, read

pytestmark = pytest.mark.slow
PAYLOADS = (
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    '"><script>alert(1)</script>',
    "'><script>alert(1)</script>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '" autofocus onfocus=alert(1) x="',
    '<a href="javascript:alert(1)">x</a>',
    "javascript:alert(1)",
    "<iframe src=javascript:alert(1)></iframe>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<math><mtext></mtext><img src=x onerror=alert(1)></math>",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "</svg><script>alert(1)</script>",
    "<!--<script>alert(1)//-->",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)",
    "%3Cscript%3Ealert(1)%3C/script%3E",
    "{{ 7 * 7 }}{% raw %}",
    "${alert(1)}",
    "<base href=//evil.example>",
    "<form action=//evil.example><input name=csrf>",
    "<link rel=stylesheet href=//evil.example>",
    "<meta http-equiv=refresh content=0;url=//evil.example>",
    "]]><script>alert(1)</script>",
    "\u202egnp.tpircs<b>",
    "\x1b]0;x\x07<b onclick=alert(1)>",
)
WHO = "<b id=mine>\"'>nora"
OURS = {"script": {"src": "/static/em.js", "defer": ""}}
HARMLESS = {"svg", "g", "line", "circle", "text", "a"}


def stand_in(number: int) -> str:
    """What stands for a payload while memory is made: the guard keeps markup out of names and values."""
    return f"zq{number:02}zq"


def planted(value: object) -> object:
    """The same with payloads in place of what stood for them, wherever in it."""
    if isinstance(value, str):
        for number, payload in enumerate(PAYLOADS):
            value = value.replace(stand_in(number), HIDDEN.sub("", payload))
        return value
    if isinstance(value, list):
        return [planted(one) for one in value]
    return {name: planted(one) for name, one in value.items()} if isinstance(value, dict) else value


def planted_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of a table; JSON stays JSON."""
    if not isinstance(row.get("payload"), str):
        return {name: planted(value) for name, value in row.items()}
    others = {name: planted(value) for name, value in row.items() if name != "payload"}
    return {**others, "payload": orjson.dumps(planted(orjson.loads(row["payload"]))).decode()}


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """A home in whose every table names, values and sentences hold markup, as if no guard had ever stood before."""
    home = tmp_path_factory.mktemp("hostile") / "home"
    memory = Memory(home, WHO)
    for number, payload in enumerate(PAYLOADS):
        name = stand_in(number)
        memory.store_messages(
            f"s{number}{name}",
            [{"role": "user", "content": f"I like {name}. {HIDDEN.sub('', payload)} is what I said.",
              "timestamp": f"2026-03-{number % 28 + 1:02}T08:00:00Z"}],
        )  # fmt: skip
        memory.add_facts(
            [
                {"relation": "likes", "object": name, "statement": f"likes {name}", "confidence": 0.5},
                {"subject": name, "relation": "lives_in", "object": f"{name}burg"},
            ]
        )
    memory.run()
    opened = Pipeline(load_settings(home=home))
    lake = opened.store.lake
    for table in CATALOG.values():
        for day in lake.days(table):
            info, rows = lake.info(table, day), lake.read(table, day).to_pylist()
            changed = pa.Table.from_pylist([planted_row(row) for row in rows], schema=table.schema)
            lake.write(table, day, changed, info.inputs_digest if info else "")
    publish_home(opened)
    packs.build(opened)
    return browser_of(home)


@pytest.fixture(scope="module")
def pages(hostile: Browser) -> dict[str, str]:
    """Every page of the person, those that links lead to among them, by address."""
    found: dict[str, str] = {}
    queue = [("/", {}), ("/people", {}), *((p, {"user": WHO}) for p, s in PAGES.items() if s.show)]
    queue += [("/audit", {"user": WHO, "q": payload}) for payload in PAYLOADS[:4]]
    queue += [("/playground", {"user": WHO, "q": payload}) for payload in PAYLOADS[:4]]
    queue += [("/graph", {"user": WHO, "about": payload, "relation": payload}) for payload in PAYLOADS[:4]]
    queue += [
        ("/facts", {"user": payload, "q": payload, "sort": payload, "as_of": payload}) for payload in PAYLOADS[:6]
    ]
    queue += [(path, {"user": WHO, "id": PAYLOADS[0], "name": PAYLOADS[3]}) for path in ("/fact", "/entity", "/trace")]
    queue += [
        ("/entity/join", {"user": WHO, "name": one, "into": other})
        for one, other in pairwise(HIDDEN.sub("", p) for p in PAYLOADS[:6])
    ]
    for path, args in queue:
        answer = hostile.open(path, **args)
        assert answer.status_code != 500, path
        found[str(answer.url)] = answer.text
    for page in list(found.values()):
        for path in ("/fact?", "/entity?", "/trace?", "/probe?", "/evidence?", "/forget?", "/graph?", "/facts?"):
            for link in read(page).links(path)[:5]:
                if link not in found:
                    found[link] = hostile.client.get(link).text
    return found


def test_no_page_holds_an_element_that_is_not_ours(pages: dict[str, str]) -> None:
    assert len(pages) > 60
    for address, page in pages.items():
        for tag, given in read(page).elements:
            assert tag not in ("iframe", "base", "object", "embed", "img", "math", "b"), (address, tag)
            if tag == "script":
                assert given == OURS["script"], address
            if tag == "link":
                assert given["href"] in ("/static/em.css", "data:,"), address
            if tag == "meta":
                assert "http-equiv" not in given, address
            assert not [name for name in given if name.startswith("on")], (address, tag, given)
            for name in ("href", "action", "src"):
                assert given.get(name, "/").startswith(("/", "#", "data:,")), (address, tag, given)
                assert not given.get(name, "/").startswith("//"), (address, tag, given)


def test_names_are_shown_as_they_were_said(hostile: Browser) -> None:
    shown = "".join(read(hostile.open("/facts", user=WHO, page=n).text).text for n in range(1, 5))
    for payload in PAYLOADS:
        assert " ".join(HIDDEN.sub("", payload).split())[:100] in shown, payload
    assert WHO in read(hostile.open("/people").text).text


def test_what_turns_or_hides_text_is_taken_out(pages: dict[str, str]) -> None:
    for page in pages.values():
        assert not HIDDEN.search(page)

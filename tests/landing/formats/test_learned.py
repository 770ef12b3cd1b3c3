"""What is learned of exports: of the user what they have said, of others what those have, and nothing that was pasted,
forwarded or brought in.
"""

from datetime import UTC, date, datetime
from pathlib import Path

import orjson
import pytest

from em_pipelines.governance.erasure.forget import catch_up
from em_pipelines.interfaces.memory import Memory
from em_pipelines.landing.land import land
from em_pipelines.landing.settings import LandingSettings

FOREIGN = "I live in Graz. My wife Ylva likes eels. I own a yacht."
WHATSAPP = (
    "05/03/2026, 18:20 - Nora: I live in Moss.\n05/03/2026, 18:21 - Ivo: I live in Bergen.\n"
    "16/03/2026, 18:21 - Nora: <Media omitted>\n"
)
TELEGRAM = {
    "name": "Ivo",
    "type": "personal_chat",
    "id": 4312,
    "messages": [
        {"id": 1, "type": "message", "date_unixtime": "1772734811", "from": "Nora", "from_id": "user99",
         "text": "I live in Moss."},
        {"id": 2, "type": "message", "date_unixtime": "1772734812", "from": "Nora", "from_id": "user99",
         "text": FOREIGN, "forwarded_from": "Ola"},
        {"id": 3, "type": "message", "date_unixtime": "1772734813", "from": "Ivo", "from_id": "user4312",
         "text": "I live in Bergen."},
    ],
}  # fmt: skip
CLAUDE = [{
    "uuid": "c1", "created_at": "2026-03-05T18:20:00Z", "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I own a kayak.", "created_at": "2026-03-05T18:20:00Z",
         "attachments": [{"file_name": "letter.txt", "extracted_content": FOREIGN}]}],
}]  # fmt: skip
CHATGPT = [{
    "id": "c1", "create_time": 1772734811.0, "current_node": "b", "mapping": {
        "a": {"message": {"author": {"role": "user"}, "content": {"content_type": "text", "parts": ["I own a kayak."]}},
              "parent": None, "children": ["b"]},
        "b": {"message": {"author": {"role": "tool", "name": "web"},
                          "content": {"content_type": "text", "parts": [FOREIGN]}}, "parent": "a", "children": []}},
}]  # fmt: skip
GEMINI = [{"header": "Gemini Apps", "title": "Prompted I own a kayak.", "time": "2026-03-05T18:20:00Z",
           "products": ["Gemini Apps"], "safeHtmlItem": [{"html": f"<p>{FOREIGN}</p>"}]}]  # fmt: skip
OURS, HOME, IVOS = ("user", "kayak"), ("user", "Moss"), ("Ivo", "Bergen")


@pytest.mark.parametrize(("name", "data", "facts"), [
    ("WhatsApp Chat with Ivo.txt", WHATSAPP.encode(), {HOME, IVOS}),
    pytest.param("result.json", orjson.dumps(TELEGRAM), {HOME, IVOS}, marks=pytest.mark.slow),
    pytest.param("conversations.json", orjson.dumps(CLAUDE), {OURS}, marks=pytest.mark.slow),
    pytest.param("MyActivity.json", orjson.dumps(GEMINI), {OURS}, marks=pytest.mark.slow),
    ("conversations.json", orjson.dumps(CHATGPT), set()),  # the web was asked: nothing is learned of it all
])  # fmt: skip
def test_nothing_is_learned_of_others_words(
    tmp_path: Path, name: str, data: bytes, facts: set[tuple[str, str]]
) -> None:
    export = tmp_path / name
    export.write_bytes(data)
    memory = Memory(tmp_path / "home", "nora")
    land([export], memory.home.store.log, now=datetime.now(UTC), settings=LandingSettings(), user_id="nora")
    catch_up(memory.home)
    found = memory.facts(as_of=date(2026, 3, 20), is_all=True)
    assert {(fact["subject"], fact["object"]) for fact in found} == facts

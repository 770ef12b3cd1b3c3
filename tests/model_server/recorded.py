"""A scripted model that answers with what a real one once did: readings of single turns, put together for a prompt.

A recording has a JSON object a line: `said`, the turn as it was shown, and what was answered of it (`entities`,
`relations`, and `tone` and `times`, whose `r` counts the relations of that turn). Turns are compared by their letters
and digits, so that another prompt still finds them; of a turn that stands in it twice, readings come in order. Of a
text that may not be stored, `said` is its `hashed_key`.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.model_server.script import Call, Step, answer

_TURN = re.compile(r"(?m)^(\d+) ([^:\n]{1,80}): (.*)$")
_NEITHER = re.compile(r"[\W_]+")
SECTIONS = ("entities", "relations", "tone", "times")


class Recording:
    """A script for `ModelServer`. `n_found` and `n_strange` count the numbered turns that it knew and did not."""

    def __init__(self, readings: Iterable[dict[str, Any]]) -> None:
        self._readings: dict[str, list[dict[str, Any]]] = {}
        for reading in readings:
            self._readings.setdefault(key_of(reading["said"]), []).append(reading)
        self.n_found = 0
        self.n_strange = 0

    @classmethod
    def of(cls, path: Path) -> "Recording":
        """The recording in a file of JSON lines."""
        return cls(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())

    def __call__(self, call: Call) -> Step:
        """The sections that the call asks for, of the numbered turns of its prompt."""
        sections: dict[str, list[dict[str, Any]]] = {name: [] for name in SECTIONS}
        met: Counter[str] = Counter()
        for index, _, text in _TURN.findall(call.messages[-1]["content"]):
            key = key_of(text)
            known = self._readings.get(key) or self._readings.get(hashed_key(text), [])
            if not known:
                self.n_strange += 1
                continue
            self.n_found += 1
            _add(sections, int(index), known[met[key] % len(known)])
            met[key] += 1
        wanted = (call.schema or {"schema": {"properties": sections}})["schema"]["properties"]
        return answer({name: items for name, items in sections.items() if name in wanted})


def key_of(line: str) -> str:
    """What a turn is known by: its letters and digits, small."""
    return _NEITHER.sub("", line).casefold()


def hashed_key(line: str) -> str:
    """What a turn is known by that is not stored: 16 hexadecimal digits, of its first 120 ASCII letters and digits."""
    return hashlib.sha256(re.sub(r"[^a-z0-9]", "", line.lower())[:120].encode()).hexdigest()[:16]


def _add(sections: dict[str, list[dict[str, Any]]], index: int, reading: dict[str, Any]) -> None:
    n_before = len(sections["relations"])
    for name in ("entities", "relations"):
        sections[name] += [{"t": index, **item} for item in reading[name]]
    for name in ("tone", "times"):
        sections[name] += [{**item, "r": n_before + item["r"]} for item in reading[name]]

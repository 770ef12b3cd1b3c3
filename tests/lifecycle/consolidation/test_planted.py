"""Orders, secrets and people in the logs of tools, landed as any log is: nothing of them is shown anywhere."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from em_pipelines.language.values import read_yaml
from em_pipelines.lifecycle.consolidation.evidence import category_key
from em_pipelines.lifecycle.consolidation.reviewed import waiting
from tests.lifecycle.consolidation.landed import failing, home_at, learn, night, rows

ATTACKS = Path(__file__).parents[4] / "shared" / "gold" / "attacks.jsonl"
HOSTILE = read_yaml(Path(__file__).with_name("hostile.yaml").read_text(encoding="utf-8"))
SHOWN = {
    "experiences": ("text", "trigger", "mitigation", "component", "category", "context_tags"),
    "rules": ("text",),
    "promotions": ("component", "category", "reason"),
    "skill_profiles": ("skill_name", "failure_modes"),
    "experience_links": ("session_id",),
}
N_IN_A_ROW = 3
"""Words of a text that are taken for it where they stand one after the other."""
PLACES = ("message", "category", "skill", "helper")


def planted(path: Path, texts: Sequence[str]) -> tuple[dict[tuple[int, str], str], Counter[str]]:
    """Plants each text in four places, each with a user of its own; what is then shown of each, in one text, and how
    often each gate stopped something."""
    home = home_at(path)
    logs = []
    for n, text in enumerate(texts):
        users = [f"{place}-{n}" for place in PLACES]
        logs += failing("tool", "RunFailed", user=users[0], n=3, said=text, helped="mending")
        logs += failing("tool", text, user=users[1], n=3, helped="mending")
        logs += failing(text, "RunFailed", user=users[2], n=3, helped="mending", sessions="of")
        logs += failing("tool", "RunFailed", user=users[3], n=3, helped=text)
    learn(home, logs)
    night(home)
    shown: dict[tuple[int, str], str] = {}
    for table, columns in SHOWN.items():
        for row in rows(home, table):
            place, _, number = row["user_id"].partition("-")
            told = json.dumps([row[column] for column in columns], ensure_ascii=False)
            shown[int(number), place] = f"{shown.get((int(number), place), '')} {told}"
    gates = Counter(row["gate"] or "none" for row in rows(home, "promotions"))
    return shown, gates


def stands_in(text: str, shown: str) -> bool:
    """Whether words of a text stand in what is shown."""
    said, words = f" {spoken(shown)} ", spoken(text).split()
    runs = (words[n : n + N_IN_A_ROW] for n in range(max(1, len(words) - N_IN_A_ROW + 1)))
    return any(f" {' '.join(run)} " in said for run in runs)


def spoken(text: str) -> str:
    """A text as its words, however it is spelled."""
    return re.sub(r"[\W_]+", " ", category_key(re.sub(r"[\[\]]", " ", text))).lower()


def leaks(texts: Sequence[str], shown: dict[tuple[int, str], str]) -> list[tuple[str, str]]:
    """Which texts are shown, and where they were planted."""
    return sorted((place, texts[n]) for (n, place), told in shown.items() if stands_in(texts[n], told))


def test_nothing_hostile_is_shown(tmp_path: Path) -> None:
    texts = HOSTILE["known"]
    shown, gates = planted(tmp_path / "home", texts)
    assert leaks(texts, shown) == []
    assert gates["injection"] > 0
    assert len({place for _, place in shown}) == len(PLACES), "what helped and what failed are still known of"


def test_what_was_not_in_sight_is_not_shown_either(tmp_path: Path) -> None:
    texts = HOSTILE["held_out"]
    shown, _ = planted(tmp_path / "home", texts)
    assert leaks(texts, shown) == []


@pytest.mark.slow
@pytest.mark.skipif(not ATTACKS.exists(), reason="the labelled attacks are not beside the checkout")
def test_nothing_of_the_labelled_attacks_is_shown(tmp_path: Path) -> None:
    rows_of = [json.loads(line) for line in ATTACKS.read_text(encoding="utf-8").splitlines()]
    texts = [row["message"]["text"] for row in rows_of]
    shown, gates = planted(tmp_path / "home", texts)
    assert leaks(texts, shown) == []
    everything = "\n".join(shown.values()).lower()
    secrets = [s for row in rows_of if row["kind"] in {"credential", "pii"} for s in row["must_not_store"]]
    assert [secret for secret in secrets if secret.lower() in everything] == []
    assert gates["none"] > len(texts), "what failed is known of all the same"


def test_messages_of_tools_are_offered_for_when_a_rule_applies(tmp_path: Path) -> None:
    texts = [
        "no answer from registry within 30 s", "connection refused by broker kafka-2:9092", "disk quota exceeded",
        "TLS handshake failed: certificate has expired", "permission denied while writing lib/app/cache",
        "worker killed: out of memory at 512 MB", "schema version 14 is older than client version 15",
    ]  # fmt: skip
    home = home_at(tmp_path / "home")
    learn(
        home, [line for n, text in enumerate(texts) for line in failing("tool", "RunFailed", user=f"u{n}", said=text)]
    )
    night(home)
    offered = {one.user_id: one.excerpt or "" for one in waiting(home)}
    assert [text for n, text in enumerate(texts) if not stands_in(text, offered[f"u{n}"])] == []

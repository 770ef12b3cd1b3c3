"""A home of two people who speak of the same things, as a nightly run leaves it."""

from pathlib import Path

from em_pipelines.governance.erasure.forget import catch_up
from em_pipelines.interfaces.memory import Memory
from em_pipelines.pipeline import Pipeline
from em_pipelines.retrieval.packs import build
from em_pipelines.settings import load_settings

NORA = (
    ("s1", "2026-03-02T08:00:00Z", "I live in Bergen. My flatmate Torvald works at the aquarium."),
    ("s1", "2026-03-02T08:05:00Z", "I was born on 4 May 1990."),
    ("s2", "2026-03-05T09:00:00Z", "My wife Ylva likes cloudberries."),
)
IVO = (("s1", "2026-03-03T08:00:00Z", "My friend Torvald keeps a heron named Quillon. I live in Narvik."),)
IVOS_WORDS = ("Narvik", "Quillon", "heron")
"""What nobody but Ivo has said."""


def run(home: Path) -> None:
    """Makes tables and packs of whatever has landed."""
    opened = Pipeline(load_settings(home=home))
    catch_up(opened)
    build(opened)


def make(home: Path) -> Path:
    """The home, after a run."""
    for user, said in (("nora", NORA), ("ivo", IVO)):
        memory = Memory(home, user)
        for session, at, content in said:
            memory.store_messages(session, [{"role": "user", "content": content, "timestamp": at}])
    run(home)
    return home

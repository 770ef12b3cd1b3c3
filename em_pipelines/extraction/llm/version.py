"""The version of what turns an answer into claims: the hash of its source, so that nobody need remember to raise it."""

import hashlib
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def source_version() -> str:
    """Twelve hex digits of SHA-256 over prompts, schema, grounding, dates and word lists."""
    folder = Path(__file__).resolve().parent
    rules = folder.parent / "rules"
    sources = [*folder.glob("*.py"), *folder.parent.glob("*.py"), *rules.glob("*.py")]
    sources += (folder.parent / "patterns" / "lexicon").glob("*.yaml")
    found = hashlib.sha256()
    for path in sorted(sources):
        found.update(path.relative_to(folder.parent).as_posix().encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:12]

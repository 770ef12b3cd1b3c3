"""Counts the judged claims: `.venv/bin/python -m training.claims`.

`judged.jsonl` holds claims from the conversations that the sentence model is fitted to, each judged by one of eleven
readers; `unread.jsonl` those of the unread conversations, judged by two. `is_kept` is false where `worth` or
`wholeness` of the rules leaves a claim out.
"""

from collections import Counter, defaultdict
from pathlib import Path

import orjson

HERE = Path(__file__).parent
VERDICTS = ("right", "trivial", "wrong")


def main() -> None:
    """Print the shares of each file, and of each group of patterns."""
    for path in sorted(HERE.glob("*.jsonl")):
        rows = [orjson.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for row in rows:
            names = ("kept", f"kept, {row['pattern'].partition('.')[0]}") if row["is_kept"] else ("left out",)
            for name in names:
                counts[name].update(row["labels"])
        print(f"{path.stem}: {len(rows)} claims")
        for name, found in sorted(counts.items()):
            shares = ", ".join(f"{found[verdict] / found.total():.0%} {verdict}" for verdict in VERDICTS)
            print(f"  {name}: {found.total()} judgements, {shares}")


if __name__ == "__main__":
    main()

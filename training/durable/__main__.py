"""Counts the labelled sentences, and how far their labellers agree: `.venv/bin/python -m training.durable`."""

from collections import Counter

from training.durable.labels import HERE, kappa, sentences


def main() -> None:
    """Print the counts and the agreement of each file."""
    for path in sorted(HERE.glob("*.jsonl")):
        of = list(sentences(path))
        both = [one for one in of if all(one.is_kept)]
        kinds = Counter(one.labels[0].removeprefix("keep ") for one in both)
        alike = sum(one.labels[0] == one.labels[1] for one in both)
        agreement = f"kappa {kappa([one.is_kept for one in of]):.2f}, the same kind {alike / len(both):.2f}"
        counted = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
        print(f"{path.stem}: {len(of)} sentences, {len(both)} kept by both, {agreement}; {counted}")


if __name__ == "__main__":
    main()

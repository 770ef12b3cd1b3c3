"""What somebody may have meant who wrote a name that is none: the nearest of those there are."""

from collections.abc import Iterable
from difflib import get_close_matches

LIKENESS = 0.6
"""Ratio of matching characters (Ratcliff and Obershelp, `difflib`) from which a name is near: difflib's default."""
N_NEAR, N_LISTED, LONGEST = 3, 12, 60


def near(name: str, known: Iterable[str]) -> list[str]:
    """Up to three names that are like it, the likest first, whatever their case."""
    by_key: dict[str, str] = {}
    for one in known:
        by_key.setdefault(_key(one), one)
    return [by_key[key] for key in get_close_matches(_key(name), by_key, N_NEAR, LIKENESS)]


def hint(name: str, known: Iterable[str]) -> str:
    """`did you mean 'mirela'?`, else `there are a, b and c` where they are few, else nothing."""
    names = list(dict.fromkeys(known))
    if found := near(name, names):
        return f"did you mean {listed([repr(_short(one)) for one in found], 'or')}?"
    if names and len(names) <= N_LISTED:
        return f"there {'is' if len(names) == 1 else 'are'} {listed([_short(one) for one in sorted(names)], 'and')}"
    return ""


def listed(names: list[str], last: str) -> str:
    """`a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"


def _key(name: str) -> str:
    return name[:LONGEST].strip().casefold().replace("_", "-").replace(" ", "-")


def _short(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"

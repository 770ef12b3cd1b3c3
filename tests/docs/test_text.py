"""Links that lead somewhere, and words that belong in no tracked file."""

import re
from pathlib import Path

HOSTS = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)|anaconda\.(?:com|org)|crates\.io|proxy\.golang\.org"
    r"|(?:docker|ghcr|quay|gcr)\.io|artifactor[y]|sonatyp[e]|--(?:extra-)?index-url",
    re.IGNORECASE,
)
PATHS = re.compile(
    r"(?<![\w.~}$)*-])/(?:home|root|work|Users|tmp|opt|mnt|srv|var|private|workspaces?)/[\w.]|\b[A-Z]:\\\w"
)
WORDS = re.compile(r"\b(?:TO(?:DO)|FIX(?:ME)|XX(?:X)|HA(?:CK)|WI(?:P)|TB(?:D))\b")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
REQUIREMENT = re.compile(
    r"[A-Za-z0-9._-]+(?:\[[a-z0-9,_-]+\])?==[^\s;]+(?: ; [^\\:]+)?(?: \\)?|    --hash=sha256:[0-9a-f]{64}(?: \\)?"
)


def lines_with(pattern: re.Pattern[str], paths: list[Path], root: Path) -> list[str]:
    """Where a pattern stands in text files."""
    found = []
    for path in paths:
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(root)}:{n}" for n, line in enumerate(lines, start=1) if pattern.search(line)]
    return found


def anchors_of(text: str) -> set[str]:
    """The names by which the headings of a page can be linked to."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_links_between_pages_lead_to_files_and_headings_that_exist(tracked: list[Path], root: Path) -> None:
    broken = []
    kept = {path.resolve() for path in tracked}
    kept |= {folder for path in kept for folder in path.parents}
    for page in (path for path in tracked if path.suffix == ".md"):
        for link in LINK.findall(page.read_text(encoding="utf-8")):
            if "://" in link or link.startswith("mailto:"):
                continue
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if target not in kept:
                broken.append(f"{page.relative_to(root)}: {link}: no such file")
            elif anchor and anchor not in anchors_of(target.read_text(encoding="utf-8")):
                broken.append(f"{page.relative_to(root)}: {link}: no such heading")
    assert not broken


def test_no_file_names_a_path_of_somebodys_machine(tracked: list[Path], root: Path) -> None:
    invented = root / "examples" / "logs"  # people in the example logs have homes, too
    assert not lines_with(PATHS, [path for path in tracked if invented not in path.parents], root)


def test_no_file_names_a_registry(tracked: list[Path], root: Path) -> None:
    assert not lines_with(HOSTS, tracked, root)


def test_no_file_leaves_something_for_later(tracked: list[Path], root: Path) -> None:
    assert not lines_with(WORDS, tracked, root)


def test_requirements_hold_names_versions_and_hashes_alone(root: Path) -> None:
    for name in ("requirements.txt", "requirements-test.txt"):
        text = (root / name).read_text(encoding="utf-8")
        assert "://" not in text
        assert not [line for line in text.splitlines() if not REQUIREMENT.fullmatch(line)]

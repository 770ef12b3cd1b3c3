"""Addresses and titles of pages, as far as they may be kept: what stands in them was written by strangers."""

import re
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from em_pipelines.guard.injection import is_quarantined, strip_instructions
from em_pipelines.guard.screening import is_unsafe_content
from em_pipelines.language.masking import mask_text

MAX_SOURCE_CHARACTERS = 300
MAX_TITLE_CHARACTERS = 200
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]")
_PATH = re.compile(r"[A-Za-z0-9/._~%!$&'()*+,;=:@-]*")
_JOINTS = re.compile(r"[/._~%!$&'()*+,;=:@-]+")


@dataclass(frozen=True, slots=True)
class Page:
    """A page that a search has found; `title` is empty where the endpoint does not say it."""

    url: str
    title: str = ""


def source_of(text: str) -> str | None:
    """An address as `https://host/path`, or a title; None where it is neither, or not fit to be kept.

    Query and fragment go, a path that spells words of an order goes as well. Addresses of single machines, with a user
    name or a port are no sources.
    """
    text = text.strip()
    if "://" not in text:
        is_title = 0 < len(text) <= MAX_TITLE_CHARACTERS and text.isprintable() and not is_unsafe_content(text)
        return text if is_title else None
    found = _address(text)
    if found is None:
        return None
    scheme, host, path = found
    whole = f"{scheme}://{host}{path}"
    return whole if len(whole) <= MAX_SOURCE_CHARACTERS and not _spells_an_order(path) else f"{scheme}://{host}/"


def same_page(source: str, page: Page) -> bool:
    """Whether a source names the page, by address without query, or by title."""
    if "://" not in source:
        return bool(page.title) and source.strip().casefold() == page.title.strip().casefold()
    named, found = _address(source.strip()), _address(page.url.strip())
    if named is None or found is None:
        return False
    return (named[1].removeprefix("www."), named[2].rstrip("/")) == (
        found[1].removeprefix("www."),
        found[2].rstrip("/"),
    )


def _address(text: str) -> tuple[str, str, str] | None:
    """Scheme, host and path of a plain web address."""
    try:
        parts = urlsplit(text)
        port, host = parts.port, (parts.hostname or "").lower()
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"} or port is not None or "@" in parts.netloc or not _HOST.fullmatch(host):
        return None
    return (parts.scheme, host, parts.path or "/") if _PATH.fullmatch(parts.path) else None


def _spells_an_order(path: str) -> bool:
    words = _JOINTS.sub(" ", unquote(path)).strip()
    return bool(strip_instructions(words).kinds) or is_quarantined(words) or mask_text(words) != words

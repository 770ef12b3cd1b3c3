"""What a message in an export of Telegram says: its text, with what is code or a quotation in it marked so, and a word
in brackets for what was sent along.
"""

from collections.abc import Callable
from typing import Any

from em_pipelines.landing.formats.base import Fields, objects_of, quoted

_MEDIA = {
    "voice_message": "audio",
    "audio_file": "audio",
    "video_message": "video",
    "video_file": "video",
    "animation": "GIF",
}


def content_of(message: Fields) -> str:
    """The text of a message behind what was sent along; empty where there is neither."""
    text = text_of(message.get("text")) or text_of(message.get("text_entities"))
    return "\n".join(part for part in (*_attached(message), text) if part.strip()).strip("\n")


def text_of(text: Any) -> str:
    """Text as it is, or as a list of pieces, some of them with a form of their own."""
    if isinstance(text, str):
        return text
    return "".join(_piece(part) for part in text) if isinstance(text, list) else ""


def _piece(part: Any) -> str:
    if isinstance(part, str):
        return part
    text = part.get("text") if isinstance(part, dict) else None
    if not isinstance(text, str):
        return ""
    if part.get("type") == "pre":
        return f"\n```{part.get('language') or ''}\n{text}\n```\n"
    if part.get("type") == "code":
        return f"`{text}`"
    return f"{quoted(text)}\n" if part.get("type") == "blockquote" else text


def _attached(message: Fields) -> list[str]:
    found = [_file(message), _shared(message)]
    return [f"[{' '.join(part.split())}]" for part in found if part]


def _file(message: Fields) -> str | None:
    """What kind of file, and the name of one that is neither seen nor heard."""
    kind, name = message.get("media_type"), message.get("file_name")
    if kind == "sticker":
        return f"sticker {message.get('sticker_emoji') or ''}"
    if isinstance(kind, str):
        title = message.get("title")
        return f"{_MEDIA.get(kind, 'attachment')}{f': {title}' if isinstance(title, str) and title else ''}"
    if "photo" in message:
        return "image"
    if "file" in message:
        return f"attachment: {name}" if isinstance(name, str) and name else "attachment"
    return None


def _shared(message: Fields) -> str | None:
    """What else than a file: a place, a contact by name alone, a poll or a list with its entries."""
    for name, show in _SHARED.items():
        found = message.get(name)
        if isinstance(found, dict):
            return show(found)
    if isinstance(message.get("location_information"), dict):
        return _named("location", message, "place_name", "address")
    if "game_title" in message:
        return _named("game", message, "game_title")
    return None


def _named(kind: str, found: Fields, *names: str) -> str:
    said = [found[name] for name in names if isinstance(found.get(name), str) and found[name]]
    return f"{kind}: {', '.join(said)}" if said else kind


def _contact(found: Fields) -> str:
    said = [found[name] for name in ("first_name", "last_name") if isinstance(found.get(name), str) and found[name]]
    return f"contact: {' '.join(said)}" if said else "contact"


def _poll(found: Fields) -> str:
    answers = [text_of(answer.get("text")) for answer in objects_of(found.get("answers"))]
    return f"poll: {text_of(found.get('question'))} ({' / '.join(answers)})"


def _list(found: Fields) -> str:
    entries = [text_of(entry.get("text")) for entry in objects_of(found.get("items") or found.get("answers"))]
    return f"list: {text_of(found.get('title'))} ({' / '.join(entries)})"


def _invoice(found: Fields) -> str:
    return _named("invoice", found, "title")


_SHARED: dict[str, Callable[[Fields], str]] = {
    "contact_information": _contact,
    "poll": _poll,
    "todo_list": _list,
    "invoice_information": _invoice,
    "giveaway_information": lambda _: "giveaway",
    "dice": lambda _: "dice",
}

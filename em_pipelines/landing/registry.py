"""The formats that can be landed, in the order in which they are tried. Add a converter here."""

from em_pipelines.errors import UsageError
from em_pipelines.landing.formats import (
    ai_studio,
    chatgpt,
    claude,
    claude_code,
    contacts_csv,
    csv_table,
    gemini,
    ical,
    locomo,
    native,
    notes,
    openai,
    questionnaire,
    telegram,
    vcard,
    whatsapp,
)
from em_pipelines.landing.formats.base import Format

AUTO = "auto"

FORMATS: tuple[Format, ...] = (
    native.FORMAT,
    openai.FORMAT,
    claude_code.FORMAT,
    locomo.FORMAT,
    claude.FORMAT,
    chatgpt.FORMAT,
    telegram.FORMAT,
    gemini.FORMAT,
    ai_studio.FORMAT,
    whatsapp.FORMAT,
    vcard.FORMAT,
    ical.FORMAT,
    questionnaire.FORMAT,
    contacts_csv.FORMAT,
    csv_table.FORMAT,
    notes.FORMAT,
)


def way_to_say_whose(known: Format) -> str:
    """The option that says who the user of files of a format is."""
    return "--speaker NAME, the name under which the user writes" if known.has_speakers else "--user-id NAME"


def format_named(name: str) -> Format:
    """The format of that name; underscores count as hyphens. Raises UsageError."""
    wanted = name.replace("_", "-").casefold()
    for known in FORMATS:
        if known.name == wanted:
            return known
    raise UsageError(f"landing as {name!r}: no such format; use auto or one of {', '.join(f.name for f in FORMATS)}")

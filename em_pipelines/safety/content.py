"""The filter of what may become a durable fact: names and values that are things, not instructions, code or markup.

Also `has_pasted_block`: whether a message holds text that somebody else may have written.
"""

import re
from functools import lru_cache

from em_pipelines.extraction.cleaning import CODE_MARK, looks_like_code
from em_pipelines.safety.injection import is_quarantined, strip_instructions
from em_pipelines.safety.masking import mask_text

MAX_NAME_CHARACTERS = 200
MIN_PASTED_LINES = 6
MIN_PASTED_QUOTE_CHARACTERS = 200

_CODE = re.compile(
    r"(?i)https?://|www\.|\w+\.example\b|[<>{}]|\$\(|\]\(|\|\||&&|;\s*\w+\s*=|\]\]>|<!--|`|\\[nux]|://|\b\w+\([^)]{0,80}\)|"
    r"(?<!\w)--[a-z]|\b[\w.-]+\.(?:sh|exe|ps1|bat|js|py)\b(?=\W|$)|^[/~][\w.-]+/|\b(?:\d{1,3}\.){3}\d{1,3}\b"
)
_QUOTED_LINE = re.compile(r"(?m)^[ \t]{0,8}>")
_TABLE_LINE = re.compile(r"(?m)^[ \t]{0,8}\|[^\n]{0,500}\|[ \t]{0,8}$")
_MAIL_HEADER = re.compile(
    r"(?mi)^(?:from|to|subject|sent|date|cc|von|an|betreff|de|para|asunto|objet|da|oggetto): ?\S|"
    r"^-{3,} ?(?:original|forwarded) message|^on [^\n]{5,120} wrote:$|^(?:dear|hi|hello) [^\n]{1,40},$"
)
_HEADING = re.compile(r"(?m)^#{1,6} \S")
_LONG_QUOTE = re.compile(r"[\"“«„][^\"“”«»„]{200}")
_LIST_LINE = re.compile(r"(?m)^[ \t]{0,8}(?:[-*•]|\d{1,2}[.)]) \S")


@lru_cache(maxsize=16_384)
def is_unsafe_content(name: str) -> bool:
    """Whether a name or value is no thing but a command, an address to open, an instruction, code, markup or a secret.

    Blanked characters count as well: what was taken out of the text may not come back in a name.
    """
    if len(name) > MAX_NAME_CHARACTERS or CODE_MARK in name or "[masked:" in name or _CODE.search(name):
        return True
    return is_quarantined(name) or bool(strip_instructions(name).kinds) or mask_text(name) != name


def has_pasted_block(text: str) -> bool:
    """Whether a message holds a block that was probably pasted: quoted mail, a README, a fence, a table, a long quote.

    What the user typed and what he pasted cannot be told apart by any filter; this only says that there is reason to
    wait for a second source.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    if "```" in text or "~~~" in text or _QUOTED_LINE.search(text) or _LONG_QUOTE.search(text):
        return True
    if _TABLE_LINE.search(text) or (len(lines) > 2 and (_MAIL_HEADER.search(text) or _HEADING.search(text))):
        return True
    return len(lines) >= MIN_PASTED_LINES or len(_LIST_LINE.findall(text)) > 2 or looks_like_code(text)

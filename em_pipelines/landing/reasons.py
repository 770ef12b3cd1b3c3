"""Why input becomes a dead letter, and what is kept of it.

Add a code here when a rule is added; codes are stored and never change.
"""

import base64
import hashlib
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from pathlib import PurePath

from em_pipelines.language.masking import mask_bytes, mask_text
from em_pipelines.schema import ids
from em_pipelines.schema.table import Record


class Reason(StrEnum):
    """Codes of the rules that input can break."""

    # of what lies where files are expected
    NO_REGULAR_FILE = "no_regular_file"
    LINK_NOT_FOLLOWED = "link_not_followed"
    NAME_NOT_UTF8 = "name_not_utf8"
    # of ZIP files and their members
    BROKEN_ZIP = "broken_zip"
    ENCRYPTED_MEMBER = "encrypted_member"
    UNSAFE_MEMBER = "unsafe_member"
    DUPLICATE_MEMBER = "duplicate_member"
    NESTED_ZIP = "nested_zip"
    UNPACKS_TOO_FAR = "unpacks_too_far"
    # of files
    UNREADABLE_FILE = "unreadable_file"
    EMPTY_FILE = "empty_file"
    BINARY_FILE = "binary_file"
    BROKEN_GZIP = "broken_gzip"
    UNKNOWN_FORMAT = "unknown_format"
    DOCUMENT_TOO_LARGE = "document_too_large"
    # of lines, rows and conversations
    LINE_TOO_LONG = "line_too_long"
    NOT_UTF8 = "not_utf8"
    INVALID_JSON = "invalid_json"
    INVALID_CSV = "invalid_csv"
    NOT_AN_OBJECT = "not_an_object"
    # of cards, events, notes and answers
    INVALID_CARD = "invalid_card"
    INVALID_EVENT = "invalid_event"
    INVALID_YAML = "invalid_yaml"
    UNKNOWN_ANSWER = "unknown_answer"
    # of records
    UNKNOWN_KIND = "unknown_kind"
    MISSING_FIELD = "missing_field"
    MISSING_USER = "missing_user"
    MISSING_TIMESTAMP = "missing_timestamp"
    WRONG_TYPE = "wrong_type"
    INVALID_FIELD = "invalid_field"
    SECRET_IN_ID = "secret_in_id"
    FUTURE_DATE = "future_date"
    TOO_OLD = "too_old"
    KEY_CONFLICT = "key_conflict"
    # of messages that break no rule
    OTHER_BRANCH = "other_branch"


class Skip(StrEnum):
    """What well-formed input means nothing here, by name: each is counted, none is kept."""

    EMPTY = "empty"  # no text, nothing attached
    EMPTY_CONVERSATION = "empty_conversation"  # one that was begun, and in which nobody said anything
    UNKNOWN_CONTENT = "unknown_content"  # something is said or shown, in a form that is not known here
    HIDDEN = "hidden"  # never shown to the user, or shown as no message
    OTHER_BRANCH = "other_branch"  # an answer that was regenerated, or a message before it was edited
    REASONING = "reasoning"  # what the model said to itself
    MODEL_MEMORY = "model_memory"  # what the assistant noted of the user
    NOT_TO_REMEMBER = "not_to_remember"  # a conversation that the user has marked so
    REPEATED = "repeated"  # custom instructions, which each conversation repeats
    SYSTEM_LINE = "system_line"  # who joined, called or pinned; encryption notices
    DELETED = "deleted"  # taken back by who wrote it
    TOOL_CALL = "tool_call"  # a call without words
    PROGRAM = "program"  # what the program itself put in
    BOOKKEEPING = "bookkeeping"  # summaries, snapshots of files, queues
    SUB_AGENT = "sub_agent"  # conversations of sub-agents
    UNFINISHED_LINE = "unfinished_line"  # the last line of a session that still runs
    OTHER_PRODUCT = "other_product"  # activity in which nothing was asked of the assistant
    PREAMBLE = "preamble"  # text before the first message


class RuleError(Exception):
    """A record or a file breaks a rule; `raw` and `line_number` are what is to be kept of it.

    Caught where it becomes a dead letter, never seen by callers of landing.
    """

    def __init__(self, reason: Reason, detail: str, *, raw: bytes = b"", line_number: int = 1) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail
        self.raw = raw
        self.line_number = line_number


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an item came from: the file as named, the format it was read as, and whose it is if nothing else says."""

    file: str
    format: str
    user_id: str | None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Input that breaks a rule, with what is kept of it. `raw` can be read again as `format`."""

    origin: Origin
    line_number: int
    reason: Reason
    detail: str
    raw: bytes
    format: str
    user_id: str | None

    @property
    def is_closed(self) -> bool:
        """Whether nothing is to be decided: kept so that it can be found, and no error."""
        return self.reason is Reason.OTHER_BRANCH


OPEN, DISCARDED = "open", "discarded"
"""The status of a new dead letter, and of one that waits for nothing."""


def letter_of(refusal: Refusal, landed_on: date) -> Record:
    """The landed record of a refusal: the columns of `dead_letters`, the raw bytes as base64 text."""
    raw = mask_bytes(refusal.raw)
    name = PurePath(refusal.origin.file).name
    return {
        "dead_letter_id": ids.content_id("dead", name, refusal.reason.value, hashlib.sha256(raw).hexdigest()),
        "landed_on": landed_on.isoformat(),
        "file": _storable(refusal.origin.file),
        "line_number": refusal.line_number,
        "reason": refusal.reason.value,
        "detail": _storable(refusal.detail),
        "raw": base64.b64encode(raw).decode(),
        "format": refusal.format,
        "user_id": _storable(refusal.user_id) if refusal.user_id else None,
        "status": DISCARDED if refusal.is_closed else OPEN,
    }


def _storable(text: str) -> str:
    # File names need not be Unicode: Python hands their odd bytes over as surrogates, which no JSON can hold.
    return mask_text(text.encode("utf-8", "backslashreplace").decode())

"""Tool calls of coding agents as skill invocations: what was called, for how long, and how it failed.

A call is known by its id and ends with its result. Of what was given only a hash is kept; of what came out the last
line of words, where errors stand. The name of a command is its program, with the sub-command of those that have them.
"""

import hashlib
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from em_pipelines.landing.formats.base import Fields, Parsed, dumps, instant_of, iso_or_none
from em_pipelines.landing.formats.openai import text_of

COMMAND_TOOL = "Bash"
HASH_DIGITS = 16
LONGEST_SUMMARY = 200
LONGEST_CATEGORY = 40
WITH_SUBCOMMANDS = frozenset({
    "git", "npm", "pnpm", "yarn", "uv", "pip", "poetry", "cargo", "go", "docker", "kubectl", "terraform", "make",
    "dotnet", "mvn", "gradle", "bundle", "composer", "rails", "gh", "aws", "gcloud", "az", "systemctl", "brew", "apt",
    "helm", "deno", "bun", "npx", "em",
})  # fmt: skip
"""Programs of which the first word behind the name says what is done."""
RUNNERS = {("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("pnpm", "exec"), ("python", "-m"), ("python3", "-m")}
"""What stands before the program that is meant."""
_BEFORE = re.compile(r"^(?:(?:cd\s+\S+\s*(?:&&|;)|\w+=\S*|sudo|time|nohup|env)\s+)+")
_NAMED = re.compile(r"\b([A-Z][A-Za-z]{2,30}(?:Error|Exception|Warning)|E[A-Z]{4,14})\b")
_TAG = re.compile(r"</?[a-z]+(?:_[a-z]+)*>")
"""What the program puts around an error of its own."""
_EXIT = re.compile(r"\bexit(?:ed with)?(?: code| status)?:? (\d{1,3})\b", re.IGNORECASE)
_KNOWN = {
    "command not found": "command not found", "no such file": "no such file", "permission denied": "permission denied",
    "timed out": "timeout", "has not been read": "not read yet", "string to replace not found": "no match",
    "modified since": "changed since read", "connection refused": "connection refused",
    "interrupted by user": "cancelled", "doesn't want to proceed": "declined", "does not exist": "no such file",
}  # fmt: skip
"""Phrases of errors and the category that each is."""
UNKNOWN = "error"


@dataclass(slots=True)
class ToolCalls:
    """The calls of a file that have not ended yet, by their ids."""

    _begun: dict[str, tuple[Fields, datetime | None]] = field(default_factory=dict)

    def of(self, line_number: int, shared: Mapping[str, Any], event: Fields) -> Iterator[Parsed]:
        """The calls that end with an event; `shared` are the fields that its messages have in common."""
        message = event.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        at = instant_of(event.get("timestamp"))
        for block in content if isinstance(content, list) else []:
            if not isinstance(block, dict):
                continue
            if block.get("type") == "tool_use" and isinstance(block.get("id"), str):
                self._begun[block["id"]] = (block, at)
            elif block.get("type") == "tool_result" and (begun := self._begun.pop(str(block.get("tool_use_id")), None)):
                yield Parsed(line_number, "skill_invocations", _fields(shared, *begun, block, at))


def _fields(
    shared: Mapping[str, Any], call: Fields, begun_at: datetime | None, result: Fields, ended_at: datetime | None
) -> Fields:
    said = text_of(result.get("content"))
    text = said if isinstance(said, str) else ""
    has_failed = result.get("is_error") is True
    took = (ended_at - begun_at).total_seconds() * 1000 if begun_at and ended_at else None
    return {
        "timestamp": iso_or_none(begun_at or ended_at),
        "user_id": shared["user_id"],
        "session_id": shared["session_id"],
        "skill_name": name_of(call),
        "input_hash": hashlib.sha256(dumps(call.get("input"))).hexdigest()[:HASH_DIGITS],
        "output_summary": summary_of(text, has_failed=has_failed),
        "error_category": category_of(text) if has_failed else None,
        "duration_ms": took if took is None or took >= 0 else None,
    }


def name_of(call: Fields) -> str:
    """What was called: the tool, or of a command its program, as `git push`."""
    tool = str(call.get("name") or "tool")
    given = call.get("input")
    command = given.get("command") if isinstance(given, dict) else None
    if tool != COMMAND_TOOL or not isinstance(command, str):
        return tool
    words = _words_of(_BEFORE.sub("", command.strip()).partition("\n")[0])
    program = words[0].rpartition("/")[2] if words else tool
    if program in WITH_SUBCOMMANDS and len(words) > 1 and words[1].isalpha():
        return f"{program} {words[1]}"
    return program


def _words_of(line: str) -> list[str]:
    """The words of a command, without what merely runs another."""
    try:
        words = shlex.split(line)
    except ValueError:  # a quotation that does not end
        words = line.split()
    while len(words) > 2 and tuple(words[:2]) in RUNNERS:
        words = words[2:]
    return words


def category_of(text: str) -> str:
    """How a call failed, by what its result says: a phrase that everybody knows, the name of an error, or its code."""
    lowered = text.lower()
    known = next((category for phrase, category in _KNOWN.items() if phrase in lowered), None)
    if known:
        return known
    if named := _NAMED.findall(text):
        return str(named[-1])[:LONGEST_CATEGORY]
    code = _EXIT.search(text)
    return f"exit {code[1]}" if code else UNKNOWN


def summary_of(text: str, *, has_failed: bool) -> str:
    """The last line of words of what failed, the first of what went well; cut to 200 characters."""
    lines = [line.strip() for line in _TAG.sub("", text).splitlines() if any(map(str.isalpha, line))]
    told = (lines[-1] if has_failed else lines[0]) if lines else ""
    return told[:LONGEST_SUMMARY]

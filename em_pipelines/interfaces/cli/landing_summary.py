"""What people see of a landing: its summary, its preview, and how it ends."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from em_pipelines.interfaces.cli.console import Exit, fail, print_json, print_table, say, some_of, tell
from em_pipelines.language.counting import counted

if TYPE_CHECKING:
    from em_pipelines.landing.looking import Preview
    from em_pipelines.landing.report import LandingReport
    from em_pipelines.pipeline import Pipeline
    from em_pipelines.schema.table import Record

KEY_CONFLICT = "key_conflict"
MISSING_USER = "missing_user"
SAMPLE_CHARACTERS = 160
MAX_FILES_SHOWN = 20
FROM_TOOLS = "tools brought in text from the web or from elsewhere"
UNTRUSTED = {"native": "the log says so", "telegram": "posts of channels", "markdown": "clipped from elsewhere"}
"""Why conversations of a format are untrusted, where it is not FROM_TOOLS."""
READ_OTHERWISE = {"time zone": "with the times of another time zone"}
MESSAGES = "interactions"
KINDS = {
    MESSAGES: "message",
    "skill_invocations": "skill invocation",
    "world_events": "world event",
    "seed": "imported fact",
    "import": "imported note",
    "answer": "answer",
}
"""What new rows are called, one of them; other types of feedback are feedback records."""
CHATS = ("whatsapp", "telegram")
STAY = ("stays", "stay")
STAYS = ("was forgotten before and stays", "were forgotten before and stay")
MAX_REASONS_SHOWN = 3
IN_ZIP = "!/"


def as_document(report: "LandingReport") -> dict[str, object]:
    """The report as JSON-able dict."""
    return {
        "files": list(report.files),
        "n_rows": report.n_rows,
        "n_landed": report.n_landed,
        "n_duplicates": report.n_duplicates,
        "n_ignored": report.n_ignored,
        "skipped": dict(report.n_skipped),
        "n_erased": report.n_erased,
        "n_requests": report.n_requests,
        "n_dead_letters": sum(report.n_dead_letters.values()),
        "dead_letters": dict(report.n_dead_letters),
        "days": sorted(day.isoformat() for day in report.days),
        "users": [
            {
                "user_id": user,
                "n_messages": one.n_messages,
                "n_conversations": one.n_conversations,
                "first": one.first,
                "last": one.last,
            }
            for user, one in report.users.items()
        ],
        "read": [
            {"file": one.file, "format": one.format, "n_rows": one.n_rows, "user_of_folder": one.user_id}
            for one in report.read
        ],
        "untrusted": dict(report.n_untrusted),
        "landed_by_kind": dict(report.n_landed_by_kind),
        "read_otherwise": dict(report.n_read_otherwise),
        "nobodys": dict(report.n_nobodys),
        "passed_over": dict(report.n_passed_over),
        "notes": list(report.notes),
    }


def show(report: "LandingReport", *, is_dry: bool = False) -> None:
    """Prints the report for people."""
    if not report.files:
        tell("No file was found there to land.")
    figures = ("files", "rows read", "new", "duplicates", "dead letters", "days")
    print_table(
        "Would land" if is_dry else "Landed",
        figures,
        [
            (
                len(report.files), report.n_rows, report.n_landed, report.n_duplicates,
                sum(report.n_dead_letters.values()),
                len(report.days),
            )
        ],
        right=figures,
    )  # fmt: skip
    if report.users:
        print_table(
            "Whose messages",
            ("user", "messages", "conversations", "from", "to"),
            some_of(
                [
                    (user, one.n_messages, one.n_conversations, _minute(one.first), _minute(one.last))
                    for user, one in report.users.items()
                ],
                "`em users`",
            ),
            right=("messages", "conversations"),
        )
    for sentence in _told(report, is_dry=is_dry):
        tell(sentence)


def _told(report: "LandingReport", *, is_dry: bool) -> Iterator[str]:
    """What is said below the tables, a sentence a line."""
    yield from _counted_as(report)
    if report.n_untrusted:
        yield untrusted_line(report.n_untrusted)
    for how, n in report.n_read_otherwise.items():
        landed = f"{counted(n, 'message')} had landed {READ_OTHERWISE.get(how, f'as {how}')} and {STAY[n != 1]} so"
        yield f"{landed}, for what has landed is never changed; land the files into a new home instead: --home FOLDER"
    if report.n_erased:
        yield f"{counted(report.n_erased, 'row', STAYS)} away"
    if report.n_requests:
        them = "it" if report.n_requests == 1 else "them"
        yield f"{counted(report.n_requests, 'request')} to forget: `em run` carries {them} out"
    if report.n_skipped:
        named = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in report.n_skipped.items())
        yield f"passed over: {counted(report.n_ignored, 'entry')} ({named})"
    yield from report.notes
    if not is_dry:  # a preview has a table of them
        yield from _reasons(report)


def _counted_as(report: "LandingReport") -> Iterator[str]:
    """What figures are of: whose the files were taken to be, which kinds of rows, what a conversation is."""
    for user, n in sorted(Counter(one.user_id for one in report.read if one.user_id and one.n_rows).items()):
        yield f"{counted(n, 'file')} taken to be {user}'s, after the folder; `--user-id NAME` says otherwise"
    if report.n_landed_by_kind.keys() - {MESSAGES}:
        yield f"new rows: {', '.join(_rows_by_noun(report.n_landed_by_kind))}"
    if any(one.n_rows and one.format in CHATS for one in report.read):
        yield "a day of a chat counts as a conversation"


def _rows_by_noun(n_by_kind: Mapping[str, int]) -> list[str]:
    """Counts of rows, each with what a person calls such a row."""
    nouns: Counter[str] = Counter()
    for kind, n in n_by_kind.items():
        nouns[KINDS.get(kind, "feedback record")] += n
    return [counted(n, noun) for noun, n in nouns.items()]


def _reasons(report: "LandingReport") -> Iterator[str]:
    """What is wrong with the first of what was refused for each reason. Whose messages are, another sentence asks."""
    nobodys = {MISSING_USER} if report.n_nobodys else set()
    letters = [letter for letter in report.first_letters if letter["reason"] not in nobodys]
    yield from (_first_of_reason(x, report.n_dead_letters[x["reason"]]) for x in letters[:MAX_REASONS_SHOWN])


def _first_of_reason(letter: "Record", n: int) -> str:
    """What is wrong with the first of all that was refused for one reason."""
    lot = f"first of {n:,} dead letters" if n > 1 else "dead letter"
    return f"{lot}, {letter['reason']}: {letter['file']}, line {letter['line_number']}: {letter['detail']}"


def untrusted_line(n_by_format: Mapping[str, int]) -> str:
    """How many conversations nothing is learned in, and why, by their formats."""
    why: Counter[str] = Counter()
    for name, n in n_by_format.items():
        why[UNTRUSTED.get(name, FROM_TOOLS)] += n
    n_all = why.total()
    reasons = ", ".join(reason if len(why) == 1 else f"{n} {reason}" for reason, n in why.items())
    line = f"untrusted: {counted(n_all, 'conversation')} ({reasons}): found again, and nothing is learned there"
    return f"{line}; --trust on a first landing says otherwise" if FROM_TOOLS in why else line


def show_preview(preview: "Preview", *, as_json: bool) -> None:
    """Prints what would land, and a few messages and dead letters of it."""
    report = preview.report
    letters = [{c: x[c] for c in ("file", "line_number", "reason", "detail")} for x in preview.letters]
    sample = [
        {c: x[c] for c in ("user_id", "session_id", "turn_number", "role", "speaker", "timestamp")}
        | {"content": x["content"][:SAMPLE_CHARACTERS]}
        for x in preview.sample
    ]
    if as_json:
        print_json({"dry_run": True, **as_document(report), "letters": letters, "sample": sample})
        return
    rows = [(one.file, one.format, one.n_rows) for one in report.read]
    print_table("Files", ("file", "format", "rows"), rows[:MAX_FILES_SHOWN], right=("rows",))
    if len(rows) > MAX_FILES_SHOWN:
        tell(f"and {counted(len(rows) - MAX_FILES_SHOWN, 'file')} more")
    show(report, is_dry=True)
    if letters:
        print_table("Would be dead letters", tuple(letters[0]), [tuple(x.values()) for x in letters])
    _show_sample(sample)
    tell("Nothing was written: leave out --dry-run to land it.")


def _show_sample(sample: list[dict[str, object]]) -> None:
    """Prints the first messages, with who speaks where anybody is named."""
    if sample:
        speaker = ("speaker",) if any(x["speaker"] for x in sample) else ()
        columns = ("timestamp", "user_id", *speaker, "role", "content")
        print_table("The first messages", columns, [tuple(x[c] for c in columns) for x in sample])


def end_with(home: "Pipeline", report: "LandingReport") -> None:
    """Ends with a finding where lines were refused that no other record stands for and nobody has decided upon.

    A key that came again with other content is a dead letter, too, but memory lacks nothing: the first stands.
    """
    from em_pipelines.landing.dead_letters import open_letters

    if report.n_dead_letters and open_letters(home.store.log):
        _end_with_letters(report, ("is a dead letter", "are dead letters"), "see `em dead-letters list`")


def end_preview(preview: "Preview") -> None:
    """Ends as the landing would."""
    if preview.report.n_dead_letters and preview.has_open_letters:
        lot = ("would be a dead letter", "would be dead letters")
        _end_with_letters(preview.report, lot, "nothing was written")


def _end_with_letters(report: "LandingReport", lot: tuple[str, str], how: str) -> None:
    n_nobodys = sum(report.n_nobodys.values())
    others = {reason: n - n_nobodys * (reason == MISSING_USER) for reason, n in sorted(report.n_dead_letters.items())}
    n_others = sum(others.values())
    reasons = ", ".join(f"{n} {reason}" for reason, n in others.items() if n)
    refused = counted(n_others, "line", lot)
    letters = f"{refused} ({reasons}); {how}"
    sentence = "; ".join([*filter(None, [_whose(report)]), *([letters] if n_others else [])])
    if set(report.n_dead_letters) <= {KEY_CONFLICT}:
        say(f"{sentence}; what was landed first stands")
        return
    fail(sentence, Exit.FINDING)


def _whose(report: "LandingReport") -> str:
    """What is said of messages that are nobody's, a sentence a way to say whose; nothing where all are somebody's."""
    from em_pipelines.landing.registry import format_named, way_to_say_whose

    ways = {one.file: way_to_say_whose(format_named(one.format)) for one in report.read if one.file in report.n_nobodys}
    files_by_way: dict[str, list[str]] = {}
    for file in report.n_nobodys:
        files_by_way.setdefault(ways[file], []).append(file)
    told = []
    for way, files in files_by_way.items():
        n = sum(report.n_nobodys[file] for file in files)
        told.append(f"the {counted(n, 'message')} in {named_files(files)} {are(n)}: land again with {way}")
    return "; ".join(f"nothing says whose {one}" for one in told)


def named_files(files: Iterable[str]) -> str:
    """The first file by its name, and how many more there are."""
    first, *more = dict.fromkeys(file.partition(IN_ZIP)[0] for file in files)
    name = Path(first).name
    return f"{name} and {counted(len(more), 'other file')}" if more else name


def are(n: int) -> str:
    return "is" if n == 1 else "are"


def _minute(instant: str) -> str:
    """A landed instant to the minute, in UTC."""
    return instant[:16].replace("T", " ")

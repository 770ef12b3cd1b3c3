"""The generated part of a file that people write in, too: between two markers, and nothing else of it is ours.

Pure, on bytes. What stands outside of the markers comes back byte for byte, also when the block is taken out again: a
line break that had to be added before it is noted in the marker.
"""

import re

BEGIN = "<!-- em:begin, written by em_pipelines: edit nothing before the closing mark -->"
BEGIN_AFTER_BREAK = BEGIN.replace("em:begin,", "em:begin (and the line break before it),")
END = "<!-- em:end -->"
_TOKEN = re.compile(rb"(?<!\w)em:(?:begin|end)\b")
_BREAK = re.escape(BEGIN_AFTER_BREAK.encode())
_BLOCK = re.compile(
    rb"(?:^%s(?=\r?\n)|\r\n%s(?=\r\n)|\n%s(?=\n)).*?^%s(?:\r?\n|\Z)"
    % (re.escape(BEGIN.encode()), _BREAK, _BREAK, re.escape(END.encode())),
    re.DOTALL | re.MULTILINE,
)
"""With the line break before it, where that was added: of the kind that the block has."""


class DamagedBlockError(ValueError):
    """A file of which nobody can say what in it was generated: its sentence says why, and what to do."""


def with_block(data: bytes, block: str) -> bytes:
    """A file with its block replaced, or appended where it has none; an empty `block` takes it out.

    `block` has lines that end in LF; they are written as those of the file end. Raises DamagedBlockError.
    """
    before, after, has_block = parts(data)
    if not block:
        return before + after
    is_broken = before != b"" and not before.endswith(b"\n")
    text = f"{BEGIN_AFTER_BREAK if is_broken else BEGIN}\n{block.rstrip()}\n{END}\n"
    if is_broken:
        text = f"\n{text}"
    if has_block and not after and not data.endswith(b"\n"):
        text = text[:-1]
    made = text.encode()
    return before + (made.replace(b"\n", b"\r\n") if b"\r\n" in before + after else made) + after


def parts(data: bytes) -> tuple[bytes, bytes, bool]:
    """What people wrote before the block and after it, and whether there is one. Raises DamagedBlockError."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DamagedBlockError("it is no text in UTF-8; save it as that, or move it away") from error
    tokens, blocks = _TOKEN.findall(data), list(_BLOCK.finditer(data))
    if not tokens:
        return data, b"", False
    if len(tokens) != 2 or len(blocks) != 1:
        raise DamagedBlockError(
            "its markers em:begin and em:end are damaged or stand there more than once; put both back as they were, "
            "or delete them with what stands between"
        )
    (found,) = blocks
    return data[: found.start()], data[found.end() :], True

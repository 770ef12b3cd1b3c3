"""Being told to stop: SIGINT, SIGTERM and SIGHUP end every command alike, with one sentence and one exit code.

A signal unwinds the command (KeyboardInterrupt, or what Dagster makes of it), so that whoever holds something lets it
go. That alone is not enough: libraries catch what is raised in them, turn it into errors of their own, or note it and
forget it. So a thread hears of every signal, whoever handles it: what was interrupted is known to be, and a command
that has not ended some seconds later, or is told a second time, is cut off. That loses nothing: what is half made has
no name yet, as after SIGKILL.

Nothing but the standard library is imported here: it stands before all other imports of the command.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from select import select
from time import monotonic
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
EXIT_CODE = 3
"""Worth a retry: `em_pipelines.interfaces.cli.console.Exit.RETRY`, which costs the imports that this stands before."""
GRACE_SECONDS = 5.0
"""How long a command may take to unwind."""
KEPT = "interrupted: what was complete is kept; run the same command again to go on"
N_TO_CUT_OFF = 2
PIPE_BYTES = 512
_ASKED = 0
"""In the pipe of signals: somebody wants to know whether all before it was heard."""
_SHOW_CURSOR = "\r\x1b[2K\x1b[?25h"
"""Clears the line of a progress bar that was cut off, and shows the cursor, which it hides (ECMA-48; DECTCEM)."""


class _Heard:
    """What the process has been told."""

    def __init__(self) -> None:
        self.told = threading.Event()
        self.answered = threading.Event()
        self.sentence = KEPT
        self.is_said = threading.Lock()
        self.pipe: int | None = None


_HEARD = _Heard()


def listen() -> None:
    """Has signals heard from now on; once a process, by its main thread. One that is ignored (nohup) stays so.

    Shells start what they put into the background deaf to SIGINT, so that Ctrl-C spares it. Without a terminal there is
    no Ctrl-C: whoever sends the signal means this process, and it is heard.
    """
    if _HEARD.pipe is not None:
        return
    heard_by, _HEARD.pipe = os.pipe()
    os.set_blocking(_HEARD.pipe, False)
    ignored = [one for one in SIGNALS if signal.getsignal(one) is signal.SIG_IGN]
    if not _has_terminal():
        ignored = [one for one in ignored if one != signal.SIGINT]
    signal.pthread_sigmask(signal.SIG_BLOCK, ignored)  # Dagster sets handlers without looking
    for one in SIGNALS:
        signal.signal(one, _stop)
    signal.set_wakeup_fd(_HEARD.pipe, warn_on_full_buffer=False)
    sys.unraisablehook = _unraisable
    threading.Thread(target=_watch, args=(heard_by,), name="interrupts", daemon=True).start()


def _has_terminal() -> bool:
    """Whether a terminal controls this process, wherever its streams go."""
    try:
        os.close(os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True


def begin() -> None:
    """A command begins: of an interruption is said what is said of any, whatever an earlier one of the process left."""
    _HEARD.sentence = KEPT


def came() -> bool:
    """Whether the process was told to stop, also where whoever was at work has swallowed it."""
    if _HEARD.pipe is not None and not _HEARD.told.is_set():
        _HEARD.answered.clear()
        with suppress(BlockingIOError):  # a full pipe is full of signals
            os.write(_HEARD.pipe, bytes([_ASKED]))
        _HEARD.answered.wait(GRACE_SECONDS)
    return _HEARD.told.is_set()


def check() -> None:
    """Raises KeyboardInterrupt where the process was told to stop."""
    if came():
        raise KeyboardInterrupt


@contextmanager
def saying(sentence: str) -> Iterator[None]:
    """Has another sentence said of an interruption within the block."""
    _HEARD.sentence, before = sentence, _HEARD.sentence
    yield
    _HEARD.sentence = before  # not where an error leaves the block: that may be the interruption


def _write(sentence: str) -> None:
    """Writes to the file itself: the stream may be locked by who is cut off."""
    clear = _SHOW_CURSOR if os.isatty(2) else ""
    os.write(2, f"{clear}em: {sentence}\n".encode())


def end(say: Callable[[str], None] = _write) -> int:
    """Says that the command was interrupted, once a process that listens, and returns its exit code."""
    if _HEARD.pipe is None or _HEARD.is_said.acquire(blocking=False):
        with suppress(OSError, ValueError):  # the terminal may be gone
            say(_HEARD.sentence)
    _HEARD.sentence = KEPT
    return EXIT_CODE


def close() -> None:
    """Nothing is left to interrupt: signals are ignored while the interpreter ends."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)


def _stop(_number: int, _frame: FrameType | None) -> None:
    _HEARD.told.set()
    raise KeyboardInterrupt


def _unraisable(found: "sys.UnraisableHookArgs") -> None:
    """What is raised where nobody can catch it (a finalizer) is no news where the process was told to stop."""
    if not _HEARD.told.is_set():
        sys.__unraisablehook__(found)


def _watch(heard_by: int) -> None:
    """Hears of signals until the process ends, and ends it where it takes too long."""
    n_told, until = 0, inf
    while n_told < N_TO_CUT_OFF:
        wait = None if until == inf else max(0.0, until - monotonic())
        if not select([heard_by], [], [], wait)[0]:
            break
        for number in os.read(heard_by, PIPE_BYTES):
            if number == _ASKED:
                _HEARD.answered.set()
            elif number in SIGNALS:
                _HEARD.told.set()
                n_told += 1
                until = min(until, monotonic() + GRACE_SECONDS)
    os._exit(end())

"""The work that goes on: fields that every log line of it bears, and a light hook by which somebody may draw spans.

The engine says `with work("step", step="fold")` and knows nothing of who listens: nobody does, unless `listen` was
called. Fields are names, days and ids; never a user, a name or a text. Bound by contextvars, so that threads and tasks
that work calls bear them, too.
"""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass

Value = str | int | float
OpenSpan = Callable[[str, Mapping[str, Value]], AbstractContextManager[object]]
"""(name, attributes) → what is entered when the work begins and left when it ends, with its error where it fails."""
FIELDS = ("correlation_id", "step", "day")
"""What log lines bear of it, where it applies."""
_bound: ContextVar[Mapping[str, Value]] = ContextVar("em_work", default={})  # noqa: B039  (never changed in place)


@dataclass(slots=True)
class _Listener:
    """Who draws spans, for the whole process."""

    open_span: OpenSpan | None = None
    flush: Callable[[], None] = lambda: None


_LISTENER = _Listener()


def listen(open_span: OpenSpan | None, flush: Callable[[], None] = lambda: None) -> None:
    """Has spans drawn of all work from now on; None ends that. `flush` sends what was drawn and not sent yet."""
    _LISTENER.open_span, _LISTENER.flush = open_span, flush


def is_heard() -> bool:
    """Whether somebody draws spans."""
    return _LISTENER.open_span is not None


def flush() -> None:
    """Sends the spans that were drawn and not sent yet: for a process that ends without its exit handlers."""
    _LISTENER.flush()


def bound() -> Mapping[str, Value]:
    """The fields of the work that goes on here."""
    return _bound.get()


def new_id(kind: str) -> str:
    """A correlation id for work that no message began: its kind and twelve hex digits, by chance."""
    return f"{kind}_{secrets.token_hex(6)}"


@contextmanager
def work(name: str, **fields: Value) -> Iterator[None]:
    """Says what is at work as long as the block lasts: a span of that name, and fields for its log lines."""
    token = _bound.set({**_bound.get(), **fields})
    try:
        with _LISTENER.open_span(name, _bound.get()) if _LISTENER.open_span else nullcontext():
            yield
    finally:
        _bound.reset(token)

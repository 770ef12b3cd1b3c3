"""One verb with what belongs to it: what `verb_groups` reads and everything after it asks about."""


class VerbGroup:
    """Tokens `start` to `end`; `lemmas` are what the main verb may be a form of."""

    __slots__ = (
        "adverbs",
        "end",
        "has_begun",
        "has_ended",
        "inverted_subject",
        "is_future",
        "is_inverted",
        "is_negated",
        "is_participle",
        "is_passive",
        "is_past",
        "is_perfect",
        "is_progressive",
        "lemmas",
        "main",
        "modal",
        "start",
        "used_to",
    )  # fmt: skip

    def __init__(self, start: int) -> None:
        self.start = start
        self.end = start + 1
        self.main = start
        self.lemmas: tuple[str, ...] = ()
        self.modal: str | None = None
        self.adverbs: list[str] = []
        self.is_negated = False
        self.has_ended = False
        """`no longer`, `not … any more`, `stopped using`: it did hold before."""
        self.has_begun = False
        """`started using`: it holds since then."""
        self.used_to = False
        self.is_past = False
        self.is_perfect = False
        self.is_progressive = False
        self.is_passive = False
        self.is_future = False
        self.is_participle = False
        """`based in …`, without an auxiliary: passive where the subject is not said."""
        self.is_inverted = False
        self.inverted_subject: int | None = None

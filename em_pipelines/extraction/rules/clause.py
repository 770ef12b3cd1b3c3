"""What a clause is: one finite verb, its subject, and the tokens that belong to it."""

from em_pipelines.extraction.rules.noun_phrases import NounPhrase
from em_pipelines.extraction.rules.verb_group import VerbGroup


class Clause:
    """One finite verb with its subject. Tokens `left` to `right`; `lead` is where its own words begin.

    `subject` is a pronoun's token index, a list of noun phrases, or None when the sentence names none. `is_relative`
    marks a subject taken from the phrase before `who` or `which`, `is_shared` one taken from the clause before,
    `is_resumed` one from before an insertion: `Jana, who …, is`; `is_own` that the speaker is meant without being
    named.
    """

    __slots__ = (
        "companion", "holder", "is_own", "is_relative", "is_resumed", "is_shared", "is_uncertain", "lead", "left",
        "pronoun", "right", "subject", "verb",
    )  # fmt: skip

    def __init__(self, verb: VerbGroup, left: int) -> None:
        self.verb = verb
        self.left = left
        self.lead = verb.start
        self.right = verb.end
        self.pronoun: int | None = None
        self.holder: Clause | None = None
        """The clause of who thinks or says this: `Piet thinks …`."""
        self.companion: NounPhrase | None = None
        """Who does it together with the pronoun: `Jonne and I`."""
        self.subject: list[NounPhrase] = []
        self.is_own = False
        self.is_relative = False
        self.is_resumed = False
        self.is_shared = False
        self.is_uncertain = False
        """It is not clear whose clause it is: `Jonne or Ida …`, `somebody …, I think Jonne`."""

"""What was read in one message so far: claims and mentions, each once."""

from em_pipelines.extraction.model import Claim, Mention
from em_pipelines.extraction.rules.tokens import Token
from em_pipelines.vocabulary import EntityType


class Notes:
    """Claims and mentions of one message, in the order in which they were read; `subject` is whose turn it is."""

    def __init__(self, tokens: list[Token], turn_number: int, subject: str) -> None:
        self.tokens = tokens
        self.turn_number = turn_number
        self.subject = subject
        self.claims: list[Claim] = []
        self.mentions: list[Mention] = []
        self._seen: set[tuple[object, ...]] = set()

    def mention(self, name: str, kind: EntityType, start: int, end: int) -> None:
        """Notes what tokens start to end name; the speaker is no mention."""
        tokens = self.tokens
        key = ("mention", name.casefold())
        if name == self.subject or key in self._seen:
            return
        self._seen.add(key)
        self.mentions.append(Mention(self.turn_number, name, kind, tokens[start].start, tokens[end - 1].end))

    def add(self, claim: Claim) -> None:
        """Keeps a claim once: what is said twice in a message is one fact."""
        key = (
            claim.subject,
            claim.relation,
            (claim.object or claim.value or "").casefold(),
            claim.attribute,
            claim.polarity,
        )
        if key not in self._seen and claim.subject != claim.object:
            self._seen.add(key)
            self.claims.append(claim)

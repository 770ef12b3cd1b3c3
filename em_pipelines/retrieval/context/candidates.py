"""Why something is or is not in the context block of a question: what search finds for it, and what became of each."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from em_pipelines.redaction.veils import hidden
from em_pipelines.retrieval.context.block import Block, ContextQuery, bearing, context_block, mentioned
from em_pipelines.retrieval.context.known_facts import Known, known
from em_pipelines.retrieval.documents import MESSAGE, Hit, Scores, hits_of
from em_pipelines.retrieval.scoring import components, score
from em_pipelines.retrieval.search import BOTH, Search
from em_pipelines.retrieval.searchable_home import SearchableHome
from em_pipelines.retrieval.user_search import ask, opened
from em_pipelines.schema.vocabulary import Status

INCLUDED, NO_ROOM, BELOW_FLOOR, UNSURE, GROUP = "included", "no_room", "below_floor", "unsure", "group"
WHY = {
    INCLUDED: "in the block",
    NO_ROOM: "left out: better ones took the budget, say the same, or are worth far more",
    BELOW_FLOOR: "left out: it does not bear on the question",
    UNSURE: "left out: its confidence is too low",
    GROUP: "left out: others listen",
    Status.SUPERSEDED.value: "left out: a newer value has taken its place",
    Status.EXPIRED.value: "left out: its time is over",
    Status.ARCHIVED.value: "left out: it has faded",
}
"""What may become of a candidate, in a word and in words."""
MOST_OVER = 5
"""Facts that hold no more and would have been found."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What search finds, and what became of it: a key of WHY."""

    hit: Hit
    fate: str

    @property
    def why(self) -> str:
        """The same in words."""
        return WHY[self.fate]


def candidates(home: SearchableHome, query: ContextQuery, n_hits: int = 20) -> tuple[list[Candidate], Block]:
    """What search finds for a question, best first, each with what became of it, and the block; raises as `ask` and
    `context_block` do. Facts that hold no more stand at the end."""
    today = query.as_of or query.today
    block = context_block(home, query)
    wanted = Search(query.text, n_hits, today, BOTH, query.as_of, domain=query.domain, thread=query.thread)
    facts = known(home, query.user_id, today, query.domain)
    bears = bearing(facts, query.text, mentioned(facts, query.text, query.thread))
    numbers = {edge_id: n for n, edge_id in enumerate(facts.rows["edge_id"].to_pylist())}
    least = home.settings.context.min_confidence

    def fate(hit: Hit) -> str:
        if hit.kind == MESSAGE:
            is_included = (hit.session_id, hit.turn_number) in block.turns
            return INCLUDED if is_included else GROUP if query.is_group else NO_ROOM
        n = numbers.get(hit.edge_id or "")
        if hit.edge_id in block.edge_ids or n is None:
            return INCLUDED if hit.edge_id in block.edge_ids else NO_ROOM
        return _fate_of(facts, n, is_bearing=bool(bears[n]), least=least)

    found = [Candidate(hit, fate(hit)) for hit in ask(home, query.user_id, wanted)]
    return [*found, *_over(home, query, today)], block


def _fate_of(facts: Known, n: int, *, is_bearing: bool, least: float) -> str:
    """Why a fact that search found is not in the block."""
    if not is_bearing:
        return BELOW_FLOOR
    return NO_ROOM if facts.confidence[n] >= least or facts.is_old[n] else UNSURE


def _over(home: SearchableHome, query: ContextQuery, today: date) -> Iterator[Candidate]:
    """Facts that time or a newer value has ended and that the question would have found; none while a request to forget
    is pending, and none in a domain, or of an earlier day."""
    pack = opened(home, query.user_id)
    if pack is None or query.domain or query.as_of or hidden(home, query.user_id):
        return
    weights = home.settings.retrieval.weights
    shares = components(pack, query.text, today, weights)
    total = score(
        {name: values for name, values in shares.items() if name in {"window", "letters", "answers"}}, weights
    )
    ended = [
        pack.n_messages + n for n, row in enumerate(pack.facts) if row["status"] in WHY and not row["is_withdrawn"]
    ]
    best = sorted((n for n in ended if total[n] > 0), key=lambda n: -total[n])[:MOST_OVER]
    for hit, n in zip(hits_of(pack, best, Scores(total)), best, strict=True):
        yield Candidate(hit, str(pack.facts[n - pack.n_messages]["status"]))

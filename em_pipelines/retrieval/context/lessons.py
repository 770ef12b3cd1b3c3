"""Experiences as lines of the block: what has recurred of what the question is about.

Told is what was seen and how often, not the rule that it is worded as: a block is data, and directs nobody.
"""

from collections.abc import Collection, Iterator, Sequence

from em_pipelines.retrieval.context.sections import Line, element
from em_pipelines.retrieval.context.telling import ID_CHARACTERS
from em_pipelines.retrieval.experiences import Experience, about

LATEST_TURNS = 3
"""So many of the last turns of a thread say what is being worked on."""
ID = slice(0, ID_CHARACTERS - len("edge_") + len("exp_"))


def lessons(
    known: Sequence[Experience], text: str, thread: Sequence[str], told: Collection[str], *, is_group: bool
) -> Iterator[Line]:
    """The experiences that a question, or else the last turns before it, is about, those first that share most words
    with it. Left out are tastes of which the fact is `told`, by its id, and in a group whatever repeats a word of
    anybody's."""
    may_tell = [one for one in known if one.edge_id not in told and (one.is_open or not is_group)]
    for one in dict.fromkeys(
        one for part in (text, *thread[: -LATEST_TURNS - 1 : -1]) for one in about(may_tell, part)
    ):
        told_of = {
            "id": one.experience_id[ID],
            "kind": one.row["kind"],
            "confidence": f"{one.row['confidence']:.2f}",
            "seen": one.row["last_seen"].date().isoformat(),
        }
        yield Line(
            element("experience", one.row["text"], told_of), one.experience_id, experience_ids=(one.experience_id,)
        )

"""Who speaks in a segment, by which names, and to whom: what `my`, `your` and `Katya's` mean in one of its turns."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from em_pipelines.schema.readings import Segment
from em_pipelines.schema.vocabulary import USER


@dataclass(frozen=True, slots=True)
class Talk:
    """Who says a message: `speaker` by subject, and all who speak by `names`. `whose` resolves `her` of `her brother`
    to a name, given the message."""

    speaker: str = USER
    names: Mapping[str, str] = field(default_factory=dict)
    whose: Callable[..., str | None] = lambda _, __: None

    @property
    def listener(self) -> str:
        """The one other person whom the message is for; empty where there is none, or several."""
        return listener_of(self.names, self.speaker)


ALONE = Talk()


def names_of_speakers(segment: Segment) -> dict[str, str]:
    """How those who speak are called, case-folded, each with the subject of what they say: by the names of the log,
    and by the first word of one that no other has."""
    names: dict[str, str] = {}
    for turn in (*segment.context, *segment.turns):
        if turn.subject is not None:
            names |= {name.casefold(): turn.subject for name in (turn.subject, turn.speaker or turn.subject)}
    n_of = Counter(name.partition(" ")[0] for name in names)
    short = {first: subject for name, subject in names.items() if n_of[first := name.partition(" ")[0]] == 1}
    return short | names


def are_several(names: Mapping[str, str]) -> bool:
    """Whether more than one person speaks."""
    return len(set(names.values())) > 1


def listener_of(names: Mapping[str, str], subject: str) -> str:
    """The one other person whom somebody talks to; empty where there is none, or several."""
    others = set(names.values()) - {subject}
    return others.pop() if len(others) == 1 else ""


def owner_named(names: Mapping[str, str], name: str) -> str | None:
    """The owner that a name before a role means: who speaks, by their subject, or the name itself.

    None in a conversation of two for the name of one of them: there the other is `you`, and it is a namesake's.
    """
    subject = names.get(name.casefold())
    if subject is None or not are_several(names):
        return name
    return subject if len(set(names.values())) > 2 else None

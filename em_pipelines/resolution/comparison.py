"""Whether two names can be those of one thing, by their wording alone: a verdict, and how it was reached.

What messages say about names is judged elsewhere; so is whether a candidate is the only one.
"""

from em_pipelines.resolution.naming import Name
from em_pipelines.resolution.people_names import compare_people
from em_pipelines.resolution.thing_names import compare_things
from em_pipelines.resolution.verdicts import SPELLING, Verdict


def compare(one: Name, other: Name) -> Verdict | None:
    """Returns the verdict on two names of types that go together; None where the wording says nothing."""
    if one.compact == other.compact and (one.person is None or not one.person.is_role):
        return SPELLING
    if one.person is not None and other.person is not None:
        if one.person.is_role or other.person.is_role:
            return None
        return compare_people(one, one.person, other, other.person)
    if one.is_person or other.is_person:
        return None
    return compare_things(one, other)

"""Seals pending requests that an earlier version wrote with names, sentences and messages in clear."""

from dataclasses import replace

from em_pipelines.home import Home
from em_pipelines.landing.clear_requests import left_messages, sealed_request
from em_pipelines.landing.erasure_requests import Request
from em_pipelines.landing.planned_cuts import Cut
from em_pipelines.schema.table import Record
from em_pipelines.storage.tombstones import MESSAGE


def seal_clear_requests(home: Home) -> int:
    """Writes such requests anew without a word of what they cover; returns how many. The caller holds the landing lock.

    What is left of a message is told from what the log holds of it now, whether or not it was cut already.
    """
    documents = home.book.clear_documents()
    for document in documents:
        request = sealed_request(document, home.book)
        home.book.put(_with_cuts(home, request, left_messages(document)))
    return len(documents)


def _with_cuts(home: Home, request: Request, left: dict[tuple[str, int], Record]) -> Request:
    if request.plan is None or not left:
        return request
    user, log = request.scope.user_id, home.store.log
    cuts: dict[str, Cut] = {}
    for day in log.days("interactions"):
        for record in log.read("interactions", day):
            place = (record["session_id"], record["turn_number"])
            if record["user_id"] != user or place not in left:
                continue
            key = home.tombstones.of(MESSAGE, user, place[0], str(place[1]), until="").key
            said, remains = record["content"], left[place]["content"]
            # A crash leaves a message both ways: the one that is still whole says how it is cut.
            if key not in cuts or said != remains:
                cuts[key] = Cut.between(said, remains, home.salt)
    return request.with_plan(replace(request.plan, cuts=cuts))

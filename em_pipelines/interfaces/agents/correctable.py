"""What the person says of memory itself, of one user in one home: corrections, decisions on imported facts, erasure.

The half of `Memory` that puts right what is there; what is said and asked stands in `em_pipelines.interfaces.memory`.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from em_pipelines.errors import UsageError
from em_pipelines.governance.access_tokens import checked_user
from em_pipelines.governance.corrections import Corrections, Fact, Given
from em_pipelines.landing.erasure_requests import Scope
from em_pipelines.pipeline import Pipeline
from em_pipelines.schema.vocabulary import USER

if TYPE_CHECKING:
    from em_pipelines.governance.erasure.certificate import Certificate
    from em_pipelines.interfaces.agents.imported import ImportedFact, Reviewed


class CorrectableMemory:
    """One user's memory as it may be put right. `actor` (user, agent) is who the ledger says was speaking; a `domain`
    bounds what may be named. Raises UsageError for an id that no log could have."""

    def __init__(self, home: Pipeline, user: str, actor: str, domain: str | None) -> None:
        self.home = home
        self.user = checked_user(user)
        self.domain = domain
        self._actor = actor

    def correct(  # noqa: PLR0913  (a public call, each argument by its name)
        self,
        new_object: str,
        *,
        edge_id: str | None = None,
        subject: str = USER,
        relation: str | None = None,
        old_object: str | None = None,
        attribute: str | None = None,
    ) -> Given:
        """Puts the right value in the place of a fact, given by id or by what it says; seen at once, and for good."""
        target = self._target(edge_id, subject=subject, relation=relation, old_object=old_object, attribute=attribute)
        return self._said.correct(target, new_object)

    def confirm(
        self,
        *,
        edge_id: str | None = None,
        subject: str = USER,
        relation: str | None = None,
        object: str | None = None,
        attribute: str | None = None,
    ) -> Given:
        """Says that a fact, given by id or by what it says, is right: confidence 1.0. Raises UsageError."""
        target = self._target(edge_id, subject=subject, relation=relation, object=object, attribute=attribute)
        return self._said.confirm(target)

    def retract(
        self,
        *,
        edge_id: str | None = None,
        subject: str = USER,
        relation: str | None = None,
        object: str | None = None,
        attribute: str | None = None,
    ) -> Given:
        """Takes a fact back; what it had displaced holds again. It stays in the log. Raises UsageError."""
        target = self._target(edge_id, subject=subject, relation=relation, object=object, attribute=attribute)
        return self._said.retract(target)

    def merge(self, name: str, into: str, *, rename: bool = False) -> Given:
        """Says that two names are one thing, read by the second; its `notes` say which is new, and whether they are of
        different kinds. Raises UsageError where nothing known has either name and, without `rename`, the second."""
        return self._said.merge(name, into, rename=rename)

    def split(self, name: str, other: str | None = None) -> Given:
        """Says that a name is a thing of its own, apart from `other` alone where that is given; undoes a merge. Raises
        UsageError where nobody bears the name."""
        return self._said.split(name, other)

    def forget(
        self,
        *,
        edge_id: str | None = None,
        entity: str | None = None,
        session_id: str | None = None,
        everything: bool = False,
    ) -> "Certificate":
        """Erases a fact, an entity, a conversation or all of the user, everywhere and for good, with a certificate.

        Takes as long as making the days again that it changes. Raises UsageError where memory knows nothing of it,
        ErasureIncompleteError and LockedError as `em forget` does.
        """
        from em_pipelines.governance.erasure.forget import forget as forget_scope  # noqa: PLC0415  (50 ms, seldom used)

        scope = Scope.named(self.user, fact=edge_id, entity=entity, session=session_id, is_all=everything)
        return forget_scope(self.home, scope, actor=self._actor)

    def list_imported(
        self, *, file: str | None = None, kind: str | None = None, is_rejected: bool = False
    ) -> "list[ImportedFact]":
        """Facts of contacts, calendars and notes that wait for a look, by file and line, as `em review list`; with
        `is_rejected` those that were turned away. Raises UsageError for a `kind` that is none."""
        from em_pipelines.governance.review import Wanted  # noqa: PLC0415  (who only asks needs none of it)
        from em_pipelines.interfaces.agents.imported import imported_facts  # noqa: PLC0415

        return imported_facts(self.home, Wanted(self.user, file, kind), is_rejected=is_rejected)

    def accept_imported(
        self, seed_ids: Iterable[str] = (), *, file: str | None = None, kind: str | None = None
    ) -> "Reviewed":
        """Lets imported facts count, those named by their ids (or their beginnings), or all of a file or kind: seen at
        once, folded in by the next run. What was turned away counts after all where its id is given.

        What the guard keeps away waits still, and is named. Raises UsageError where an id fits none or several.
        """
        return self._decide(seed_ids, file, kind, accepts=True)

    def reject_imported(
        self, seed_ids: Iterable[str] = (), *, file: str | None = None, kind: str | None = None
    ) -> "Reviewed":
        """Turns imported facts away, for good: importing them again does not bring them back. Raises UsageError."""
        return self._decide(seed_ids, file, kind, accepts=False)

    def _decide(self, seed_ids: Iterable[str], file: str | None, kind: str | None, *, accepts: bool) -> "Reviewed":
        from em_pipelines.governance.review import Wanted  # noqa: PLC0415  (as above)
        from em_pipelines.interfaces.agents.imported import decide  # noqa: PLC0415

        ids = (seed_ids,) if isinstance(seed_ids, str) else tuple(seed_ids)
        return decide(self.home, Wanted(self.user, file, kind, ids), accepts=accepts, actor=self._actor)

    @property
    def _said(self) -> Corrections:
        return Corrections(self.home, self.user, self._actor, self.domain)

    def _target(self, edge_id: str | None, **named: str | None) -> Fact | dict[str, Any]:
        if edge_id:
            return self._said.fact(edge_id)
        if named["relation"] is None:
            raise UsageError("naming a fact: give edge_id, or relation and what it says")
        if not self.domain:
            return named
        found = self._said.the_one(named)  # what is named alone would be met in every domain
        if found is None and "object" in named:
            raise UsageError("naming a fact: none that is known here says so")
        return found or {name: value for name, value in named.items() if name != "old_object"}

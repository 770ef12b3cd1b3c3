"""Erasing, with what will go shown first, and the certificate of what went."""

from typing import Any

from em_pipelines.errors import UsageError
from em_pipelines.governance.erasure.forget import preview
from em_pipelines.interfaces.ui.asked import Asked, Done, NotThereError, Page
from em_pipelines.interfaces.ui.pages.facts import check_known, known
from em_pipelines.interfaces.ui.rendering import said
from em_pipelines.landing.erasure_requests import Scope, ScopeKind
from em_pipelines.serving.users import is_known

SHOWN_FACTS = 50


def show_preview(asked: Asked) -> Page:
    """What would go. Changes nothing."""
    scope = _scope(asked)
    check_known(asked)
    try:
        found = preview(asked.home, scope)
    except UsageError as error:
        raise NotThereError(
            f"nothing that is known of {asked.user} is {_named(asked, scope)!r:.80}; it may have been forgotten already"
        ) from error
    return Page(
        "forget.html",
        {
            "user": asked.user,
            "scope": {name: asked.text(name) for name in ("fact", "entity", "session", "everything")},
            "what": _named(asked, scope),
            "is_all": scope.kind is ScopeKind.USER,
            "facts": found.facts[:SHOWN_FACTS],
            "n_facts": len(found.facts),
            "n_cut": found.n_cut,
            "removed": found.n_removed,
        },
    )


def erase(asked: Asked) -> Done:
    """Erases it everywhere and for good, and shows the certificate. Of a whole person the name is asked for again."""
    scope = _scope(asked)
    if scope.kind is ScopeKind.USER and asked.text("name") != asked.user:
        raise UsageError(
            f"erasing everything of {asked.user}: the name does not stand in the field; nothing was changed"
        )
    named = {"edge_id": scope.target} if scope.kind is ScopeKind.FACT else {}
    if scope.kind in (ScopeKind.ENTITY, ScopeKind.SESSION):
        named = {"entity" if scope.kind is ScopeKind.ENTITY else "session_id": scope.target}
    certificate = (
        asked.memory.forget(**named) if named else asked.memory.forget(everything=True)  # type: ignore[arg-type]
    )
    return Done("/certificate", {"user": asked.user, "id": certificate.certificate_id}, "Erased for good.")


def show_certificate(asked: Asked) -> Page:
    """What an erasure came to; nothing of what was erased stands in it."""
    wanted = asked.text("id")
    is_plain = wanted.replace("_", "").replace("-", "").isalnum()
    found = asked.home.book.certificate(wanted) if is_plain else None
    if found is None or found["user"] != asked.home.salt.hash("user", asked.user):
        raise NotThereError(f"there is no certificate {wanted!r:.80} of {asked.user}")
    return Page(
        "certificate.html", {"user": asked.user, "found": found, "is_left": is_known(asked.home.store, asked.user)}
    )


def _named(asked: Asked, scope: Scope) -> str:
    """What is to be forgotten, as people call it."""
    if scope.kind is ScopeKind.USER:
        return f"everything of {asked.user}"
    if scope.kind is ScopeKind.FACT:
        facts: list[dict[str, Any]] = known(asked, is_all=True)
        fact = next((one for one in facts if one["edge_id"] == scope.target), None)
        return said(fact) if fact else f"the fact {scope.target}"
    return scope.target if scope.kind is ScopeKind.ENTITY else f"the conversation {scope.target}"


def _scope(asked: Asked) -> Scope:
    named = {name: asked.text(name) or None for name in ("fact", "entity", "session")}
    if sum(value is not None for value in named.values()) + (asked.text("everything") == "1") != 1:
        raise UsageError("forgetting: this address names nothing, or several things at once; begin at the fact or name")
    return Scope.named(asked.user, **named, is_all=asked.text("everything") == "1")

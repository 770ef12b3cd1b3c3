"""Erasing, with what will go shown first."""

from em_pipelines.governance.erasure.forget import preview
from em_pipelines.interfaces.ui.asked import Asked, Done, Page
from em_pipelines.landing.erasure_requests import Scope

SHOWN_FACTS = 50


def show_preview(asked: Asked) -> Page:
    """What would go. Changes nothing."""
    scope = _scope(asked)
    found = preview(asked.home, scope)
    return Page(
        "forget.html",
        {
            "user": asked.user,
            "scope": {name: asked.text(name) for name in ("fact", "entity", "session", "everything")},
            "what": f"{scope.kind.value} {scope.target}".strip(),
            "facts": found.facts[:SHOWN_FACTS],
            "n_facts": len(found.facts),
            "n_cut": found.n_cut,
            "removed": found.n_removed,
        },
    )


def erase(asked: Asked) -> Done:
    """Erases it everywhere and for good, and shows where the certificate stands."""
    scope = _scope(asked)
    named = {"edge_id": scope.target} if scope.kind.value == "fact" else {}
    if scope.kind.value in ("entity", "session"):
        named = {"entity" if scope.kind.value == "entity" else "session_id": scope.target}
    certificate = (
        asked.memory.forget(**named) if named else asked.memory.forget(everything=True)  # type: ignore[arg-type]
    )
    said = f"Erased for good; the certificate is {certificate.as_document()['certificate_id']}."
    return Done("/people" if not named and asked.visitor.user_id is None else "/facts", {"user": asked.user}, said)


def _scope(asked: Asked) -> Scope:
    named = {name: asked.text(name) or None for name in ("fact", "entity", "session")}
    return Scope.named(asked.user, **named, is_all=asked.text("everything") == "1")

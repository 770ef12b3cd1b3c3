"""Which address is which page: what it shows, what it does, whose it is, and how far a token has to reach for it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from em_pipelines.governance.token_scope import TokenScope
from em_pipelines.interfaces.ui.asked import Asked, Done, Page
from em_pipelines.interfaces.ui.pages import (
    answers,
    asking,
    auditing,
    experience,
    facts,
    forgetting,
    graph,
    home,
    naming,
    playground,
    reviewing,
)

Handler = Callable[[Asked], Page | Done]


class About(Enum):
    """Whose a page is: of the whole home, of one person, or of whoever comes."""

    HOME = "home"
    PERSON = "person"
    ANYONE = "anyone"


@dataclass(frozen=True, slots=True)
class Shown:
    """One address: what it shows (GET), what it does (POST), whose it is, and how far a token has to reach for
    either."""

    show: Handler | None = None
    act: Handler | None = None
    about: About = About.PERSON
    to_see: TokenScope = TokenScope.READ
    to_act: TokenScope = TokenScope.WRITE

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods that it has."""
        return tuple(name for name, handler in (("GET", self.show), ("POST", self.act)) if handler is not None)

    def needed(self, method: str) -> TokenScope:
        """How far a token has to reach."""
        return self.to_act if method == "POST" else self.to_see


PAGES = {
    "/": Shown(home.show_home, about=About.ANYONE),
    "/people": Shown(home.show_people, about=About.HOME),
    "/soundness": Shown(home.show_soundness, about=About.HOME),
    "/answers": Shown(answers.show_answers, answers.forget_answers, About.HOME, to_act=TokenScope.ADMIN),
    "/facts": Shown(facts.show_facts),
    "/fact": Shown(facts.show_fact),
    "/entity": Shown(naming.show_entity),
    "/fact/confirm": Shown(act=facts.confirm),
    "/fact/correct": Shown(act=facts.correct),
    "/fact/retract": Shown(act=facts.retract),
    "/entity/join": Shown(naming.show_join),
    "/entity/merge": Shown(act=naming.merge),
    "/entity/split": Shown(act=naming.split),
    "/forget": Shown(forgetting.show_preview, forgetting.erase, to_see=TokenScope.ADMIN, to_act=TokenScope.ADMIN),
    "/certificate": Shown(forgetting.show_certificate),
    "/graph": Shown(graph.show_graph),
    "/review": Shown(reviewing.show_review, reviewing.decide),
    "/review/judge": Shown(act=reviewing.judge),
    "/review/release": Shown(act=reviewing.release),
    "/audit": Shown(auditing.show_audit),
    "/trace": Shown(auditing.show_trace),
    "/probes": Shown(asking.show_probes),
    "/probe": Shown(asking.show_why),
    "/experience": Shown(experience.show_experience),
    "/evidence": Shown(experience.show_evidence),
    "/experience/rollback": Shown(act=experience.roll_night_back, about=About.HOME, to_act=TokenScope.ADMIN),
    "/playground": Shown(playground.show_playground),
}
"""Every address of the control UI."""

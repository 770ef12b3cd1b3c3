"""What limits and priors come to over months: people who answer in their own ways are asked by the decision of memory
itself, and what was asked is audited by counting it anew.

Gaps are drawn, not found: what is measured is when something is asked, and not what. Everything is drawn from one seed,
a stream a person, so a person is the same however many others there are.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from em_pipelines.evaluation.proactive_audit import Asked, broken, most_in_a_week
from em_pipelines.lifecycle.proactive.delivery import Outcome, Situation, decide, worth
from em_pipelines.lifecycle.proactive.settings import ProactiveSettings

START = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday; the clocks of Europe and New Zealand change within the first five weeks."""
TOPICS = (
    "garden", "cooking", "music", "travel", "work", "family", "sport", "books", "health", "money", "house", "cinema",
)  # fmt: skip
N_TOPICS = 4
"""Topics that somebody talks about."""
KINDS = ("discovery", "verification", "refinement", "clarification")
ZONES = ("Europe/Lisbon", "Europe/Vienna", "America/Lima", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "UTC")
MAX_TURNS = 14
GROUP_SHARE = 0.1
KNOWN_SHARE = 0.8
"""Gaps to which their person knows the answer."""
OFF_TOPIC_SHARE = 0.2
"""Gaps about what their person hardly talks about."""
READ_SHARE = 0.9
"""Answers of which extraction makes the fact."""
REPORTED_SHARE = 0.8
"""Probes of which the agent says what became of them."""
OUT_OF_PLACE = 0.5
"""What the share of acceptances is multiplied by for each thing that is out of place: topic, hour, company, turn."""
AIM_CLOSED_SHARE, MAX_HOSTILE_WEEK, N_DEFLECTED = 0.8, 1, 3
ACCEPTED, IGNORED, DEFLECTED = "accepted", "ignored", "deflected"


@dataclass(frozen=True, slots=True)
class Habit:
    """How some people answer: shares of probes that they accept and ignore; the others they deflect."""

    name: str
    share: float
    accepts: float
    ignores: float


EAGER, HOSTILE = "eager", "hostile"
HABITS = (
    Habit(EAGER, 0.25, 0.85, 0.10), Habit("ordinary", 0.35, 0.55, 0.35), Habit("distracted", 0.15, 0.25, 0.65),
    Habit("wary", 0.10, 0.25, 0.35), Habit(HOSTILE, 0.15, 0.03, 0.17),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Talk:
    """One conversation: a message a minute."""

    session_id: str
    begins_at: datetime
    n_turns: int
    topic: str
    is_group: bool

    def at(self, turn: int) -> datetime:
        """When a turn is."""
        return self.begins_at + timedelta(minutes=turn)


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known of a person."""

    probe_id: str
    kind: str
    topic: str
    about: str
    value: float
    arises_at: datetime
    expires_at: datetime
    is_known: bool

    @property
    def row(self) -> dict[str, Any]:
        """What a decision reads of the table of probes."""
        return {
            "probe_id": self.probe_id,
            "kind": self.kind,
            "value": self.value,
            "context_tags": [self.topic],
            "entity_id": self.about,
            "edge_id": None,
            "expires_at": self.expires_at,
        }


@dataclass(frozen=True, slots=True)
class Person:
    """One person: how they answer, when and where they talk, and what is not known of them, each in order of time."""

    user_id: str
    habit: Habit
    zone: str
    talks: tuple[Talk, ...]
    gaps: tuple[Gap, ...]

    def waiting(self, at: datetime, closed: Iterable[str]) -> list[Gap]:
        """What is not known at an instant and still worth asking."""
        done = set(closed)
        return [gap for gap in self.gaps if gap.arises_at <= at < gap.expires_at and gap.probe_id not in done]


@dataclass(slots=True)
class Course:
    """What came to pass with one person: what was asked and answered, and the gaps that closed, by id."""

    asked: list[Asked] = field(default_factory=list)
    closed: set[str] = field(default_factory=set)


def people(n_users: int, n_days: int, seed: int, settings: ProactiveSettings) -> list[Person]:
    """The people of a simulation, the same for the same arguments; habits come in the shares of HABITS."""
    return [_person(number, n_users, n_days, Random(f"{seed} {number}"), settings) for number in range(n_users)]


def _person(number: int, n_users: int, n_days: int, random: Random, settings: ProactiveSettings) -> Person:
    zone = random.choice(ZONES)
    topics = random.sample(TOPICS, N_TOPICS)
    talks_a_day = random.uniform(0.4, 2.5)
    hour = random.uniform(7, 21)
    talks: list[Talk] = []
    gaps: list[Gap] = []
    for day in range(n_days):
        midnight = (START + timedelta(days=day)).replace(tzinfo=ZoneInfo(zone))
        for _ in range(int(talks_a_day) + (random.random() < talks_a_day % 1)):
            minutes = round(60 * random.gauss(hour, 4)) % (24 * 60)
            begins_at = (midnight + timedelta(minutes=minutes)).astimezone(UTC)
            n_turns, is_group = random.randint(1, MAX_TURNS), random.random() < GROUP_SHARE
            talks.append(Talk(f"u{number}-{len(talks)}", begins_at, n_turns, random.choice(topics), is_group))
        n_new = random.randint(2, 6) if day == 0 else random.random() < 0.25
        for _ in range(n_new):
            topic = random.choice(TOPICS if random.random() < OFF_TOPIC_SHARE else topics)
            arises_at = START + timedelta(days=day, minutes=random.randrange(24 * 60))
            expires_at = arises_at + timedelta(days=settings.probe_days)
            probe_id, about = f"u{number}-gap{len(gaps)}", f"u{number}-{topic}-{random.randrange(3)}"
            value, is_known = random.uniform(settings.min_value, 1), random.random() < KNOWN_SHARE
            gaps.append(
                Gap(probe_id, random.choice(KINDS), topic, about, value, arises_at, expires_at, is_known)
            )  # fmt: skip
    in_order = tuple(sorted(talks, key=lambda talk: (talk.begins_at, talk.session_id)))
    return Person(f"u{number}", _habit((number + 0.5) / n_users), zone, in_order, tuple(gaps))


def _habit(place: float) -> Habit:
    """The habit of whoever stands there, from 0 to 1, among all people."""
    for habit in HABITS:
        if place < habit.share:
            return habit
        place -= habit.share
    return HABITS[-1]


def is_in_place(person: Person, gap: Gap, talk: Talk, turn: int, settings: ProactiveSettings) -> tuple[bool, ...]:
    """Whether topic, hour, company and turn are such that somebody may be asked."""
    hour = talk.at(turn).astimezone(ZoneInfo(person.zone)).hour
    begin, end = settings.quiet_from_hour, settings.quiet_until_hour
    is_quiet = begin <= hour < end if begin <= end else hour >= begin or hour < end
    return gap.topic == talk.topic, not is_quiet, not talk.is_group, turn >= settings.min_turn


def closable(person: Person, settings: ProactiveSettings) -> set[str]:
    """The gaps, by id, that could have been closed: their person knows the answer, and talked of the topic at a time,
    in company and for long enough that they could be asked, while it was worth asking. Limits are not looked at."""
    return {
        gap.probe_id
        for gap in person.gaps
        if gap.is_known
        and any(
            gap.arises_at <= talk.at(turn) < gap.expires_at and all(is_in_place(person, gap, talk, turn, settings))
            for talk in person.talks
            for turn in range(talk.n_turns)
        )
    }


def asked_by_decision(person: Person, seed: int, settings: ProactiveSettings) -> Course:
    """What comes to pass where every turn of every conversation may be used, and the decision says which is."""
    course, known = Course(), list[Outcome]()
    random = Random(f"{seed} {person.user_id} decided")
    for talk in person.talks:
        queue = sorted(person.waiting(talk.begins_at, course.closed), key=lambda gap: (-gap.value, gap.probe_id))
        waiting = _ranked(queue[: settings.max_waiting], known, settings)
        for turn in range(talk.n_turns):
            now = talk.at(turn)
            situation = Situation(now, talk.session_id, turn, talk.is_group, talk.topic, person.zone)
            for gap in waiting:
                if not decide(gap.row, situation, known, settings).is_said:
                    continue
                one = _ask(person, gap, talk, turn, random, settings, is_moved=True)
                _note(course, known, one, gap, random)
                waiting = [other for other in waiting if other is not gap]
                break
    return course


def _ranked(waiting: Sequence[Gap], known: Sequence[Outcome], settings: ProactiveSettings) -> list[Gap]:
    """As offering ranks rows."""
    return sorted(waiting, key=lambda gap: (-worth(gap.row, known, settings), gap.probe_id))


def asked_at_random(person: Person, n_asked: int, seed: int, settings: ProactiveSettings, *, is_moved: bool) -> Course:
    """What comes to pass where as many probes are asked at any turn of any conversation, of whatever waits.

    With `is_moved` people accept less of what is out of place; else they take everything as in the right place.
    """
    course = Course()
    random = Random(f"{seed} {person.user_id} random")
    turns = [(talk, turn) for talk in person.talks for turn in range(talk.n_turns)]
    usable = [place for place in turns if person.waiting(place[0].at(place[1]), ())]
    moments = random.sample(usable, min(n_asked, len(usable)))
    for talk, turn in sorted(moments, key=lambda moment: (moment[0].at(moment[1]), moment[0].session_id)):
        # What has closed is not asked about again, as it is not where the decision asks.
        if waiting := person.waiting(talk.at(turn), course.closed):
            gap = random.choice(waiting)
            _note(course, [], _ask(person, gap, talk, turn, random, settings, is_moved=is_moved), gap, random)
    return course


def _ask(  # noqa: PLR0913  (who is asked what, where, and by which chance)
    person: Person, gap: Gap, talk: Talk, turn: int, random: Random, settings: ProactiveSettings, *, is_moved: bool
) -> Asked:
    places = is_in_place(person, gap, talk, turn, settings)
    habit = person.habit
    accepts = habit.accepts * OUT_OF_PLACE ** (places.count(False) if is_moved else 0)
    # What is not accepted is ignored or deflected in the proportion of the habit.
    ignores = (1 - accepts) * habit.ignores / (1 - habit.accepts)
    drawn = random.random()
    answer = ACCEPTED if drawn < accepts else IGNORED if drawn < accepts + ignores else DEFLECTED
    if answer == ACCEPTED and not gap.is_known:
        answer = IGNORED  # whoever would answer and cannot lets it pass
    return Asked(
        target=gap.probe_id,
        kind=gap.kind,
        about=gap.about,
        at=talk.at(turn),
        expires_at=gap.expires_at,
        session_id=talk.session_id,
        turn_number=turn,
        is_group=talk.is_group,
        is_fitting=places[0],
        answer=answer,
        is_reported=random.random() < REPORTED_SHARE,
    )


def _note(course: Course, known: list[Outcome], one: Asked, gap: Gap, random: Random) -> None:
    """What was asked, what memory is told of it, and whether the gap closes: where an answer is read."""
    course.asked.append(one)
    known.append(Outcome(one.target, one.kind, "offered", one.at, one.session_id, one.about))
    if one.is_reported:
        told = ("delivered", one.answer)
        known += [Outcome(one.target, one.kind, said, one.at, one.session_id, one.about) for said in told]
    is_read = random.random() < READ_SHARE
    if one.answer == ACCEPTED and is_read:
        course.closed.add(gap.probe_id)


@dataclass(frozen=True, slots=True)
class Figures:
    """What some people came to under one way of asking: counts, and shares from 0 to 1."""

    n_users: int
    n_weeks: float
    n_asked: int
    n_accepted: int
    n_closed: int
    n_closable: int
    n_closable_closed: int

    def as_document(self) -> dict[str, Any]:
        """JSON-able, with the shares; None where there is nothing to take a share of."""
        return {
            "n_users": self.n_users,
            "n_asked": self.n_asked,
            "accept_share": _share(self.n_accepted, self.n_asked),
            "asked_per_user_week": _share(self.n_asked, self.n_users * self.n_weeks),
            "n_closed": self.n_closed,
            "n_closable": self.n_closable,
            "closable_closed_share": _share(self.n_closable_closed, self.n_closable),
        }


def _share(part: float, whole: float) -> float | None:
    return round(part / whole, 4) if whole else None


WAYS = ("decided", "random", "random_indifferent")
"""By the decision; at random, of people who mind; at random, of people who do not."""


@dataclass(frozen=True, slots=True)
class Simulated:
    """A simulation: figures by habit ("all" of everybody) and way of asking, which rules were broken how often, and the
    most probes in a week after the third deflection, of hostile people and of all."""

    by_habit: dict[str, dict[str, Figures]]
    broken: Counter[str]
    hostile_week: int | None
    any_week: int | None

    @property
    def failures(self) -> list[str]:
        """Limits that do not hold, in sentences."""
        found = [f"{rule} was broken {n} times" for rule, n in sorted(self.broken.items())]
        if (self.hostile_week or 0) > MAX_HOSTILE_WEEK:
            found.append(f"hostile people were asked {self.hostile_week} times in a week after the third deflection")
        return found

    @property
    def eager_closed_share(self) -> float | None:
        """Of eager people, the share of closable gaps that closed where the decision asked; the aim is
        AIM_CLOSED_SHARE. None where none is eager, or nothing could close."""
        if EAGER not in self.by_habit:
            return None
        figures = self.by_habit[EAGER]["decided"]
        return _share(figures.n_closable_closed, figures.n_closable)

    @property
    def is_aim_met(self) -> bool:
        """Whether that share is what it should be. It hangs on how people are taken to be, and is no limit."""
        return self.eager_closed_share is None or self.eager_closed_share >= AIM_CLOSED_SHARE

    def as_document(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "by_habit": {
                habit: {way: figures.as_document() for way, figures in ways.items()}
                for habit, ways in self.by_habit.items()
            },
            "n_broken": sum(self.broken.values()),
            "broken": dict(sorted(self.broken.items())),
            "most_in_a_week_after_third_deflection": {"hostile": self.hostile_week, "anybody": self.any_week},
            "eager_closed_share": self.eager_closed_share,
            "is_aim_met": self.is_aim_met,
            "failures": self.failures,
        }


def simulate(
    n_users: int,
    n_days: int,
    seed: int,
    settings: ProactiveSettings,
    decided: Callable[[Person, int, ProactiveSettings], Course] = asked_by_decision,
) -> Simulated:
    """Runs the simulation; `decided` asks where the decision does."""
    lives: list[tuple[Person, set[str], dict[str, Course]]] = []
    rules, weeks = Counter[str](), dict[str, list[int]]()
    for person in people(n_users, n_days, seed, settings):
        course = decided(person, seed, settings)
        n_asked = len(course.asked)
        ways = {
            "decided": course,
            "random": asked_at_random(person, n_asked, seed, settings, is_moved=True),
            "random_indifferent": asked_at_random(person, n_asked, seed, settings, is_moved=False),
        }
        lives.append((person, closable(person, settings), ways))
        rules += broken(course.asked, person.zone, settings)
        most = most_in_a_week(course.asked, N_DEFLECTED)
        if most is not None:
            weeks.setdefault(person.habit.name, []).append(most)
    names = [habit.name for habit in HABITS if any(life[0].habit is habit for life in lives)]
    by_habit = {
        name: {
            way: _figures([life for life in lives if name in ("all", life[0].habit.name)], way, n_days) for way in WAYS
        }
        for name in ("all", *names)
    }
    of_hostile, of_all = weeks.get(HOSTILE, []), [most for found in weeks.values() for most in found]
    return Simulated(by_habit, rules, max(of_hostile, default=None), max(of_all, default=None))


def _figures(lives: Sequence[tuple[Person, set[str], dict[str, Course]]], way: str, n_days: int) -> Figures:
    courses = [(possible, ways[way]) for _, possible, ways in lives]
    return Figures(
        n_users=len(lives),
        n_weeks=n_days / 7,
        n_asked=sum(len(course.asked) for _, course in courses),
        n_accepted=sum(one.answer == ACCEPTED for _, course in courses for one in course.asked),
        n_closed=sum(len(course.closed) for _, course in courses),
        n_closable=sum(len(possible) for possible, _ in courses),
        n_closable_closed=sum(len(possible & course.closed) for possible, course in courses),
    )

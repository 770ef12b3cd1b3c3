"""What an endpoint has shown of itself, by model: kept in the home, so that no later run learns it again.

A refusal teaches what a server does not take, an answer what it does. Keys, prompts and answers are no part of it.
"""

from datetime import datetime

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from em_pipelines.llm.database import Database, instant

MIN_PATIENCE_SECONDS, MAX_PATIENCE_SECONDS = 60.0, 600.0
"""How long a call may make no progress: the first of an endpoint whose pace is known, the second of one that has not
answered yet. A laptop loads a model into memory before its first answer."""
WAITS_OF_PATIENCE = 5
"""Times the longest wait seen that a call may make no progress: prompts differ in length, and calls queue."""


class Format(BaseModel):
    """How one schema is asked for: a place in `resources.dialect.FORMATS`, and whether an answer has come that way."""

    place: int = 0
    is_proven: bool = False


class EndpointProfile(BaseModel):
    """What one endpoint takes of requests to one model, and how fast it is."""

    output_limit: str | None = None
    """The parameter that bounds an answer; None: as the address suggests."""
    refused_parameters: set[str] = Field(default_factory=set)
    formats: dict[str, Format] = Field(default_factory=dict)
    """By name of the schema."""
    context_tokens: int | None = None
    """Tokens of prompt and answer together, where a refusal said so."""
    max_output_tokens: int | None = None
    """The most that a request may ask for, where a refusal showed it."""
    longest_wait_seconds: float | None = None
    """The longest time without progress of a call that was answered."""

    def waited(self, seconds: float) -> bool:
        """Notes how long a call made no progress before it went on; returns whether that changed anything."""
        if seconds <= (self.longest_wait_seconds or 0.0) and self.longest_wait_seconds is not None:
            return False
        self.longest_wait_seconds = seconds
        return True

    @property
    def patience_seconds(self) -> float:
        """How long a call may make no progress before it counts as failed."""
        if self.longest_wait_seconds is None:
            return MAX_PATIENCE_SECONDS
        return min(MAX_PATIENCE_SECONDS, max(MIN_PATIENCE_SECONDS, WAITS_OF_PATIENCE * self.longest_wait_seconds))


class EndpointProfiles:
    """The profiles of the models of one endpoint. Without a database they last as long as this object.

    `address` is the endpoint's, which holds no password (`LlmSettings.base_url`).
    """

    def __init__(self, address: str = "", database: Database | None = None) -> None:
        self.address = address
        self._database = database
        self._by_model: dict[str, EndpointProfile] = {}

    def of(self, model: str) -> EndpointProfile:
        """The profile of a model; an empty one where nothing is known, or what is kept cannot be read."""
        if model not in self._by_model:
            self._by_model[model] = self._kept(model) or EndpointProfile()
        return self._by_model[model]

    def keep(self, model: str, now: datetime) -> None:
        """Writes down what was learned of a model."""
        if self._database is None:
            return
        with self._database.transaction() as execute:
            execute(
                "INSERT OR REPLACE INTO endpoint_profiles VALUES (?, ?, ?, ?)",
                (self.address, model, self.of(model).model_dump_json(), instant(now)),
            )

    def put(self, model: str, profile: EndpointProfile, now: datetime) -> None:
        """Keeps a profile that was learned elsewhere."""
        self._by_model[model] = profile
        self.keep(model, now)

    def forget(self, model: str) -> None:
        """Drops what is known of a model: a server was changed, and is to be tried anew."""
        self._by_model.pop(model, None)
        if self._database is not None:
            with self._database.transaction() as execute:
                execute("DELETE FROM endpoint_profiles WHERE address = ? AND model = ?", (self.address, model))

    def _kept(self, model: str) -> EndpointProfile | None:
        if self._database is None:
            return None
        query = "SELECT profile FROM endpoint_profiles WHERE address = ? AND model = ?"
        for row in self._database.rows(query, self.address, model):
            try:
                return _PROFILE.validate_json(row["profile"])
            except ValidationError:  # of another version: learned again
                return None
        return None


_PROFILE = TypeAdapter(EndpointProfile)

"""What retrieval weighs how much."""

from pydantic import BaseModel, ConfigDict, Field

BUILT_IN = "built-in"
"""The embedder that ships (`em_pipelines.language.sentence_labels`)."""


class Weights(BaseModel):
    """The share of each component in the score of a document; 0 switches it off.

    Components are scaled so that the best document has 1, and added up. Learned by `em evaluate retrieval --fit` on
    three conversations of LoCoMo, rounded; by hand those that few questions there ask for (`number_said`, `name_said`,
    `statement`, `answers`), and those of vectors, which are many times as good as any other.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    window: float = Field(default=0.65, ge=0, description="BM25 of the turn with the two before it")
    around: float = Field(default=0.55, ge=0, description="BM25 of the turn with two on either side")
    session: float = Field(default=0.55, ge=0, description="BM25 of the conversation, half of its best turn")
    letters: float = Field(default=0.5, ge=0, description="BM25 of runs of four letters: other forms and slips")
    topic: float = Field(default=0.55, ge=0, description="likeness in a space of topics fitted on the user's own words")
    meaning: float = Field(default=2.5, ge=0, description="likeness of vectors, where an embedder is set")
    meaning_near: float = Field(default=1.0, ge=0, description="mean of that of two turns on either side")
    speaker: float = Field(
        default=1.0, ge=0, description="the one person whom the question names is speaking; half where it only asks"
    )
    role: float = Field(
        default=1.5, ge=0, description="a person is speaking, or the assistant where the question asks what it said"
    )
    date: float = Field(default=1.0, ge=0, description="said at the time that the question names")
    time_said: float = Field(default=0.6, ge=0, description="a time is said, where the question asks for one")
    number_said: float = Field(default=0.8, ge=0, description="a number is said, where the question asks for one")
    name_said: float = Field(default=0.8, ge=0, description="a name is said, where the question asks for a place")
    statement: float = Field(default=0.2, ge=0, description="the turn states something, and is no question itself")
    reply: float = Field(default=0.35, ge=0, description="the turn before it asks something")
    length: float = Field(default=0.5, ge=0, description="long turns say more")
    answers: float = Field(
        default=3.0, ge=0, description="a fact of a kind that answers the question, about whom or what it names"
    )


class RetrievalSettings(BaseModel):
    """How documents are indexed and found."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    weights: Weights = Field(default_factory=Weights)
    n_hits: int = Field(default=10, ge=1, description="hits of a search, unless it says otherwise")
    n_facts: int = Field(default=5, ge=0, description="facts at most beside the messages of a search of both")
    n_experiences: int = Field(
        default=3, ge=0, description="experiences at most behind the messages and facts of a search of all kinds"
    )
    topics: int = Field(default=50, ge=0, description="dimensions of the space of topics; 0 leaves it out")
    thread_share: float = Field(
        default=0.3, ge=0, lt=1, description="share of what a thread is about in the score, beside the question itself"
    )
    mmr_lambda: float = Field(
        default=1.0, gt=0, le=1, description="1 ranks by score alone; less also by how little a hit repeats those above"
    )

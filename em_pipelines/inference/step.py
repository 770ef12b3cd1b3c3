"""Inference as a step: the inferred edges of one day, out of its current edges, and of a model if one is asked.

Not among the daily steps: only its latest day is looked at, so a range of days does not pay for each.
"""

from collections.abc import Iterable
from datetime import date

from em_pipelines.inference.infer import grounds, infer
from em_pipelines.inference.llm.proposer import ModelProposer
from em_pipelines.inference.rules import rules_of
from em_pipelines.inference.settings import InferenceSettings
from em_pipelines.lake import digest
from em_pipelines.pipeline import Step, Tables, source_version
from em_pipelines.sql import connect
from em_pipelines.tables.derived import CURRENT_EDGES, INFERRED_EDGES
from em_pipelines.tables.graph import ENTITIES


def build_inference(settings: InferenceSettings, proposer: ModelProposer | None = None) -> Step:
    """Returns the step that makes inferred_edges; raises RuleFileError.

    A day about which the proposer still waits for answers stands with what follows by rules, and stays out of date.
    """
    rules = rules_of(settings)
    is_waiting = False

    def run(day: date, tables: Tables, _: Iterable[dict[str, object]]) -> Tables:
        nonlocal is_waiting
        edges, entities = tables["state_current_edges"], tables["state_entities"]
        proposals = None
        with connect() as connection:
            if proposer is not None:
                proposed = proposer.propose(grounds(edges, entities, settings, connection), day)
                proposals, is_waiting = proposed.rows, bool(proposed.n_waiting)
            return {INFERRED_EDGES.name: infer(edges, entities, rules, settings, connection, proposals)}

    asked = proposer.model if proposer else None
    return Step(
        name="inference",
        latest=(CURRENT_EDGES, ENTITIES),
        outputs=(INFERRED_EDGES,),
        run=run,
        is_complete=lambda _: not is_waiting,
        version=source_version("inference")
        + digest([repr(rules), settings.model_dump_json(exclude={"rules_file"}), str(asked)]),
    )

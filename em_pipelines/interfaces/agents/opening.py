"""Opening a home from Python as `em` does: with the models and the embedder that its settings name, if they name any.

Nobody is asked, and no client is imported, before something is to be read by a model or searched by vectors.
"""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from em_pipelines.errors import UsageError
from em_pipelines.pipeline import Pipeline
from em_pipelines.settings import Settings, load_settings

if TYPE_CHECKING:
    from em_pipelines.llm.asking import OpenAsking
    from em_pipelines.retrieval.scoring import Embedder


def open_home(home: Path | str) -> Pipeline:
    """The home in a folder, which need not be there yet.

    Raises SettingsError where its settings cannot be read, and UsageError where something else has its name."""
    if Path(home).exists() and not Path(home).is_dir():
        raise UsageError(f"opening {home}: it is no folder; name the folder of a home, or one to be made")
    # The library of BM25 brings a progress bar along, and that warns each notebook that has no widgets for one.
    warnings.filterwarnings("ignore", "IProgress not found")
    return Pipeline(load_settings(home=Path(home)), _open_models, _open_embedder)


def _open_models(settings: Settings) -> "OpenAsking":
    from resources.model_access import asking_of  # noqa: PLC0415  (its client takes a second to import)

    return asking_of(settings)


def _open_embedder(settings: Settings) -> "Embedder":
    from resources.embedders import open_embedder  # noqa: PLC0415

    return open_embedder(settings)

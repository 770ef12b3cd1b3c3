"""docs/landing.md against the rules and formats of landing."""

import re
from datetime import UTC, datetime

import pytest

from em_pipelines.landing.land import detect, land
from em_pipelines.landing.reader import InputFile
from em_pipelines.landing.reasons import Reason
from em_pipelines.landing.registry import FORMATS
from em_pipelines.landing.settings import LandingSettings
from em_pipelines.storage.landed_log import LandedLog

PAGE = "docs/landing.md"
LANGUAGES = ("json", "csv", "text", "html", "yaml", "markdown")
NAMES = [known.name for known in FORMATS]


def test_reasons_of_dead_letters_are_those_of_the_page(page) -> None:
    rows = re.findall(r"^\| `([a-z_0-9]+)` \| [^|]+ \| [^|]+ \|$", page(PAGE), re.MULTILINE)
    assert sorted(rows) == sorted(reason.value for reason in Reason)


@pytest.mark.parametrize("name", NAMES)
def test_sample_of_a_format_is_found_to_be_of_it_and_lands_whole(name: str, blocks, tmp_path) -> None:
    samples = [block for language in LANGUAGES for block in blocks(PAGE, language) if block.info[1:] == (name,)]
    assert samples
    for number, sample in enumerate(samples):
        path = tmp_path / f"sample{number}"
        path.write_text(sample.text, encoding="utf-8")
        settings = LandingSettings()
        assert detect(InputFile(path, settings)).name == name
        log = LandedLog(tmp_path / f"log{number}")
        report = land([path], log, now=datetime(2026, 12, 1, tzinfo=UTC), settings=settings, user_id="nora")
        assert report.n_landed == report.n_rows > 0

"""The checks on what people say of facts: how many are right, how many trivial, and whether confidence can be believed.

Each passes and says so as long as fewer than `quality.min_judged` facts were judged.
"""

from datetime import datetime

from em_pipelines.governance.judging import report
from em_pipelines.language.counting import counted
from em_pipelines.pipeline import Pipeline
from quality.finding import Said


def judged_precision(home: Pipeline, _: datetime) -> Said:
    """Of the judged facts of the sample enough are right; the figure is their share, 0 to 1.

    A warning where the share is too low, a failure where it surely is: where all of its interval is.
    """
    limits = home.settings.quality
    share = report(home).precision
    if share.n < limits.min_judged:
        return _too_few(share.n)
    low, high = share.interval
    return Said(
        ""
        if share.share >= limits.min_judged_precision
        else f"{share.share:.0%} of the judged sample is right ({low:.0%} to {high:.0%}): `em judge report` says which "
        "relations are not",
        share.share,
        is_warning=high >= limits.min_judged_precision,
        more={"judged": share.n, "low": low, "high": high},
    )


def judged_noise(home: Pipeline, _: datetime) -> Said:
    """Of the judged facts of the sample few are trivial; the figure is their share, 0 to 1. As for precision."""
    limits = home.settings.quality
    share = report(home).trivial
    if share.n < limits.min_judged:
        return _too_few(share.n)
    low, high = share.interval
    return Said(
        ""
        if share.share < limits.max_noise_share
        else f"{share.share:.0%} of the judged sample is trivial ({low:.0%} to {high:.0%}): look at what was judged "
        "so, and at the patterns or the prompt that bring it",
        share.share,
        is_warning=low < limits.max_noise_share,
        more={"judged": share.n, "low": low, "high": high},
    )


def calibration(home: Pipeline, _: datetime) -> Said:
    """Confidence is as high as facts are often right; the figure is the expected calibration error, 0 to 1."""
    limits = home.settings.quality
    found = report(home)
    if found.n_judged < limits.min_judged:
        return _too_few(found.n_judged)
    return Said(
        ""
        if found.error <= limits.max_calibration_error
        else "confidence does not say how often a fact is right: `em judge report` shows where, and "
        "`em evaluate calibration` measures the extractor by itself",
        found.error,
        is_warning=True,
        more={"judged": found.n_judged},
    )


def _too_few(n: int) -> Said:
    return Said(note=f"{counted(n, 'fact')} judged: too few to say anything" if n else "nothing judged yet")

"""Figures as charts: SVG that stands in a page, in its colours, with the same figures as a table for whoever reads
those."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from xml.etree import ElementTree

import pygal
from pygal.style import Style

from em_pipelines.serving.report.figures import HomeFigures

# pygal puts a finder for its plugins, of which we use none, in everybody's way, and Python 3.11 warns of it.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "PluginImportFixer"]
WIDTH, HEIGHT = 640, 240
STYLE = Style(
    background="transparent",
    plot_background="transparent",
    foreground="var(--ink)",
    foreground_strong="var(--ink)",
    foreground_subtle="var(--soft)",
    colors=("var(--c1)", "var(--c2)", "var(--c3)", "var(--c4)"),
    font_family="inherit",
    opacity=".85",
    transition="0s",
    guide_stroke_color="var(--line)",
    major_guide_stroke_color="var(--line)",
)
MAX_LABELS = 8
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Chart:
    """One chart: its title, what it shows in a sentence, the SVG, and its figures as a table."""

    title: str
    about: str
    svg: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A chart over rows of figures: which rows, what stands below, and the columns with their names."""

    title: str
    about: str
    rows: str
    x: str
    series: tuple[tuple[str, str], ...]
    kind: Callable[..., Any] = pygal.Line


_WANTED = (
    _Wanted(
        "Messages and claims",
        "How much was said, and how much of it was read as a claim.",
        "quality_days", "day", (("messages", "n_messages"), ("claims", "n_claims")),
    ),
    _Wanted(
        "What memory learned",
        "Facts that were new, said again, changed and taken back.",
        "change_days", "day",
        (("new", "n_learned"), ("said again", "n_reinforced"), ("changed", "n_changed"),
         ("taken back", "n_taken_back")),
        pygal.StackedBar,
    ),
    _Wanted(
        "How sure",
        "Facts that stand, by how sure memory is of them today.",
        "confidence", "least", (("facts", "n_facts"),), pygal.Bar,
    ),
    _Wanted(
        "What is known", "The relations of which most facts are.", "relations", "relation", (("facts", "n_facts"),),
        pygal.HorizontalBar,
    ),
    _Wanted(
        "Left out",
        "What was not read, or only in part, by reason.",
        "issues", "issue", (("issues", "n_issues"),), pygal.HorizontalBar,
    ),
    _Wanted(
        "Calls of models", "Calls, and those that failed.", "model_days", "day",
        (("calls", "n_calls"), ("failed", "n_failed")),
        pygal.Bar,
    ),
    _Wanted("Cost of models", "US dollars a day.", "model_days", "day", (("USD", "cost_usd"),), pygal.Bar),
    _Wanted(
        "Questions", "What became of the questions that memory had.", "probe_figures", "kind",
        (("made", "n_generated"), ("asked", "n_delivered"), ("answered", "n_accepted"), ("refused", "n_deflected")),
        pygal.Bar,
    ),
)  # fmt: skip


def charts_of(figures: HomeFigures) -> list[Chart]:
    """The charts of a home, without those that have nothing to show."""
    return [_chart(number, wanted, figures.rows[wanted.rows]) for number, wanted in enumerate(_WANTED)
            if figures.rows[wanted.rows]]  # fmt: skip


def _chart(number: int, wanted: _Wanted, found: Sequence[Row]) -> Chart:
    rows = sorted(found, key=lambda row: row[wanted.x]) if wanted.x in ("day", "least") else list(found)
    is_across = wanted.kind is pygal.HorizontalBar
    rows = rows[::-1] if is_across else rows
    chart = wanted.kind(
        style=STYLE,
        js=(),
        width=WIDTH,
        height=max(HEIGHT, 22 * len(rows) + 40) if is_across else HEIGHT,
        show_legend=len(wanted.series) > 1,
        legend_at_bottom=True,
        show_minor_x_labels=False,
        x_labels_major_count=min(MAX_LABELS, len(rows)) if not is_across else None,
        truncate_label=-1,
        truncate_legend=-1,
        dots_size=1.5,
        margin=4,
        margin_right=18,
        disable_xml_declaration=True,
        no_data_text="nothing yet",
    )
    chart.uuid = f"c{number}"
    chart.x_labels = [_label(row[wanted.x]) for row in rows]
    for name, column in wanted.series:
        chart.add(name, [float(row[column] or 0) for row in rows])
    shown = tuple((row[wanted.x], *(row[column] for _, column in wanted.series)) for row in rows)
    svg = _without_scripts(chart)
    return Chart(wanted.title, wanted.about, svg, (wanted.x, *(name for name, _ in wanted.series)), shown)


def _without_scripts(chart: Any) -> str:
    """The chart as SVG. What pygal brings along for its own script is left out: no page lets it run."""
    tree = chart.render_tree()
    for parent in list(tree.iter()):
        for script in [child for child in parent if str(child.tag).endswith("script")]:
            parent.remove(script)
    return ElementTree.tostring(tree, encoding="unicode")


def _label(value: Any) -> str:
    if isinstance(value, date):
        return f"{value:%d %b}"
    return f"{value:g}" if isinstance(value, float) else str(value).replace("_", " ")

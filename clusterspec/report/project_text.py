"""The difference of all specs of a repository as text and as Markdown, as a comment on a pull request shows it."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.finding import Severity
from clusterspec.report import PLAIN, TextStyle, plain_line, text_table
from clusterspec.report.diff_text import (
    UNSURE,
    diff_as_markdown,
    diff_as_text,
    effect_figure,
    finding_cells,
    labeled_lines,
    markdown_table,
    relative_change_text,
)
from clusterspec.report.fleet_diff_text import fleet_diff_text
from clusterspec.results.decision import PRICE, Effect, ProjectDiffReport, SpecDiff
from clusterspec.units import plural

SHOWN = ("step time", "MFU")
OF_SERVING = ("time to first token", "time per output token", "output tokens per second")
"""Figures that the table includes if at least one spec has them."""


def project_as_text(report: ProjectDiffReport, style: TextStyle = PLAIN) -> str:
    """A table of the specs, and below it the difference of each."""
    lines = [f"{plain_line(report.old)} -> {plain_line(report.new)}: {_count_text(report)}", ""]
    if report.specs:
        lines += [text_table(*_specs_table(report), style=style), ""]
    lines += [*_total_lines(report), *_skipped_lines(report)]
    lines += [_text_details(spec, style) for spec in report.specs if _has_details(spec)]
    return "\n".join(lines).rstrip() + "\n"


def project_as_markdown(report: ProjectDiffReport) -> str:
    """A table of the specs, and the difference of each in a collapsible block."""
    parts = [f"**clusterspec diff**: `{plain_line(report.old)}` to `{plain_line(report.new)}`: {_count_text(report)}"]
    if report.specs:
        parts.append(markdown_table(*_specs_table(report)))
    parts += [*_total_lines(report), *_skipped_lines(report)]
    parts += [
        f"<details><summary>{_escaped_text(spec.path)}</summary>\n\n{_markdown_details(spec)}\n</details>"
        for spec in report.specs
        if _has_details(spec)
    ]
    return "\n\n".join(parts) + "\n"


def _has_details(spec: SpecDiff) -> bool:
    """Whether there is more to say of a spec than its row of the table."""
    return spec.differences is not None or (spec.change == "added" and bool(spec.figures or spec.found))


def _text_details(spec: SpecDiff, style: TextStyle) -> str:
    """The difference of a changed spec, or the figures and findings of an added one."""
    if spec.report is not None:
        return diff_as_text(spec.report, style)
    if spec.fleet is not None:
        return f"{plain_line(spec.path)}\n\n{fleet_diff_text(spec.fleet, style)}"
    figures = [text_table(("figure", "new"), _figure_rows(spec), right=(1,), style=style)] if spec.figures else []
    return "\n".join([f"{plain_line(spec.path)}, added\n", *figures, *labeled_lines("new", spec.found, style)])


def _markdown_details(spec: SpecDiff) -> str:
    """The difference of a changed spec, or the figures and findings of an added one."""
    if spec.report is not None:
        return diff_as_markdown(spec.report)
    if spec.fleet is not None:
        return fleet_diff_text(spec.fleet, markdown=True)
    tables = [markdown_table(("figure", "new"), _figure_rows(spec))] if spec.figures else []
    rows = [("new", *finding_cells(one)) for one in spec.found]
    return "\n\n".join([*tables, *([markdown_table(("", "severity", "rule", "what"), rows)] if rows else [])]) + "\n"


def _figure_rows(spec: SpecDiff) -> list[tuple[str, str]]:
    """The figures of an added spec."""
    return [(one.name, effect_figure(one, one.new)) for one in spec.figures]


def _total_lines(report: ProjectDiffReport) -> list[str]:
    """The sums over the specs that change them."""
    return [
        f"{total.name}, sum of {sum(_is_in_total(spec, total) for spec in report.specs)} specs: {_movement_text(total)}"
        for total in report.totals
    ]


def _is_in_total(spec: SpecDiff, total: Effect) -> bool:
    effect = spec.effect(total.name)
    return effect is not None and effect.unit == total.unit


def _count_text(report: ProjectDiffReport) -> str:
    number = len(report.specs) + len(report.skipped)
    return f"{plural(number, 'spec')} changed" if number else "no spec changed"


def _skipped_lines(report: ProjectDiffReport) -> list[str]:
    if not report.skipped:
        return []
    return [f"not compared, since {len(report.specs)} are: {', '.join(map(plain_line, report.skipped))}"]


def _specs_table(report: ProjectDiffReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and the rows of the table of all specs."""
    serving = [name for name in OF_SERVING if any(spec.effect(name) for spec in report.specs)]
    shown = (*SHOWN, *serving, PRICE)
    heads = ("spec", "", *SHOWN, *serving, "price", "new findings", "fixed")
    return heads, [_spec_cells(spec, shown) for spec in report.specs]


def _spec_cells(spec: SpecDiff, shown: Sequence[str]) -> tuple[str, ...]:
    found, fixed = (of.found, of.fixed) if (of := spec.differences) else (spec.found, ())
    errors = sum(finding.severity is Severity.ERROR for finding in found)
    told = plural(errors, "error") if errors == len(found) else f"{len(found)}, {plural(errors, 'error')}"
    new = told if errors else str(len(found) or "")
    effects = (spec.effect(name) or spec.effect(f"{name} of all roles") for name in shown)
    figures = (_effect_cell(spec, effect) if effect is not None else "" for effect in effects)
    return plain_line(spec.path), spec.change, *figures, new, str(len(fixed) or "")


def _effect_cell(spec: SpecDiff, effect: Effect) -> str:
    """A figure before and after. An added or removed spec has only one of them."""
    if spec.change == "changed":
        return _movement_text(effect)
    return effect_figure(effect, effect.new if spec.change == "added" else effect.old)


def _movement_text(effect: Effect) -> str:
    change = relative_change_text(effect).removesuffix(UNSURE).rstrip()
    moved = f"{effect_figure(effect, effect.old)} to {effect_figure(effect, effect.new)}"
    return f"{moved} ({change})" if change else moved


def _escaped_text(text: str) -> str:
    return plain_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

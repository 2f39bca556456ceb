"""Sentences about the results of a search, of layouts and of serving plans: findings, refusals, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from clusterspec.cost.plan import TIE
from clusterspec.report import PLAIN, TextStyle, paragraph
from clusterspec.report.layout_tables import SPLITS, heat_table, layout_text, layouts_table, memory_text, splits_table
from clusterspec.results.search import Comparison, LayoutRow, SearchReport, Section
from clusterspec.units import display, percent, plural
from clusterspec.units.display import joined_words

PARTS = 4
"""Parts of a step that a comparison names."""
LESS_MEMORY_FIRST = "Among layouts whose step times differ by at most 1 %, the one with less memory is first."


def memory_note(rows: tuple[LayoutRow, ...]) -> str:
    """The meaning of the memory marks, if there are any."""
    marks = {memory_text(row)[-2:] for row in rows}
    unsure = "? may not fit: the upper end of the memory range exceeds the memory." if " ?" in marks else ""
    return " ".join(each for each in (unsure, "x does not fit in memory." if " x" in marks else "") if each)


def refusing_rules_text(report: SearchReport, noun: str) -> str:
    """The rules that excluded results; empty if no rule did."""
    if not report.refused_by:
        return ""
    rules = ", ".join(f"{rule} ({count})" for rule, count in sorted(report.refused_by.items(), key=lambda one: -one[1]))
    return f"{plural(report.refused, noun)} dropped for an error: {rules}."


def findings_text(rows: tuple[LayoutRow, ...], noun: str) -> str:
    """The findings of the first row, then the additional findings of the other rows. Rows with the same additional
    findings are named together.
    """
    own = rows[0].findings
    lines = [f"`check` reports with {noun} 1: {', '.join(own)}."] if own else []
    more: dict[str, list[int]] = {}
    for number, row in enumerate(rows, 1):
        for rule in row.findings:
            if rule not in own:
                more.setdefault(rule, []).append(number)
    other = "With {} {} also {}." if own else "`check` reports with {} {}: {}."
    alike: dict[tuple[int, ...], list[str]] = {}
    for rule, numbers in more.items():
        alike.setdefault(tuple(numbers), []).append(rule)
    lines += [
        other.format(noun if len(numbers) == 1 else f"{noun}s", _number_ranges([*numbers]), joined_words(rules))
        for numbers, rules in alike.items()
    ]
    return "\n".join(lines)


def _number_ranges(numbers: list[int]) -> str:
    """Some numbers, with runs as ranges.

    >>> _number_ranges([2, 3, 4, 7])
    '2–4, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}–{last}" for first, last in runs)


def comparison_text(comparison: Comparison, noun: str, time: str) -> str:
    """The reason why the best result is faster or slower, as a sentence."""
    other = f"{noun} 2" if comparison.other == "next" else f"the {noun} of the spec"
    sense = "shorter" if comparison.seconds < 0 else "longer"
    parts = [f"{label} {_signed_text(seconds, 's')}" for label, seconds in comparison.parts[:PARTS]]
    rest = sum(seconds for _, seconds in comparison.parts[PARTS:])
    parts += [f"all others {_signed_text(rest, 's')}"] if rest else []
    step = f"{time} {display(abs(comparison.seconds), 's')} {sense}" if comparison.seconds else f"{time} the same"
    memory = _signed_text(comparison.memory, "B")
    return f"{noun.capitalize()} 1 against {other}: {step} ({', '.join(parts)}), memory {memory}."


def _signed_text(value: float, unit: str) -> str:
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{display(abs(value), unit)}"


def search_as_text(report: SearchReport, style: TextStyle = PLAIN) -> str:
    """The number of layouts evaluated, the best layouts, and the difference to the present one."""
    parts = (
        [paragraph(f"Nothing to search: {report.why}.", style)]
        if report.incomplete
        else [paragraph(_counts_text(report), style)]
    )
    if report.layouts:
        parts.append(style.paint("bold", f"Best by {_objective_text(report)}") + "\n")
        parts[-1] += layouts_table(report.layouts, style, report.currency)
        parts += [_notes_text(report, style), _front_text(report, style)]
        parts.append(
            "".join(paragraph(comparison_text(each, "layout", "a step"), style) for each in report.comparisons)
        )
    elif not report.incomplete:
        parts.append(paragraph(f"No layout found: {report.why}.{_nearest_text(report)}", style))
    if report.fewer_nodes is not None:
        parts.append(paragraph(_fewer_nodes_text(report, report.fewer_nodes), style))
    if report.present is not None:
        parts.append(paragraph(_present_text(report), style))
    if report.splits:
        title = style.paint(
            "bold",
            "Placements of rollout, steps of all roles; the trainer has the spec's layout or the best one",
        )
        parts.append(title + "\n" + splits_table(report.splits[:SPLITS], style))
    if report.grid is not None:
        title = f"Best step time by {report.grid.axes[0]} (down) and {report.grid.axes[1]} (across)"
        parts.append(style.paint("bold", title) + "\n" + heat_table(report.grid, style))
    return "\n".join(part for part in parts if part)


def _nearest_text(report: SearchReport) -> str:
    """The layout nearest to one that could be shown: the smallest, or the first that the rules refuse; else empty."""
    least, refused = report.smallest, report.first_refused
    if least is not None and least.memory:
        return f" The smallest takes {display(least.memory, 'B')}."
    if refused is not None and refused.step_time is not None:
        time, rules = display(refused.step_time, "s"), ", ".join(refused.errors)
        return f" The first of them, {layout_text(refused.layout)}, takes {time} a step ({rules})."
    return ""


def _objective_text(report: SearchReport) -> str:
    """The quantity that orders the layouts; in reinforcement learning, a step includes all roles."""
    if report.splits and report.objective == "step_time":
        return "time of an update, which is one optimizer step of the trainer"
    return report.objective.replace("_", " ")


def _counts_text(report: SearchReport) -> str:
    """The numbers of layouts evaluated, fitting, possibly fitting, and dropped, each with its rule."""
    fitting = f"{report.fitting:,} fit at the upper end of their memory range"
    looked = f"{report.evaluated:,} layouts evaluated: {fitting}, {report.may_fit or 0:,} more may fit."
    kept = [
        f"{key} is 1: the framework leaves pipelines to the training loop (`--set {key}=2` tries one)."
        for key in report.unsearched
    ]
    return " ".join(each for each in (looked, refusing_rules_text(report, "layout"), *kept) if each)


def _notes_text(report: SearchReport, style: TextStyle) -> str:
    """The meaning of the marks, and the findings about the layouts."""
    tied = any(row.tied for row in report.layouts[1:])
    meaning = f"= marks layouts whose step time differs from the best by at most 1 %. {LESS_MEMORY_FIRST}"
    ties = meaning if tied else _later_ties_text(report)
    unsure = "No layout fits at the upper end of its memory range." if report.unsure else ""
    marks = " ".join(each for each in (unsure, memory_note(report.layouts), ties) if each)
    lines = [marks, *findings_text(report.layouts, "layout").splitlines(), _order_text(report)]
    return "".join(paragraph(each, style) for each in lines)


def _later_ties_text(report: SearchReport) -> str:
    """Why a layout is listed before another that is faster by at most 1 %; empty if there is no such case."""
    times = [row.step_time for row in report.layouts if row.step_time is not None]
    if report.objective != "step_time" or not any(later < time <= later * (1 + TIE) for time, later in pairwise(times)):
        return ""
    return LESS_MEMORY_FIRST


def _order_text(report: SearchReport) -> str:
    """The reason why a layout is listed before a faster one without a tie; empty if there is no such case.

    Among ties, the layout with less memory is first.
    """
    times = {number: row.step_time for number, row in enumerate(report.layouts, 1) if row.step_time is not None}
    if report.objective != "step_time" or 1 not in times:
        return ""
    order = [time for number, time in times.items() if number == 1 or not report.layouts[number - 1].tied]
    if all(first <= later * (1 + TIE) for first, later in pairwise(order)):
        return ""
    told, fastest = "Layouts with more warnings of `check` are last", min(times, key=lambda number: times[number])
    if fastest == 1 or report.layouts[fastest - 1].tied:
        return f"{told}, even if they are faster."
    return f"{told}: layout {fastest} takes {percent(1 - times[fastest] / times[1], 2)} less time than layout 1."


def _front_text(report: SearchReport, style: TextStyle) -> str:
    if len(report.pareto) < 2:
        return ""
    return (
        style.paint("bold", "Pareto front of step time and memory")
        + "\n"
        + layouts_table(report.pareto, style, report.currency)
        + "".join(paragraph(each, style) for each in _faster_front_texts(report))
    )


def _faster_front_texts(report: SearchReport) -> Iterator[str]:
    """Why the fastest layout of the front is not the best: the rules that object to it but not to the best."""
    best, fastest = next(iter(report.layouts), None), report.pareto[0]
    if best is None or report.objective != "step_time" or not best.step_time or fastest.step_time is None:
        return
    rules = [rule for rule in fastest.findings if rule not in best.findings]
    if fastest.step_time * (1 + TIE) < best.step_time and rules:
        less = percent(1 - fastest.step_time / best.step_time, 2)
        yield (
            f"The first layout of the front takes {less} less time than the best one above, and has findings of "
            f"`check` that the best one lacks: {', '.join(rules)}."
        )


def used_nodes_text(layout: Section) -> str:
    """The nodes that a layout states; empty if it uses all.

    >>> used_nodes_text({"nodes": 64}), used_nodes_text({"nodes_per_domain": 16})
    ('64 nodes', '16 nodes of each domain')
    """
    if "nodes_per_domain" in layout:
        return f"{layout['nodes_per_domain']} nodes of each domain"
    return f"{layout['nodes']:,} nodes" if "nodes" in layout else ""


def _fewer_nodes_text(report: SearchReport, row: LayoutRow) -> str:
    """The best layout on part of the nodes: the key that selects the nodes, the step time, and the degrees."""
    key = "nodes_per_domain" if "nodes_per_domain" in row.layout else "nodes"
    degrees = ", ".join(
        f"{name} {row.layout[name]}" for name in ("tp", "cp", "ep", "pp") if row.layout.get(name, 1) != 1
    )
    best = report.layouts[0].step_time if report.layouts and not report.unsure else None
    saved = f", {percent(1 - row.step_time / best)} less than layout 1" if best and row.step_time else ""
    lead = "Fewer nodes are faster" if report.layouts else "Fewer nodes have a layout"
    return (
        f"{lead}: with {used_nodes_text(row.layout)} (`layout.{key}`) the best layout"
        f"{f' ({degrees})' if degrees else ''} takes {display(row.step_time or 0.0, 's')} a step{saved}. "
        f"`--set layout.{key}={row.layout[key]}` searches there."
    )


def _present_text(report: SearchReport) -> str:
    present = report.present
    assert present is not None and present.step_time is not None
    own = display(present.step_time, "s")
    best = report.layouts[0].step_time if report.layouts else None
    if present.fits is False:
        text = f"The layout of the spec would take {own} a step if it fitted"
        return text + (f"; the best one that fits takes {display(best, 's')}." if best is not None else ".")
    text = f"The layout of the spec takes {own} {'an update' if report.splits else 'a step'}"
    if present.surely_fits is False:
        text += " and may not fit in memory"
    lost = report.saved_share
    if lost is None:
        return text + "."
    if lost <= 0:
        return text + f"; the best one found takes {display(best or 0.0, 's')}{_objections_text(report, present)}."
    return text + f"; the best one saves {percent(lost)} of that."


def _objections_text(report: SearchReport, present: LayoutRow) -> str:
    """The rules that object to the spec's layout but not to the best one, as a clause; empty if there are none."""
    own = next(
        (row for row in report.pareto if (row.step_time, row.memory) == (present.step_time, present.memory)), None
    )
    best = next(iter(report.layouts), None)
    rules = [rule for rule in own.findings if rule not in best.findings] if own and best else []
    return f", without {', '.join(rules)}" if rules else ""

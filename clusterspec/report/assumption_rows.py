"""Assumptions of an estimate as text: influential ones with their effects, the complete list, and the constants."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.cluster.model import Assumption
from clusterspec.cost.plan import Plan
from clusterspec.report import PLAIN, TextStyle, text_table, wrapped_lines
from clusterspec.report.estimate_rows import heading_line, value_text
from clusterspec.results import EstimateReport
from clusterspec.results.verdict import LEAST, Influence
from clusterspec.units import percent, plain, plural


def assumption_groups(plan: Plan) -> tuple[tuple[Assumption, ...], tuple[Assumption, ...]]:
    """The assumptions for absent keys of the spec, and the constants of machines and software without a source."""
    assumed_keys = {key for key, _, _ in plan.design.assumptions}
    open_ = tuple(each for each in plan.assumptions if each[0] in assumed_keys)
    return open_, tuple(each for each in plan.assumptions if each[0] not in assumed_keys)


LONGEST = 34


MANIFOLD = 9.0
"""A relative change of at least this size is printed as a factor."""


EXACT = 0.0005
"""A relative change of at most this size is printed as none."""


def influences_text(influences: Sequence[Influence], report: EstimateReport, style: TextStyle, most: int) -> str:
    """The assumptions with the largest effect on step time or memory, in at most ``most`` lines."""
    time, column = ("time per output token", "tpot") if report.plan.serving is not None else ("step time", "step time")
    time, column = ("the time of an update", "update") if report.plan.is_update else (time, column)
    changed = f"the {time.removeprefix('the ')} or the memory by more than {percent(LEAST)}"
    rest = len(report.plan.assumptions)
    if not influences:
        return heading_line(f"No assumption changes {changed}", style)
    shown = influences[: max(1, most - 3)]
    rows = [_influence_row(one) for one in shown]
    heads = ("  assumed", "value", "alternative", column, "memory")
    table = text_table(heads, rows, right=(3, 4), style=style)
    more = len(influences) - len(shown)
    more_text = f"{plural(more, 'more assumption')} with an effect; " if more else ""
    note = f"{more_text}`--assumptions` and `--constants` list {rest:,}"
    title = heading_line(f"Assumptions with most effect: more than {percent(LEAST)} of {time} or memory", style)
    notes = wrapped_lines(note, style.measure, "  ", "  ")
    return f"{title}{table}" + "".join(style.paint("dim", line) + "\n" for line in notes)


def _influence_row(influence: Influence) -> tuple[str, ...]:
    key, value, _ = influence.assumption
    return (
        f"  {short_key(key)}",
        cut_value(value_text(value)),
        cut_value(value_text(influence.against)),
        change_text(influence.step_time),
        change_text(influence.memory),
    )


def short_key(key: str) -> str:
    """A key that fits a column, without its entry if it is long; `--explain` accepts both forms.

    >>> short_key("h100-sxm-80gb sustained.bf16"), short_key("stack/megatron-deepspeed-2022 memory.fragmentation")
    ('h100-sxm-80gb sustained.bf16', 'memory.fragmentation')
    """
    return key if len(key) <= LONGEST else key.rpartition(" ")[2]


def cut_value(text: str, most: int = 14) -> str:
    """A value truncated for a column; `--assumptions` prints it completely.

    >>> cut_value("tp, cp, ep, dp, pp"), cut_value("bf16")
    ('tp, cp, ep, …', 'bf16')
    """
    return text if len(text) <= most else f"{text[: most - 2].rstrip()} …"


def change_text(share: float) -> str:
    """A relative change with its sign; from ten times upward as a factor.

    >>> change_text(0.104), change_text(-0.5), change_text(0.0), change_text(28.9)
    ('+10 %', '−50 %', '', '× 30')
    """
    if abs(share) < EXACT:
        return ""
    if share >= MANIFOLD:
        return f"× {plain(1 + share, 2)}"
    return ("+" if share > 0 else "−") + percent(abs(share), 2)


def assumptions_text(report: EstimateReport, style: TextStyle = PLAIN) -> str:
    """The absent keys of the spec, with the assumed value and the reason."""
    found, _ = assumption_groups(report.plan)
    if not found:
        return "The spec states every key that the estimate uses.\n"
    rows = [(f"  {key}", value_text(value), why) for key, value, why in found]
    return heading_line("Assumptions for keys that the spec does not state", style) + text_table(
        ("  key", "taken", "why"), rows, wrap=(1, 2), style=style
    )


def constants_text(report: EstimateReport, style: TextStyle = PLAIN) -> str:
    """The constants of machines and software without a source, with the reason below each."""
    _, found = assumption_groups(report.plan)
    if not found:
        return "The estimate uses no constant without a source.\n"
    return heading_line("Constants that no data sheet states", style) + "".join(
        f"{line}\n" for line in _assumption_lines(found, style)
    )


def _assumption_lines(assumptions: tuple[Assumption, ...], style: TextStyle) -> list[str]:
    key = max(len(name) for name, _, _ in assumptions)
    lines = []
    for name, value, why in assumptions:
        lines += wrapped_lines(value_text(value), style.measure, f"  {name.ljust(key)}  ", " " * (key + 4))
        lines += [style.paint("dim", line) for line in wrapped_lines(why, style.measure, " " * 6, " " * 6)]
    return lines

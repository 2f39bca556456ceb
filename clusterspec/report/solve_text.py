"""Results of solve and sensitivity as text and CSV."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from clusterspec import report as grid
from clusterspec.report import PLAIN, TextStyle, paragraph
from clusterspec.report.layout_tables import layout_text
from clusterspec.results.levers import SolveReport, seeks_most_nodes
from clusterspec.units import display, display_bits, metric_text, plain, plural

SERVED_KEYS = ("concurrency", "request_rate", "input_tokens")
"""Keys that exist only in serving plans."""
UPWARD = (*SERVED_KEYS, "sequence_length", "oversubscription")
"""Keys for which the highest value is sought that keeps a metric below its limit."""
WITHOUT_STANDARD = (*SERVED_KEYS, "nodes")
"""Keys without standard values, since any number can be bought or served."""
SHOWN_PROBES = 12
NOUNS = {
    "nic_bandwidth": "NIC line rate",
    "oversubscription": "oversubscription",
    "scale_up.bandwidth": "scale-up bandwidth",
    "scale_up.domain": "scale-up domain",
    "storage.bandwidth": "storage bandwidth",
    "storage.read": "read bandwidth of the storage system",
    "storage.per_client": "storage bandwidth of a client",
    "storage.slots": "number of storage slots",
    "storage.metadata_rate": "metadata rate of the storage system",
    "global_batch": "global batch",
    "sequence_length": "sequence length",
    "concurrency": "concurrency",
    "request_rate": "request rate",
    "input_tokens": "input length",
}
"""Names of keys in sentences; nodes are counted."""
COUNTED = {"scale_up.domain": "accelerators", "global_batch": "sequences"}
COUNTED |= {"sequence_length": "tokens", "input_tokens": "tokens", "concurrency": "requests"}
"""The noun that a key counts, for sentences."""
MORE_DIGITS = (4, 5, 6, 7)
"""Numbers of significant digits for printed values. The first is used unless two values would look equal."""


def solve_as_text(report: SolveReport, style: TextStyle = PLAIN) -> str:
    """The boundary in a sentence, and the values tried."""
    answer = paragraph(_answer_text(report), style)
    tried = sorted(report.probes)
    if not tried:
        return answer
    known = [one for one in tried if one[1] is not None]
    shown = known or tried
    shown = shown if len(shown) <= SHOWN_PROBES else _telling_values(shown, report.value)
    roles = tuple(dict.fromkeys(role for nodes in report.roles.values() for role in nodes))
    roles = roles if len(roles) > 1 else ()
    amounts, metrics = _distinct_amounts(report, [value for value, _, _ in shown]), _distinct_metrics(report, shown)
    rows = [
        (
            f"  {amount}",
            *(plain(report.roles.get(value, {}).get(role, 0)) for role in roles),
            metric,
            _verdict_text(holds, report.errors.get(value, ()), report.misfits.get(value, "")),
        )
        for amount, metric, (value, _, holds) in zip(amounts, metrics, shown, strict=True)
    ]
    heads, last = (f"  {report.key}", *roles, report.metric or "", "meets it"), len(roles) + 1
    body = grid.text_table(heads, rows, right=range(1, last + 1), wrap=(last + 1,), style=style)
    title = style.paint("bold", f"{plural(len(tried), 'value')} tried") + "\n"
    return f"{answer}\n{title}{body}{_gap_text(known, tried, style)}"


def _distinct_amounts(report: SolveReport, values: Sequence[float]) -> list[str]:
    """The values of the key as texts, with enough digits to distinguish them."""
    found = [[_amount_text(report, value, digits) for value in values] for digits in MORE_DIGITS]
    return next((texts for texts in found if len(set(texts)) == len(texts)), found[0])


def _distinct_metrics(report: SolveReport, rows: Sequence[tuple[float, float | None, bool]]) -> list[str]:
    """The metrics, with enough digits to show which of them meet the condition."""
    found = [[_metric_text(report, metric, digits) for _, metric, _ in rows] for digits in MORE_DIGITS]
    met = [holds for *_, holds in rows]
    apart = (
        texts for texts in found if not _texts_with_verdict(texts, met, True) & _texts_with_verdict(texts, met, False)
    )
    return next(apart, found[0])


def _texts_with_verdict(texts: Sequence[str], met: Sequence[bool], verdict: bool) -> set[str]:
    return {text for text, holds in zip(texts, met, strict=True) if holds is verdict}


def _gap_text(metrics: Sequence[object], tried: Sequence[object], style: TextStyle) -> str:
    """A line about values without a metric: why they have none, and that they are omitted."""
    if len(metrics) == len(tried):
        return ""
    number = f"{plural(len(tried) - len(metrics), 'value')} left out: " if metrics else "– "
    return paragraph(f"{number}no layout divides there, or the metric cannot be computed", style)


def _verdict_text(holds: bool, errors: Sequence[str], misfit: str) -> str:
    """`yes` or `no` for whether a value meets the condition, with the rules that refuse it or the problem with
    memory.
    """
    reasons = [*errors, *([f"{misfit} in memory"] if misfit else [])]
    return ("yes" if holds else "no") + (f" ({', '.join(reasons)})" if reasons else "")


def _metric_text(report: SolveReport, metric: float | None, digits: int) -> str:
    """A metric with its unit; a condition without a limit either holds or not."""
    if metric is None:
        return "–"
    return metric_text(metric, report.metric_unit, digits) if report.metric_unit else ("yes" if metric else "no")


def _telling_values(
    trials: list[tuple[float, float | None, bool]], boundary: float | None
) -> list[tuple[float, float | None, bool]]:
    """Some of the tried values: both ends, those nearest to the boundary, and others evenly spread."""
    near = sorted(trials, key=lambda probe: abs(probe[0] - boundary)) if boundary is not None else []
    kept = {probe[0] for probe in (trials[0], trials[-1], *near[: SHOWN_PROBES // 2])}
    rest = [probe[0] for probe in trials if probe[0] not in kept]
    spare = SHOWN_PROBES - len(kept)
    kept |= {rest[round(index * (len(rest) - 1) / (spare - 1))] for index in range(spare)}
    return [probe for probe in trials if probe[0] in kept]


def _answer_text(report: SolveReport) -> str:
    if report.value is None:
        return f"{report.condition if report.probes else 'Nothing to solve'}: {report.why}."
    if report.free:
        return _unbounded_sentence(report, report.value)
    found = f" The best layout there: {layout_text(report.layout, report.disaggregated)}." if report.searched else ""
    engines = f" Engines of rollout: tp {report.rollout_tp}." if report.rollout_tp else ""
    now = _present_text(report)
    boundary = (
        f"{_boundary_sentence(report, report.value)}{now}{_standard_value_text(report)}.{_roles_sentence(report)}"
        f"{_growth_sentence(report)}{_load_sentence(report)}"
    )
    reservations = f"{_end_sentence(report, report.value)}{_refusal_sentence(report, report.value)}"
    reservations += _unsure_sentence(report)
    return f"{boundary}{_missing_nodes_sentence(report, report.value)}{found}{engines}{reservations}"


def _missing_nodes_sentence(report: SolveReport, value: float) -> str:
    """A sentence if a job of a fleet takes more nodes than the other jobs leave it; empty if the nodes suffice."""
    missing = round(value) - report.available if report.available is not None else 0
    if missing <= 0:
        return ""
    lacks = "is" if missing == 1 else "are"
    return f" Its pool has {plural(report.available or 0, 'node')} for this job: {missing:,} {lacks} missing."


def _present_text(report: SolveReport) -> str:
    """The value of the spec in parentheses. For nodes it also says whether the job or the whole cluster has them."""
    if report.present is None:
        return ""
    if not report.path:
        return f" (the design has {_counted_value_text(report, report.present)})"
    if report.path[0] == "cluster":
        return f" of the cluster, whatever the job uses (the design has {_counted_value_text(report, report.present)})"
    return f" of the job (the design has {report.present:,.0f} of {plural(report.machine or 0, 'node')} for it)"


LOADS = {"open": "its request rate", "closed": "its concurrency", "offline": "its offline load", "static": "its batch"}
FORMS = {
    "concurrency": "a constant number of requests in flight",
    "request_rate": "a rate at which requests arrive",
}


def _load_sentence(report: SolveReport) -> str:
    """A sentence if the values describe another kind of load than the spec's; else empty."""
    if report.other_load not in LOADS or report.key not in FORMS:
        return ""
    return f" The values are {FORMS[report.key]}, which replaces {LOADS[report.other_load]}."


def _growth_sentence(report: SolveReport) -> str:
    """A sentence on numbers of nodes above those of the machine; empty if the job uses all nodes in any case."""
    machine = report.machine
    if report.path[:1] != ("layout",) or machine is None or not any(value > machine for value, *_ in report.probes):
        return ""
    return (
        f" Up to {plural(machine, 'node')}, the other nodes of the cluster are idle; above that, the cluster grows "
        "with the job."
    )


def _roles_sentence(report: SolveReport) -> str:
    """The nodes of each role at the boundary and in the spec; empty if one role has all."""
    found = report.roles.get(report.value or 0.0, {})
    if len(found) < 2:
        return ""
    return f" Of these, {_roles_text(report, found)}; in the spec {_roles_text(report, report.present_roles)}."


def _roles_text(report: SolveReport, nodes: Mapping[str, int]) -> str:
    """``4 for the trainer on train, 5 for rollout on serve``."""
    on = {role: f" on {pool}" for role, pool in report.role_pools.items()}
    each = [
        f"{count:,} for {'' if role == 'rollout' else 'the '}{role}{on.get(role, '')}" for role, count in nodes.items()
    ]
    return ", ".join(each)


def _refusal_sentence(report: SolveReport, value: float) -> str:
    """A sentence on the rules that refuse the boundary itself; empty if `check` passes it."""
    errors = report.errors.get(value, ())
    return f" `check` finds an error in {_amount_text(report, value)} itself: {', '.join(errors)}." if errors else ""


def _end_sentence(report: SolveReport, boundary: float) -> str:
    """A sentence on the rules that refuse the first value beyond the boundary; empty if the condition ends there."""
    upward = _seeks_largest_value(report)
    beyond = [value for value, _, holds in report.probes if not holds and (value > boundary) is upward]
    nearest = min(beyond, key=lambda value: abs(value - boundary), default=boundary)
    errors = report.errors.get(nearest, ()) if beyond else ()
    if not errors:
        return ""
    return f" At the next value tried, `check` finds an error: {', '.join(errors)}."


def _unsure_sentence(report: SolveReport) -> str:
    """A sentence where the plan may not fit; empty if the upper end of its memory range fits."""
    return " This plan may not fit: the upper end of its memory range does not." if report.unsure else ""


def _condition_phrase(report: SolveReport) -> str:
    """The beginning of a sentence on values that meet the condition."""
    sentences = {"targets": "The spec meets its targets", "fits": "The plan fits in memory"}
    return sentences.get(report.condition, f"{report.condition} holds")


def _seeks_largest_value(report: SolveReport) -> bool:
    """Whether the largest value of the key is sought."""
    if report.key == "nodes":
        return seeks_most_nodes(report.metric, "<=" if "<=" in report.condition else ">=")
    return report.key in UPWARD and ">=" not in report.condition


def _unbounded_sentence(report: SolveReport, value: float) -> str:
    """The sentence where every value tried meets the condition."""
    end = "largest" if _seeks_largest_value(report) else "smallest"
    limit = f"{_condition_phrase(report)} at every value tried; {_counted_value_text(report, value)} is the {end}"
    unmoved = f" {report.why[0].upper()}{report.why[1:]}." if report.why else ""
    reservations = f"{unmoved}{_refusal_sentence(report, value)}{_unsure_sentence(report)}"
    notes = f"{_roles_sentence(report)}{_growth_sentence(report)}{_load_sentence(report)}"
    return f"{limit}{_present_text(report)}.{notes}{reservations}"


def _boundary_sentence(report: SolveReport, value: float) -> str:
    """The lowest or highest value that meets the condition, as a sentence without its stop."""
    if _seeks_largest_value(report):
        return f"{_condition_phrase(report)} up to {_value_with_name(report, '', value)}"
    least = _value_with_name(report, "at least ", value)
    return (
        f"{_condition_phrase(report)} with {least}"
        if report.metric_unit is None
        else f"{report.condition} needs {least}"
    )


def _value_with_name(report: SolveReport, sense: str, value: float) -> str:
    """A value with the name of its key: `at least 64 nodes`, `a NIC line rate of at least 200 Gb/s`."""
    amount = _counted_value_text(report, value)
    noun = NOUNS.get(report.key)
    if noun is None:
        return sense + amount
    article = "an" if noun[0] in "aeiou" else "a"
    return f"{article} {noun} of {sense}{amount}"


def _standard_value_text(report: SolveReport) -> str:
    """The next standard value, if the key has standard values and the boundary is not one."""
    step = report.catalog_step
    if step is None or step == report.value or report.key in WITHOUT_STANDARD:
        return ""
    return f"; the next standard value that meets it: {_amount_text(report, step)}"


def _counted_value_text(report: SolveReport, value: float) -> str:
    """A value with its unit or counted noun."""
    if report.key == "nodes":
        return plural(round(value), "node")
    unit = COUNTED.get(report.key)
    return f"{_amount_text(report, value)} {unit}" if unit else _amount_text(report, value)


def _amount_text(report: SolveReport, value: float, digits: int = MORE_DIGITS[0]) -> str:
    if report.key == "nic_bandwidth":
        return display_bits(value, digits)
    if report.unit == "B/s":
        way = "" if report.key.startswith("storage.") else " each way"  # a store has one rate for each direction
        return f"{display(value, 'B/s', digits)}{way}"
    if report.key == "oversubscription":
        return f"{plain(value, digits)}:1"
    if report.key == "request_rate":
        return rate_text(value, digits)
    return f"{value:,.0f}" if value == round(value) else plain(value, digits)


def rate_text(requests_per_second: float, digits: int = MORE_DIGITS[0]) -> str:
    if requests_per_second >= 10 ** (digits - 1):
        return f"{requests_per_second:,.0f}/s"
    return f"{plain(requests_per_second, digits)}/s"

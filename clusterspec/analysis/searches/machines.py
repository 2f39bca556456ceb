"""The machine to buy: for every candidate the best layout, cost, power and missed limits; and the best candidates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf

from clusterspec.analysis.searches.candidates import (
    Candidate,
    Limits,
    Machine,
    MachineFault,
    Prices,
    bisecting_sizes,
    candidate_machine,
    currency_of_all,
    default_sizes,
    nodes_of_domain_of_platform,
)
from clusterspec.analysis.searches.layouts import best_layout
from clusterspec.analysis.searches.studied import (
    POOLS,
    StudyVariations,
    currency_of,
    errors_of,
    missing_for_search,
    serving_targets_missed,
    with_a_layout,
)
from clusterspec.cluster.degrees import nodes_of_engines
from clusterspec.procurement.amounts import money_text
from clusterspec.procurement.bill import Bill, bill
from clusterspec.procurement.cost import cost as cost_of
from clusterspec.records import replace
from clusterspec.results.machine_search import MachineRow, MachinesReport
from clusterspec.results.search import LayoutRow
from clusterspec.studies import Study, variation
from clusterspec.units import display, distinct_texts

LIMITED = frozenset({"over-budget", "power-over-budget"})
"""Rules about limits that a row reports by itself."""
Progress = Callable[[int, int], None]
Evaluate = Callable[[Sequence[Machine]], Iterator[MachineRow]]
"""The rows of the given machines, in their order."""


def machine_search(
    work: Study,
    candidates: Sequence[Candidate],
    *,
    nodes: Sequence[int] = (),
    fabrics: Sequence[str] = ("",),
    prices: Prices | None = None,
    limits: Limits | None = None,
    evaluate: Evaluate | None = None,
) -> MachinesReport:
    """The machines of all candidates, sizes and fabrics, with their best layouts for the workload of a study.

    Without ``nodes`` the sizes follow from the limits, refined between the largest size that misses the time limit and
    the smallest that meets it. Raises `MachineFault` where there is no workload, or no limit to take a size from.
    """
    listed, allowed = prices or Prices(), limits or Limits()
    currency = currency_of_all(work, candidates, listed)
    if work.spec.workload is None:
        raise MachineFault(f"{work.source.name}: {missing_for_search(work)}")
    rows_of: Evaluate = evaluate or (lambda chosen: (machine_row(work, allowed, each) for each in chosen))
    chosen = [
        candidate_machine(work, candidate, size, fabric, listed)
        for candidate in candidates
        for fabric in fabrics
        for size in (nodes or default_sizes(work, candidate, fabric, listed, allowed))
    ]
    rows = dict(zip(chosen_keys(chosen), rows_of(chosen), strict=True))
    if not nodes and allowed.within is not None:
        more = [
            candidate_machine(work, candidate, size, fabric, listed)
            for candidate in candidates
            for fabric in fabrics
            for size in _sizes_between_rows(work, candidate, fabric, listed, rows)
        ]
        rows |= zip(chosen_keys(more), rows_of(more), strict=True)
    return _machines_report(work, tuple(rows.values()), allowed, currency)


def chosen_keys(machines: Sequence[Machine]) -> list[tuple[str, str, int]]:
    """Candidate, fabric and size of some machines."""
    return [(each.candidate.name, each.fabric, each.nodes) for each in machines]


def _sizes_between_rows(
    work: Study, candidate: Candidate, fabric: str, prices: Prices, rows: dict[tuple[str, str, int], MachineRow]
) -> Iterator[int]:
    """Sizes to try between the largest size that is too slow and the smallest that is fast enough."""
    own = [row for (name, used, _), row in rows.items() if (name, used) == (candidate.name, fabric)]
    timed = [(row.nodes, not any(text.startswith(LATE) for text in row.missed)) for row in own if row.elapsed]
    design = variation.rewritten_study(work, candidate_machine(work, candidate, 1, fabric, prices).changes).design
    unit = nodes_of_domain_of_platform(design, design.cluster.platform if design.cluster else None)
    return bisecting_sizes(timed, unit)


# One machine


def machine_row(work: Study, limits: Limits, machine: Machine) -> MachineRow:
    """The best layout of one machine, with its figures. Raises the exception of a part that failed."""
    study = variation.rewritten_study(work, machine.changes)
    cluster = study.design.cluster
    row = MachineRow(
        machine.candidate.name,
        machine.nodes,
        machine.fabric or (cluster.scale_out.technology.id if cluster and cluster.scale_out else ""),
        _cluster_section(machine),
        accelerators=cluster.accelerators if cluster else None,
    )
    alone = errors_of(StudyVariations(study).with_layout(None)) - LIMITED
    if alone or cluster is None:
        return replace(_with_money(row, study, limits), errors=tuple(sorted(alone)), why=_first_error(study, alone))
    report, found = best_layout(study, "accelerators" if _is_serving(study) else "step_time")
    if study.failures:
        raise study.failures[0][1]
    if found is None:
        return replace(_with_money(row, study, limits), why=report.why)
    return _placed_row(row, study, found, limits)


def _cluster_section(machine: Machine) -> dict[str, object]:
    section = machine.changes[("cluster",)]
    assert isinstance(section, dict)
    return section


def _is_serving(study: Study) -> bool:
    return study.spec.workload is not None and study.spec.workload.implied_kind == "serve"


def _first_error(study: Study, rules: frozenset[str]) -> str:
    """The first of the given errors; else the missing key of the spec."""
    found = [error for error in study.errors if error.rule in rules]
    return f"{found[0].rule}: {found[0].message}" if found else ", ".join(sorted(rules)) or missing_for_search(study)


def _placed_row(row: MachineRow, study: Study, best: LayoutRow, limits: Limits) -> MachineRow:
    """The row with its best layout; a machine for serving is as large as its plan."""
    changes: dict[tuple[str | int, ...], object] = {("layout",): best.layout}
    if best.serving is not None:
        changes[POOLS] = best.serving["disaggregated"]
    placed = variation.rewritten_study(with_a_layout(study), changes)
    used, section = _nodes_used(placed, row.nodes), row.cluster
    if used < row.nodes:
        placed, section = (
            variation.rewritten_study(placed, {("cluster", "nodes"): used}),
            {**row.cluster, "nodes": used},
        )
    plan = placed.plan
    shown = MachineRow(
        row.spec,
        used,
        row.fabric,
        section,
        accelerators=placed.design.cluster.accelerators if placed.design.cluster else None,
        layout=best.layout,
        disaggregated=best.serving["disaggregated"] if best.serving else None,
        step_time=plan.whole_step.seconds,
        mfu=plan.whole_step.mfu,
        elapsed=plan.time_to_train,
        serving=best.serving,
        memory=plan.memory_bytes,
        surely_fits=plan.surely_fits,
        errors=tuple(sorted(errors_of(placed) - LIMITED)),
    )
    return _with_money(shown, placed, limits)


def _nodes_used(study: Study, nodes: int) -> int:
    """The nodes of a serving plan, in whole domains; all nodes in training."""
    design, used = study.design, nodes_of_engines(study.design)
    if study.plan.serving is None or used is None or design.cluster is None:
        return nodes
    unit = nodes_of_domain_of_platform(design, design.cluster.platform)
    return min(nodes, -(-used // unit) * unit)


def _with_money(row: MachineRow, study: Study, limits: Limits) -> MachineRow:
    """The row with cost, power, and the limits that it misses."""
    design = study.design
    if design.cluster is None:
        return row
    counted = bill(design)
    found = cost_of(design, study.plan if study.has_figures else None, counted)
    priced_nodes = _nodes_are_priced(study, counted)
    unit = (found.per_run or found.per_million_tokens) if found and priced_nodes else None
    priced = replace(
        row,
        cost=found.total.value if found and found.total and priced_nodes else None,
        per_run=unit.value if unit else None,
        run=found.run.value if found and found.run and row.elapsed is not None else None,
        power=found.watts.value if found and found.watts.parts else None,
        unpriced=found.missing if found else (),
    )
    return replace(priced, missed=tuple(_missed_limits(priced, study, limits)))


def _nodes_are_priced(study: Study, bill: Bill) -> bool:
    """Whether nodes have a price. Without one, the cost would cover only the other parts."""
    prices = (study.spec.procurement.prices if study.spec.procurement else None) or {}
    return "node_hour" in prices or all(item.price is not None for item in bill.items if item.kind == "node")


LATE = "run "


def _missed_limits(row: MachineRow, study: Study, limits: Limits) -> Iterator[str]:
    """The limits that a machine misses or may miss, because the figure is unknown."""
    if limits.within is not None and row.serving is None and (row.elapsed is None or row.elapsed > limits.within):
        took = display(row.elapsed, "s") if row.elapsed is not None else "of unknown time"
        yield f"{LATE}{took} > {display(limits.within, 's')}"
    if row.serving is not None:
        yield from serving_targets_missed(study)
    if limits.budget is not None and (row.cost is None or row.cost > limits.budget):
        currency = currency_of(study)
        over = f"{money_text(round(row.cost or 0.0))} > {money_text(round(limits.budget), currency)}"
        yield f"cost {over}" if row.cost is not None else "cost not known: no price for `node`"
    if limits.power is not None and (row.power is None or row.power > limits.power):
        yield (
            f"power {' > '.join(distinct_texts(row.power, limits.power, 'W'))}"
            if row.power is not None
            else "power not known"
        )


# All machines


def _machines_report(work: Study, rows: Sequence[MachineRow], limits: Limits, currency: str) -> MachinesReport:
    ordered = tuple(sorted(rows, key=_ranking_key))
    meeting = [row for row in ordered if row.meets]
    best = {
        "cheapest": _lowest_row(meeting, lambda row: (row.cost, row.time)),
        "fastest": _lowest_row(meeting, lambda row: (row.time, row.cost)),
        "leanest": _lowest_row(meeting, lambda row: (row.power, row.time)),
    }
    procurement = work.spec.procurement
    return MachinesReport(
        tool=work.settings.tool,
        input=work.input,
        name=work.spec.name or work.source.name,
        limits=tuple(_limit_texts(work, limits, currency)),
        machines=ordered,
        best={name: row for name, row in best.items() if row is not None},
        pareto=pareto_rows(meeting or [row for row in ordered if row.layout is not None]),
        currency=currency,
        whole_term=procurement is not None and procurement.term is not None,
        nearest={} if meeting else nearest_rows(ordered),
    )


def _limit_texts(work: Study, limits: Limits, currency: str) -> Iterator[str]:
    if limits.within is not None:
        yield f"run within {display(limits.within, 's')}"
    if limits.budget is not None:
        yield f"at most {money_text(round(limits.budget), currency)}"
    if limits.power is not None:
        yield f"at most {display(limits.power, 'W')}"
    load = work.design.workload.serving if work.design.workload else None
    for target in load.targets if load else ():
        yield f"{target.quantity.replace('_', ' ').upper()} of {display(target.seconds, 's')}"


def _ranking_key(row: MachineRow) -> tuple[float, ...]:
    """Machines that miss nothing first, then those with a layout; by the limits missed, cost and time."""
    return (
        float(not row.meets),
        float(row.layout is None),
        len(row.missed),
        _value_or_infinity(row.cost),
        _value_or_infinity(row.time),
    )


def _value_or_infinity(value: float | None) -> float:
    return inf if value is None else value


def _lowest_row(
    rows: Sequence[MachineRow], key: Callable[[MachineRow], tuple[float | None, float | None]]
) -> MachineRow | None:
    """The row with the lowest first figure, and among equal ones the lowest second figure; None if no row has a first
    figure.
    """
    having = [row for row in rows if key(row)[0] is not None]
    return min(having, key=lambda row: (_value_or_infinity(key(row)[0]), _value_or_infinity(key(row)[1])), default=None)


def nearest_rows(rows: Sequence[MachineRow]) -> dict[str, MachineRow]:
    """For each limit, the row that misses only this limit and by the least. It shows the best machine that the other
    limits allow.
    """
    missing: dict[str, list[MachineRow]] = {}
    for row in rows:
        if row.layout is not None and len(row.missed) == 1 and "not known" not in row.missed[0]:
            missing.setdefault(row.missed[0].split()[0], []).append(row)
    return {
        limit: min(near, key=lambda row: _value_or_infinity(_limited_figure(row, limit)))
        for limit, near in missing.items()
    }


def _limited_figure(row: MachineRow, limit: str) -> float | None:
    """The figure of a row to which a limit applies."""
    return {"cost": row.cost, "power": row.power}.get(limit, row.time)


def pareto_rows(rows: Sequence[MachineRow]) -> tuple[MachineRow, ...]:
    """The Pareto front of the rows in cost, time and power; an unknown figure counts as infinite."""
    figures = [
        (_value_or_infinity(row.cost), _value_or_infinity(row.time), _value_or_infinity(row.power)) for row in rows
    ]
    return tuple(
        row
        for row, own in zip(rows, figures, strict=True)
        if not any(other != own and all(a <= b for a, b in zip(other, own, strict=True)) for other in figures)
    )

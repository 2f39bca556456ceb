"""Results of a command on a fleet as text: a table of jobs, and a table of pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from clusterspec.procurement.amounts import money_text
from clusterspec.procurement.growth import Phase
from clusterspec.report import (
    PLAIN,
    TextStyle,
    cost_text,
    csv_text,
    errors_text,
    fleet_costs,
    paragraph,
    text_table,
    title_text,
    wrapped_lines,
)
from clusterspec.results.fleet import FleetReport, LinkUse, PoolUse
from clusterspec.units import display, percent, plain, plural

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.times import RlPart

JOB_HEADS = ("job", "pool", "nodes", "share", "time", "MFU", "memory", "run")
POOL_HEADS = ("pool", "nodes", "used", "idle", "in use", "power", "cost")
CHOICE = "`--job NAME` shows one job, `--pool NAME` one pool."
JOB_FIELDS = (
    "job",
    "pool",
    "nodes",
    "share",
    "step_time",
    "mfu",
    "ttft",
    "tpot",
    "queue_grows",
    "memory",
    "elapsed",
    "billed",
)


def fleet_text(report: FleetReport, style: TextStyle = PLAIN) -> str:
    """The title, the jobs with time, MFU or latency, memory and cost, and the pools with use, power and money."""
    jobs = text_table(JOB_HEADS, job_rows(report), right=range(2, len(JOB_HEADS)), wrap=(0, 1), style=style)
    if fleet_costs.has_costs(report):
        jobs += "\n" + text_table(
            fleet_costs.MONEY_HEADS, fleet_costs.money_rows(report), right=(1, 2), wrap=(0,), style=style
        )
    pools = text_table(POOL_HEADS, pool_rows(report), right=range(1, len(POOL_HEADS)), wrap=(0,), style=style)
    title = f"{title_text(report.name)}: {plural(len(report.jobs), 'job')} on {plural(len(report.pools), 'pool')}"
    roles = "".join("\n".join(wrapped_lines(line, style.measure)) + "\n\n" for line in role_lines(report))
    shared = (
        wait_text(report),
        *link_texts(report),
        budget_text(report),
        power_gap_text(report),
        fleet_costs.omitted_items(report),
    )
    notes = [f"{column_legend(report)} {CHOICE}", *filter(None, shared)]
    told = "\n".join(line for each in notes for line in wrapped_lines(each, style.measure))
    grown = free_text(report, style) + growth_text(report, style)
    shown = f"{style.paint('bold', title)}\n\n{jobs}\n{roles}{pools}\n{told}\n{grown}"
    return shown + errors_text(report.findings, report.input.name, style)


def role_lines(report: FleetReport) -> list[str]:
    """For each job of reinforcement learning, its roles with their seconds and idle shares."""
    times = {name: found.plan.rl for name, found in report.estimates.items()}
    return [f"{name}: {_role_texts(found.parts)}." for name, found in times.items() if found is not None]


def _role_texts(parts: Sequence[RlPart]) -> str:
    """The seconds and the idle share of each role."""
    return ", ".join(
        f"{part.role.replace('_', ' ')} {display(part.seconds, 's')}"
        + (f" (idle {percent(part.idle_share, 2)})" if part.idle_share > 0 else "")
        for part in parts
    )


def wait_text(report: FleetReport) -> str:
    """The jobs that wait for a shared storage system; empty if none does."""
    waits = [f"{name} {plain(use.store_wait, 3)} times" for name, use in report.jobs.items() if use.store_wait > 1]
    if not waits:
        return ""
    why = "the checkpoints of all jobs on a storage system / its bandwidth"
    return f"Runs are longer, because jobs wait for their common storage system ({why}): {', '.join(waits)}."


def link_texts(report: FleetReport) -> tuple[str, ...]:
    """The traffic of jobs over each link between pools, and the jobs that share a link; empty without links."""
    return (*(_sent_text(link) for link in report.links), _shared_link_text(report))


def _sent_text(link: LinkUse) -> str:
    """The rate of a link, and the traffic of each job over it."""
    late = f", after {display(link.latency, 's')}" if link.latency else ""
    sent = [
        f"{name} {display(mean, 'B/s')}"
        + (f" ({display(link.burst[name], 'B/s')} while it sends)" * (link.burst[name] > mean))
        for name, mean in link.mean.items()
    ]
    return (
        f"Between {' and '.join(link.between)} caches and weights pass at {display(link.rate, 'B/s')} at most, each way"
        f"{late}. Sent on average: {', '.join(sent)}."
    )


def _shared_link_text(report: FleetReport) -> str:
    """The jobs that share a link between pools; empty without one."""
    shares = [f"{name} {percent(use.link_share, 2)}" for name, use in report.jobs.items() if use.link_share < 1]
    if not shares:
        return ""
    return f"Jobs share a link between pools, and their times count what others leave of its rate: {', '.join(shares)}."


def free_text(report: FleetReport, style: TextStyle = PLAIN) -> str:
    """For each pool with free nodes: the largest jobs that still fit; empty without free nodes."""
    lines = []
    for name, use in report.pools.items():
        groups = [
            f"a job of {plural(each.largest, 'node')} fits in one {each.name} of {each.size}; "
            f"{each.whole:,} wholly free"
            for each in use.free
        ]
        if use.idle:
            fits = "; ".join(groups)
            lines.append(
                f"Free on {name}, jobs side by side: {plural(use.idle, 'node')}" + (f"; {fits}." if fits else ".")
            )
    return "".join(paragraph(line, style) for line in lines)


GROWTH_HEADS = ("from", "nodes", "leaves", "spines", "cores", "cables", "ports to keep", "racks", "power")
GROWTH_NOTE = (
    "ports to keep: free ports of spines and cores for later leaves and spines, so that no cable moves; in brackets "
    "the racks and the power that the last phase adds."
)


def growth_text(report: FleetReport, style: TextStyle = PLAIN) -> str:
    """The phases of each pool that grows; empty without one."""
    growing = {name: use for name, use in report.pools.items() if use.phases}
    parts = []
    for name, use in growing.items():
        table = text_table(GROWTH_HEADS, growth_rows(use), right=range(1, len(GROWTH_HEADS)), style=style)
        parts.append(f"\n{style.paint('bold', f'Growth of {name}')}\n{table}")
    note = "\n".join(wrapped_lines(" ".join((GROWTH_NOTE, *changed_figure_texts(report))), style.measure))
    return "".join(parts) + (note + "\n" if parts else "")


def growth_rows(use: PoolUse) -> list[tuple[str, ...]]:
    """The cells of `GROWTH_HEADS` for each phase of a pool."""
    return [_growth_row(phase) for phase in use.phases]


def _growth_row(phase: Phase) -> tuple[str, ...]:
    numbers = (phase.nodes, phase.leaf_switches, phase.spine_switches, phase.core_switches)
    racks = f"{phase.racks:,}" if phase.racks is not None else fleet_costs.UNKNOWN
    racks += f" (+{phase.reserved_racks:,})" if phase.reserved_racks else ""
    power = _figure_cell(phase.power, "W") + (
        f" (+{display(phase.reserved_power, 'W')})" if phase.reserved_power else ""
    )
    ports = (f"{phase.cables:,}", f"{phase.reserved_ports:,}")
    return (phase.date, *(f"{number:,}" for number in numbers), *ports, racks, power)


def changed_figure_texts(report: FleetReport) -> list[str]:
    """For each pool, the later cost of building its first phase for its own size only."""
    return [
        f"If the first phase of {name} were built for its own size, {phase.moved_cables:,} cables would move later."
        for name, use in report.pools.items()
        for phase in use.phases[:1]
        if phase.moved_cables
    ]


def column_legend(report: FleetReport) -> str:
    """The meaning of the columns."""
    text = (
        "time: of a step (of reinforcement learning: of all roles), or to the first / of each next token. memory: of "
        "the fullest accelerator. run: with pauses"
    )
    over = " over the term" if fleet_costs.has_term(report) else ""
    money = f" billed: the job's part of the cost of its pool{over}." if fleet_costs.has_costs(report) else ""
    return f"{text} in which other jobs have the nodes.{money}"


def budget_text(report: FleetReport) -> str:
    """The power of all pools against their budget; empty without one, or where the power of a pool is not known."""
    operations = report.spec.operations if report.spec else None
    drawn = fleet_costs.pool_total(report, "power")
    if operations is None or operations.power_budget is None or drawn is None:
        return ""
    budget = operations.power_budget.value
    share = f"{percent(drawn / budget, 2)} of the budget of {display(budget, 'W')}"
    return f"All pools draw {display(drawn, 'W')} of IT power at full load, {share}."


def power_gap_text(report: FleetReport) -> str:
    """The pools without a known power, and the key that states it; empty if each has one."""
    names = [name for name, use in report.pools.items() if use.power is None and use.nodes]
    if not names:
        return ""
    of = f"pool {names[0]}" if len(names) == 1 else f"pools {', '.join(names)}"
    return f"The power of {of} is not known, since no document states the power of a node: state `power.node`."


def fleet_cost_text(report: FleetReport, style: TextStyle = PLAIN) -> str:
    """The fleet as `fleet_text` has it, with the cost of each pool by its parts."""
    heads, rows = fleet_costs.cost_parts(report)
    table = text_table(heads, rows, right=range(1, len(heads)), wrap=(0,), style=style) if rows else ""
    title = style.paint("bold", f"{fleet_costs.cost_title(report)}, by pool")
    costs = (
        f"{title}\n{table}{fleet_costs.support_note(report, style)}"
        if rows
        else fleet_costs.no_cost_text(report, style)
    )
    return f"{fleet_text(report, style)}\n{costs}"


def job_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `JOB_HEADS` for each job."""
    return [_job_row(report, name) for name in report.jobs]


def pool_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `POOL_HEADS` for each pool, and the sums."""
    return [*(pool_row(name, use) for name, use in report.pools.items()), _sum_row(report)]


def _job_row(report: FleetReport, name: str) -> tuple[str, ...]:
    use = report.jobs[name]
    share = percent(use.share)
    pools = ", ".join((use.pool or fleet_costs.UNKNOWN, *use.beside))
    nodes = " + ".join(_count_text(each) for each in (use.nodes, *use.beside.values()))
    where = (name, pools, nodes, share)
    return (*where, *_predicted_cells(report, name))


def _predicted_cells(report: FleetReport, name: str) -> tuple[str, str, str, str]:
    """Step time or latencies, MFU, memory and the time of the run."""
    found = report.estimates.get(name)
    if found is None:
        return (fleet_costs.UNKNOWN,) * 4
    plan, run = found.plan, report.jobs[name].elapsed
    seconds, mfu, held = plan.whole_step.seconds, plan.whole_step.mfu, plan.memory_bytes
    times = _figure_cell(seconds, "s") if seconds is not None else fleet_costs.UNKNOWN
    if plan.serving is not None:
        first = inf if plan.serving.queue_grows else plan.serving.ttft
        times = f"{display(first, 's')} / {display(plan.serving.tpot, 's')}"
    if plan.rl is not None:
        held = max(held or 0.0, plan.rl.memory.fullest_bytes) if plan.rl.memory else held
    fits = "" if plan.memory is None or plan.memory.fits is not False else " (too much)"
    return (times, percent(mfu) if mfu else fleet_costs.UNKNOWN, _figure_cell(held, "B") + fits, _figure_cell(run, "s"))


def pool_row(name: str, use: PoolUse) -> tuple[str, ...]:
    in_use = percent(use.used_share) if use.used_share is not None else fleet_costs.UNKNOWN
    money = money_text(round(use.cost), use.currency) if use.cost is not None else fleet_costs.UNKNOWN
    return (
        name,
        _count_text(use.nodes),
        str(use.used),
        _count_text(use.idle),
        in_use,
        _figure_cell(use.power, "W"),
        money,
    )


def _sum_row(report: FleetReport) -> tuple[str, ...]:
    """The sums over all pools of figures that every pool has."""
    nodes, idle = (fleet_costs.pool_total(report, key) for key in ("nodes", "idle"))
    used = sum(use.used for use in report.pools.values())
    money = fleet_costs.total_cost(report)
    paid = money_text(round(money.low), money.currency) if money else fleet_costs.UNKNOWN
    return (
        "all",
        _count_text(nodes),
        str(used),
        _count_text(idle),
        "",
        _figure_cell(fleet_costs.pool_total(report, "power"), "W"),
        paid,
    )


def _count_text(number: float | None) -> str:
    return plain(number) if number is not None else fleet_costs.UNKNOWN


def _figure_cell(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else fleet_costs.UNKNOWN


def fleet_bill_text(report: FleetReport, style: TextStyle = PLAIN) -> str:
    """The bill of each pool."""
    parts = [
        f"{style.paint('bold', name)}\n{cost_text.bill_text(bill, style)}" for name, bill in report.pool_bills.items()
    ]
    return "\n".join(parts) + growth_text(report, style) + errors_text(report.findings, report.input.name, style)


def fleet_csv(report: FleetReport) -> str:
    """One row for each job."""
    return csv_text(JOB_FIELDS, _job_values(report))


def _job_values(report: FleetReport) -> Iterator[Sequence[object]]:
    for name, use in report.jobs.items():
        found = report.estimates.get(name)
        plan = found.plan if found else None
        times = (plan.whole_step.seconds or "", plan.whole_step.mfu or "") if plan else ("", "")
        served = plan.serving if plan else None
        latency = (served.ttft, served.tpot, served.queue_grows) if served else ("",) * 3
        memory = plan.memory_bytes if plan and plan.memory_bytes else ""
        billed = use.billed if use.billed is not None else ""
        yield (name, use.pool, use.nodes, use.share, *times, *latency, memory, use.elapsed or "", billed)

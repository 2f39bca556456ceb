"""Results of a command on a fleet as text: a table of jobs, and a table of pools."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

from clusterspec.money import Money
from clusterspec.procurement.amounts import money_text
from clusterspec.procurement.cost import OF_MACHINE
from clusterspec.procurement.growth import Phase
from clusterspec.procurement.items import kind_words
from clusterspec.report import (
    PLAIN,
    Ink,
    cost_text,
    csv_text,
    errors_text,
    paragraph,
    plain_line,
    shell_word,
    text_table,
    title_text,
    wrapped_lines,
)
from clusterspec.results.fleet import FleetReport, JobUse, LinkUse, PoolUse
from clusterspec.standard import sum_of
from clusterspec.units import display, percent, plain, plural
from clusterspec.units.display import joined_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.cost.reinforcement.times import RlPart

UNKNOWN = "–"
JOB_HEADS = ("job", "pool", "nodes", "share", "time", "MFU", "memory", "run")
MONEY_HEADS = ("job", "billed", "unit cost")
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


def fleet_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The title, the jobs with time, MFU or latency, memory and cost, and the pools with use, power and money."""
    jobs = text_table(JOB_HEADS, job_rows(report), right=range(2, len(JOB_HEADS)), wrap=(0, 1), ink=ink)
    if has_costs(report):
        jobs += "\n" + text_table(MONEY_HEADS, money_rows(report), right=(1, 2), wrap=(0,), ink=ink)
    pools = text_table(POOL_HEADS, pool_rows(report), right=range(1, len(POOL_HEADS)), wrap=(0,), ink=ink)
    title = f"{title_text(report.name)}: {plural(len(report.jobs), 'job')} on {plural(len(report.pools), 'pool')}"
    roles = "".join("\n".join(wrapped_lines(line, ink.measure)) + "\n\n" for line in role_lines(report))
    shared = (
        wait_text(report),
        *link_texts(report),
        budget_text(report),
        power_gap_text(report),
        omitted_items(report),
    )
    notes = [f"{column_legend(report)} {CHOICE}", *filter(None, shared)]
    told = "\n".join(line for each in notes for line in wrapped_lines(each, ink.measure))
    grown = free_text(report, ink) + growth_text(report, ink)
    shown = f"{ink.paint('bold', title)}\n\n{jobs}\n{roles}{pools}\n{told}\n{grown}"
    return shown + errors_text(report.findings, report.input.name, ink)


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


def free_text(report: FleetReport, ink: Ink = PLAIN) -> str:
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
    return "".join(paragraph(line, ink) for line in lines)


GROWTH_HEADS = ("from", "nodes", "leaves", "spines", "cores", "cables", "ports to keep", "racks", "power")
GROWTH_NOTE = (
    "ports to keep: free ports of spines and cores for later leaves and spines, so that no cable moves; in brackets "
    "the racks and the power that the last phase adds."
)


def growth_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The phases of each pool that grows; empty without one."""
    growing = {name: use for name, use in report.pools.items() if use.phases}
    parts = []
    for name, use in growing.items():
        table = text_table(GROWTH_HEADS, growth_rows(use), right=range(1, len(GROWTH_HEADS)), ink=ink)
        parts.append(f"\n{ink.paint('bold', f'Growth of {name}')}\n{table}")
    note = "\n".join(wrapped_lines(" ".join((GROWTH_NOTE, *changed_figure_texts(report))), ink.measure))
    return "".join(parts) + (note + "\n" if parts else "")


def growth_rows(use: PoolUse) -> list[tuple[str, ...]]:
    """The cells of `GROWTH_HEADS` for each phase of a pool."""
    return [_growth_row(phase) for phase in use.phases]


def _growth_row(phase: Phase) -> tuple[str, ...]:
    numbers = (phase.nodes, phase.leaf_switches, phase.spine_switches, phase.core_switches)
    racks = f"{phase.racks:,}" if phase.racks is not None else UNKNOWN
    racks += f" (+{phase.reserved_racks:,})" if phase.reserved_racks else ""
    power = _cell(phase.power, "W") + (f" (+{display(phase.reserved_power, 'W')})" if phase.reserved_power else "")
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
    over = " over the term" if has_term(report) else ""
    money = f" billed: the job's part of the cost of its pool{over}." if has_costs(report) else ""
    return f"{text} in which other jobs have the nodes.{money}"


def budget_text(report: FleetReport) -> str:
    """The power of all pools against their budget; empty without one, or where the power of a pool is not known."""
    operations = report.spec.operations if report.spec else None
    drawn = pool_total(report, "power")
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


def cost_parts(report: FleetReport) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The heads and rows of a table of the cost of each pool by its parts; no rows where no cost is known."""
    names = list(dict.fromkeys(part for use in report.pools.values() for part in use.parts))
    rows = [
        (name, *(_money_cell(use.parts.get(part), use) for part in names), _money_cell(use.cost, use))
        for name, use in report.pools.items()
        if use.cost is not None
    ]
    return ("pool", *names, "total"), rows


def _money_cell(amount: float | None, use: PoolUse) -> str:
    return money_text(round(amount), use.currency) if amount is not None else UNKNOWN


def fleet_cost_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The fleet as `fleet_text` has it, with the cost of each pool by its parts."""
    heads, rows = cost_parts(report)
    table = text_table(heads, rows, right=range(1, len(heads)), wrap=(0,), ink=ink) if rows else ""
    title = ink.paint("bold", f"{cost_title(report)}, by pool")
    costs = f"{title}\n{table}{_support_text(report, ink)}" if rows else _no_cost_text(report, ink)
    return f"{fleet_text(report, ink)}\n{costs}"


def _support_text(report: FleetReport, ink: Ink) -> str:
    """A note that a support price stated for all pools counts once per pool; empty if it does not."""
    pools = [use for use in report.pools.values() if "support" in use.parts]
    shared = report.spec and report.spec.procurement and (report.spec.procurement.prices or {}).get("support_per_year")
    if len(pools) < 2 or not shared:
        return ""
    text = f"`support_per_year` counts once for each of {len(pools)} pools; a pool may state its own under `prices`."
    return paragraph(text, ink)


def _no_cost_text(report: FleetReport, ink: Ink) -> str:
    """Why no pool has a cost, and what to state."""
    if report.spec and report.spec.procurement and report.spec.procurement.prices:
        advice = (
            "none of the stated prices is for a part of these pools; `clusterspec cost --pool NAME` names the parts"
        )
    else:
        advice = "add `procurement.prices`, `as_of` and `currency`"
    lines = wrapped_lines(f"Not known: {advice}.", ink.measure)
    return "\n".join([ink.paint("bold", cost_title(report)), *lines, ""])


def omitted_items(report: FleetReport) -> str:
    """Items that the costs of the pools omit; empty if they are complete or unknown."""
    pools = [name for name, use in report.pools.items() if use.cost is not None and use.missing]
    if not pools:
        return ""
    unpriced = dict.fromkeys(
        each.split("`")[1] for name in pools for each in report.pools[name].missing if "no price for `" in each
    )
    parts = f"parts without a price ({', '.join(map(kind_words, unpriced))})" if unpriced else "parts"
    of = f"cost of {pools[0]} leaves" if len(pools) == 1 else f"costs of {joined_words(pools)} leave"
    file = plain_line(shell_word(report.input.name))
    return f"The {of} out {parts}: `clusterspec cost {file} --pool {pools[0]}` names them."


def has_term(report: FleetReport) -> bool:
    """Whether the costs cover a term, not only the purchase."""
    return bool(report.spec and report.spec.procurement and report.spec.procurement.term)


def cost_title(report: FleetReport) -> str:
    """The title of the pools' costs."""
    if not has_term(report):
        return "Cost of the purchase"
    paid = {part for use in report.pools.values() for part in use.parts}
    return "Cost of operation over the term" if paid and paid.isdisjoint(OF_MACHINE) else "Cost over the term"


def has_costs(report: FleetReport) -> bool:
    """Whether the cost of some pool is known."""
    return any(use.cost is not None for use in report.pools.values())


def money_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `MONEY_HEADS` for each job."""
    return [(name, *_money_cells(report, name, use)) for name, use in report.jobs.items()]


def job_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `JOB_HEADS` for each job."""
    return [_job_row(report, name) for name in report.jobs]


def pool_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `POOL_HEADS` for each pool, and the sums."""
    return [*(pool_row(name, use) for name, use in report.pools.items()), _sum_row(report)]


def _job_row(report: FleetReport, name: str) -> tuple[str, ...]:
    use = report.jobs[name]
    share = percent(use.share)
    pools = ", ".join((use.pool or UNKNOWN, *use.beside))
    nodes = " + ".join(_count_text(each) for each in (use.nodes, *use.beside.values()))
    where = (name, pools, nodes, share)
    return (*where, *_predicted_cells(report, name))


def _predicted_cells(report: FleetReport, name: str) -> tuple[str, str, str, str]:
    """Step time or latencies, MFU, memory and the time of the run."""
    found = report.estimates.get(name)
    if found is None:
        return (UNKNOWN,) * 4
    plan, run = found.plan, report.jobs[name].elapsed
    seconds, mfu, held = plan.whole_step.seconds, plan.whole_step.mfu, plan.memory_bytes
    times = _cell(seconds, "s") if seconds is not None else UNKNOWN
    if plan.serving is not None:
        first = inf if plan.serving.queue_grows else plan.serving.ttft
        times = f"{display(first, 's')} / {display(plan.serving.tpot, 's')}"
    if plan.rl is not None:
        held = max(held or 0.0, plan.rl.memory.fullest_bytes) if plan.rl.memory else held
    fits = "" if plan.memory is None or plan.memory.fits is not False else " (too much)"
    return (times, percent(mfu) if mfu else UNKNOWN, _cell(held, "B") + fits, _cell(run, "s"))


def _money_cells(report: FleetReport, name: str, use: JobUse) -> tuple[str, str]:
    cost, unit = report.costs.get(name), use.unit_cost
    currency = cost.currency if cost else ""
    of_what = "a run" if use.elapsed is not None else "a million tokens"
    return (
        money_text(round(use.billed), currency) if use.billed is not None else UNKNOWN,
        f"{money_text(round(unit, 2 if unit < 1000 else None), currency)} {of_what}" if unit is not None else UNKNOWN,
    )


def pool_row(name: str, use: PoolUse) -> tuple[str, ...]:
    in_use = percent(use.used_share) if use.used_share is not None else UNKNOWN
    money = money_text(round(use.cost), use.currency) if use.cost is not None else UNKNOWN
    return (name, _count_text(use.nodes), str(use.used), _count_text(use.idle), in_use, _cell(use.power, "W"), money)


def _sum_row(report: FleetReport) -> tuple[str, ...]:
    """The sums over all pools of figures that every pool has."""
    nodes, idle = (pool_total(report, key) for key in ("nodes", "idle"))
    used = sum(use.used for use in report.pools.values())
    money = total_cost(report)
    paid = money_text(round(money.low), money.currency) if money else UNKNOWN
    return ("all", _count_text(nodes), str(used), _count_text(idle), "", _cell(pool_total(report, "power"), "W"), paid)


def pool_total(report: FleetReport, figure: str) -> float | None:
    """A figure summed over all pools: nodes, W of power or a cost; None if a pool does not have it."""
    found = [getattr(use, figure) for use in report.pools.values()]
    return sum_of(found) if None not in found else None


def total_cost(report: FleetReport) -> Money | None:
    """The cost of all pools; None if the cost of a pool is unknown, or pools have different currencies."""
    currencies, total = {use.currency for use in report.pools.values()}, pool_total(report, "cost")
    return Money.of(total, currencies.pop()) if total is not None and len(currencies) == 1 else None


def _count_text(number: float | None) -> str:
    return plain(number) if number is not None else UNKNOWN


def _cell(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else UNKNOWN


def fleet_bill_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The bill of each pool."""
    parts = [f"{ink.paint('bold', name)}\n{cost_text.bill_text(bill, ink)}" for name, bill in report.pool_bills.items()]
    return "\n".join(parts) + growth_text(report, ink) + errors_text(report.findings, report.input.name, ink)


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


def fleet_bill_csv(report: FleetReport) -> str:
    """The items of all pools, each with its pool."""
    fields = ("pool", *cost_text.FIELDS)
    rows = [(name, item.to_json()) for name, bill in report.pool_bills.items() for item in bill.items]
    return csv_text(fields, ([name, *(row.get(key, "") for key in cost_text.FIELDS)] for name, row in rows))

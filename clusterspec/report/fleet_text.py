"""The result of a command on a fleet as text: a table of its jobs, and one of its pools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from clusterspec.procurement.bill import money_text
from clusterspec.report import cost_text
from clusterspec.report.ink import PLAIN, Ink, csv_text, errors_text, text_table, title_text
from clusterspec.results.fleet import FleetReport, JobUse, PoolUse
from clusterspec.units import display, percent, plain, plural

UNKNOWN = "–"
JOB_FIELDS = ("job", "pool", "nodes", "share", "step_time", "mfu", "ttft", "tpot", "memory", "elapsed", "billed")


def fleet_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The title, the jobs with time, MFU or latency, memory and cost, and the pools with use, power and money."""
    heads = (
        "job",
        "pool",
        "nodes",
        "share",
        "step or first / next token",
        "MFU",
        "memory",
        "run",
        "billed",
        "unit cost",
    )
    jobs = text_table(heads, [_job_row(report, name) for name in report.jobs], right=range(2, len(heads)), ink=ink)
    pool_heads = ("pool", "nodes", "used", "idle", "in use", "power", "cost")
    rows = [_pool_row(name, use) for name, use in report.pools.items()]
    pools = text_table(pool_heads, [*rows, _sum_row(report)], right=range(1, len(pool_heads)), ink=ink)
    title = f"{title_text(report.name)}: {plural(len(report.jobs), 'job')} on {plural(len(report.pools), 'pool')}"
    shown = f"{ink.paint('bold', title)}\n\n{jobs}\n{pools}\n{_legend(report)}"
    return shown + errors_text(report.findings, report.input.name, ink)


def _legend(report: FleetReport) -> str:
    """What the columns mean, and where the figures of one job are."""
    lines = ["memory: of the fullest accelerator. run: with the pauses in which other jobs have the nodes."]
    if any(use.cost is not None for use in report.pools.values()):
        lines.append(
            "billed: the part of the pool's cost over the term. unit cost: of a run, or of a million output tokens."
        )
    return "\n".join([*lines, "`--job NAME` shows one job, `--pool NAME` one pool."]) + "\n"


def _job_row(report: FleetReport, name: str) -> tuple[str, ...]:
    use = report.jobs[name]
    share = percent(use.share) if use.share < 1 else "1"
    where = (name, use.pool or UNKNOWN, _count(use.nodes), share)
    return (*where, *_predicted_cells(report, name), *_money_cells(report, name, use))


def _predicted_cells(report: FleetReport, name: str) -> tuple[str, str, str, str]:
    """Step time or latencies, MFU, memory and the time of the run."""
    found = report.estimates.get(name)
    if found is None:
        return (UNKNOWN,) * 4
    plan, run = found.plan, report.jobs[name].elapsed
    times = _cell(plan.step_time.value, "s") if plan.step_time else UNKNOWN
    if plan.serving is not None:
        times = f"{display(plan.serving.ttft, 's')} / {display(plan.serving.tpot, 's')}"
    fits = "" if plan.memory is None or plan.memory.fits is not False else " (too much)"
    return (times, percent(plan.mfu) if plan.mfu else UNKNOWN, _cell(plan.memory_bytes, "B") + fits, _cell(run, "s"))


def _money_cells(report: FleetReport, name: str, use: JobUse) -> tuple[str, str]:
    cost = report.costs.get(name)
    unit = (cost.per_run or cost.per_million_tokens) if cost else None
    currency = cost.currency if cost else ""
    return (
        money_text(round(use.billed), currency) if use.billed is not None else UNKNOWN,
        money_text(round(unit.value, 2 if unit.value < 1000 else None), currency) if unit else UNKNOWN,
    )


def _pool_row(name: str, use: PoolUse) -> tuple[str, ...]:
    in_use = percent(use.used_share) if use.used_share is not None else UNKNOWN
    money = money_text(round(use.cost), use.currency) if use.cost is not None else UNKNOWN
    return (name, _count(use.nodes), str(use.used), _count(use.idle), in_use, _cell(use.power, "W"), money)


def _sum_row(report: FleetReport) -> tuple[str, ...]:
    """The sums over all pools, where every pool has the figure."""

    def total(of: Callable[[PoolUse], float | None]) -> float | None:
        found = [of(use) for use in report.pools.values()]
        return sum(each for each in found if each is not None) if None not in found else None

    nodes, idle = total(lambda use: use.nodes), total(lambda use: use.idle)
    power, money = total(lambda use: use.power), total(lambda use: use.cost)
    used = sum(use.used for use in report.pools.values())
    currency = next((use.currency for use in report.pools.values()), "")
    paid = money_text(round(money), currency) if money is not None else UNKNOWN
    return ("all", _count(nodes), str(used), _count(idle), "", _cell(power, "W"), paid)


def _count(number: float | None) -> str:
    return plain(number) if number is not None else UNKNOWN


def _cell(value: float | None, unit: str) -> str:
    return display(value, unit) if value is not None else UNKNOWN


def fleet_bill_text(report: FleetReport, ink: Ink = PLAIN) -> str:
    """The bill of each pool."""
    parts = [f"{ink.paint('bold', name)}\n{cost_text.bill_text(bill, ink)}" for name, bill in report.pool_bills.items()]
    return "\n".join(parts) + errors_text(report.findings, report.input.name, ink)


def fleet_csv(report: FleetReport) -> str:
    """One row for each job."""
    return csv_text(JOB_FIELDS, _job_values(report))


def _job_values(report: FleetReport) -> Iterator[Sequence[object]]:
    for name, use in report.jobs.items():
        found = report.estimates.get(name)
        plan = found.plan if found else None
        times = (plan.step_time.value if plan and plan.step_time else "", plan.mfu if plan and plan.mfu else "")
        served = plan.serving if plan else None
        latency = (served.ttft, served.tpot) if served else ("", "")
        memory = plan.memory_bytes if plan and plan.memory_bytes else ""
        billed = use.billed if use.billed is not None else ""
        yield (name, use.pool, use.nodes, use.share, *times, *latency, memory, use.elapsed or "", billed)


def fleet_bill_csv(report: FleetReport) -> str:
    """The items of all pools, each with its pool."""
    fields = ("pool", *cost_text.FIELDS)
    rows = [(name, item.to_json()) for name, bill in report.pool_bills.items() for item in bill.items]
    return csv_text(fields, ([name, *(row.get(key, "") for key in cost_text.FIELDS)] for name, row in rows))

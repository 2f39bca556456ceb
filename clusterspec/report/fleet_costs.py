"""The costs of the pools and jobs of a fleet, as rows, sentences and CSV."""

from __future__ import annotations

from clusterspec.money import Money
from clusterspec.procurement.amounts import money_text
from clusterspec.procurement.cost import OF_MACHINE
from clusterspec.procurement.items import kind_words
from clusterspec.report import TextStyle, cost_text, csv_text, paragraph, plain_line, shell_word, wrapped_lines
from clusterspec.results.fleet import FleetReport, JobUse, PoolUse
from clusterspec.standard import sum_of
from clusterspec.units.display import joined_words

UNKNOWN = "–"
MONEY_HEADS = ("job", "billed", "unit cost")


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


def cost_title(report: FleetReport) -> str:
    """The title of the pools' costs."""
    if not has_term(report):
        return "Cost of the purchase"
    paid = {part for use in report.pools.values() for part in use.parts}
    return "Cost of operation over the term" if paid and paid.isdisjoint(OF_MACHINE) else "Cost over the term"


def has_term(report: FleetReport) -> bool:
    """Whether the costs cover a term, not only the purchase."""
    return bool(report.spec and report.spec.procurement and report.spec.procurement.term)


def has_costs(report: FleetReport) -> bool:
    """Whether the cost of some pool is known."""
    return any(use.cost is not None for use in report.pools.values())


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


def support_note(report: FleetReport, style: TextStyle) -> str:
    """A note that a support price stated for all pools counts once per pool; empty if it does not."""
    pools = [use for use in report.pools.values() if "support" in use.parts]
    shared = report.spec and report.spec.procurement and (report.spec.procurement.prices or {}).get("support_per_year")
    if len(pools) < 2 or not shared:
        return ""
    text = f"`support_per_year` counts once for each of {len(pools)} pools; a pool may state its own under `prices`."
    return paragraph(text, style)


def no_cost_text(report: FleetReport, style: TextStyle) -> str:
    """Why no pool has a cost, and what to state."""
    if report.spec and report.spec.procurement and report.spec.procurement.prices:
        advice = (
            "none of the stated prices is for a part of these pools; `clusterspec cost --pool NAME` names the parts"
        )
    else:
        advice = "add `procurement.prices`, `as_of` and `currency`"
    lines = wrapped_lines(f"Not known: {advice}.", style.measure)
    return "\n".join([style.paint("bold", cost_title(report)), *lines, ""])


def money_rows(report: FleetReport) -> list[tuple[str, ...]]:
    """The cells of `MONEY_HEADS` for each job."""
    return [(name, *_money_cells(report, name, use)) for name, use in report.jobs.items()]


def _money_cells(report: FleetReport, name: str, use: JobUse) -> tuple[str, str]:
    cost, unit = report.costs.get(name), use.unit_cost
    currency = cost.currency if cost else ""
    of_what = "a run" if use.elapsed is not None else "a million tokens"
    return (
        money_text(round(use.billed), currency) if use.billed is not None else UNKNOWN,
        f"{money_text(round(unit, 2 if unit < 1000 else None), currency)} {of_what}" if unit is not None else UNKNOWN,
    )


def pool_total(report: FleetReport, figure: str) -> float | None:
    """A figure summed over all pools: nodes, W of power or a cost; None if a pool does not have it."""
    found = [getattr(use, figure) for use in report.pools.values()]
    return sum_of(found) if None not in found else None


def total_cost(report: FleetReport) -> Money | None:
    """The cost of all pools; None if the cost of a pool is unknown, or pools have different currencies."""
    currencies, total = {use.currency for use in report.pools.values()}, pool_total(report, "cost")
    return Money.of(total, currencies.pop()) if total is not None and len(currencies) == 1 else None


def fleet_bill_csv(report: FleetReport) -> str:
    """The items of all pools, each with its pool."""
    fields = ("pool", *cost_text.FIELDS)
    rows = [(name, item.to_json()) for name, bill in report.pool_bills.items() for item in bill.items]
    return csv_text(fields, ([name, *(row.get(key, "") for key in cost_text.FIELDS)] for name, row in rows))

"""Risks of a purchase in money and days, and the value of idle nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from clusterspec.cost.formulas.failures import availability
from clusterspec.cost.serving.latency import ServingTimes
from clusterspec.money import Money
from clusterspec.procurement.amounts import amount_with_terms, line_price, rounded_text, terms_text, total_of_lines
from clusterspec.procurement.bill import Bill
from clusterspec.procurement.cost import Cost
from clusterspec.procurement.items import kind_words
from clusterspec.procurement.quotes import QuotedPart
from clusterspec.quantity import DAY
from clusterspec.results.full import FullReport
from clusterspec.results.machine import Reliability
from clusterspec.results.verdict import Risk
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import sum_of
from clusterspec.units import display, percent

IDLE = 0.05
"""Unplanned share of accelerators that counts as a normal scheduling reserve."""

ROUNDED_CENTS = 1.0
"""Difference of two sums, in currency units, up to which rounding is assumed to be the cause."""

LEAST_DELAY = 0.005
"""Share of a run below which no delay by failures is listed as a risk."""

LEAST_LOAD = 0.5
"""Share of the concurrency within the targets below which half of the engines would be enough for the load."""


def is_lightly_loaded(times: ServingTimes) -> bool:
    """Whether half of the engines would serve the load within its targets."""
    return times.offered < LEAST_LOAD * (times.most_in_flight or 0)


def risks_of_purchase(
    report: FullReport, cost: Cost, parts: tuple[QuotedPart, ...], unused: Risk | None
) -> Iterator[Risk]:
    """Reasons why the purchase may cost more, or take longer, than stated on the first page."""
    plan, kept, bill = report.estimate.plan, report.reliability, report.bill.bill
    price = _price_of_days(cost)
    if kept is not None and kept.with_interruptions is not None and plan.time_to_train is not None:
        yield from _delay_risks(kept, kept.with_interruptions / DAY, price)
        high = plan.rl.band[1] if plan.rl is not None else plan.step_time_range[1] if plan.step_time_range else None
        step = plan.whole_step.seconds
        if high is not None and step:
            share = high / step - 1
            slow = share * kept.with_interruptions / DAY
            yield Risk(
                "slower steps", slow, price(slow), f"the upper end of the predicted range, {percent(share, 2)} longer"
            )
    total = bill.total
    if total is not None and total.high > total.low:
        yield Risk(
            "prices",
            None,
            Money.of((total.high - total.low) / 2, bill.currency),
            f"the bill ranges over {text}"
            if "–" in (text := rounded_text(total))
            else f"more or less than {text} of the bill",
        )
    buying = plan.design.spec.procurement or ProcurementSpec()
    missing = [part.missing for part in parts if part.missing is not None]
    if missing:
        text = f"{_unquoted_text(parts)}{terms_text(buying)}"
        yield Risk("parts without a quote", None, Money.total(missing).middle, text)
    yield from _risks_of_sums(buying, bill.currency) if parts else ()
    if unused is not None:
        yield unused
    used = cost.accelerators_used
    if used is not None and cost.accelerators and (idle := 1 - used / cost.accelerators) > IDLE:
        value = idle_value(idle, bill)
        text = f"{percent(idle, 2)} of the accelerators have no planned work"
        yield Risk("idle accelerators", None, value.middle if value else None, text)
    elif plan.serving is not None and is_lightly_loaded(plan.serving):
        value = idle_value(1 - LEAST_LOAD, bill)
        text = "the load needs less than half of the engines; half of the nodes, at least"
        yield Risk("engines without load", None, value.middle if value else None, text)


def _delay_risks(reliability: Reliability, run: float, price: Callable[[float], Money | None]) -> Iterator[Risk]:
    """The time that failures add to a run of ``run`` days, and the time that the pauses of planned checkpoints add."""
    saving = availability(reliability.between, reliability.restart) * reliability.checkpoint / reliability.interval
    failing = 1 - reliability.goodput - saving
    often = (
        f"failures interrupt the run every {display(reliability.between, 's')}; goodput {percent(reliability.goodput)}"
    )
    every = display(reliability.interval, "s")
    pauses = f"planned checkpoints stop training {display(reliability.checkpoint, 's')} every {every}"
    for name, share, text in (("interruptions", failing, often), ("checkpoint pauses", saving, pauses)):
        if share > LEAST_DELAY:
            yield Risk(name, share * run, price(share * run), text)


def _risks_of_sums(buying: ProcurementSpec, currency: str) -> Iterator[Risk]:
    """Amounts by which a quote may cost more than stated: the lines differ from the total, or the price of a line
    differs from its quantity times its unit price.
    """
    lines, total = total_of_lines(buying), buying.quoted_total
    prices = [(line, line_price(line)) for line in buying.quote or ()]
    if lines is not None and total is not None and all(price is not None for _, price in prices):
        off = Money.of(abs(lines - total), currency)
        if off.low > ROUNDED_CENTS:
            sums = [Money.of(round(float(each), 2), currency) for each in (lines, total)]
            text = f"the lines sum to {sums[0]}{terms_text(buying)}, and the quoted total is {sums[1]}"
            yield Risk("sum of the quote", None, off, text)
    wrong = [
        (line.part or "a line", abs(price - line.quantity * line.unit_price))
        for line, price in prices
        if price is not None and line.quantity is not None and line.unit_price is not None
    ]
    wrong = [(part, off) for part, off in wrong if off > ROUNDED_CENTS]
    if wrong:
        money = amount_with_terms(Money.of(sum_of(off for _, off in wrong), currency), buying)
        names = ", ".join(dict.fromkeys(name_of_part(part) for part, _ in wrong))
        text = f"the price of {names} is not quantity × unit price{terms_text(buying)}"
        yield Risk("lines of the quote", None, money, text)


def _unquoted_text(parts: tuple[QuotedPart, ...]) -> str:
    """The parts without a quote, with their sums: parts that the quote lacks, and parts that another supplier may
    provide.
    """
    lacking = [part for part in parts if part.missing is not None and part.has_too_few]
    elsewhere = [part for part in parts if part.missing is not None and not part.has_too_few]
    texts = []
    for group in filter(None, (lacking, elsewhere)):
        names = ", ".join(dict.fromkeys(kind_words(part.kind) for part in group))
        total = Money.total([part.missing for part in group if part.missing])
        texts.append(f"{names} ({rounded_text(total)})" if lacking and elsewhere else names)
    return "; ".join(texts) + (", unless another supplier has them" if elsewhere else "")


def _price_of_days(cost: Cost) -> Callable[[float], Money | None]:
    """The money that some days of the job cost, from the cost of its run."""
    run, each = cost.run, cost.per_run
    if run is None or each is None or run.value <= 0:
        return lambda days: None
    rate = each.value / (run.value / DAY)
    return lambda days: Money.of(days * rate, cost.currency)


MOST_RISKS = 3


def largest_risks(risks: Iterator[Risk]) -> list[Risk]:
    """The largest risks: those with the most money first, then those with the most days."""
    real = [risk for risk in risks if (risk.money and risk.money.high > 0) or (risk.days or 0.0) > 0]
    real.sort(key=lambda risk: (-(risk.money.high if risk.money else 0.0), -(risk.days or 0.0)))
    return real[:MOST_RISKS]


def idle_value(idle: float, bill: Bill) -> Money | None:
    """The price of the nodes that do no planned work."""
    prices = [item.price for item in bill.items if item.kind == "node" and item.price is not None]
    if not prices:
        return None
    return rounded_amount(Money.total(prices) * idle)


def rounded_amount(amount: Money) -> Money:
    """A computed amount to the unit of its currency."""
    return Money(round(amount.low), round(amount.high), amount.currency)

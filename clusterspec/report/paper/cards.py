"""The figures on the first page of a paper: time, rate, memory, power and price of the design."""

from __future__ import annotations

from clusterspec.money import Money
from clusterspec.procurement.amounts import rounded_text
from clusterspec.report.estimate_rows import joined_notes, serving_rows
from clusterspec.report.paper.blocks import Card, Tone
from clusterspec.results.full import FullReport
from clusterspec.units import display, percent, years_text


def headline_cards(report: FullReport) -> tuple[Card, ...]:
    """The headline figures that could be computed; for buyers prices first, and no figures of a step."""
    plan = report.estimate.plan
    held, used = report.estimate.condition, report.estimate.used_text("")
    share = f"on {used}" if " of " in used else ""
    found = _rl_cards(report, held)
    if plan.step_time and not plan.is_update:
        band = plan.step_time_range
        span = f"{display(band[0], 's')} to {display(band[1], 's')}" if band else ""
        found.append(
            Card("Step time", display(plan.step_time.value, "s"), joined_notes(span, share, held), "estimate.step_time")
        )
    if plan.mfu is not None and not plan.is_update:
        again = f"HFU {percent(plan.hfu)}" if plan.hfu is not None else ""
        found.append(Card("MFU", percent(plan.mfu), joined_notes(again, held), "estimate.mfu"))
    if plan.tokens_per_second_per_accelerator is not None and not plan.is_update:
        field, rate = "estimate.tokens_per_second_per_accelerator", plan.tokens_per_second_per_accelerator
        each = "per accelerator used" if share else "per accelerator"
        found.append(Card("Tokens per second", f"{rate:,.0f}", joined_notes(each, held), field))
    work = (*_serving_cards(report, held), *_memory_cards(report), *_run_cards(report, held, share))
    prices = tuple(_price_cards(report))
    return (*prices, *work) if report.kind == "procurement" else (*found, *work, *prices)


def _rl_cards(report: FullReport, condition: str) -> list[Card]:
    """The step of reinforcement learning, all roles together."""
    times = report.estimate.plan.rl
    if times is None:
        return []
    low, high = (display(end, "s") for end in times.band)
    rate = f"{times.tokens_per_second_per_accelerator:,.0f}"
    found = [
        Card("Step, all roles", display(times.step, "s"), joined_notes(f"{low} to {high}", condition), "estimate.rl"),
        Card("Tokens per second", rate, joined_notes("per accelerator, all roles", condition), "estimate.rl"),
    ]
    if times.mfu is not None:
        found.append(Card("MFU", percent(times.mfu), joined_notes("of all roles", condition), "estimate.rl.mfu"))
    return found


def _serving_cards(report: FullReport, condition: str) -> list[Card]:
    """The times of a serving plan, by the names and notes of `estimate`."""
    plan = report.estimate.plan
    work = plan.design.workload
    if plan.serving is None or work is None or work.serving is None:
        return []
    found: list[Card] = []
    for name, value, note, field in serving_rows(plan, work.serving, condition):
        title = f"{found[-1].label}, {name.strip()}" if name.startswith(" ") else f"{name[0].upper()}{name[1:]}"
        found.append(Card(title, value, note, f"estimate.serving.{field}"))
    return found


def _memory_cards(report: FullReport) -> list[Card]:
    plan = report.estimate.plan
    if plan.memory is None or plan.memory.capacity is None:
        return []
    update, capacity = plan.memory.total.value, plan.memory.capacity.value
    total = plan.fullest_phase(update)
    low, high = plan.fullest_range or (total, total)
    tone: Tone = "bad" if low > capacity else "fair" if high > capacity else "good"
    word = {"bad": "does not fit", "fair": "may not fit", "good": "fits"}[tone]
    note = f"{word}: {display(total, 'B')} of {plan.capacity_text}"
    shared = plan.rl.memory if plan.rl is not None else None
    if shared is not None and shared.rollout:
        note = joined_notes(note, f"rollout holds {display(shared.rollout, 'B')}")
    if total > update:
        note = joined_notes(note, f"an update {display(update, 'B')}")
    title = "Memory in an update" if plan.is_update and total == update else "Memory"
    return [Card(title, percent(total / capacity), note, "estimate.memory.total", tone)]


def _run_cards(report: FullReport, condition: str, share: str) -> list[Card]:
    plan, kept = report.estimate.plan, report.reliability
    if plan.time_to_train is None:
        return []
    if kept is None or kept.with_interruptions is None:
        return [
            Card(
                "Run",
                display(plan.time_to_train, "s"),
                joined_notes("without interruptions", share, condition),
                "estimate.time_to_train",
            )
        ]
    note = joined_notes(f"{display(plan.time_to_train, 's')} without interruptions", share, condition)
    return [
        Card("Run with interruptions", display(kept.with_interruptions, "s"), note, "reliability.with_interruptions")
    ]


def _price_cards(report: FullReport) -> list[Card]:
    cost, bill = report.cost.cost, report.bill.bill
    found = []
    if bill.total is not None:
        dated = f"prices of {cost.as_of}" if cost and cost.as_of else "prices without a date"
        whole = "the whole machine" if report.signing is not None and report.signing.added_nodes else ""
        note = joined_notes(whole, dated)
        found.append(Card(bill.total_title, rounded_text(bill.total), note, "bill.total.price"))
    if cost and cost.total and cost.years:
        whose = "of this pool alone" if report.estimate.design.spec.pools else ""
        over = joined_notes(f"over {years_text(cost.years)}", whose, "a partial sum" if cost.missing else "")
        title = "Cost over the term" if cost.of_machine else "Cost of operation over the term"
        found.append(Card(title, rounded_text(Money.of(cost.total.value, cost.currency)), over, "cost.total"))
    if cost and cost.per_million_tokens and report.serves:
        each = rounded_text(Money.of(cost.per_million_tokens.value, cost.currency))
        found.append(Card("A million output tokens", each, "at this load", "cost.per_million_output_tokens"))
    return found

"""Sentences on whether prefill and decode are better on separate engines, and from which prompt length, load and link
on.
"""

from __future__ import annotations

from clusterspec.results.search import BreakEvenRow, Separation, SeparationSide
from clusterspec.units import display, percent, plural
from clusterspec.units.display import joined_words

SEPARATE, ONE_KIND = "separate engines for prefill and decode", "one kind of engine"
EXCEEDED = {"cache": "the requests that its cache holds", "rate": "the requests a second that it sustains"}
"""Text about limits of a plan other than targets."""
BREAK_EVENS = {
    "input_tokens": ("prompts", "tokens", 1.0),
    "concurrency": ("loads", "requests in flight", 1.0),
    "requests_per_accelerator": ("loads", "requests in flight per accelerator", 1.0),
    "link_bandwidth": ("links", "Gb/s per accelerator", 8e-9),
}
"""For each quantity of a break-even: its name in text, its unit, and the factor from SI units."""


def separation_text(separation: Separation) -> str:
    """Whether and why prefill and decode are better on separate engines, and where that changes."""
    if separation.separate is None:
        return f"{_capitalized_text(SEPARATE)} were not compared: {separation.why}." if separation.why else ""
    better, other = (
        (separation.apart, separation.together) if separation.separate else (separation.together, separation.apart)
    )
    name, against = (SEPARATE, ONE_KIND) if separation.separate else (ONE_KIND, SEPARATE)
    assert better is not None
    if other is None or not other.meets_targets:
        why = f"; {_excess_text(other)}" if other else ""
        return f"{_capitalized_text(name)}: no plan with {against} meets the targets at the load{why}."
    return " ".join(
        each
        for each in (
            f"{_capitalized_text(name)}: {_side_text(better)}, against {_side_text(other)} with {against}.",
            _reason_text(separation),
            _break_evens_text(separation),
        )
        if each
    )


def _excess_text(side: SeparationSide) -> str:
    """What the nearest plan exceeds most, as text: a factor, or a percentage if it is small."""
    limit = EXCEEDED.get(side.limit, f"the target of {side.limit.replace('_', ' ')}" if side.limit else "a limit")
    much = f"{side.excess:.2f} times" if side.excess >= 1.1 else f"by {percent(side.excess - 1, 2)}"
    return f"the closest, on {plural(round(side.accelerators), 'accelerator')}, exceeds {limit} {much}"


def _capitalized_text(text: str) -> str:
    return text[0].upper() + text[1:]


def _side_text(side: SeparationSide) -> str:
    return f"{plural(round(side.accelerators), 'accelerator')}, each with {side.value:,.0f} output tokens per second"


def _reason_text(separation: Separation) -> str:
    """The share of time that common engines spend on prefill, and that separate engines need for the handoff."""
    if separation.together is None or separation.apart is None:
        return ""
    prefill, busy = percent(separation.together.prefill_share, 2), _busy_share_text(separation.apart.prefill_share)
    return (
        f"Prefill takes {prefill} of the time of one kind of engine and delays its decode steps; a handoff takes "
        f"{display(separation.apart.handoff, 's')}, and separate prefill engines are {busy} busy."
    )


def _busy_share_text(share: float) -> str:
    """The share of time for which engines are busy; without decimals near 100 %, where a prediction has none."""
    return "over 99 %" if ALMOST_ALWAYS < share < 1 else percent(min(1.0, share), 2)


ALMOST_ALWAYS = 0.99


def _break_evens_text(separation: Separation) -> str:
    """The break-even points of both plans, by subject."""
    if not separation.break_even:
        return ""
    measure = "at the best load within the targets" if separation.targeted else "at the load"
    better = [_break_even_text(each) for each in separation.break_even if each.value is not None or each.separate_above]
    never = [
        _tried_text(each, "any") for each in separation.break_even if each.value is None and not each.separate_above
    ]
    who, lead = "the plan with separate engines", f"By output tokens per accelerator {measure}, "
    texts = [f"{lead}{who} is better for {joined_words(better)}."] if better else []
    if never:
        subject = "It" if better else f"{lead}{who}"
        texts.append(f"{subject} is not better for {joined_words(never, 'or')}.")
    return " ".join(texts)


def _break_even_text(row: BreakEvenRow) -> str:
    what, unit, factor = BREAK_EVENS[row.quantity]
    if row.value is None:
        return _tried_text(row, "all")
    return f"{what} {'above' if row.separate_above else 'below'} {_rounded_figure(row.value * factor)} {unit}"


def _tried_text(row: BreakEvenRow, quantifier: str) -> str:
    """A phrase for all (or any) of the tried values of a quantity, with their range."""
    what, unit, factor = BREAK_EVENS[row.quantity]
    low, high = (_rounded_figure(each * factor) for each in (row.low, row.high))
    return f"{quantifier} {what} tried ({low} to {high} {unit})"


def _rounded_figure(value: float) -> str:
    """A value with two digits, since break-evens are found to within a tenth.

    >>> _rounded_figure(1207.9), _rounded_figure(5.03), _rounded_figure(0.1627)
    ('1,200', '5', '0.16')
    """
    return f"{float(f'{value:.2g}'):,.10g}"

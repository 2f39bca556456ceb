"""The machine is available for less time than the run takes.

## What it finds

The predicted run of `tokens`, without interruptions, takes longer than `term`, or than the time for which the description or a
comment says that the machine is reserved, rented or allocated; the days of a reservation in the text are fewer than
`targets.run_time`; or by the spec's own `targets.run_time` or
`workload.expected_mfu` the run may take longer than `term`. The finding is a warning; an error where the text
also says that the reservation cannot be extended; a note where
the difference is below the half-width of the prediction's range and neither key says so; an error where a quarter of the
run or more remains even at the low end of the range.

## Why it matters

A reservation that ends before the run costs a second one at the price of that day, or a checkpoint moved to other
machines.

## What to do

Reserve the time of the run and a tenth more, or use more nodes.

## When to ignore it

Ignore it where the contract can be prolonged at the same price.

## Fires

```yaml procurement.term
clusterspec: 1
cluster: {platform: aws-p5-48xlarge, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {tp: 8, pp: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 6 months, prices: {node_hour: 55.04}}
```

```yaml workload.tokens
clusterspec: 1
description: All instances are in one capacity block of 14 days.
cluster: {platform: aws-p5-48xlarge, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 15T}
layout: {tp: 8, pp: 4}
```

```yaml operations.targets.run_time
clusterspec: 1
description: The capacity block starts on 2027-02-01 and ends on 2027-04-05.
cluster: {platform: aws-p5-48xlarge, nodes: 16}
workload: {model: llama-3.1-8b, sequence_length: 8192, global_batch: 512, tokens: 4T}
layout: {tp: 1}
operations: {targets: {run_time: 68 days}}
```

## Silent

```yaml
clusterspec: 1
description: The capacity block starts on 2027-02-01 and ends on 2027-10-05.
cluster: {platform: aws-p5-48xlarge, nodes: 64}
workload: {model: llama-3.1-70b, sequence_length: 8192, global_batch: 512, tokens: 1T}
layout: {tp: 8, pp: 4}
procurement: {currency: USD, as_of: 2026-11-01, term: 6 months, prices: {node_hour: 55.04}}
```

## Sources

- Reserved terms: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cost.plan import Plan
from clusterspec.finding import Problem
from clusterspec.quantity import DAY, Quantity
from clusterspec.rules.knowledge.shares import run_severity
from clusterspec.rules.readers.plans.run_times import reserved_time
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.units import display

RULE = Rule.of(__name__, "warning", "likely")


def check(
    timed: Plan,
    procurement: ProcurementSpec | None,
    own_remarks: str | None,
    remarks: str,
    operations: OperationsSpec | None,
) -> Iterator[Problem]:
    run = timed.time_to_train
    if run is None:
        return
    term = procurement.term if procurement is not None else None
    planned = operations.targets.run_time if operations is not None and operations.targets is not None else None
    if planned is not None and own_remarks:
        yield from _planned_beyond_reservation(planned, own_remarks, remarks)
    if term is not None:
        found = [*_short_term_problem(timed, run, term.value, term.written, "procurement.term")]
        if not found or found[0].severity == "note":
            by_plan = _problem_by_plan(timed, run, term, planned)
            found = [by_plan] if by_plan is not None else found
        yield from found
    elif own_remarks and (reserved := reserved_time(own_remarks)) is not None:
        yield from _short_term_problem(timed, run, reserved.value, reserved.words, "workload.tokens")


def _planned_beyond_reservation(planned: Quantity, text: str, whole_text: str) -> Iterator[Problem]:
    """The problem of a planned run that takes longer than the days of the reservation in the text; ``whole_text`` has the
    sentences about refusals too.
    """
    from clusterspec.rules.readers.purchases.reserved_spans import is_final, reserved_span  # few texts name both days

    span = reserved_span(text)
    if span is None:
        return
    days = span.days + 1  # the first and the last day are both reserved
    if planned.value <= days * DAY:
        return
    message = f"according to the text, the machine is reserved from {span.start} to {span.due}, {days} days, but `targets.run_time` allows {planned.written}"
    if is_final(whole_text):
        message += ", and the reservation cannot be extended"
        yield RULE.problem(
            "operations.targets.run_time", message, "shorten the run, or use more accelerators", severity="error"
        )
    else:
        yield RULE.problem(
            "operations.targets.run_time", message, "shorten the run, or reserve more days", severity="warning"
        )


def _problem_by_plan(timed: Plan, run: float, term: Quantity, planned: Quantity | None) -> Problem | None:
    """The problem of a term that is shorter than the plan's own `targets.run_time`, or than the run takes at its
    `expected_mfu`.
    """
    workload = timed.design.workload
    mfu = workload.expected_mfu if workload is not None else None
    if planned is not None and planned.value > term.value:
        message = f"`targets.run_time` allows {planned.written}, but the machine is there for {term.written}"
    elif mfu and timed.mfu and run * timed.mfu / mfu > term.value:
        taken = display(run * timed.mfu / mfu, "s")
        message = f"at an `expected_mfu` of {mfu:g} the run takes {taken}, but the machine is there for {term.written}"
    else:
        return None
    return RULE.problem("procurement.term", message, "take a term that lasts as long as the run may")


def _short_term_problem(timed: Plan, run: float, term: float, written: str, at: str) -> Iterator[Problem]:
    """The problem of a run of ``run`` seconds on a machine that is available for only ``term`` seconds, in the spec
    ``written``.
    """
    if run <= term:
        return
    message = f"the run takes {display(run, 's')} without interruptions, but the machine is there for {written}"
    help_ = "take a longer term, more nodes or fewer tokens"
    yield RULE.problem(at, message, help_, severity=run_severity(term, run, timed))

"""The availability that a text states does not follow from its own figures.

## What it finds

In the description or a comment:

- a downtime per month, year or other period that is not what the stated availability leaves (99.9 % of a month leaves
  44 minutes), or an allowed downtime in another sentence that is longer;
- for parts that are all needed, an availability above the product of their availabilities;
- for redundant parts of which one is enough, an availability above 1 less the product of their unavailabilities;
- for a job on all nodes without a spare, the availability of one node;
- for independent parts, an availability that is at least three times too far below 100 %;
- a number of requests that may miss a target, other than the stated percentage of all requests;
- a share of requests that is not the quotient of the two numbers next to it;
- planned stops of the whole service that take longer than the availability leaves, unless the text leaves planned ones out.

## Why it matters

Credits, error budgets and the number of sites are derived from these figures. Ten times the allowed downtime, or a
chain of parts that each have only the availability promised for the whole, breaks the contract in the first month.

## What to do

Correct the figure. The message gives the result.

## When to ignore it

Ignore it where the contract counts another time than the calendar.

## Fires

```yaml description
clusterspec: 1
description: The contract promises 99.9 % a month, which allows 4.3 minutes of downtime a month.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml description
clusterspec: 1
description: Gateway 99.95 %, engines 99.9 % and object store 99.9 %, all of them needed, so the service has 99.9 %.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml description
clusterspec: 1
description: In March 12,000 of 3,000,000 requests failed, an availability of 99.96 %.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml description
clusterspec: 1
description: The run needs all 64 nodes. As every node keeps 99.9 % of a month, the machine is available for 99.9 % as well.
cluster: {platform: dgx-h200, nodes: 64}
```

```yaml description
clusterspec: 1
description: The contract promises an availability of 99.9 % a year. On one Sunday of every month all nodes are shut down for 6 hours.
cluster: {platform: dgx-h200, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: The contract promises 99.9 % a month, which allows 43 minutes of downtime a month.
cluster: {platform: dgx-h200, nodes: 4}
```

```yaml
clusterspec: 1
description: Gateway 99.95 %, engines 99.9 % and object store 99.9 %, all of them needed, so the service has 99.75 %.
cluster: {platform: dgx-h200, nodes: 4}
```

## Sources

- Availability in series and in parallel: https://docs.aws.amazon.com/whitepapers/latest/availability-and-beyond-improving-resilience/availability-with-redundancy.html
- Error budgets: https://sre.google/sre-book/availability-table/
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import prod

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of
from clusterspec.rules.readers.services.availability import (
    PERCENT_SIGNS,
    CombinedAvailability,
    allowances_in,
    combined_availabilities_in,
    downtimes_in,
    error_budgets_in,
    parts_in,
    series_of_nodes_in,
    shares_in,
)
from clusterspec.rules.readers.services.planned_stops import stops_beyond_availability
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 0.1
"""Relative difference of a downtime that rounding and months of different lengths explain."""
TOO_LOW = 3.0
"""Factor by which the unavailability of a computed whole may exceed the product for independent parts."""
Fault = tuple[str, str, str]
"""The sentence, what is wrong in it, and what to do."""

_CUES = (
    *(
        "avail",
        "verfüg",
        "dispo",
        "uptime",
        "downtime",
        "outage",
        "ausfall",
        "budget",
        "slo",
        "sla",
        "request",
        "token",
    ),
    *("answer", "call", "prompt", "anfrage", "requête", "petici", "replica", "99"),
)
"""Words for availability and for shares of a count; a text about one of these has at least one of them."""


def check(own_remarks: str, spec: Spec, cluster: Cluster | None, job_nodes: int | None) -> Iterator[Problem]:
    if not own_remarks or not any(sign in own_remarks for sign in PERCENT_SIGNS):
        return
    folded = own_remarks.lower()
    if not any(cue in folded for cue in _CUES):
        return
    text = own_remarks[:MOST_CHARACTERS]
    kinds = (_downtime_faults, _faults_of_stops, _faults_of_wholes, _budget_faults, _share_faults)
    nodes = job_nodes or 0 if cluster is not None and not cluster.spare_nodes else 0
    for sentence, message, help_ in chain(
        (fault for kind in kinds for fault in kind(text)), _faults_of_nodes(text, nodes)
    ):
        yield RULE.problem(place_of(sentence, spec), f"according to the text, {message}", help_)
        return


def _downtime_faults(text: str) -> Iterator[Fault]:
    """Faults in downtimes that do not follow from the stated availability."""
    for down in chain(downtimes_in(text), allowances_in(text)):
        left = (1 - down.availability / 100) * down.period
        if down.seconds / left - 1 > ROUNDED or (not down.at_most and 1 - down.seconds / left > ROUNDED):
            stated, computed = display(down.seconds, "s"), display(left, "s")
            message = f"{down.availability:.10g} % leave {stated} of downtime in {down.per}; they leave {computed}"
            yield down.sentence, message, "correct the availability or the downtime"


def _faults_of_stops(text: str) -> Iterator[Fault]:
    """Faults in planned stops of the whole service that the promised availability does not leave."""
    for stop in stops_beyond_availability(text):
        left, stopped = display(stop.left, "s"), display(stop.stopped, "s")
        message = f"{stop.availability:.10g} % leave {left} of downtime, but the planned stops of the whole service take {stopped}"
        yield stop.sentence, message, "shorten the stops, stop one part after the other, or promise less"


def _faults_of_wholes(text: str) -> Iterator[Fault]:
    """Faults in the availability of a whole that its parts cannot reach."""
    for whole in combined_availabilities_in(text):
        lacks = 100 * prod(1 - each / 100 for each in whole.parts)
        together = 100 - lacks if whole.redundant else _availability_in_series(whole)
        is_of_redundant = not whole.redundant and abs(whole.stated - 100 + lacks) <= whole.rounding / 2
        too_low = whole.calculated and 100 - whole.stated > TOO_LOW * lacks + whole.rounding / 100
        if (whole.stated > together + whole.rounding and not is_of_redundant) or too_low:
            kind = "one of which is enough" if whole.redundant else "all of which are needed"
            parts = ", ".join(f"{each:.10g} %" for each in whole.parts)
            message = f"parts of {parts}, {kind}, make {whole.stated:.10g} %; together they are {together:.6g} %"
            yield whole.sentence, message, "correct the availability of the whole"


def _faults_of_nodes(text: str, nodes: int) -> Iterator[Fault]:
    """Faults in the availability of a job on all nodes that the nodes together cannot reach."""
    for whole in series_of_nodes_in(text, nodes):
        together = _availability_in_series(whole)
        if whole.stated > together + whole.rounding:
            message = f"{nodes:,} nodes of {whole.parts[0]:.10g} %, all of which are needed, make {whole.stated:.10g} %; together they are {together:.3g} %"
            yield whole.sentence, message, "plan with the availability of all nodes together, or with spare nodes"


def _availability_in_series(whole: CombinedAvailability) -> float:
    """The percentage of the time in which all parts of a whole are available."""
    return 100 * prod(each / 100 for each in whole.parts)


def _budget_faults(text: str) -> Iterator[Fault]:
    """Faults in numbers of requests that do not follow from the target and the total."""
    for budget in error_budgets_in(text):
        left = (1 - budget.target / 100) * budget.whole
        if abs(budget.stated / left - 1) > ROUNDED:
            whole = f"{budget.target:.10g} % of {budget.whole:,.10g} requests"
            message = f"{whole} leave {budget.stated:,.10g} that may miss the target; they leave {left:,.10g}"
            yield budget.sentence, message, "correct the target or the number"


def _share_faults(text: str) -> Iterator[Fault]:
    """Faults in percentages that do not follow from the two numbers next to them."""
    for share in chain(shares_in(text), parts_in(text)):
        quotient = 100 * share.part / share.whole
        if all(abs(share.stated - each) > share.rounding for each in (quotient, 100 - quotient)):
            numbers = f"{share.part:,.10g} of {share.whole:,.10g} {share.kind}"
            message = (
                f"{numbers} are {share.stated:.10g} %; they are {quotient:.4g} %, and the others {100 - quotient:.6g} %"
            )
            yield share.sentence, message, "correct the share or the numbers"

"""The machines in a step of a power ramp, or the billed power, exceed the power of that step.

## What it finds

Two or more sentences or milestones that each give a power for some months (`Months 1 to 9: 18 DGX H200, 190 kW
committed`, `from month 10 360 kW`), and

- machines of such a sentence that draw more at full load, with their share of the switches (with all of them, where the fabric is there from the start), than its power: an error;
- a line of the quote for kW-months of some months with more, or fewer, of them than the ramp has in these months: a
  warning.

## Why it matters

The ramp controls the bill: it says when power is paid for, and how much may be drawn. Above it many contracts let the
operator ask for more money, or switch machines off. Power that is billed before the ramp reaches it is paid for nothing:
170 kW at 142 a month are 24,140 every month.

## What to do

Commit more power for the first months, or install fewer machines. Let the supplier bill the ramp.

## When to ignore it

Ignore it where the machines of the step are limited in power, or idle.

## Fires

```yaml description
clusterspec: 1
description: "Months 1 to 9: 24 DGX H200, 190 kW committed. From month 10 all 32 DGX H200, 360 kW."
cluster: {platform: dgx-h200, nodes: 32}
procurement: {currency: GBP}
```

```yaml procurement.quote[0].quantity
clusterspec: 1
description: "Months 1 to 9: 16 DGX H200, 190 kW committed. From month 10 all 32 DGX H200, 360 kW."
cluster: {platform: dgx-h200, nodes: 32}
procurement:
  currency: GBP
  quote:
    - {part: "Committed power, months 1-12, kW-months", quantity: 4320, unit_price: 142}
```

## Silent

```yaml
clusterspec: 1
description: "Months 1 to 9: 16 DGX H200, 190 kW committed. From month 10 all 32 DGX H200, 360 kW."
cluster: {platform: dgx-h200, nodes: 32}
procurement:
  currency: GBP
  quote:
    - {part: "Committed power, months 1-12, kW-months", quantity: 2790, unit_price: 142}
```

## Sources

- Ramp schedules and overuse: https://worldstopdatacenters.com/what-to-negotiate-in-a-colocation-contract-when-the-operator-holds-the-cards/
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import it_power, power_draw
from clusterspec.finding import Problem
from clusterspec.procurement.part_names import plain_part
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.knowledge.purchases import months_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.written_numbers import total_watts_in
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.source import Path
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern, sum_of
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
LONGEST = 240
"""Largest number of months of a ramp: twenty years."""
SAME = 0.01
"""Relative difference up to which two numbers of kW-months are equal."""
_FROM = pattern(
    r"\b(?:from|as of|starting|ab|dès|depuis|à partir du|desde|a partir de|vanaf|från|fra|od|dal) (?:le |the |el |o |il )?month (\d{1,3})\b"
)
_MACHINES = pattern(
    r"(?<![\w.,])(\d{1,5}) (?:x )?(?:(?:[a-z]+ )?(?:dgx|hgx)\b|nodes?\b|servers?\b|systems?\b|machines?\b)"
)
_FABRIC_FIRST = pattern(
    r"\b(?:fabric|network|switches|spines?)\b[^.;]{0,40}?\b(?:from the start|from the beginning|from day one|at the start|from the first day)\b"
)
"""Pattern of words by which all switches are installed in the first step."""
_OF_MONTHS = pattern(r"\bkw[ -]months?\b")


class _Step(NamedTuple):
    """A step of a ramp: its first and last month, its power in watts, the number of machines that the text states for
    it, and its key.
    """

    first: int
    last: int
    watts: float
    machines: int | None
    at: Path


def check(
    procurement: ProcurementSpec, texts: PurchaseTexts, cluster: Cluster, power: PowerSpec | None, counts: FabricCount
) -> Iterator[Problem]:
    if not texts.remarks and procurement.delivery is None:
        return
    steps = [step for at, text in texts.placed if at[:2] != ("procurement", "quote") for step in _steps_in(at, text)]
    if len({step.watts for step in steps}) < 2:
        return
    draw = power_draw(cluster, counts.fabric, power)
    fabric = draw.switches * draw.switch.value if draw.switch is not None and draw.switches else 0.0
    first = fabric if _FABRIC_FIRST.search(texts.description) is not None else 0.0
    drawn = it_power(cluster, counts.fabric, power)
    if drawn is not None:
        yield from _power_step_problem(steps, cluster.all_nodes, drawn[0] - first, first)
    yield from _misbilled_months_problem(procurement, steps)


def _steps_in(at: Path, text: str) -> Iterator[_Step]:
    """The step of a ramp that a sentence with exactly one power and one time states."""
    powers = total_watts_in(text)
    times = months_in(text)
    times += [(int(first), LONGEST) for first in _FROM.findall(text)]
    machines = {int(number) for number in _MACHINES.findall(text)}
    if len(powers) == 1 and len(times) == 1 and times[0][0] <= times[0][1] <= LONGEST:
        yield _Step(*times[0], powers.pop(), machines.pop() if len(machines) == 1 else None, at)


def _power_step_problem(steps: list[_Step], nodes: int, divided: float, first: float) -> Iterator[Problem]:
    """The problem of a step whose machines draw more than its power. They draw their share of the ``divided`` watts of
    all ``nodes``, plus the watts of the switches that are installed from the ``first`` step on.
    """
    for step in steps:
        share = (step.machines or 0) / nodes
        drawn = divided * share + first
        if 0 < share < 1 and drawn > step.watts:
            switches = "all switches" if first else "their share of the switches"
            message = f"according to the text, {step.machines:,} machines run with {display(step.watts, 'W')}, but draw {display(drawn, 'W')} at full load with {switches}"
            yield RULE.problem(step.at, message, "commit more power for these months, or install fewer machines")
            return


def _misbilled_months_problem(procurement: ProcurementSpec, steps: list[_Step]) -> Iterator[Problem]:
    """The problem of a line that bills other kW-months than the ramp has in the same months."""
    ramp = _watts_by_month(steps)
    for index, line in enumerate(procurement.quote or ()):
        text, billed = plain_part(line), float(line.quantity or 0)
        times = months_in(text)
        if len(times) != 1 or not billed or _OF_MONTHS.search(text) is None or times[0][1] > LONGEST:
            continue
        months = range(times[0][0], times[0][1] + 1)
        if not all(month in ramp for month in months):
            continue
        given = sum_of(ramp[month] for month in months) / 1e3
        if abs(billed - given) > SAME * given:
            message = f"`{name_of_part(line.part)}` bills {billed:,.10g} kW-months, but the ramp of the text has {given:,.10g} in these months"
            at = quote_path(index, "quantity")
            yield RULE.problem(at, message, "let the supplier bill the ramp", severity="warning")
            return


def _watts_by_month(steps: list[_Step]) -> Mapping[int, float]:
    """The watts in each month of a ramp; a later step replaces an open-ended one."""
    found: dict[int, float] = {}
    for step in sorted(steps, key=lambda each: (each.first, each.last)):
        found |= dict.fromkeys(range(step.first, step.last + 1), step.watts)
    return found

"""A clause of a contract does not fit the plan.

## What it finds

Clauses in the lines of a quote, the milestones and the description:

- a contract that is extended unless notice is given some months before its end, and a milestone that gives notice later:
  an error;
- a committed amount of energy (`take-or-pay`) above the energy of the machine at full load all year: a warning;
- instances that the provider may stop (preemptible, spot), where the text asks for an availability of 99 % or more: an
  error;
- days between the end of the present support and the start of the next, by the milestones, or by the description and the
  lines: an error;
- a term of delivery (`EXW`) that leaves more to the buyer than the description asks for (`DDP`), without a line for it: an
  error;
- support bought for longer than the maker supports the part, by the date in its line: an error;
- an order that is signed after the end of the framework agreement that the description names: an error;
- failed drives that go back to the maker, where the text says that media do not leave the site: a warning.

## Why it matters

The money is owed although nothing is used: a period of empty cabinets, or energy that nobody takes. Instances that stop
at any time keep no availability, and a drive that must stay is billed as a new one each time that it fails.

## What to do

Give notice earlier, commit to the energy of the machine at its planned utilization, buy reserved instances for the
service, and add the retention of drives to the support.

## When to ignore it

Ignore it where the text is about another contract or another machine.

## Fires

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement:
  currency: USD
  quote:
    - {part: "Cabinet rent, 48 months; renews by 24 months unless notice is given 12 months before the end", quantity: 48, price: 96000}
  delivery: {milestones: ["last node 2027-04-13", "notice for the cabinets 2030-09-30", "cabinets empty by 2031-03-31"]}
```

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: dgx-h100, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "Support DGX H100, 16 nodes, 24 months", quantity: 32, unit_price: 45000}
  delivery: {milestones: ["end of the current contract 2027-01-31", "start of the new term 2027-03-01"]}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
description: The framework agreement runs until 2026-12-31; call-offs are signed within its life.
cluster: {platform: dgx-h100, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "DGX H100", quantity: 16, unit_price: 300000}
  delivery: {milestones: ["call-off contract signed 2027-01-18"]}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 32, power: {node: 10.2 kW}}
procurement:
  currency: EUR
  pue: 1.2
  quote:
    - {part: "Electricity, take-or-pay, 6000 MWh a year", quantity: 1, price: 0}
```

```yaml procurement.quote[0].part
clusterspec: 1
description: Reports for the stroke pathway; the service has to be available 99.9 % of every month.
cluster: {platform: hgx-h200, nodes: 4}
procurement:
  currency: USD
  quote:
    - {part: "H200 in nodes of eight, preemptible, per GPU-hour", quantity: 280320, unit_price: 1.45}
```

```yaml procurement.quote[0].part
clusterspec: 1
description: No medium with patient data leaves the site, even a failed one.
cluster: {platform: hgx-h200, nodes: 4}
procurement:
  currency: USD
  quote:
    - {part: "Support 5 years, replaced parts and drives are returned to the maker", quantity: 1, price: 148000}
```

## Silent

```yaml
clusterspec: 1
description: No medium with patient data leaves the site. The service has to be available 99.9 % of every month.
cluster: {platform: dgx-h200, nodes: 32, power: {node: 10.2 kW}}
procurement:
  currency: USD
  pue: 1.2
  quote:
    - {part: "Cabinet rent; renews by 24 months unless notice is given 12 months before the end", quantity: 48, price: 96000}
    - {part: "Electricity, take-or-pay, 2800 MWh a year", quantity: 1, price: 0}
    - {part: "Support 5 years, replaced parts are returned, keep your drive included", quantity: 1, price: 148000}
  delivery: {milestones: ["last node 2027-04-13", "notice for the cabinets 2030-03-15", "cabinets empty by 2031-03-31"]}
```

## Sources

- Take-or-pay contracts: https://www.law.cornell.edu/wex/take-or-pay_contract
- Preemptible instances may stop at any time and have no availability agreement: https://cloud.google.com/compute/docs/instances/preemptible
- Retention of drives as an option of support: https://www.dell.com/en-us/dt/services/deployment-services/keep-your-hard-drive.htm
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.procurement.part_names import plain_part
from clusterspec.quantity import DAY, HOUR, YEAR
from clusterspec.rules.knowledge.purchases import date_of_text, dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import (
    AVAILABLE,
    CARRIED,
    COMMITTED,
    COVER,
    DELIVERED,
    END_OF_PRESENT,
    ENERGY,
    EXTENDED,
    FRAMEWORK,
    INTERRUPTED,
    KEPT_DRIVES,
    MONTHS_BEFORE,
    NOTICE,
    OF_MEDIA,
    PERCENT,
    PERIOD,
    RETURNED,
    SCALE,
    SIGNED,
    START_OF_NEXT,
    STAYS,
    SUPPORT_ENDS,
    TERM,
    TERMS,
)
from clusterspec.rules.readers.quotes.support import sells_support
from clusterspec.rules.readers.written_numbers import number_in_text
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.source import Path
from clusterspec.spec.model import ProcurementSpec, QuoteLine, Spec
from clusterspec.units import percent
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")
MONTH = YEAR / DAY / 12
"""Days of a month."""
SLACK = 3.0
"""Days by which calendar months may differ from `MONTH`."""
ABOVE = 1.25
"""Ratio to the energy at full load (and to the budget) above which a committed energy cannot be used; switches and
storage use the rest.
"""
ABOVE_USED = 1.1
"""Ratio to the expected use above which a committed energy cannot be used, if a utilization is stated."""
KEPT = 99.0
"""Smallest monthly availability in percent at which the provider must not stop the machines."""


def check(procurement: ProcurementSpec, spec: Spec, cluster: Cluster | None, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    yield from _late_notice_problem(texts)
    yield from _uncovered_days_problem(texts)
    yield from _ended_cover_problem(procurement, texts)
    yield from _lesser_term_problem(procurement, texts)
    yield from _late_call_off_problem(texts)
    if cluster is not None and procurement.pue is not None:
        drawn = it_power(cluster, None, spec.cluster.power if spec.cluster else None)
        watts = max([drawn[0] if drawn is not None else 0.0, *(budget.value for _, budget in spec.power_budgets)])
        yield from _unused_energy_problem(texts, procurement, watts * procurement.pue)
    yield from _stopped_service_problem(procurement.quote, texts)
    yield from _returned_drives_problem(procurement.quote, texts)


def _late_notice_problem(texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a milestone that gives notice later than the contract requires; the contract ends on the last date
    in the texts.
    """
    given = [
        (index, day) for index, each in enumerate(texts.milestones) if NOTICE.search(each) for day in dates_in(each)
    ]
    clauses = [each for each in (*texts.lines, *texts.sentences) if EXTENDED.search(each) is not None]
    months = {int(one or other) for each in clauses for one, other in MONTHS_BEFORE.findall(each)}
    ends = [day for each in (*texts.milestones, texts.description, *texts.lines) for day in dates_in(each)]
    if len(given) != 1 or len(months) != 1 or not ends:
        return
    ((index, day),), (before,) = given, months
    latest = max(ends).toordinal() - before * MONTH
    if max(ends) > day and day.toordinal() > latest + SLACK:
        message = f"notice is given on {day}, but the contract asks for it {before} months before its end, by {date.fromordinal(round(latest))}"
        at = ("procurement", "delivery", "milestones", index)
        yield RULE.problem(at, message, "give notice earlier, or plan the next period")


def _uncovered_days_problem(texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of days without support, between the end of the present one and the start of the next. The dates are
    in two milestones, or in the description and the support lines.
    """
    dated = [(index, each, days[0]) for index, each in enumerate(texts.milestones) if len(days := dates_in(each)) == 1]
    ends = [day for _, each, day in dated if END_OF_PRESENT.search(each) is not None]
    starts = [(index, day) for index, each, day in dated if START_OF_NEXT.search(each) is not None]
    sells = any(map(sells_support, texts.lines))
    if sells and len(ends) == 1 and len(starts) == 1 and (starts[0][1] - ends[0]).days > 1:
        yield from _gap_problem(ends[0], starts, "procurement.delivery.milestones.{}")
        return
    ends = [
        days[0]
        for each in texts.sentences
        if END_OF_PRESENT.search(each) and COVER.search(each) and len(days := dates_in(each)) == 1
    ]
    begins = [
        (index, days[0])
        for index, text in enumerate(texts.lines)
        if sells_support(text) and len(days := dates_in(text)) == 2
    ]
    planned: list[tuple[int, date]] = []
    for index, text in enumerate(texts.milestones if sells else ()):
        if PERIOD.search(text) is not None and len(days := dates_in(text)) == 2:
            planned.append((index, days[0]))
    if len(ends) == 1 and (begins or planned):
        at = "procurement.quote.{}.part" if begins else "procurement.delivery.milestones.{}"
        yield from _gap_problem(ends[0], begins or planned, at)


def _gap_problem(end: date, starts: Sequence[tuple[int, date]], at: str) -> Iterator[Problem]:
    """The problem of days between the end of a support and the first start of the next one; ``at`` is a key with a
    placeholder for the index.
    """
    gap = (min(day for _, day in starts) - end).days - 1
    if gap > 0:
        place, first = starts[0]
        message = (
            f"the present support ends on {end}, but the next begins on {first}: {plural(gap, 'day')} without support"
        )
        yield RULE.problem(at.format(place), message, "let the next period begin on the day after")


def _ended_cover_problem(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    """Problems of support that is bought for longer than the manufacturer supports the part."""
    ordered, weeks = date_of_text(procurement.as_of), procurement.delivery.weeks if procurement.delivery else None
    planned = [] if ordered is None or weeks is None else [ordered + timedelta(days=min(7 * weeks, 36500))]
    named = [day for each in texts.sentences if DELIVERED.search(each) for day in dates_in(each)]
    needed = date_of_text(procurement.needed_by)
    delivered = max([*planned, *named], default=needed)
    support = procurement.support.term if procurement.support is not None else None
    for index, line in enumerate(procurement.quote or ()):
        text, at, name = plain_part(line), quote_path(index, "part"), name_of_part(line.part)
        ended = SUPPORT_ENDS.search(text)
        last = date_of_text(ended[1] or ended[2]) if ended is not None else None
        start = delivered or needed
        if last is None or start is None or support is None:
            continue
        until = start.toordinal() + support.value / DAY
        if until > last.toordinal() + MONTH:
            end = date.fromordinal(min(round(until), date.max.toordinal()))
            message = f"the maker ends the support of `{name}` on {last}, but support is bought until {end}"
            yield RULE.problem(at, message, "choose a part that the maker supports for the whole time")


def _lesser_term_problem(procurement: ProcurementSpec, texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a delivery term, in a milestone or line, that leaves more to the buyer than the term in the
    description, if no line pays for the rest.
    """
    asked = {*TERM.findall(texts.remarks)}
    if len(asked) != 1 or any(CARRIED.search(each) for each in texts.lines):
        return
    milestones = (procurement.delivery.milestones if procurement.delivery is not None else None) or ()
    places = [(f"procurement.delivery.milestones.{index}", each) for index, each in enumerate(milestones)]
    places += [
        (f"procurement.quote.{index}.part", line.part or "") for index, line in enumerate(procurement.quote or ())
    ]
    (wanted,) = asked
    for at, each in places:
        for offered in TERM.findall(each):
            if TERMS.index(offered) < TERMS.index(wanted):
                message = f"the delivery is {offered}, but the description asks for {wanted}: freight, insurance or customs are left to the buyer, and no line pays for them"
                yield RULE.problem(at, message, "ask for a price on the terms of the tender")
                return


def _late_call_off_problem(texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a milestone at which an order is signed after the framework agreement has ended."""
    lives = [day for each in FRAMEWORK.findall(texts.description) if (day := date_of_text(each)) is not None]
    for index, each in enumerate(texts.milestones):
        signed = dates_in(each) if SIGNED.search(each) is not None else []
        if len(lives) == 1 and signed and signed[0] > lives[0]:
            message = f"the order is signed on {signed[0]}, but the framework agreement ends on {lives[0]}"
            at = ("procurement", "delivery", "milestones", index)
            yield RULE.problem(at, message, "sign before it ends, or agree on new prices")
            return


def _unused_energy_problem(texts: PurchaseTexts, procurement: ProcurementSpec, watts: float) -> Iterator[Problem]:
    """The problem of a committed yearly energy, in a line or a sentence, that the machine with its cooling does not
    use, at the stated utilization or else at full load.
    """
    used = procurement.utilization or 1.0
    most = watts * YEAR / HOUR * used
    quote = procurement.quote or ()
    placed: list[tuple[Path, str, str]] = [
        (quote_path(index, "part"), text, f"`{name_of_part(quote[index].part)}`")
        for index, text in enumerate(texts.lines)
    ]
    placed += [(("description",), each, "the text") for each in texts.sentences]
    for at, text, what in placed:
        found = ENERGY.search(text) if COMMITTED.search(text) is not None else None
        number, scale = (
            next(((one, two) for one, two in (found.group(1, 2), found.group(3, 4)) if one), ("", ""))
            if found
            else ("", "")
        )
        committed = number_in_text(number) * SCALE[scale] if number else 0.0
        if watts and committed > (ABOVE_USED if procurement.utilization else ABOVE) * most:
            load = f"at a utilization of {percent(used)}" if procurement.utilization else "at full load all year"
            message = f"{what} commits to {_energy_text(committed)} a year, but the machine takes {_energy_text(most)} {load}, with a PUE of {procurement.pue:g}"
            yield RULE.problem(at, message, "commit to the energy of the planned utilization", severity="warning")
            return


def _energy_text(watt_hours: float) -> str:
    """An energy as text in MWh."""
    return f"{watt_hours / 1e6:,.0f} MWh"


def _stopped_service_problem(quote: Sequence[QuoteLine], texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of instances that the provider may stop, if the text requires a high availability."""
    asked = [
        float(percent.replace(",", "."))
        for sentence in texts.sentences
        if AVAILABLE.search(sentence) is not None
        for percent in PERCENT.findall(sentence)
    ]
    if not asked or max(asked) < KEPT:
        return
    for index, part in enumerate(texts.lines):
        if INTERRUPTED.search(part) is not None:
            message = f"`{name_of_part(quote[index].part)}` may be stopped at any time, but the text asks for an availability of {max(asked):g} %"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "buy reserved instances or those on demand, or ask for less")
            return


def _returned_drives_problem(quote: Sequence[QuoteLine], texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of support that requires the return of failed drives, if by the text all media stay on the site."""
    stays = any(STAYS.search(each) is not None for each in (texts.remarks.lower(), texts.description))
    if not stays or any(KEPT_DRIVES.search(part) is not None for part in texts.lines):
        return
    for index, part in enumerate(texts.lines):
        if RETURNED.search(part) is not None and OF_MEDIA.search(part) is not None:
            message = f"`{name_of_part(quote[index].part)}` returns failed parts to the supplier, but according to the text no medium leaves the site"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "add the retention of drives to the support", severity="warning")
            return

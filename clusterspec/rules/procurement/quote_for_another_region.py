"""A cloud's quote or machine is in another region than the rest, or than the data may be.

## What it finds

A commitment, a reservation, instances or a file system in `procurement.quote` for another region of AWS, Azure, Google or
Oracle than the other lines, or than the description where it names one: an error. A reservation or a file system in another
zone than the instances is a warning. Lines for copies, transfers and archives are left out. It is also an error where the
description keeps data in the European Union, and names a region of the machine in America or Asia.

## Why it matters

A savings plan for the instances of a family, a reservation and committed use hold in one region: hours in another are
billed on demand, and the commitment as well. Between regions, and between zones, each GB of traffic is billed, and
no file system is mounted at its rate. A machine where the data may not go is paid for and cannot be used.

## What to do

Buy the commitment and the file system where the instances run.

## When to ignore it

Ignore it where a part of the machine runs in the other region on purpose.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: aws-p5en-48xlarge, nodes: 12}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 12 months
  quote:
    - {part: "Capacity reservation, 12x p5en.48xlarge, us-east-2a", quantity: 12, unit_price: 0}
    - {part: "EC2 Instance Savings Plan, P5en, US West (Oregon), 1 year, instance-hours", quantity: 105120, unit_price: 41.2}
    - {part: "FSx for Lustre, us-east-2a, 57.6 TiB, GB-months", quantity: 707788.8, unit_price: 0.6}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: aws-p5en-48xlarge, nodes: 12}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 12 months
  quote:
    - {part: "12x p5en.48xlarge instances, us-east-2a, hours", quantity: 105120, unit_price: 41.2}
    - {part: "FSx for Lustre, us-east-2c, 57.6 TiB, GB-months", quantity: 707788.8, unit_price: 0.6}
```

```yaml description
clusterspec: 1
description: Six nodes in Azure East US (Virginia). The contracts allow processing in the EU only.
cluster: {platform: azure-nd-mi300x-v5, nodes: 6}
procurement: {currency: EUR, term: 1 y, prices: {node_hour: 33.6}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: aws-p5en-48xlarge, nodes: 12}
procurement:
  currency: USD
  as_of: 2026-11-01
  term: 12 months
  quote:
    - {part: "EC2 Instance Savings Plan, P5en, US East (Ohio), 1 year, instance-hours", quantity: 105120, unit_price: 41.2}
    - {part: "FSx for Lustre, us-east-2a, 57.6 TiB, GB-months", quantity: 707788.8, unit_price: 0.6}
    - {part: "S3 replica of checkpoints, us-west-2, GB-months", quantity: 600000, unit_price: 0.023}
```

## Sources

- Savings plans and their regions: https://docs.aws.amazon.com/savingsplans/latest/userguide/what-is-savings-plans.html
- Names of AWS's regions: https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit
from clusterspec.procurement.part_names import HOURS
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import and_list, name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_PLACE = pattern(
    r"\b((?:us|eu|ap|ca|sa|me|af|il|mx|cn|uk)-(?:gov-)?[a-z]{4,12}-\d)([a-f])?\b|"
    r"\b((?:us|eu|europe|asia|northamerica|southamerica|australia|me|africa)-[a-z]{4,12}\d{1,2})(?:-([a-f]))?\b"
)
"""Pattern of regions of AWS and Oracle (`us-east-2`) and of Google (`us-central1`), with their zones."""
_CITY = pattern(r"\b(?:us (?:east|west)|europe|asia pacific|canada|south america|middle east) ?\(([a-zã. ]+)\)")
"""Pattern of AWS region names with the place in parentheses."""
_CITIES = {
    **{"n. virginia": "us-east-1", "ohio": "us-east-2", "n. california": "us-west-1", "oregon": "us-west-2"},
    **{"ireland": "eu-west-1", "london": "eu-west-2", "paris": "eu-west-3", "frankfurt": "eu-central-1"},
    **{"zurich": "eu-central-2", "stockholm": "eu-north-1", "milan": "eu-south-1", "spain": "eu-south-2"},
    **{"tokyo": "ap-northeast-1", "seoul": "ap-northeast-2", "osaka": "ap-northeast-3", "mumbai": "ap-south-1"},
    **{"hyderabad": "ap-south-2", "singapore": "ap-southeast-1", "sydney": "ap-southeast-2"},
    **{"jakarta": "ap-southeast-3", "melbourne": "ap-southeast-4", "central": "ca-central-1", "são paulo": "sa-east-1"},
}
_AZURE = pattern(
    r"\b((?:(?:north|south|west) central|east|west|central) us(?: [23])?|(?:north|west) europe|uk (?:south|west)|"
    r"(?:sweden|france|poland|spain|korea|australia|india|canada|qatar|israel) central|italy north|germany west central|"
    r"norway east|switzerland north|japan (?:east|west)|(?:southeast|east) asia|australia east|canada east|brazil south|"
    r"uae north|south africa north)\b"
)
"""Pattern of Azure region names."""
_PLACED = pattern(
    r"\b(?:savings? plans?|reserv\w+|capacity|commit\w*|cud|instances?|vms?|nodes?|fsx|lustre|filestore|netapp|"
    r"file (?:system|storage)|ssd|[a-z]\d[a-z]*\.\d+xlarge)\b"
)
_ZONAL = pattern(r"\b(?:capacity|reserv\w+|fsx|lustre|filestore|netapp|instances?|\d+ ?x|[a-z]\d[a-z]*\.\d+xlarge)\b")
_ELSEWHERE = pattern(
    r"\b(?:replica\w*|copy|copies|back-?ups?|secondary|second|dual|multi-?region|disaster|dr|egress|transfer\w*|archive\w*|"
    r"cross-region|from|standby)\b"
)


class _LineInRegion(NamedTuple):
    """A quote line with the only region that it names, and its zone (empty if it names none)."""

    place: int
    text: str
    region: str
    zone: str


_UNION = pattern(r"(?i)\b(?:eu|eea|european)\b")
_IN_UNION = pattern(
    r"\b(?:in|within|inside|out of|outside|leave) (?:the )?(?:eu|eea|european union|european economic area)\b"
)
_BOUND = pattern(r"\b(?:only|must|may not|no transfer|not leave|not be transferred|exclusively|allowed?)\b")
_OVERSEAS = pattern(
    r"^(?:us|ca|ap|sa|northamerica|southamerica|asia|australia)-|\bus\b|\b(?:asia|japan|india|korea|australia|brazil)\b"
)


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote and not remarks:
        return
    if _UNION.search(remarks) is not None:
        yield from _data_abroad_problem(remarks.lower())
    if not procurement.quote:
        return
    every = [(index, (line.part or "").lower()) for index, line in enumerate(procurement.quote) if not is_credit(line)]
    lines = [line for index, text in every if (line := _line_with_region(index, text)) is not None]
    usual = _usual_region(lines, remarks.lower())
    other = [line for line in lines if usual and line.region != usual and _PLACED.search(line.text) is not None]
    for line in other:
        name = name_of_part(procurement.quote[line.place].part)
        message = f"`{name}` is for {line.region}, but the machine is in {usual}"
        help_ = "buy commitments and file systems in the region of the instances"
        yield RULE.problem(quote_path(line.place, "part"), message, help_)
    zones = [line for line in lines if line.region == usual and line.zone and _ZONAL.search(line.text) is not None]
    if not other and len({line.zone for line in zones}) > 1:
        at = quote_path(zones[-1].place, "part")
        named = and_list(sorted({usual + line.zone for line in zones}))
        message = f"lines of one machine are for the zones {named}: traffic between zones is billed, and a reservation holds in one"
        yield RULE.problem(at, message, "place the instances and their file system in one zone", severity="warning")


def _data_abroad_problem(text: str) -> Iterator[Problem]:
    """The problem of a machine outside the European Union, if by the text the data stay in the Union."""
    if not any(_IN_UNION.search(each) and _BOUND.search(each) for each in sentences_of(text)):
        return
    regions = {region for region, _ in regions_in(text)}
    if len(regions) == 1 and _OVERSEAS.search(region := regions.pop()) is not None:
        message = f"according to the text, the data stay in the European Union, but the machine is in {region}"
        yield RULE.problem("description", message, "rent in a region of the Union", confidence="likely")


def _line_with_region(index: int, text: str) -> _LineInRegion | None:
    """A line with its region; None unless it names exactly one, and for a copy in another place."""
    places = regions_in(text)
    if len(places) != 1 or _ELSEWHERE.search(text) is not None:
        return None
    ((region, zone),) = places
    return _LineInRegion(index, text, region, zone)


def regions_in(text: str) -> set[tuple[str, str]]:
    """The regions that a lowercase text names, each with its zone.

    >>> sorted(regions_in("fsx, us-east-2a, and us west (oregon)")), regions_in("a3 in us-central1-c"), regions_in("east us 2")
    ([('us-east-2', 'a'), ('us-west-2', '')], {('us-central1', 'c')}, {('east us 2', '')})
    """
    found = {(one or other, zone or last) for one, zone, other, last in _PLACE.findall(text)}
    found |= {(_CITIES[city], "") for city in _CITY.findall(text) if city in _CITIES}
    return found or {(name, "") for name in _AZURE.findall(text)}


def _usual_region(lines: Sequence[_LineInRegion], remarks: str) -> str:
    """The region of the machine: of the description, else of most lines, else of the lines that sell hours; empty if
    unclear.
    """
    stated = {region for region, _ in regions_in(remarks)}
    if len(stated) == 1:
        return stated.pop()
    ranked = Counter(line.region for line in lines).most_common(2)
    if not ranked or (len(ranked) == 2 and ranked[0][1] == ranked[1][1]):
        computing = {line.region for line in lines if HOURS.search(line.text) is not None}
        return computing.pop() if len(computing) == 1 else ""
    return ranked[0][0]

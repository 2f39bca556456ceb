"""The milestones of a delivery are in an order that cannot work.

## What it finds

- Servers that arrive three weeks or more before the first racks, power distribution units or power in the hall: a
  warning;
- an acceptance before the last servers have arrived and the burn-in of `operations.burn_in` has ended: a warning;
- an acceptance, a start of production or a first job before the last parts arrive, by the milestones or by
  `delivery.weeks`: a warning, and an error before the first servers or racks; the acceptance of a hall, of a phase or
  of a number of nodes is not compared;
- servers that the milestones count (`16 servers in week 17`), together fewer than the design has, or than one of them
  names as all (`all 42 servers are then on site`): a warning;
- a lease, rent or billing that by the description or a milestone starts before the last servers arrive: a warning;
- imported servers that are installed before the customs release them: an error;
- a burn-in or a load on liquid-cooled nodes before their loop is filled or commissioned: an error;
- machines that leave the factory before the license of their export is there: an error;
- an old system or store that is removed before the migration from it ends: an error.

Milestones in weeks (`week 6: servers`) are compared with those in weeks, and dates with dates.

## Why it matters

Servers in a warehouse are paid for and lose their warranty while nobody uses them. Data whose source is gone cannot be
migrated.

## What to do

Bring the racks and the power forward, and let the old system stay until the migration is accepted.

## When to ignore it

Ignore it where the milestone is about another phase than the other one.

## Fires

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, delivery: {weeks: 15, milestones: ["week 6: servers", "week 15: racks and PDUs"]}}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, delivery: {milestones: ["old store removed in week 10", "migration until week 15"]}}
```

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
operations: {burn_in: 7 days}
procurement: {currency: USD, delivery: {milestones: ["servers 2027-04-05", "acceptance 2027-04-09"]}}
```

```yaml description
clusterspec: 1
description: The lease starts on 2027-02-01 and lasts 60 months.
cluster: {platform: dgx-b200, nodes: 6}
procurement: {currency: JPY, delivery: {milestones: ["servers 2027-03-15", "acceptance 2027-03-26"]}}
```

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 32}
procurement: {currency: INR, delivery: {weeks: 20, milestones: ["16 servers in week 17", "8 servers in week 20"]}}
```

```yaml procurement.delivery.milestones[1]
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 40, spare_nodes: 2}
procurement: {currency: INR, delivery: {weeks: 20, milestones: ["week 16: first wave, 32 servers", "week 20: second and last wave, 8 servers; all 42 servers are then on site"]}}
```

```yaml procurement.delivery.milestones[0]
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, delivery: {weeks: 20, milestones: ["acceptance in week 10", "first rack in week 18"]}}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement:
  currency: USD
  delivery: {weeks: 15, milestones: ["week 4: racks and PDUs", "week 6: servers", "week 8: second racks", "migration until week 12", "old store removed in week 15"]}
```

```yaml
clusterspec: 1
cluster: {platform: hgx-h200, nodes: 40, spare_nodes: 2}
procurement: {currency: INR, delivery: {weeks: 20, milestones: ["week 16: first wave, 32 servers", "week 20: the remaining 10 servers; all 42 servers are then on site"]}}
```

```yaml
clusterspec: 1
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, delivery: {weeks: 20, milestones: ["hall accepted in week 10", "first rack in week 18", "acceptance in week 22"]}}
```

## Sources

- Preparing a hall before systems arrive: https://docs.nvidia.com/dgx-superpod/design-guides/dgx-superpod-data-center-design-h100/latest/planning.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.rules.knowledge.purchases import date_of_text, dates_in
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.timeline import ACCEPTANCE, MIGRATION, SERVERS, weeks_in
from clusterspec.rules.rule import Rule
from clusterspec.source import Path
from clusterspec.spec.model import OperationsSpec, PowerSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning", "likely")
EARLY = 3
"""Number of weeks that servers may arrive before their racks, since parts of one delivery arrive on several days."""
_RACKS = pattern(r"\b(?:racks?|cabinets?|pdus?|power (?:in|at|to) the hall|busways?|power distribution)\b")
_REMOVED = pattern(
    r"\b(?:handed back|returned|goes back|return of|rückgabe|restitution|devolución|devolução|restituzione|teruggave|remov\w*|taken away|collect\w*|takes? [^.;]{0,40}? along|trade-in|dismantl\w*|decommission\w*|odv[eo]z\w*|abtransport\w*|abbau\w*|rückbau\w*|enlèvement|dépose|retirada|ritiro|afvoer\w*|bortforsling|demontaż\w*|wywóz\w*|switched off)\b"
)
_EXPORT = pattern(
    r"\b(?:export|import|customs)[- ](?:licen[cs]es?|permits?|clearance|approvals?)\b|\b(?:ausfuhrgenehmigung|licence d'exportation|licencia de exportación)\b"
)
_SENT = pattern(
    r"\b(?:leave|leaves|left|sent|ship\w*|dispatch\w*|versand|verschickt|expédi\w*|enviad\w*|spedit\w*|verzonden|odeslán\w*)\b"
)
_LOAD = pattern(
    r"\b(?:under load|burn-?in|power(?:ed)?[- ]on|energi[sz]ed with servers|load tests?|stress tests?|hpl|nccl tests?)\b"
)
_FILLED = pattern(
    r"\b(?:coolant|loops?|water|pipework|piping|manifolds?|cdus?|glycol|secondary circuit)\b[^.;]{0,40}?\b(?:filled|flushed|commissioned|connected|available|in service|ready|live|hot)\b"
)
"""Pattern of words in a milestone for a load, and for the coolant that the load needs."""
_OLD = pattern(
    r"\b(?:old|existing|current|previous|present|alt\w{0,3}|ancien\w*|vieux|antigu\w+|antig\w+|vecchi\w*|oude?|gam\w+|star(?:é|ý|á|ého|ém|y|e|a|ego)|vieil\w*|gammel\w*)\b"
)
_COUNTED_SERVERS = pattern(
    r"(?<![\w.,/-])(\d{1,4}) (?:x )?(?:(?:dgx |hgx |gpu )?(?:[a-z]{1,2}\d{2,3} )?(?:servers?|nodes?|systems?)|[dh]gx)\b"
)
_SEVERAL = pattern(r"\b(?:spares?|phase|option\w*|and(?! (?:last|final)\b))\b")
"""Pattern of words in a milestone with several deliveries, or with an uncertain delivery."""
_REST = pattern(r"\b(?:rest|remaining|others?|all|last|balance)\b")
"""Pattern of words in a milestone that delivers the rest."""
_TOTAL = pattern(
    r"\b(?:all|total(?: of)?|altogether|alle|insgesamt|tous les|les|todos los|tutti i) (?:the )?(\d{1,4}) (?:(?:dgx |hgx |gpu )?(?:[a-z]{1,2}\d{2,3} )?(?:servers?|nodes?|systems?))\b"
)
"""Pattern of the number of all servers, in a milestone that states it in addition to its own number."""
_LEASE_STARTS = pattern(
    r"\b(?:lease|leasing|rental|rent|hire|billing|invoicing)\b(?: of (?:[a-z-]{2,12} ){1,4})? ?(?:term )?(?:starts?|begins?|start|commences|beginn|from|début)\b[^\d.;]{0,20}20\d\d-\d\d-\d\d|"
    r"(?:リース|rental) ?開始 ?[^\d.;]{0,6}20\d\d-\d\d-\d\d"
)


def check(
    procurement: ProcurementSpec,
    operations: OperationsSpec | None,
    cluster: Cluster | None,
    power: PowerSpec | None,
    texts: PurchaseTexts,
) -> Iterator[Problem]:
    if procurement.delivery is None or not procurement.delivery.milestones:
        return
    milestones = texts.milestones
    yield from _early_rent_problem(texts)
    if cluster is not None:
        yield from _few_servers_problem(milestones, cluster.nodes)
    for unit, days in (("week", weeks_in), ("day", _days_in)):
        dated = [(index, text, found) for index, text in enumerate(milestones) if (found := days(text))]
        yield from _early_servers_problem(dated, unit)
        yield from _removed_source_problem(dated, unit)
        yield from _late_license_problem(dated, unit)
        yield from _late_customs_problem(dated, unit)
        last = _last_delivery(texts, unit)
        yield from _use_before_delivery_problem(dated, unit, last)
        if power is not None and power.cooling == "liquid":
            yield from _load_before_filling_problem(dated, unit)
        burn_in = operations.burn_in if operations is not None else None
        if burn_in is not None:
            yield from _early_acceptance_problem(
                dated, unit, burn_in.value / (DAY if unit == "day" else 7 * DAY), burn_in.written
            )


def _days_in(text: str) -> list[int]:
    """The days in a milestone, as ordinals."""
    return [day.toordinal() for day in dates_in(text)]


def _early_servers_problem(dated: Sequence[tuple[int, str, list[int]]], unit: str) -> Iterator[Problem]:
    """The problem of servers whose last delivery is long before the first racks."""
    servers = [(max(at), index) for index, text, at in dated if SERVERS.search(text) and not _RACKS.search(text)]
    racks = [min(at) for _, text, at in dated if _RACKS.search(text) and not SERVERS.search(text)]
    if not servers or not racks:
        return
    (last, index), first = max(servers), min(racks)
    if first - last >= EARLY * (7 if unit == "day" else 1):
        message = (
            f"the servers arrive {plural(first - last, unit)} before the racks and the power that they are built into"
        )
        at = ("procurement", "delivery", "milestones", index)
        yield RULE.problem(at, message, "bring the racks forward, or deliver the servers later")


def _load_before_filling_problem(dated: Sequence[tuple[int, str, list[int]]], unit: str) -> Iterator[Problem]:
    """The problem of liquid-cooled nodes that run under load before the milestone at which their loop is filled."""
    filled = [max(at) for _, text, at in dated if _FILLED.search(text) is not None and _LOAD.search(text) is None]
    loads = [
        (min(at), index) for index, text, at in dated if _LOAD.search(text) is not None and _FILLED.search(text) is None
    ]
    if not filled or not loads:
        return
    (day, index), wet = min(loads), min(filled)
    if day < wet:
        message = f"the nodes run under load {plural(wet - day, unit)} before the coolant loop is filled"
        at = ("procurement", "delivery", "milestones", index)
        yield RULE.problem(at, message, "fill and test the loop first", severity="error")


def _late_license_problem(dated: Sequence[tuple[int, str, list[int]]], unit: str) -> Iterator[Problem]:
    """The problem of machines that leave the factory before their export license is granted."""
    granted = [max(at) for _, text, at in dated if _EXPORT.search(text) is not None]
    sent = [(min(at), index) for index, text, at in dated if _SENT.search(text) and _EXPORT.search(text) is None]
    if granted and sent and min(sent)[0] < max(granted):
        message = f"the machines are sent {plural(max(granted) - min(sent)[0], unit)} before the license of their export is there"
        at = ("procurement", "delivery", "milestones", min(sent)[1])
        yield RULE.problem(at, message, "send them with the license", severity="error")


_NUMBERED = pattern(r"\b(?:nodes?|servers?|systems?) (\d{1,5}) ?(?:-|–|to|through|bis|à|a|al) ?(\d{1,5})\b(?!-\d)")
"""Pattern of the serial numbers of the servers that a milestone delivers, such as `nodes 33-60`."""


def _few_servers_problem(milestones: Sequence[str], nodes: int) -> Iterator[Problem]:
    """The problem of milestones that together deliver fewer servers than the design has, if each states its servers."""
    numbered = [
        (int(last), index)
        for index, text in enumerate(milestones)
        for first, last in _NUMBERED.findall(text)
        if int(first) < int(last)
    ]
    if len(numbered) > 1 and max(numbered)[0] < nodes and not any(_is_uncounted_delivery(text) for text in milestones):
        message = f"the milestones deliver servers up to number {max(numbered)[0]:,}, but the design has {nodes:,}"
        at = ("procurement", "delivery", "milestones", max(numbered)[1])
        yield RULE.problem(at, message, "ask for the date of the others")
        return
    totals = [int(number) for text in milestones for number in _TOTAL.findall(text)]
    own = [_TOTAL.sub(" ", text) for text in milestones]
    counted = [(index, int(number)) for index, text in enumerate(own) for number in _COUNTED_SERVERS.findall(text)]
    delivered = sum(number for _, number in counted)
    vague = any(
        _is_uncounted_delivery(text, _COUNTED_SERVERS.search(text) is not None) for text in own if SERVERS.search(text)
    )
    if len(counted) > 1 and delivered < max(totals, default=nodes) and not vague:
        other = f"one of them names {max(totals):,} in all" if totals else f"the design has {nodes:,}"
        message = f"the milestones deliver {delivered:,} servers, but {other}"
        at = ("procurement", "delivery", "milestones", counted[-1][0])
        yield RULE.problem(at, message, "ask for the date of the others")


def _is_uncounted_delivery(text: str, is_counted: bool = False) -> bool:
    """Whether a milestone may deliver servers that it does not count."""
    return _SEVERAL.search(text) is not None or (not is_counted and _REST.search(text) is not None)


def _early_rent_problem(texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a lease that starts before the machine arrives."""
    served = [text for text in texts.milestones if SERVERS.search(text) and _LEASE_STARTS.search(text) is None]
    servers = [day for text in served for day in dates_in(text)]
    at: Path = ("procurement", "delivery", "milestones")
    placed = [
        (("description",), texts.description),
        *(((*at, index), text) for index, text in enumerate(texts.milestones)),
    ]
    starts = [
        (day, path)
        for path, text in placed
        for found in _LEASE_STARTS.finditer(text)
        for day in dates_in(found[0])[-1:]
    ]
    if servers and len(starts) == 1 and starts[0][0] < max(servers):
        start, path = starts[0]
        early = plural((max(servers) - start).days, "day")
        message = f"according to the text, the lease starts on {start}, {early} before the last servers arrive"
        yield RULE.problem(path, message, "start the lease with the acceptance")


_CUSTOMS = pattern(
    r"\b(?:customs|desembara[cç]o|zoll\w*|verzoll\w*|dédouane\w*|aduan\w*|despacho|dogan\w*|inklarer\w*|odpraw\w*|celn\w*)\b|通関|清关|통관"
)
_INSTALLED = pattern(
    r"\b(?:install\w*|instalad\w*|installat\w*|mounted|rack(?:ed|ing)|in the hall|power(?:ed)? on|montiert|montage|montés?|montad\w*)\b"
)


def _late_customs_problem(dated: Sequence[tuple[int, str, list[int]]], unit: str) -> Iterator[Problem]:
    """The problem of servers that are installed before customs releases them."""
    released = [max(at) for _, text, at in dated if _CUSTOMS.search(text) is not None]
    placed = [
        (min(at), index)
        for index, text, at in dated
        if _INSTALLED.search(text) and SERVERS.search(text) and _CUSTOMS.search(text) is None
    ]
    if released and placed and min(placed)[0] < max(released):
        message = (
            f"the servers are installed {plural(max(released) - min(placed)[0], unit)} before the customs release them"
        )
        at = ("procurement", "delivery", "milestones", min(placed)[1])
        yield RULE.problem(at, message, "install them after the release", severity="error")


def _early_acceptance_problem(
    dated: Sequence[tuple[int, str, list[int]]], unit: str, lasting: float, written: str
) -> Iterator[Problem]:
    """The problem of an acceptance that follows the last servers by less than the burn-in time ``lasting``."""
    servers = [max(at) for _, text, at in dated if SERVERS.search(text) and not ACCEPTANCE.search(text)]
    accepted = [(max(at), index) for index, text, at in dated if ACCEPTANCE.search(text) and not SERVERS.search(text)]
    if len(accepted) != 1 or not servers:
        return
    ((day, index),) = accepted
    if 0 <= day - max(servers) < lasting:
        message = f"the acceptance is {plural(day - max(servers), unit)} after the last servers, but the burn-in takes {written}"
        at = ("procurement", "delivery", "milestones", index)
        yield RULE.problem(at, message, "accept after the burn-in")


_USE = pattern(
    r"\b(?:acceptance|accepted|go-?live|goes live|(?:in|start of|enters) production|production (?:use|start|starts|begins)|(?:first|pre-?training|production) (?:jobs?|runs?) starts?|first (?:training )?(?:jobs?|runs?))\b"
)
"""Pattern of words in a milestone for the use of the whole machine."""
_OF_A_PART = pattern(
    r"\b(?:halls?|rooms?|sites?|cages?|power|electrical|cooling|chillers?|loops?|cdus?|factory|fat|works|buildings?|partial|interim|pre-?acceptance|pilots?|tests? (?:racks?|systems?|nodes?)|proof|poc|demo|samples?|"
    r"cloud|reservation|lots?|lotes?|wave|stage|phase|first(?! (?:pre-?training|training|production|jobs?|runs?))|etap\w*|tranche|batch|pod|block|half|part|designs?|plans?|drawings?|quotes?|offers?|orders?|(?:after|within|following|of|since|before|until|upon|at) acceptance)\b|\b\d{1,5} (?:[a-z0-9-]{1,12} )?(?:nodes?|servers?|racks?|systems?)\b"
)
"""Pattern of words in a milestone for the acceptance of a part of the machine or of something else."""
_ARRIVES = pattern(r"\b(?:racks?|cabinets?|trays?|switch(?:es)?|spines?|transceivers?|optics|cables?|deliver\w*)\b")
_NOT_AWAITED = pattern(
    r"\b(?:spares?|options?|optional|phase|later|second|returned|returns?|old|removed|collect\w*|pick-?up|lessor|payments?|licen[cs]es?|documents?|documentation|training)\b"
)
"""Pattern of words in a milestone for parts that the acceptance does not wait for."""


def _last_delivery(texts: PurchaseTexts, unit: str) -> float:
    """The week of the last delivery by `weeks`, or its earliest possible day as an ordinal (the order follows the date
    of the prices); 0 if unknown.
    """
    delivery = texts.procurement.delivery
    weeks = delivery.weeks if delivery is not None and delivery.weeks is not None else 0.0
    if unit == "week":
        return weeks
    ordered = date_of_text(texts.procurement.as_of) if weeks else None
    return ordered.toordinal() + 7 * weeks if ordered is not None else 0.0


def _use_before_delivery_problem(
    dated: Sequence[tuple[int, str, list[int]]], unit: str, last: float
) -> Iterator[Problem]:
    """The problem of a use of the whole machine before the ``last`` delivery, or before the parts of another milestone
    arrive.
    """
    used = [(max(at), index) for index, text, at in dated if _USE.search(text) and _OF_A_PART.search(text) is None]
    brought = [
        (at, SERVERS.search(text) or _RACKS.search(text))
        for _, text, at in dated
        if (SERVERS.search(text) or _ARRIVES.search(text)) and not _USE.search(text) and not _NOT_AWAITED.search(text)
    ]
    if not used:
        return
    day, index = max(used)
    end = max([last, *(max(at) for at, _ in brought)])
    if day >= end:
        return
    first = min((min(at) for at, is_machine in brought if is_machine), default=0)
    early = day < first
    parts, until = ("first servers or racks", first) if early else ("last parts", end)
    message = f"the machine is accepted or in use {plural(round(until - day), unit)} before the {parts} arrive"
    where = ("procurement", "delivery", "milestones", index)
    yield RULE.problem(where, message, "move the acceptance after the delivery", severity="error" if early else "")


def _removed_source_problem(dated: Sequence[tuple[int, str, list[int]]], unit: str) -> Iterator[Problem]:
    """The problem of an old system that is removed before the migration from it ends."""
    migrated = [max(at) for _, text, at in dated if MIGRATION.search(text) and not _REMOVED.search(text)]
    for index, text, at in dated:
        if migrated and _REMOVED.search(text) and _OLD.search(text) and max(at) < max(migrated):
            message = f"the old system is removed {plural(max(migrated) - max(at), unit)} before the migration ends"
            where = ("procurement", "delivery", "milestones", index)
            yield RULE.problem(where, message, "keep it until the migration is accepted", severity="error")
            return

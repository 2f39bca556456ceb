"""Something lapses before the purchase needs it.

## What it finds

A date by which money, an option, a permit, an insurance or a reservation ends, in the description, a milestone or a
line of the quote, before the day on which the purchase needs it:

- budgets, grants and tax reliefs, before the last delivery with the burn-in, which is the soonest acceptance;
- options, before the day on which they are exercised;
- licenses of export, exemptions from customs and insurances of the transport, before the last delivery;
- hedges and fixed rates of exchange, and guarantees for an advance, before the last delivery;
- reservations of power, racks, halls or slots of production, before the order;
- the lease of the old machine, before the soonest acceptance of the new one, where the text allows no time between;
- the lease of the room of the new machine, before the end of the `term` from the last delivery, unless it can be renewed;
- contracts of the space, before it is cleared, and leases of the old machine or hall, before the end of the migration from it.

A delivery is the last date of servers in the milestones, else the order and `delivery.weeks` after it; the date of the
order comes from the text, else from `as_of`. A milestone in weeks is counted from the order.

## Why it matters

Money of a budget year that has ended is gone, and after an option has lapsed the supplier sets a new price. No budget
covers the difference.

## What to do

Extend the date, or bring the order and the delivery forward.

## When to ignore it

Ignore it where an extension is agreed on and the text does not say so.

## Fires

```yaml description
clusterspec: 1
description: The grant expires on 2027-03-31; what is not accepted by then is not paid.
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, as_of: 2026-12-01, delivery: {weeks: 20}}
```

```yaml description
clusterspec: 1
description: The option on four more nodes lapses on 2027-01-31 (the board exercises it on 2027-03-15).
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, as_of: 2026-12-01, delivery: {weeks: 20}}
```

```yaml description
clusterspec: 1
description: The lease of the 12 servers ends on 2027-03-31. The forecast runs every night without a gap.
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, as_of: 2026-12-01, delivery: {weeks: 20}}
```

## Silent

```yaml
clusterspec: 1
description: The grant expires on 2027-12-31. The option on four more nodes lapses on 2027-06-30, and the board decides on 2027-03-15.
cluster: {platform: dgx-b200, nodes: 8}
procurement: {currency: USD, as_of: 2026-12-01, delivery: {weeks: 20}}
```

## Sources

- Funds of a fiscal year: https://www.gao.gov/products/gao-16-464sp
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta

from clusterspec.finding import Problem
from clusterspec.quantity import DAY
from clusterspec.records import dataclass
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.purchases.timeline import DatedClause, Timeline
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "error", "likely")


@dataclass(frozen=True)
class Lapse:
    """Something that ends: its name, the pattern of its words, the event that needs it, and the name of that event in
    messages.
    """

    name: str
    words: str
    event: str
    needed_for: str


LAPSES = [
    Lapse(
        "the money",
        r"\b(?:budgets?|funds|funding|grants?|appropriation|subsid\w+|fiscal year|tax credits?|haushalts\w+|fördermittel|förderung\w*|förderzeitraum|projektlaufzeit|zuwendung\w*|"
        r"subventions?|subvenci\w+|ayudas?|presupuesto\w*|crédits|orçamento\w*|bilancio|finanziament\w+|contribut\w+|begroting|subsidie|"
        r"bidrag\w*|dotacj\w+|budżet\w*)\b|予算|補助金|预算|拨款|예산|보조금",
        "acceptance",
        "the soonest acceptance",
    ),
    Lapse(
        "the option",
        r"\b(?:options?|optional|optionnelle|optionnel|opci[oó]n\w*|opcional\w*|opç\w+|opzion\w+|optie|opsjon\w*|opcj\w+|ausübungsfrist)\b|オプション|选择权|옵션",
        "exercise",
        "its exercise",
    ),
    Lapse(
        "the price reduction",
        r"\b(?:rebates?|discounts?|price reductions?|special (?:price|offer)|bonus)\b[^.;]{0,80}\baccept(?:ed|ance)\b",
        "acceptance",
        "the soonest acceptance",
    ),
    Lapse(
        "the permission to ship",
        r"\b(?:export licen[cs]es?|import licen[cs]es?|export permit|import permit|customs exemption|duty exemption|ausfuhrgenehmigung|exportgenehmigung|"
        r"licence d'exportation|licencia de exportaci[oó]n)\b|輸出許可|出口许可",
        "delivery",
        "the last delivery",
    ),
    Lapse(
        "the insurance of the transport",
        r"\b(?:transport|transit|marine|cargo|freight) insurance\b|\btransportversicherung\b|\bassurance (?:de |du )?transport\b",
        "delivery",
        "the last delivery",
    ),
    Lapse(
        "the guarantee",
        r"\b(?:(?:bank|performance|advance[- ]payment) (?:guarantee|bond)|surety bond|letter of credit|fideiussion\w*|\w*bürgschaft\w*|caution bancaire|"
        r"aval bancario|garant[ií]a bancaria|fiança bancária|bankgarant\w*|gwarancja bankowa)\b|保証状|保函|보증서",
        "delivery",
        "the last delivery, which it secures,",
    ),
    Lapse(
        "the fixed rate of exchange",
        r"\b(?:hedge[sd]?|hedging|forward contracts?|exchange rate|rate of exchange|currency forward|kurssicherung|devisentermin\w*|couverture de change|"
        r"seguro de cambio|cambio a termine)\b|為替予約",
        "delivery",
        "the last delivery",
    ),
    Lapse(
        "the reservation",
        r"\b(?:reserv(?:ed|ation|ations)|production slots?|build slots?|allocation|reserviert\w*|réserv\w+|reservad\w+|prenotat\w+)\b(?! instances)",
        "order",
        "the order",
    ),
    Lapse(
        "the space",
        r"\b(?:colocation|colocatie|kolokation|cabinets?|kasten|racks?|hall|housing|halle|hosting)\b",
        "clearance",
        "it is cleared",
    ),
    Lapse(
        "what the data move from",
        r"\b(?:old|existing|present|current|previous|stávající\w*|obecn\w*|dotychczasow\w*|bestehend\w*|vorhanden\w*|actuel\w*|actual|atual|attuale|huidige|bestaande|nuvarande|nåværende|nuværende) [\w ]{0,20}?(?:store|storage|system|cluster|hall|machine|filer|colocation|contract|lease)s?\b|既存|기존",
        "migration",
        "the end of the migration",
    ),
]
_LEASED = r"(?:leas\w+|rent\w*|tenancy|landlord|permit\w*|concession|ours|miet\w*|pacht\w*|vermieter\w*|gehört|genehmigung|bail\w*|lou\w+|permis|autorisation|alquil\w+|arrend\w+|permiso|concesión|affitt\w+|locazione|concessione|huur\w*|vergunning|alug\w+|concessão)"
_ROOM = r"(?:rooms?|halls?|buildings?|floors?|basement|cellar|warehouse|premises|site|r[aä]ume?s?|halle|saal|gebäudes?|keller|fläche|salles?|locaux|local|bâtiment|site|sala|edificio|locales|nave|locali|capannone|zaal|ruimte|gebouw|pand|prédio|galpão)"
LAPSES.append(
    Lapse(
        "the lease of the room",
        rf"\b{_LEASED}\b[^.;]{{0,60}}\b{_ROOM}\b|\b{_ROOM}\b[^.;]{{0,60}}\b{_LEASED}\b",
        "term",
        "the end of the term",
    )
)
_OF = [(each, pattern(each.words)) for each in LAPSES]
_LEASE = pattern(
    r"\b(?:lease|leasing\w*|rental|hire|contract|lessor|miet\w*|vertrag|bail|location|contrat|arrendamiento|alquiler|contrato|noleggio|contratto|huur\w*)\b"
)
_NO_GAP = pattern(
    r"\b(?:no gap|without (?:an? |any )?(?:gap|interruption|break)|(?:must|has to|have to|needs? to)\b[^.;]{0,60}\bbefore the (?:old|present|leased|rented|other)|"
    r"no (?:day|week|time) without|stands? still|comes? to a (?:halt|stop)|"
    r"ohne (?:lücke|unterbrechung|pause)|steht\b[^.;]{0,30} still|keine lücke|sans (?:interruption|rupture|trou|coupure)|sin (?:interrupción|corte|hueco)|senza (?:interruzione|interruzioni)|zonder onderbreking)\b"
)
"""Patterns, in lower case, of a lease or rental, and of words that allow no time without a machine."""


def check(procurement: ProcurementSpec, operations: OperationsSpec | None, texts: PurchaseTexts) -> Iterator[Problem]:
    if procurement.as_of is None and procurement.delivery is None:
        return
    timeline = Timeline.of(texts)
    burn_in = operations.burn_in.value / DAY if operations is not None and operations.burn_in is not None else 0.0
    events = _events(timeline, min(burn_in, 3650.0))
    term = procurement.term.value / DAY if procurement.term is not None else 0.0
    if "delivery" in events and 0 < term < LONGEST_TERM and _EXTENDED.search(texts.description) is None:
        events["term"] = events["delivery"] + timedelta(days=round(term) - SLACK)
    yield from _gap_problem(timeline, events.get("acceptance"), texts)
    for clause in timeline.lapses:
        found = [each for each, words in _OF if words.search(clause.sentence) is not None]
        found = [each for each in found if each.event != "term" or _is_of_term(clause)]
        if any(each.event == "term" for each in found):
            found = [each for each in found if each.event in events]
        if len(found) != 1:
            continue
        (lapse,) = found
        day, end = events.get(lapse.event), max(clause.days)
        if day is not None and end < day:
            late = plural((day - end).days, "day")
            message = f"according to the text, {lapse.name} ends on {end}, {late} before {lapse.needed_for} on {day}"
            yield RULE.problem(clause.at, message, "ask for a later date, or bring the purchase forward")
            return


LONGEST_TERM, SLACK = 3650.0, 45
"""The longest term in days, and the days by which the end of a lease may lie before that of the term."""
_EXTENDED = pattern(
    r"\b(?:renew\w*|prolong\w*|extension option|option to extend|(?:can|may) be (?:extended|renewed)|we move|moves? to|relocat\w*|verlängerbar|verlängerungsoption|umzug\w*|zieh\w* um|reconductible|renouvel\w*|déménag\w*|prorrog\w*|renov\w*|traslad\w*|rinnov\w*|proroga\w*|trasloc\w*|verleng\w*|verhuiz\w*|mudan\w*)\b"
)
"""Words for a longer lease, or for a move."""
_OLD_PLACE = pattern(
    r"\b(?:old|older|former|previous|alte[nrsm]?|früher\w*|bisherig\w*|ancien\w*|vieux|vieille|antigu[oa]|viej[oa]|vecchi[oa]|oude|vorige|antig[oa]|velh[oa])\b"
)
"""Words for a place that the new machine does not stand in."""


def _is_of_term(clause: DatedClause) -> bool:
    """Whether an end in the description is that of the place of the new machine."""
    if clause.at != ("description",) or _OLD_PLACE.search(clause.sentence.lower()) is not None:
        return False
    return not words_of_another(clause.sentence)


def _gap_problem(timeline: Timeline, accepted: date | None, texts: PurchaseTexts) -> Iterator[Problem]:
    """The problem of a lease that ends before the new machine can be accepted, where the text allows no time between."""
    if accepted is None or _NO_GAP.search(texts.description) is None:
        return
    for clause in timeline.lapses:
        end = max(clause.days)
        of_text = clause.at == ("description",)
        if of_text and _LEASE.search(clause.text) is not None and end < accepted and timeline.migration is None:
            gap = plural((accepted - end).days, "day")
            message = f"according to the text, the lease of the old machine ends on {end}, {gap} before the soonest acceptance on {accepted}, and nothing may stop between"
            yield RULE.problem(clause.at, message, "extend the lease, or bring the purchase forward")
            return


def _events(timeline: Timeline, burn_in: float) -> dict[str, date]:
    """The last day of each event that the timeline contains. Without a date for the acceptance, it is the delivery plus
    ``burn_in`` days.
    """
    delivery = timeline.delivery
    events = {
        "order": timeline.order,
        "delivery": delivery,
        "acceptance": timeline.acceptance
        or (delivery + timedelta(days=round(burn_in)) if delivery is not None else None),
        "exercise": timeline.exercise,
        "migration": timeline.migration,
        "clearance": timeline.clearance,
    }
    return {name: day for name, day in events.items() if day is not None}

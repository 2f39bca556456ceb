"""An energy or power in the text is divided by the PUE, or its cost omits the PUE.

## What it finds

In the description and the comments, by the PUE of the text or of `procurement.pue`:

- energies (kWh, MWh) or powers (kW, MW) of the site, of its meter or of the bill that are those of the IT load divided by the
  PUE: an error;
- a yearly bill of electricity that is the tariff times the energy of the nodes alone, or of the stated IT load, without the PUE,
  or divided by it: a warning.

The tariff comes from the text, else from `procurement.electricity`. The IT load is the load that the text calls IT
load, or the power of the nodes at full load or at `utilization`.

## Why it matters

PUE is the energy of the site divided by the energy of the IT equipment, so it is never below one, and the meter counts
IT energy times PUE. Divided by 1.3 instead of multiplied, the bill is 41 % too low.

## What to do

Multiply the energy of the IT load by the PUE, and the product by the tariff.

## When to ignore it

Ignore it where the energy of the site was measured, and the IT load is derived from it.

## Fires

```yaml description
clusterspec: 1
description: The IT load takes 566,284 kWh a year. With the PUE of 1.32 the meter of the site bills 429,003 kWh.
cluster: {platform: gaudi3-hls, nodes: 8, power: {node: 9.5 kW}}
procurement: {currency: EUR, electricity: 0.162, pue: 1.32, utilization: 0.85}
```

```yaml description
clusterspec: 1
description: The electricity bill is 91,738 EUR a year.
cluster: {platform: gaudi3-hls, nodes: 8, power: {node: 9.5 kW}}
procurement: {currency: EUR, electricity: 0.162, pue: 1.32, utilization: 0.85}
```

```yaml description
clusterspec: 1
description: 200 kW of IT power at a PUE of 1.3 and 0.10 USD per kWh cost 175,200 USD a year.
cluster: {platform: gaudi3-hls, nodes: 8}
```

## Silent

```yaml
clusterspec: 1
description: 200 kW of IT power at a PUE of 1.3 and 0.10 USD per kWh cost 227,760 USD a year.
cluster: {platform: gaudi3-hls, nodes: 8}
```

```yaml
clusterspec: 1
description: The meter of the site counts 747,495 kWh a year; with a PUE of 1.32 the IT load is 566,284 kWh. The electricity bill is 121,094 EUR a year.
cluster: {platform: gaudi3-hls, nodes: 8, power: {node: 9.5 kW}}
procurement: {currency: EUR, electricity: 0.162, pue: 1.32, utilization: 0.85}
```

## Sources

- ISO/IEC 30134-2, Key performance indicators, Power usage effectiveness: https://www.iso.org/standard/63451.html
- The Green Grid, PUE: A Comprehensive Examination of the Metric: https://www.thegreengrid.org/en/resources/library-and-tools/237-PUE%3A-A-Comprehensive-Examination-of-the-Metric
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.purchases import amount_text, money_text
from clusterspec.rules.readers.results.equations import ENERGY, MONEY, WATTS, PhysicalFigure, figures_of
from clusterspec.rules.readers.results.running_costs import LEAST as LEAST_BILL
from clusterspec.rules.readers.results.running_costs import is_bill, tariffs_of
from clusterspec.rules.readers.tokens import UNITS
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plain

RULE = Rule.of(__name__, "error", "likely")
SAME = 0.003
"""Relative tolerance with which the ratio of two rounded figures equals the PUE."""
SAME_COST = 0.005
"""Relative tolerance for the ratio of two costs, whose year may have 8,760 or 8,766 hours."""
LEAST = 1.04
"""Smallest PUE that is distinguishable from rounding."""
_PUE = pattern(r"\bPUE\b[^\d.;]{0,24}?(?<![\d.,])(1[.,]\d{1,3})(?!\d)|(?<![\d.,])(1[.,]\d{1,3}) PUE\b")
_OF_IT = pattern(
    r"\bIT\b|(?i:\b(?:servers?|nodes?|machines?|gpus?|equipment|accelerators|serveurs?|nœuds|servidores|nodos|knoten|rechner|nodi)\b|\bIT-?(?:last|energie|leistung|strom)\b)"
)
_OF_SITE = pattern(
    r"(?i)\b(?:meters?|site|facility|bill(?:s|ed)?|invoice[sd]?|utility|grid|building|data cent(?:er|re)|hall|mains|feed-?in|supply|connection|transformer|"
    r"zähler|standort|netz\w*|gebäude|rechnung|rechenzentrum|anschluss\w*|compteur|facture\w*|bâtiment|raccordement|contador|medidor|factura\w*|edificio|acometida|contatore|bolletta|sito)\b"
)
_IT_LOAD = pattern(r"\bIT[ -]?(?:load|power|equipment|last|leistung)\b|\b(?:load|power) of (?:the )?IT\b|\bof IT\b")
YEARS = (8760.0, 8766.0)
"""Number of hours in a year, by either convention."""
_INCLUDED = pattern(
    r"(?i)\b(?:it load only|without (?:the )?(?:cooling|pue)|pue (?:is )?(?:included|in the)|cooling (?:is )?(?:included|extra|separate))\b"
)
"""Pattern of words for a cost that excludes the cooling on purpose, or for a tariff that includes it."""


def check(
    procurement: ProcurementSpec | None, remarks: str, cluster: Cluster | None, power: PowerSpec | None
) -> Iterator[Problem]:
    if not any(cue in remarks for cue in ("Wh", "PUE", "lectric", "nergy", "trom")):
        return
    stated = {float((one or other).replace(",", ".")) for one, other in _PUE.findall(remarks)}
    own = {procurement.pue} if procurement is not None and procurement.pue is not None else set()
    drawn = _drawn_watts(cluster, power)
    for pue in sorted(each for each in stated | own if each >= LEAST):
        found = [*_divided_energy_problems(remarks, pue, drawn, procurement)]
        yield from found
        if found:
            return
    pues, tariffs = stated or own, tariffs_of(remarks, procurement)
    if len(pues) == 1 and len(tariffs) == 1 and min(pues) >= LEAST:
        yield from _omission_problem(remarks, procurement or ProcurementSpec(), (min(pues), min(tariffs)), drawn)


def _drawn_watts(cluster: Cluster | None, power: PowerSpec | None) -> float:
    """Watts of all nodes at their stated power; 0 if unknown."""
    node = power.node if power is not None else None
    return node.value * cluster.nodes if node is not None and cluster is not None else 0.0


def _used_shares(procurement: ProcurementSpec | None) -> tuple[float, ...]:
    used = procurement.utilization if procurement is not None else None
    return (1.0, used) if used else (1.0,)


def _divided_energy_problems(
    remarks: str, pue: float, drawn: float, procurement: ProcurementSpec | None
) -> Iterator[Problem]:
    """Problems of energies and powers of the site that were computed by dividing the IT load by the PUE."""
    for dimensions, hours in ((ENERGY, (8760.0, 8766.0, 8784.0)), (WATTS, (0.0,))):
        figures = figures_of(remarks, dimensions)
        known = [drawn * (each * HOUR or 1.0) * used for each in hours for used in _used_shares(procurement)]
        for large in figures:
            of_site = _OF_SITE.search(large.words) is not None
            of_it = _OF_IT.search(large.words) is not None or any(
                _is_same_share(large.value, each) for each in known if each
            )
            for small in figures:
                off = small.value > 0 and _is_same_share(large.value / small.value, pue)
                if off and of_it and not of_site and _is_of_site_alone(small):
                    unit = small.token.unit
                    right = f"{float(plain(large.value * pue / UNITS[unit][0], 6)):,.15g} {unit}"
                    message = (
                        f"{large.token.text} {large.token.unit} of the IT load are divided by the PUE of {pue:g} to "
                        f"{small.token.text} {unit} of the site; the site takes their product, {right}"
                    )
                    yield RULE.problem("description", message, "multiply by the PUE, and correct the cost")
                    return


def _is_of_site_alone(figure: PhysicalFigure) -> bool:
    return _OF_SITE.search(figure.words) is not None and _OF_IT.search(figure.words) is None


def _is_same_share(one: float, other: float, tolerance: float = SAME) -> bool:
    return abs(one / other - 1) <= tolerance


def _omission_problem(
    remarks: str, procurement: ProcurementSpec, of_text: tuple[float, float], drawn: float
) -> Iterator[Problem]:
    """The problem of yearly electricity bills that omit the PUE or divide by it.

    ``of_text`` is the PUE and the tariff; ``drawn`` is the power of the nodes in watts.
    """
    (pue, tariff), clauses = of_text, sentences_of(remarks)
    if _INCLUDED.search(remarks) is not None:
        return
    energies = [each.value / HOUR / 1e3 for each in figures_of(remarks, ENERGY)]
    of_nodes = [drawn * hours * used / 1e3 for hours in YEARS for used in _used_shares(procurement)]
    loads = [each.value for each in figures_of(remarks, WATTS) if _is_of_it_alone(each)]
    of_loads = [load * hours * used / 1e3 for load in loads for hours in YEARS for used in _used_shares(procurement)]
    known = [(each, "nodes") for each in of_nodes if each] + [(each, "IT load") for each in of_loads if each]
    for cost in figures_of(remarks, MONEY):
        clause = clauses[cost.sentence]
        if not is_bill(clause) or cost.value < LEAST_BILL:
            continue
        paid = cost.value / tariff
        of_site = [each for each in energies if _is_same_share(paid, each, SAME_COST)]
        plainly = [(each, what) for each, what in known if _is_same_share(paid, each, SAME_COST)]
        divided = [(each, what) for each, what in known if _is_same_share(paid, each / pue, SAME_COST)]
        if (plainly or divided) and not (of_site and _is_product(of_site, of_nodes + of_loads, pue)):
            energy, what = (plainly or divided)[0]
            right = money_text(amount_text(round(energy * pue * tariff)), procurement.currency)
            over = "" if plainly else f", over the PUE of {pue:g},"
            with_pue = f"with the PUE of {pue:g} the" if plainly else "the"
            message = f"{cost.token.text} are {energy:,.0f} kWh of the {what}{over} at {tariff:g}; {with_pue} site pays {right}"
            yield RULE.problem("description", message, "multiply the energy by the PUE", severity="warning")
            return


def _is_of_it_alone(figure: PhysicalFigure) -> bool:
    return _IT_LOAD.search(figure.words) is not None and _OF_SITE.search(figure.words) is None


def _is_product(found: Sequence[float], of_nodes: Sequence[float], pue: float) -> bool:
    """Whether one of the energies is an energy of the nodes multiplied by the PUE."""
    return any(_is_same_share(each, other * pue, SAME_COST) for each in found for other in of_nodes if other)

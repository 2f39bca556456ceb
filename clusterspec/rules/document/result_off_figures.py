"""A result in the text does not follow from the figures of its sentence.

## What it finds

A sentence of the description or the comments whose figures give another result than the stated one:

- a count and the amount of each (`32 nodes at 10.2 kW draw 226 kW`, `a rack draws 40.8 kW, so eight racks take 226
  kW`), also of rates (`3,000 requests a minute and 500 tokens each are 250,000 tokens/s`) and of bytes of weights in a
  stated precision;
- an amount over a rate (`1 T tokens at 4.2 million tokens a step are 120,000 steps`), a rate over a time (`36 months at
  50,000 USD a month are 2.4 million USD`), and an amount over a count (`the 12 racks draw 1.6 MW, which is 95 kW a rack`);
- the cost of energy by a number of kilowatt-hours and the price of one, of the text or `procurement.electricity`;
- the rent of all nodes for an hour, a day, a month or a year by `procurement.prices.node_hour`;
- the bytes of the weights of the served model in a stated precision;
- an amount of money less a discount or with tax, a share of a count, the power of a site by its PUE, and the failures of a run
  by the mean time between failures;
- in one or two sentences and in any order, English, German or French: the power and the energy of a number of parts, the
  failures of a run, and the time that they cost;
- in up to three sentences: what follows by units and nouns from two or three figures, such as the time of a number of tokens
  by the time of each, an amount by a rate and a time, the parts of racks, the time between failures of all nodes by that of
  one, and the nodes in repair on average;
- in one sentence: a share or a fraction of an amount (`a quarter of 24 M USD, 8 M USD`), what is left of one, power at a PUE, a
  time at an efficiency, a change in percent, events at an interval, the availability of a downtime, and the time from one day
  to another (`from 1 March to 30 June are six months`);
- in one or two sentences of nine languages, a calculation with money in several steps: discounts and then taxes, a share with a
  cap (`60 % of 5.2M EUR, at most 2.8M EUR`), the rest of an amount, an amount of several years or by two periods, groups with
  an amount of each, what each of a number has over a time, and the sum of two to four amounts.

In English, German, French, Spanish, Italian, Dutch and Portuguese, with numbers up to ninety-nine also in words, the rule
derives each figure with a unit, and each number of tokens, steps, racks, requests and engines, from those before it: amounts of
all parts, bytes of all tokens, energy, costs and times by their units, the share of each part, steps of a number of tokens,
racks rounded up, requests in flight, the algorithm bandwidth of a bus bandwidth, the difference of two amounts, a multiple, and
one figure in two units. It reports one that no formula, no other figure and no key gives, and that a known mistake explains:
bits for bytes (8), a power of ten, decimal for binary units, a factor that is inverted, the wrong rounding of a count, one wrong
digit, or two that are exchanged.

A result is right if any product of the figures, and of counts of the plan, gives it. Bounds, conditions, parts, and
comparisons with something else are not read.

In a text with more than 15 figures the finding is a note, unless a known mistake explains the difference (a power of ten,
a factor of two, bits for bytes, or one digit) or the result is that of a calculation with money in steps.

## Why it matters

Budgets, schedules and orders rest on such figures, and readers copy them.

## What to do

Compute the result again, and every figure derived from it.

## When to ignore it

Ignore it where the result includes something that the sentence omits; better, add it to the sentence.

## Fires

```yaml description
clusterspec: 1
description: 32 nodes at 10.2 kW draw 226 kW.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: With a mean time between failures of 40 h the run of 20 days sees about 50 failures.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: A node pulls 10.2 kW. For all 32 of them that means 226 kW.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: We promise 50 ms per output token. The longest answer of 4,096 tokens is therefore through after 41 s.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: Hosts have an MTBF of 25,000 h per node, so the whole job is interrupted about once in 16 days.
cluster: {platform: dgx-h200, nodes: 256}
```

```yaml description
clusterspec: 1
description: The IT load of 5 MW and a PUE of 1.4 mean 6.2 MW at the meter.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: Jedes Token belegt 327.680 Byte, eine Anfrage mit 32.768 Token also 10,7 GiB.
cluster: {platform: dgx-h200, nodes: 30}
```

```yaml description
clusterspec: 1
description: Each node has two ports of 200 Gb/s for storage, so that the nodes together could draw 12.8 TB/s.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: The site takes 2.4 million kWh a year. Electricity is 21 cents per kWh, so the power bill is 205,000 EUR.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml description
clusterspec: 1
description: The 24 nodes cost 3.37 million USD a year, as the letter to the bank says.
cluster: {platform: aws-p5-48xlarge, nodes: 24}
procurement: {currency: USD, term: 1 year, prices: {node_hour: 20.8}}
```

```yaml description
clusterspec: 1
description: 6 million scanned letters wait. At 4 letters a second, day and night, the work is done in 9 days.
cluster: {platform: dgx-h200, nodes: 2}
```

```yaml description
clusterspec: 1
description: The machine runs at full load all year at a PUE of 1.25. The electricity line of the budget is 190,000 EUR a year.
cluster: {platform: dgx-h100, nodes: 16}
procurement: {currency: EUR, electricity: 0.19, pue: 1.25}
```

```yaml description
clusterspec: 1
description: The grant covers 60 % of the eligible 5.2M EUR but is capped at 2.8M EUR. It therefore amounts to 3.12M EUR.
cluster: {platform: dgx-h200, nodes: 12}
```

## Silent

```yaml
clusterspec: 1
description: Each node has two ports of 200 Gb/s for storage, so that the nodes together draw 1.6 TB/s, or 12.8 Tb/s.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml
clusterspec: 1
description: 32 nodes at 10.2 kW draw 326 kW, and a PUE of 1.3 turns 326 kW into 424 kW.
cluster: {platform: dgx-h200, nodes: 32}
```

```yaml
clusterspec: 1
description: With a mean time between failures of 40 h the run of 20 days sees about 12 failures. At most 8 nodes at 10.2 kW draw 60 kW.
cluster: {platform: dgx-h200, nodes: 32}
```

## Sources

- Arithmetic: products, quotients and percentages of the figures of a sentence.






"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.catalog import Catalog
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.finding import Problem
from clusterspec.quantity import Quantity
from clusterspec.rules.readers.days import wrong_times
from clusterspec.rules.readers.dimensions import Figure
from clusterspec.rules.readers.doubt import confidence_in
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.results.explanations import Claim, follows_with_another, is_explained, quantities_of
from clusterspec.rules.readers.results.parts import wrong_parts
from clusterspec.rules.readers.results.relations import contradictions
from clusterspec.rules.readers.results.results import figure_of_plan, wrong_results
from clusterspec.rules.readers.results.totals import wrong_totals
from clusterspec.rules.readers.units import WEIGHTS, word_set
from clusterspec.rules.readers.written_numbers import has_unit, has_word, sentences_of, written_numbers
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import OperationsSpec, Spec
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
MEASURES = word_set(
    "kb mb gb tb pb eb kib mib gib tib pib kio gio tio go to po byte bytes octets gbit tbit gbps tbps w kw mw gw wh kwh mwh gwh "
    "usd eur gbp chf jpy sek nok dkk pln czk inr cny krw cad aud euro euros dollar dollars $ € £ % flop flops tflop pflop g"
)
"""Units of figures that formulas give, in lower case."""
COUNTED = (
    *(
        "token",
        "jeton",
        "gettoni",
        "step",
        "schritt",
        "passi",
        "paso",
        "stap",
        "rack",
        "schränk",
        "baie",
        "armadi",
        "armario",
    ),
    *(
        "bastidor",
        "kast",
        "engine",
        "motor",
        "moteur",
        "request",
        "anfrag",
        "requête",
        "richiest",
        "petici",
        "pedido",
        "verzoek",
    ),
    *("second", "sekunde", "minut", "hour", "stunde", "heure", "hora", "segund", "uren"),
)
"""What words of counts and of times begin with."""
PERIODS = ("second", "minut", "hour", "ekunde", "tunde", "heure", "segundo", "hora", "/s", " day", " Tag")
"""Parts of the words of rates."""
ADVICE = "compute it again, and what was derived from it"
FEWEST_NUMBERS = 2
"""Smallest number of numbers in digits of two sentences, one of which may follow from the other."""


def check(
    own_remarks: str,
    spec: Spec,
    cluster: Cluster | None,
    layout: Layout | None,
    workload: Workload | None,
    operations: OperationsSpec | None,
    catalog: Catalog,
) -> Iterator[Problem]:
    if not own_remarks:
        return
    counts: tuple[float, ...] = ()
    if cluster is not None:
        counts = (float(cluster.nodes), float(cluster.accelerators), float(cluster.accelerators_per_node))
    claims = _wrong_products(own_remarks, counts, _figures_of_plan(cluster, operations))
    amounts: list[Quantity] | None = None
    for claim in claims:
        amounts = [*quantities_of(spec)] if amounts is None else amounts
        text = own_remarks[:MOST_CHARACTERS]
        if not _is_capped(claim, text) and not is_explained(claim, text, counts, amounts):
            yield _problem(claim)
            return
    for part in wrong_parts(own_remarks[:MOST_CHARACTERS]):
        claim = Claim(*part)
        if not _is_capped(claim, own_remarks[:MOST_CHARACTERS]) and not is_explained(
            claim, own_remarks[:MOST_CHARACTERS], counts
        ):
            yield _problem(claim, "is")
            return
    for claim in _wrong_steps(own_remarks[:MOST_CHARACTERS]):
        yield _problem(claim, confidence="certain")
        return
    for claim in _claims_of_keys(own_remarks[:MOST_CHARACTERS], spec, cluster, layout, workload, catalog):
        yield _problem(claim, confidence="certain")
        return
    for time in wrong_times(own_remarks[:MOST_CHARACTERS]):
        message = f"from {time.first} to {time.last} are {time.days} days, not `{time.stated}`"
        yield RULE.problem("description", message, "look the dates up, and correct one of them", confidence="certain")
        return
    yield from _underived_problems(own_remarks, spec, counts)


def _claims_of_keys(
    text: str, spec: Spec, cluster: Cluster | None, layout: Layout | None, workload: Workload | None, catalog: Catalog
) -> Iterator[Claim]:
    """The costs of energy, rents and bytes of weights that do not follow from the text and the prices or the model of the keys."""
    if any(each in text for each in PERIODS):
        from clusterspec.rules.readers.results.backlog_times import wrong_backlog_times  # few texts state rates

        yield from wrong_backlog_times(text)
    bought, nodes = spec.procurement, spec.cluster.nodes if spec.cluster is not None else None
    pue = float(bought.pue) if bought is not None and bought.pue else 0.0
    if "Wh" in text or pue:
        from clusterspec.rules.readers.results import running_costs  # few texts state energies

        tariffs = running_costs.tariffs_of(text, bought)
        yield from running_costs.wrong_bills(text, tariffs) if "Wh" in text else ()
        if pue and cluster is not None and cluster.node_power is not None:
            yield from running_costs.wrong_yearly_costs(text, cluster.nodes * cluster.node_power.value, pue, tariffs)
    if bought is not None and nodes and (rent := (bought.prices or {}).get("node_hour")) is not None:
        from clusterspec.rules.readers.results.running_costs import wrong_rents  # most machines are bought

        yield from wrong_rents(text, rent, nodes, bought.currency)
    if workload is not None and workload.kind == "serve" and has_word(text, WEIGHTS):
        from clusterspec.rules.readers.results.weights import wrong_weights  # few texts state them

        degrees = (layout.tp, layout.ep, layout.tp * layout.pp, layout.ranks) if layout is not None else ()
        yield from wrong_weights(text, workload.model, degrees, catalog)


def _has_digit(word: str) -> bool:
    return not word.isalpha() and any(map(str.isdigit, word))


def _is_capped(claim: Claim, text: str) -> bool:
    from clusterspec.rules.readers.results.steps import is_capped  # few texts have a wrong part

    return is_capped(claim.stated, text)


def _wrong_steps(text: str) -> Iterator[Claim]:
    """The results of calculations with money and counts in several steps."""
    if sum(map(_has_digit, text.split())) >= FEWEST_NUMBERS:
        from clusterspec.rules.readers.results.steps import wrong_steps  # few texts calculate with money

        yield from wrong_steps(text)


def _underived_problems(own_remarks: str, spec: Spec, counts: Sequence[float]) -> Iterator[Problem]:
    """The results that differ by a known mistake from what the formulas of the field give."""
    if not (has_unit(own_remarks, MEASURES) or has_word(own_remarks, MEASURES, COUNTED)):
        return
    numbers = [sum(map(_has_digit, each.split())) for each in sentences_of(own_remarks)]
    if max(map(sum, zip(numbers, [*numbers[1:], 0], strict=True)), default=0) < FEWEST_NUMBERS:
        return
    # NOTE: loaded here, since most texts state no two figures together.
    from clusterspec.rules.readers.results.underived_figures import underived_figures

    for each in underived_figures(own_remarks[:MOST_CHARACTERS], counts, lambda: written_numbers(spec)):
        claim = Claim(each.stated, each.right, each.calculation)
        if follows_with_another(claim, own_remarks[:MOST_CHARACTERS], counts):
            continue
        message = f"{each.calculation} is {each.right}, not `{each.stated}`: {each.slip}"
        yield RULE.problem("description", message, ADVICE, confidence="certain")


def _problem(claim: Claim, verb: str = "are", confidence: str = "") -> Problem:
    """The problem of a claim, certain where a known mistake leads to it unless a ``confidence`` is given."""
    message = f"{claim.figures} {verb} {claim.right}, not `{claim.stated}`"
    confidence = confidence or confidence_in(claim.stated, claim.right)
    return RULE.problem("description", message, ADVICE, confidence=confidence)


def _wrong_products(text: str, counts: Sequence[float], plan: Sequence[Figure]) -> Iterator[Claim]:
    """The results of a text that are not the product, sum or quotient of its figures."""
    for sentence in sentences_of(text):
        for each in contradictions(sentence, counts):
            yield Claim(each.result.words, each.right_words, each.figures)
    for total in wrong_totals(text[:MOST_CHARACTERS], counts):
        yield Claim(total.stated, total.right, total.parts)
    for result in wrong_results(text[:MOST_CHARACTERS], plan):
        yield Claim(result.stated, result.right, result.figures)


def _figures_of_plan(cluster: Cluster | None, operations: OperationsSpec | None) -> list[Figure]:
    """The numbers of nodes and accelerators, and the time between failures of each."""
    found = []
    if cluster is not None:
        found.append(figure_of_plan(cluster.nodes, f"{cluster.nodes:,} nodes", node=1))
        found.append(figure_of_plan(cluster.accelerators, f"{cluster.accelerators:,} accelerators", accelerator=1))
    if operations is not None and operations.node_mtbf is not None:
        hours = operations.node_mtbf.value
        found.append(figure_of_plan(hours, f"{display(hours, 's')} of each node", s=1, node=1, failure=-1))
    return found

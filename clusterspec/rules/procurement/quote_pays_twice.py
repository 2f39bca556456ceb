"""A quote line sells something that another line includes.

## What it finds

- Software, power distribution units, installation, transport or support that one line includes in its price (`incl.
  NVAIE`, `5 years support included`), and that another line sells again;
- support of a storage system that the line of the storage system includes;
- licenses of NVIDIA AI Enterprise for cards that come with a subscription of five years: H100 PCIe, H100 NVL and H200
  NVL;
- an alternative to another line, where `quoted_total` has the price of both;
- NICs of all nodes together with nodes that include them;
- a part together with a lease whose price is one of the amounts that the lessor finances by the description;
- a credit for handing over all old machines, with support for these machines, or with a design that still uses them.

Support that a storage system or a switch includes does not count as support of the nodes, and an extension or upgrade
does not count as a second purchase.

## Why it matters

A license of NVIDIA AI Enterprise costs several thousand dollars a card and year. Nobody gives the money back once the
second one is registered.

## What to do

Ask the supplier to remove one of the two lines, or to explain the second one.

## When to ignore it

Ignore it where the second line is for other parts than the first.

## Fires

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, 36 months support included", quantity: 16, unit_price: 350000, price: 5600000}
    - {part: "support of the 16 systems, 36 months", quantity: 1, unit_price: 600000, price: 600000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {accelerator: h200-nvl-141gb, accelerators_per_node: 8, nodes: 4}
procurement:
  currency: USD
  quote:
    - {part: "server with 8x H200 NVL", quantity: 4, unit_price: 300000, price: 1200000}
    - {part: "NVIDIA AI Enterprise, 5 years, per GPU", quantity: 32, unit_price: 13500, price: 432000}
```

```yaml procurement.quote[1].part
clusterspec: 1
description: "The lessor's financed base: servers 2,640,000, network 148,000, storage 612,000."
cluster: {platform: hgx-h200, nodes: 8}
procurement:
  currency: EUR
  quote:
    - {part: "monthly lease of servers, network and storage", quantity: 36, unit_price: 101320, price: 3647520}
    - {part: "NVMe storage 800 TB", quantity: 1, unit_price: 612000, price: 612000}
```

```yaml procurement.quote[1].part
clusterspec: 1
cluster: {platform: dgx-a100, nodes: 5}
procurement:
  currency: GBP
  quote:
    - {part: "support renewal DGX A100, 2 years", quantity: 5, unit_price: 41000, price: 205000}
    - {part: "trade-in credit DGX A100", quantity: 5, unit_price: -9000, price: -45000}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: dgx-h200, nodes: 16}
procurement:
  currency: USD
  quote:
    - {part: "DGX H200, 36 months support included", quantity: 16, unit_price: 350000, price: 5600000}
    - {part: "support extension, years 4 and 5, per system", quantity: 16, unit_price: 40000, price: 640000}
    - {part: "NVMe storage 1 PB, installation included", quantity: 1, unit_price: 800000, price: 800000}
    - {part: "support of the switches, 5 years", quantity: 4, unit_price: 9000, price: 36000}
```

## Sources

- Cards with a subscription of NVIDIA AI Enterprise: https://docs.nvidia.com/ai-enterprise/planning-resource/licensing-guide/latest/pricing.html
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.procurement.amounts import is_credit, line_price, total_of_lines
from clusterspec.procurement.offered import Offered, offered_lines
from clusterspec.procurement.part_names import plain_part
from clusterspec.procurement.quotes import lines_with_texts, offered_quantity
from clusterspec.rules.knowledge.purchases import SAME_TOTAL, amount_text, money_text
from clusterspec.rules.parts import PurchaseTexts
from clusterspec.rules.readers.purchases.contract_words import AMOUNT, RESIDUAL
from clusterspec.rules.readers.quotes.stores import STORE
from clusterspec.rules.readers.quotes.support import is_support_of_nodes
from clusterspec.rules.readers.written_numbers import amount_in_text, sentences_of
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plural

RULE = Rule.of(__name__, "warning", "likely")
WITH_SUBSCRIPTION = ("h100-pcie", "h100-nvl", "h200-nvl")
"""Start of the ids of cards that include five years of NVIDIA AI Enterprise."""
_ENTERPRISE = r"(?:nvidia )?(?:ai enterprise|nvaie)"
_FEED = r"(?:second|b|redundant)[- ]?(?:power )?feed"
THINGS = {
    "NVIDIA AI Enterprise": _ENTERPRISE,
    "Cumulus Linux": r"cumulus(?: linux)?",
    "SONiC": r"(?:enterprise )?sonic",
    "power distribution units": r"(?:rack[- ])?pdus?",
    "the second feed": _FEED,
    "installation": r"(?:on-?site )?(?:installation|commissioning|installatie|montage|instalação|instalación|inbetriebnahme)",
    "transport": r"(?:freight|shipping|transport|delivery|versand|fracht|flete|frete)",
    "support": r"(?:hardware |\d{1,2} (?:years|months) |24x7 ){0,2}(?:support|maintenance|wartung|soporte|assistenza|suporte|nbd parts)",
}
"""For each thing that a line may include, the words for it."""
_INCLUDED = r"(?:incl(?:uded|uding|uye|uso|usive|us)?\b\.?|inkl(?:usive)?\b\.?|inbegriffen\b|inclu[ií]d[oa]s?\b|inclus[oiae]s?\b|inbegrepen\b|compris\b|(?:w cenie|v cen[eě]|in (?:the|de) pri(?:ce|js)|im preis|dans le prix|en el precio|no preço|nel prezzo)\b)"
_NOT = pattern(r"\b(?:not|non|no|nicht|excl\w*|without|except|ohne|option\w*)\b")
_MORE = pattern(
    r"\b(?:extensions?|renewals?|upgrades?|uplift|additional|further|extended|extra|years? [2-9]\b|verlängerung|spares?)\b"
)
"""Pattern of words in a line that adds to what another line includes."""
_INCLUDES = {
    name: pattern(rf"\b{words}\b[^,;()]{{0,16}}? {_INCLUDED}|{_INCLUDED}[^,;()]{{0,24}}?\b{words}\b")
    for name, words in THINGS.items()
}
_INCLUDES["power distribution units"] = pattern(
    rf"{_INCLUDES['power distribution units'].pattern}|\b(?:with|mit|avec|con|com|met|med|s) (?:\d{{1,2}}|two|both|zwei|deux|dos|due|dois|twee|två|to) (?:rack[- ])?pdus?\b"
)
_SELLS = {name: pattern(rf"(?:^|[:–-] ?|\d\.? ){words}\b") for name, words in THINGS.items()}
_SELLS["the second feed"] = pattern(rf"\b{_FEED}\b")
OF_PRICE = ("the second feed", "transport", "installation")
"""Things that, by a description, a price may include."""
_IN_PRICE = {
    name: pattern(
        rf"\b{THINGS[name]}\b[^.;]{{0,60}}? {_INCLUDED} (?:in|im|dans|en|em|nel|no|w) (?:the |all |every |each |cada |jedem |chaque )?(?:price|cost|fee|rent|kw|item|line|position|partida|preço|precio|prix|preis)|"
        rf"\b{THINGS[name]}\b (?:is|are|ist|est|è|é|is ook|är) (?:daarin |darin |therein |y |ook )?{_INCLUDED}"
    )
    for name in OF_PRICE
}


def check(procurement: ProcurementSpec, cluster: Cluster, texts: PurchaseTexts) -> Iterator[Problem]:
    if not procurement.quote:
        return
    lines = lines_with_texts(procurement.quote, cluster)
    for name in THINGS:
        includes = next((line for line, text in lines if _is_included(name, line, text)), None)
        of_card = name == "NVIDIA AI Enterprise" and cluster.accelerator.id.startswith(WITH_SUBSCRIPTION)
        again = next((line for line in _sold_lines(name, lines) if line is not includes), None)
        if again is None or (includes is None and not of_card):
            continue
        owner = f"`{name_of_part(includes.line.part)}`" if includes is not None else cluster.accelerator.name
        message = f"`{name_of_part(again.line.part)}` is sold in addition to {owner}, which includes {name}"
        at = quote_path(again.index, "part")
        yield RULE.problem(at, message, "ask the supplier to remove one of the two lines, or to explain the second one")
    yield from _repeated_nics_problem(lines, cluster)
    yield from _alternatives_problem(procurement)
    yield from _repeated_support_problem(lines)
    yield from _repeated_price_problem(lines, texts.description)
    yield from _trade_in_problem(procurement, cluster)
    yield from _financed_problem(lines, texts.remarks.lower())


_NICS = r"(?:nics?|connectx-?\d\w*|bluefield-?\d\w*|bcm\d{5}\w*|thor ?2|pollara\w*|hcas?|host (?:channel )?adapters?|network (?:cards?|adapters?))"
_WITH_NICS = pattern(
    rf"(?<![\w.,])(\d{{1,2}}) ?[x×] (?:(?!\d{{1,2}} ?[x×] )[^;()×]){{0,32}}?\b{_NICS}\b[^;()×,]{{0,16}}? {_INCLUDED}"
)
"""Pattern of the number of NICs that a node's line includes in its price."""


def _repeated_nics_problem(lines: Sequence[tuple[Offered, str]], cluster: Cluster) -> Iterator[Problem]:
    """The problem of a line with all NICs of the fabric, if the nodes include them."""
    scale_out = cluster.scale_out
    each = scale_out.nics_per_node if scale_out is not None else 0
    nodes = next(
        (
            line
            for line, text in lines
            if line.kind == "node" and (found := _WITH_NICS.search(text)) is not None and int(found[1]) == each
        ),
        None,
    )
    if nodes is None:
        return
    for line, _ in lines:
        if line.kind == "nic" and not line.is_spare and (line.line.quantity or 0) >= each * cluster.nodes > 0:
            message = f"`{name_of_part(line.line.part)}` is sold in addition to `{name_of_part(nodes.line.part)}`, which includes {plural(each, 'NIC')} of each node"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "ask the supplier to remove one of the two lines")
            return


_IN_PLACE_OF = pattern(
    r"\b(?:alternati\w+|variant\w*) (?:to|zu|zur|zum|à|au|a|al|alla|ao|till|til|voor|op|for|vs\.?|offer)\b|"
    r"\b(?:instead|in place|in lieu|anstelle|au lieu|en lugar|em vez|in plaats|i stället) (?:of|von|de|do|da|van|för) (?:the )?(?:lines?|items?|positions?|pos)\b"
)
"""Pattern of words in a line that replaces another line."""


def _alternatives_problem(procurement: ProcurementSpec) -> Iterator[Problem]:
    """The problem of a line that replaces another one, if the total includes both."""
    whole, total = total_of_lines(procurement), procurement.quoted_total
    if not whole or total is None or abs(total - whole) > SAME_TOTAL * whole:
        return
    for index, line in enumerate(procurement.quote or ()):
        price = line_price(line)
        if price and price > 0 and _IN_PLACE_OF.search((line.part or "").lower()) is not None:
            message = f"`{name_of_part(line.part)}` replaces another line, but `quoted_total` has the price of both: {money_text(amount_text(float(price)), procurement.currency)} before discount and tax"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "choose one of the two, and ask the supplier for the total of the order")
            return


_TRADE_IN = pattern(
    r"\b(?:trade[- ]?ins?|handed over|buy[- ]?back|take[- ]?back|part exchange|inzahlung\w*|rückkauf\w*|rückgabe|reprise|rachat|recompra|retoma|permuta|ritiro|inruil\w*|inbyte\w*|odkup\w*)\b|下取り|回收|보상판매"
)


def _trade_in_problem(procurement: ProcurementSpec, cluster: Cluster) -> Iterator[Problem]:
    """The problem of a credit for returning machines that stay in use: the quote has support for them, or the design
    keeps them.
    """
    name = cluster.accelerator.id.split("-", maxsplit=1)[0]
    lines = [(index, line, plain_part(line)) for index, line in enumerate(procurement.quote or ())]
    named = [(index, line, text) for index, line, text in lines if name in text]
    kept = [(index, line) for index, line, text in named if is_support_of_nodes(text) and not is_credit(line)]
    offered = offered_quantity(
        [line for line in offered_lines(procurement.quote or (), cluster) if line.kind == "node"]
    )
    in_place = cluster.nodes - offered
    for index, line, text in named:
        if not is_credit(line) or _TRADE_IN.search(text) is None:
            continue
        given = line.quantity or 0
        gives = f"`{name_of_part(line.part)}` gives back {given:,.10g} machines"
        if in_place > 0 and given >= in_place:
            of_quote = (
                f"{offered:,.10g} of the quote and {in_place:,.10g} that are in place"
                if offered
                else "those that are in place"
            )
            message = f"{gives}, and the {cluster.nodes:,} nodes of the design are {of_quote}"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "decide which machines stay")
            return
        if kept and given >= cluster.nodes:
            message = f"{gives}, and `{name_of_part(kept[0][1].part)}` supports them"
            at = quote_path(index, "part")
            yield RULE.problem(at, message, "decide which machines stay")
            return


_WITH_SUPPORT = pattern(
    rf"\b(?:with|and|plus|,|{_INCLUDED}) (?:[\w ]{{0,24}}? )?(?:\d{{1,2}} ?(?:months?|years?) )?(?:of )?(?:support|maintenance)\b"
)
_FIRST_WORDS = pattern(r"^(?:lot \w+: )?(?:[\w-]+ ){0,3}?(?:support|maintenance)\b")


def _repeated_support_problem(lines: Sequence[tuple[Offered, str]]) -> Iterator[Problem]:
    """The problem of separate support for a storage system, if another line sells the storage system with support."""
    stores = [line for line, text in lines if line.site_kind == "storage" and _includes_support(text)]
    for line, text in lines:
        sold = line.kind == "other" and line_price(line.line) and STORE.search(text) is not None
        if stores and sold and line not in stores and _FIRST_WORDS.search(text) and _MORE.search(text) is None:
            message = f"`{name_of_part(line.line.part)}` is sold in addition to `{name_of_part(stores[0].line.part)}`, which includes support"
            at = quote_path(line.index, "part")
            yield RULE.problem(
                at, message, "ask the supplier to remove one of the two lines, or to explain the second one"
            )
            return


def _includes_support(text: str) -> bool:
    """Whether a line sells support with its part."""
    named = "support" in text or "maintenance" in text
    return named and _WITH_SUPPORT.search(text) is not None and _NOT.search(text) is None


def _repeated_price_problem(lines: Sequence[tuple[Offered, str]], remarks: str) -> Iterator[Problem]:
    """Problems of a line that sells something which, by the description, another price includes."""
    for name in OF_PRICE:
        sentence = next((each for each in sentences_of(remarks) if _IN_PRICE[name].search(each) is not None), None)
        if sentence is None or _NOT.search(sentence) is not None:
            continue
        for line in _sold_lines(name, lines):
            message = f"`{name_of_part(line.line.part)}` is a line of the quote, but according to the description another price includes {name}"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "ask the supplier which of the two is right")


_FINANCED = pattern(
    r"\b(?:financed|lease (?:base|covers|includes)|leased|financ[ée]e?s?|finanziert\w*|leasing\w*|financiad[oa]s?|finanziat\w*|gefinancierd\w*)\b"
)
"""Pattern of words in a sentence that lists what a lease finances."""


def _financed_problem(lines: Sequence[tuple[Offered, str]], remarks: str) -> Iterator[Problem]:
    """The problem of a line whose price, by the text, is one of the amounts that a lease finances."""
    if not any(line.counts_periods for line, _ in lines):
        return
    financed = [each for each in sentences_of(remarks) if _FINANCED.search(each) is not None]
    amounts = {amount_in_text(each) for text in financed for each in AMOUNT.findall(text)}
    for line, text in lines:
        price = float(line_price(line.line) or 0)
        if price in amounts and not line.counts_periods and RESIDUAL.search(text) is None:
            message = f"`{name_of_part(line.line.part)}` is sold for {amount_text(price)}, which is in the financed base of the lease according to the text"
            at = quote_path(line.index, "part")
            yield RULE.problem(at, message, "ask the lessor whether the rent or the line pays for it")
            return


def _is_included(name: str, line: Offered, text: str) -> bool:
    """Whether a priced line includes something: support with nodes, units with racks, other things with any line."""
    of_kind = {"support": line.kind == "node", "power distribution units": line.site_kind == "rack"}.get(name, True)
    if name in {"installation", "transport"}:
        of_kind = line.kind == "node"
    found = _INCLUDES[name].search(text) if of_kind and line_price(line.line) else None
    return found is not None and _NOT.search(text) is None


def _sold_lines(name: str, lines: Sequence[tuple[Offered, str]]) -> Iterator[Offered]:
    """The lines that sell something under its own name."""
    for line, text in lines:
        if line.kind != "other" or not line_price(line.line) or _MORE.search(text) or _INCLUDES[name].search(text):
            continue
        sells = is_support_of_nodes(text) if name == "support" else _SELLS[name].search(text) is not None
        if sells and (name != "transport" or "packag" not in text):
            yield line

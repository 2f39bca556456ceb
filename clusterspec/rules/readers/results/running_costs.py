"""Costs of energy and rents in texts, and what they are by the prices of a kilowatt-hour and of a node-hour."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.doubt import is_of_this_machine
from clusterspec.rules.readers.results.equations import ENERGY, MONEY, PhysicalFigure, figures_of
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.tokens import UNITS
from clusterspec.rules.readers.written_numbers import MOST_MATCHES, amount_in_text, sentences_of
from clusterspec.spec.model import Price, ProcurementSpec
from clusterspec.standard import pattern
from clusterspec.units.display import plain

_COST_NOUNS = r"(?:electricity|energy|power|strom\w*|électricité|énergie|electricidad|energía|energia|elettricità|elektricit\w*|stroom)"
_BILL = pattern(
    rf"(?i)\b{_COST_NOUNS}\b[^.;]{{0,40}}?\b(?:bill|costs?|invoice|kostet|kosten|rechnung|coûte|facture|cuesta|factura|costa|bolletta)\b"
    r"|\b(?:bill|costs? of|invoice) (?:for |of )?(?:the )?(?:electricity|energy|power)\b|\bstrom(?:rechnung|kosten)\b"
)
_COSTS = pattern(r"(?i)\bkWh\b(?:[^.;]|\.(?=\d)){0,60}?\b(?:costs?|kosten|coûte\w*|cuesta\w*|costa\w*)\b")
"""Pattern of a cost in a sentence with a price per kWh."""
_PER_KWH = r" ?(?:/|(?:per|an?|pro|je|par|por|al?|the|le|de|el) )kWh\b"
_TARIFF = pattern(rf"(?<![\w.,])(\d[.,]\d{{1,4}}) ?(?:[A-Z]{{3}}|€|\$|£|dollars?|euros?){_PER_KWH}")
_CENTS = pattern(
    rf"(?i)(?<![\w.,])(\d{{1,2}}(?:[.,]\d{{1,3}})?) ?(?:ct|cts|cents?|centimes?|céntimos?|centavos?|centesimi|rappen|rp|öre|pence){_PER_KWH}"
)
LEAST = 1000
"""Smallest cost, in units of its currency, that may be one of a year."""
MONTHS = 12
MOST_YEARS = 6
NEAR = 2
"""Largest number of sentences between an energy and its cost."""
_LEAST_SHARE, _MOST_SHARE = 0.95, 1.3
"""Ratios of a cost to energy times price between which rounding, taxes and fees explain it."""
_NODES = pattern(
    r"(?i)(?<![\w.,/])(\d{1,3}(?:[.,]\d{3})*|\d{1,5}) (?:nodes|machines|servers|instances|vms|hosts|knoten|maschinen|server|instanzen|"
    r"nœuds|serveurs|machines virtuelles|nodos|máquinas|servidores|instancias|nodi|macchine|istanze)\b"
    r"[^.;\d]{0,40}?\b(?:costs?|are|is|come to|make|kosten|ergeben|coûtent|font|reviennent à|cuestan|son|suman|costano|fanno|custam)\b"
)
"""Pattern of a number of nodes with the verb of what they cost."""
_TERMS = pattern(
    r"(?i)%|\b(?:rebate|discount|reserved|committed|busy|used|utili[sz]\w*|idle|vat|tax|plus|with|including|support|storage|egress|rabatt|auslastung|mwst|"
    r"steuer|remise|réduction|taxe|tva|stockage|descuento|iva|sconto|desconto)\b"
)
"""Pattern of words in a sentence whose cost is more or less than the rent of all hours."""
_SAME_RENT = 0.03
"""Relative difference up to which a rent is right: months of 28 to 31 days differ by 1.6 % from their mean in a year's sum."""
MONTH_OF_30_DAYS = 720.0
_LEAST_RATIO, _MOST_RATIO = 0.05, 20.0
"""Ratios of a stated to the right rent between which the sentence is about the same cost."""


def _costs_of_machine(text: str, is_about: Callable[[str], bool]) -> Iterator[tuple[PhysicalFigure, str]]:
    """The costs of this machine in the sentences of a text that ``is_about`` accepts, each with its sentence."""
    sentences = sentences_of(text)
    for cost in figures_of(text, MONEY):
        sentence = sentences[cost.sentence]
        if is_about(sentence) and is_of_this_machine(sentence, clause_at(sentence, cost.token.start, cost.token.end)):
            yield cost, sentence


def is_bill(sentence: str) -> bool:
    """Whether a sentence states what energy costs.

    >>> is_bill("Die Stromkosten betragen 205.000 Euro"), is_bill("2 GWh at 0.2 EUR/kWh cost 400,000 EUR"), is_bill("It costs 4 EUR.")
    (True, True, False)
    """
    return _BILL.search(sentence) is not None or _COSTS.search(sentence) is not None


def stated_tariffs(text: str) -> set[float]:
    """The prices of a kilowatt-hour in a text, in units of its currency.

    >>> sorted(stated_tariffs("0.21 EUR per kWh; 24,5 ct je kWh; 98 USD"))
    [0.21, 0.245]
    """
    prices = {float(each.replace(",", ".")) for each in _TARIFF.findall(text)}
    return prices | {float(each.replace(",", ".")) / 100 for each in _CENTS.findall(text)}


def tariffs_of(text: str, procurement: ProcurementSpec | None) -> set[float]:
    """The prices of a kilowatt-hour in a text; without any, the price in the keys."""
    own = procurement.electricity if procurement is not None else None
    return stated_tariffs(text) or ({float(own)} if own else set())


def wrong_bills(text: str, tariffs: set[float]) -> Iterator[Claim]:
    """The costs of energy that no energy of a text gives at the only one of some prices of a kilowatt-hour. A bill of some years or
    of a month, and one with taxes, is right.

    >>> text = "The site takes 2.4 million kWh a year. The electricity costs 205,000 EUR."
    >>> list(wrong_bills(text, {0.21}))
    [Claim(stated='205,000 EUR', right='504,000 EUR', figures='2.4 million kWh a year at 0.21 a kWh')]
    >>> list(wrong_bills(text.replace("205", "504"), {0.21})), list(wrong_bills(text, {0.21, 0.18}))
    ([], [])
    """
    energies = [each for each in figures_of(text, ENERGY) if each.value]
    if len(tariffs) != 1 or not energies:
        return
    (tariff,), sentences = tariffs, sentences_of(text)
    for cost, _ in _costs_of_machine(text, is_bill):
        if cost.value < LEAST:
            continue
        near = [each for each in energies if 0 <= cost.sentence - each.sentence <= NEAR]
        if near and not any(_is_paid_for(cost, each, tariff) for each in energies):
            energy = near[-1]
            written = [sentences[each.sentence][each.token.start : each.token.end] for each in (cost, energy)]
            right = f"{_price_of(energy, tariff):,.0f} {cost.token.unit}"
            yield Claim(written[0], right, f"{written[1]} at {plain(tariff, 4)} a kWh")
            return


_OF_YEAR = pattern(
    r"(?i)\b(?:(?:per|an?|each|every|pro|im|je|par|por|al|all') ?(?:year|annum|jahr|an|année|año|ano|anno)|yearly|annual\w*|jährlich\w*)\b"
)
_NOUN = pattern(rf"(?i)\b{_COST_NOUNS}\b")
_MORE = pattern(
    r"(?i)\b(?:and|with|plus|of which|including|saves?|saving|less|more|heat\w*|cooling|water|staff|maintenance|und|samt|spart|et|y|e|en|demand charge|leistungspreis|per rack|each|cap|contract)\b(?= [^.;]{0,40}\d)"
)
_FULL_LOAD = pattern(
    r"(?i)\b(?:full load|8[ ,.]?760|all year|round the clock|volllast|rund um die uhr|pleine charge|plena carga|pieno carico|volle last)\b"
)
"""Patterns of a cost of each year, of energy, of more than energy, and of a machine that draws its full power all year."""
HOURS_OF_YEAR = 8760
IDLE_SHARE = 0.3
"""Share of its power that an idle machine draws at least."""
OTHERS_SHARE = 1.2
"""Ratio of the power of a machine to that of its nodes, at most."""


def wrong_yearly_costs(text: str, watts: float, pue: float, tariffs: set[float]) -> Iterator[Claim]:
    """The costs of a year's electricity that nodes of ``watts`` in all cannot have: more than at full load all year, or less than
    idle nodes. Where the text says that the machine draws its full power, less than that, with the losses of the site if it
    states a PUE.

    >>> text = "It runs at full load all year at a PUE of 1.25. The electricity line of the budget is 260,000 EUR a year."
    >>> list(wrong_yearly_costs(text, 163_200, 1.25, {0.19}))
    [Claim(stated='260,000 EUR a year', right='339,538 EUR or more', figures='163.2 kW at PUE 1.25 and 0.19 a kWh')]
    >>> list(wrong_yearly_costs(text.replace("at full load all year", "by day"), 163_200, 1.25, {0.19}))
    []
    """
    if len(tariffs) != 1 or _NOUN.search(text) is None:
        return
    (tariff,), sentences = tariffs, sentences_of(text)
    of_nodes = watts / 1e3 * HOURS_OF_YEAR * tariff
    busy = _LEAST_SHARE * (pue if "PUE" in text else 1.0) if _FULL_LOAD.search(text) is not None else IDLE_SHARE
    least, most = of_nodes * busy, of_nodes * OTHERS_SHARE * pue
    for cost in figures_of(text, MONEY):
        sentence, token = sentences[cost.sentence], cost.token
        clause = clause_at(sentence, token.start, token.end)
        of_year = bool(token.per) and _OF_YEAR.search(sentence[token.start : token.end + 12]) is not None
        if not of_year or _NOUN.search(clause) is None or _MORE.search(clause) is not None:
            continue
        amounts = [each * token.factor for each in token.values]
        right = any(least <= each <= most * _MOST_SHARE for each in amounts)
        if not right and max(amounts) >= LEAST and is_of_this_machine(sentence, clause):
            bound, word = (of_nodes * pue, "or more") if max(amounts) < least else (most, "at most")
            figures = f"{plain(watts / 1e3, 4)} kW at PUE {plain(pue, 3)} and {plain(tariff, 4)} a kWh"
            stated = " ".join(sentence[token.start : token.end].split())
            yield Claim(stated, f"{bound:,.0f} {token.unit} {word}", figures)
            return


def _price_of(energy: PhysicalFigure, tariff: float) -> float:
    """The price of an energy at a price of the kilowatt-hour."""
    return energy.value / (1e3 * HOUR) * tariff


def _is_paid_for(cost: PhysicalFigure, energy: PhysicalFigure, tariff: float) -> bool:
    """Whether a cost pays for an energy, for a month of it, or for some years of it, perhaps with taxes and fees."""
    ratio = cost.value / _price_of(energy, tariff)
    return any(_LEAST_SHARE <= ratio / each <= _MOST_SHARE for each in (1 / MONTHS, *range(1, MOST_YEARS + 1)))


def _is_rent(sentence: str) -> bool:
    """Whether a sentence states what nodes cost, and no words by which the cost is not the rent of all hours."""
    return _NODES.search(sentence) is not None and _TERMS.search(sentence) is None


def wrong_rents(text: str, price: Price, nodes: int, currency: str | None) -> Iterator[Claim]:
    """The rents of all nodes over a time that a text states in the currency of the keys and that are not the price of a node-hour
    times nodes and hours.

    >>> text = "The 24 nodes cost 3.37 million USD a year, without tax."
    >>> list(wrong_rents("The 24 nodes cost 3.37 million USD a year.", 20.8, 24, "USD"))
    [Claim(stated='3.37 million USD a year', right='4.376 million USD a year', figures='24 nodes at 20.8 USD a node-hour')]
    >>> list(wrong_rents("The 24 nodes cost 4.37 million USD a year.", 20.8, 24, "USD")), list(wrong_rents(text, 20.8, 24, "USD"))
    ([], [])
    """
    low, high = price_ends(price)
    if low != high or currency is None:
        return
    for cost, sentence in _costs_of_machine(text, _is_rent):
        token = cost.token
        named = [each for each in islice(_NODES.finditer(sentence), MOST_MATCHES) if each.end() <= token.start]
        if not named or amount_in_text(named[-1][1]) != nodes or token.unit != currency or len(token.per) != 1:
            continue
        if sentence[named[-1].end() : token.start].strip(" \n$€£"):
            continue
        hours = UNITS[token.per[0]][0] / HOUR
        months_of_30_days = MONTH_OF_30_DAYS if 28 * 24 < hours < 31 * 24 else hours
        ratios = [cost.value / (low * nodes * each) for each in (hours, months_of_30_days)]
        right = any(abs(each - 1) <= _SAME_RENT for each in ratios)
        if not right and _LEAST_RATIO < ratios[0] < _MOST_RATIO:
            stated = " ".join(sentence[token.start : token.end].split())
            rent = stated.replace(token.text, plain(low * nodes * hours / token.factor, 4), 1)
            yield Claim(stated, rent, f"{nodes} nodes at {plain(low, 6)} {currency} a node-hour")
            return

"""Costs of energy in texts, and what they are by an energy and a price of the kilowatt-hour."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.text_clauses import clause_at
from clusterspec.rules.knowledge.text_doubt import is_of_this_machine
from clusterspec.rules.knowledge.text_equations import ENERGY, MONEY, PhysicalFigure, figures_of
from clusterspec.rules.knowledge.text_explanations import Claim
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.spec.model import ProcurementSpec
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
    for cost in figures_of(text, MONEY):
        sentence = sentences[cost.sentence]
        clause = clause_at(sentence, cost.token.start, cost.token.end)
        if cost.value < LEAST or not is_bill(sentence) or not is_of_this_machine(sentence, clause):
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
    """Whether a cost is that of an energy, of a month of it, or of some years of it, perhaps with taxes and fees."""
    ratio = cost.value / _price_of(energy, tariff)
    return any(_LEAST_SHARE <= ratio / each <= _MOST_SHARE for each in (1 / MONTHS, *range(1, MOST_YEARS + 1)))

"""Rents of all nodes in texts, and what they are by the price of a node-hour in the keys."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import HOUR
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.knowledge.text_clauses import clause_at
from clusterspec.rules.knowledge.text_doubt import is_of_this_machine
from clusterspec.rules.knowledge.text_equations import MONEY, figures_of
from clusterspec.rules.knowledge.text_explanations import Claim
from clusterspec.rules.knowledge.text_tokens import UNITS
from clusterspec.rules.knowledge.written_numbers import MOST_MATCHES, amount_in_text, sentences_of
from clusterspec.spec.model import Price
from clusterspec.standard import pattern
from clusterspec.units.display import plain

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
SAME = 0.03
"""Relative difference up to which a rent is right: months of 28 to 31 days differ by 1.6 % from their mean in a year's sum."""
MONTH_OF_30_DAYS = 720.0
LEAST, MOST = 0.05, 20.0
"""Ratios of a stated to the right rent between which the sentence is about the same cost."""


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
    sentences = sentences_of(text)
    for cost in figures_of(text, MONEY):
        sentence, token = sentences[cost.sentence], cost.token
        clause = clause_at(sentence, token.start, token.end)
        named = [each for each in islice(_NODES.finditer(sentence), MOST_MATCHES) if each.end() <= token.start]
        if not named or amount_in_text(named[-1][1]) != nodes or token.unit != currency or len(token.per) != 1:
            continue
        if sentence[named[-1].end() : token.start].strip(" \n$€£") or _TERMS.search(sentence) is not None:
            continue
        hours = UNITS[token.per[0]][0] / HOUR
        months_of_30_days = MONTH_OF_30_DAYS if 28 * 24 < hours < 31 * 24 else hours
        ratios = [cost.value / (low * nodes * each) for each in (hours, months_of_30_days)]
        right = any(abs(each - 1) <= SAME for each in ratios)
        if not right and LEAST < ratios[0] < MOST and is_of_this_machine(sentence, clause):
            stated = " ".join(sentence[token.start : token.end].split())
            rent = stated.replace(token.text, plain(low * nodes * hours / token.factor, 4), 1)
            yield Claim(stated, rent, f"{nodes} nodes at {plain(low, 6)} {currency} a node-hour")
            return

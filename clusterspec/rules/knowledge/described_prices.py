"""Prices of a node or an accelerator in a text, compared with those of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.knowledge.written_numbers import large_number_in_text
from clusterspec.spec.model import Price
from clusterspec.standard import pattern

_PRICE = pattern(
    r"(?:[$€£] ?)?(?<![\w.,/])(?P<amount>\d{1,3}(?: \d{3})+|(?<!\d )\d[\d.,]*\d|\d)(?: ?(?:USD|EUR|GBP|CHF|dollars|[Ee]uros?|[$€£]))?"
    r" ?(?:per |/ ?|an? |for each |je |pro |par )(?P<unit>GPU|accelerator|chip|card|node|server|instance|Knoten|nœud|serveur)"
    r"(?P<hour>[ -]hour|-h\b|/h(?:our)?\b| (?:and|per|an) hour|(?: und| je| pro)? Stunde| et par heure)?"
    r"(?![ -]?(?:(?:and|et|und) )?(?:an?|per|/|par|pro|im|je) ?(?:year|month|an|mois|Jahr|Monat)\b)"
)
_WHOLE_NODES = frozenset(("node", "server", "instance", "Knoten", "nœud", "serveur"))
_CURRENCY = pattern(r"USD|EUR|GBP|CHF|dollars|euros|[$€£]")
SAME_PRICE = 0.03
"""Relative difference up to which two prices are the same, one of them rounded, or multiplied by accelerators."""
ROUNDED_PRICE = 0.005
"""The same for the price of a node that a text states to a thousand or less."""


def wrong_prices(text: str, prices: Mapping[str, Price], accelerators: int) -> Iterator[str]:
    """Sentences on the prices of a text that no price in the keys equals. ``prices`` are those of the keys `node` and
    `node_hour`, ``accelerators`` the accelerators of a node.

    >>> list(wrong_prices("Angebot: 25.000 EUR je GPU", {"node": 210000.0}, 8))
    ['the description says `25.000 EUR je GPU`, 200,000 for a node of 8, and `prices.node` is 210,000']
    """
    if _CURRENCY.search(text) is None:
        return
    for match in _PRICE.finditer(text):
        key = "node_hour" if match["hour"] else "node"
        stated, amount = prices.get(key), large_number_in_text(match["amount"].replace(" ", ""))
        if stated is None or _CURRENCY.search(match[0]) is None:
            continue
        of_node = amount if match["unit"] in _WHOLE_NODES else amount * accelerators
        low, high = price_ends(stated)
        exact = key == "node" and match["unit"] in _WHOLE_NODES and of_node % 10_000
        close = ROUNDED_PRICE if exact else SAME_PRICE
        if not low * (1 - close) <= of_node <= high * (1 + close):
            means = "" if of_node == amount else f", {of_node:,.10g} for a node of {accelerators}"
            in_keys = f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
            yield f"the description says `{match[0]}`{means}, and `prices.{key}` is {in_keys}"

"""Prices of a node or an accelerator in a text, compared with those of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.purchases import price_ends
from clusterspec.rules.readers.clauses import is_former, is_hypothetical
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.written_numbers import (
    MOST_MATCHES,
    amount_in_text,
    large_number_in_text,
    numbers_of,
    sentences_of,
)
from clusterspec.spec.model import Price
from clusterspec.standard import pattern

_PRICE = pattern(
    r"(?:(?:(?<!\w)(?:USD|EUR|GBP|CHF)|[$€£]) ?)?(?<![\w.,/])(?P<amount>\d{1,3}(?: \d{3})+|(?<!\d )\d[\d.,]*\d|\d)(?: ?(?:USD|EUR|GBP|CHF|dollars|d[óo]lares|dollari|[Ee]uros?|[$€£]))?"
    r" ?(?:per |/ ?|an? |for each |je |pro |par |por(?: cada)? |al? |voor elke )(?P<unit>GPU|accelerator|chip|card|node|server|instance|Knoten|nœud|serveur"
    r"|tarjeta|placa|scheda|acelerador|acceleratore|nodo|nó|servidor|inst[aâ]ncia|istanza)\b"
    r"(?P<hour>[ -]hour|-h\b|/h(?:our)?\b| (?:and|per|an) hour|(?: und| je| pro)? Stunde| et par heure| (?:[ey]|por|y por|e por) hora| (?:e|per|all') ?ora| (?:en|per) uur)?"
    r"(?![ -]?(?:(?:and|et|und|[ey]) )?(?:(?:an?|per|/|par|por|pro|im|je|al?) ?)?(?:year|month|an|mois|Jahr|Monat|año|mes|ano|mês|anno|mese)\b)"
)
_NODES_AT = pattern(
    r"(?<![\w.,/])(?:\d{1,3}(?:[.,]\d{3})*|\d+) (?:nodes|servers|systems|machines|boxes|Knoten|Server|Systeme|nœuds|serveurs|nodos|servidores|(?:(?:servers|Server|serveurs|servidores) )?(?:DGX|HGX)(?: [A-Z]{1,3}\d{2,3}\w?)?)"
    r",?(?P<at> (?:at|zu je|je|zu|à|a))?(?: for)? (?:[$€£] ?)?(?P<amount>\d{1,3}(?:[ .,]\d{3})+|\d{4,7})(?: ?(?:USD|EUR|GBP|CHF|dollars|[Ee]uros?|[$€£]))"
    r"(?P<each> (?:each|apiece|a piece|l'unité|(?:la |par )?pièce|chacun|cada uno|das Stück|pro Stück))?"
)
"""A number of nodes with the price of each."""
_WHOLE_NODES = frozenset(
    (
        "node",
        "server",
        "instance",
        "Knoten",
        "nœud",
        "serveur",
        "nodo",
        "nó",
        "servidor",
        "instancia",
        "instância",
        "istanza",
    )
)
_CURRENCY = pattern(r"USD|EUR|GBP|CHF|dollars|d[óo]lares|dollari|[Ee]uros?|[$€£]")
_CODES = {
    **dict.fromkeys(("dollars", "dólares", "dolares", "dollari"), "USD"),
    "euro": "EUR",
    "euros": "EUR",
    "$": "USD",
    "€": "EUR",
    "£": "GBP",
}
SAME_PRICE = 0.03
"""Relative difference up to which two prices are the same, one of them rounded, or multiplied by accelerators."""
ROUNDED_PRICE = 0.005
"""Relative difference up to which the price of a node is the same, if a text states it to a thousand or less."""


class WrongPrice(NamedTuple):
    """A sentence on a price of a text that differs from the price of the keys, which is one of an accelerator where it
    should be one of a node if ``is_of_accelerator``.
    """

    message: str
    is_of_accelerator: bool = False


def wrong_prices(text: str, prices: Mapping[str, Price], accelerators: int, currency: str = "") -> Iterator[WrongPrice]:
    """Sentences on the prices of a text that no price in the keys equals. ``prices`` are those of the keys `node` and
    `node_hour`, ``accelerators`` the accelerators of a node. Prices in another ``currency`` than that of the keys, and
    sentences about another offer, are not read; nor is a text that states the right price, too.

    >>> next(wrong_prices("Angebot: 25.000 EUR je GPU", {"node": 210000.0}, 8)).message
    'the description says `25.000 EUR je GPU`, 200,000 for a node of 8, but `prices.node` is 210,000'
    >>> next(wrong_prices("We pay USD 3.30 per GPU-hour.", {"node_hour": 3.3}, 8, "USD")).is_of_accelerator
    True
    >>> list(wrong_prices("We pay USD 2.30 per GPU-hour, the list has USD 3.30 per GPU-hour.", {"node_hour": 18.4}, 8, "USD"))
    []
    >>> list(wrong_prices("We pay 10.582 USD per GPU hour.", {"node_hour": 42.328}, 4, "USD"))
    []
    """
    if _CURRENCY.search(text) is None:
        return
    wrong: dict[str, list[WrongPrice]] = {}
    right: set[str] = set()
    for sentence in sentences_of(" ".join(text.split())):
        for key, price in _judged_prices(sentence, prices, accelerators, currency):
            if price is None:
                right.add(key)
            elif not words_of_another(sentence) and not is_former(sentence) and not is_hypothetical(sentence):
                wrong.setdefault(key, []).append(price)
    for key, sentences in wrong.items():
        yield from () if key in right else sentences


_CAPPED = pattern(
    r"(?i)\b(?P<one>(?:GPU|card|accelerator)[- ]?hours?|l'heure (?:de |par )?(?:GPU|carte)|heures?[- ](?:de )?GPU|GPU-Stunden?|horas? (?:de |por )?GPU|ore? (?:di |per )?GPU|GPU-u(?:ur|ren)|"
    r"(?:node|instance)[- ]hours?|Knotenstunden?|heures? (?:de |par )?nœud|horas? (?:de |por )?nodo)\b[^.;\d]{0,40}? (?:[$€£] ?)?(?P<amount>\d{1,4}(?:[.,]\d{1,3})?) ?(?:USD|EUR|GBP|CHF|dollars|euros?|[$€£])"
)
"""A price that follows the words for an hour of an accelerator or a node."""
_OF_NODE = ("node", "instance", "knoten", "nœud", "nodo")
_LIMITS = pattern(
    r"(?i)\b(?:cap(?:s|ped)?|limit\w*|at most|no more than|not (?:more|above|exceed)|maximum|max|höchstens|begrenz\w*|gedeckelt|deckelt|plafonn\w*|au plus|como máximo|tope|al massimo|hoogstens|maximaal)\b"
)


def prices_above_caps(
    text: str, prices: Mapping[str, Price], accelerators: int, currency: str = ""
) -> Iterator[WrongPrice]:
    """Sentences that allow less for an hour of an accelerator or a node than the keys have.

    >>> next(prices_above_caps("Le cadre plafonne l'heure de GPU à 2,40 EUR.", {"node_hour": 23.6}, 8, "EUR")).message
    "the description allows at most `l'heure de GPU à 2,40 EUR`, but `prices.node_hour` is 23.6, 2.95 for each of 8 accelerators"
    """
    stated = prices.get("node_hour")
    if stated is None:
        return
    for sentence in sentences_of(" ".join(text.split())):
        for match in islice(_CAPPED.finditer(sentence), MOST_MATCHES):
            clause = sentence[max(0, match.start() - 40) : match.end()]
            if _LIMITS.search(clause) is None or not _is_in_currency(currency, match[0]) or words_of_another(sentence):
                continue
            of_one = 1 if any(each in match["one"].lower() for each in _OF_NODE) else accelerators
            low, amount = price_ends(stated)[0], large_number_in_text(match["amount"])
            if low > amount * of_one * (1 + SAME_PRICE):
                each = "" if of_one == 1 else f", {low / of_one:,.6g} for each of {of_one} accelerators"
                yield WrongPrice(
                    f"the description allows at most `{match[0]}`, but `prices.node_hour` is {low:,.10g}{each}"
                )


def _judged_prices(
    sentence: str, prices: Mapping[str, Price], accelerators: int, currency: str
) -> Iterator[tuple[str, WrongPrice | None]]:
    """The prices of a sentence by key, each with what is wrong with it; None for a right one."""
    for match in islice(_PRICE.finditer(sentence), MOST_MATCHES):
        key = "node_hour" if match["hour"] else "node"
        stated, digits = prices.get(key), match["amount"].replace(" ", "")
        if stated is None or not _is_in_currency(currency, match[0]):
            continue
        amount, of_one = large_number_in_text(digits), 1 if match["unit"] in _WHOLE_NODES else accelerators
        of_node = amount * of_one
        low, high = price_ends(stated)
        exact = key == "node" and match["unit"] in _WHOLE_NODES and of_node % 10_000
        close = ROUNDED_PRICE if exact else SAME_PRICE
        if any(low * (1 - close) <= each * of_one <= high * (1 + close) for each in (amount, *numbers_of(digits))):
            yield key, None
        else:
            means = "" if of_node == amount else f", {of_node:,.10g} for a node of {accelerators}"
            in_keys = f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
            message = f"the description says `{match[0]}`{means}, but `prices.{key}` is {in_keys}"
            yield key, WrongPrice(message, is_of_accelerator=bool(means) and low <= amount <= high)


def wrong_prices_of_nodes(text: str, price: Price, currency: str) -> Iterator[WrongPrice]:
    """Sentences on prices of each of a number of nodes that are not the price of the keys. Sentences about another offer,
    and texts that state the right price, too, are not read.

    >>> next(wrong_prices_of_nodes("Angeboten sind 32 DGX H200 zu je 302.000 EUR.", 312000.0, "EUR")).message
    'the description says `32 DGX H200 zu je 302.000 EUR`, but `prices.node` is 312,000'
    >>> list(wrong_prices_of_nodes("A bidder offered 32 nodes at 302,000 EUR each.", 312000.0, "EUR"))
    []
    """
    low, high = price_ends(price)
    wrong: dict[float, str] = {}
    for sentence in sentences_of(with_numerals(text)):
        for match in islice(_NODES_AT.finditer(sentence), MOST_MATCHES):
            amount = amount_in_text(match["amount"])
            if low * (1 - ROUNDED_PRICE) <= amount <= high * (1 + ROUNDED_PRICE):
                return
            of_each = match["at"] is not None or match["each"] is not None
            if (
                of_each
                and _is_in_currency(currency, match[0])
                and not words_of_another(sentence)
                and not is_former(sentence)
            ):
                wrong[amount] = match[0]
    if len(wrong) == 1:
        in_keys = f"{low:,.10g}" if low == high else f"{low:,.10g} to {high:,.10g}"
        yield WrongPrice(f"the description says `{next(iter(wrong.values()))}`, but `prices.node` is {in_keys}")


def _is_in_currency(currency: str, words: str) -> bool:
    """Whether a price is in a currency, or in any where it is empty.

    >>> _is_in_currency("USD", "2.95 euros per GPU"), _is_in_currency("EUR", "2.95 euros per GPU"), _is_in_currency("", "2.95 per GPU")
    (False, True, False)
    """
    named = _CURRENCY.search(words)
    return named is not None and (not currency or _CODES.get(named[0].lower(), named[0]) == currency)

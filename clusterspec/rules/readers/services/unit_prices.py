"""Prices and costs in texts per unit of a service's output: tokens, requests, pages or images."""

from __future__ import annotations

from itertools import chain

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.loads import DIGITS, number_of
from clusterspec.rules.readers.written_numbers import has_unit, sentences_of
from clusterspec.standard import pattern

_MONEY = ("usd", "eur", "gbp", "chf", "$", "€", "£", "dollar", "cent")
"""Parts of the words of `_CURRENCY` except `ct`."""
_CURRENCY = r"(?:USD|EUR|GBP|CHF|US\$|[$€£]|dollars?|euros?|cents?|ct)"
_UNITS = {
    "million tokens": r"(?:1 ?|one |a )?(?:million|M|Mio\.?|Million|Millionen|millón|mtok(?:ens?)?)\b",
    "thousand tokens": r"(?:1,?000|1 ?k|a thousand|thousand|tausend|mille|mil)\b",
    "requests": r"(?:requests?|quer(?:y|ies)|calls?|answers?|anfrage|antwort|aufruf|requête|réponse|petición|respuesta|consulta)\b",
    "documents": r"(?:documents?|pages?|images?|minutes? of (?:audio|speech)|dokument|seite|bild|página|imagen)\b",
}
"""The units of prices, with their words."""
_PER = r"(?:per|/|for (?:a|one|each)|an?|each|je|pro|par|por|le|la|el|cada)"
_UNIT = "|".join(f"(?P<u{index}>{words})" for index, words in enumerate(_UNITS.values()))
_PRICE = pattern(
    rf"(?i)(?:{_CURRENCY} ?(?P<behind>{DIGITS})|(?P<before>{DIGITS}) ?{_CURRENCY})(?: (?:net|gross))? ?{_PER} ?(?:{_UNIT})"
)
_UNIT_FIRST = pattern(
    rf"(?i)\b(?:an?|one|the|each|eine?|une?|una?) (?:{_UNIT})(?: (?:input|output))?(?: tokens?)?(?: therefore| thus| then| hence)? (?:costs?|kostet|kosten|coûte|coûtent|cuesta|cuestan|is|comes? to|sells (?:at|for))(?: us)?(?: about| roughly| some| only)?"
    rf" (?:{_CURRENCY} ?(?P<behind>{DIGITS})|(?P<before>{DIGITS}) ?{_CURRENCY})"
)
_VERB_FIRST = pattern(
    rf"(?i)\b(?:costs?|kostet|kosten|coûte|coûtent|cuesta|cuestan) (?:an?|one|the|each|eine?|une?|una?|le|la|el)? ?(?:{_UNIT})(?: tokens?)?"
    rf" (?:{_CURRENCY} ?(?P<behind>{DIGITS})|(?P<before>{DIGITS}) ?{_CURRENCY})"
)
_HEADED = pattern(
    rf"(?i)\b(?:costs?|prices?|kosten|preise?|coûts?|prix|costes?|precios?)(?: of)? {_PER} ?(?:{_UNIT})[^:.;\d]{{0,24}}:(?P<amounts>[^:;]{{1,120}})"
)
"""Pattern of a heading that states the unit of the amounts after it."""
_DIRECTION = pattern(r"(?i)\b(?:input|output|cached|prompt)\b")
_AMOUNT = pattern(rf"(?i){_CURRENCY} ?(?P<behind>{DIGITS})|(?P<before>{DIGITS}) ?{_CURRENCY}")


class UnitPrice(NamedTuple):
    """A price per unit, as written, with its position in its sentence; ``of`` is `input` or `output` for tokens if the
    text states it.
    """

    value: float
    unit: str
    of: str
    written: str
    sentence: str
    start: int
    end: int

    def is_of_same(self, other: UnitPrice) -> bool:
        return self.unit == other.unit and (self.of == other.of or "" in (self.of, other.of))


def unit_prices_in(text: str) -> list[UnitPrice]:
    """The prices per unit of output, such as tokens or requests, that a text states.

    >>> [(each.value, each.unit) for each in unit_prices_in("$0.70 per million, 0,44 EUR pro Million, 0.2 ct a request")]
    [(0.7, 'million tokens'), (0.44, 'million tokens'), (0.2, 'requests')]
    """
    found = []
    for sentence in filter(_names_currency, sentences_of(text)):
        for match in chain.from_iterable(form.finditer(sentence) for form in (_PRICE, _UNIT_FIRST, _VERB_FIRST)):
            value = number_of(match["behind"] or match["before"])
            of = _DIRECTION.search(sentence, match.start(), min(len(sentence), match.end() + len(" of the output")))
            unit, amount = _unit_of(match.groupdict()), _amount_in(match[0])
            if value > 0:
                found.append(UnitPrice(value, unit, of[0].lower() if of else "", amount, sentence, *match.span()))
        for heading in _HEADED.finditer(sentence):
            unit = _unit_of(heading.groupdict())
            for each in _AMOUNT.finditer(sentence, heading.start("amounts"), heading.end("amounts")):
                value = number_of(each["behind"] or each["before"])
                if value > 0:
                    found.append(UnitPrice(value, unit, "", each[0], sentence, *each.span()))
    return found


def _names_currency(sentence: str) -> bool:
    """Whether a sentence names a currency; for others, the patterns of prices are not compiled.

    >>> _names_currency("Sold at 44ct."), _names_currency("The direction of 4 million tokens")
    (True, False)
    """
    lower = sentence.lower()
    return any(each in lower for each in _MONEY) or has_unit(sentence, frozenset({"ct"}))


class Amount(NamedTuple):
    """An amount of money in whole units of a currency, as written, with its position in the text."""

    value: float
    written: str
    start: int
    end: int


_NAMES_UNIT = pattern(rf"(?i){_UNIT.replace('(?P<u', '(?P<n')}|\btokens?\b|/M\b")
_OF_TIME = pattern(
    r"(?i)^ ?(?:/|per|an?|each|je|pro|par|por|the|la|die) ?(?:[\w-]{1,12}[ -]){0,2}?(?:h|hours?|hr|days?|months?|years?|kwh|mwh|node|gpu|stunde|knoten|monat|jahr|heure|nœud|mois|an)\b|^ ?(?:m|k|million|thousand|bn)\b"
)
"""Pattern of words after an amount that make it a price of time, machines or energy, or an amount in thousands or
millions.
"""
_CENTS = ("ct", "cent", "cents")


def amounts_in(passage: str) -> list[Amount]:
    """The amounts of money in a passage about a unit of output; prices of time, machines and energy are omitted.

    >>> [each.value for each in amounts_in("0,30 € und 0,50 € je Million Token, 2 cents a request; a node costs 38 USD an hour")]
    [0.3, 0.5, 0.02]
    """
    if _NAMES_UNIT.search(passage) is None:
        return []
    found = []
    for each in _AMOUNT.finditer(passage):
        value = number_of(each["behind"] or each["before"])
        scale = 0.01 if each[0].lower().endswith(_CENTS) or each[0].lower().startswith(_CENTS) else 1.0
        if value > 0 and _OF_TIME.match(passage[each.end() :]) is None:
            found.append(Amount(value * scale, each[0].strip(), *each.span()))
    return found


def _amount_in(text: str) -> str:
    match = _AMOUNT.search(text)
    return match[0] if match is not None else text


def _unit_of(groups: dict[str, str | None]) -> str:
    return next(unit for index, unit in enumerate(_UNITS) if groups[f"u{index}"])

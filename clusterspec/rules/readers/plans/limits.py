"""Limits that a text sets to a machine: the power that the site gives, the money that somebody approved, the rate of a leased
line, and the time for which the machine is lent.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import islice

from clusterspec.quantity import DAY
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.rules.readers.demands.times import demands_on
from clusterspec.rules.readers.dimensions import figures_of
from clusterspec.rules.readers.doubt import is_of_this_machine, words_of_another
from clusterspec.rules.readers.exchange_rates import stated_rates, words_of_currency
from clusterspec.rules.readers.tokens import tokens_of
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
"""Sentences of a text that are read."""
_REUSED = pattern(
    r"(?i)\b(?:old|former|alte[nrms]?|ehemalige[nrms]?|ancien(?:ne)?|antigu[oa]|vecchi[oa]|oude) (?:[^\W\d]+ )?(?:store|hall|room|mill|factory|plant|laboratory|building|church|bank|mine|bunker|halle|fabrik|keller|salle|usine|sala|fábrica|fabbrica|fabriek)\b"
    r"(?=,? (?:where|in which|that (?:houses|holds)|wo\b|in de[rm]\b|où|dove|donde|waar))"
)
"""An old building in which the new machine stands."""
_PART_OR_NET = pattern(
    r"(?i)\b(?:net|excl\w*|(?:without|before|plus|ohne|zuzüglich|hors|sin|senza|zonder) (?:the )?(?:vat|tax\w*|mwst|steuer\w*|umsatzsteuer|taxes?|tva|iva|btw)|netto|ht|phases?|first|second|third|years?|annual\w*(?! (?:law|act|budget law))|options?|each|only|stages?|tranches?|further|another|additional|more|last|pro|je|per|jährlich|jahr|an|año|anno|if|unless)\b"
)
"""Words of an amount before tax, for a part of a purchase, or for a time."""
_OF_RATE = pattern(r"\b(?:per|je|pro|par|por) (?:[Dd]ollars?|[Ee]uros?|pounds?|francs?|Franken|yen|[A-Z]{3})\b")
"""Words of an exchange rate."""


class StatedLimit(NamedTuple):
    """A limit as a text states it, in watts, units of a currency, bytes per second or seconds, and its words."""

    value: float
    words: str


def power_of_site(text: str, start: date | None = None) -> StatedLimit | None:
    """The power that the site gives to the machine, on the day on which it starts; None unless a text states exactly one.

    >>> power_of_site("The hall gives 240 kW. Four racks at 40 kW draw 160 kW.").value
    240000.0
    >>> power_of_site("The transformer, less pumps and lighting, leaves 120 kW for the IT equipment until winter 2028.").value
    120000.0
    >>> power_of_site("The hall gives 240 kW of cooling."), power_of_site("The old hall gives 90 kW.")
    (None, None)
    >>> power_of_site("The old cold store, where it goes, gets 70 kW. It draws 22 kW of the 70 kW that the room has.").value
    70000.0
    """
    return _sole_limit(_powers_of_site(text, start))


def _powers_of_site(text: str, start: date | None) -> Iterator[StatedLimit]:
    for each in demands_on(_REUSED.sub("hall", " ".join(text.split())), start):
        if each.subject.name == "power":
            yield StatedLimit(each.value, each.words)


def approved_amount(text: str, currency: str) -> StatedLimit | None:
    """The amount that somebody approved for the whole purchase, taxes included; None unless a text states exactly one in
    this currency.

    >>> approved_amount("The board approved EUR 8.9 million for everything, VAT included.", "EUR").value
    8900000.0
    >>> approved_amount("The appropriation is R$ 14.2 million, taxes included; nothing above it may be spent.", "BRL").value
    14200000.0
    >>> approved_amount("EUR 2 million were approved for the first phase.", "EUR")
    """
    return _sole_limit(_approved_amounts(text, currency)) or _converted_amount(text, currency)


def _converted_amount(text: str, currency: str) -> StatedLimit | None:
    """The amount that somebody approved in another currency, at the only exchange rate that the text states; None without one."""
    rates = {each[1:] for each in stated_rates(text) if currency in (each.one, each.other)}
    if len(rates) != 1:
        return None
    ((one, units, other),) = rates
    approved = _sole_limit(_approved_amounts(text, other if one == currency else one))
    if approved is None:
        return None
    value = approved.value / units if one == currency else approved.value * units
    return StatedLimit(value, f"{currency} {value:,.0f} ({approved.words})")


def _approved_amounts(text: str, currency: str) -> Iterator[StatedLimit]:
    units = words_of_currency(currency)
    for sentence in _sentences(text):
        if not _says_approved(sentence) or _PART_OR_NET.search(_OF_RATE.sub(" ", sentence)) is not None:
            continue
        for each in tokens_of(sentence):
            clause = clause_at(sentence, each.start, each.end)
            alike = each.kind == "number" and each.unit in units and not each.per and len(each.values) == 1
            if alike and _says_approved(clause) and is_of_this_machine(sentence, clause):
                yield StatedLimit(each.values[0], f"{currency} {each.values[0]:,.0f}")


def _says_approved(text: str) -> bool:
    """Whether a text says that somebody approved an amount.

    >>> _says_approved("De raad heeft 2 miljoen uitgetrokken"), _says_approved("The nodes cost 2 million")
    (True, False)
    """
    return "budgeted" in lexicon().meanings(text)


_LINE = pattern(
    r"(?i)\b(?:carriers?|wavelengths?|waves?|leased (?:line|wave|fib(?:er|re))|dark fib(?:er|re)|dwdm|wan|inter-?site|circuits?|between the (?:two )?(?:halls|sites|cities|campuses|buildings|data ?cent(?:re|er)s)|"
    r"mietleitung|standleitung|netzbetreiber|wellenlänge\w*|zwischen den (?:beiden )?(?:hallen|standorten|häusern|städten)|opérateur|liaison|longueur d'onde|entre les (?:deux )?(?:sites|salles|villes)|"
    r"operador|enlace|longitud de onda|entre las (?:dos )?(?:sedes|salas|ciudades)|operatore|collegamento|lunghezza d'onda)\b"
)
_LINE_RATE = frozenset({("B", 1), ("s", -1)})


def rate_of_line(text: str) -> StatedLimit | None:
    """The rate of the line between two sites, in bytes per second each way; None unless a text states exactly one.

    >>> rate_of_line("The carrier sells us one 10 Gb/s wavelength, all of it ours. The nodes have 400 Gb/s NICs.").words
    '10 Gb/s'
    >>> rate_of_line("The carrier sells 10 Gb/s or 100 Gb/s.")
    """
    return _sole_limit(_rates_of_line(text))


def _rates_of_line(text: str) -> Iterator[StatedLimit]:
    for sentence in _sentences(text):
        if _LINE.search(sentence) is None:
            continue
        for each in figures_of(sentence):
            clause = clause_at(sentence, each.start, each.end)
            if each.powers == _LINE_RATE and is_of_this_machine(sentence, clause):
                yield StatedLimit(each.value, each.words)


_SLOT = pattern(
    r"(?i)\b(?:slots?|allocations?|allocated|time window|reservation|award|zeitfenster|zuteilung|kontingent|belegung|créneau|attribution|ventana|asignación|turno|assegnazione)\b"
)
_ENDS = pattern(
    r"(?i)\b(?:(?:cannot|can not|may not|must not|not|never) (?:be )?(?:lengthened|extended|prolonged|repeated|moved)|takes? the (?:machine|cluster|gpus|nodes)|no (?:extension|longer slot)|"
    r"nicht (?:verlängert|verlängerbar)|keine verlängerung|(?:pas|non|ne peut être) (?:prolongé\w*|prolongeable|reconduit\w*)|sin prórroga|no (?:se )?(?:prorroga|prolonga)\w*|non prorogabile)\b"
)
"""Words for a time in which a machine is lent, and for its end, which nothing moves."""
_TIMES = frozenset({("s", 1)})


def time_of_slot(text: str) -> StatedLimit | None:
    """The time in seconds for which a machine is lent to a run, if nothing can lengthen it; None unless a text states exactly one
    of a day or more.

    >>> time_of_slot("The slot gives us all GPUs until 1 February, that is 21 days. It cannot be lengthened.").words
    '21 days'
    >>> time_of_slot("The slot is 21 days and may be extended.")
    """
    return _sole_limit(_times_of_slot(text)) if _ENDS.search(text) is not None else None


def _times_of_slot(text: str) -> Iterator[StatedLimit]:
    for sentence in _sentences(text):
        times = [each for each in figures_of(sentence) if each.powers == _TIMES and each.value >= DAY]
        if len(times) == 1 and _SLOT.search(sentence) is not None and not words_of_another(sentence):
            yield StatedLimit(times[0].value, times[0].words)


def _sentences(text: str) -> Iterator[str]:
    """The first sentences of a text, each on one line."""
    return islice(sentences_of(" ".join(text.split())), MOST_SENTENCES)


def _sole_limit(limits: Iterator[StatedLimit]) -> StatedLimit | None:
    found = {each.value: each for each in limits}
    return next(iter(found.values())) if len(found) == 1 else None

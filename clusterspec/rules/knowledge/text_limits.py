"""Limits that a text sets to a machine: the power that the site gives, and the money that somebody approved."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.text_clauses import clause_at
from clusterspec.rules.knowledge.text_dimensions import figures_of
from clusterspec.rules.knowledge.text_doubt import is_of_this_machine
from clusterspec.rules.knowledge.text_tokens import tokens_of
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.standard import pattern

MOST_SENTENCES = 200
"""Sentences of a text that are read."""
WATTS = frozenset({("W", 1)})
_GIVEN_POWER = pattern(
    r"(?i)\b(?:site|hall|room|building|campus|transformer|colocation|data ?cent(?:re|er)|feed|connection|supply|halle|gebäude|raum|standort|anschluss|einspeisung|rechenzentrum|"
    r"salle|bâtiment|alimentation|arrivée|raccordement|tableau [ée]lectrique|transformateur|trafo|sala|edificio|acometida|zaal|gebouw)\b[^.;:\d]{0,60}?"
    r"\b(?:gives?|leaves?|provides?|offers?|supplies|delivers?|allows?|is limited to|limits? us to|gibt|lässt|liefert|bietet|erlaubt|fournit|donne|laisse|offre|d[ée]livre|da|deja|ofrece|suministra|fornisce|levert|geeft|biedt)\b(?: [^\W\d]+){0,2}? ?$"
)
"""Words before the power that a site gives."""
_NOT_OF_SITE = pattern(
    r"(?i)\b(?:cool\w*|kühl\w*|climat\w*|froid|refriger\w*|raffredd\w*|koel\w*|heat|wärme|ups|usv|onduleur|racks?|rows?|cabinets?|schr[aä]nke?|baies?|each|every|per|je|pro|par|por|reserve\w*|left|free|more|further|other|second|another|still|noch|reste\w*|übrig|peak|generator\w*|until|from 20\d\d|ab 20\d\d)\b"
)
_TERM = pattern(r"(?i)\b(?:until|bis|jusqu'(?:en|à|au)|hasta|fino al?|tot) (?:[^\W\d]+ ){0,2}20(?:2[7-9]|[3-9]\d)\b")
"""How long a limit holds: it is one of this plan."""
_APPROVED = pattern(
    r"(?i)\b(?:approved|approves|authori[sz]ed|granted|allotted|genehmigt\w*|bewilligt\w*|freigegeben\w*|approuvé\w*|accordé\w*|voté\w*|aprob(?:ó|ado|ada)|concedid[oa]|approvat[oi]|stanziat[oi]|goedgekeurd)\b"
)
_PART_OR_NET = pattern(
    r"(?i)\b(?:net|excl\w*|(?:without|before|plus|ohne|zuzüglich|hors|sin|senza|zonder) (?:the )?(?:vat|tax\w*|mwst|steuer\w*|umsatzsteuer|taxes?|tva|iva|btw)|netto|ht|phases?|first|second|third|years?|annual\w*|options?|each|only|stages?|tranches?|further|another|additional|more|last|pro|je|per|jährlich|jahr|an|año|anno|if|unless)\b"
)
"""Words of an amount before tax, for a part of a purchase, or for a time."""


class StatedLimit(NamedTuple):
    """A limit as a text states it, in watts or in units of a currency, and its words."""

    value: float
    words: str


def power_of_site(text: str) -> StatedLimit | None:
    """The power that the site gives to the machine; None unless a text states exactly one.

    >>> power_of_site("The hall gives 240 kW. Four racks at 40 kW draw 160 kW.").value
    240000.0
    >>> power_of_site("The transformer, less pumps and lighting, leaves 120 kW for the IT equipment until winter 2028.").value
    120000.0
    >>> power_of_site("The hall gives 240 kW of cooling."), power_of_site("The old hall gives 90 kW.")
    (None, None)
    """
    return _sole_limit(_powers_of_site(text))


def _powers_of_site(text: str) -> Iterator[StatedLimit]:
    for sentence in islice(sentences_of(" ".join(text.split())), MOST_SENTENCES):
        for each in figures_of(sentence):
            clause = _TERM.sub(" ", clause_at(sentence, each.start, each.end))
            given = each.powers == WATTS and _GIVEN_POWER.search(sentence[: each.start]) is not None
            if given and _NOT_OF_SITE.search(clause) is None and is_of_this_machine(sentence, clause):
                yield StatedLimit(each.value, each.words)


def approved_amount(text: str, currency: str) -> StatedLimit | None:
    """The amount that somebody approved for the whole purchase, taxes included; None unless a text states exactly one in
    this currency.

    >>> approved_amount("The board approved EUR 8.9 million for everything, VAT included.", "EUR").value
    8900000.0
    >>> approved_amount("EUR 2 million were approved for the first phase.", "EUR")
    """
    return _sole_limit(_approved_amounts(text, currency))


def _approved_amounts(text: str, currency: str) -> Iterator[StatedLimit]:
    for sentence in islice(sentences_of(" ".join(text.split())), MOST_SENTENCES):
        if _APPROVED.search(sentence) is None or _PART_OR_NET.search(sentence) is not None:
            continue
        for each in tokens_of(sentence):
            clause = clause_at(sentence, each.start, each.end)
            alike = each.kind == "number" and each.unit == currency and not each.per and len(each.values) == 1
            if alike and _APPROVED.search(clause) is not None and is_of_this_machine(sentence, clause):
                yield StatedLimit(each.values[0], f"{currency} {each.values[0]:,.0f}")


def _sole_limit(limits: Iterator[StatedLimit]) -> StatedLimit | None:
    found = {each.value: each for each in limits}
    return next(iter(found.values())) if len(found) == 1 else None

"""The first and the last day for which a text says that the machine is reserved or rented."""

from __future__ import annotations

from itertools import pairwise

from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.days import COMMON_YEAR
from clusterspec.rules.readers.demands.dates import Span, dated_places
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.standard import pattern

_RESERVED = pattern(
    r"(?i)\b(?:capacity blocks?|blocks?|reserv(?:ed|ation|ations)|rental|rented|leased?|hired?|booked|booking|reservierung|reserviert|mietvertrag|mietzeit|gemietet|miete|gebucht|réserv\w+|location|bail|louée?s?|bloc de capacité|"
    r"reserva\w*|alquil\w*|arrend\w*|bloque de capacidad|prenotazion\w*|prenotat\w*|noleggi\w*|affitt\w*|reservering|gereserveerd|gehuurd|huur\w*|alugu\w*|alugad\w*|rezerwacj\w*|wynajęt\w*|najmu?)\b"
)
_FROM = pattern(
    r"(?i)\b(?:from|starts?|begins?|starting|beginning|ab|vom|von|beginnt|startet|du|dès|à partir|commence|débute|del?|desde|comienza|empieza|inicia|dal|dall['’]|inizia|comincia|van|vanaf|begint|começa|od|zaczyna|rozpoczyna)\b[^.;\d]{0,16}$"
)
_TO = pattern(
    r"(?i)\b(?:to|until|till|through|ends?|ending|bis|endet|au|jusqu['’]au|prend fin|finit|se termine|se achève|s['’]achève|al|hasta|termina|finaliza|acaba|fino|finisce|scade|tot|t/m|eindigt|até|ao|do|kończy)\b[^.;\d]{0,16}$"
)
_OF_OFFER = pattern(
    r"(?i)\b(?:offers?|quotes?|prices?|valid\w*|sale|angebot\w*|preise?|gültig\w*|offres?|prix|valables?|oferta\w*|precio\w*|válid\w*|offert\w*|prezz\w*|valid\w*|prijs|prijzen|geldig\w*|propost\w*|preço\w*|ofert\w*|cen\w*|storage|speicher|stockage|office|büro\w*)\b"
)
"""Words of a sentence about the time of an offer, or about another thing that is rented."""

_EXTENSION = (
    r"(?:extensions?|extended|extend(?:able|ible)?|prolong(?:ed|ation)|renew(?:ed|al|able)|(?:um)?verlänger(?:n|t|bar|ung)|prolong(?:ation|ée?|eable|er)|prorog(?:a|ation|ée?|er|able|abile|ata|are)|prórroga|prorrog(?:able|ad[oa]|ar?|ação|ável)|renovable|"
    r"ampli(?:able|arse)|rinnov(?:abile|o)|verleng(?:d|en|baar|ing)|przedłuż(?:ona|yć|enia)|przedłużalna)"
)
_REFUSAL = (
    r"(?:refused|declined|denied|rejected|excluded|ruled out|impossible|not (?:possible|available|offered|granted)|abgelehnt|ausgeschlossen|(?:nicht|kaum) (?:möglich|vorgesehen)|unmöglich|refusée?|exclue?|impossible|pas (?:possible|prévue)|"
    r"rechazad[oa]|excluid[oa]|descartad[oa]|imposible|no es posible|rifiutata|esclusa|impossibile|non (?:è )?possibile|geweigerd|uitgesloten|onmogelijk|niet mogelijk|recusad[oa]|excluíd[oa]|impossível|não é possível|odmówion\w+|wykluczon\w+|niemożliw\w+)"
)
_NOT = r"(?:no|not|cannot|can't|never|neither|without|nicht|keine?|ohne|ne|non|sans|pas|aucune|sin|senza|nessuna|niet|geen|zonder|não|sem|nenhuma|nie|bez)"
_IS_FINAL = pattern(
    rf"(?i)\b{_EXTENSION}\b[^.;,]{{0,40}}?\b{_REFUSAL}|\b{_NOT}\b(?! only)[^.;,]{{0,24}}?\b{_EXTENSION}\b|\b(?:non[- ]?extend|non[- ]?renew|un(?:ver)?länger|improrog|improrrog)\w*|延長は?(?:でき(?:な|ま?せん)|不可|認められ(?:な|ま?せん))|(?:不能|不可|不得|无法)(?:延长|延期|续)|연장(?:할 수 없|이? ?불가)"
)


def is_final(text: str) -> bool:
    """Whether a text says that the time of a reservation cannot be extended.

    >>> is_final("It goes to another customer on 1 October; an extension was refused."), is_final("The block can be extended.")
    (True, False)
    """
    return any(
        _IS_FINAL.search(each) is not None and _OF_OFFER.search(each) is None and not is_hypothetical(each)
        for each in sentences_of(text)
    )


def reserved_span(text: str) -> Span | None:
    """The first and the last day of the only reservation of a text; None without one.

    >>> reserved_span("The capacity block starts on 2027-02-01 and ends on 2027-04-05.").days
    63
    >>> reserved_span("The offer for the block runs from 1 February 2027 to 15 February 2027.")
    """
    found = {span for sentence in plain_sentences(text) if (span := _span_of(sentence)) is not None}
    return found.pop() if len(found) == 1 else None


def _span_of(sentence: str) -> Span | None:
    """The days of a reservation that a sentence states; None without them."""
    if _RESERVED.search(sentence) is None or _OF_OFFER.search(sentence) is not None:
        return None
    if is_hypothetical(sentence) or words_of_another(sentence):
        return None
    for (first, begin, end), (last, behind, _) in pairwise(sorted(dated_places(sentence), key=lambda each: each[1])):
        start = first.replace(year=last.year) if first.year == COMMON_YEAR else first
        if _FROM.search(sentence[:begin]) is not None and _TO.search(sentence[end:behind]) is not None and start < last:
            return Span(start, last) if last.year != COMMON_YEAR else None
    return None

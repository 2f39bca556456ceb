"""The day until which somebody pays for a rented machine, and the day on which its term starts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import is_hypothetical
from clusterspec.rules.readers.days import COMMON_YEAR
from clusterspec.rules.readers.demands.dates import dated_places
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.standard import pattern

_RENTED = pattern(
    r"(?i)\b(?:reserv\w*|rent(?:ed|s|al)?|leased?|hired?|subscri\w*|reserviert\w*|reservierung|gemietet\w*|miete\w*|mietvertrag|réserv\w*|lou(?:e|ée?s?|ent)|location|bail|alquil\w*|arrend\w*|noleggi\w*|prenotat\w*|"
    r"prenotazione|gereserveerd|reservering|gehuurd|huur\w*|alug\w*|alugu\w*|wynaj\w*|rezerw\w*)\b"
)
_FROM = pattern(
    r"(?i)\b(?:from|starting|beginning|begins?|starts?|as of|ab|beginnt|startet|à partir du|à compter du|dès le|commence|débute|desde|a partir|empieza|comienza|dal|dall['’]|a partire|inizia|decorre|vanaf|begint|ingaande|"
    r"começa|od|rozpoczyna)\b[^.;\d]{0,16}$"
)
"""The end of the text before the day on which something starts."""
_PAYS = pattern(
    r"(?i)\b(?:pays?|paid|reimburs\w*|funds?|funded|funding|covers?|bezahl\w*|zahlt?|erstatte\w*|fördert|übernimmt|paie\w*|payée?s?|rembours\w*|financ\w*|paga\w*|pagad\w*|reembols\w*|sufrag\w*|abona\w*|rimbors\w*|finanzi\w*|betaal\w*|betaalt|"
    r"vergoed\w*|bekostig\w*|płaci\w*|refund\w*|finans\w*)\b"
)
_ONLY = pattern(
    r"(?i)\b(?:only|no longer than|nothing|not|never|nur|nicht\w*|nichts|ausschließlich|que|uniquement|seulement|pas|rien|solo|sólo|solamente|únicamente|no|nada|soltanto|non|nulla|alleen|slechts|enkel|niet\w*|apenas|só|somente|não|tylko|wyłącznie|nie)\b"
)
_UNTIL = pattern(
    r"(?i)\b(?:until|till|up to|through|to|by|before|bis|jusqu['’]au|avant le|hasta|antes|fino|al|entro|tot|t/m|vóór|até|do|przed)\b[^.;\d]{0,12}$"
)
_AFTER = pattern(r"(?i)\b(?:after|beyond|past|nach|après|después|tras|dopo|oltre|na|após|depois|po)\b[^.;\d]{0,12}$")
_NOT = pattern(
    r"(?i)\b(?:no|not|never|cannot|nor|non-\w+|without|ohne|sans|senza|zonder|sem|bez|kein\w*|nicht|weder|ne|n['’]\w+|pas|ni|sin|non|né|niet|geen|não|nem|nie|un\w*kündbar)\b"
)
_ENDED_EARLY = pattern(
    r"(?i)\b(?:cancel\w*|terminat\w*|notice|resold|kündbar|kündig\w*|résili\w*|rescind\w*|cancela\w*|disdett\w*|recess\w*|opzeg\w*|rescis\w*|wypowiedz\w*)\b"
)


class PaidTerm(NamedTuple):
    """The first day of a term, and the last one that is paid."""

    start: date
    paid_until: date


def paid_term(text: str) -> PaidTerm | None:
    """The start of the term of a rented machine and the last day that somebody pays; None unless a text names one of each, and where
    the contract can be ended early.

    >>> paid_term("The nodes are reserved from 1 January 2027. The grant pays only for service until 30 September 2027.").paid_until
    datetime.date(2027, 9, 30)
    >>> paid_term("The nodes are reserved from 1 January 2027. The grant pays for them until 30 September 2027.")
    """
    starts, ends = set[date](), set[date]()
    for sentence in plain_sentences(text):
        if _ENDED_EARLY.search(sentence) is not None and _NOT.search(sentence) is None:
            return None
        if is_hypothetical(sentence) or words_of_another(sentence):
            continue
        starts.update(_starts(sentence))
        ends.update(_ends(sentence))
    if len(starts) != 1 or len(ends) != 1:
        return None
    (start,), (end,) = starts, ends
    return PaidTerm(start, end) if COMMON_YEAR not in (start.year, end.year) and start < end else None


def _starts(sentence: str) -> Iterator[date]:
    """The days on which a sentence says that a rented machine is there."""
    if _RENTED.search(sentence) is not None:
        for day, begin, _ in dated_places(sentence):
            if _FROM.search(sentence[:begin]) is not None:
                yield day


def _ends(sentence: str) -> Iterator[date]:
    """The days until which alone a sentence says that something is paid."""
    if _PAYS.search(sentence) is None or _ONLY.search(sentence) is None:
        return
    for day, begin, _ in dated_places(sentence):
        ahead = sentence[:begin]
        if _UNTIL.search(ahead) is not None or (_AFTER.search(ahead) is not None and _NOT.search(sentence) is not None):
            yield day

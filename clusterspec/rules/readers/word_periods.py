"""The words for each day, week, month, quarter or year, in eight languages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from clusterspec.quantity import DAY, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.units import MONTH
from clusterspec.standard import pattern

MOST = 20
"""Periods of a text that are read."""
_EACH = (
    r"(?:\b(?:an?|per|each|every|any|one|in the|im|pro|je|jede[nmrs]?|in der|eine[rs]|par|chaque|dans le|al|por|cada|en el|en un|a la|ogni|nel|in un|"
    r"un|um|ein|elk|elke|iedere|in een|no|ao|em cada|na|w|każdym) (?:calendar )?|\bd['’]un |\b(?:l|all|dans l)['’])"
)
_WORDS: tuple[tuple[float, str, str], ...] = (
    (DAY, "day|tag|jour|día|giorno|dag|dia|dnia", "daily|täglich\\w{0,4}|quotidien\\w{0,4}|diari\\w{1,4}|giornalier\\w{1,4}|dagelijks|dziennie"),
    (7 * DAY, "week|woche|semaine|semana|settimana|tydzień|tygodniu", "weekly|wöchentlich\\w{0,4}|hebdomadaires?|semanal\\w{0,4}|settimanal\\w{0,4}|wekelijks|tygodniowo"),
    (MONTH, "month|(?:kalender)?monat|mois|mes|mese|maand|mês|miesiącu?|miesiąca", "monthly|monatlich\\w{0,4}|mensuel\\w{0,4}|mensual\\w{0,4}|mensil\\w{0,4}|maandelijks|mensa(?:l|is)|miesięcznie"),
    (YEAR / 4, "quarter|quartal|trimestre|kwartaal|kwartale", "quarterly|vierteljährlich\\w{0,4}|trimestriel\\w{0,4}|trimestral\\w{0,4}"),
    (YEAR, "year|jahr|an|année|año|anno|jaar|ano|rok|roku", "yearly|annual\\w{0,4}|jährlich\\w{0,4}|jahres(?:menge|verbrauch|bedarf|energie|strommenge|budget)|jaar(?:verbruik|hoeveelheid|budget)|annuel\\w{0,4}|anual\\w{0,4}|annu[ao]\\w{0,4}|jaarlijks\\w{0,4}|rocznie|roczn\\w{1,4}"),
)  # fmt: skip
_NOUN, _ADVERB = ("|".join(f"({each[place]})" for each in _WORDS) for place in (1, 2))
_PERIOD = pattern(rf"(?i)(?:{_EACH}(?:{_NOUN})|\b(?:{_ADVERB}))\b")


class WordPeriod(NamedTuple):
    """The seconds of a period for each of which an amount is, its place in a text, and its words."""

    seconds: float
    start: int
    end: int
    words: str


def periods_in(text: str) -> Iterator[WordPeriod]:
    """The periods for each of which a text states something.

    >>> [(round(each.seconds / 86400), each.words) for each in periods_in("18 hours a month, par an, jährlich, cada semana")]
    [(30, 'a month'), (365, 'par an'), (365, 'jährlich'), (7, 'cada semana')]
    """
    for match in islice(_PERIOD.finditer(text), MOST):
        yield WordPeriod(_WORDS[((match.lastindex or 1) - 1) % len(_WORDS)][0], match.start(), match.end(), match[0])

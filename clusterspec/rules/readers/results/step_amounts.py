"""Amounts of money and counts of a calculation in a text, their periods, and results that differ from the right ones."""

from __future__ import annotations

from math import log

from clusterspec.quantity import DAY, YEAR
from clusterspec.rules.readers.dimensions import TIME, Figure, Powers
from clusterspec.rules.readers.results.explanations import Claim
from clusterspec.rules.readers.written_numbers import numbers_of
from clusterspec.standard import pattern
from clusterspec.units.display import plain

SAME, YEARS_APART = 0.0008, 0.004
"""Relative differences up to which two amounts are equal, and up to which years of 365 and of 366 days differ."""
NEAR, FAR = 0.12, 0.5
"""Relative differences beyond which a result belongs to other figures: of a share that is added, and of a product."""
LEAST_AMOUNT = 10_000
"""Least number without a unit that is read as an amount of money."""
MONEY: Powers = frozenset({("money", 1)})
MONEY_RATE: Powers = frozenset({("money", 1), (TIME, -1)})
SHARE: Powers = frozenset({("share", 1)})
DURATION: Powers = frozenset({(TIME, 1)})
RESULT = pattern(
    r"(?i)(?:[=≈]|\b(?:so|that is|i\.e\.|hence|therefore|thus|which (?:makes?|is|are)|makes?|come[sn]? to|totals?|total of|together|altogether|in all|amounts?(?: \w+)? to|amounting to|"
    r"also|das sind|sind das|macht|machen|zusammen|insgesamt|mithin|ergibt|ergeben|beträgt|somit|daher|soit|donc|au total|en tout|ce qui fait|fait|font|es decir|o sea|por tanto|en total|suman|son|"
    r"cioè|ossia|quindi|dunque|in tutto|in totale|sono|dus|samen|oftewel|in totaal|alltså|sammanlagt|tillsammans|totalt|czyli|razem|łącznie|ou seja|no total|portanto))\b[^\d.;]{0,40}$"
)
"""Pattern of the words between the last figure of a calculation and its result."""
TOTAL = pattern(
    r"(?i)\b(?:total\w*|together|altogether|in all|zusammen|insgesamt|ensemble|en tout|en total|in tutto|in totale|samen|in totaal|sammanlagt|tillsammans|razem|łącznie)\b"
)
_PERIOD = pattern(
    r"(?i)^[^\d.;,]{0,28}?\b(?:per|an?|each|every|im|pro|je|am|par|por|al?|à|di|il|om|i|na|w|om)(?: |['’])?(?:(?P<day>day|tag|jour|día|giorno|dag|dia)|(?P<week>week|woche|semaine|semana|settimana|veckan?|tydzień)|(?P<month>month|monat|mois|mes|mese|maand|månad(?:en)?|miesiąc|mês)|(?P<year>year|jahr|année|an|año|anno|jaar|året?|rok|ano))\b|"
    r"^ (?:(?P<monthly>monthly|monatlich|mensuel\w*|mensual\w*|mensil\w*|maandelijks|miesięcznie|mensais)|(?P<yearly>yearly|annually|jährlich|annuel\w*|anual\w*|annu[aoi]\w*|jaarlijks|årligen|rocznie))\b"
)
"""Pattern of the period behind an amount that is of each day, week, month or year."""
_SECONDS = {"day": DAY, "week": 7 * DAY, "month": YEAR / 12, "year": YEAR, "monthly": YEAR / 12, "yearly": YEAR}
_NUMBER = pattern(r"\d(?:[\d.,'’\u00a0\u202f ]*\d)?")


def is_money(figure: Figure) -> bool:
    """Whether a figure is an amount of money, of one thing or of all."""
    return MONEY in (figure.powers, figure.bare)


def may_be_money(figure: Figure) -> bool:
    """Whether a figure is an amount of money, or a large number that leaves its currency out."""
    return is_money(figure) or (not figure.powers and figure.value >= LEAST_AMOUNT)


def is_count(figure: Figure) -> bool:
    return figure.value >= 2 and figure.value % 1 == 0 and (not figure.powers or bool(figure.noun))


def is_amount(figure: Figure) -> bool:
    """Whether a figure is an amount of money, also one of each thing or in each period."""
    return ("money", 1) in figure.powers and len(figure.powers) <= 2


def amount_of(figure: Figure) -> float:
    """The amount of a figure, in its own period."""
    return figure.value * period_of(figure) if figure.powers == MONEY_RATE else figure.value


def period_of(figure: Figure) -> float:
    found = _PERIOD.search(_NUMBER.sub("", figure.words, count=1))
    return _SECONDS[found.lastgroup or "year"] if found is not None else 1.0


def period_behind(sentence: str, figure: Figure, stop: int) -> float:
    """Seconds of the period that a figure is for each of, by its unit or the words behind it; 0 without one."""
    words = _NUMBER.sub("", figure.words, count=1)
    found = _PERIOD.match(sentence[figure.end : stop]) or _PERIOD.search(words)
    return _SECONDS[found.lastgroup or "year"] if found is not None else 0.0


def is_result(sentence: str, begin: int, stated: Figure) -> bool:
    """Whether the words before an amount from ``begin`` on, or those behind it, make it a result."""
    behind = TOTAL.match(sentence[stated.end :].lstrip(" ,"))
    return behind is not None or RESULT.search(sentence[begin : stated.start]) is not None


def is_off_result(stated: Figure, right: float, most: float, apart: float = SAME) -> bool:
    """Whether a result differs from the right one by more than its rounding, and by at most ``most``."""
    off = abs(stated.value / right - 1) if right else 0.0
    return apart + stated.rounding < off <= most


def is_equal(stated: Figure, right: float) -> bool:
    return abs(stated.value - right) <= (SAME + stated.rounding) * right


def claim_of(stated: Figure, right: float, figures: str) -> Claim:
    return Claim(stated.words, in_words_of(stated, right), figures)


def in_words_of(stated: Figure, value: float) -> str:
    """A value in the unit and with the words of a figure.

    >>> from clusterspec.rules.readers.dimensions import figures_of
    >>> stated = figures_of("it costs 3.12M EUR", bare=True)[0]
    >>> in_words_of(stated, 2.8e6)
    '2.8M EUR'
    """
    number = _NUMBER.search(stated.words)
    if number is None or not stated.value:
        return plain(value, 6)
    written = value / stated.value * _number_in(number[0], amount_of(stated))
    digits = f"{written:,.0f}" if written >= 1000 else plain(written, 6)
    return stated.words[: number.start()] + digits + stated.words[number.end() :]


def _number_in(digits: str, amount: float) -> float:
    """The number of digits as written: of several readings the one of which the amount is the lowest power of a thousand.

    >>> _number_in("1.200", 1200.0), _number_in("3.12", 3.12e6), _number_in("5.200", 5.2e6)
    (1200.0, 3.12, 5200.0)
    """

    def strangeness(number: float) -> tuple[bool, float]:
        power = log(abs(amount / number), 1000) if number else 0.0
        return abs(power - round(power)) > SAME, abs(power)

    return min(numbers_of(digits), key=strangeness)

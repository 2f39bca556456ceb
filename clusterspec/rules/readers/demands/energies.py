"""Energies, masses of carbon and operations of a sentence, as figures that may be demanded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.quantity import HOUR, YEAR
from clusterspec.records import NamedTuple
from clusterspec.rules.readers.dimensions import Powers
from clusterspec.rules.readers.word_periods import WordPeriod, periods_in
from clusterspec.rules.readers.written_numbers import large_number_in_text, number_in_text
from clusterspec.standard import pattern

MOST = 12
"""Figures of a sentence that are read."""
FLOPS: Powers = frozenset({("flop", 1)})
MONEY: Powers = frozenset({("money", 1)})
MONEY_RATE: Powers = frozenset({("money", 1), ("s", -1)})
YEARLY_ENERGY: Powers = frozenset({("J", 1), ("year", -1)})
YEARLY_CARBON: Powers = frozenset({("kg", 1), ("year", -1)})
CARBON: Powers = frozenset({("kg", 1)})
ENERGY: Powers = frozenset({("J", 1)})
ACCELERATOR_TIME: Powers = frozenset({("accelerator", 1), ("s", 1)})


class DemandFigure(NamedTuple):
    """A figure in SI with the powers of its units and nouns, its place in the sentence, and its words."""

    value: float
    powers: Powers
    start: int
    end: int
    words: str
    is_computed: bool = False


_RESULT = pattern(r"[=≈×*]\s?$")
"""The sign before a result or a factor."""
_ENERGY = pattern(
    r"(?<![\w.,])(\d{1,3}(?:[ .,'’\u202f]\d{3}){1,4}|\d{1,9}(?:[.,]\d{1,2})?) ?(?:(?P<energy>[kMGT])Wh\b|(?P<mass>kg|t|tonnes?|metric tons|tons?|Tonnen?|toneladas?|tonnellate|ton)\b(?P<carbon>(?: (?:of|de|d'|di|van))? ?(?:CO2|CO₂|carbon|carbone|carbono|carbonio)\b)?)"
)
"""Energies in kWh and larger units, and masses of carbon."""
_OF_FIGURE = pattern(r"\d ?[^\W\d]{1,4} $")
"""A figure right before words for each year, to which these belong."""
_EMITTED = pattern(
    r"(?i)\b(?:emission|émission|emisi[oó]n|emissio|emissõ|emisj|treibhausgas|ślad węglowy|carbon footprint)"
)
"""Words of a sentence whose tonnes are those of carbon."""
_PREFIXES = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_NEAR = 48
"""Characters between an energy and the words for each year."""


def energy_figures(sentence: str) -> Iterator[DemandFigure]:
    """The energies in joules and the masses of carbon in kg, of each year where a sentence says so.

    >>> [(each.value, sorted(each.powers)) for each in energy_figures("at most 2 GWh a year and 1,500 t of CO2")]
    [(7200000000000.0, [('J', 1), ('year', -1)]), (1500000.0, [('kg', 1)])]
    """
    for match in islice(_ENERGY.finditer(sentence), MOST):
        if _RESULT.search(sentence, max(0, match.start() - 4), match.start()) is not None:
            continue
        near = _period_near(sentence, match.start(), match.end())
        value, period = _whole_number(match[1]), YEAR / near.seconds if near is not None else 1.0
        if match["energy"]:
            joules, powers = value * _PREFIXES[match["energy"]] * HOUR * period, YEARLY_ENERGY if near else ENERGY
            yield DemandFigure(joules, powers, match.start(), match.end(), match[0])
        elif match["carbon"] or (match["mass"] not in (None, "kg") and _EMITTED.search(sentence) is not None):
            mass = value * (1.0 if match["mass"] == "kg" else 1e3)
            powers = CARBON if near is None else YEARLY_CARBON
            yield DemandFigure(mass * period, powers, match.start(), match.end(), match[0])


def money_rates(sentence: str, written: Sequence[DemandFigure]) -> Iterator[DemandFigure]:
    """The amounts of money per second that a sentence states with their period elsewhere: `the monthly rent is at most 4,000 EUR`.

    >>> figure = DemandFigure(4000.0, MONEY, 28, 37, "4,000 EUR")
    >>> [each.value * YEAR for each in money_rates("the monthly rent is at most 4,000 EUR", [figure])]
    [48000.0]
    """
    for each in written:
        near = _period_near(sentence, each.start, each.end) if each.powers == MONEY else None
        if near is not None:
            yield each._replace(value=each.value / near.seconds, powers=MONEY_RATE)


def _period_near(sentence: str, start: int, end: int) -> WordPeriod | None:
    """The period right behind an amount, else the one before it that is no other figure's."""
    behind = next(periods_in(sentence[end : end + _NEAR]), None)
    if behind is not None:
        return behind
    first = max(0, start - _NEAR)
    ahead = next(periods_in(sentence[first:start]), None)
    is_of_figure = ahead is not None and _OF_FIGURE.search(sentence[: first + ahead.start]) is not None
    return None if is_of_figure else ahead


_DEVICE = r"(?:GPU|TPU|NPU|XPU|accelerator|Beschleuniger|card|chip|[HB][123]00)"
_ACCELERATOR_HOURS = pattern(
    rf"(?i)(?<![\w.,])(\d{{1,3}}(?:[ .,'’\u202f]\d{{3}}){{1,3}}|\d{{1,9}}(?:[.,]\d{{1,3}})?)(?: (?P<million>million\w*|millones|milioni|miljoen|milhões|milion\w*|Mio\.?|M))?(?: (?:de|d'|di|van))? ?"
    rf"(?:{_DEVICE}[- ]?(?:hours?|Stunden|uur|uren|h\b|時間|小时|시간)|(?:heures?|horas?|ore|godzin)[- ](?:de |d['’]|di )?(?:GPU|TPU|NPU|accélérateurs?|aceleradores|acceleratori|aceleradora))"
)
"""Hours of accelerators."""


def accelerator_time_figures(sentence: str) -> Iterator[DemandFigure]:
    """The hours of accelerators of a sentence, in seconds.

    >>> [each.value / 3600 for each in accelerator_time_figures("20,000 GPU hours, 1.2 million H100-hours, 20 000 heures GPU")]
    [20000.0, 1200000.0, 20000.0]
    """
    for match in islice(_ACCELERATOR_HOURS.finditer(sentence), MOST):
        if _RESULT.search(sentence, max(0, match.start() - 4), match.start()) is None:
            hours = number_in_text(match[1]) * 1e6 if match["million"] else _whole_number(match[1])
            yield DemandFigure(hours * HOUR, ACCELERATOR_TIME, match.start(), match.end(), match[0])


_POWER_OF_TEN = pattern(
    r"(?i)(?<![\w.,])(?:(\d{1,3}(?:[.,]\d{1,3})?) ?(?:e|[x×*·] ?10 ?\^ ?)|10 ?\^ ?)\+?(\d{2}) (?:FLOPs?|(?:floating[- ]point )?operations|(?:gleitkomma-?|rechen)?operationen|opérations|operaciones|operazioni|bewerkingen|operações|operacji)\b(?! ?(?:/|per|pro|par|por) ?s)"
)
"""Operations as a power of ten."""


def flop_figures(sentence: str) -> Iterator[DemandFigure]:
    """The operations that a sentence states as a power of ten.

    >>> [each.value for each in flop_figures("below 10^25 operations, 3e23 FLOP")]
    [1e+25, 3e+23]
    """
    for match in islice(_POWER_OF_TEN.finditer(sentence), MOST):
        if _RESULT.search(sentence, max(0, match.start() - 4), match.start()) is not None:
            continue
        value = float(f"{number_in_text(match[1] or '1'):g}e{match[2]}")
        yield DemandFigure(value, FLOPS, match.start(), match.end(), match[0])


def _whole_number(digits: str) -> float:
    """The number of some digits, with a point or a comma between thousands: nobody states an energy with three decimals.

    >>> _whole_number("1.500"), _whole_number("2,4"), _whole_number("420")
    (1500.0, 2.4, 420.0)
    """
    return large_number_in_text(digits) if _THOUSANDS.fullmatch(digits) else number_in_text(digits)


_THOUSANDS = pattern(r"\d{1,3}(?:[ .,'’\u202f]\d{3}){1,4}")

"""The power limit of a circuit, from the voltage and current in a text."""

from __future__ import annotations

from math import sqrt

from clusterspec.rules.readers.written_numbers import number_in_text
from clusterspec.standard import pattern

LOWEST_LINE = 300.0
"""Smallest voltage at which a voltage is read as line to line; below it, 200 V and 208 V are read so too."""
ONE_PHASE = pattern(r"\b(?:single|one|1)[- ]?phase\b|\beinphasig|\bmonophasé|\bmonofásic")
_EIGHTY = pattern(r"\b80 ?%|\b0[.,]8\b(?! ?pf)|\bfour fifths\b|\bcontinuous\w*")
_FACTOR = pattern(r"\b(?:power factor|pf|cos ?(?:phi|φ)|leistungsfaktor)(?: of| is|:|=)? ?(0[.,]\d{1,2}|1(?:[.,]0)?)\b")


def circuit_rating(volts: float, amperes: float, sentence: str) -> tuple[float, str]:
    """The power limit of a circuit in watts by a sentence, and its calculation as text.

    >>> round(circuit_rating(400.0, 32.0, "3x32 a bei 400 v")[0]), round(circuit_rating(230.0, 16.0, "single-phase")[0])
    (22170, 3680)
    """
    phases, how = (1.0, "one phase") if ONE_PHASE.search(sentence) is not None else (sqrt(3), "× √3")
    if how == "× √3" and volts < LOWEST_LINE and volts not in {200.0, 208.0}:
        phases, how = 3.0, "× 3 phases"
    factor = _FACTOR.search(sentence)
    share = number_in_text(factor[1]) if factor is not None else 1.0
    if _EIGHTY.search(sentence) is not None:
        share, how = share * 0.8, f"{how} × 0.8"
    return volts * amperes * phases * share, how

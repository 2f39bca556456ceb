"""How long the warranty and the support of a purchase cover repairs."""

from __future__ import annotations

from clusterspec.quantity import YEAR
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

MONTH = YEAR / 12
"""Seconds by which a term may exceed the warranty, because deliveries and the term begin on different days."""
LONGEST_SENTENCE = 1000
"""Number of characters of a sentence that are read."""
NAMES = ("support", "warranty", "care pack")
"""Words in a quote line that pays for repairs."""
_SUPPORT = r"(?:support|maintenance|service|care pack|\w*wartung\w*|entretien|assistance|soporte|mantenimiento|supporto|assistenza|manutenzione|onderhoud\w*|ondersteuning|underhåll\w*|wsparci\w*|serwis\w*|suporte|manutenção)\b"
_AFTER = (
    r"(?:then|thereafter|afterwards|follow(?:s|ing|ed by)|takes over|remaining|(?:after|with|from) (?:its|the|this|that) (?:end|expiry|warranty)|(?:begins?|starts?) (?:after|when|where|at the end)|from the (?:second|third|fourth|fifth) year|"
    r"schließ\w* sich|anschließ\w*|im anschluss|danach|übrigen|restlichen|folgenden|nach (?:ablauf|ende)|ab dem (?:zweiten|dritten|vierten|fünften) jahr|"
    r"puis|ensuite|suivant\w*|restant\w*|prend la suite|prend le relais|à (?:l'issue|l'expiration|partir de la (?:troisième|quatrième))|au-delà|"
    r"después|a continuación|restantes|siguientes|al (?:terminar|vencer|expirar)|tras|poi|successiv\w*|in seguito|restanti|al termine|alla scadenza|dopo|"
    r"daarna|aansluitend\w*|overige|resterende|na afloop|därefter|därpå|återstående|efter garantin|następnie|potem|pozostał\w*|kolejn\w*|po (?:jej|upływie|gwarancji)|depois|em seguida|restantes)\b"
)
_FOLLOWS = pattern(rf"(?i)\b(?:{_SUPPORT}.*\b{_AFTER}|{_AFTER}.*\b{_SUPPORT})")
"""Pattern of a sentence whose support begins after another time."""


def follows_warranty(text: str) -> bool:
    """Whether a text says that the support begins when the warranty ends.

    >>> follows_warranty("Two years of warranty are followed by three years of support."), follows_warranty("3 years of support")
    (True, False)
    """
    return any(_FOLLOWS.search(each[:LONGEST_SENTENCE]) is not None for each in sentences_of(text))


def time_in_turn(procurement: ProcurementSpec) -> float:
    """The time, in seconds, for which a warranty and then the support cover repairs; 0 if one of them is not stated."""
    support = procurement.support.term if procurement.support else None
    return support.value + procurement.warranty.value if support and procurement.warranty else 0.0


def covered_time(procurement: ProcurementSpec) -> float | None:
    """The longer of the times, in seconds, for which the warranty and the support cover repairs; None if neither is
    stated.
    """
    support = procurement.support.term if procurement.support else None
    return max((part.value for part in (support, procurement.warranty) if part is not None), default=None)


def is_covered_by_price(procurement: ProcurementSpec) -> bool:
    """Whether the prices or the quote pay for support. Support without a stated term covers the whole term."""
    if procurement.support is not None and procurement.support.term is not None:
        return False
    lines = procurement.quote or ()
    quoted = any(name in (line.part or "").lower() for line in lines for name in NAMES)
    return bool((procurement.prices or {}).get("support_per_year")) or quoted

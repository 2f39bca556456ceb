"""The pressure of a rack on its floor, and the pressure that the floor carries, as a text states them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.clauses import clause_at, clause_bounds, is_hypothetical
from clusterspec.rules.readers.demands.reading import lexicon
from clusterspec.rules.readers.demands.sentences import plain_sentences
from clusterspec.rules.readers.doubt import words_of_another
from clusterspec.rules.readers.written_numbers import large_number_in_text, number_in_text
from clusterspec.standard import pattern

GRAVITY = 9.80665
"""Standard gravity, in meters per second squared."""
MOST_MATCHES, ROUNDED, NEAR = 20, 1.02, 80
FLOORS = r"(?:floors?|slab|\w*b[oö]den|plancher|dalle|suelo|piso|pavimento|vloer|golv(?:et)?|gulv(?:et)?)"
"""Words for a floor; a pressure at most ``NEAR`` characters behind them is one that it carries."""
FLOOR = pattern(rf"(?i)\b{FLOORS}\b[^;\d]*$")
_DIGITS = r"(?<![\w.,])(\d{1,3}(?:[.,'’ ]\d{3}){1,2}|\d{1,5}(?:[.,]\d{1,2})?)"
_AREA_UNIT = r"(?:m2|m²|sqm|square met(?:er|re)s?|quadratmeter|mètres? carrés?|metros? cuadrados?|metr[oi] quadrat[oi]|vierkante meters?|metros? quadrados?)"
_PRESSURE = pattern(
    rf"(?i){_DIGITS} ?(kN|kg|t|tonnes?|tons?|tonnen|daN|kilos?) ?(?:/|per|pro|je|auf den|par|por|al|op de) ?{_AREA_UNIT}"
)
_MASS = pattern(
    rf"(?i){_DIGITS} ?(kg|kilos?|t|tonnes?|tons?|tonnen)\b(?! ?(?:/|per|pro|je|par|por|al|op) ?{_AREA_UNIT})"
)
_SIDES = pattern(
    r"(?i)(?<![\w.,])([0-3][.,]\d{1,3}|\d{3,4}) ?(m|mm|cm)? ?(?:x|×|by|par|por|per|mal|auf|op|bij|a) ?([0-3][.,]\d{1,3}|\d{3,4}) ?(m|mm|cm)\b(?![2²])"
)
_AREA = pattern(rf"(?i)(?<![\w.,])([0-9][.,]\d{{1,2}}) ?{_AREA_UNIT}")
_FULL = pattern(
    r"(?i)\b(?:loaded|full|fully|equipped|populated|complete|volle[nrsm]?|beladen\w*|bestückt\w*|gefüllt\w*|fertige[nrs]?|équipée?|pleine?|chargée?|complète|cargad[oa]|llen[oa]|complet[oa]|equipad[oa]|caric[oa]|pien[oa]|completo|volle?|gevulde?|beladen|chei[oa]|carregad[oa])\b"
)
_RACK = pattern(
    r"(?i)\b(?:\w*racks?|cabinets?|\w*schr[aä]nke?n?s?|armoires?|baies?|armadi[o]?|armarios?|kast|kasten|bastidor(?:es)?|gabinetes?)\b"
)
_WEIGHS = pattern(r"(?i)\b(?:weighs?|weight|mass|wiegt|pèse|pesa)\b[^.;\d]{0,30}$")
_SPREADERS = pattern(
    r"(?i)\b(?:load[- ]spread\w*|spreaders?|spreader plates?|plinths?|steel frames?|lastverteil\w*|sockel|répartiteurs?|répartition|repartidor\w*|ripartitor\w*|lastverdeler\w*|distribuidor\w* de carga)\b"
)
_BANNED = pattern(
    r"(?i)\b(?:no|not|cannot|without|forbidden|prohibited|nicht|kein\w*|ohne|unzulässig|verboten|ne|pas|sans|interdit\w*|aucun\w*|sin|ningún|prohibid\w+|no|senza|non|vietat\w+|geen|niet|zonder|verboden|sem|não|proibid\w+)\b"
)
_BINDS = frozenset({"most", "ceil", "must", "duty", "permits", "gives"})


class FloorLoad(NamedTuple):
    """A mass on an area of the floor, and the most that the floor carries: kilograms, square meters, kilograms per square meter."""

    mass: float
    area: float
    limit: float

    @property
    def pressure(self) -> float:
        """The mass for each square meter, in kilograms."""
        return self.mass / self.area


def overload_of_floor(text: str, rack_kilograms: float | None = None) -> FloorLoad | None:
    """The load of a rack above the only pressure that a text lets the floor carry; None without both, or where loads are spread.

    A rack whose mass the text does not state has ``rack_kilograms``.

    >>> overload_of_floor("The floor may carry 900 kg/m². A loaded rack weighs 800 kg on 0.6 m x 1.2 m.")
    FloorLoad(mass=800.0, area=0.72, limit=900.0)
    >>> overload_of_floor("The floor may carry 900 kg/m². A loaded rack stands on 0.72 m² and weighs 800 kg.").mass
    800.0
    >>> overload_of_floor("A rack on 0.6 m x 1.2 m. The floor carries 900 kg/m².", 1360).pressure
    1888.888888888889
    >>> overload_of_floor("The floor may carry 1,200 kg/m². A loaded rack weighs 800 kg on 0.6 m x 1.2 m.")
    """
    sentences = [each for each in plain_sentences(text) if not (is_hypothetical(each) or words_of_another(each))]
    if any(_SPREADERS.search(each) is not None and _BANNED.search(each) is None for each in sentences):
        return None
    limit, areas = permitted_pressure(sentences), {*_areas_in(sentences)}
    masses = _rack_masses(sentences) or ([] if rack_kilograms is None else [rack_kilograms])
    if limit is None or len(areas) != 1 or not masses:
        return None
    load = FloorLoad(max(masses), areas.pop(), limit)
    return load if load.pressure > ROUNDED * limit else None


def load_on_footprint(text: str) -> float | None:
    """The kilograms that the floor carries on the only footprint of a text; None unless it states one pressure and one area.

    >>> load_on_footprint("The footprint of a rack is 0.72 m2. The floor carries 1,000 kg/m2 below it.")
    720.0
    """
    sentences = [*plain_sentences(text)]
    limit, areas = permitted_pressure(sentences), {*_areas_in(sentences)}
    return None if limit is None or len(areas) != 1 else limit * areas.pop()


def permitted_pressure(sentences: Sequence[str]) -> float | None:
    """The only pressure that the floor may have, in kilograms per square meter; None without one, or with several.

    >>> round(permitted_pressure(["the slab carries 15 kN/m2"])), permitted_pressure(["a rack of 900 kg/m2"])
    (1530, None)
    """
    limits = {*_limits_in(sentences)}
    return limits.pop() if len(limits) == 1 else None


def _limits_in(sentences: Sequence[str]) -> Iterator[float]:
    """The pressures that a floor may have at most."""
    for sentence in sentences:
        matches = [*islice(_PRESSURE.finditer(sentence), MOST_MATCHES)]
        for match in matches:
            start, end = match.span()
            words = lexicon().meanings(clause_at(sentence, start, end) if len(matches) > 1 else sentence)
            if not _BINDS.isdisjoint(words) or FLOOR.search(sentence[max(0, start - NEAR) : start]) is not None:
                yield _kilograms(match)


def _rack_masses(sentences: Sequence[str]) -> list[float]:
    """The masses of a loaded rack; without one, the only mass of the text that something weighs."""
    loaded, weighed = [], []
    for sentence in sentences:
        for match in islice(_MASS.finditer(sentence), MOST_MATCHES):
            start, _ = clause_bounds(sentence, match.start(), match.end())
            ahead = _AREA.sub("", sentence[start : match.start()])
            of_rack = _RACK.search(ahead) is not None and _FULL.search(ahead) is not None
            if of_rack and not any(map(str.isdigit, ahead)):
                loaded.append(_kilograms(match))
            if _WEIGHS.search(sentence[: match.start()]) is not None:
                weighed.append(_kilograms(match))
    return loaded or (weighed if len(weighed) == 1 else [])


def _areas_in(sentences: Sequence[str]) -> Iterator[float]:
    """The areas of a footprint in square meters, to the square decimeter."""
    for sentence in sentences:
        for match in islice(_SIDES.finditer(sentence), MOST_MATCHES):
            scale = {"mm": 1e-3, "cm": 1e-2}.get(match[4].lower(), 1.0)
            yield round(number_in_text(match[1]) * number_in_text(match[3]) * scale * scale, 2)
        for match in islice(_AREA.finditer(sentence), MOST_MATCHES):
            yield round(number_in_text(match[1]), 2)


def _kilograms(match: re.Match[str]) -> float:
    """The kilograms of a match of digits and a unit; a ton may be written with decimals."""
    unit = match[2].lower()
    if unit.startswith("k") and unit != "kn":
        return large_number_in_text(match[1])
    return number_in_text(match[1]) * {"kn": 1e3 / GRAVITY, "dan": 10 / GRAVITY}.get(unit, 1e3)

"""Capacity in texts: the load of one node or engine, the peak load, and the capacity after a loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from clusterspec.records import NamedTuple
from clusterspec.rules.readers.loads import (
    UNIT_NOUN,
    UNITS,
    LoadFigure,
    figures_in,
    is_load,
    kind_of_unit,
    percentages_in,
    unit_of_capacity,
)
from clusterspec.rules.readers.services.peaks import NEAR, Peak, names_peak
from clusterspec.rules.readers.units import NUMBER_WORDS, NUMBERS
from clusterspec.rules.readers.written_numbers import count_in_text, sentences_of
from clusterspec.standard import pattern


class Capacity(NamedTuple):
    """The load that one unit (`nodes`, `engines`, `accelerators`) can serve: a rate per second or a number of users."""

    value: float
    kind: str
    unit: str

    @property
    def load_unit(self) -> str:
        return self.kind if self.kind == "users" else f"{self.kind}/s"


def capacities_in(text: str) -> list[Capacity]:
    """The capacity of each kind of unit that a text states; of several figures, the largest.

    >>> capacities_in("A node was tested at 20 requests/s. Je Engine 350 Nutzer.")
    [Capacity(value=20.0, kind='requests', unit='nodes'), Capacity(value=350.0, kind='users', unit='engines')]
    """
    found: dict[tuple[str, str], float] = {}
    for sentence in sentences_of(text):
        for figure in filter(is_load, figures_in(sentence)):
            unit = unit_of_capacity(sentence, figure)
            if unit:
                found[figure.kind, unit] = max(figure.per_second, found.get((figure.kind, unit), 0.0))
    return [Capacity(value, kind, unit) for (kind, unit), value in found.items()]


class Claim(NamedTuple):
    """A sentence that claims that the peak load is served after a loss: the number of units left or the share of all
    units left, and the peak load as a share of the capacity.
    """

    sentence: str
    left: float | None
    unit: str
    share_left: float
    load: float | None

    def compared_load(self, peak: Peak | None) -> Peak | None:
        """The load that the sentence states, else the peak load; None if the sentence states a percentage."""
        own = [
            each for each in figures_in(self.sentence) if is_load(each) and not unit_of_capacity(self.sentence, each)
        ]
        if own:
            highest = max(own, key=lambda each: each.per_second)
            return Peak(highest.per_second, highest.kind)
        return None if percentages_in(self.sentence) else peak

    def units_left(self, unit: str, counts: Mapping[str, float]) -> float | None:
        """Number of units of another kind that are left, converted with the total ``counts`` of both kinds; None if a
        count is unknown.
        """
        if self.left is None:
            return self.share_left * counts[unit] if unit in counts else None
        if unit == self.unit:
            return self.left
        both = unit in counts and counts.get(self.unit)
        return self.left * counts[unit] / counts[self.unit] if both else None


_LOST = pattern(
    r"(?i)\b(?:loss of|los(?:e|es|t|ing)|fail(?:s|ed|ure|ures)?|outage|goes (?:down|dark|offline)|(?:is|are) (?:down|offline|away|out|gone)|drops? out|out of (?:service|order)|in (?:repair|maintenance|revision|wartung|reparatur|maintenance)|losing|breaks?(?: down)?|dies?|crash(?:es)?|(?:switched|powered) off|offline|shut down|"
    r"survives?|surviving|down\b|n ?[-−+] ?[12]|without (?:an?|one)\b|ausfall|ausfällt|ausfallen|fällt|verlust|verloren|perte|perdue?s?|perd|panne|tombe|pérdida|perdida|pierden?|cae|caída|falla|fallo)\b"
)
_CARRIED = pattern(
    r"(?i)\b(?:carr(?:y|ies|ied)|holds?|serves?|takes?(?! (?:over )?(?:\d|an?\b))|handles?|absorbs?|absorbed|suffic(?:e|es|ient)|enough|cover(?:s|ed)?|stands?|keeps? up|"
    r"fits?|survives?|tolerates?|bears?|no impact|without (?:any )?(?:impact|degradation|loss)|(?:within|inside|meets?|keeps?|holds?) (?:all )?(?:the |its |our )?(?:latency )?(?:targets?|slos?)|n ?\+ ?[12]|"
    r"picks? (?:\w+ )?up|takes? over|(?:can|may|could) (?:\w+ )?(?:lose|be (?:lost|down|taken))|can afford|no (?:problem|issue)|without (?:breaking|violating|missing|touching|harm|trouble|any)|(?:so|hence|therefore|thus)\b[^.;]{0,40}\b(?:can|may|could) fail|nobody (?:will )?notices?|no (?:user|customer|one) (?:will )?notices?|unnoticed|unbemerkt|inaperçue?|(?:is|are) (?:fine|ok|okay|acceptable|harmless)|redundan\w+|keeps? (?:going|serving)|works? on|"
    r"tragen|trägt|auf(?:fangen|gefangen)|abgefangen|gedeckt|kompensier\w*|übern\w{2,7}|genug|überleb\w*|weiterhin|pren(?:d|nent)|reprend|reprennent|couvert\w{0,2}|absorbée?s?|compensée?s?|sans (?:impact|effet|conséquence)|ohne (?:folgen|auswirkung\w*|einschränk\w*)|cubiert\w|absorbid\w|reich(?:en|t)|genüg\w{1,3}|bedienen|schaff(?:en|t)|verkraft\w{1,3}|fangen|tiennent|tient|suffi\w{1,5}|absorbe\w{0,2}|assurent|supportent|encaissent|"
    r"soporta\w?|aguantan?|basta\w?|cubren?|atienden|llevan|absorben)\b"
)
_ADMITTED = pattern(
    r"(?i)\b(?:not|cannot|can't|no longer|never|nor|only|at any (?:time|moment|minute)|spill\w*|paus\w+|pre-?empt\w*|evict\w*|rejects?|refus\w+|throttl\w+|lower priority|degrad(?:es?|ed|ing)|(?<!without )degradation|shed|sheds|shedding|drops?\b(?! out)|slower|longer|reduced?|half|autoscal\w+|scales? (?:up|out)|burst|on demand|spot|overflow|"
    r"off-?peak|at night|outside (?:the )?peak|mean load|batch|nicht|kein\w{0,2}|nur|langsamer|nachts|pas|plus lente?s?|seulement|solo|más lent\w+|except|unless|would|too few|until|queue)\b"
)
"""Pattern of words in a sentence that serves less after the loss, or that is about another load or added capacity."""
_LEFT = pattern(
    r"(?i)\b(?:others?|remaining|remain|left|rest|surviving|survivors?|still|übrig\w{0,2}|verbleibend\w{0,2}|restlich\w{0,2}|ander\w{0,2}|autres?|restant\w{0,2}|restent|otr[oa]s?|quedan)\b"
)
_REMAINING = pattern(r"(?i)\b(?:remaining|left|surviving|survivors|übrig\w{0,2}|verbleibend\w{0,2}|restant\w{0,2})\b")
_LOST_UNIT = pattern(
    r"(?i)\b(?:one|an?|either|any(?: one)?|single|whole|entire|eine?[nrs]?|une?|una?|l'une?|d'une?)(?: (?:of|des|der|de) (?:the |its |our |les |los |las )?\w{1,6})? "
    rf"(?:[\w-]{{1,16}} ){{0,2}}?(?P<unit>{UNIT_NOUN})\b"
)
_SPARES = pattern(r"(?i)\bn ?[-−+] ?(?P<number>[12])\b")
_BUSY = pattern(
    r"(?i)\b(?:load(?:ed)?|busy|utili[sz]\w{1,6}|capacity|ausgelastet|auslastung|chargée?s?|charge|carga|ocupad[oa]s?|used)\b"
)
_OF_MEMORY = pattern(
    r"(?i)\b(?:memory|cache|disk|hbm|power|mean|average|saving|cheaper|hit|availab\w+|speicher|mémoire|memoria)\b"
)


def claims_of_loss(text: str, counts: Mapping[str, float]) -> Iterator[Claim]:
    """The sentences that claim that the peak load is served after a loss, each with the remaining units of ``counts``.

    >>> text = "When a zone is lost, the four nodes of the other two zones carry the peak."
    >>> [(each.left, each.unit) for each in claims_of_loss(text, {"nodes": 6.0})]
    [(4.0, 'nodes')]
    >>> text = "At the peak three zones run at 75 % of capacity. The loss of one zone is covered. Two failed nodes are not carried."
    >>> [(each.left, round(each.share_left, 3), each.load) for each in claims_of_loss(text, {"nodes": 6.0})]
    [(None, 0.667, 0.75)]
    """
    sentences = sentences_of(text)
    load = _stated_load(sentences)
    zones = max((each.value for one in sentences for each in figures_in(one) if each.kind == "zones"), default=0.0)
    zones = zones or _zones_of_others(text)
    for before, sentence in zip(["", *sentences], sentences, strict=False):
        after_loss = _LOST.search(sentence) or (_REMAINING.search(sentence) and _LOST.search(before))
        if not after_loss or _CARRIED.search(sentence) is None or _ADMITTED.search(sentence) is not None:
            continue
        totals = {**counts, "zones": zones} if zones > 1 else dict(counts)
        left = _remaining_units_figure(sentence, totals)
        share = _remaining_share(sentence, totals)
        if left is not None and left.kind in counts:
            yield Claim(sentence, left.value, left.kind, left.value / counts[left.kind], load)
        elif left is not None and left.kind == "zones":
            yield Claim(sentence, None, "", left.value / zones, load)
        elif share is not None:
            yield Claim(sentence, None, "", share, load)
        elif (
            _ELLIPSIS.search(sentence) is not None
            and (unit := _unit_without_name(text, before, totals, load))
            and totals[unit] > 1
        ):
            yield Claim(sentence, None, "", 1 - 1 / totals[unit], load)


_OTHER_ZONES = pattern(
    r"(?i)\b(?:other|anderen|autres) (?P<number>two|three|2|3|zwei|beiden|drei)\b|\b(?P<ahead>two|three|deux|trois|zwei|beiden|drei) (?:others?|other ones|autres|anderen)\b"
)


def _zones_of_others(text: str) -> float:
    """The number of zones, computed from a stated number of other zones; 0 unless the text states it."""
    others = _OTHER_ZONES.search(text)
    if others is None or not any(_KIND_OF_ZONE.search(each) for each in sentences_of(text)):
        return 0.0
    word = (others["number"] or others["ahead"]).lower()
    return float({"beiden": 2}.get(word) or NUMBERS.get(word) or word) + 1


_KIND_OF_ZONE = pattern(r"(?i)\b(?:zones?|regions?|sites?|zonen|regionen|standorte?)\b")
_ELLIPSIS = pattern(
    r"(?i)\b(?:(?:one|any one|either)(?: of (?:them|the (?:two|three|four|five|six|\d{1,3})))? (?:is|are|goes|fails?|can|may|drops|dies|alone|takes?|carr(?:y|ies))|either of them|fällt (?:einer|eine|eins|davon)|einer? (?:davon|von ihnen|ausfällt)|"
    r"l['’]une? (?:tombe|est|lâche|cesse)|l['’]une? (?:d['’]eux|d['’]elles|des \w{2,6}) \w|the other (?:one )?(?:is|goes|fails)|(?:loss|ausfall|perte) (?:of|von|de|d['’]) ?(?:any )?(?:one|einem|einer|l['’]une?)(?: of them| davon)?(?=[ ,.;]|$)(?! \w+ (?:link|switch|disk|feed)))"
)
"""Pattern of words that refer to one of the units of the previous sentence without naming them."""


def _unit_without_name(text: str, before: str, totals: Mapping[str, float], load: float | None) -> str:
    """The kind of unit that a sentence loses without naming it (`fällt einer aus`, `when the other is gone`). It is
    zones if the text states their load, else the only kind in the previous sentence, else the only kind with a stated
    capacity; empty if none applies.
    """
    if load is not None and "zones" in totals:
        return "zones"
    named = {each.kind for each in figures_in(before) if each.kind in totals} or {
        each.unit for each in capacities_in(text)
    }
    return next(iter(named)) if len(named) == 1 and named <= totals.keys() else ""


def _stated_load(sentences: Sequence[str]) -> float | None:
    """The load at the peak as a share of the capacity, from 0 to 1; None unless a text states exactly one."""
    found = set()
    for sentence in sentences:
        if not names_peak(sentence) and _LOST.search(sentence) is None:
            continue
        for share in percentages_in(sentence):
            near = sentence[max(0, share.start - 40) : share.end + 40]
            busy = _BUSY.search(near) is not None or (names_peak(near) and _names_zones(sentence))
            of_load = _OF_LOAD.match(sentence[share.end :]) is not None
            if busy and not of_load and _OF_MEMORY.search(near) is None:
                found.add(share.value / 100)
    return found.pop() if len(found) == 1 and max(found) <= 1 else None


_OF_LOAD = pattern(
    r"(?i)^ ?(?:of|der|des|de la|du|del?) (?:the |its |our )?(?:peak|load|traffic|spitze|last|pointe|trafic|pico)\b"
)
"""Pattern of words after a percentage that make it a share of the load and not of the capacity."""


def _names_zones(sentence: str) -> bool:
    return _KIND_OF_ZONE.search(sentence) is not None or any(each.kind == "zones" for each in figures_in(sentence))


def _remaining_units_figure(sentence: str, totals: Mapping[str, float]) -> LoadFigure | None:
    """The number of units that a sentence states as left, if it is below their total; the finest kind of several."""
    if _LEFT.search(sentence) is None:
        return None
    found = [
        each
        for each in figures_in(sentence)
        if each.kind in UNITS
        and not each.period
        and each.value < totals.get(each.kind, 0.0)
        and not _counts_lost_units(sentence, each)
    ]
    return min(found, key=lambda each: (UNITS.index(each.kind), -each.value), default=None)


_LOSES = pattern(
    r"(?i)\b(?:loss of|los(?:e|es|ing)|failure of|without|outage of|ausfall von|perte de|pérdida de|when|if|wenn|si|cuando) (?:the |any |all )?$"
)
_IS_LOST = pattern(r"(?i)^ (?:\w+ )?(?:fail|is|are|lost|drop|go|down|out|dark|away|tomb|perd|cae|fall|ausfall)")
_IS_LEFT = pattern(r"(?i)^ (?:\w+ ){0,2}(?:left|remain\w*|over|übrig|verbleib\w*|restan\w*|restent|quedan)\b")
_OF_ALL = pattern(r"(?i)\b(?:one|two|three|any|1|2|3) of (?:the |its |our )?$")


def _counts_lost_units(sentence: str, figure: LoadFigure) -> bool:
    """Whether a number of units counts the lost units, or all units, if one of them is lost."""
    before, behind = sentence[max(0, figure.start - 24) : figure.start], sentence[figure.end : figure.end + 24]
    is_left = _LEFT.search(before[-len("the remaining ") :]) is not None or _IS_LEFT.match(behind) is not None
    of_lost = _LOSES.search(before) is not None or _OF_ALL.search(before) is not None
    return of_lost or (_IS_LOST.search(behind) is not None and not is_left)


def _remaining_share(sentence: str, totals: Mapping[str, float]) -> float | None:
    """The share of the units that is left after the loss that a sentence states; None if it states no loss."""
    for figure in figures_in(sentence):
        total = totals.get(figure.kind, 0.0) if figure.kind in UNITS and not figure.period else 0.0
        if (
            1 < figure.value < total
            and _counts_lost_units(sentence, figure)
            and not _OF_ALL.search(sentence[: figure.start])
        ):
            return 1 - figure.value / total
    for match in _LOST_UNIT.finditer(sentence):
        total = totals.get(kind_of_unit(match["unit"]), 0.0)
        if total > 1 and _PART_OF_UNIT.search(sentence[max(0, match.start() - NEAR) : match.start()]) is None:
            return 1 - 1 / total
    spares = _SPARES.search(sentence)
    counted = [each for each in figures_in(sentence) if totals.get(each.kind) == each.value > 2 and not each.period]
    return 1 - float(spares["number"]) / counted[0].value if spares is not None and counted else None


_PART_OF_UNIT = pattern(
    r"(?i)\b(?!(?:loss|losing|failure|outage|death|absence|crash|one|two|either|any|each|share|rest|perte|panne|ausfall|pérdida)\b)[^\W\d_]+ (?:of|in|inside|de|von|in) $"
)
"""Pattern of words for a part of a unit: the part may be lost while the unit continues to run."""
_NEEDED = pattern(
    r"(?i)^[^.;\d]{0,24}?(?::|=|\b(?:needs?|takes?|requires?|that is|that's|are|is|so|i\.e|for which|on|braucht|brauchen|erfordern|das sind|soit|il faut|demandent|o sea|necesitan|requieren)\b\.?)[^.;:\d]{0,30}$"
)


class Need(NamedTuple):
    """A sentence that states the ``number`` of units for a ``load``, with the capacity of one unit."""

    sentence: str
    number: float
    load: float
    capacity: Capacity


def unit_counts_for_load(text: str, found: Sequence[Capacity]) -> Iterator[Need]:
    """The numbers of units that, by a text, serve a load.

    >>> one = Capacity(14.0, "requests", "nodes")
    >>> [each[1:3] for each in unit_counts_for_load("Peak is 70 requests/s on pay day, that is five nodes. 3 requests/s.", [one])]
    [(5.0, 70.0)]
    >>> [each[1:3] for each in unit_counts_for_load("Five nodes of 14 requests/s are enough for 75 requests/s.", [one])]
    [(5.0, 75.0)]
    """
    for sentence in sentences_of(text) if found else ():
        figures = figures_in(sentence) if _ADMITTED.search(sentence) is None else []
        loads = [each for each in figures if is_load(each) and not unit_of_capacity(sentence, each)]
        counts = [each for each in figures if each.kind in UNITS and not each.period]
        for load, count in product(loads, [_part_of(sentence, each) for each in counts]):
            of_one = [each for each in found if (each.kind, each.unit) == (load.kind, count.kind)]
            if of_one and _relates_load_and_units(sentence, load, count):
                yield Need(sentence, count.value, load.per_second, of_one[0])


_PART_OF = pattern(
    rf"(?i)(?<![\w.,])(?P<part>\d{{1,4}}|{'|'.join(NUMBER_WORDS)}) (?:of|von|sur|de) (?:the |our |its |den |les |los )?$"
)


def _part_of(sentence: str, count: LoadFigure) -> LoadFigure:
    """A number of units, or the stated part of them, as in `five of the six nodes`."""
    begin = max(0, count.start - NEAR)
    match = _PART_OF.search(sentence[begin : count.start])
    if match is None:
        return count
    return count._replace(value=float(count_in_text(match["part"].lower())), start=begin + match.start())


def _relates_load_and_units(sentence: str, load: LoadFigure, count: LoadFigure) -> bool:
    """Whether a sentence says that a load needs this number of units, or that this number of units can serve it."""
    if load.end <= count.start:
        return _NEEDED.search(sentence[load.end : count.start]) is not None
    between = sentence[count.end : load.start]
    alone = count.value > 1 and len(between) <= NEAR and not {",", ":"} & set(between)
    return alone and _LOST.search(between) is None and _CARRIED.search(between) is not None

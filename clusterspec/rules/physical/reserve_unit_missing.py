"""The text lets one cooling or power unit fail at full load, but the others cannot carry the load.

## What it finds

A sentence that allows one cooling distribution unit, chiller, uninterruptible power supply (UPS), generator or
transformer to fail or to be serviced while the machine runs at full load, or that calls them `N+1`, where the units
without one carry less than the machine needs: the heat to liquid for the units of a coolant loop, the power of all IT
equipment for the others. The units come from `power.cdus`, or the text states their number and rating.

## Why it matters

The redundancy that operations count on does not exist: the first service day, or the first failure, throttles or stops the
machine.

## What to do

Add a unit, take larger ones, or plan the service days with a part of the machine switched off, and say so.

## When to ignore it

Ignore it where the units feed a part of the machine only.

## Fires

```yaml description
clusterspec: 1
description: Either CDU can be valved off for a service day while all eight racks go on training at full power.
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {count: 2, capacity: 600 kW, redundancy: N}}
```

```yaml description
clusterspec: 1
description: Three generators of 250 kW feed the hall. One of them may fail without any effect on the training.
cluster: {platform: dgx-h200, nodes: 64, power: {node: 10.2 kW, nodes_per_rack: 4, cooling: air}}
```

## Silent

```yaml
clusterspec: 1
description: Either CDU can be valved off for a service day while all eight racks go on training at full power.
cluster:
  platform: gb200-nvl72
  nodes: 144
  power: {cooling: liquid, liquid_share: 0.85, cdus: {count: 2, capacity: 1.3 MW, redundancy: N}}
```

```yaml
clusterspec: 1
description: Two generators of 400 kW feed the hall. While one of them is serviced, half of the nodes are switched off.
cluster: {platform: dgx-h200, nodes: 64, power: {node: 10.2 kW, nodes_per_rack: 4, cooling: air}}
```

## Sources

- Redundancy of units, N and N+1: https://aidatacenterguide.com/part-5-cooling-and-thermal-management/5-6-cdus-and-the-secondary-loop
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import cooling_units, loop_heat
from clusterspec.cost.nameplates import it_power
from clusterspec.finding import Problem
from clusterspec.records import NamedTuple
from clusterspec.rules.knowledge.fabric_parts import FabricCount
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.plans.feeds import ALL_OUT, ALONE, LOSS, STOPPED, UNAFFECTED
from clusterspec.rules.readers.written_numbers import large_number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")


class UnitKind(NamedTuple):
    """A kind of unit: its name, the pattern of its names in texts, and whether it removes the heat to liquid."""

    name: str
    words: str
    cools_liquid: bool = False


KINDS = (
    UnitKind(
        "cooling distribution unit",
        r"cdus?|cool(?:ant|ing) distribution units?|kühl(?:mittel)?verteil\w*|unités? de distribution",
        cools_liquid=True,
    ),
    UnitKind(
        "chiller",
        r"chillers?|dry coolers?|kältemaschinen?|rückkühler|groupes? (?:de )?froids?|aérorefroidisseurs?",
        cools_liquid=True,
    ),
    UnitKind("UPS", r"ups(?:es)?|uninterruptible power suppl(?:y|ies)|usv(?:-?anlagen?|s|en)?|onduleurs?|asi"),
    UnitKind(
        "generator",
        r"(?:diesel )?generators?|gensets?|diesels|(?:notstrom|diesel)?aggregate?n?|notstrom\w*|generatoren|netzersatz\w*|(?:groupes? )?électrogènes?|générateurs?",
    ),
    UnitKind("transformer", r"transformers?|trafos?|transformator(?:en)?|transformateurs?"),
)
_NAMED = {kind.name: pattern(rf"\b(?:{kind.words})\b") for kind in KINDS}
_NUMBER = r"\d{1,3}(?:[.,]\d{3}){1,2}|\d{1,5}(?:[.,]\d{1,2})?"
_MANY = 16
"""Largest plausible number of units of one kind; a larger number counts something else."""
_RATED = {
    kind.name: pattern(
        rf"(?<![\w.,])(?P<count>\d{{1,2}}) (?:[x×] )?(?:[a-zé-]{{2,14}} ){{0,2}}?(?:{kind.words})"
        rf"(?: (?:modules?|units?|systems?|anlagen|aggregate))?,?(?: (?:of|with|at|rated|à|de|mit|zu|von|je|delivering|each|rated at))*(?: [a-z]+)? ?(?P<rating>{_NUMBER}) ?(?P<scale>k|m)(?:w|va)\b"
        rf"|\b(?:{kind.words})(?: (?:plant|system|set|anlage|park))?(?:[:=,(]| is| are| has| have| consists? of| with| comprises?| besteht aus| est| hat)* (?P<count_behind>\d{{1,2}})(?: ?[x×]| modules?| units?| of| à| mit| je| de| zu| with| at| blocks?| machines?| anlagen){{1,3}} ?(?P<rating_behind>{_NUMBER}) ?(?P<scale_behind>k|m)(?:w|va)\b"
        rf"|(?<![\w.,])(?P<count_ahead>\d{{1,2}}) ?(?:[x×] ?)?(?P<rating_ahead>{_NUMBER}) ?(?P<scale_ahead>k|m)(?:w|va)[ -](?:[a-zé-]{{2,14}} ){{0,2}}?(?:{kind.words})\b"
    )
    for kind in KINDS
}
"""Pattern of a number of units with the rating of each, in watts or volt-amperes."""
_RATED_ALONE = pattern(
    rf"(?<![\w.,])(?P<count>\d{{1,2}}) ?(?:modules? |units? |machines? |anlagen |blocks? )?(?:of|with|at|x|×|à|zu|mit|de|je) (?P<rating>{_NUMBER}) ?(?P<scale>k|m)(?:w|va)\b"
)
_ONE = pattern(
    r"\b(?:either|any|one|a|an|single|each|its twin|other|the other|remaining|rest|others|eine[rsnm]?|jede[rs]?|anderen?|übrigen|verbleibend\w*|une?|l['’]une?|l['’]autre|autres?|chacune?|n ?\+ ?1|redundant|una?|otr[oa]s?)\b"
)
_REDUNDANT = pattern(r"\b(?:n ?\+ ?1|redundan\w+)\b")
_LESS = pattern(
    r"\b(?:not|cannot|never|no (?:redundan\w+|reserve|spare)|neither|nor|throttl\w+|(?:derat|reduc|capp)\w+|half|part of|a third|a quarter|slower|lower|capped|powered down|"
    r"shut down|shuts? down|would|could one|should|until|unless|only|option|idle|stops?|stopped|nicht|kein\w*|nur|hälfte|gedrosselt|halbe\w*|at night|one rack|pas|moitié|réduit\w*|whether|asked|in reserve|spare)\b|\d{1,2} ?% (?:of|der|de)\b|\bn\b(?! ?\+)"
)
"""Pattern of words for a machine with reduced load, and for conditions and wishes."""


def check(own_remarks: str, power: PowerSpec | None, cluster: Cluster, counts: FabricCount) -> Iterator[Problem]:
    if not own_remarks:
        return
    folded = " ".join(own_remarks[:MOST_CHARACTERS].lower().split())
    if not any(cue in folded for cue in _CUES):
        return
    sentences = sentences_of(with_numerals(folded))
    named = [kind for kind in KINDS if _NAMED[kind.name].search(folded) is not None]
    for kind in named:
        demand = any(_allows_loss(each, kind, named) for each in sentences)
        units = _units(sentences, kind, power) if demand else None
        if units is None or units[0] < 1:
            continue
        load = _load(kind, cluster, counts, power)
        left = (units[0] - 1) * units[1]
        if load is None or left >= load:
            continue
        what = "of heat to liquid" if kind.cools_liquid else "of the IT equipment"
        rating = display(units[1], "W")
        message = (
            f"the text lets one {kind.name} be out at full load, but {units[0] - 1} of {units[0]} units of {rating} carry "
            f"{display(left, 'W')} of the {display(load, 'W')} {what}"
        )
        yield RULE.problem("description", message, "add a unit, or say what stops meanwhile")
        return


_CUES = (
    *(
        "cdu",
        "distribution",
        "chiller",
        "cooler",
        "kälte",
        "kühl",
        "froid",
        "refroid",
        "ups",
        "uninterrupt",
        "usv",
        "onduleur",
        "asi",
    ),
    *(
        "generator",
        "genset",
        "diesel",
        "aggregat",
        "notstrom",
        "netzersatz",
        "électrogène",
        "générateur",
        "transform",
        "trafo",
    ),
)
"""Lowercase names of all kinds of units, or parts of them."""


def _allows_loss(sentence: str, kind: UnitKind, named: Sequence[UnitKind]) -> bool:
    """Whether a sentence lets one unit of a kind be out of service while the machine continues as before.

    A sentence that does not name the kind is about the only kind that its text has ``named``.

    >>> _allows_loss("either cdu can be valved off while all racks go on training at full power", KINDS[0], KINDS)
    True
    >>> _allows_loss("when one cdu fails, half of the racks are powered down", KINDS[0], KINDS)
    False
    """
    if _NAMED[kind.name].search(sentence) is None and (list(named) != [kind] or _REFERRED.search(sentence) is None):
        return False
    if UNAFFECTED.search(sentence) is None or _ONE.search(sentence) is None or ALL_OUT.search(sentence) is not None:
        return False
    if STOPPED.search(sentence) is not None:
        return False
    if LOSS.search(sentence) is None and _REDUNDANT.search(sentence) is None and ALONE.search(sentence) is None:
        return False
    return _LESS.search(UNAFFECTED.sub(" ", LOSS.sub(" ", sentence))) is None


_REFERRED = pattern(r"\b(?:of them|of these|of the two|units?|one|either|eine[rs]?|l['’]une?)\b")


def _units(sentences: Sequence[str], kind: UnitKind, power: PowerSpec | None) -> tuple[int, float] | None:
    """The number of units of a kind and the watts of each: from the keys, else from the text; None if unknown or if
    units are in reserve.
    """
    stated = cooling_units(power) if kind is KINDS[0] else None
    if stated is not None:
        return (stated.installed, stated.capacity) if not stated.spare else None  # `cdus-below-heat` counts spare units
    found = {rated for each in sentences for rated in _rated_units(each, kind)}
    return next(iter(found)) if len(found) == 1 else None


def _rated_units(sentence: str, kind: UnitKind) -> Iterator[tuple[int, float]]:
    """The numbers of units of a kind in a sentence, each with the rating of one in watts.

    >>> list(_rated_units("gensets: 4 x 200 kw; 3 250 kw diesels; 2 groupes électrogènes de 400 kw", KINDS[3]))
    [(4, 200000.0), (3, 250000.0), (2, 400000.0)]
    """
    found = list(_RATED[kind.name].finditer(sentence))
    others = any(_NAMED[each.name].search(sentence) for each in KINDS if each is not kind)
    if not found and not others and _NAMED[kind.name].search(sentence) is not None:
        found = list(_RATED_ALONE.finditer(sentence))
    for match in found:
        groups = match.groupdict()
        count, rating, scale = (
            next(filter(None, (groups.get(f"{name}{form}") for form in ("", "_behind", "_ahead"))))
            for name in ("count", "rating", "scale")
        )
        if int(count) <= _MANY:
            yield int(count), large_number_in_text(rating) * (1e6 if scale == "m" else 1e3)


def _load(kind: UnitKind, cluster: Cluster, counts: FabricCount, power: PowerSpec | None) -> float | None:
    """The watts that the units must carry, at the low end of their range; None if unknown."""
    if kind.cools_liquid:
        heat = loop_heat(cluster, counts.fabric, power)
        return heat[0] if heat is not None and power is not None and power.cooling != "air" else None
    drawn = it_power(cluster, counts.fabric, power)
    return drawn[0] if drawn is not None else None

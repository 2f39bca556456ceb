"""The text lets one power feed carry a rack that draws more than the feed is rated for.

## What it finds

A sentence that lets one feed, power distribution unit or supply path carry a rack while the other one is off, or that
calls the feeds redundant, where the rating of one feed is below the power of a full rack. The text states the rating in
kW or kVA, or a voltage and a current; their product counts, × √3 with three phases. The power of the rack is the lower
of the power in the text and the power by the keys, as in `rack-over-power-limit`. The rule is silent where the text
caps, throttles or stops nodes meanwhile, has three feeds, or gives a feed several units.

## Why it matters

In normal operation each feed carries half, and nobody notices. When one feed is lost, the breaker of the other one trips, and
the rack is off.

## What to do

Plan larger feeds, or fewer nodes in a rack, or cap the nodes while one feed is out, and say so.

## When to ignore it

Ignore it where the nodes are capped below the stated power.

## Fires

```yaml description
clusterspec: 1
description: Each rack hangs on feed A and feed B with a rating of 24 kW each. Either feed can be switched off, and the other one carries the rack alone.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10 kW, nodes_per_rack: 4, feeds: 2N}}
```

```yaml description
clusterspec: 1
description: Each rack has two feeds of 400 V and 32 A, three-phase, so it keeps running when one of them fails.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10 kW, nodes_per_rack: 3}}
```

```yaml description
clusterspec: 1
description: A rack draws 28.8 kW. It has feeds A and B of 22 kW each, and if A fails, B carries the rack alone.
cluster: {platform: dgx-h100, nodes: 16}
```

## Silent

```yaml
clusterspec: 1
description: Each rack hangs on feed A and feed B with a rating of 44 kW each. Either feed can be switched off, and the other one carries the rack alone.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10 kW, nodes_per_rack: 4, feeds: 2N}}
```

```yaml
clusterspec: 1
description: Each rack hangs on feed A and feed B with a rating of 24 kW each. If one fails, the nodes are capped at half of their power, and the other one carries the rack.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10 kW, nodes_per_rack: 4, feeds: 2N}}
```

## Sources

- Power of three phases, and the two units of a rack that each carry its whole load: https://www.raritan.com/blog/detail/3-phase-208v-power-strips-rack-pdus-demystified-part-ii-understanding-capacity
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from re import Match

from clusterspec.cluster.model import Cluster
from clusterspec.cost.nameplates import rack_power
from clusterspec.finding import Problem
from clusterspec.rules.readers.loads import MOST_CHARACTERS
from clusterspec.rules.readers.passages import with_numerals
from clusterspec.rules.readers.plans.feeds import ALL_OUT, ALONE, LOSS, ONE_PHASE, STOPPED, UNAFFECTED, circuit_rating
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1.02
"""Ratio up to which two powers agree, one of them rounded."""
_CUES = ("feed", "pdu", "whip", "circuit", "path", "side", "einspeis", "zuleit", "strom", "aliment", "arrivée", "voie")
"""Lowercase names of feeds, or parts of them; a text about feeds has at least one."""
_FEED_WORDS = (
    r"(?:feeds?|feeders?|pdus?|power distribution units?|whips?|circuits?|supply (?:lines?|paths?|sides?)|power paths?|(?:each|either|per|every|one|the other) side|[ab][- ]sides?|sides? [ab]|"
    r"(?:strom|rack)?einspeisung(?:en)?|zuleitung(?:en)?|stromkreise?n?|strompfade?n?|stromwege?n?|alimentations?|arrivées?|voies?)"
)
_RACK_WORDS = r"(?:racks?|cabinets?|schr[aä]nke?n?|schranks|baies?|armoires?)"
_FEED = pattern(rf"\b{_FEED_WORDS}\b")
_POWER = pattern(rf"{NUMBER} ?k(?:w|va)\b(?!h)")
_VOLTS = pattern(r"(?<![\w.,/-])(?:\d{2,3}/)?(\d{3})[ -]?v(?:olts?|ac)?\b(?!/)")
_AMPERES = pattern(
    r"(?<![\w.,/×])(?:(\d) ?[x×] ?)?(\d{2,3})[ -]?a(?:mps?|mperes?|mpere|mpère)?s?\b(?! (?:and|or|und|et|y) b\b)"
)
"""Pattern of a current, with the number of lines or circuits before it."""
_OF_MORE = pattern(
    r"\b(?:rows?|halls?|rooms?|building|site|campus|ups|usv|onduleurs?|generators?|gensets?|transform\w*|trafos?|substation|busways?|busbars?|stromschienen?|mains?|utility|grid|"
    r"reihen?|hallen?|gebäude|rangées?|salles?|pods?|switch(?:es)?|cdus?|pumps?|pumpen|pompes?|fans?|chillers?|cooling|storage|nodes? has|servers? has|serveurs? (?:a|ont)|nœuds? (?:a|ont))\b"
)
"""Pattern of words in a sentence about a feed of several racks, other equipment, or the supplies of a node."""
_ORIGIN = pattern(
    r"\b(?:from|behind|via|aus|von|hinter|depuis|derrière) (?:[\w-]+ ){0,2}?(?:rows?|ups|usv|onduleurs?|generators?|gensets?|transform\w*|trafos?|busways?|busbars?|stromschienen?|mains?|utility|grid)\b"
)
"""Pattern of the words for the source of a rack's feed."""
_OF_RACK = pattern(
    rf"\b(?:per|pro|je|par|of|for|to|in|into|an|de|von|für) (?:(?:each|a|the|every|jede[mnrs]?|chaque|la|une|un|den|einen?) )?{_RACK_WORDS}\b|\brack (?=pdu)"
)
_LOADED = pattern(
    rf"\b(?:{_RACK_WORDS[3:-1]}|nodes?|servers?|knoten|serveurs?|nœuds?|loads?|last|charge|demands?|draws?|needs?|takes|sees|carries(?! (?:up to|at most))|(?<!can )(?<!could )(?<!may )carry|trägt(?! (?:höchstens|bis))|porte|zieht|consomme|breaker|instead|not|normally|usually|half|share)\b"
)
"""Pattern of words between a feed and a power that make the power a load and not a rating."""
_FEED_BEHIND = pattern(
    rf" ?(?:of power )?(?:\(|three-phase |dreiphasig |triphasée? )?(?:(?:per|a|pro|je|par|on|from|for|auf|an|sur) )?(?:(?:each|either|every|jede[rmn]?|chaque|1) )?(?:rack and )?(?:rack |power )?{_FEED_WORDS}\b"
)
_RACK_BEHIND = pattern(
    rf"(?: of (?:it )?(?:load|power))? ?(?:per|an?|pro|je|par|(?:for|in) (?:a|each|every)|im|in jedem) (?:full |whole |ganze[nmr]? |vollen? )?{_RACK_WORDS}\b"
)
_RACK_BEFORE = pattern(
    rf"\b{_RACK_WORDS}(?:[:=,(]| (?:that|which|each|draws?|drawing|needs?|takes?|pulls?|uses?|has|have|is|are|of|at|with|under|full|load|power|about|some|in|total|together|no|more|than|most|up|to|zieht|ziehen|braucht|nimmt|auf|hat|mit|unter|last|volllast|zusammen|rund|etwa|höchstens|"
    r"consomme\w*|tire\w*|demande\w*|appelle|de|à|en|pleine|charge|environ)){0,6} ?$"
)
_TOTAL_BEFORE = pattern(
    r"\b(?:together|altogether|in total|in all|zusammen|insgesamt|gesamt|au total|ensemble|makes|soit|macht)(?: \w+){0,2}[:,]? ?$"
)
_SUM_BEHIND = pattern(
    r",? ?(?:in total|in all|in sum|together|combined|altogether|in summe|insgesamt|zusammen|au total|en tout|ensemble)\b"
)
_EACH_RACK = pattern(rf"\b(?:per|pro|je|par|each|every|jede[rmns]?|chaque|a|ein|im|une|un) {_RACK_WORDS}\b")
_LIMIT = pattern(
    r"\b(?:limit\w*|budget|rated|rating|allow\w*|contract\w*|grenze|cooling|kühl\w*|autoris\w*)\b[^.;,]{0,30}$"
)
"""Pattern of words before the power of a rack that make it a limit and not a load."""
_THREE = pattern(
    rf"\b[3-9] (?:\w+ )?{_FEED_WORDS}\b|(?<![\w.,])[2-9] (?!k[vw])(?:[\w-]+ ){{0,5}}?(?:on|at|an|auf|sur|per|je|pro|par|for) (?:each |either |every |jeder |chaque |la )?{_FEED_WORDS}\b|\bn ?\+ ?1\b|\b3n/2\b|\bfeed c\b|\ba, b (?:and|und|et) c\b"
)
"""Pattern of more than two feeds, or of several units on one feed."""
_LETTER_LOST = pattern(
    r"\b(?:[ab] (?:fails?|fell|falls|is (?:lost|out|off|down)|goes|drops?|dies|trips?|fällt|ausfällt|tombe|lâche|est (?:coupée?|perdue?)|ausfiele)|(?:fällt|without|losing|ohne|sans|perd|perdre) [ab]\b)"
)
"""Pattern of feed A or feed B being out of service."""
_OTHER = pattern(
    r"\b(?:the other|other one|either|one of (?:them|the two|these)|eine[rs]? (?:genügt|reicht)|die andere|der andere|das andere|eine davon|eine von beiden|l['’]autre|l['’]une|survivor|remaining|verbleibende\w*|restante)\b"
)
_LOST = pattern(
    r"\b(?:dies|died|dead|pulled|pulls?(?= (?:one|either|a|b|the|feed)\b)|after (?:an?|the|one) (?:fault|failure|loss|outage)|remains|gone|goes away|disappears?|switched off|cut|wegfällt|wegbricht|weg|stromlos|coupée?s?|coupure|perdue?|lâche|without (?:one|either|feed)|ohne eine)\b"
)
_SINGLE = pattern(
    r"\b(?:(?:one|1|eine[rs]?|une|each|either) (?:of them |davon |d\'elles )?(?:is enough|suffices?|genügt|reicht|suffit)|alone|by itself|on its own|single-handed\w*|allein\w*|selbst|solo|à elle seule|à lui seul|seule?)\b|\bon (?:one|a single|either) (?:feed|pdu|side|path)|\bauf einer (?:einspeisung|seite)|\bsur une (?:seule )?(?:voie|alimentation)"
)
_REDUNDANT = pattern(
    r"\b(?<!no )(?<!not )(?<!non-)(?<!without )(?<!ohne )(?<!nicht )(?<!keine )(?<!sans )(?<!non )(?:2 ?n|redundan\w+|redondan\w+)\b"
)
_RUNS_ON = pattern(
    r"\b(?:keeps?|keeping|stays?|staying|remains?) (?:\w+ ){0,3}?(?:running|up|on|powered|alive|online|in service|going|live)\b|\b(?:carr(?:y|ies)|takes?|powers?|suppl(?:y|ies)|supports?|runs?|holds?|trägt|tragen|versorgt|speist|übernimmt|porte|alimente|reprend|assure|tient)\b[^.;,]{0,30}?\b(?:racks?|cabinets?|it|everything|all|schrank|alles|baie|armoire|tout|charge|last|load|alone|allein)\b"
    r"|\b(?:no|without|ohne|sans|keine?n?|kein|aucun\w*|never) (?:[\w-]+ ){0,3}?(?:shutdowns?|outages?|shedding|down|off|restarts?|nodes?|servers?|gpus?|racks?|power loss|abschalt\w*|ausfall|ausgeht|knoten|arrêt|coupure|serveurs?|nœuds?)\b"
    r"|\b(?:does|do|will|must|may|should) not (?:be )?(?:drop|stop|lose|take|go|interrupt|reboot|shut|affect)\w*|\b(?:bleib\w*|läuft|laufen)\b[^.;,]{0,30}\b(?:an|weiter|in betrieb|unter strom|am netz)\b|\brest\w* (?:allumée?s?|sous tension|en service|en marche)|\bcontinue\w*\b|\bsurvives?\b|\bübersteht\b"
)
"""A rack that goes on as before."""
_NEEDLESS = pattern(
    r"\b(?:shutdowns?|shutting|switching|shedding|throttling|abschalt\w*|drossel\w*|arrêt\w*|délestage)(?: [\w-]+){0,5}? (?:(?:is|are|ist|sind) (?:not|nicht) (?:needed|necessary|required|nötig|notwendig|erforderlich)|(?:is |ist )?(?:unnecessary|unnötig|überflüssig)|n['’](?:est|a) pas (?:nécessaire|lieu))\b"
)
"""Nodes that need not stop."""
_NORMAL_SHARE = pattern(
    r"\b(?:each|every|both|normally|jede\w*|beide|chaque|normalerweise|im normalbetrieb|en temps normal|en fonctionnement normal)\b[^.;,]{0,40}?\b(?:half|hälfte|halbe\w*|moitié|50 ?%)"
)
_LESS = pattern(
    r"\b(?:not|cannot|can['’]t|never|neither|nor|nicht|kein\w*|pas|slower|less|weniger|moins|until|unless|whether|wish\w*|would|asked|is enough for)\b"
)
"""Pattern of words for a rack with reduced load, and for conditions and wishes."""
_PART = pattern(
    r"\b(?:half|part|a third|a quarter|two thirds|only|hälfte|halbe\w*|nur|moitié|seulement)\b|\b\d{1,2} ?% (?:of|der|des|de|du)\b"
)
"""Pattern of words for a part of the load."""
_CAP_WORDS = r"(?:throttl\w*|capp(?:ed|ing)|caps?|derat\w*|shed\w*|reduc\w*|reduz\w*|\w*drossel\w*|begrenz\w*|leistungsbegrenzung|brid[eé]\w*|plafonn\w*|limitée?s?|réduit\w*|réduction)"
_NO_CAP = pattern(
    rf"\b(?:no|not|without|never|kein\w*|nicht|ohne|sans|aucun\w*|un)[ -](?!(?:one|either|a|feed|eine|une) )(?:[\w-]+ ){{0,3}}?{_CAP_WORDS}\b"
)
_CAPPED = pattern(rf"\b{_CAP_WORDS}\b")
_MACHINES = r"(?:nodes?|servers?|gpus?|jobs?|systems?|chassis|knoten|serveurs?|nœuds?)"
_SHEDS = pattern(
    rf"\b(?:shuts?|shutting|switch(?:es|ing)?|turns?|powers?|takes?|stops?|drains?|parks?|schalten|schaltet|fährt|fahren|éteint|arrête|arrêtons|on éteint) (?:[\w-]+ ){{0,4}}?{_MACHINES}\b"
    rf"|\b{_MACHINES} (?:[\w-]+ ){{0,4}}?(?:shut|powered|switched|turned|taken) (?:off|down)\b|\b{_MACHINES} (?:[\w-]+ ){{0,4}}?(?:abgeschaltet|heruntergefahren|ausgeschaltet|éteints?|arrêtés?|coupés?|stopped|stops?|drained|parked|idle)\b"
    r"|\b(?:stops?|ends?|kills?|brings? down|stoppt|beendet|arrête) (?:the |a |all |every |whole |das |den |la |le ){0,2}(?:racks?|cabinets?|jobs?|runs?|training|schrank|baie)\b"
)
"""Pattern of words for nodes that stop during the loss."""
_NO_STOP = pattern(r"\b(?:no|not|without|never|kein\w*|ohne|sans|aucun\w*|nicht)\b[^.;,]{0,40}")


def check(own_remarks: str, power: PowerSpec | None, cluster: Cluster) -> Iterator[Problem]:
    if not own_remarks or (power is not None and (power.feeds == "N+1" or power.pdus is not None)):
        return
    folded = " ".join(own_remarks[:MOST_CHARACTERS].lower().split())
    if not any(cue in folded for cue in _CUES):
        return
    sentences = sentences_of(with_numerals(folded))
    if not _carries_alone(sentences) or any(_has_reserve_or_caps(each) for each in sentences):
        return
    rating, load = max(_ratings(sentences), default=0.0), _load(sentences, power, cluster)
    if not rating or load is None or load <= ROUNDED * rating:
        return
    message = f"the text lets one feed carry a rack alone: a feed is rated for {display(rating, 'W')}, but a full rack draws {display(load, 'W')}"
    yield RULE.problem("description", message, "plan larger feeds, or state how the nodes are capped meanwhile")


def _has_reserve_or_caps(sentence: str) -> bool:
    """Whether a sentence has more than two feeds, or nodes that are capped or stopped.

    >>> _has_reserve_or_caps("the nodes are capped meanwhile"), _has_reserve_or_caps("no node is capped"), _has_reserve_or_caps("feeds a, b and c")
    (True, False, True)
    """
    sentence = _NEEDLESS.sub(" ", sentence)
    if _THREE.search(sentence) is not None or _CAPPED.search(_NO_CAP.sub(" ", sentence)) is not None:
        return True
    return any(each.search(_NO_STOP.sub(" ", sentence)) is not None for each in (_SHEDS, STOPPED))


def _carries_alone(sentences: Sequence[str]) -> bool:
    """Whether a text says that one feed alone carries a rack.

    >>> _carries_alone(["each rack has feeds a and b", "if a fails, b carries the rack alone"])
    True
    >>> _carries_alone(["either feed carries half of the rack alone"])
    False
    """
    for first, before, now in zip(["", "", *sentences], ["", *sentences], sentences, strict=False):
        before_names, now_names = (_FEED.search(each) is not None for each in (before, now))
        names = before_names or _FEED.search(first) is not None
        if (now_names or (names and _refers_to_feed(now))) and _goes_on(now):
            return True
        if before_names and now_names and _is_feed_out_of_service(before) and _goes_on(f"{before}, {now}"):
            return True
    return False


def _is_feed_out_of_service(sentence: str) -> bool:
    """Whether a sentence says that a feed is out of service."""
    return any(each.search(sentence) is not None for each in (LOSS, _LOST, _LETTER_LOST))


def _refers_to_feed(sentence: str) -> bool:
    return _LETTER_LOST.search(sentence) is not None or _OTHER.search(sentence) is not None


def _goes_on(sentence: str) -> bool:
    """Whether a sentence says that a rack continues as before on one feed."""
    whole = _NORMAL_SHARE.sub(" ", sentence)
    if ALL_OUT.search(whole) is not None or _PART.search(whole) is not None or _is_of_more(whole):
        return False
    alone = _is_feed_out_of_service(whole) or any(each.search(whole) is not None for each in (_SINGLE, ALONE))
    goes_on = any(each.search(whole) is not None for each in (_RUNS_ON, UNAFFECTED))
    if not (alone and goes_on) and _REDUNDANT.search(whole) is None:
        return False
    rest = whole
    for each in (_NEEDLESS, _NO_CAP, _RUNS_ON, UNAFFECTED, LOSS):
        rest = each.sub(" ", rest)
    return _LESS.search(rest) is None


def _is_of_more(sentence: str) -> bool:
    """Whether a sentence is about a feed of several racks.

    >>> _is_of_more("feed a of the row has 24 kw"), _is_of_more("a rack has a feed of 24 kw from each ups")
    (True, False)
    """
    return _OF_MORE.search(_ORIGIN.sub(" ", sentence)) is not None


def _ratings(sentences: Sequence[str]) -> Iterator[float]:
    """The maximum watts of one feed, by each sentence that states its power or its current.

    >>> [round(each) for each in _ratings(["each rack has feeds a and b of 24 kw each", "2 feeds, 3x32 a at 400 v"])]
    [24000, 22170]
    """
    volts = {float(each) for sentence in sentences for each in _VOLTS.findall(sentence)}
    for sentence in sentences:
        if _FEED.search(sentence) is None or _is_of_more(sentence):
            continue
        yield from (number_in_text(each[1]) * 1e3 for each in _POWER.finditer(sentence) if _is_rating(sentence, each))
        own = {float(each) for each in _VOLTS.findall(sentence)} or volts
        one_phase = ONE_PHASE.search(sentence)
        for count, amperes in _AMPERES.findall(sentence) if len(own) == 1 else ():
            factor = 1 if count in {"", "1", "3"} else int(count)  # 3 x 32 A are the three lines of one circuit
            watts, _ = circuit_rating(min(own), float(amperes), one_phase[0] if one_phase is not None else "")
            yield factor * watts


def _is_rating(sentence: str, power: Match[str]) -> bool:
    """Whether a power is the rating of one feed, by the words around it."""
    behind = sentence[power.end() :]
    if _SUM_BEHIND.match(behind) is not None or _TOTAL_BEFORE.search(sentence[: power.start()]) is not None:
        return False
    if _FEED_BEHIND.match(behind) is not None:
        return True
    feeds = list(_FEED.finditer(sentence[: power.start()]))
    if not feeds or _RACK_BEHIND.match(behind) is not None:
        return False
    return _LOADED.search(_OF_RACK.sub(" ", sentence[feeds[-1].end() : power.start()])) is None


def _load(sentences: Sequence[str], power: PowerSpec | None, cluster: Cluster) -> float | None:
    """The watts of a full rack: the smallest of the values in the text and from the keys; None if unknown."""
    told = [
        number_in_text(each[1]) * 1e3
        for one in sentences
        for each in _POWER.finditer(one)
        if _is_full_rack_load(one, each)
    ]
    keys = rack_power(cluster, power) if power is not None else None
    if keys is not None and (not told or cluster.node_power is not None):
        told.append(keys)
    return min(told, default=None)


def _is_full_rack_load(sentence: str, power: Match[str]) -> bool:
    """Whether the words around a power make it the load of a full rack."""
    before = sentence[max(0, power.start() - 120) : power.start()]
    if _LIMIT.search(before) is not None or _is_rating(sentence, power):
        return False
    if _RACK_BEHIND.match(sentence[power.end() :]) is not None or _RACK_BEFORE.search(before) is not None:
        return True
    return _TOTAL_BEFORE.search(before) is not None and _EACH_RACK.search(before) is not None

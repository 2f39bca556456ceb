"""A percentile of the whole is computed as the mean of the percentiles of its parts.

## What it finds

A description or a comment that computes the 99th percentile (or another one) of a service as the mean of the
percentiles of its engines, replicas, zones or days. The finding is a warning. It is an error where a percentile of a
single engine in the text implies that the plan misses a target: with requests spread evenly over nine engines, the
slowest tenth of one is 1.1 % of all requests.

## Why it matters

The mean of percentiles is no percentile. One slow engine among many can hold all requests beyond the 99th percentile of the whole, and the
mean divides its delay by the number of engines.

## What to do

Compute the percentile of all requests: add the buckets of the histograms, then take the quantile.

## When to ignore it

Ignore it where the mean is only watched for trends.

## Fires

```yaml description
clusterspec: 1
description: The dashboard shows the mean of the nine p99 values, 2.3 s, so the SLO was met.
cluster: {platform: dgx-h200, nodes: 4}
```

## Silent

```yaml
clusterspec: 1
description: The p99 is taken over the histograms of all engines, not as the mean of their p99 values.
cluster: {platform: dgx-h200, nodes: 4}
```

## Sources

- Quantiles cannot be averaged: https://prometheus.io/docs/practices/histograms/
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import clause_bounds
from clusterspec.rules.readers.loads import MOST_CHARACTERS, place_of, times_in
from clusterspec.rules.readers.passages import passages_of
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern, sum_of

RULE = Rule.of(__name__, "warning", "likely")
_CUES = ("p50", "p75", "p9", "percentil", "perzentil", "centile", "quantil", "th percent")
_PERCENTILE = r"(?:p ?(?:50|75|90|95|98|99|99[.,]9|999)(?:[-’']?s|[-_]\w{1,16})?\b|\d\d(?:\.\d)?(?:th|\.|e|º)? (?:percentiles?|perzentile?n?|centiles?|percentil(?:es)?)\b|\w{0,3}percentiles?\b|perzentile?n?\b|centiles?\b|percentil(?:es)?\b|histogram_quantile|quantil\w{0,4}\b)"
_OF_PERCENTILE = pattern(rf"(?i){_PERCENTILE}")
_PARTS = r"(?:nodes?|replicas?|engines?|pods?|servers?|instances?|shards?|zones?|regions?|sites?|hosts?|workers?|backends?|values?|series|days?|weeks?|hours?|minutes?|knoten\w*|knotenwerte|replik\w*|instanzen|tageswerte|werte|stunden|nœuds?|noeuds?|répliques?|serveurs?|instances|valeurs|nodos|réplicas|servidores|valores)"
_OF_PARTS = pattern(rf"(?i)\b{_PARTS}\b")
_MEAN = pattern(
    r"(?i)\b(?:(?:arithmetic |simple |weighted |plain |running |rolling ){0,3}(?:means?|averages?|avg|mittel(?:wert)?s?|durchschnitt\w{0,2}|moyennes?|media|promedio)(?: values?)?(?: is| are| was)?(?: taken| formed| computed| calculated| gebildet| calculée?)?"
    r"(?= ?\(| (?:of|over|across|by|per|from|der|des|von|vom|aus|über|de|du|sur|d['’]|sobre|entre|all|them|these|those|the|their|its|every|each|aller|alle|beider)\b| p ?\d\d| (?:\d\d\S* )?percentile|[.,;:)]|$)"
    r"|(?:sum|add)\w*\b[^.;]{0,60}\bdivid\w+ (?:it |them |the sum )?by|averaged|averaging|averages? (?=(?:of |over |all |the |their |its |each |every |\w+ )*(?:p ?\d\d|percentile))|gemittelt\w{0,2}|mitteln|mittelt|moyennée?s?|promedi\w{1,4}|aggregated with avg)\b"
)
"""Pattern of a mean of several figures; `mean load` does not match."""
_ADDED = pattern(r"\(\d[\d.,]{0,6}(?: ?m?s)?(?: ?\+ ?\d[\d.,]{0,6}(?: ?m?s)?){1,11}\) ?[/÷:] ?\d")
"""Pattern of a sum of figures divided by their number."""
_LISTED = pattern(r"(?i)(?<=\)) averages?(?: out)?(?: to| at)? (?=\d)")
"""Pattern of a mean of figures in parentheses."""
_DENIED = pattern(
    r"(?i)\b(?:not|never|no|instead of|rather than|cannot|can't|don't|must not|wrong|misleading|nicht|kein\w{0,2}|statt|ne|pas|jamais|au lieu|nunca|en lugar|nor|below|above|unlike|than)\b"
)
_POOLED = pattern(
    r"(?i)\b(?:merged|pooled|histograms? (?:of|are|were) (?:added|merged|summed|all)|sum of (?:the )?histograms|all requests|raw|every request|zusammengefasst\w*|fusionn\w+)\b"
)
"""Pattern of words for a percentile over all requests."""
_OTHER_MEAN = pattern(
    r"(?i)\b(?:mean|average|avg|median|p50)\b(?:(?!p\d\d)[^.;,]){0,24}\b(?:load|utilization|prompt|length|tokens|latency|ttft|tpot|time|rate|wait)\b"
)
_OF_ONE = pattern(
    r"(?i)\b(?:one (?:of the )?(?:\w+ )?(?:engine|replica|node|server)|(?:engine|replica|node|server|pod) \w{1,4}\b)"
)
_QUANTITIES = {"ttft": "TTFT", "end_to_end": "end-to-end"}
"""Names of latencies in texts, by the name of the target."""
_STATED = pattern(r"(?i)\bp(?P<percentile>50|75|90|95|98)\b ?(?:=|of|is|at|:|von|de)? ?$")


def check(own_remarks: str, spec: Spec, layout: Layout | None, workload: Workload | None) -> Iterator[Problem]:
    if not own_remarks or not any(cue in own_remarks.lower() for cue in _CUES):
        return
    text = " ".join(own_remarks[:MOST_CHARACTERS].split())
    for passage in (*sentences_of(text), *passages_of(text)):
        words = averaged_words(passage) or mean_of_parts(passage)
        if not words:
            continue
        proof = _certain_miss_text(text, layout, workload)
        message = f"according to the text, a percentile of the whole is a mean of percentiles (`{words}`){proof}"
        help_ = "add the histograms of all parts, and take the percentile of the sum"
        sentence = next((each for each in sentences_of(text) if each in passage or passage in each), text)
        yield RULE.problem(place_of(sentence, spec), message, help_, severity="error" if proof else "warning")
        return


NEAR = 70
"""Largest distance, in characters, between a mean and its figures."""


def averaged_words(sentence: str) -> str:
    """The words with which a sentence averages percentiles; empty if it does not.

    >>> averaged_words("the fleet p99 is the mean of the nodes"), averaged_words("mean TTFT 0.8 s over four replicas, p99 2.1 s")
    ('p99 is the mean', '')
    """
    if _OF_PERCENTILE.search(sentence) is None or _POOLED.search(sentence) is not None:
        return ""
    for mean in (*_MEAN.finditer(sentence), *_ADDED.finditer(sentence), *_LISTED.finditer(sentence)):
        start, end = clause_bounds(sentence, *mean.span())
        if _DENIED.search(sentence, start, end) is not None:
            continue
        if _DENIED.search(sentence, max(0, mean.start() - 24), mean.start()) is not None:
            continue
        begin, end = max(0, mean.start() - NEAR), mean.end() + NEAR
        percentile = _percentile_of(sentence, mean, begin)
        if percentile is None or _OTHER_MEAN.search(sentence[mean.start() : end]) is not None:
            continue
        direct = _OF_WORDS.fullmatch(sentence[mean.end() : percentile.start()]) is not None
        parts = next(iter(_OF_PARTS.finditer(sentence, begin, end)), None)
        if direct or _SEVERAL.search(sentence[begin:end]) is not None or _ADDED.search(sentence[begin:end]) is not None:
            return sentence[min(mean.start(), percentile.start()) : max(mean.end(), percentile.end())].strip()
        if parts is not None:
            places = (percentile.span(), mean.span(), parts.span())
            return sentence[min(start for start, _ in places) : max(end for _, end in places)].strip()
    return ""


_OF_WORDS = pattern(
    r"(?i) (?:of|over|across|by|from|der|des|von|vom|aus|über|de|du|sur|d['’]|sobre|entre)(?: (?:(?!and\b|or\b|und\b|et\b|y\b)[^\W_][\w-]{0,30}))*? ?|(?: the| all| their| its)* ?"
)
"""Pattern of words that connect a mean with the percentiles in it."""


def _percentile_of(sentence: str, mean: re.Match[str], begin: int) -> re.Match[str] | None:
    """The percentile near a mean that is averaged, and not another figure next to it."""
    is_noun = mean[0][0] not in "( " and _PARTICIPLE.match(mean[0]) is None
    bounds = clause_bounds(sentence, *mean.span()) if is_noun else (begin, mean.end() + NEAR)
    if (
        sentence[max(0, bounds[0] - 2) : bounds[0]].strip()[-1:] == ":"
        or _THEIR.search(sentence[: mean.start()])
        or _THEM.match(sentence[mean.end() :])
    ):
        bounds = begin, bounds[1]  # a heading, or a sentence before, names what the mean is taken of
    found = list(_OF_PERCENTILE.finditer(sentence, bounds[0], min(len(sentence), bounds[1] + 1)))
    for each in sorted(found, key=lambda each: (each.end() <= mean.start(), abs(each.start() - mean.start()))):
        between = (
            sentence[each.end() : mean.start()] if each.end() <= mean.start() else sentence[mean.end() : each.start()]
        )
        if not is_noun or _JOINED_TO.search(between) is None or _THEM.match(sentence[mean.end() :]) is not None:
            return each
    return None


_THEIR = pattern(r"(?i)\b(?:their|deren|leur|sus?) $")
_PARTICIPLE = pattern(r"(?i)sum|add|averag(?:ed|ing)|avg\b|gemittelt|mitt|moyenné|promedi")
_JOINED_TO = pattern(r"(?i)\b(?:and|und|et|y|plus|with|while)\b|\d ?m?s\b")
_THEM = pattern(r"(?i)^ (?:of |over )?(?:them|these|those|all (?:of them|four|\d{1,3})|the \w+ values)\b")


_SEVERAL = pattern(
    r"(?i)\b(?:p ?\d\d[’']?s\b|percentiles\b|perzentile\b|centiles\b|percentiles\b|all four|all of them|all \d+)\b|\bavg ?\(|\bmean ?\(|\baverage ?\("
)
"""Pattern of several percentiles, or of a function that averages them."""


def mean_of_parts(passage: str) -> str:
    """The percentile of a whole that equals the mean, and not the maximum, of three or more percentiles of its parts;
    None without one.

    >>> mean_of_parts("p99 by pod: 1.8 s, 2.1 s and 3.3 s. Fleet p99 therefore 2.4 s"), mean_of_parts("p50 1 s, p90 2 s, p99 3 s")
    ('2.4 s', '')
    """
    named = {each[0].lower() for each in _OF_PERCENTILE.finditer(passage)}
    times = [] if len(named) != 1 or _POOLED.search(passage) is not None else times_in(passage)
    if not 4 <= len(times) <= MOST_PARTS or _OF_WHOLE.search(passage) is None:
        return ""
    *parts, whole = times
    mean = sum_of(each.value for each in parts) / len(parts)
    spread = max(each.value for each in parts) / min(each.value for each in parts)
    rounding = 0.5 * 10.0 ** -len(passage[whole.start : whole.end].partition(".")[2].partition(" ")[0])
    same = abs(mean - whole.value) <= max(0.012 * mean, 1.01 * min(rounding, 0.05) * whole.value)
    return passage[whole.start : whole.end] if same and spread > LEAST_SPREAD else ""


MOST_PARTS, LEAST_SPREAD = 12, 1.1
_OF_WHOLE = pattern(
    r"(?i)\b(?:fleet|service|overall|whole|total|global|all|system|gesamt\w*|dienst\w*|therefore|so|hence|thus|also|ensemble|donc)\b"
)
"""Pattern of words for the percentile of a whole."""


def _certain_miss_text(text: str, layout: Layout | None, workload: Workload | None) -> str:
    """Text that a single engine certainly misses a target of the plan; empty if that does not follow."""
    serving = workload.serving if workload is not None else None
    targets = [each for each in serving.targets if _QUANTITIES.get(each.quantity, "?") in text] if serving else []
    engines = layout.dp if layout is not None else 0
    for sentence in sentences_of(text) if engines > 1 else ():
        if _OF_ONE.search(sentence) is None:
            continue
        for time in times_in(sentence):
            stated = _STATED.search(sentence[max(0, time.start - 16) : time.start])
            beyond = (100 - float(stated["percentile"])) / engines if stated is not None else 0.0
            for target in targets:
                if beyond > 100 - target.percentile and time.value > target.seconds:
                    return f", and one of {engines} engines has {beyond:.3g} % of all requests above {time.value:g} s, so that p{target.percentile:g} is above the target of {target.seconds:g} s"
    return ""

"""A percentile of the whole is computed as the mean of the percentiles of its parts.

## What it finds

A description or a comment by which the 99th percentile (or another one) of a service is the mean of those of its
engines, replicas, zones or days. The finding is a warning. It is an error where the text gives another percentile of a single engine
from which it follows that a target of the plan is missed: with requests spread evenly, a tenth of one engine in nine is
1.1 % of all requests.

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

from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.text_loads import MOST_CHARACTERS, place_of, times_in
from clusterspec.rules.knowledge.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import Spec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_CUES = ("p50", "p9", "percentil", "perzentil", "centile", "quantil")
_PERCENTILE = r"(?:p(?:50|75|90|95|98|99|99[.,]9|999)(?:s\b|\b)|\d\d(?:\.\d)?th percentiles?\b|percentiles?\b|perzentile?n?\b|centiles?\b|percentil(?:es)?\b|quantil\w{0,4}\b)"
_MEAN = r"(?:means?|averages?|avg|mittel(?:wert)?|durchschnitt|moyenne|media|promedio)"
_WORDS = r"(?:(?!(?:and|or|und|oder|et|ou|y|o|plus|beside|with|while|but)\b)[^\W_]{1,30}(?:-[^\W_]{1,30})? ){0,4}?"
_AVERAGED = pattern(
    rf"(?i)\b{_MEAN}(?: value)?s?(?: is taken)? (?:of|over|across|der|des|von|über|de|sur|d'|sobre|from) {_WORDS}{_PERCENTILE}"
    rf"|\b(?:mean|average|averaged|mittlere[rsn]?|gemittelte[rsn]?|durchschnittliche[rsn]?) {_PERCENTILE} (?:of|over|across|der|des|von|über) (?:the |all |its |our |alle\w? |aller )"
    rf"|\b{_PERCENTILE}[^.;,]{{0,50}}? (?:(?:(?:is|are|was|were)(?: then)?|and(?: then)?) averaged|(?:werden|wird) (?:\w{{1,20}} )?gemittelt|(?:est|sont) moyennés?|se promedian?)\b"
    rf"|\baverag(?:e|es|ing) (?:of |over )?(?:the |all |their |its )?{_WORDS}{_PERCENTILE}"
    rf"|\b{_PERCENTILE}[^;]{{0,60}}\(\d[\d.,]{{0,6}}(?: ?m?s)?(?: ?\+ ?\d[\d.,]{{0,6}}(?: ?m?s)?){{1,6}}\) ?/ ?\d"
    rf"|\b{_PERCENTILE}[^;]{{0,80}}\) averages?(?: out)?(?: to| at)? \d"
    r"|\bavg ?\((?:[^()]{0,40}\()?(?:histogram_quantile|[\w:]{0,40}p9\d)"
)
_DENIED = pattern(
    r"(?i)\b(?:not|never|no|instead of|rather than|cannot|can't|don't|must not|wrong|misleading|nicht|kein\w{0,2}|statt|ne|pas|jamais|au lieu|no se|nunca|en lugar|nor)\b"
)
_OF_ONE = pattern(
    r"(?i)\b(?:one (?:of the )?(?:\w+ )?(?:engine|replica|node|server)|(?:engine|replica|node|server|pod) \w{1,4}\b)"
)
_QUANTITIES = {"ttft": "TTFT", "end_to_end": "end-to-end"}
"""The names of latencies that texts use, by those of targets."""
_STATED = pattern(r"(?i)\bp(?P<percentile>50|75|90|95|98)\b ?(?:=|of|is|at|:|von|de)? ?$")


def check(own_remarks: str, spec: Spec, layout: Layout | None, workload: Workload | None) -> Iterator[Problem]:
    if not own_remarks or not any(cue in own_remarks.lower() for cue in _CUES):
        return
    for sentence in sentences_of(own_remarks[:MOST_CHARACTERS]):
        match = _AVERAGED.search(sentence)
        if match is None or _DENIED.search(sentence) is not None:
            continue
        proof = _certain_miss_text(own_remarks[:MOST_CHARACTERS], layout, workload)
        message = (
            f"according to the text, a percentile of the whole is a mean of percentiles (`{match[0].strip()}`){proof}"
        )
        help_ = "add the histograms of all parts, and take the percentile of the sum"
        yield RULE.problem(place_of(sentence, spec), message, help_, severity="error" if proof else "warning")
        return


def _certain_miss_text(text: str, layout: Layout | None, workload: Workload | None) -> str:
    """The clause by which a single engine alone misses a target of the plan; empty where that does not follow."""
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

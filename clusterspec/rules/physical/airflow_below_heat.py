"""The airflow of the text does not carry the heat of the nodes.

## What it finds

A sentence of the description or a comment with an airflow (in CFM, m³ an hour or a second) of a node, of a rack or of
the hall, and a rise of its temperature, where heat = flow × 1.2 kg/m³ × 1.005 kJ/(kg K) × rise is below the heat that
the nodes give to the air at full load.

## Why it matters

The air leaves hotter than planned and returns to the intakes, or the fans run at full speed and the accelerators throttle.

## What to do

Plan 160 CFM for each kilowatt at a rise of 11 K, or a larger rise.

## When to ignore it

Ignore it where other air passes the nodes as well.

## Fires

```yaml description
clusterspec: 1
description: A server gets 800 CFM of air at a rise of 12 K.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10.2 kW, cooling: air}}
```

## Silent

```yaml
clusterspec: 1
description: A server gets 1,500 CFM of air at a rise of 12 K.
cluster: {platform: dgx-h100, nodes: 16, power: {node: 10.2 kW, cooling: air}}
```

## Sources

- Density and heat capacity of air at 20 °C: https://www.engineeringtoolbox.com/air-properties-d_156.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.heat import liquid_shares
from clusterspec.finding import Problem
from clusterspec.rules.readers.written_numbers import NUMBER, large_number_in_text, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
AIR = 1.2 * 1005.0
"""Heat capacity of air in J per cubic meter and K, at 20 °C and sea level."""
_CFM = r"(?P<cfm>cfm|cubic f(?:ee|oo)t (?:a|per) min\w*)"
_FLOW = pattern(
    rf"{NUMBER} ?(?:{_CFM}|(?P<hour>(?:m³|m3|cbm) ?(?:/|a|an|per|pro|par|por) ?(?:h|hr|hours?|stunde|heure|hora))|(?P<second>(?:m³|m3) ?(?:/|a|per|pro|par|por) ?(?:s|sec\w*)))\b"
)
_CUBIC_METERS = {"cfm": 0.3048**3 / 60, "hour": 1 / 3600, "second": 1.0}
"""For each unit of airflow, its cubic meters per second."""
_CUES = ("cfm", "cubic f", "m³", "m3", "cbm")
_RISE = pattern(
    rf"\b(?:rise|delta[- ]?t|δt|dt|difference|spread|spreizung|écart|salto|erwärmung)\b[^.;\d]{{0,20}}{NUMBER} ?(?:k|°c|°|degrees)\b|{NUMBER} ?(?:k|°c) (?:rise|of rise|delta|difference|spread|hotter|warmer|wärmer)\b"
)
_AIR = pattern(r"\b(?:air|airflow|luft\w*|aire|aria|lucht|fans?|cfm|crahs?|exhaust|abluft)\b")
_WATER = pattern(r"\b(?:water|coolant|pg ?-?25|glycol|loop|wasser|eau|agua)\b")
_OF_NODE = pattern(
    r"\b(?:per|each|every|a|one|je|pro|jeder|par|chaque|por|cada) (?:node|server|system|machine|chassis|knoten|nœud|nodo|servidor|serveur)\b|/ ?node\b"
)
_OF_RACK = pattern(
    r"\b(?:per|each|every|a|one|je|pro|jede[sr]?|par|chaque|por|cada) (?:rack|cabinet|schrank|baie|armario)\b|/ ?rack\b"
)
_OF_HALL = pattern(r"\b(?:hall|room|in total|in all|together|insgesamt|total|saal|salle|sala)\b")


def check(remarks: str, cluster: Cluster, power: PowerSpec | None) -> Iterator[Problem]:
    if not remarks or cluster.node_power is None or not any(cue in remarks.lower() for cue in _CUES):
        return
    for sentence in sentences_of(" ".join(remarks.lower().split())):
        found, rise = [*_FLOW.finditer(sentence)], _RISE.search(sentence)
        if len(found) != 1 or rise is None or _AIR.search(sentence) is None or _WATER.search(sentence) is not None:
            continue
        match = found[0]
        carried = (
            large_number_in_text(match[1])
            * _CUBIC_METERS[match.lastgroup or "hour"]
            * AIR
            * number_in_text(rise[1] or rise[2])
        )
        scope = _cooled_nodes(sentence, cluster, power)
        if scope is None:
            continue
        nodes, what = scope
        heat = cluster.node_power.value * nodes * (1 - liquid_shares(cluster, power)[2].value)
        if 0 < carried < heat:
            message = f"{match[0].strip()} of air that rise by {rise[1] or rise[2]} K carry {display(carried, 'W')}, but {what} {display(heat, 'W')} to it at full load"
            yield RULE.problem("description", message, f"plan {heat / carried:.2g} times the airflow")
            return


def _cooled_nodes(sentence: str, cluster: Cluster, power: PowerSpec | None) -> tuple[float, str] | None:
    """The number of nodes that an airflow cools, and their name; None if the sentence does not state it."""
    if _OF_NODE.search(sentence) is not None:
        return 1.0, "a node gives"
    if _OF_RACK.search(sentence) is not None:
        return (float(power.nodes_per_rack), "a rack gives") if power is not None and power.nodes_per_rack else None
    return (float(cluster.all_nodes), "the nodes give") if _OF_HALL.search(sentence) is not None else None

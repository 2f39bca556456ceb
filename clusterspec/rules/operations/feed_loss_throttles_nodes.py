"""After the loss of one power feed, the remaining power supplies cannot carry the nodes at full load.

## What it finds

The power supplies of a node, or of a rack that is sold whole, are assumed to be spread evenly over the feeds of a rack.
After a feed fails, half of them remain with `feeds: 2N`, and two thirds with `N+1`. The finding is a warning where each
accelerator then has to reduce its power by a tenth or more, or the spec states both feeds and supplies; else a note. It
is an error where the spec states both, and a quarter of the accelerators' power is lost, or where the description or a
comment asks for full load without a feed, says that one feed carries the racks by itself, or that jobs run on
meanwhile. The rule is silent where neither `cluster.power.supplies` nor the catalog
states the supplies. If the power of a node is unknown, the rule compares stated supplies with the power of the
accelerators only.

## Why it matters

`2N` promises that the job does not notice the loss of a feed. A DGX B200 draws up to 14.3 kW, and three of its six
supplies give 9.9 kW: until the feed is back, its accelerators are throttled, and every collective waits for them. The
guide of the DGX H100 says so: with three of its six supplies the system runs on at reduced performance, and with fewer
only its BMC runs.

## What to do

Cap the accelerators by `accelerator_cap`, so that the remaining feeds carry the nodes, or plan with the slower step,
which `clusterspec faults` estimates. `operations.targets.max_single_failure_slowdown` states the slowdown that the job
tolerates.

## When to ignore it

Ignore it where the load never reaches the nameplate, or a slower step until the feed is back is accepted.

## Fires

```yaml cluster.power.feeds
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {feeds: 2N}
```

```yaml cluster.power.feeds
clusterspec: 1
description: A node runs on at full load when feed A or feed B is taken out for maintenance.
cluster:
  platform: dgx-h100
  nodes: 16
  power: {feeds: 2N}
```

```yaml cluster.power.feeds
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {feeds: 2N, supplies: {count: 6, power: 3.3 kW}}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-b200
  nodes: 16
  power: {feeds: 2N, accelerator_cap: 400 W}
```

```yaml
clusterspec: 1
cluster:
  platform: gb200-nvl72
  nodes: 18
  power: {feeds: 2N}
```

## Sources

- DGX H100, redundancy of the supplies: https://docs.nvidia.com/dgx/dgxh100-user-guide/introduction-to-dgxh100.html
- DGX B200, power specifications: https://docs.nvidia.com/dgx/dgxb200-user-guide/introduction-to-dgxb200.html
- Power shelves of a GB200 rack: https://docs.nvidia.com/base-command-manager/product-manuals/nvidia-mission-control/powershelf.md
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.cost.feed_loss import feed_loss
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.shares import A_QUARTER
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import PowerSpec
from clusterspec.standard import pattern
from clusterspec.units import percent

RULE = Rule.of(__name__, "note", "likely")
CLEAR = 0.1
"""Share of the accelerators' power whose loss is a warning."""

_FEED = pattern(
    r"\b(?:feeds?|paths?|pdus?|supply lines?|power strings?|[ab][- ]side|side [ab]|circuits?|bus(?:way|bar|duct)s?|ups (?:strings?|systems?)|"
    r"(?:strom)?einspeisung(?:en)?|stromwege?|alimentations?|voies?|acometidas?|ramas?|alimentazion[ei]|linee?)\b"
)
_LOST = pattern(
    r"\b(?:los[est]\w*|fail\w*|fault\w*|outage|taken (?:out|down|off)|(?:switched|shut|turned|powered) off|out of service|is out|maintenance|down|drops?|trips?|without (?:one|a|either)|"
    r"ausfall\w*|fällt|ausfällt|wartung|panne|perte|défaillance|maintenance|fallo|falla|pérdida|mantenimiento|guasto|perdita)\b"
)
_FULL = pattern(
    r"\b(?:full|nominal|rated|100 ?%) (?:load|power|performance|speed|rate)|\bun-?throttled\b|\b(?:without|no) (?:any )?(?:throttling|derating|power capping|capping|loss of performance|reduction)|"
    r"\b(?:volle[rn]?|unter) (?:voll)?(?:last|leistung)|\bvolllast|\bpleine (?:charge|puissance)|\bplena (?:carga|potencia)|\bpieno carico|\bpiena potenza"
)
_CARRIES = pattern(
    r"\b(?:carr(?:y|ies)|holds?|suppl(?:y|ies)|powers?|sustains?|supports?|trägt|tragen|versorg\w+|porte(?:nt)?|alimente(?:nt)?|soporta\w*|alimenta\w*)\b[^.;]{0,60}"
    r"\b(?:by itself|by themselves|on its own|alone|single-handedly|allein\w*|à elle seule|à lui seul|seule?|por sí sol[ao]|sol[ao]|da sol[ao])\b"
)
"""Pattern of words for one feed that carries the full load."""
_TESTED = pattern(r"\b(?:tests?|tested|testing|inspect\w*|prüf\w*|teste[nt]?|essais?|pruebas?)\b")
_GOES_ON = pattern(
    r"\bwhile (?:the |all )?(?:jobs?|training|engines?|users?|work|runs?) (?:runs?|goes on|go on|continues?|works?)\b"
    r"|\b(?:jobs?|training|engines?|service|work|runs?) (?:goes|go|runs?|works?|continues?) on\b|\b(?:jobs?|training|service) continues?\b|\b(?:not|never) (?:be )?notic\w+|\bwithout (?:users|jobs) noticing\b"
    r"|\b(?:läuft|laufen) (?:dabei )?weiter\b|\bpendant que\b"
)
"""Pattern of words for work that continues without a feed."""
_LESS = pattern(
    r"\b(?:not|never|no longer|cannot|nicht|pas|no) (?:[\w-]+ ){0,3}?(?:full|at full|volle?|pleine|plena)\b|\b(?:half|hälfte|moitié|mitad|reduced|throttled|capped|slower|degraded|gedrosselt|réduite?)\b"
)


def check(power: PowerSpec, cluster: Cluster, remarks: str) -> Iterator[Problem]:
    if power.feeds is None or power.feeds == "N":
        return
    loss = feed_loss(cluster, power)
    if loss is None or not loss.lost:
        return
    share = percent(loss.lost, 2)
    if loss.lost < 1:
        least, most = ("at least ", "less than ") if loss.is_least else ("", "")
        message = f"{loss.why}, each accelerator by {least}{share} of its power"
        remedy = f"cap the accelerators at {most}{percent(1 - loss.lost, 2)} of their power, or count with the slower step of `clusterspec faults`"
    else:
        message = f"{loss.why}, and stops"
        remedy = "use more supplies or feeds"
    if remarks and asks_for_full_load(remarks.lower()):
        message = f"{message}; the text counts on full load without a feed"
        yield RULE.problem("cluster.power.feeds", message, f"{remedy}, or use more feeds", severity="error")
    else:
        yield RULE.problem("cluster.power.feeds", message, remedy, severity=_severity(loss.lost, power))


def _severity(lost: float, power: PowerSpec) -> str:
    """The severity of losing a share of the accelerators' power with a feed; empty for the usual one of the rule."""
    if power.supplies is not None and lost >= A_QUARTER:
        return "error"
    return "warning" if lost >= CLEAR or power.supplies is not None else ""


def asks_for_full_load(text: str) -> bool:
    """Whether a lowercase text says that nodes run at full load after losing a feed, or that one feed can carry them.

    >>> asks_for_full_load("f-12: a node runs on at full load when feed a is taken out for maintenance")
    True
    >>> asks_for_full_load("when a feed fails the nodes run throttled"), asks_for_full_load("at full load a feed has 20 kw")
    (False, False)
    >>> asks_for_full_load("the paths are tested in turn each quarter, while jobs run")
    True
    >>> asks_for_full_load("each of the two feeds carries the racks by itself"), asks_for_full_load("a feed alone is not enough")
    (True, False)
    >>> asks_for_full_load("either busway can be switched off while training goes on at full load")
    True
    """
    return any(
        _FEED.search(each)
        and (
            _CARRIES.search(each)
            or (_LOST.search(each) and (_FULL.search(each) or _GOES_ON.search(each)))
            or (_TESTED.search(each) and _GOES_ON.search(each))
        )
        and not _LESS.search(each)
        for each in sentences_of(text)
    )

"""All NICs of a node are on one socket, although the spec states NIC affinity.

## What it finds

A text that attaches all NICs of a node to one socket, riser or PCIe switch, where `host.nic_affinity` is true and a
node has several NUMA domains (`host.numa_nodes`).

## Why it matters

The accelerators of the other socket reach their NIC through the link between the sockets, where GPUDirect RDMA drops to a
fraction of the rate of the port.

## What to do

Move half of the NICs to the other socket, or write `nic_affinity: false` and plan with the lower rate.

## When to ignore it

Ignore it where the cards are attached to both sockets (socket-direct cards).

## Fires

```yaml cluster.host.nic_affinity
clusterspec: 1
description: Refurbished nodes with four HDR HCAs each, all in the risers of the first socket.
cluster:
  platform: hgx-a100
  nodes: 16
  host: {numa_nodes: 2, nic_affinity: true}
  scale_out: {technology: infiniband-hdr, nic: connectx-6, nics_per_node: 4}
```

## Silent

```yaml
clusterspec: 1
description: Refurbished nodes with four HDR HCAs each, two in the risers of each socket.
cluster:
  platform: hgx-a100
  nodes: 16
  host: {numa_nodes: 2, nic_affinity: true}
  scale_out: {technology: infiniband-hdr, nic: connectx-6, nics_per_node: 4}
```

## Sources

- Traffic through the link between sockets: https://github.com/NVIDIA/nccl/issues/489
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.readers.amounts import COUNT, amounts_in
from clusterspec.rules.readers.clauses import clauses_of, planned_text
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.spec.model import ClusterSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "warning", "likely")
_NICS = r"(?:hcas?|nics?|host (?:channel )?adapters?|(?:network )?(?:cards?|adapters?)|connectx(?:-?\d\w*)?|efas?|netzwerkkarten|cartes réseau|adapter[n]?|tarjetas de red)"
_WHICH = (
    r"(?:first|second|same|erste[nr]?|zweite[nr]?|selben|premier|première|second|deuxième|même|primer|segundo|mismo)"
)
_PLACE = r"(?:sockets?|sockel[ns]?|cpus?|processors?|prozessors?|processeur|procesador|numa(?: node| domain)?|package)"
_ONE_PLACE = pattern(
    rf"(?i)\b(?:{_WHICH}(?: cpu)? {_PLACE}|{_PLACE} ?#?[0-3]\b|(?:one|a single|einem(?: einzigen)?|un seul|un solo) {_PLACE})"
)
_SECOND_ONE = pattern(rf"(?i)\b(?:{_WHICH}(?: cpu)? {_PLACE}|{_PLACE} ?#?[0-3]\b)")
"""Pattern of one socket by number or place; in `each NIC on one socket` the sockets may differ."""
_ALL = pattern(
    rf"(?i)\b(?:all|both|alle|sämtliche|tous|toutes|todas|todos)(?: of)?(?: (?:the|its|their|these|les|las|los|der|die))?(?: (?:\d|[a-z]{{3,6}}))?(?: [\w-]+)? {_NICS}\b|\b{_NICS} (?:are |were )?all\b"
    r"|\ball (?:of them |(?:four|eight|two|[2-8]) |are |sit )?(?:in|on|at|behind|under|to|off|attached)\b"
)
_EACH_NIC = pattern(
    rf"(?i)\b(?:every|each|jede[rs]?|chaque|cada)(?: of (?:the|its)(?: (?:\d|[a-z]{{3,6}}))?)?(?: [\w-]+)? {_NICS}\b"
)
_NAMED = pattern(rf"(?i)\b{_NICS}\b")
_NO_NIC = pattern(
    rf"(?i)\b(?:no|without|keine[n]?|ohne|aucune?|sans|ningun[ao]?) (?:own )?{_NICS}\b|\b(?:has|have|hat|a) none\b"
)
_EACH_SOCKET = pattern(r"(?i)\b(?:each|every|both|per) (?:cpu )?(?:sockets?|cpus?|numa|processors?)\b")
_SPLIT = pattern(r"(?i)\b(?:socket-direct|single-socket|split|evenly|other (?:two|half|four))\b")
"""Pattern of words in a text whose NICs are on several sockets."""
_SOME = rf"(?:one|two|four|half|some|zwei|vier|die hälfte|deux|quatre|la moitié|dos|\d)(?: (?:of|davon|von|d'entre|de))?(?: (?:them|these|those|the|its|ihnen|elles|ellos|las|les|den))?(?: (?:four|eight|[48]))?(?: {_NICS})?"
_OTHER_ONE = (
    r"(?:the )?(?:second|other|zweiten|anderen|deuxième|second|autre|segundo|otro|(?:socket|cpu|numa node) ?[01])\b"
)
_MOVED = pattern(
    rf"(?i)\b{_SOME} (?:are|is|were|was|will be|have been|get|got|wurden|werden|ont été|sont|fueron)(?: then| later| since)? (?:moved|relocated|re-?seated|shifted|transferred|déplacée?s|movidas) (?:to|into|onto|vers|sur|a|al)(?: le| la)? {_OTHER_ONE}"
    rf"|\b(?:we|it|he|they|integrator|supplier|vendor) (?:has |have |will )?(?:moved?|moves|relocates?d?|shift(?:ed|s)?) {_SOME} (?:to|into|onto) {_OTHER_ONE}"
    rf"|\b{_SOME} (?:wurden|werden) (?:auf|an|in) (?:den|die|das) {_OTHER_ONE}[^.;,]{{0,20}} (?:umgesteckt|versetzt|verlegt)"
)
"""Pattern of NICs that are moved to another socket."""
_OTHERS = pattern(r"(?i)\b(?:management|storage|front-?end|in-?band|dual-port|test|boot)\b")


def check(written_cluster: ClusterSpec, scale_out: ScaleOut, own_remarks: str | None) -> Iterator[Problem]:
    host = written_cluster.host
    if host is None or not host.nic_affinity or (host.numa_nodes or 0) < 2 or scale_out.nics_per_node < 2:
        return
    text = " ".join((own_remarks or "").split())
    if _NAMED.search(text) is None or _SPLIT.search(text) is not None or _MOVED.search(planned_text(text)) is not None:
        return
    for sentence in (planned_text(each, past=False) for each in sentences_of(text)):
        if _are_on_one_socket(sentence, scale_out.nics_per_node, host.numa_nodes or 0):
            message = f"according to the text, all {scale_out.nics_per_node} NICs of a node are on one socket, but `nic_affinity: true` has each accelerator use one of its own socket"
            help_ = "move half of the NICs to the other socket, or write `nic_affinity: false`"
            yield RULE.problem("cluster.host.nic_affinity", message, help_)
            return


def _are_on_one_socket(sentence: str, nics: int, domains: int) -> bool:
    """Whether a sentence attaches all NICs to one socket, or says that one of two sockets has none.

    >>> _are_on_one_socket("Socket 0 hosts the four NICs", 4, 2), _are_on_one_socket("CPU 0 has two NICs, CPU 1 two", 4, 2)
    (True, False)
    """
    if _NAMED.search(sentence) is None or _OTHERS.search(sentence) is not None:
        return False
    for start, end in clauses_of(sentence):
        clause = sentence[start:end]
        if _EACH_SOCKET.search(clause) is not None:
            continue
        if _ONE_PLACE.search(clause) is not None and (
            _ALL.search(clause) is not None or _states_nic_count(clause, nics)
        ):
            return True
        if _SECOND_ONE.search(clause) is not None and _EACH_NIC.search(clause) is not None:
            return True
    parts = sentence.replace("|", ";").split(";")
    return domains == 2 and any(_SECOND_ONE.search(each) and _NO_NIC.search(each) for each in parts)


def _states_nic_count(clause: str, nics: int) -> bool:
    """Whether a clause states as many NICs as a node has."""
    counts = [each for each in amounts_in(clause) if each.kind == COUNT and each.value == nics]
    return any(_NAMED.search(" ".join(each.words[:3])) is not None for each in counts)

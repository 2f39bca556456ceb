"""A firewall that the text describes drops traffic that the nodes need.

## What it finds

Sentences of the description or the comments about a firewall, a security group or an access list between the nodes that name
the admitted ports or protocols and say that nothing else passes, where one of these is missing:

- with EFA all traffic to and from the security group itself, in both directions: SRD is neither TCP nor UDP;
- with RoCE v2 the UDP port 4791, where the list is one of the RDMA network or of its switches;
- between the nodes of one job the ephemeral TCP ports, on which collective libraries listen for their peers. The port of the
  rendezvous alone (29500) is not enough.

Also an outbound rule of EFA's security group that admits a few TCP ports or addresses only.

## Why it matters

The job starts, the ranks meet, and the first collective waits until its timeout. With EFA the library falls back to TCP or
stops with an error of libfabric that does not name the group.

## What to do

Admit all traffic between the nodes of a job. Filter at the edge of their network.

## When to ignore it

Ignore it where the text leaves out a rule that exists.

## Fires

```yaml description
clusterspec: 1
description: The security group admits from itself TCP 22 and TCP 1024-65535, the same ranges out, and nothing else in either direction.
cluster: {platform: aws-p5en-48xlarge, nodes: 24}
```

```yaml description
clusterspec: 1
description: An access list on the RDMA network admits TCP 22 and ICMP between the servers; everything else is dropped.
cluster: {platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}}
```

## Silent

```yaml
clusterspec: 1
description: The security group admits all traffic from itself and to itself, TCP 22 from the bastion, and nothing else.
cluster: {platform: aws-p5en-48xlarge, nodes: 24}
```

```yaml
clusterspec: 1
description: An access list on the RDMA network admits UDP 4791, TCP 22 and ICMP between the servers; everything else is dropped.
cluster: {platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}}
```

## Sources

- The security group of EFA: https://docs.aws.amazon.com/pcs/latest/userguide/working-with_networking_efa_create-sg.html
- The UDP port of RoCE v2: https://www.iana.org/assignments/service-names-port-numbers/service-names-port-numbers.xhtml?search=4791
- Ports of collective libraries: https://github.com/NVIDIA/nccl/issues/388
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, Layout
from clusterspec.finding import Problem
from clusterspec.rules.readers.clauses import planned_text
from clusterspec.rules.readers.written_numbers import sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_CUES = (
    "security group",
    "firewall",
    "access list",
    "access-list",
    "acl",
    "nsg",
    "nftables",
    "iptables",
    "network policy",
    "sicherheitsgruppe",
    "groupe de sécurité",
    "grupo de seguridad",
    "pare-feu",
    "cortafuegos",
    "tcp",
    "udp",
    "protocol",
    "traffic from itself",
)
_FILTER = pattern(
    r"\b(?:(?:network )?security (?:groups?|lists?)|firewalls?|(?:access[- ](?:control )?list[es]?n?|zugriffslisten?|acls?)|nsgs?|nftables|iptables|ufw|(?:packet |the )filters?|network polic(?:y|ies)|"
    r"sicherheitsgruppen?|groupes? de sécurité|grupos? de seguridad|pare-feux?|cortafuegos|(?:nodes'|nodes’|compute|own) groups?|(?:inside|within) the group|the group itself|sgs?|group rules)\b"
)
_OTHER_OWNER = pattern(
    r"\b(?:bastion|jump|login|head|storage|management|web|database|monitoring|site|office|campus|perimeter|edge|vpn|balancer)(?:['’]?s)?(?: host| node| network)?(?:['’]s)? (?:\w+ )?(?:security group|firewall|access list|acl)"
    r"|\b(?:security group|firewall|access list|acl|list)s? (?:of|on|for|at|in front of) the (?:\w+ )?(?:bastion|jump|login|head|storage|management|web|database|monitoring|site|office|campus|perimeter|edge|vpn|balancer)\b"
)
"""Pattern of a filter on other machines, or at the edge of the network."""
_ADMITS = pattern(
    r"\b(?:allow\w*|permit\w*|admit\w*|accept\w*|lets?|open\w*|erlaub\w*|lässt|zugelassen|autoris\w+|admite\w*)\b"
)
_REFUSES = pattern(
    r"\b(?:den(?:y|ied|ies)|drop\w*|discard\w*|block\w*|reject\w*|refus\w*|closed|filtered|verworfen|gesperrt|blockiert|bloqu\w+|rejet\w+|descarta\w*)\b"
)
_PORTS = pattern(
    r"\b(?:tcp|udp)(?:[ /]?ports?)?[ :/]{0,2}\d{1,5}|\bports? \d{2,5}|\b\d{2,5}/(?:tcp|udp)\b|\b(?:tcp|udp)\b[^.;,]{0,16}\beq \d{2,5}|\b(?:tcp|udp) only\b|\b(?:only|just|nur|uniquement|seulement|sólo|solo)(?: \w+)? (?:tcp|udp)\b|\ball (?:tcp|udp)\b|\b(?:tcp|udp) all\b|\btcp is\b|\bicmp\b"
)
_NOTHING_ELSE = pattern(
    r"\b(?:nothing (?:else|more)|and no more|no other (?:ports?|traffic|protocols?|rules?)|(?:everything|anything|all) else|(?:all|any|every) other (?:traffic|ports?|protocols?|packets?|\w+ (?:is|are|stays?))|remaining (?:traffic|packets?|ports?)|the rest|(?:full|whole|complete) list|implicit deny|all else|no other rules?|"
    r"(?:default|by default|otherwise)[ -](?:deny|drop|denied|dropped|closed|blocked)|deny[- ](?:ip )?(?:all|any|by default)|drops? (?:ip )?(?:all|any)\b(?! (?:other|from))|(?:limited|restricted|reduced|confined) to|only|just|except|apart from|exclusively|"
    r"sonst nichts|nichts (?:anderes|weiter)|alles (?:andere|übrige)|das übrige|nur|ausschließlich|rien d'autre|tout le reste|uniquement|seulement|nada más|todo lo demás|(?:sólo|solo|únicamente))\b"
)
_ALL_TRAFFIC = pattern(
    r"\b(?:all|any|every|full|unrestricted) (?:traffic|protocols?|ports and protocols|ip traffic|internal traffic|intra-cluster traffic)\b|\bprotocols? (?:-1|all|any)\b|\ball (?:inbound|outbound|ports|from|to|in|between|within)\b|"
    r"\beverything (?:from|to|between|within|in|inside)\b|\bopen (?:between|among|within|inside|to itself)\b|\bpermit ip any any\b|(?<!\btcp )(?<!\budp )(?<!\bicmp )(?<!\bip )\bany[- ]any\b|\bself-referenc\w*|"
    r"\b(?:gesamte[rn]?|alle[rn]?|jeglicher) (?:verkehr|protokolle)\b|\btout (?:le )?trafic\b|\btous (?:les )?protocoles\b|\btodo el tráfico\b|\btodos los protocolos\b"
)
_OTHER_ALL = pattern(
    r"\b(?:drops?|den(?:y|ies)|blocks?|rejects?|no) (?:all|any|every) (?:traffic|protocols?)\b|\ball (?:traffic|protocols?) (?:is|are) (?:dropped|denied|blocked)\b"
)
_OUTBOUND = pattern(r"\b(?:out(?:bound|going)?|egress|ausgehend\w*|sortant\w*|saliente?s?|salida)\b")
_BOTH_WAYS = pattern(
    r"\bto (?:itself|the (?:same )?group)\b|\bboth (?:directions|ways)\b|\bin and out\b|\bto and from\b|\bfrom and to\b|\binbound and outbound\b|\bbeide richtungen\b|\bdeux sens\b|\bambos sentidos\b"
)
_INBOUND = pattern(r"\b(?:in(?:bound|coming)?|ingress|eingehend\w*|entrant\w*|entrada)\b")
_CLAUSES = pattern(
    r"[,;]|\. |\b(?:but|while|whereas|aber|mais|pero)\b|\b(?:and|und|et|y) (?=(?:out|in|egress|ingress|to|aus|ein|sort|entr|sal)\w*)"
)
_TO_WEB = pattern(r"\b(?:https?|443|80|dns|53|proxy|s3|internet)\b")
_ITSELF = pattern(
    r"\b(?:itself|self|same group|own group|each other|between the (?:nodes|instances)|among|sich selbst|elle-même|lui-même|sí mismo)\b"
)
_RDMA = pattern(
    r"\b(?:rdma|roce(?: ?v2)?|back[- ]?end|compute (?:fabric|network)|gpu (?:fabric|network)|scale-?out|leaf|leaves|fabric)\b"
)
_ROCE_PORT = pattern(r"\b4791\b|\budp (?:any|all)\b|\ball udp\b")
_BETWEEN = pattern(
    r"\b(?:between|among|from itself|within|node[- ]to[- ]node|host firewalls?|on (?:each|every|all|the) (?:nodes?|hosts?|servers?)|zwischen|entre)\b"
)
_EPHEMERAL = pattern(
    r"\bephemeral\b|\bhigh ports\b|\b(?:\d{4,5}) ?(?:-|–|:|to|bis|à|a) ?\d{4,5}\b|\ball tcp\b|\btcp (?:any|all)\b|\btcp 0 ?[-–] ?65535\b|\bestablished\b"
)
_RENDEZVOUS = pattern(r"\b(?:295\d\d|master[_ -]port|rendezvous|bootstrap|nccl|rccl|gloo|torchrun)\b")


def check(own_remarks: str, cluster: Cluster, layout: Layout | None) -> Iterator[Problem]:
    if not own_remarks or cluster.scale_out is None or cluster.nodes < 2:
        return
    text = planned_text(" ".join(own_remarks.split())).lower()
    if not any(cue in text for cue in _CUES):
        return
    family = cluster.scale_out.technology.family
    for rules in _firewall_texts(text):
        found = _efa_problem(rules) if family == "efa" else _roce_problem(rules) if family == "roce" else None
        if found is None and layout is not None:
            found = _rendezvous_problem(rules)
        if found is not None:
            yield RULE.problem("description", *found)
            return


def _firewall_texts(text: str) -> Iterator[str]:
    """Each list of firewall rules in a text, with the sentences that continue it.

    >>> [*_firewall_texts("the firewall admits tcp 22. udp 53 too, nothing else. the hall is cold. ")]
    ['the firewall admits tcp 22. udp 53 too, nothing else']
    """
    rules: list[str] = []
    for sentence in sentences_of(text):
        starts = _FILTER.search(sentence) is not None or (not rules and _is_list(sentence))
        if (starts or not _continues_list(sentence)) and rules:
            yield ". ".join(rules)
            rules = []
        if (starts and _OTHER_OWNER.search(sentence) is None) or (rules and not starts):
            rules.append(sentence)
    if rules:
        yield ". ".join(rules)


def _continues_list(sentence: str) -> bool:
    """Whether a sentence can be a part of a list of firewall rules."""
    return any(each.search(sentence) is not None for each in (_PORTS, _NOTHING_ELSE, _ALL_TRAFFIC, _OUTBOUND))


def _is_list(sentence: str) -> bool:
    """Whether a sentence is a list of firewall rules although it names no firewall."""
    refuses = _PORTS.search(sentence) is not None and _REFUSES.search(sentence) is not None
    inwards = (
        _INBOUND.search(sentence) is not None and _ALL_TRAFFIC.search(sentence) is not None and "group" in sentence
    )
    return (refuses and _ADMITS.search(sentence) is not None) or inwards


def _admits_all(rules: str) -> bool:
    """Whether a list of rules admits all traffic of some kind."""
    return _ALL_TRAFFIC.search(_OTHER_ALL.sub("", rules)) is not None


def _drops_all_other_traffic(rules: str) -> bool:
    """Whether a list of rules names ports and says that all other traffic is dropped."""
    return _PORTS.search(rules) is not None and _NOTHING_ELSE.search(rules) is not None


def _efa_problem(rules: str) -> tuple[str, str] | None:
    """The message and the remedy for a security group that does not admit all traffic to and from itself; else None."""
    why = "EFA sends with SRD, which is neither TCP nor UDP, and needs all traffic from the security group to itself"
    help_ = "add an inbound and an outbound rule for all protocols (-1) with the group itself as source and destination"
    if not _admits_all(rules):
        return (
            (f"according to the text, the firewall admits only some ports: {why}", help_)
            if _drops_all_other_traffic(rules)
            else None
        )
    if _BOTH_WAYS.search(rules) is not None:
        return None
    for clause in _CLAUSES.split(rules):
        narrow = _TO_WEB.search(clause) is not None and _ITSELF.search(clause) is None and not _admits_all(clause)
        if (
            _OUTBOUND.search(clause) is not None
            and _INBOUND.search(clause) is None
            and narrow
            and _names_only_traffic(clause, rules)
        ):
            return (
                f"according to the text, the group admits outbound only `{clause.strip()}`: {why} in both directions",
                help_,
            )
    return None


def _names_only_traffic(clause: str, rules: str) -> bool:
    """Whether a clause says that it names the only outbound traffic."""
    others = [each for each in _CLAUSES.split(rules) if each != clause and _OUTBOUND.search(each) is not None]
    return _NOTHING_ELSE.search(clause) is not None and not others


def _roce_problem(rules: str) -> tuple[str, str] | None:
    """The message and the remedy for rules of an RDMA network that do not admit the port of RoCE v2; else None."""
    if (
        _admits_all(rules)
        or not _drops_all_other_traffic(rules)
        or _RDMA.search(rules) is None
        or _ROCE_PORT.search(rules)
    ):
        return None
    message = "according to the text, a list of the RDMA network admits only some ports, but not UDP 4791, with which RoCE v2 sends"
    return message, "admit UDP 4791 between the NICs"


def _rendezvous_problem(rules: str) -> tuple[str, str] | None:
    """The message and the remedy for rules that admit only the rendezvous port between nodes and no ephemeral ports;
    else None.
    """
    if _admits_all(rules) or not _drops_all_other_traffic(rules) or _EPHEMERAL.search(rules) is not None:
        return None
    if _BETWEEN.search(rules) is None or _RENDEZVOUS.search(rules) is None:
        return None
    message = "according to the text, the nodes reach each other at single ports only, but collective libraries listen at ephemeral ones"
    return message, "admit all TCP ports between the nodes, or the range of `net.ipv4.ip_local_port_range`"

"""Thresholds of congestion or flow control in the text exclude each other.

## What it finds

In the description and the comments, on Ethernet:

- a lowest marking threshold of ECN (Kmin) that is not below the highest (Kmax): an error;
- a threshold of priority flow control (xoff) below Kmin, so that ports pause before ECN marks a packet: a warning;
- a threshold at which ports resume (xon) above the one at which they pause: an error;
- a headroom of a port below the bytes in flight on its cable, which are the link rate times the round trip over the
  length in the sentence: an error;
- an MTU of hosts above the MTU of the switches, or with VXLAN above that MTU less 50 bytes: an error.

## Why it matters

Where the thresholds lie too close to each other, the fabric drops packets, or pauses whole trees of links. RDMA then repeats whole
messages, and collectives lose most of their bandwidth.

## What to do

Keep Kmin below Kmax, Kmax below xoff, and xoff below the buffer. The headroom has to hold the bytes in flight during a
round trip on the cable and the response time of the sender, and two packets.

## When to ignore it

Ignore it where the figures belong to different queues or switches.

## Fires

```yaml description
clusterspec: 1
description: ECN on queue 3 has Kmin 2000 KB and Kmax 500 KB.
cluster: {platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}}
```

```yaml description
clusterspec: 1
description: ECN marks from Kmin 1 MB on, up to Kmax 2 MB, and xoff of PFC is 400 KB.
cluster: {platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}}
```

## Silent

```yaml
clusterspec: 1
description: ECN on queue 3 has Kmin 500 KB and Kmax 2000 KB, and xoff of PFC is 3 MB.
cluster: {platform: mi300x-ubb8, nodes: 16, scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s}}
```

## Sources

- Thresholds of ECN and PFC for RoCE, and their order: https://arxiv.org/abs/1505.00139
- Headroom by length and rate: https://www.ieee802.org/1/pages/802.1bb.html


"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import ScaleOut
from clusterspec.finding import Problem
from clusterspec.rules.readers.amounts import BYTES, amounts_in, amounts_of, is_of_plan
from clusterspec.rules.readers.written_numbers import NUMBER, number_in_text, sentences_of
from clusterspec.rules.rule import Rule
from clusterspec.standard import pattern
from clusterspec.units import display

RULE = Rule.of(__name__, "error", "likely")
PER_METER = 1.46 / 299_792_458
"""Propagation delay of one meter of fiber, in seconds."""
OVERLAY = 50
"""Bytes that VXLAN adds to a packet: outer Ethernet, IP and UDP headers and its own (RFC 7348)."""
_CUES = pattern(r"(?i)\bk[-_ ]?min\b|\becn|\bmark|wred|head-?room|\bmtu\b|x-?off|\bpfc\b|pause (?:threshold|frames)")
_BYTES = rf"{NUMBER} ?(k|m)?i?b(?:ytes?)?\b"
_LOW = pattern(
    r"(?i)\b(?:k[-_ ]?min|ecn[-_ ](?:min\w*|low\w*|threshold)|min(?:imum)?(?: (?:ecn|marking|wred))? threshold|lower (?:limit|threshold|bound)|wred min\w*"
    r"|(?:starts?|begins?)(?: only)? (?:to mark|marking)|(?:low(?:er)?|min(?:imum)?)(?=:? \d)|ramp starts|marked (?:\w+ ){0,3}from|rising probability from|marking(?: by ecn)? (?:starts|begins)|ecn (?:starts|begins)|(?:ecn )?marks?(?: packets)? from|beginnt|markiert ab|marque à partir|ecn)\b"
)
_HIGH = pattern(
    r"(?i)\b(?:k[-_ ]?max|ecn[-_ ](?:max\w*|high)|max(?:imum)?(?: (?:ecn|marking|wred))? threshold|upper (?:limit|threshold|bound)|wred max\w*"
    r"|mark\w* (?:every|all|each|alle\w*|tous)(?: packets?| paquets)?|(?:every|all|each) packets? (?:is|are)(?: marked)?|(?:high(?:er)?|max(?:imum)?)(?=:? \d)|(?:complete|certain) (?:at|from)|all of them|every one|reaches? (?:100 ?%|certainty)|100 ?%|vollständig|markiert ab [\d.,]{1,9} ?\w{1,4} alle|alle pakete|tous les paquets)\b"
)
_PAUSE = pattern(
    r"(?i)\b(?:x-?off|pfc|priority flow control|stops? (?:the )?senders?|pauses?|pause frames?|pause threshold|hält|suspend\w*)\b"
)
_RESUME = pattern(r"(?i)\b(?:x-?on|resum\w+|unpaus\w+)\b")
_OF_QUEUES = pattern(r"(?i)\b(?:pfc|x-?off|x-?on|pause frames?|queues?|buffers?|priority|ports?|switch(?:es)?|ecn)\b")
LARGEST = 100e6
"""Sizes up to this number of bytes are read as queue thresholds."""
_OTHER_BYTES = pattern(
    r"(?i)\b(?:head-?room|shared|buffer of|total buffer|packet buffer|mtu|offset|hysteresis|message|frame size|per port|burst)\b"
)
_HEADROOM = pattern(rf"\b(?:head-?room|xoff buffer)\b[^.;\d]{{0,30}}{_BYTES}|{_BYTES} (?:of )?(?:pfc )?head-?room\b")
_METERS = pattern(rf"{NUMBER} ?(km|m)\b(?!/)")
_RATE = pattern(rf"{NUMBER} ?(?:gb/s|gbps|gbit/s|gbe|g)\b")
_MTU_OF = pattern(
    r"\b(?P<who>hosts?|servers?|nics?|nodes?|adapters?|interfaces?|switch(?:es)?|leaf|leaves|spines?|fabric|routers?)\b[^.;,\d]{0,40}?\bmtu\b(?: ?(?:=|:|is|of|at)){0,2} ?(?P<mtu>\d{4,5})\b|"
    r"\bmtu\b(?: ?(?:=|:|is|of|at)){0,2} ?(?P<size>\d{4,5}) (?:on|at|for|in|auf|sur|en) (?:the |all |every )?(?P<whose>hosts?|servers?|nics?|nodes?|adapters?|interfaces?|switch(?:es)?|leaf|leaves|spines?|fabric|routers?)\b|"
    r"(?<![\w.,])(?P<bytes>\d{4,5}) (?:bytes )?(?:on|at) (?:the |all |every )?(?P<where>hosts?|servers?|nics?|nodes?|adapters?|switch(?:es)?|leaf|leaves|spines?|fabric|routers?)\b"
)
_SWITCHES = ("switch", "leaf", "leaves", "spine", "fabric", "router")
_OVERLAY = pattern(r"\b(?:vxlan|evpn|geneve|overlay)\b")
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6}


def check(own_remarks: str, scale_out: ScaleOut) -> Iterator[Problem]:
    if not own_remarks or scale_out.technology.family == "infiniband":
        return
    if _CUES.search(own_remarks) is None:
        return
    text = " ".join(own_remarks.lower().split())
    yield from _marking_problems(_without_brackets(own_remarks))
    for sentence in sentences_of(text):
        yield from _headroom_problem(sentence, scale_out)
        yield from _packet_problem(sentence)


def _without_brackets(text: str) -> str:
    return " ".join(text.replace("(", " ").replace(")", " ").split())


def _thresholds_in(text: str) -> dict[str, float]:
    """The bytes of each threshold for which the text states one value: `low` and `high` for ECN, `pause` and `resume`
    for PFC.

    >>> _thresholds_in("Kmin 1 MB, Kmax 2 MB; XOFF is sent at 700 KB, XON at 500 KB")
    {'low': 1000000.0, 'high': 2000000.0, 'pause': 700000.0, 'resume': 500000.0}
    """
    cues = {"low": _LOW, "high": _HIGH, "pause": _PAUSE, "resume": _RESUME}
    found: dict[str, set[float]] = {name: set() for name in cues}
    for sentence in sentences_of(text):
        sizes = [each for each in amounts_in(sentence) if each.kind == BYTES and each.value <= LARGEST]
        sizes = [each for each in sizes if is_of_plan(sentence, each)]
        of_queues = _OF_QUEUES.search(sentence) is not None
        for name, cue in cues.items() if of_queues else [*cues.items()][:3]:
            others = [each for other, each in cues.items() if other != name]
            found[name] |= {each.value for each in amounts_of(sentence, sizes, cue, _OTHER_BYTES, *others)}
    return {name: values.pop() for name, values in found.items() if len(values) == 1}


def _marking_problems(text: str) -> Iterator[Problem]:
    """Thresholds in the wrong order."""
    stated = _thresholds_in(text)
    low, high, pause, resume = (stated.get(name) for name in ("low", "high", "pause", "resume"))
    if low and high and low >= high:
        message = f"ECN marks from {display(low, 'B')} on, and marks all packets from {display(high, 'B')} on: the lower threshold is not below the upper one"
        yield RULE.problem("description", message, "swap or correct the two thresholds")
    elif low and pause and pause < low:
        message = f"ports pause at {display(pause, 'B')}, before ECN marks packets at {display(low, 'B')}: senders never slow down in time"
        yield RULE.problem("description", message, "mark before ports pause", severity="warning")
    if pause and resume and resume > pause:
        message = f"ports pause at {display(pause, 'B')}, and resume at {display(resume, 'B')}: the lower threshold is not below the upper one"
        yield RULE.problem("description", message, "resume below the threshold at which ports pause")


def _headroom_problem(sentence: str, fabric: ScaleOut) -> Iterator[Problem]:
    """A headroom below the bytes in flight on a cable."""
    found = [*_HEADROOM.finditer(sentence)]
    lengths = {number_in_text(number) * (1e3 if unit == "km" else 1.0) for number, unit in _METERS.findall(sentence)}
    rates = {number_in_text(each) * 1e9 / 8 for each in _RATE.findall(sentence)}
    if len(found) != 1 or len(lengths) != 1 or len(rates) > 1:
        return
    number, prefix = found[0][1] or found[0][3], found[0][2] if found[0][1] else found[0][4]
    headroom, length = number_in_text(number) * _SCALE[prefix or ""], lengths.pop()
    rate = rates.pop() if rates else fabric.nic_bandwidth.value
    flying = 2 * length * PER_METER * rate
    if 0 < headroom < flying:
        message = f"a headroom of {display(headroom, 'B')} holds less than the {display(flying, 'B')} in flight on {display(length, 'm')} at {display(rate * 8 / 1e9, '1')} Gb/s, there and back"
        yield RULE.problem("description", message, "plan more headroom, or a shorter or slower link")


def _packet_problem(sentence: str) -> Iterator[Problem]:
    """Packets of hosts that the switches do not carry."""
    sizes: dict[bool, set[int]] = {True: set(), False: set()}
    for match in _MTU_OF.finditer(sentence):
        who = match["who"] or match["whose"] or match["where"]
        sizes[who.startswith(_SWITCHES)].add(int(match["mtu"] or match["size"] or match["bytes"]))
    if "mtu" not in sentence or any(len(each) != 1 for each in sizes.values()):
        return
    (switch,), (host,) = sizes[True], sizes[False]
    added = OVERLAY if _OVERLAY.search(sentence) is not None else 0
    if host + added > switch:
        with_overlay = f", {host + added:,} with VXLAN" if added else ""
        message = f"hosts send packets of {host:,} bytes{with_overlay}, but switches carry {switch:,}: larger ones are dropped"
        yield RULE.problem("description", message, "give the switches the larger MTU, usually 9,216")

"""The quoted switches have no operating system, or a system that does not run on them.

## What it finds

A line of `procurement.quote` for a network operating system of one vendor (Cumulus Linux, NVOS, Onyx, EOS, Junos, NX-OS) and
switches of another vendor: those that the line names, else the switches of the fabric, where no other line offers switches
of the vendor. Switches without an operating system (`ONIE only`), where no line sells one, and the description names no system
of one's own.

## Why it matters

These systems drive the chips of their vendor alone: Cumulus Linux has run only on Spectrum since 2020. The licenses do not
install, and switches that come without a system forward nothing.

## What to do

Order the system of the switches' vendor, or SONiC where both support it.

## When to ignore it

Ignore it where the licenses are for switches that the quote does not name.

## Fires

```yaml procurement.quote[2].part
clusterspec: 1
cluster: {platform: mi355x-ubb8, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: "MI355X server", quantity: 16, unit_price: 288000}
    - {part: "Edgecore AIS800-64O, Tomahawk 5, 64x800G leaf switch, without NOS", quantity: 3, unit_price: 39500}
    - {part: "Cumulus Linux perpetual license for AIS800-64O", quantity: 3, unit_price: 8200}
```

```yaml procurement.quote[0].part
clusterspec: 1
cluster: {platform: hgx-h20, nodes: 32}
procurement:
  currency: CNY
  quote:
    - {part: "switch 64 x 800G OSFP, ONIE only", quantity: 6, unit_price: 245000}
    - {part: "AOC 800G to 2x 400G, 20 m", quantity: 128, unit_price: 6800}
```

## Silent

```yaml
clusterspec: 1
cluster: {platform: mi355x-ubb8, nodes: 16}
procurement:
  currency: USD
  as_of: 2026-11-01
  quote:
    - {part: "MI355X server", quantity: 16, unit_price: 288000}
    - {part: "SN5600 leaf switch", quantity: 3, unit_price: 52000}
    - {part: "Cumulus Linux perpetual license", quantity: 3, unit_price: 8200}
```

## Sources

- Switches of Cumulus Linux: https://docs.nvidia.com/networking-ethernet-software/hardware-compatibility-list/
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.finding import Problem
from clusterspec.procurement.part_names import plain_part
from clusterspec.rules.rule import Rule, quote_path
from clusterspec.rules.words import name_of_part
from clusterspec.spec.model import ProcurementSpec
from clusterspec.standard import pattern

RULE = Rule.of(__name__, "error", "likely")
_SYSTEMS = {
    "NVIDIA": pattern(r"\bcumulus\b|\bnvos\b|\bonyx\b"),
    "Arista": pattern(r"\barista eos\b|\beos (?:licen[cs]e|software)\b"),
    "Juniper": pattern(r"\bjunos\b"),
    "Cisco": pattern(r"\bnx-?os\b"),
}
"""Network operating systems that run only on the switches of their vendor."""
_SWITCHES = {
    "NVIDIA": pattern(r"\bm?sn\d{4}\w*|\bm?qm\d{4}\w*|\bspectrum|\bquantum"),
    "Arista": pattern(r"\barista\b|\bdcs-7\d{3}|\b7[0358]\d0\w*-"),
    "Juniper": pattern(r"\bjuniper\b|\bqfx\d{4}|\bptx\d{4}"),
    "Cisco": pattern(r"\bcisco\b|\bnexus\b|\bn9k\b|\bn9[23]\d{2}"),
    "Broadcom": pattern(
        r"\btomahawk|\btrident|\bjericho|\bedgecore\b|\bais800|\bas9\d{3}|\bcelestica\b|\bufispace\b|\bz9\d{3}\w*"
    ),
}
"""For each vendor, the pattern of words and order codes for its switches; `Broadcom` stands for vendors that use its
chips.
"""


_BARE = pattern(
    r"\bonie(?:[- ]only)?\b|\bbare[- ]?metal (?:switch\w*|box\w*)|\bswitch\w*\b[^;]{0,40}?\bbare[- ]?metal\b|\b(?:without|no|excl\w*|ohne|sans|sin|senza|zonder|utan|uten|uden|bez) (?:an? )?"
    r"(?:nos\b|network (?:operating system|os)\b|operating system|betriebssystem|système d'exploitation|sistema operativo)|裸机|裸機|不含(?:网络)?操作系统|不含(?:網路)?作業系統"
)
_ANY_SYSTEM = pattern(
    r"\b(?:sonic|cumulus|onyx|nvos|eos|junos|nx-?os|ocnos|pica8|dnos|nos|network (?:operating system|os)|operating system)\b(?! \(?onie)|操作系统|作業系統"
)
_OWN_SYSTEM = pattern(
    r"\b(?:community|open[- ]source|own|our|existing|in[- ]house|self-?built|free) (?:\w+ ){0,2}(?:sonic|nos|network (?:operating system|os))\b|\bsonic\b[^.;]{0,40}?\b(?:community|own|our team|in-?house|ourselves|exists|in place|no licen[cs]e)\b"
)


def check(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    if not procurement.quote:
        return
    texts = [(line.part or "").lower() for line in procurement.quote]
    yield from _bare_switches_problem(procurement, remarks.lower())
    offered = {vendor for text in texts for vendor in _vendors_of_switches(text)}
    for index, text in enumerate(texts):
        system = next((vendor for vendor, named in _SYSTEMS.items() if named.search(text) is not None), "")
        others = (_vendors_of_switches(text) or offered) - {system}
        if system and others and system not in (_vendors_of_switches(text) or offered):
            name, other = name_of_part(procurement.quote[index].part), sorted(others)[0]
            message = f"`{name}` runs only on switches from {system}, but the quoted ones are from {other}"
            help_ = "order the operating system of the switches, such as SONiC"
            yield RULE.problem(quote_path(index, "part"), message, help_)


def _bare_switches_problem(procurement: ProcurementSpec, remarks: str) -> Iterator[Problem]:
    """The problem of switches without an operating system, if no line sells one and the text names none."""
    texts = [plain_part(line) for line in procurement.quote or ()]
    bare = [index for index, text in enumerate(texts) if _BARE.search(text) is not None]
    sold = any(_ANY_SYSTEM.search(text) is not None for index, text in enumerate(texts) if index not in bare)
    if not bare or sold or _OWN_SYSTEM.search(remarks) is not None:
        return
    message = (
        f"`{name_of_part((procurement.quote or ())[bare[0]].part)}` has no operating system, and no line sells one"
    )
    help_ = "ask for licenses of the operating system, or say in the description which one is there"
    yield RULE.problem(quote_path(bare[0], "part"), message, help_)


def _vendors_of_switches(text: str) -> set[str]:
    """The vendors of the switches in a lowercase text.

    >>> sorted(_vendors_of_switches("edgecore ais800-64o, and sn3700")), _vendors_of_switches("server")
    (['Broadcom', 'NVIDIA'], set())
    """
    return {vendor for vendor, named in _SWITCHES.items() if named.search(text) is not None}

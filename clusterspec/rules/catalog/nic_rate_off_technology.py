"""The rate of a NIC is not a port rate of its technology, or exceeds that of the named NIC.

## What it finds

- A `nic_bandwidth` that the technology does not have, such as 800 Gb/s of NDR or 100 Gb/s of Slingshot 11.
- A `nic_bandwidth` above the rate of the named `nic`.
- So many `planes` that each link has less than the rate of one port.
- A named `nic` slower than the ports of its technology, such as a ConnectX-6 on NDR.
- A link faster than one port, where the ports of the NIC are slower with Ethernet than with InfiniBand; a note where
  `planes` is not stated and the ports together have the rate.

All but that note are errors. Technologies without fixed rates (`roce-v2`, `gcp-dcn`, `ethernet`) are not checked. Other
rules report a wrong unit, a wrong prefix, and lanes counted as NICs.

## Why it matters

"NDR800" in a quote may mean two NDR ports in one cage, both directions of one port, or XDR. Each is a different order
with a different bandwidth.

## What to do

Write the line rate of one NIC in one direction, and the number of NICs separately.

## When to ignore it

Ignore it for a rate that a vendor sells and the catalog does not have yet.

## Fires

```yaml cluster.scale_out.nic_bandwidth
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 800 Gb/s}
```

## Silent

```yaml
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 4
  scale_out: {technology: infiniband-ndr, nic_bandwidth: 800 Gb/s duplex}
```

## Sources

- "NDR800" in a published design: https://neocloud.kedios.io/full-network-topology-report/Kedios-B300-Full-Network-Topology-Report.html
- Port rates of ConnectX-7: https://docs.nvidia.com/networking/display/MLNXOFEDv571020/Release+Notes
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import ETHERNET
from clusterspec.cluster.model import ScaleOut
from clusterspec.cluster.scaleout import nic_rate
from clusterspec.finding import Problem
from clusterspec.rules.knowledge.deviations import Deviations
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import ScaleOutSpec
from clusterspec.units import display_bits
from clusterspec.units.display import agrees_within

RULE = Rule.of(__name__, "error")
SAME = 0.03
GENERATIONS = ("infiniband", "slingshot", "omni-path")
"""Families of technologies whose names state the lane generation."""


def check(deviations: Deviations, written_scale_out: ScaleOutSpec | None, scale_out: ScaleOut) -> Iterator[Problem]:
    named = written_scale_out is not None and (written_scale_out.nic or written_scale_out.planes)
    if not named and not deviations.found:
        return
    yield from _above_nic_problem(deviations, written_scale_out, scale_out)
    yield from _above_ethernet_port_problem(deviations, written_scale_out, scale_out)
    yield from _below_technology_problem(deviations, written_scale_out, scale_out)
    yield from _plane_rate_problem(deviations, written_scale_out, scale_out)
    ports = [port.value for port in scale_out.technology.port_rates]
    for deviation in deviations.found:
        if deviation.stated.kind != "nic" or deviation.causes:
            continue
        rate = deviation.stated.quantity.per_direction
        offered = or_list(display_bits(port) for port in ports)
        message = f"{scale_out.technology.name} has ports of {offered}, not {display_bits(rate)}{_doubled_ports_text(rate, ports)}"
        if not ports:
            message = deviation.comparison
        yield RULE.problem(
            deviation.stated.at, message, "write the line rate of one NIC per direction, and the NICs of a node"
        )


def _above_nic_problem(deviations: Deviations, written: ScaleOutSpec | None, scale_out: ScaleOut) -> Iterator[Problem]:
    """The problem with a stated rate above that of the stated NIC model."""
    own = nic_rate(scale_out.nic)
    if written is None or not written.nic or written.nic_bandwidth is None or own is None or scale_out.nic is None:
        return
    rate = written.nic_bandwidth.per_direction
    if rate > own.value * (1 + SAME) and not deviations.has_any_of("nic"):
        message = f"{scale_out.nic.id} carries {display_bits(own.value)} per direction, not {display_bits(rate)}"
        help_ = "leave `nic_bandwidth` out, or name the NIC that has this rate"
        yield RULE.problem("cluster.scale_out.nic_bandwidth", message, help_)


def _below_technology_problem(
    deviations: Deviations, written: ScaleOutSpec | None, scale_out: ScaleOut
) -> Iterator[Problem]:
    """The problem of a stated NIC model of an earlier generation than the technology, with slower lanes."""
    technology, own = scale_out.technology, nic_rate(scale_out.nic)
    if written is None or not written.nic or own is None or technology.family not in GENERATIONS:
        return
    fastest = max((port.value for port in technology.port_rates), default=0.0)
    stated_above = written.nic_bandwidth is not None and written.nic_bandwidth.per_direction > own.value * (1 + SAME)
    if own.value < fastest * (1 - SAME) and not stated_above and not deviations.has_any_of("nic"):
        message = f"{written.nic} carries at most {display_bits(own.value)}, but {technology.name} is {display_bits(fastest)} on a port: the link runs as an earlier generation"
        yield RULE.problem(
            "cluster.scale_out.nic", message, "name the NIC that has this rate, or the generation of the NIC"
        )


def _plane_rate_problem(deviations: Deviations, written: ScaleOutSpec | None, scale_out: ScaleOut) -> Iterator[Problem]:
    """The problem of network planes whose links would run at a rate that is not a port rate of the technology."""
    technology, ports = scale_out.technology, [port.value for port in scale_out.technology.port_rates]
    if written is None or (written.planes or 1) < 2 or not ports or technology.family not in GENERATIONS:
        return
    link = scale_out.nic_bandwidth.value / scale_out.planes
    if any(agrees_within(link, port, SAME) for port in ports) or deviations.has_any_of("nic"):
        return
    message = f"each of {scale_out.planes} planes gets {display_bits(link)} of a NIC, but {technology.name} has ports of {or_list(display_bits(port) for port in ports)}"
    yield RULE.problem("cluster.scale_out.planes", message, "use as many planes as the NIC has ports")


def _above_ethernet_port_problem(
    deviations: Deviations, written: ScaleOutSpec | None, scale_out: ScaleOut
) -> Iterator[Problem]:
    """The problem of a link that is faster than an Ethernet port of the NIC; some NICs have slower ports with Ethernet
    than with InfiniBand.
    """
    nic, own = scale_out.nic, scale_out.nic.ethernet_port_bandwidth if scale_out.nic else None
    if written is None or nic is None or own is None or scale_out.technology.family not in ETHERNET:
        return
    if written.planes is None and written.nic is None:
        return  # a platform alone does not say how its ports are cabled
    link = scale_out.nic_bandwidth.value / scale_out.planes
    if link > own.value * (1 + SAME) and not deviations.has_any_of("nic"):
        ports = nic.ethernet_ports or round(link / own.value)
        message = f"with Ethernet {nic.id} has {ports} ports of {display_bits(own.value)}, but a link would run at {display_bits(link)}"
        at = "cluster.scale_out.planes" if written.planes else "cluster.scale_out.nic_bandwidth"
        at = at if written.planes or written.nic_bandwidth else "cluster.scale_out.nic"
        unsaid = written.planes is None and link <= ports * own.value * (1 + SAME)
        help_ = f"plan `planes: {ports}`: each port goes to a switch of its own plane"
        yield RULE.problem(at, message, help_, severity="note" if unsaid else "")


def _doubled_ports_text(rate: float, ports: list[float]) -> str:
    for port in ports:
        if agrees_within(rate, 2 * port, SAME):
            return f"; {display_bits(rate)} is both directions of a {display_bits(port)} port, or two ports in one cage"
    return ""

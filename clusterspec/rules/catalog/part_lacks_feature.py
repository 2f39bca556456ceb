"""The spec uses a feature that a part does not have.

## What it finds

A key that relies on a feature, where the catalog entry of the part says that it lacks it (an error unless noted):

- `load_balancing: adaptive` or `spray` on a NIC that does not accept packets out of order (a warning for `adaptive`,
  which reorders fewer packets), or on a switch that does not choose ports by load
- `flow_control.trimming` on a NIC or switch that cannot trim packets
- `gpudirect_rdma: true` with an accelerator, cloud instance or NIC without it
- `subnet_manager: switch` on an unmanaged switch; any subnet manager on a technology without one, such as
  Ethernet, Slingshot and EFA
- `flow_control` by PFC or ECN on InfiniBand, which has credits on each link instead (a warning)
- `mtu` above the largest packet of the cloud instance, technology, NIC or switch, or above the 10,240 bytes that no
  Ethernet switch exceeds
- `collective_plugin` for another vendor's collective library; a plugin for another network on InfiniBand or RoCE, which
  the libraries support themselves; reduction in the switches (SHARP) with `none` or the library's own transport (a
  warning)

A feature that the entry does not mention is not checked.

## Why it matters

A switch without the feature ignores the setting or rejects the configuration. A NIC that requires order treats an
overtaken packet as lost, and requests that packet and all later ones again. GeForce cards have no GPUDirect RDMA: every
byte crosses host memory, at about half the bandwidth.

## What to do

Name a part that has the feature, or plan without it.

## When to ignore it

Ignore it where newer firmware adds the feature, and correct the entry in a company catalog.

## Fires

```yaml cluster.scale_out.load_balancing
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 200 Gb/s, switch: spectrum-3-sn4600, load_balancing: adaptive, flow_control: {pfc: true, ecn: true}}
```

```yaml cluster.scale_out.gpudirect_rdma
clusterspec: 1
cluster:
  accelerator: rtx-4090
  accelerators_per_node: 8
  nodes: 4
  scale_out: {technology: roce-v2, nics_per_node: 2, nic_bandwidth: 100 Gb/s, gpudirect_rdma: true}
```

```yaml cluster.scale_out.collective_plugin
clusterspec: 1
cluster:
  platform: dgx-h100
  nodes: 16
  scale_out: {technology: infiniband-ndr, collective_plugin: hccl}
```

## Silent

```yaml
clusterspec: 1
cluster:
  accelerator: h100-sxm-80gb
  accelerators_per_node: 8
  nodes: 16
  scale_out: {technology: roce-v2, nics_per_node: 8, nic_bandwidth: 400 Gb/s, nic: connectx-7, switch: spectrum-4-sn5600, load_balancing: adaptive}
```

## Sources

- Out-of-order placement, from ConnectX-5: https://docs.nvidia.com/networking/display/mlnxofedv23103211lts/out-of-order+(ooo)+data+placement
- Adaptive routing by switch: https://docs.nvidia.com/networking-ethernet-software/nvue-reference/Show-Commands/Adaptive-Routing/
- GPUDirect RDMA by card, 28 GB/s with it and 15 without: https://github.com/aikitoria/open-gpu-kernel-modules/issues/20
- The flow control of InfiniBand by credits: https://network.nvidia.com/pdf/whitepapers/IB_Intro_WP_190.pdf
- The largest packet of InfiniBand: https://docs.oracle.com/cd/E36256_01/html/E36258/z400007e1008931.html
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.entries import ETHERNET
from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.cluster.scaleout import parts_without_gpudirect
from clusterspec.finding import Problem
from clusterspec.rules.rule import Rule
from clusterspec.rules.words import or_list
from clusterspec.spec.model import FlowControlSpec, ScaleOutSpec

RULE = Rule.of(__name__, "error")
AT = "cluster.scale_out"
LARGEST_FRAME = 10_240
"""Bytes of the largest frame of current Ethernet switches; 9,216 is usual (jumbo MTU of Broadcom and NVIDIA)."""
BY_LOAD = ("adaptive", "spray")
FAMILIES = {
    "aws-ofi-nccl": ("efa", "slingshot", "omni-path"),
    "aws-ofi-rccl": ("efa", "slingshot", "omni-path"),
    "nccl-tcpx": ("tcp",),
    "nccl-fastrak": ("tcp",),
    "gib": ("roce",),
    "psm2": ("omni-path",),
    "opx": ("omni-path",),
}
"""The families of technologies that a plugin supports, for plugins that no entry of a technology names."""
OF_NCCL = frozenset({"aws-ofi-nccl", "aws-ofi-rccl", "nccl-tcpx", "nccl-fastrak", "gib", "nccl-rdma-sharp"})
LIBRARIES = {"hccl": "HCCL", "neuron": "the Neuron SDK"}
"""The libraries whose transport a value of `collective_plugin` names."""
VENDORS = {"NCCL and RCCL": ("NVIDIA", "AMD"), "HCCL": ("Intel", "Huawei"), "the Neuron SDK": ("AWS",)}
"""The vendors of the accelerators on which these libraries run. HCCL is the name of two of them."""
WITHOUT_PLUGIN = ("none", "built-in")
"""Values of `collective_plugin` with which the library uses its own transport."""
WITH_SUBNET_MANAGER = frozenset({"infiniband", "omni-path"})
"""Families whose switches forward by tables that a subnet manager computes."""
VERBS = frozenset({"infiniband", "roce"})
"""Families that the libraries of NVIDIA and AMD drive by themselves (verbs)."""


def check(written_scale_out: ScaleOutSpec, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    written, how = written_scale_out, scale_out.load_balancing
    used = (
        written.flow_control
        or written.mtu
        or written.subnet_manager
        or written.gpudirect_rdma
        or written.collective_plugin
    )
    if how is None and not used:
        return
    yield from _reordering_problems(scale_out)
    yield from _trimming_problems(written_scale_out.flow_control or FlowControlSpec(), scale_out)
    yield from _credit_problems(written_scale_out.flow_control or FlowControlSpec(), scale_out)
    yield from _gpudirect_problems(written_scale_out, cluster, scale_out)
    yield from _subnet_manager_problems(written_scale_out, scale_out)
    yield from _mtu_problems(written_scale_out, cluster, scale_out)
    foreign = _foreign_plugin_problem(written_scale_out.collective_plugin, cluster, scale_out)
    if foreign is not None:
        yield foreign
    else:
        yield from _plugin_problems(written_scale_out.collective_plugin, scale_out)


def _reordering_problems(scale_out: ScaleOut) -> Iterator[Problem]:
    at, how = f"{AT}.load_balancing", scale_out.load_balancing
    if how not in BY_LOAD:
        return
    switch, nic = scale_out.switch, scale_out.nic
    if switch is not None and switch.adaptive_routing is False:
        message = f"{switch.id} does not choose ports by load: `{how}` cannot be configured on it"
        yield RULE.problem(at, message, "use a switch with adaptive routing, or `ecmp` with many queue pairs")
    if nic is not None and nic.out_of_order is False:
        message = (
            f"`{how}` lets packets overtake each other, but {nic.id} does not place packets that arrive out of order: "
            "it treats them as lost"
        )
        severity = "error" if how == "spray" else "warning"
        yield RULE.problem(at, message, "use a NIC that places packets out of order, or `ecmp`", severity=severity)


def _trimming_problems(flow: FlowControlSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if flow.trimming and scale_out.technology.family == "infiniband":
        message = f"{scale_out.technology.name} sends by credits of each link and drops no packet under congestion, so it trims none"
        help_ = "remove the key, or name an Ethernet technology if that is bought"
        yield RULE.problem(f"{AT}.flow_control.trimming", message, help_)
        return
    for part in (scale_out.switch, scale_out.nic):
        if flow.trimming and part is not None and part.trimming is False:
            message = f"{part.id} does not support packet trimming: it drops packets under congestion"
            yield RULE.problem(f"{AT}.flow_control.trimming", message, "use a part that trims packets, or PFC and ECN")
            return


def _credit_problems(flow: FlowControlSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    if scale_out.technology.family == "infiniband" and (flow.pfc or flow.ecn):
        message = f"{scale_out.technology.name} sends by credits of each link: it has neither the priority flow control nor the ECN of Ethernet"
        help_ = "remove the key, or name an Ethernet technology if that is bought"
        yield RULE.problem(f"{AT}.flow_control", message, help_, severity="warning")


def _gpudirect_problems(written: ScaleOutSpec, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    lacking = parts_without_gpudirect(cluster.accelerator, cluster.platform, scale_out.nic)
    if written.gpudirect_rdma and lacking:
        message = f"{lacking[0]} has no GPUDirect RDMA: every byte between nodes crosses host memory"
        help_ = "write `gpudirect_rdma: false`, so that times count the copies, or use an accelerator for data centers"
        yield RULE.problem(f"{AT}.gpudirect_rdma", message, help_)


def _subnet_manager_problems(written: ScaleOutSpec, scale_out: ScaleOut) -> Iterator[Problem]:
    switch, technology = scale_out.switch, scale_out.technology
    if written.subnet_manager is not None and technology.family not in WITH_SUBNET_MANAGER:
        message = f"{technology.name} has no subnet manager: its switches route by themselves"
        yield RULE.problem(
            f"{AT}.subnet_manager", message, "remove the key, or write `technology: infiniband-ndr` if that is bought"
        )
    elif written.subnet_manager == "switch" and switch is not None and switch.managed is False:
        message = f"{switch.id} is externally managed: it has no processor that could run the subnet manager"
        yield RULE.problem(f"{AT}.subnet_manager", message, "run it on hosts (OpenSM, UFM), or use a managed switch")


def _mtu_problems(written: ScaleOutSpec, cluster: Cluster, scale_out: ScaleOut) -> Iterator[Problem]:
    for part in (cluster.platform, scale_out.technology, scale_out.nic, scale_out.switch):
        largest = part.mtu.value if part is not None and part.mtu is not None else None
        if part is not None and written.mtu is not None and largest is not None and written.mtu > largest:
            message = f"packets of {written.mtu:,} bytes exceed the {largest:,.0f} bytes of {part.id}"
            yield RULE.problem(f"{AT}.mtu", message, f"write at most {largest:.0f}")
            return
    if written.mtu is not None and written.mtu > LARGEST_FRAME and scale_out.technology.family in ETHERNET:
        message = (
            f"no Ethernet switch takes packets of {written.mtu:,} bytes: their limits are {LARGEST_FRAME:,} or less"
        )
        yield RULE.problem(f"{AT}.mtu", message, "write `mtu: 9000`")


def _foreign_plugin_problem(plugin: str | None, cluster: Cluster, scale_out: ScaleOut) -> Problem | None:
    """The problem with a collective plugin for other accelerators. Other rules report a missing plugin."""
    if scale_out.technology.proprietary:
        return None
    vendor = cluster.accelerator.vendor
    of = "NCCL and RCCL" if plugin in OF_NCCL else LIBRARIES.get(plugin or "", "")
    if not of or not vendor or vendor in VENDORS[of]:
        return None
    message = f"{plugin} belongs to {of}, which does not run on {cluster.accelerator.id}"
    return RULE.problem(f"{AT}.collective_plugin", message, "remove the key, or name the plugin of its own library")


def _plugin_problems(plugin: str | None, scale_out: ScaleOut) -> Iterator[Problem]:
    """The problems with a plugin for another network, and with reduction in switches without its plugin."""
    technology = scale_out.technology
    if plugin in WITHOUT_PLUGIN and scale_out.in_network_reduction and technology.family in VERBS:
        message = "in-network reduction is stated, but no plugin enables it: NCCL reduces in the fabric only with `nccl-rdma-sharp`"
        yield RULE.problem(
            f"{AT}.collective_plugin", message, "write `collective_plugin: nccl-rdma-sharp`", severity="warning"
        )
        return
    if plugin is None or plugin in technology.plugins or technology.family not in VERBS:
        return
    if technology.family not in FAMILIES.get(plugin, VERBS):
        message = f"{plugin} sends over {or_list(FAMILIES[plugin])}, but the fabric is {technology.name}"
        yield RULE.problem(
            f"{AT}.collective_plugin", message, "remove the key: the collective library has verbs of its own"
        )

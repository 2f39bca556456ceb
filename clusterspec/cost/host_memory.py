"""Memory bandwidth of hosts, which limits the optimizer update of offloaded states."""

from __future__ import annotations

from clusterspec.catalog.stacks import SHARDS_GRADIENTS
from clusterspec.cluster.model import Cluster, Layout, Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.step import HostUpdate
from clusterspec.cost.tables import USUAL_SLOT, Tables
from clusterspec.cost.timing import update_bytes
from clusterspec.quantity import Figure, precision_width
from clusterspec.source import Assumed, Computed

GROUP = "offload"
UPDATE_SHARE = assumed_figure(
    GROUP,
    "update.share",
    0.25,
    "share of the host memory bandwidth that Adam reaches on CPUs: 10e9 weights in 2.6 s on two processors with 256 "
    "GB/s take half of it (ZeRO-Offload, arXiv:2101.06840, table 4), and an update of 18e9 weights a node of"
    " A100 that took 10 s with DeepSpeed is a seventh (deepspeedai/DeepSpeed issue 6834)",
)
SOCKETS = {
    3: assumed_figure(
        GROUP,
        "memory.pcie3",
        256e9,
        "two processors with six channels of DDR4-2666 each, as in servers with PCIe 3",
        "B/s",
    ),
    4: assumed_figure(
        GROUP,
        "memory.pcie4",
        409.6e9,
        "two processors with eight channels of DDR4-3200 each, as in servers with PCIe 4",
        "B/s",
    ),
    5: assumed_figure(
        GROUP,
        "memory.pcie5",
        614.4e9,
        "two processors with eight channels of DDR5-4800 each, as in servers with PCIe 5",
        "B/s",
    ),
    6: assumed_figure(
        GROUP,
        "memory.pcie6",
        1228.8e9,
        "two processors with twelve channels of DDR5-6400 each, as in servers with PCIe 6",
        "B/s",
    ),
}
"""Bandwidth of the memory of one node, reads and writes together, by the generation of its slots."""
LPDDR_RATE = assumed_figure(
    GROUP,
    "memory.module",
    512 / 480,
    "bandwidth of LPDDR5X on a module over its size: 512 GB/s for 480 GB on a Grace processor",
    "1/s",
)


def host_update(tables: Tables, layout: Layout, workload: Workload) -> HostUpdate:
    """The optimizer update of offloaded states by a host's processors, whose memory bandwidth the ranks of the node
    share.

    Gradients that the framework keeps in host memory are copied during the backward pass of each micro-batch, and the
    update and the copy of the weights follow one another: DeepSpeed, deepspeed/runtime/zero/stage3.py,
    ``partition_grads`` and ``step``; stage_1_and_2.py has the overlap of the two disabled.
    """
    moved = tables.software.stack.memory_of(layout.sharding).offloads_gradients
    return HostUpdate(
        gradient_bytes=precision_width(workload.gradient_precision),
        update_bytes=update_bytes(workload, layout, fused=True),
        weight_bytes=precision_width(workload.parameter_precision),
        bandwidth=tables.host_bandwidth,
        memory=host_memory_figure(tables.cluster).value / tables.cluster.ranks_per_node,
        share=UPDATE_SHARE,
        copies_behind_backward=moved and layout.sharding in SHARDS_GRADIENTS,
    )


def host_memory_figure(cluster: Cluster) -> Figure:
    """B/s of the host memory of one node, reads and writes together: as stated, else by its module or its slots."""
    accelerator, each = cluster.accelerator, cluster.accelerators_per_node
    if cluster.host_memory_bandwidth is not None:
        return cluster.host_memory_bandwidth
    if accelerator.unified_memory and accelerator.memory_bandwidth is not None:
        return Figure(accelerator.memory_bandwidth.value * each, "B/s", Computed("memory of the accelerators"))
    if accelerator.processor_memory is not None:
        return _assumed_bandwidth(LPDDR_RATE.value * accelerator.processor_memory.value * each, LPDDR_RATE)
    found = SOCKETS[min(max(cluster.pcie_host or USUAL_SLOT, min(SOCKETS)), max(SOCKETS))]
    return _assumed_bandwidth(found.value, found)


def _assumed_bandwidth(value: float, figure: Figure) -> Figure:
    """An assumed host memory bandwidth in B/s, listed under the key `cluster.host.memory_bandwidth`."""
    assert isinstance(figure.origin, Assumed)
    return Figure(value, "B/s", Assumed("cluster.host.memory_bandwidth", figure.origin.why))

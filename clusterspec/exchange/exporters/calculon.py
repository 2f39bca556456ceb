"""Systems of Calculon (JSON): rates and memory of one accelerator, and up to two networks.

Grammar: calculon-ai/calculon caa4b11f, calculon/system.py, processor.py (``tflops`` of 10^12 FLOP/s), memory.py
(``GiB`` of 2^30 bytes, ``GBps`` of 10^9) and network.py (``bandwidth`` in 10^9 B/s of one processor, ``latency`` in s;
an operation sends scalar × (1 + offset / n) of its bytes). systems/h100_80g_nvl8.json gives NVLink 4 as 450 and a NIC
of 400 Gb/s as 50: a bandwidth is that of one direction.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.cost.compute.rates import streaming_share, sustained_product_share
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.cost.tables import USUAL_SLOT
from clusterspec.exchange.exporters.network_tiers import NetworkTiers, network_omissions, network_tiers
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, MissingPart, NotExportable

TYPES = {"float8": "fp8", "float16": "fp16", "bfloat16": "bf16"}
"""Data types of the target by precision. ``float32`` is left out, since its products may run as fp32 or as tf32."""
GIBI = 2**30
RING_OPERATIONS = {"reduce_scatter": [1.0, -1], "all_gather": [1.0, -1], "all_reduce": [2.0, -1]}
"""In a ring of n, each rank sends n - 1 of n pieces of a buffer; twice for an all-reduce."""


def write(source: ExportInput) -> ExportedFile:
    """The system. Raises `NotExportable` for a torus, and if a rate or a memory is unknown."""
    tiers = network_tiers(source)
    cluster = source.cluster
    if tiers.inside is not None and tiers.inside.topology == "torus":
        raise NotExportable("a torus: a network of the target has one bandwidth, whatever group uses it")
    matrix, vector = _processor_rates(cluster.accelerator)
    system = {
        "matrix": matrix,
        "vector": vector,
        "mem1": _device_memory(cluster.accelerator),
        "mem2": _host_memory(cluster),
        "processing_mode": "roofline",
        "networks": [*_near_network(tiers), *_far_network(tiers)],
    }
    return ExportedFile(json.dumps(system, indent=2) + "\n", tuple(_omission_texts(tiers)))


def _processor_rates(accelerator: Accelerator) -> tuple[dict[str, object], dict[str, object]]:
    """The matrix and vector rates by data type, with the achieved shares for every size."""
    types = {name: accelerator.peaks[each] for name, each in TYPES.items() if each in accelerator.peaks}
    if not types:
        raise NotExportable(f"no dense peak of {accelerator.name} in 8 or 16 bits is known")
    if (plain := accelerator.peaks.get("fp32")) is None:
        raise NotExportable(f"no fp32 rate of {accelerator.name} is known, which the target needs for vectors")
    shares = {name: sustained_product_share(accelerator, TYPES[name]) for name in types}
    matrix: dict[str, object] = {name: _rate_entry(peak.value, shares[name]) for name, peak in types.items()}
    return matrix, {name: _rate_entry(plain.value, 1.0) for name in types}


def _rate_entry(flops: float, share: float) -> dict[str, object]:
    return {"tflops": round(flops / 1e12, 6), "gflops_efficiency": [[0, round(share, 6)]]}


def _device_memory(accelerator: Accelerator) -> dict[str, object]:
    if accelerator.memory is None or accelerator.memory_bandwidth is None:
        raise MissingPart(f"the memory of {accelerator.name} is not known")
    return _memory_entry(accelerator.memory.value, accelerator.memory_bandwidth.value, streaming_share(accelerator))


def _host_memory(cluster: Cluster) -> dict[str, object]:
    """The host memory of one accelerator. If it is not stated, 0 GiB, which means to the target that there is no second
    memory.
    """
    link = cluster.accelerator.host_link
    rate = link.value if link else slot_rate(cluster.pcie_host or USUAL_SLOT)
    held = cluster.host_memory.value / cluster.accelerators_per_node if cluster.host_memory else 0.0
    return _memory_entry(held, rate, 1.0)


def _memory_entry(size: float, rate: float, share: float) -> dict[str, object]:
    return {"GiB": round(size / GIBI, 6), "GBps": round(rate / 1e9, 6), "MB_efficiency": [[0, round(share, 6)]]}


def _near_network(tiers: NetworkTiers) -> Iterator[dict[str, object]]:
    """The network inside a domain. In a mesh, a pair uses only some of an accelerator's links."""
    if tiers.inside is None:
        return
    inside = tiers.inside
    operations: dict[str, list[float | None]] = {"p2p": [round(inside.line.value / inside.peer.value, 6), None]}
    operations |= {name: list(each) for name, each in RING_OPERATIONS.items()}
    if inside.reduction is not None:
        operations["all_reduce"] = [round(inside.ring.value / inside.reduction.value, 6), 1]
    latency = tiers.near_start + tiers.near_hop
    yield _network_entry(inside.line.value, inside.ring.value, tiers.near, latency, operations) | {
        "must_be_filled": True
    }


def _far_network(tiers: NetworkTiers) -> Iterator[dict[str, object]]:
    """The fabric, at the line rate of the NICs of one accelerator."""
    if tiers.between is None:
        return
    operations: dict[str, list[float | None]] = {"p2p": [1.0, None]}
    operations |= {name: list(each) for name, each in RING_OPERATIONS.items()}
    latency = tiers.far_start + tiers.far_hop
    yield _network_entry(
        tiers.nic_bandwidth_per_accelerator, tiers.between.share.value, tiers.cluster.accelerators, latency, operations
    )


def _network_entry(
    rate: float, share: float, size: int, latency: float, operations: dict[str, list[float | None]]
) -> dict[str, object]:
    return {
        "bandwidth": round(rate / 1e9, 6),
        "efficiency": round(share, 6),
        "size": size,
        "latency": round(latency, 12),
        "ops": operations,
        "must_be_filled": False,
        "processor_usage": 0.0,
    }


def _omission_texts(tiers: NetworkTiers) -> Iterator[str]:
    cluster = tiers.cluster
    yield "shares by size: one achieved share for every size of a product, a transfer and a message"
    yield "vector rates by precision: the fp32 rate for each, without a loss"
    yield "rates of float32, which run as fp32 or tf32"
    yield "the latency of further steps of a collective: each counts as one message"
    yield "the part of an accelerator that communication occupies: not known, 0 is written"
    if cluster.host_memory is None:
        yield "host memory: cluster.host_memory is not stated, so that the system has no second memory"
    if cluster.accelerator.host_link is None:
        assumed = "" if cluster.pcie_host else ", which is assumed"
        yield f"the host link: PCIe {cluster.pcie_host or USUAL_SLOT} x16 at its rate after coding{assumed}"
    if tiers.inside is not None and tiers.inside.reduction is not None:
        yield f"rings of small groups: every group has the all-reduce of the switches of {tiers.near_name}"
    if cluster.accelerator_cap is not None:
        yield "the power cap of the accelerators"
    yield from network_omissions(tiers)

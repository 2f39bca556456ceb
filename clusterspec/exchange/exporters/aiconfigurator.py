"""Systems of aiconfigurator (YAML): rates and memory of one accelerator, and bandwidths inside and between nodes.

Grammar: ai-dynamo/aiconfigurator 095f58a5, aic-core/rust/aiconfigurator-core/src/common/system_spec.rs and
aic-core/src/aiconfigurator_core/sdk/system_spec.py. Rates are dense FLOP/s, memory is bytes, bandwidths are B/s of one
accelerator in one direction: ``intra_node_bw`` inside a node, ``inter_node_bw`` between nodes of one rack where
``num_gpus_per_rack`` is given, ``inter_rack_bw`` beyond it (get_p2p_bandwidth). A rate that is absent refuses the
precision (common.get_quant_tc_flops); ``nccl_mem`` is read at 1 to 8 ranks (backends/base_backend.py, tp_clamped);
``p2p_latency`` is added to a message at ``inter_node_bw`` (operators/communication.rs, _query_p2p_table).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.cost.compute.rates import streaming_share
from clusterspec.cost.formulas.collectives import slot_rate
from clusterspec.cost.memory import COMMUNICATOR
from clusterspec.cost.tables import USUAL_SLOT
from clusterspec.exchange.exporters.network_tiers import NetworkTiers, network_omissions, network_tiers
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, MissingPart, NotExportable

RATES = {"bfloat16_tc_flops": "bf16", "int8_tc_flops": "int8", "fp8_tc_flops": "fp8", "fp4_tc_flops": "fp4"}
"""Keys of dense rates by precision."""
GROUPS = (1, 2, 4, 8)
"""Sizes of tensor-parallel groups for which the target reads the memory of the collective library."""
COMMUNICATORS = 2
"""Number of communicators of a rank of a tensor-parallel engine: one for its group and one for all ranks."""
HEAD = """\
# System of {name} for aiconfigurator, as {name}.yaml in a folder of --systems-paths "default,FOLDER"
# It has no measured kernels: plan with --database-mode SOL and a --backend-version; other modes need measured data.
# Rates are dense FLOP/s, bandwidths B/s of one accelerator in one direction, times s, memory bytes.
"""


def write(source: ExportInput) -> ExportedFile:
    """The system. Raises `NotExportable` for a torus, and if a rate, a memory or a bandwidth is unknown."""
    tiers = network_tiers(source)
    if tiers.inside is None:
        raise NotExportable("nodes of one accelerator: the target needs a bandwidth inside a node")
    if tiers.inside.topology == "torus":
        raise NotExportable("a torus: the target has one bandwidth inside a node, whatever group uses it")
    sections = {
        "gpu": _accelerator_section(tiers.cluster.accelerator),
        "node": _node_section(tiers, tiers.inside.line.value),
        "misc": _memory_section(source),
    }
    lines = [f"data_dir: data/{source.name}"]
    for name, section in sections.items():
        lines += [f"{name}:", *(f"  {key}: {value}" for key, value in section)]
    return ExportedFile(HEAD.format(name=source.name) + "\n".join(lines) + "\n", tuple(_omission_texts(source, tiers)))


Section = list[tuple[str, str]]
"""Keys with their values as YAML."""


def _accelerator_section(accelerator: Accelerator) -> Section:
    if accelerator.memory is None or accelerator.memory_bandwidth is None:
        raise MissingPart(f"the memory of {accelerator.name} is not known")
    if "bf16" not in accelerator.peaks:
        raise NotExportable(f"no dense bf16 peak of {accelerator.name} is known, which the target needs")
    rates = [(key, accelerator.peaks[each].value) for key, each in RATES.items() if each in accelerator.peaks]
    return [
        ("mem_bw", _whole_number(accelerator.memory_bandwidth.value)),
        ("mem_bw_empirical_scaling_factor", f"{streaming_share(accelerator):.6g}"),
        ("mem_empirical_constant_latency", "0.0"),
        ("mem_capacity", _whole_number(accelerator.memory.value)),
        *((key, _whole_number(value)) for key, value in rates),
        *([("power", _whole_number(accelerator.power.value))] if accelerator.power else []),
        *([("sm_version", number)] if (number := _compute_capability(accelerator)) else []),
    ]


def _compute_capability(accelerator: Accelerator) -> str:
    """The compute capability of an NVIDIA architecture without the point, such as 90 for sm_90; empty for other
    architectures.
    """
    found = re.fullmatch(r"sm_(\d+)[a-z]?", accelerator.architecture)
    return found[1] if found else ""


def _node_section(tiers: NetworkTiers, inside: float) -> Section:
    cluster = tiers.cluster
    if not tiers.nic_bandwidth_per_accelerator:
        raise MissingPart("the NICs of the nodes are not known; the target needs a bandwidth between nodes")
    between = [("inter_node_bw", _whole_number(tiers.nic_bandwidth_per_accelerator))]
    if tiers.near > cluster.accelerators_per_node:
        between = [
            ("num_gpus_per_rack", str(tiers.near)),
            ("inter_node_bw", _whole_number(inside)),
            ("inter_rack_bw", _whole_number(tiers.nic_bandwidth_per_accelerator)),
        ]
    return [
        ("num_gpus_per_node", str(cluster.accelerators_per_node)),
        ("intra_node_bw", _whole_number(inside)),
        *between,
        ("pcie_bw", _whole_number(_host_rate(cluster))),
        ("p2p_latency", f"{_message_latency(tiers):.9f}"),
    ]


def _message_latency(tiers: NetworkTiers) -> float:
    """Seconds of a small message between nodes: over the fabric, or inside a domain of several nodes."""
    if tiers.between is None or tiers.near > tiers.cluster.accelerators_per_node:
        return tiers.near_start + tiers.near_hop
    return tiers.far_start + tiers.far_hop


def _host_rate(cluster: Cluster) -> float:
    link = cluster.accelerator.host_link
    return link.value if link else slot_rate(cluster.pcie_host or USUAL_SLOT)


def _memory_section(source: ExportInput) -> Section:
    """Memory other than weights, cache and activations: communicators by group size, and the context of a process."""
    held = COMMUNICATORS * COMMUNICATOR.value
    groups = ", ".join(f"{ranks}: {_whole_number(held if ranks > 1 else 0.0)}" for ranks in GROUPS)
    return [("nccl_mem", f"{{{groups}}}"), ("other_mem", _whole_number(_context_bytes(source)))]


def _context_bytes(source: ExportInput) -> float:
    """Bytes of the context of a process with the software of the layout; 0 if the design names no software."""
    layout = source.design.layout
    spread = layout.stack.memory_of(layout.sharding).context if layout and layout.stack else None
    return spread.value if spread else 0.0


def _whole_number(value: float) -> str:
    return str(round(value))


def _omission_texts(source: ExportInput, tiers: NetworkTiers) -> Iterator[str]:
    cluster = tiers.cluster
    accelerator = cluster.accelerator
    yield "measured kernels and collectives: the target computes only from rates"
    yield "the constant latency of kernels that read and write memory: 0 is written"
    if absent := [each for each in RATES.values() if each not in accelerator.peaks]:
        yield f"rates of {', '.join(absent)}: no dense peak is known, so that the target refuses these precisions"
    if not _compute_capability(accelerator):
        named = accelerator.architecture or "not known"
        yield f"sm_version: the architecture of {accelerator.name} ({named}) has no compute capability of NVIDIA"
    if not _context_bytes(source):
        yield "other_mem: 0 is written, since the layout names no software with its release"
    yield "latencies of tiers: p2p_latency is the latency of one message between two nodes"
    if tiers.inside is not None and tiers.inside.peer.value < tiers.inside.line.value:
        yield "the bandwidth of a pair, which is a part of the bandwidth of an accelerator to all its peers"
    if accelerator.host_link is None and not cluster.pcie_host:
        yield f"the host link: PCIe {USUAL_SLOT} x16 at its rate after coding, which is assumed"
    if cluster.accelerator_cap is not None:
        yield "the power cap of the accelerators"
    yield from network_omissions(tiers)

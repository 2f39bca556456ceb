"""Environment variables of NCCL, RCCL and their plugins for a design, with a reason for each.

Sources: NCCL user guide, environment variables (https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/env.html);
aws-ofi-nccl README; Google Cloud, GPUDirect-TCPX, TCPXO and gIB (https://cloud.google.com/ai-hypercomputer/docs).
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster, ScaleOut
from clusterspec.exchange.exporters.export_input import ExportedFile, ExportInput
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """An environment variable with its reason."""

    name: str
    value: str
    reason: str


def variables(cluster: Cluster) -> tuple[Variable, ...]:
    """The variables implied by the design, debug output first."""
    return tuple(_variables(cluster))


def _variables(cluster: Cluster) -> Iterator[Variable]:
    yield Variable("NCCL_DEBUG", "INFO", "prints transports and plugins, which `clusterspec diagnose` reads")
    yield Variable("NCCL_DEBUG_SUBSYS", "INIT,NET,GRAPH", "limits the output to what `clusterspec diagnose` needs")
    if not cluster.scale_up.in_network_reduction and _switched_nvlink(cluster):
        yield Variable("NCCL_NVLS_ENABLE", "0", "the spec states no reduction in the switches of the domain")
    if cluster.scale_out is not None and cluster.nodes > 1:
        yield from _fabric(cluster.scale_out)


def _switched_nvlink(cluster: Cluster) -> bool:
    entry = cluster.scale_up.interconnect
    return bool(
        entry and entry.family == "nvlink" and entry.in_network_reduction and cluster.scale_up.topology == "switched"
    )


def _fabric(fabric: ScaleOut) -> Iterator[Variable]:
    family = fabric.technology.family
    if fabric.in_network_reduction and family == "infiniband":
        yield Variable("NCCL_COLLNET_ENABLE", "1", "the spec states reduction in the switches of the fabric (SHARP)")
    if family == "infiniband":
        yield from _infiniband(fabric)
    elif family == "roce":
        yield from _roce(fabric)
    elif family == "efa":
        yield Variable("FI_PROVIDER", "efa", "libfabric must choose EFA for aws-ofi-nccl, never TCP")
        yield Variable("NCCL_NET", "AWS Libfabric", "fails at start if the plugin is missing, instead of using sockets")
    elif plugin := _PLUGINS.get(fabric.collective_plugin or ""):
        yield Variable("NCCL_NET", plugin, f"fails at start if {fabric.collective_plugin} is missing")
    if fabric.topology in {"rail-optimized", "rail-only"}:
        yield Variable("NCCL_CROSS_NIC", "0", f"a {fabric.topology} fabric: every ring stays on its rail")
    if not fabric.gpudirect_rdma and fabric.technology.rdma:
        yield Variable("NCCL_NET_GDR_LEVEL", "LOC", "the spec states no GPUDirect RDMA")


_PLUGINS = {"nccl-fastrak": "FasTrak", "nccl-tcpx": "GPUDirectTCPX_v7", "gib": "gIB"}


def _infiniband(fabric: ScaleOut) -> Iterator[Variable]:
    yield Variable("NCCL_NET", "IB", "fails at start if no InfiniBand device is found, instead of using sockets")
    if fabric.load_balancing == "adaptive":
        yield Variable("NCCL_IB_ADAPTIVE_ROUTING", "1", "the spec states adaptive routing")


def _roce(fabric: ScaleOut) -> Iterator[Variable]:
    yield Variable("NCCL_NET", "IB", "RoCE uses the verbs transport; fails at start if it is missing")
    if fabric.load_balancing == "ecmp":
        yield Variable(
            "NCCL_IB_QPS_PER_CONNECTION", "4", "ECMP hashes by queue pair: four queue pairs use more paths than one"
        )
        yield Variable("NCCL_IB_SPLIT_DATA_ON_QPS", "1", "splits every message over all four")
    if fabric.load_balancing == "adaptive":
        yield Variable("NCCL_IB_ADAPTIVE_ROUTING", "1", "the spec states adaptive routing")


def not_known(cluster: Cluster) -> tuple[str, ...]:
    """Variables that depend on device names, which a spec does not have."""
    fabric = cluster.scale_out
    if fabric is None or cluster.nodes == 1:
        return ()
    omitted = ["NCCL_SOCKET_IFNAME: the frontend interface (`ip -br link`)"]
    if fabric.technology.family in {"infiniband", "roce"}:
        omitted.append(f"NCCL_IB_HCA: the names of the {fabric.nics_per_node} NICs of the fabric (`ibv_devinfo -l`)")
    if fabric.technology.family == "roce":
        omitted.append("NCCL_IB_GID_INDEX: the RoCE v2 GID (`show_gids`)")
        if fabric.pfc:
            omitted.append("NCCL_IB_TC: the traffic class of the lossless priority (switch configuration)")
    return tuple(omitted)


def write(source: ExportInput) -> ExportedFile:
    """A shell script that exports the variables."""
    cluster = source.cluster
    lines = [f"# Environment of the collective library for {source.name}. Source this file before the launch."]
    for each in variables(cluster):
        lines += [f"# {each.reason}", f"export {each.name}={_quoted(each.value)}"]
    omitted = not_known(cluster)
    lines += [f"# not set, the spec does not state it: {each}" for each in omitted]
    return ExportedFile("\n".join(lines) + "\n", omitted)


def _quoted(value: str) -> str:
    return f'"{value}"' if " " in value else value

"""Causes of runs over TCP sockets where the machine has RDMA: settings, the provider of libfabric, a missing plugin."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.fault_models import FAULT_MODELS, fault_fits
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG
from clusterspec.results.diagnosis import Cause

TCP_PROVIDERS = frozenset({"tcp", "tcp;ofi_rxm", "sockets", "udp"})
"""Providers of libfabric without RDMA."""
_STEP = next(fault.next for fault in FAULT_MODELS if fault.name == "socket-fall-back")


def socket_causes(run: PlacedRun) -> Iterator[Cause]:
    """A library that uses sockets, as shown by its own log lines, the libfabric provider or a setting."""
    fabric = run.cluster.scale_out
    if not run.uses_network and _may_span_nodes(run):
        for text, line in run.log_lines("socket")[:1]:
            evidence = f"line {line} of the log: {text}; it lists no hosts, and its ranks may be on several"
            yield Cause("socket-fall-back", evidence, _STEP, GIVEN)
    if not run.uses_network or fabric is None or fabric.technology.family == "tcp" or run.log_lines("no-network"):
        return
    rdma = run.log_lines("gdr", "hcas", "ofi")
    for text, line in run.log_lines("ofi"):
        if text.split()[0].lower() in TCP_PROVIDERS and fabric.technology.rdma:
            evidence = f"line {line} of the log: libfabric chose {text}"
            following = "fi_info -p efa in the container; pass /dev/infiniband to it; set FI_PROVIDER=efa"
            yield Cause("socket-fall-back", evidence, following, STATED)
    for text, line in run.log_lines("socket", "no-ib")[:1]:
        if not rdma:
            yield Cause("socket-fall-back", f"line {line} of the log: {text}", _STEP, STATED)
    if not run.log_lines("socket", "gdr", "hcas", "ofi", "channels"):
        for text, line in run.log_lines("tcp-transports")[:1]:
            evidence = f"line {line} of the log: {text}, no transport of RDMA"
            yield Cause("socket-fall-back", evidence, "add rc to UCX_TLS, or unset it; run ucx_info -d", STRONG)
    for text, line in run.log_lines("environment"):
        if text.startswith("NCCL_IB_DISABLE 1") or text == "NCCL_NET Socket":
            evidence = f"line {line} of the log: {text.replace(' ', '=', 1)}"
            yield Cause("socket-fall-back", evidence, "unset NCCL_IB_DISABLE NCCL_NET, and run again", STATED)


def _may_span_nodes(run: PlacedRun) -> bool:
    """Whether a run that counts as a single-node run may span several nodes: its log names no hosts, and the library
    used sockets although the machine has RDMA.
    """
    fabric = run.cluster.scale_out
    unlisted = run.series.nodes is None and run.series.hosts <= 1 and run.group.ranks > 1
    return unlisted and fabric is not None and fabric.technology.rdma and not run.log_lines("gdr", "hcas", "ofi")


def plugin_causes(run: PlacedRun) -> Iterator[Cause]:
    """A plugin that the network needs and that no line shows to be loaded."""
    fabric = run.cluster.scale_out
    if not run.uses_network or fabric is None or not fabric.technology.plugins:
        return
    wanted = " or ".join(fabric.technology.plugins)
    needed = fabric.technology.proprietary
    for text, line in run.log_lines("no-plugin")[:1]:
        if needed and not run.log_lines("ofi", "provider"):
            following = f"ldconfig -p | grep libnccl-net; install {wanted} and set LD_LIBRARY_PATH"
            yield Cause("plugin-missing", f"line {line} of the log: {text}", following, STATED)
    for text, line in run.log_lines("socket")[:1]:
        if needed and not run.log_lines("ofi", "gdr", "provider"):
            following = f"ldconfig -p | grep libnccl-net; install {wanted} and set LD_LIBRARY_PATH"
            evidence = f"line {line} of the log: {text}, although {fabric.technology.id} needs {wanted}"
            yield Cause("plugin-missing", evidence, following, STATED)
    if (
        needed
        and any(fit.fault.name == "socket-fall-back" for fit in fault_fits(run))
        and not run.log_lines("ofi", "gdr", "provider")
    ):
        following = f"NCCL_DEBUG=INFO … 2>&1 | grep NET/Plugin; install {wanted}"
        evidence = f"{fabric.technology.id} needs {wanted}; the measured bandwidth is that of TCP sockets"
        yield Cause("plugin-missing", evidence, following, STRONG)

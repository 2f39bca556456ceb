"""Causes that people name for the behavior of a run, in sentences of the text with its log."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.fault_models import FAULT_MODELS
from clusterspec.analysis.diagnosis.open_causes import BETWEEN_NODES
from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STEP_OF, STRONG, WEAK
from clusterspec.logs.reports.stated_reasons import GUESSED, REASON, SEEN, SURE
from clusterspec.results.diagnosis import Cause

WEIGHTS = {SURE: STRONG, SEEN: GIVEN, GUESSED: WEAK}
"""The weight of a reason that is given as sure, of a fact that was seen, and of a guess."""
NOT_ON_ONE_NODE = BETWEEN_NODES - {"wrong-interface"}
"""Causes between nodes, other than the interface, by which ranks of one node meet, too."""
_OF_SENTENCES = {
    "acs": "check sudo lspci -vvv | grep -i ACSCtl, and turn ACS off in the firmware or with setpci",
    "iommu-translation": "add iommu=pt to the kernel command line, or turn the IOMMU off in the firmware",
    "unreachable-peer": "run show_gids, ip -br addr, and ib_write_bw between those NICs; open the ports of all ranks",
    "wrong-interface": "run ip -br addr; set NCCL_SOCKET_IFNAME and GLOO_SOCKET_IFNAME to one network on all nodes",
    "name-resolution": "run getent hosts on every node's name on every node, or use addresses instead of names",
    "release-fault": (
        "search the release notes of the collective library, and install a release without that fault on all nodes"
    ),
    "shared-paths": (
        "compare the port counters of each leaf switch under load: some full, others idle; enable adaptive routing,"
        " or set NCCL_IB_QPS_PER_CONNECTION=4 and use more entropy in UDP source ports"
    ),
    "concurrent-communicators": "NCCL_LAUNCH_ORDER_IMPLICIT=1 for every rank, once (NCCL 2.26 or later), or "
    "CUDA_DEVICE_MAX_CONNECTIONS=1; py-spy dump of every rank: groups whose calls are in different order",
    "no-direct-links": (
        "run nvidia-smi nvlink -s or rocm-smi --showtopotype: without links, these are PCIe boards, or the host or "
        "its hypervisor has not set the links up; state the machine's own links in scale_up"
    ),
    "clock-skew": "run chronyc tracking on every host",
    "plugin-missing": (
        "run ldconfig -p | grep libnccl-net on every node; check NCCL_NET_PLUGIN and LD_LIBRARY_PATH of every rank"
    ),
    "nic-distance": (
        "run nvidia-smi topo -m; use the NIC below the PCIe switch, or on the socket, of each accelerator"
    ),
    "core-binding": (
        "use mpirun --bind-to none or numa; taskset -pc of a rank must show cores on the socket of its accelerator"
    ),
    "wrong-topology": "set NCCL_TOPO_DUMP_FILE=system.xml, and compare the file with lspci -tv of the host",
    "packet-loss": (
        "run ethtool -S IFACE | grep -E 'discard|out_of_sequence|pause' on both ends; enable PFC and ECN on the path"
    ),
    "bonded-ports": "give the library the single ports instead of the bond, or set NCCL_IB_QPS_PER_CONNECTION=4",
    "few-channels": "unset NCCL_MAX_NCHANNELS; set NCCL_MIN_NCHANNELS to twice the number of NICs",
    "numa-balancing": "run sysctl kernel.numa_balancing=0 on every host",
    "numa-per-socket": "set NPS4 in the firmware of AMD hosts",
    "unstable-link": "run ibqueryerrors or mlxlink -d DEVICE -c; reseat or replace that cable",
    "container-permission": (
        "use docker run --cap-add=SYS_PTRACE --cap-add=SYS_NICE, or the securityContext of the pod"
    ),
    "unshared-files": "run df on that directory on every node; use one shared file system, or a copy on each node",
    "host-fault": "run ras-mc-ctl --errors and ipmitool sel list; compare the firmware release on all hosts",
    "unequal-accelerators": "run nvidia-smi -L on every node; use accelerators of one kind, or divide work by speed",
    "few-nics": (
        "check that NCCL_DEBUG=INFO … 2>&1 | grep 'NET/IB : Using' lists all NICs of a node; unset NCCL_IB_HCA"
    ),
    "power-supply": (
        "run once with nvidia-smi -pl at half the limit; look for supplies in ipmitool sel list; add their rated power"
    ),
    "periodic-pauses": (
        "compare the pauses with the intervals of checkpoints, evaluation and logging; save checkpoints asynchronously,"
        " and collect garbage at the same step on all ranks (gc.disable, then gc.collect)"
    ),
    "gpudirect-off": "run lsmod | grep nvidia_peermem on every host",
    "kernel-compilation": (
        "look for nvcc, ptxas or ninja in ps of every host, and for TORCH_LOGS=recompiles; if none runs, end all ranks"
        " and remove the cache of kernels (~/.cache/flashinfer, ~/.triton, ~/.cache/torch_extensions)"
    ),
    "vocabulary-mismatch": (
        "compare len(tokenizer) with the rows of the embedding, and the longest sequence with its positions; call"
        " resize_token_embeddings, or use the model's own tokenizer"
    ),
    "host-bound": (
        "record a step with nsys or torch.profiler, and look for gaps between kernels; use CUDA graphs, the performance"
        " governor and more cores for each rank"
    ),
    # pytorch.org tutorials, "Performance Tuning Guide"; docs.vllm.ai, "Optimization and Tuning"
    "small-work": (
        "repeat with four times the batch or concurrent requests: if a step takes hardly longer, use more work per"
        " step, CUDA graphs, or fewer accelerators"
    ),
    # docs.vllm.ai, "Parallelism and Scaling"; deepspeed.ai tutorials, "ZeRO++"
    "wide-groups": (
        "keep tensor and expert parallelism within a node and use pipeline stages between nodes; shard in a node and"
        " replicate between nodes (HYBRID_SHARD, zero_hpz_partition_size)"
    ),
    # huggingface.co docs of transformers, "Chat templates"
    "prompt-format": (
        "compare the tokens of one prompt with tokenizer.apply_chat_template of the model, its eos_token_id, and its"
        " generation_config.json"
    ),
    "uneven-work": (
        "print the tokens and the seconds of each rank for some steps; pack sequences, divide stages by time, or"
        " balance experts"
    ),
}
NEXT_OF_REASONS = {fault.name: fault.next for fault in FAULT_MODELS} | STEP_OF | _OF_SENTENCES
"""The next step for each cause that a sentence names, or that words suggest."""


def causes_of_reasons(run: PlacedRun) -> Iterator[Cause]:
    """The causes that sentences give as the reason; causes between nodes only for a run on several nodes, and missing
    links only where the log shows none.
    """
    linked = bool(run.log_lines("direct-paths"))
    for each in run.benchmark.evidence:
        name, _, certainty = each.name.removeprefix(REASON).partition(" ")
        if linked and name == "no-direct-links":
            continue
        if each.name.startswith(REASON) and (run.group.nodes > 1 or name not in NOT_ON_ONE_NODE):
            yield Cause(name, f"line {each.line} of the log: {each.text}", next_step(name), WEIGHTS[certainty])


def next_step(name: str) -> str:
    """The next step for a cause that a sentence names."""
    return NEXT_OF_REASONS[name]

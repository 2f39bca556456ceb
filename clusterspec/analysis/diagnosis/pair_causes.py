"""Causes of slow copies between two accelerators: matrices of pairs, and tests of a link with memory of devices."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG
from clusterspec.logs.benchmarks.osu import OSU_TOOL
from clusterspec.logs.benchmarks.perftest import PERFTEST_TOOL
from clusterspec.results.diagnosis import Cause
from clusterspec.units import display, percent

_REDIRECTED = (
    "check sudo lspci -vvv | grep -i 'ACSCtl: SrcValid+' and cat /proc/cmdline; turn ACS off in the firmware and "
    "set iommu=pt or off; then measure the same matrix again"
)
_LINKS = (
    "check the links and the seat of that accelerator with nvidia-smi nvlink -s, nvidia-smi topo -m and dmesg | "
    "grep -i xid"
)
_INACTIVE = (
    "check that nvidia-smi topo -m shows NV# between them; check nvidia-smi nvlink -s, systemctl status "
    "nvidia-fabricmanager and the bridge between the cards"
)
_STAGED = (
    "run lsmod | grep peermem and ucx_info -d | grep -E 'Transport|cuda'; repeat the test with host memory on both ends"
)
LINK_SHARE = 0.3
"""Share of the links' bandwidth below which a pair does not use them: PCIe in place of NVLink."""
COPIED = 0.6
"""Share of the expected bandwidth at most that copies through the memory of both hosts reach."""


def pair_causes(run: PlacedRun) -> Iterator[Cause]:
    """The causes that matrices of pairs show (NVIDIA/nccl issues 257, 631 and 1285)."""
    for text, line in run.log_lines("slow-peer-access")[:1]:
        evidence = f"line {line} of the log: {text}: direct copies are redirected"
        yield Cause("acs", evidence, _REDIRECTED, STRONG)
        yield Cause("iommu-translation", evidence, _REDIRECTED, STRONG)
    for text, line in run.log_lines("stalled-peer-access")[:1]:
        evidence = f"line {line} of the log: {text}: direct copies do not arrive at once"
        yield Cause("iommu-translation", evidence, _REDIRECTED, STATED)
        yield Cause("acs", evidence, _REDIRECTED, STRONG)
    for text, line in run.log_lines("slow-device")[:1]:
        evidence = f"line {line} of the log: {text}"
        yield Cause("accelerator-fault", evidence, _LINKS, STRONG)
    yield from _unused_links(run)
    yield from _staged_copies(run)


def _unused_links(run: PlacedRun) -> Iterator[Cause]:
    """Pairs inside a switched domain whose bandwidth is that of PCIe."""
    up = run.cluster.scale_up
    if up.topology != "switched" or run.log_lines("slow-peer-access", "stalled-peer-access", "slow-device"):
        return
    for text, line in run.log_lines("slowest-pair")[:1]:
        if float(text.split()[0]) * 1e9 < LINK_SHARE * up.bandwidth.value:
            evidence = f"line {line} of the log: {text}, of links of {display(up.bandwidth.value, 'B/s')}"
            for name in ("fabric-manager", "accelerator-fault", "peer-access-off"):
                yield Cause(name, evidence, _INACTIVE, GIVEN)


def _staged_copies(run: PlacedRun) -> Iterator[Cause]:
    """A test between the memory of two accelerators on two nodes that is far below the link: copies through the hosts
    (openucx/ucx issue 3984: no peer memory; 11121: NIC and accelerator on two sockets).
    """
    if run.benchmark.tool not in {OSU_TOOL, PERFTEST_TOOL} or not run.uses_network or run.largest.ratio > COPIED:
        return
    for text, line in run.log_lines("gpu-buffer")[:1]:
        evidence = f"line {line} of the log: {text}; {percent(run.largest.ratio)} of the expected bandwidth is reached"
        yield Cause("gpudirect-off", evidence, _STAGED, STRONG)
        yield Cause(
            "nic-distance", evidence, "nvidia-smi topo -m: SYS or NODE between them; another pair of both", GIVEN
        )

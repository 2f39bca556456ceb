"""Causes by the addresses and NICs that ranks use: the loopback for several nodes, another NIC than expected."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED
from clusterspec.results.diagnosis import Cause

_OTHER = re.compile(r"\b(?!127\.)[0-9]{1,3}(?:\.[0-9]{1,3}){3}\b")
"""An address that other hosts may reach."""
_FIRST_RANK = "set MASTER_ADDR, --master-addr or VLLM_HOST_IP of every rank to an address that the others reach"
_PROBE = "VLLM_HOST_IP of every rank, or --net=host: the container has no route to any other network"
_PEERS = (
    "show_gids on both nodes, and ib_write_bw between that pair; a list of NICs for each (NCCL_IB_HCA, --ib-device)"
)
_ROUTES = (
    "run ip route get PEER on every node: give the interfaces networks (netmasks) that do not overlap, or unlike "
    "metrics, and set NCCL_SOCKET_IFNAME to one of them"
)


def address_causes(run: PlacedRun) -> Iterator[Cause]:
    """The causes of a run without a result whose lines have an address that does not serve it.

    Published: vllm-project/vllm issues 19543 (a loopback for two nodes) and 2857 (a host without a route, which a
    program asks for its own address), kvcache-ai/Mooncake issue 2467 (the NIC of another network).
    """
    yield from _other_interfaces(run)
    failed = run.log_lines("rendezvous", "refused", "cluster-store", "unreachable")
    several = failed and run.group.nodes > 1
    for text, line in (
        run.log_lines("own-loopback")[:1] if several or any(_OTHER.search(each) for each, _ in failed) else ()
    ):
        evidence = f"line {line} of the log: {text}: every host has that address for itself"
        yield Cause("wrong-interface", evidence, _FIRST_RANK, STATED)
    for text, line in run.log_lines("address-probe")[:1]:
        evidence = f"line {line} of the log: {text}: the program asks for its own address, and the host has no route"
        yield Cause("wrong-interface", evidence, _PROBE, STATED)
    for text, line in run.log_lines("other-nic")[:1]:
        yield Cause("wrong-interface", f"line {line} of the log: {text}", _PEERS, STATED)
    for text, line in run.log_lines("unlike-pair")[:1] if run.log_lines("unreachable") else ():
        evidence = f"line {line} of the log: {text}: NICs with different names, typical of two networks"
        yield Cause("wrong-interface", evidence, _PEERS, GIVEN)


def _other_interfaces(run: PlacedRun) -> Iterator[Cause]:
    """Another interface than ranks announce: an address that none of all nodes announces, or a network with two routes
    (NVIDIA/nccl issue 1581).
    """
    for each in run.evidence("unannounced-address"):
        if run.group.nodes > 1 and each.count >= run.group.nodes:
            yield Cause("wrong-interface", f"line {each.line} of the log: {each.text}", _ROUTES, STATED)
    for text, line in run.log_lines("doubled-route") if run.group.nodes > 1 else ():
        yield Cause("wrong-interface", f"line {line} of the log: {text}", _ROUTES, GIVEN)

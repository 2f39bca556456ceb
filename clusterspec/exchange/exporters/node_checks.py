"""Checks that a node matches the design, for schedulers to run continuously: counts, rates and power limits.

A check is a shell test that succeeds on a node of the design. It queries the driver and the kernel and starts no work
on the accelerators, so it may run alongside jobs. Bandwidth limits are in `site_checks`.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator

from clusterspec.exchange.exporters.monitoring import VERBS
from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable, devices_of_node
from clusterspec.records import NamedTuple
from clusterspec.units import display, plural

SECONDS = 20
"""Time limit of one check in seconds; NHC allows 30 s and Slurm 60 s for all checks together."""
INTERVAL = "5m"
"""An estimate; a design does not state how often checks run."""
_COUNTS = {
    "NVIDIA": 'nvidia-smi -L | grep -c "^GPU "',
    "AMD": "cat /sys/class/kfd/kfd/topology/nodes/*/gpu_id | grep -vcx 0",
}
"""Commands that print the number of accelerators that the driver sees."""
_PORTS = (
    "for port in /sys/class/infiniband/*/ports/*; do read -r _ state < $port/state; read -r rate _ < $port/rate; "
    "[ $state = ACTIVE ] && [ ${{rate%.*}} -ge {gigabits} ] && echo $port; done | wc -l"
)
"""A command that prints the number of active ports at a rate, from lines such as "4: ACTIVE" and "400 Gb/sec
(4X NDR)".
"""
_LIMITS = "nvidia-smi --query-gpu=enforced.power.limit --format=csv,noheader,nounits | awk '$1 > {watts}' | wc -l"
"""A command that prints the number of accelerators whose power limit is higher than allowed."""


class NodeCheck(NamedTuple):
    """A check: the name of its condition in Kubernetes style, the shell test, and the expected state of a node."""

    name: str
    test: str
    expected: str


def node_checks(source: ExportInput) -> tuple[NodeCheck, ...]:
    """The checks of a design. Raises `NotExportable` if no command counts its accelerators."""
    vendor = source.cluster.accelerator.software_vendor
    if vendor not in _COUNTS:
        raise NotExportable(f"no command is known that counts accelerators of {vendor or 'no vendor'}")
    return tuple(_checks(source))


def _checks(source: ExportInput) -> Iterator[NodeCheck]:
    cluster = source.cluster
    count = devices_of_node(cluster)
    devices = f"{count} devices of " if count != cluster.accelerators_per_node else ""
    yield NodeCheck(
        "AcceleratorsMissing",
        f"[ $({_COUNTS[cluster.accelerator.vendor or '']}) -ge {count} ]",
        f"{devices}{plural(cluster.accelerators_per_node, 'accelerator')} {' '.join(cluster.accelerator.name.split())}",
    )
    cap = cluster.accelerator_cap
    if cap is not None and cluster.accelerator.vendor == "NVIDIA":
        test = f"[ $({_LIMITS.format(watts=f'{cap.value:g}')}) -eq 0 ]"
        yield NodeCheck("AcceleratorPowerLimit", test, f"a power limit of at most {display(cap.value, 'W')}")
    fabric = cluster.scale_out
    if fabric is not None and fabric.technology.family in VERBS:
        ports, rate = fabric.nics_per_node * fabric.planes, fabric.nic_bandwidth.value / fabric.planes
        test = f"[ $({_PORTS.format(gigabits=int(rate * 8 / 1e9))}) -ge {ports} ]"
        yield NodeCheck("PortsBelowRate", test, f"{plural(ports, 'active port')} of {rate * 8 / 1e9:g} Gb/s or more")


def _omitted_limits(source: ExportInput) -> list[str]:
    omitted = ["limits of collectives: they need the accelerators for themselves (azure-nhc, sbatch, mpijob)"]
    fabric = source.cluster.scale_out
    if fabric is not None and fabric.technology.family not in VERBS:
        omitted.append(f"NICs: the kernel has no ports of {fabric.technology.name} below /sys/class/infiniband")
    return omitted


def nhc(source: ExportInput) -> ExportedFile:
    """Lines of nhc.conf for LBNL Node Health Check, which Slurm runs as HealthCheckProgram.

    Written for mej/nhc at 9c4a38c0: ``scripts/lbnl_cmd.nhc`` (``check_cmd_status``: time in seconds, exit status,
    command) and ``nhc`` (a line is words of the shell); and SchedMD/slurm at 284c3b95, ``doc/man/man5/slurm.conf.5``.
    """
    checks = node_checks(source)
    lines = [
        f"# What a node of {source.name} has by design.",
        "# In slurm.conf: HealthCheckProgram=/usr/sbin/nhc, HealthCheckInterval=300, HealthCheckNodeState=ANY,CYCLE",
        "# Slurm ends a HealthCheckProgram after 60 seconds.",
    ]
    for check in checks:
        quoted = check.test.replace("'", "'\\''")
        lines += [f"# {check.expected}", f" * || check_cmd_status -t {SECONDS} -r 0 sh -c '{quoted}'"]
    return ExportedFile("\n".join(lines) + "\n", tuple(_omitted_limits(source)))


def problem_detector(source: ExportInput) -> ExportedFile:
    """A custom plugin monitor of the node problem detector: one condition of the Kubernetes node for each check.

    Written for kubernetes/node-problem-detector at 6632ca67: ``pkg/custompluginmonitor/types/config.go`` (keys; a rule
    may take no longer than all, and a permanent one names a condition with a default) and ``types.go`` (exit status 0
    is well, 1 is a problem, others are unknown).
    """
    checks = node_checks(source)
    document = {
        "plugin": "custom",
        "pluginConfig": {
            "invoke_interval": INTERVAL,
            "timeout": f"{SECONDS}s",
            "max_output_length": 120,
            "concurrency": 1,
        },
        "source": f"{source.name}-design",
        "metricsReporting": True,
        "conditions": [
            {"type": check.name, "reason": "NodeAsDesigned", "message": f"the node has {check.expected}"}
            for check in checks
        ],
        "rules": [
            {
                "type": "permanent",
                "condition": check.name,
                "reason": check.name,
                "path": "/bin/sh",
                "args": ["-c", f"{check.test} || {{ echo {shlex.quote(f'by design: {check.expected}')}; exit 1; }}"],
                "timeout": f"{SECONDS}s",
            }
            for check in checks
        ],
    }
    omitted = [
        *_omitted_limits(source),
        "the tools themselves: the image of the detector needs those that the rules call",
    ]
    return ExportedFile(json.dumps(document, indent=2, ensure_ascii=False) + "\n", tuple(omitted))

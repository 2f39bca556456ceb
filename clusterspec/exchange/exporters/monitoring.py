"""Alerting rules for Prometheus that report a running machine with less than its design.

Thresholds are counts, rates and watts of the design. How long a condition must hold before an alert is not part of a
design: `HOLDS` is an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.exchange.exporters.registry import ExportedFile, ExportInput, NotExportable
from clusterspec.records import NamedTuple
from clusterspec.units import display, plural

HOLDS = "5m"
ACCELERATORS = "DCGM_FI_DEV_GPU_TEMP"
"""A metric that every accelerator has."""
POWER = "DCGM_FI_DEV_POWER_USAGE"
PORT_STATE = "node_infiniband_state_id"
PORT_RATE = "node_infiniband_rate_bytes_per_second"
ACTIVE = 4
"""The state of a port that carries data."""
VERBS = frozenset({"infiniband", "roce"})
"""Families of fabrics whose ports node_exporter reads below /sys/class/infiniband."""
OMITTED = (
    "bandwidths and step times: `clusterspec accept` and `diagnose` compare logs with the design",
    "temperatures, error counters and XID codes: the maker sets their limits, not the design",
)


class Alert(NamedTuple):
    """An alerting rule: its name, the expression that is true on a fault, and its message."""

    name: str
    expression: str
    severity: str
    summary: str


def prometheus(source: ExportInput) -> ExportedFile:
    """A file of alerting rules.

    Written for prometheus/prometheus at 6030407d, ``model/rulefmt/rulefmt.go`` (keys of groups and rules), with the
    metrics of NVIDIA/dcgm-exporter at 00d6d344, ``etc/default-counters.csv`` (W), and of prometheus/node_exporter at
    043fecbf, ``collector/infiniband_linux.go`` (B/s; state 4 is active).
    """
    accelerator = source.cluster.accelerator
    if accelerator.software_vendor != "NVIDIA":
        raise NotExportable(f"the rules read the metrics of dcgm-exporter, which has no metrics of {accelerator.name}")
    lines = [
        f"# Alerts of {source.name}: one scraped instance of dcgm-exporter, and one of node_exporter, for each node.",
        "groups:",
        f"  - name: {source.name}",
        "    rules:",
    ]
    omitted = list(OMITTED)
    fabric = source.cluster.scale_out
    if fabric is not None and fabric.technology.family not in VERBS:
        omitted.append(f"NICs: node_exporter has no rate of the ports of {fabric.technology.name}")
    for alert in _alerts(source):
        lines += [
            f"      - alert: {alert.name}",
            f"        expr: {alert.expression}",
            f"        for: {HOLDS}",
            f"        labels: {{severity: {alert.severity}}}",
            f'        annotations: {{summary: "{alert.summary}"}}',
        ]
    return ExportedFile("\n".join(lines) + "\n", tuple(omitted))


def _alerts(source: ExportInput) -> Iterator[Alert]:
    cluster, layout = source.cluster, source.design.layout
    needed, standing = layout.nodes if layout is not None else cluster.nodes, cluster.all_nodes
    present = f"(count(count by (instance) ({ACCELERATORS})) or vector(0))"
    yield Alert("NodesOfJobMissing", f"{present} < {needed}", "critical", f"the job needs {plural(needed, 'node')}")
    if standing > needed:
        said = f"{plural(standing, 'node')} were bought, and the job needs {needed:,}"
        yield Alert("NodesMissing", f"{present} < {standing}", "warning", said)
    each = cluster.accelerators_per_node
    there = f"count by (instance) ({ACCELERATORS}) < {each}"
    yield Alert("AcceleratorsMissing", there, "critical", f"{{{{ $labels.instance }}}} has {each} by design")
    limit = cluster.accelerator_cap or cluster.accelerator.power
    if limit is not None:
        said = f"an accelerator may draw {display(limit.value, 'W')}"
        yield Alert("AcceleratorAbovePower", f"{POWER} > {limit.value:g}", "warning", said)
    fabric = cluster.scale_out
    if fabric is not None and fabric.technology.family in VERBS:
        ports, rate = fabric.nics_per_node * fabric.planes, fabric.nic_bandwidth.value / fabric.planes
        active = f"count by (instance) ({PORT_RATE} >= {rate:.9g} and {PORT_STATE} == {ACTIVE})"
        none = f"0 * count by (instance) ({PORT_STATE})"
        said = f"{{{{ $labels.instance }}}} has {plural(ports, 'port')} of {display(rate, 'B/s')} by design"
        yield Alert("PortsBelowRate", f"({active} or {none}) < {ports}", "critical", said)

"""A test that the text asks for cannot be passed by this hardware.

## What it finds

In the description and the comments, thresholds of

- HPL, or a rate in native fp64, above the fp64 peak of the accelerators that run it;
- HPCG above what the memory of the accelerators delivers, at 4 bytes for each operation;
- `ib_write_bw` and similar tools above the line rate of a port, or of all ports of a node;
- copies in device memory above the bandwidth of the data sheet.

These are errors; between 95 % and the whole of the fp64 peak it is a warning.

Figures of emulated or mixed precision (HPL-MxP) and of peaks are not compared.

## Why it matters

No supplier can pass the test, and payment depends on it. Often the figure comes from the previous machine: B300 has a
thirtieth of the fp64 rate of B200.

## What to do

Ask for what the hardware reaches: 60 to 80 % of the fp64 peak in HPL, 95 % of the line rate in `ib_write_bw`.

## When to ignore it

Ignore it where the figure belongs to another machine.

## Fires

```yaml description
clusterspec: 1
description: Acceptance is HPL in native FP64 on all 48 systems, at least 9.0 PFLOP/s.
cluster: {platform: dgx-b300, nodes: 48}
```

```yaml description
clusterspec: 1
description: ib_write_bw between any two nodes reaches 410 Gb/s on every port.
cluster: {platform: dgx-h100, nodes: 16, scale_out: {technology: infiniband-ndr}}
```

## Silent

```yaml
clusterspec: 1
description: Acceptance is HPL in native FP64 on all 48 systems, at least 9.0 PFLOP/s, and ib_write_bw of 385 Gb/s a port.
cluster: {platform: dgx-b200, nodes: 48, scale_out: {technology: infiniband-ndr}}
```

## Sources

- Rates of HPL and peaks of systems: https://top500.org/lists/top500/
- Operations and bytes of HPCG: https://www.hpcg-benchmark.org/


"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.cluster.model import Cluster
from clusterspec.finding import Problem
from clusterspec.rules.readers.plans.test_figures import TestFigure, test_figures
from clusterspec.rules.readers.units import word_set
from clusterspec.rules.readers.written_numbers import has_word
from clusterspec.rules.rule import Rule
from clusterspec.units import display, display_bits

RULE = Rule.of(__name__, "error", "likely")
ROUNDED = 1.005
"""Ratio up to which two figures are equal, since one may be rounded."""
UNREACHED = 0.95
"""Share of the fp64 peak that no large system of the TOP500 reaches in HPL."""
BYTES = 4.0
"""Bytes of memory that HPCG reads per operation at least: one 8-byte value for a multiplication and an addition."""
_CUES = word_set("hpl hpcg linpack fp64 double perftest babelstream stream rmax hbm")


def check(own_remarks: str, remarks: str, cluster: Cluster) -> Iterator[Problem]:
    if not remarks or not (has_word(remarks, _CUES, ("ib_",)) or "memory bandwidth" in remarks.lower()):
        return
    text = " ".join(remarks.replace("B/s", "byte/s").replace("Bps", "byte/s").lower().split())
    for figure in test_figures(text):
        found = _LIMITS[figure.test](figure, cluster)
        if found is None:
            continue
        limit, what = found
        over = figure.value > limit * ROUNDED
        if over or (figure.test == "hpl" and figure.value > UNREACHED * limit):
            asked, given = (_figure_text(value, figure.test) for value in (figure.value, limit))
            message = f"the text asks for {asked}, but {what} {given}"
            help_ = "ask for what the hardware reaches"
            if over:
                yield RULE.problem("description", f"{message}: no supplier can pass", help_)
            else:
                yield RULE.problem(
                    "description", f"{message}: HPL reaches 60 to 80 % of a peak", help_, severity="warning"
                )
            return


def _figure_text(value: float, test: str) -> str:
    """A figure in the unit in which its test prints it."""
    return display_bits(value) if test == "verbs" else display(value, _UNITS[test])


_UNITS = {"hpl": "FLOP/s", "hpcg": "FLOP/s", "memory": "B/s"}


def _devices(figure: TestFigure, cluster: Cluster) -> int:
    """The number of accelerators that run a test: as the text states, else all accelerators of the machine."""
    if figure.devices is not None:
        return figure.devices
    nodes = cluster.all_nodes if figure.nodes is None else figure.nodes
    return nodes * cluster.accelerators_per_node


def _fp64_limit(figure: TestFigure, cluster: Cluster) -> tuple[float, str] | None:
    """FLOP/s of the fp64 units that run a test."""
    peak, number = cluster.accelerator.double_peak, _devices(figure, cluster)
    if peak is None:
        return None
    return peak.value * number, f"the fp64 peak of {number:,} {cluster.accelerator.name} is"


def _hpcg_limit(figure: TestFigure, cluster: Cluster) -> tuple[float, str] | None:
    """FLOP/s of HPCG that the memory allows."""
    memory, number = cluster.accelerator.memory_bandwidth, _devices(figure, cluster)
    if memory is None:
        return None
    return memory.value / BYTES * number, f"the memory of {number:,} {cluster.accelerator.name} allows HPCG at most"


def _port_limit(figure: TestFigure, cluster: Cluster) -> tuple[float, str] | None:
    """B/s of one adapter, or of all adapters of a node if the text says so."""
    fabric = cluster.scale_out
    if fabric is None:
        return None
    if figure.nodes == 1:
        return fabric.node_bandwidth, f"the {fabric.nics_per_node} NICs of a node have"
    return fabric.nic_bandwidth.value, "a NIC has"


def _memory_limit(figure: TestFigure, cluster: Cluster) -> tuple[float, str] | None:
    """B/s of the memory of one accelerator, if the text is about one."""
    memory = cluster.accelerator.memory_bandwidth
    if memory is None or figure.devices != 1:
        return None
    return memory.value, f"the memory of {cluster.accelerator.name} has"


_LIMITS = {"hpl": _fp64_limit, "hpcg": _hpcg_limit, "verbs": _port_limit, "memory": _memory_limit}
"""The upper limit that the hardware sets for each test, with its description."""

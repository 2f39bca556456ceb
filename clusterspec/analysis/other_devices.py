"""Logs of other accelerators than those of the spec: their expected bandwidth is that of another machine."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.stated_causes import STATED
from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.logs.benchmark import Benchmark
from clusterspec.results.diagnosis import OTHER_ACCELERATORS, Cause
from clusterspec.units import display, plural


def other_devices(cluster: Cluster, benchmark: Benchmark, catalog: Catalog | None) -> str:
    """Evidence that the devices that a log prints are not those of the spec, with lines and bandwidths; empty if they
    are, or if no entry of the catalog has their name. An accelerator of a company's catalog may be sold under any name.
    """
    own = cluster.accelerator
    if catalog is None or not catalog.is_shipped("accelerator", own.id):
        return ""
    named = []
    for each in benchmark.devices:
        count, _, name = each.text.partition(" ")
        found = accelerator_of_product(name)
        if found is None or found == own.id or not catalog.is_shipped("accelerator", found):
            return ""
        named.append((found, int(count), name, each.line))
    parts = []
    for found, printed, name, line in named[:MOST_NAMED]:
        many = f"{plural(printed, 'device')} of the log" if printed else "the devices of the log"
        verb = "is" if printed == 1 else "are"
        parts.append(f"line {line}: {many} {verb} {name} ({_link_text(catalog.accelerator(found))})")
    return f"{'; '.join(parts)}; the spec has {own.name} ({_link_text(own)})" if parts else ""


MOST_NAMED = 3
"""Names of devices that are shown."""


def _link_text(accelerator: Accelerator) -> str:
    """The bandwidth of the links of an accelerator inside its domain, per direction."""
    link = accelerator.scale_up_bandwidth
    return f"{display(link.value, 'B/s')} of scale-up per direction" if link is not None else "no scale-up links"


def other_device_causes(told: str) -> Iterator[Cause]:
    """The cause of a run that is slower than expected, where its devices are not those of the spec."""
    if told:
        following = "name that accelerator in a spec of its own, or run the benchmark on the machine of the spec"
        yield Cause(OTHER_ACCELERATORS, told, following, STATED)

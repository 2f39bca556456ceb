"""Logs of other accelerators than the spec states: their expected bandwidth is from another machine."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import next_step
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED
from clusterspec.catalog import Catalog
from clusterspec.catalog.entries import Accelerator
from clusterspec.cluster.model import Cluster
from clusterspec.exchange.machines.links import accelerator_of_product
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.records import NamedTuple
from clusterspec.results.diagnosis import OTHER_ACCELERATORS, Cause
from clusterspec.units import display, plural


class _NamedDevice(NamedTuple):
    """A kind of device that a log prints: its entry, how many are printed, its name, and the line."""

    entry: str
    printed: int
    name: str
    line: int


def _devices_of_others(cluster: Cluster, benchmark: Benchmark, catalog: Catalog | None) -> list[_NamedDevice]:
    """The devices that a log prints, if none of them belongs to the spec and the catalog has an entry for each; else
    empty.

    An accelerator of a company's catalog may be sold under any name.
    """
    own = cluster.accelerator
    if catalog is None or not catalog.is_shipped("accelerator", own.id):
        return []
    named = []
    for each in benchmark.devices:
        count, _, name = each.text.partition(" ")
        found = accelerator_of_product(name)
        if found is None or found == own.id or not catalog.is_shipped("accelerator", found):
            return []
        named.append(_NamedDevice(found, int(count), name, each.line))
    return named


def other_devices(cluster: Cluster, benchmark: Benchmark, catalog: Catalog | None) -> str:
    """Evidence that the log's devices are not the spec's, with lines and bandwidths. Empty if they match, or if
    the catalog lacks a device.
    """
    own, parts = cluster.accelerator, []
    for entry, printed, name, line in _devices_of_others(cluster, benchmark, catalog)[:MOST_NAMED]:
        assert catalog is not None
        many = f"{plural(printed, 'device')} of the log" if printed else "the devices of the log"
        verb = "is" if printed == 1 else "are"
        parts.append(f"line {line}: {many} {verb} {name} ({_link_text(catalog.accelerator(entry))})")
    return f"{'; '.join(parts)}; the spec has {own.name} ({_link_text(own)})" if parts else ""


def have_other_links(cluster: Cluster, benchmark: Benchmark, catalog: Catalog | None) -> bool:
    """Whether a log prints devices of other entries whose links have another bandwidth than the spec's."""
    own = _link_text(cluster.accelerator)
    named = _devices_of_others(cluster, benchmark, catalog)
    return catalog is not None and any(_link_text(catalog.accelerator(each.entry)) != own for each in named)


MOST_NAMED = 3
"""Maximum number of device names that are shown."""


def _link_text(accelerator: Accelerator) -> str:
    """The bandwidth of the links of an accelerator inside its domain, per direction."""
    link = accelerator.scale_up_bandwidth
    return f"{display(link.value, 'B/s')} of scale-up per direction" if link is not None else "no scale-up links"


def other_device_causes(run: PlacedRun) -> Iterator[Cause]:
    """The cause of a run that is slower than expected, where its devices have other links than the spec's."""
    told = run.other_devices
    if told and run.other_links:
        following = "name that accelerator in a spec of its own, or run the benchmark on the machine of the spec"
        yield Cause(OTHER_ACCELERATORS, told, following, STATED)


def unequal_devices(run: PlacedRun) -> Iterator[Cause]:
    """Ranks on devices of several names, which a log lists with the ranks or with their numbers; fewer than all may
    belong to a job on a host where several kinds are.
    """
    kinds = [each for each in run.benchmark.devices if not each.text.startswith("0 ")]
    if len(kinds) > 1:
        named = " and ".join(f"{each.text.partition(' ')[2]} (line {each.line})" for each in kinds[:MOST_NAMED])
        evidence = f"line {kinds[0].line} of the log: its devices are {named}"
        yield Cause("unequal-accelerators", evidence, next_step("unequal-accelerators"), GIVEN)

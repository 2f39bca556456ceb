"""Published faults of the release of the collective library that a log names."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.placed_runs import PlacedRun
from clusterspec.analysis.stated_causes import GIVEN, STRONG, WEAK
from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import Library, named_library
from clusterspec.catalog.releases import ReleaseFault
from clusterspec.cluster.model import Cluster
from clusterspec.results.diagnosis import Cause

LIBRARIES = {"NVIDIA": "nccl", "AMD": "rocm"}
"""The library whose releases count, by the vendor of the accelerators: RCCL is released with ROCm."""
SPECIFIC = 2
"""A published fault is a likely cause if the log meets at least this many of its conditions, not counting the place."""


def published_faults(cluster: Cluster, catalog: Catalog) -> tuple[ReleaseFault, ...]:
    """The published faults of the collective library of a cluster, of all releases."""
    library = named_library(LIBRARIES.get(cluster.accelerator.vendor, ""), catalog)
    return library.faults if isinstance(library, Library) else ()


def release_causes(run: PlacedRun) -> Iterator[Cause]:
    """The published faults that the release of a log has and that fit the run."""
    effect = "wrong" if run.series.wrong else "slow" if run.has_result else "stops"
    for release, line in _logged_releases(run)[:1]:
        for fault in run.published:
            if fault.effect == effect and fault.holds_in(release) and _conditions_hold(run, fault):
                told = f"{_affected_releases(fault)} have a published fault: {fault.note or fault.effect} ({fault.url})"
                evidence = f"line {line} of the log: release {release}; {told}"
                yield Cause("release-fault", evidence, _next_step(fault), _fault_weight(run, fault))


def _logged_releases(run: PlacedRun) -> list[tuple[str, int]]:
    """The releases that a log names, each with its line: NCCL, or ROCm on AMD accelerators. nccl-tests prints NCCL
    2.30.5 as 23005.
    """
    if run.cluster.accelerator.vendor == "AMD":
        return run.log_lines("rocm-release")
    codes = [(int(text), line) for text, line in run.log_lines("version-code")]
    written = [(f"{code // 10_000}.{code // 100 % 100}.{code % 100}", line) for code, line in codes]
    return [*run.log_lines("version"), *written]


def _conditions_hold(run: PlacedRun, fault: ReleaseFault) -> bool:
    """Whether the conditions of a fault apply to a run, as far as its log shows."""
    fabric = run.cluster.scale_out
    place = "over nodes" if run.uses_network else "in a node"
    settings = {text for text, _ in run.log_lines("environment")}
    return (
        fault.place in ("", place)
        and (not fault.fabric or (fabric is not None and fabric.technology.family == fault.fabric))
        and (not fault.architectures or run.cluster.accelerator.architecture in fault.architectures)
        and (not fault.collectives or run.name in fault.collectives)
        and (not fault.setting or fault.setting in settings)
        and (not fault.host or bool(run.log_lines("amd-host")) or not run.log_lines("numa-node"))
    )


def _fault_weight(run: PlacedRun, fault: ReleaseFault) -> float:
    """The weight of a fault as a cause, by the number of its conditions. It is weak if the log does not show that a
    condition applies.
    """
    if fault.host and not run.log_lines("amd-host"):
        return WEAK
    conditions = (fault.fabric, fault.host, fault.architectures, fault.collectives, fault.setting)
    return STRONG if sum(map(bool, conditions)) >= SPECIFIC else GIVEN


def _affected_releases(fault: ReleaseFault) -> str:
    bounds = (f"from {fault.since}" if fault.since else "", f"before {fault.until}" if fault.until else "")
    return f"releases {' and '.join(filter(None, bounds))}"


def _next_step(fault: ReleaseFault) -> str:
    if fault.until:
        return f"run again with release {fault.until} or later"
    return f"run again with a release before {fault.since}"

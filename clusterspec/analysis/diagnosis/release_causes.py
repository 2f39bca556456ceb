"""Published faults of the releases that a log names: of the collective library, and of other software whose symptoms a
text tells.
"""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STRONG, WEAK
from clusterspec.catalog import Catalog
from clusterspec.catalog.frameworks import Library, named_library, version_numbers
from clusterspec.catalog.releases import ReleaseFault
from clusterspec.cluster.model import Cluster
from clusterspec.logs.reports.told_releases import BEFORE, KNOWN, KnownFault, known_faults
from clusterspec.results.diagnosis import Cause

LIBRARIES = {"NVIDIA": "nccl", "AMD": "rocm"}
"""The library whose releases count, by the vendor of the accelerators: RCCL is released with ROCm."""
OF_SOFTWARE = {"nvidia-driver": "driver-release"}
"""The causes of published faults, by the software, other than those of libraries."""
TOLD = 0.45
"""The weight of a published fault with one symptom: just above a suspicion by words (`suspected_causes.LEADING`)."""
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


def causes_of_told_releases(run: PlacedRun) -> Iterator[Cause]:
    """The published faults of releases that a text names and whose symptoms it describes."""
    for each in run.benchmark.evidence:
        if each.name.startswith(KNOWN):
            known = known_faults()[int(each.name.removeprefix(KNOWN))]
            fault = ReleaseFault("stops", known.since, known.until, note=known.note, url=known.source)
            if _is_affected(fault, each.text):
                named = f"{known.software} {'before ' * each.text.startswith(BEFORE)}{each.text.removeprefix(BEFORE)}"
                told = f"{_affected_releases(fault)} have a published fault: {fault.note} ({fault.url})"
                evidence = f"line {each.line} of the log: {named}; {told}"
                cause = OF_SOFTWARE.get(known.software, "release-fault")
                yield Cause(cause, evidence, _next_step(fault), _weight_of_symptoms(known))


def _is_affected(fault: ReleaseFault, release: str) -> bool:
    """Whether a release has a fault; for all releases before one, whether any of them has it."""
    if not release.startswith(BEFORE):
        return fault.holds_in(release)
    return bool(fault.until) and version_numbers(release.removeprefix(BEFORE)) <= version_numbers(fault.until)


def _weight_of_symptoms(fault: KnownFault) -> float:
    """The weight of a published fault whose symptoms a text describes, by the number of its symptoms."""
    return STRONG if len(fault.symptoms) >= SPECIFIC else TOLD


def _affected_releases(fault: ReleaseFault) -> str:
    bounds = (f"from {fault.since}" if fault.since else "", f"before {fault.until}" if fault.until else "")
    return f"releases {' and '.join(filter(None, bounds))}"


def _next_step(fault: ReleaseFault) -> str:
    if fault.until:
        return f"run again with release {fault.until} or later"
    return f"run again with a release before {fault.since}"

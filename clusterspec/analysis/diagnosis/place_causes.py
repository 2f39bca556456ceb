"""Causes of differences: facts of hosts, work of ranks, calls in which stacks wait, and shares of a bandwidth.

If several causes fit, all are named, likeliest first, each with the check that distinguishes it from the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from clusterspec.analysis.diagnosis.placed_runs import PlacedRun
from clusterspec.analysis.diagnosis.reason_causes import NOT_ON_ONE_NODE
from clusterspec.analysis.diagnosis.stated_causes import GIVEN, STATED, STRONG, WEAK
from clusterspec.analysis.diagnosis.suspected_causes import HINT, LEADING, STEP, next_step
from clusterspec.analysis.diagnosis.trial_causes import LOWERED, RAISED
from clusterspec.logs.benchmarks.benchmark import Evidence
from clusterspec.logs.reports.scopes import SCOPE
from clusterspec.logs.reports.stated_reasons import REASON
from clusterspec.logs.reports.told_rates import SHARE
from clusterspec.logs.reports.unlike_hosts import ALIKE, UNLIKE
from clusterspec.logs.reports.unlike_ranks import UNEVEN
from clusterspec.logs.reports.worded_causes import OF_A_REPORT
from clusterspec.logs.statements.waiting_frames import WAITS
from clusterspec.records import replace
from clusterspec.results.diagnosis import Cause

TOLD = 0.6
"""The weight of what a sentence tells of a part of the ranks: above suspicions by words, below reasons."""
_ONE_RELEASE = (("mixed-releases", STRONG),)
_SAME_RANK = (("absent-ranks", GIVEN), ("shared-accelerator", GIVEN))
DIFFERING: dict[str, tuple[tuple[str, float], ...]] = {
    **{f"{UNLIKE}{fact}": _ONE_RELEASE for fact in ("nccl", "rocm", "torch", "python", "ray", "mpi", "ucx", "engine")},
    f"{UNLIKE}cuda": _ONE_RELEASE,
    f"{UNLIKE}image": _ONE_RELEASE,
    f"{UNLIKE}driver": (("mixed-releases", STRONG), ("driver-release", GIVEN)),
    f"{UNLIKE}cuda-driver": (("mixed-releases", STRONG), ("driver-release", GIVEN)),
    f"{UNLIKE}kernel": (("driver-release", GIVEN), ("mixed-releases", WEAK)),
    f"{UNLIKE}ofed": (("mixed-releases", GIVEN), ("driver-release", WEAK)),
    f"{UNLIKE}firmware": (("nic-fault", GIVEN), ("mixed-releases", WEAK)),
    f"{UNLIKE}size": (("absent-ranks", STRONG),),
    f"{UNLIKE}meeting": (("absent-ranks", STRONG), ("unreachable-peer", GIVEN)),
    f"{ALIKE}rank": _SAME_RANK,
    f"{ALIKE}world": (("separate-jobs", STRONG),),
    f"{UNEVEN}data": (("ranks-diverge", TOLD), ("data-loading", WEAK)),
    f"{UNEVEN}call": (("ranks-diverge", TOLD),),
    f"{UNEVEN}time": (("ranks-diverge", TOLD), ("storage-fault", WEAK)),
    f"{UNEVEN}start": (("absent-ranks", TOLD), ("ranks-diverge", WEAK)),
    f"{UNEVEN}limit": (("invalid-setting", TOLD), ("ranks-diverge", GIVEN)),
    f"{UNEVEN}reading": (("storage-fault", TOLD), ("ranks-diverge", GIVEN), ("data-loading", WEAK)),
    f"{WAITS}data": (("data-loading", GIVEN), ("storage-fault", WEAK)),
    f"{WAITS}file": (("storage-fault", GIVEN), ("ranks-diverge", WEAK)),
    f"{WAITS}server": (("outside-server", GIVEN),),
    f"{WAITS}meeting": (("absent-ranks", GIVEN), ("unreachable-peer", WEAK), ("wrong-interface", WEAK)),
    f"{WAITS}collective": (("ranks-diverge", WEAK),),
}
"""The causes that each statement is evidence of, with their weights."""
_WORDS = {
    UNLIKE: "the hosts differ: ",
    ALIKE: "ranks are alike that should differ: ",
    UNEVEN: "not all ranks are alike: ",
    WAITS: "the innermost frame that names a part: ",
}
PLACES: dict[str, tuple[str, ...]] = {
    "one-node": ("unreachable-peer", "wrong-interface", "unstable-link"),
    "some-nodes": ("accelerator-fault", "unstable-link", "mixed-releases", "host-fault"),
    "slower-network": ("unreachable-peer", "nic-fault", "unstable-link", "gpudirect-refused"),
    "outside-container": ("container-permission", "shared-memory", "locked-memory"),
    "one-of-devices": ("accelerator-fault", "nic-fault", "wrong-pcie-generation"),
    "few-nodes": ("file-limit", "unstable-link", "nic-limit"),
    "small-sizes": ("unreachable-peer", "gpudirect-refused", "locked-memory"),
}
"""The causes that remain possible by the place of a fault, if no other evidence names one."""
OPEN = 0.15
"""The weight of the first of them: below suspicions by words."""
NEAR = 0.2
"""Relative distance from the share of a fault at which a told share is of it."""
HALF = (0.4, 0.62)
"""Shares of half the lanes, one generation, or one of two ports, with what a protocol takes."""
OF_SOCKETS = 0.15
"""The share below which only sockets are that slow."""


def causes_of_differences(run: PlacedRun) -> Iterator[Cause]:
    """The causes of facts that differ between hosts or ranks, and of the calls in which stacks wait."""
    reasons = {each.line for each in run.benchmark.evidence if each.name.startswith(REASON)}
    waits = [each for each in run.benchmark.evidence if each.name.startswith(WAITS)]
    for each in run.benchmark.evidence:
        for name, weight in _possible_causes(run, DIFFERING.get(each.name, ())):
            raised = STRONG + RAISED if weight == TOLD and each.line in reasons else weight
            raised = STRONG if len(waits) > 1 and each in waits and weight == GIVEN else raised
            yield Cause(
                name, f"line {each.line} of the log: {_introducing_words(each)}{each.text}", next_step(name), raised
            )


def _introducing_words(statement: Evidence) -> str:
    """The words that introduce a statement in the evidence of a cause."""
    return _WORDS[statement.name.partition(" ")[0] + " "]


def _possible_causes(run: PlacedRun, weighed: Iterable[tuple[str, float]]) -> Iterator[tuple[str, float]]:
    """The causes that the machine of a run can have, with their weights."""
    return ((name, weight) for name, weight in weighed if run.cluster.nodes > 1 or name not in NOT_ON_ONE_NODE)


def with_shares(run: PlacedRun, causes: Sequence[Cause]) -> list[Cause]:
    """The causes and hints: a reported share of a bandwidth adds weight to causes that it fits, or hints at them."""
    fitting = {
        name: (each, why) for each in _share_statements(run) for name, why in _faults_of_share(run, _stated_share(each))
    }
    raised = [
        replace(each, weight=round(each.weight + RAISED, 3)) if each.name in fitting and each.weight < STATED else each
        for each in causes
    ]
    hints = (
        Cause(name, f"line {each.line} of the log: {why}: {each.text.partition(' ')[2]}", next_step(name), HINT)
        for name, (each, why) in fitting.items()
        if not any(cause.is_likely for cause in causes)
    )
    return [*raised, *(replace(each, weight=round(HINT - STEP * place, 3)) for place, each in enumerate(hints))]


def _share_statements(run: PlacedRun) -> list[Evidence]:
    """The statements of a share of an expected bandwidth."""
    return [each for each in run.benchmark.evidence if each.name == SHARE]


def _stated_share(statement: Evidence) -> float:
    """The share of a bandwidth that a statement gives."""
    return float(statement.text.partition(" ")[0])


def _faults_of_share(run: PlacedRun, share: float) -> Iterator[tuple[str, str]]:
    """The causes that leave such a share of the bandwidth of a machine, each with the reason."""
    fabric = run.cluster.scale_out
    count = fabric.nics_per_node if fabric and run.cluster.nodes > 1 else 0
    for used in (1, 2, 4):
        if used < count and abs(share * count / used - 1) <= NEAR:
            yield "one-nic", f"{share:.0%} of the expected rate is that of {used} of {count} NICs"
            break
    if HALF[0] <= share <= HALF[1]:
        if fabric is not None and fabric.technology.family == "roce":
            yield "bonded-ports", f"{share:.0%} of the expected rate is that of one port of a bond"
        yield "wrong-pcie-generation", f"{share:.0%} of the expected rate is that of half the lanes or one generation"
    if fabric is not None and fabric.technology.rdma and run.cluster.nodes > 1:
        if share <= OF_SOCKETS:
            yield "socket-fall-back", f"{share:.0%} of the expected rate is that of TCP sockets"
        if share <= HALF[1]:
            yield "gpudirect-off", f"{share:.0%} of the expected rate is typical of traffic through host memory"


def causes_left_open(run: PlacedRun, causes: Collection[Cause]) -> Iterator[Cause]:
    """The causes that the place of a reported fault leaves open, after those that words suggest, if nothing decides."""
    told = any(each.name == OF_A_REPORT for each in run.benchmark.evidence)
    if not told or any(each.weight > LEADING + RAISED for each in causes):
        return
    named = {each.name for each in causes if each.weight > LOWERED}
    for each in run.benchmark.evidence:
        open_causes = PLACES.get(each.name.removeprefix(SCOPE), ()) if each.name.startswith(SCOPE) else ()
        names = [name for name in open_causes if name not in named]
        for place, (name, weight) in enumerate(_possible_causes(run, ((name, OPEN) for name in names))):
            evidence = f"line {each.line} of the log: only the place of the fault is told: {each.text}"
            yield Cause(name, evidence, next_step(name), round(weight - STEP * place, 3))

"""Acceptance tests: the plan of tests with commands and thresholds, and the outcome of the tests in logs."""

from __future__ import annotations

from collections.abc import Sequence

from clusterspec.analysis.outputs import collective
from clusterspec.cost.collectives.predict import CollectiveRow
from clusterspec.exchange.acceptance_cases import AcceptanceCase, acceptance_cases, evaluate
from clusterspec.exchange.import_result import UnresolvedSpec
from clusterspec.procurement.acceptance import ITERATIONS, PROGRAMS, AcceptanceTest, acceptance_tests
from clusterspec.records import replace
from clusterspec.results.diagnosis import AcceptanceReport, PlannedTest
from clusterspec.studies import Study

TYPE_CHECKING = False
if TYPE_CHECKING:
    from clusterspec.logs.benchmarks.benchmark import Benchmark

    Logs = Sequence[tuple[str, Benchmark]]

HCCL = {"all-reduce": "all_reduce", "all-gather": "all_gather", "all-to-all": "all2all"}
NEURON = {"all-reduce": "allr", "all-gather": "allg", "all-to-all": "alltoall"}
REMEDIES = {
    "node": "repair or exchange the node, then repeat",
    "scale-up": "run it on each node alone; repair or exchange the nodes that miss the threshold, then repeat",
    "scale-out": "halve the set of nodes until the slow node, cable or switch is known; repair it, then repeat on all",
}
"""The action after a failed test: by the outermost tier that the test uses, or for the only node."""


def planned_test(test: AcceptanceTest, row: CollectiveRow, nodes: int) -> PlannedTest:
    """A test with its prediction on a machine of ``nodes``; the threshold is the low end of the predicted range."""
    return PlannedTest(
        collective=test.collective,
        nodes=test.nodes,
        ranks=test.ranks,
        size=test.size,
        tier=test.tier,
        tool=test.tool,
        command=command_of_test(test),
        threshold=row.lowest_busbw,
        predicted=row.busbw,
        ceiling=row.ceiling_busbw,
        bound_by=row.bound_by,
        remedy=REMEDIES["node" if nodes == 1 else test.tier],
    )


def _benchmark_size(size: float) -> str:
    """A size as collective benchmarks accept it: in binary units if it is a whole number of them.

    >>> _benchmark_size(2.0**33), _benchmark_size(2.0**29), _benchmark_size(1e9)
    ('8G', '512M', '1000000000')
    """
    units = ((30, "G"), (20, "M"), (10, "K"))
    return next(
        (f"{size / (1 << power):.0f}{name}" for power, name in units if size % (1 << power) == 0), f"{size:.0f}"
    )


def command_of_test(test: AcceptanceTest) -> str:
    """The command of a test, with one process per rank, as the exported scripts run it.

    >>> command_of_test(AcceptanceTest("all-reduce", 4, 32, 2.0**33, "scale-out", "nccl-tests"))
    'mpirun -np 32 -N 8 all_reduce_perf -b 8G -e 8G -g 1 -n 20 -w 5 -c 1'
    """
    each = max(1, test.ranks // max(1, test.nodes))
    size = _benchmark_size(test.size)
    if test.tool in ("nccl-tests", "rccl-tests") and test.collective in PROGRAMS:
        binary = PROGRAMS[test.collective]
        return f"mpirun -np {test.ranks} -N {each} {binary} -b {size} -e {size} -g 1 {ITERATIONS}"
    if test.tool == "hccl_demo" and test.collective in HCCL:
        words = f"--nranks {test.ranks} --ranks_per_node {each} --size {test.size:.0f}b --test {HCCL[test.collective]}"
        return f"python3 run_hccl_demo.py {words}"
    if test.tool == "nccom-test" and test.collective in NEURON:
        return f"nccom-test -r {test.ranks} -N {test.nodes} -b {size}B -e {size}B -n 100 {NEURON[test.collective]}"
    return ""


def planned_tests(study: Study) -> tuple[PlannedTest, ...]:
    """The acceptance tests of the spec, followed by usual tests of tiers that the spec does not test; each with
    prediction and command.
    """
    cluster = study.design.cluster
    cases, stated, _ = acceptance_cases(study.design)
    demanded = _planned_cases(study, cases, from_spec=True) if stated else ()
    seen = {(test.collective, test.ranks) for test in demanded}
    tests = [
        test for test in (acceptance_tests(cluster) if cluster else ()) if (test.collective, test.ranks) not in seen
    ]
    rows = [(test, collective(study, test.collective, test.ranks, (test.size,)).rows) for test in tests]
    return (*demanded, *(planned_test(test, found[0], cluster.nodes) for test, found in rows if found and cluster))


def _planned_cases(study: Study, cases: Sequence[AcceptanceCase], *, from_spec: bool) -> tuple[PlannedTest, ...]:
    """The cases that `accept` judges, with prediction and command; cases without a prediction are omitted."""
    cluster = study.design.cluster
    assert cluster is not None
    found = []
    for case in cases:
        tier = "scale-up" if case.ranks <= cluster.ranks_per_domain else "scale-out"
        test = AcceptanceTest(case.collective, case.nodes, case.ranks, case.size, tier, case.tool)
        predicted = collective(study, case.collective, case.ranks, (case.size,))
        if predicted.rows:
            one = replace(
                planned_test(test, predicted.rows[0], cluster.nodes), name=case.name, unmeasured=predicted.unmeasured
            )
            found.append(replace(one, demanded=case.threshold) if from_spec else one)
    return tuple(found)


def accept(study: Study, logs: Logs, earlier: Logs = ()) -> tuple[AcceptanceReport, tuple[str, ...]]:
    """Every acceptance test with its status, and the tests of the spec that cannot be run, with the reasons.

    ``earlier`` are the logs of an earlier acceptance, against which the measurements are compared.

    Raises `UnresolvedSpec` if there is no test that can be run.
    """
    tests, stated, unclear = acceptance_cases(study.design)
    if not tests:
        why = "the cluster cannot be resolved" if study.design.cluster is None else "it has no test that can be run"
        raise UnresolvedSpec("; ".join([why, *unclear]))
    own, others = _logs_of_machine(study, logs)
    outcomes, unused = evaluate(tests, own)
    plan = _planned_cases(study, tests, from_spec=stated)
    before = {each.name: each.measured for each in evaluate(tests, earlier)[0]} if earlier else None
    unused = (*unused, *others)
    return AcceptanceReport(study.settings.tool, study.input, outcomes, unused, stated, plan, before), unclear


def _logs_of_machine(study: Study, logs: Logs) -> tuple[Logs, list[tuple[str, str]]]:
    """The logs of the spec's devices, or of unknown devices, and the other logs with the reason. A measurement of
    another machine passes no test.
    """
    from clusterspec.analysis.diagnosis.other_devices import other_devices

    cluster = study.design.cluster
    told = {log: other_devices(cluster, each, study.settings.catalog) if cluster else "" for log, each in logs}
    return [each for each in logs if not told[each[0]]], [(log, why) for log, why in told.items() if why]

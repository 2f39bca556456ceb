"""Acceptance tests: the plan of tests with commands and thresholds, and the outcome of the tests in logs."""

from __future__ import annotations

from clusterspec.analysis.diagnosis import Logs
from clusterspec.analysis.outputs import collective
from clusterspec.cost.collectives.predict import CollectiveRow
from clusterspec.exchange.acceptance import acceptance_cases, evaluate
from clusterspec.exchange.import_result import UnresolvedSpec
from clusterspec.procurement.acceptance import PROGRAMS, AcceptanceTest
from clusterspec.results.diagnosis import AcceptanceReport, PlannedTest
from clusterspec.studies.study import Study

HCCL = {"all-reduce": "all_reduce", "all-gather": "all_gather", "all-to-all": "all2all"}
NEURON = {"all-reduce": "allr", "all-gather": "allg", "all-to-all": "alltoall"}


def planned(test: AcceptanceTest, row: CollectiveRow) -> PlannedTest:
    """A test with its prediction; the threshold is the low end of the predicted range."""
    return PlannedTest(
        collective=test.collective,
        nodes=test.nodes,
        ranks=test.ranks,
        size=test.size,
        tier=test.tier,
        tool=test.tool,
        command=command(test),
        threshold=row.least_busbw,
        predicted=row.busbw,
        ceiling=row.ceiling_busbw,
        bound_by=row.bound_by,
    )


def command(test: AcceptanceTest) -> str:
    """The command of a test, with one process per rank, 20 warm-up and 100 timed iterations.

    >>> command(AcceptanceTest("all-reduce", 4, 32, 2.0**33, "scale-out", "nccl-tests"))
    'mpirun -np 32 -N 8 all_reduce_perf -b 8G -e 8G -g 1 -w 20 -n 100'
    """
    each = max(1, test.ranks // max(1, test.nodes))
    size = f"{test.size / 2**30:.0f}G"
    if test.tool in ("nccl-tests", "rccl-tests"):
        binary = PROGRAMS[test.collective]
        return f"mpirun -np {test.ranks} -N {each} {binary} -b {size} -e {size} -g 1 -w 20 -n 100"
    if test.tool == "hccl_demo" and test.collective in HCCL:
        words = f"--nranks {test.ranks} --ranks_per_node {each} --size {test.size:.0f}b --test {HCCL[test.collective]}"
        return f"python3 run_hccl_demo.py {words}"
    if test.tool == "nccom-test" and test.collective in NEURON:
        return f"nccom-test -r {test.ranks} -N {test.nodes} -b {size}B -e {size}B -n 100 {NEURON[test.collective]}"
    return ""


def planned_tests(study: Study) -> tuple[PlannedTest, ...]:
    """The acceptance tests of the tiers of the machine, each with its prediction and its command."""
    from clusterspec.procurement.acceptance import acceptance_tests

    tests = acceptance_tests(study.design.cluster) if study.design.cluster else ()
    rows = [(test, collective(study, test.collective, test.ranks, (test.size,)).rows) for test in tests]
    return tuple(planned(test, found[0]) for test, found in rows if found)


def accept(study: Study, logs: Logs) -> tuple[AcceptanceReport, tuple[str, ...]]:
    """Every acceptance test with its status, and the tests of the spec that cannot be run, with the reasons.

    Raises `UnresolvedSpec` if there is no test that can be run.
    """
    tests, stated, unclear = acceptance_cases(study.design)
    if not tests:
        why = "the cluster cannot be resolved" if study.design.cluster is None else "it has no test that can be run"
        raise UnresolvedSpec("; ".join([why, *unclear]))
    outcomes, unused = evaluate(tests, logs)
    return AcceptanceReport(study.settings.tool, study.input, outcomes, unused, stated), unclear

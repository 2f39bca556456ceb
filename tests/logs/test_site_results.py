"""Results of the health checks of sites, in the forms that their public sources write."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.acceptance_cases import AcceptanceCase, evaluate
from clusterspec.logs.benchmarks.benchmark import Benchmark
from clusterspec.logs.benchmarks.nccl_rows import NotALogError
from clusterspec.logs.benchmarks.readers import read_benchmark, reader_of

SIZE = 8 << 30
NODES = ("sb-01", 235.36), ("sb-02", 180.5)


def superbench() -> str:
    """Two nodes; the names of ``tests/analyzer/test_results.jsonl``, and an annotation of two nodes."""
    lines = []
    for node, busbw in NODES:
        figures = {"busbw": busbw, "algbw": round(busbw / 1.75, 2), "time": 63870.0}
        metrics = {f"nccl-bw/allreduce_{SIZE}_{what}:0": value for what, value in figures.items()}
        wide = {f"nccl-bw:allgather-2-nodes/allgather_0_0:{SIZE}_busbw": 370.1, "gpu_mem_bw": 1.0, "return_code": 0}
        lines.append(json.dumps({"node": node} | metrics | wide))
    return "\n".join(lines)


def cvs(*, aggregated: bool = False) -> str:
    """The schema of ``cvs/schema/rccl.py``: 16 ranks, in place and out of place."""
    mean = "_mean" if aggregated else ""
    machine = {"nodes": 2, "ranks": 16, "ranksPerNode": 8, "gpusPerRank": 1}
    rows = []
    for name in ("AllReduce", "AlltoAll"):
        for size in (SIZE, SIZE // 2):
            for place, busbw in ((0, 310.0), (1, 330.0)):
                figures = {f"time{mean}": 1000.0, f"algBw{mean}": 170.0, f"busBw{mean}": busbw}
                head = {"collective" if aggregated else "name": name, "size": size, "type": "float", "inPlace": place}
                rows.append(head | figures | machine | ({} if aggregated else {"numCycle": 0, "wrong": "0"}))
    return json.dumps(rows, indent=1)


def readiness() -> str:
    """A list as ``kubectl get bandwidthmeasurements -o json`` prints it; figures are text."""
    status = {"results": [{"sizeBytes": SIZE, "algBW": "213.33", "busBW": "400.00", "samples": 3}]}
    item = {"kind": "BandwidthMeasurement", "spec": {"testType": "all_reduce"}, "status": status}
    return json.dumps({"items": [item, item | {"spec": {}}], "kind": "List"}, indent=2)


def shapes(found: Benchmark) -> list[tuple[object, ...]]:
    return [(each.collective, each.nodes, each.ranks, each.largest.size, each.largest.busbw) for each in found.series]


def test_results_state_collective_size_and_ranks() -> None:
    """Ranks follow from figures where a tool leaves them out: 2 (n − 1) / n = 1.75 for 8, 1.875 for 16."""
    assert shapes(read_benchmark(superbench())) == [
        line
        for _, busbw in NODES
        for line in (("all-reduce", None, 8, SIZE, busbw * 1e9), ("all-gather", 2, None, SIZE, 370.1e9))
    ]
    for aggregated in (False, True):
        assert shapes(read_benchmark(cvs(aggregated=aggregated))) == [
            ("all-reduce", 2, 16, SIZE, 330e9),
            ("all-to-all", 2, 16, SIZE, 310e9),
        ]
    found = read_benchmark(readiness())
    assert shapes(found) == [("all-reduce", None, 16, SIZE, 400e9)]
    assert "name no collective" in found.remarks[0][0]
    assert found.series[0].largest.line == readiness().split('"sizeBytes"')[0].count("\n") + 1


def test_results_decide_acceptance_tests() -> None:
    """Two nodes of SuperBench are two runs, one of them too slow; an annotation of two nodes stands for 16 ranks."""
    logs = [("sb", read_benchmark(superbench())), ("cvs", read_benchmark(cvs()))]
    cases = (
        ("all-reduce", 1, 8, 200e9, "fail"),
        ("all-gather", 2, 16, 350e9, "pass"),
        ("all-reduce", 2, 16, 320e9, "pass"),
    )
    for collective, nodes, ranks, least, wanted in cases:
        test = AcceptanceCase("test", collective, nodes, ranks, SIZE, least, "nccl-tests")
        (outcome,), _ = evaluate([test], logs)
        assert outcome.status == wanted, outcome


@pytest.mark.parametrize(
    "text",
    [
        '{"nccl-bw/allreduce_8_busbw": 1',
        '{"nccl-bw/allreduce_8_busbw": "nan"}',
        '["nccl-bw/allreduce_8_busbw"]',
        '{"inPlace": 1, "busBw": 1}',
        '[{"name": "AllReduce", "size": -1, "inPlace": 1, "busBw": 1e999}]',
        '{"busBW": 1, "sizeBytes": 1, "items": 7}',
        '{"items": [{"spec": 1, "status": {"results": [{"sizeBytes": 1, "busBW": []}]}}]}',
        '[{"inPlace": 1, "busBw": ' + "[" * 100_000,
    ],
)
def test_damaged_results_are_refused_with_a_reason(text: str) -> None:
    reader = reader_of(text)
    assert reader is not None
    with pytest.raises(NotALogError, match=r"is no|has no"):
        reader.read(text)

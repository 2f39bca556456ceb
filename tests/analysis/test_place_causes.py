"""Causes by what differs between hosts or ranks, what stacks wait for, and shares of an expected bandwidth."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.cause_meanings import MEANINGS
from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.place_causes import DIFFERING, PLACES
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.suspected_causes import next_step
from clusterspec.results.diagnosis import ComparedCollective
from tests.analysis.test_diagnosis import cluster, names

NODES = "{platform: dgx-h100, nodes: 2}"
NODE = "{platform: dgx-h100, nodes: 1}"
ROCE = "{platform: dgx-h100, nodes: 2, scale_out: {technology: roce-v2, nic_bandwidth: 400 Gb/s}}"


def diagnosed(text: str, machine: str = NODES) -> ComparedCollective:
    read = read_log("a.log", text.encode(), unfinished=True)
    return diagnosis_of(cluster(machine), [("a.log", read)], LogOverrides()).compared[0]


def test_every_cause_of_a_place_has_a_meaning_and_a_check() -> None:
    for cause in [cause for weighed in DIFFERING.values() for cause, _ in weighed] + [*sum(PLACES.values(), ())]:
        assert cause in MEANINGS
        assert next_step(cause)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("The run hangs.\nnode1: driver 535.104.05\nnode2: driver 550.54.14", "mixed-releases"),
        ("The run hangs.\nnode1:\nexport WORLD_SIZE=16\nnode2:\nexport WORLD_SIZE=8", "absent-ranks"),
        ("Our job does nothing.\nrank 0 of 1\nrank 0 of 1", "separate-jobs"),
        ("Our training hangs as some ranks have fewer batches than the others.", "ranks-diverge"),
        ("Our job hangs, the machines are started at different times.", "absent-ranks"),
        ("Our job hangs: one task is still reading its checkpoint.", "storage-fault"),
        ("It hangs.\nThread 1 (idle)\n    _try_get_batch (torch/utils/data/dataloader.py:9)", "data-loading"),
        ("It crashed.\nSignal: Bus error (7)\n[h:7] [ 1] /l/libnccl.so.2(+0x3)[0x7f]", "shared-memory"),
    ],
)
def test_what_differs_names_its_cause_first(text: str, cause: str) -> None:
    assert names(diagnosed(text))[0] == cause


def test_the_line_of_a_program_that_states_its_cause_precedes_what_differs() -> None:
    unlike = "The run hangs.\nnode1: driver 535.104.05\nnode2: driver 550.54.14"
    found = names(diagnosed(f"{unlike}\nRuntimeError: CUDA out of memory. Tried to allocate 2 GiB"))
    assert found[0] == "memory-full"
    assert "mixed-releases" in found


def test_a_rank_that_waits_for_data_while_others_wait_in_a_collective_is_the_cause() -> None:
    data = "Thread 1 (idle)\n    _try_get_batch (torch/utils/data/dataloader.py:9)"
    collective = "Thread 2 (idle)\n    barrier (torch/distributed/distributed_c10d.py:9)"
    found = {each.name: each.weight for each in diagnosed(f"It hangs.\n{data}\n{collective}").causes}
    assert found["data-loading"] > found["ranks-diverge"]


def test_the_share_of_a_bandwidth_names_what_the_machine_divides_by_it() -> None:
    """A node of a DGX H100 has eight NICs of 50 GB/s: 50 of 400 GB/s is the rate of one of them."""
    one = diagnosed("Our bandwidth is bad: we only get 50 GB/s instead of 400 GB/s over two nodes.")
    assert "one-nic" in names(one)
    half = "Our bandwidth is bad: we only get 25 GB/s instead of 50 GB/s between two NICs."
    assert "wrong-pcie-generation" in names(diagnosed(half))
    assert "bonded-ports" in names(diagnosed(half, ROCE))
    assert "bonded-ports" not in names(diagnosed(half))
    assert "one-nic" not in names(diagnosed("Our bandwidth is bad: only 50 GB/s instead of 400 GB/s.", NODE))


def test_a_place_alone_leaves_its_causes_open_each_with_a_check() -> None:
    text = "Over LAN the training works normally, but when I switch to Thunderbolt it gets stuck."
    opened = [each for each in diagnosed(text).causes if "only the place of the fault is told" in each.evidence]
    assert {each.name for each in opened} < {*PLACES["slower-network"]} < {*names(diagnosed(text))}
    assert all(each.next for each in opened)
    assert not any(each.is_likely for each in opened)


def test_a_bus_error_with_ample_shared_memory_is_of_a_mapped_file() -> None:
    guess = (
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."
    )
    assert names(diagnosed(guess))[0] == "shared-memory"
    assert names(diagnosed(f"docker run --shm-size=256g image\n{guess}"))[0] == "storage-fault"

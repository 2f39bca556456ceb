"""Next steps where the memory of an accelerator is full: by what the program does, else by the work of the design."""

from __future__ import annotations

import pytest

from clusterspec.analysis.diagnosis.collectives import diagnosis_of, read_log
from clusterspec.analysis.diagnosis.device_steps import REMEDIES
from clusterspec.analysis.diagnosis.placed_runs import LogOverrides
from clusterspec.analysis.diagnosis.stated_causes import LESS_MEMORY
from tests.analysis.test_diagnosis import cluster

FULL = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
TRAINED = f"step 12 loss: 2.31 grad_norm: 1.2\n{FULL}"
SERVED = f"(EngineCore pid=7) Loading weights took 9.1 seconds\n{FULL}"
BOTH = f"{SERVED}\n{TRAINED}"


def next_step(text: str, work: str, machine: str = "{platform: dgx-h100, nodes: 1}") -> str:
    read = read_log("a.log", text.encode(), unfinished=True)
    found = diagnosis_of(cluster(machine), [("a.log", read)], LogOverrides(), work=work)
    (step,) = (each.next for each in found.compared[0].causes if each.name == "memory-full")
    return step


@pytest.mark.parametrize("work", ["", "train", "serve"])
def test_a_run_that_trained_gets_smaller_batches_whatever_the_design_does(work: str) -> None:
    assert "micro-batch" in next_step(TRAINED, work)
    assert "engine" not in next_step(TRAINED, work)


@pytest.mark.parametrize("work", ["", "train", "serve"])
def test_an_engine_gets_a_smaller_share_whatever_the_design_does(work: str) -> None:
    assert "smaller share" in next_step(SERVED, work)
    assert "micro-batch" not in next_step(SERVED, work)


@pytest.mark.parametrize("text", [FULL, BOTH])
@pytest.mark.parametrize(("work", "remedy"), [*REMEDIES.items(), ("", LESS_MEMORY), ("rl", LESS_MEMORY)])
def test_the_work_of_the_design_decides_where_the_log_tells_none(text: str, work: str, remedy: str) -> None:
    assert next_step(text, work).endswith(remedy)


def test_devices_of_other_vendors_have_the_remedy_of_the_work_too() -> None:
    text = FULL.replace("CUDA", "HIP")
    assert "amd-smi" in next_step(text, "train", "{platform: mi300x-ubb8, nodes: 1}")
    assert next_step(text, "train", "{platform: mi300x-ubb8, nodes: 1}").endswith(REMEDIES["train"])

"""Context parallelism in configurations of MaxText: the kernel that takes part in it, and what MaxText refuses."""

from __future__ import annotations

import pytest

from clusterspec.exchange.exporters.registry import NotExportable, exporter_of
from tests.exchange.test_exporters import source

GPUS, TPUS = "platform: dgx-h100, nodes: 8", "platform: tpu-v5p, nodes: 16"
WORK = "workload: {{model: {0}, sequence_length: 8192, global_batch: 256}}\nlayout: {{tp: 2, cp: {1}, {2}}}\n"


def keys(machine: str, model: str = "llama-3.1-8b", cp: int = 2, method: str = "ring") -> dict[str, str]:
    design = source(machine, WORK.format(model, cp, f"cp_method: {method}, sharding: fsdp"))
    content = str(exporter_of("maxtext").write(design).content)
    return dict(line.split(": ", 1) for line in content.splitlines() if not line.startswith("#"))


def test_gpus_attend_over_ranks_with_the_kernel_that_exchanges_keys() -> None:
    found = keys(GPUS)
    assert (found["attention"], found["packing"], found["context_parallel_strategy"]) == (
        "cudnn_flash_te",
        "false",
        "ring",
    )
    assert keys(GPUS, method="all-gather")["context_parallel_strategy"] == "all_gather"
    assert not {"attention", "packing"} & keys(GPUS, cp=1).keys()


def test_rings_of_tpus_need_their_own_kernel() -> None:
    found = keys(TPUS)
    assert (found["attention"], found["use_tokamax_splash"]) == ("flash", "true")
    assert "packing" not in found
    assert not {"attention", "use_tokamax_splash"} & keys(TPUS, method="all-gather").keys()


@pytest.mark.parametrize(
    ("machine", "model", "method"),
    [
        (GPUS, "llama-3.1-8b", "all-to-all"),
        (GPUS, "gpt-oss-20b", "ring"),
        (TPUS, "gpt-oss-20b", "ring"),
    ],
)
def test_exchanges_that_maxtext_refuses_are_not_written(machine: str, model: str, method: str) -> None:
    with pytest.raises(NotExportable):
        keys(machine, model, method=method)
    assert keys(TPUS, method="all-to-all")["context_parallel_strategy"] == "ulysses"

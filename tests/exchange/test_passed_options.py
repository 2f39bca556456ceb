"""Options that a wrapper passes to an engine, and what a launch leaves to another file, is read or listed."""

from __future__ import annotations

import pytest

from tests.exchange.imports import counts, given, read, unknown

WRAPPED = """\
#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gres=gpu:h200:8
srun harness mpi-vllm --engine.model.repo=org/name \\
  --engine.cli=--tensor-parallel-size=4 \\
  --engine.cli=--enable-expert-parallel \\
  --engine.cli=--max-num-seqs=1024 \\
  --engine.cli=--max-model-len=32768 vllm serve org/name
"""


def test_options_in_options_of_a_wrapper_are_those_of_the_engine() -> None:
    reading = read(WRAPPED)
    keys = given(reading)
    assert (keys["layout.tp"], keys["layout.ep"], keys["workload.serving.max_sequences"]) == (4, 4, 1024)
    assert counts(reading)["max_model_len"] == 32768
    assert keys["cluster.accelerators_per_node"] == 8
    assert "accelerator h200: a name of the site" in unknown(reading)


@pytest.mark.parametrize(
    ("model", "tp"), [("org/name", 1), ("/engines/kimi", None), ("<engine>", None), ("./engine", None)]
)
def test_a_built_engine_of_tensorrt_llm_states_its_ranks_itself(model: str, tp: int | None) -> None:
    reading = read(f"trtllm-serve serve {model} --max_batch_size 64\n")
    assert given(reading).get("layout.tp") == tp
    assert ("layout.tp of" in unknown(reading)) is (tp is None)
    assert given(read(f"trtllm-serve {model} --tp_size 8\n"))["layout.tp"] == 8


def test_the_configuration_that_a_launch_of_maxtext_names_is_listed() -> None:
    launch = "python3 MaxText/train.py MaxText/configs/{} run_name=a ici_fsdp_parallelism=8\n"
    assert "models/gpu/llama2_7b.yml: a separate file" in unknown(read(launch.format("models/gpu/llama2_7b.yml")))
    assert ".yml" not in unknown(read(launch.format("base.yml")))

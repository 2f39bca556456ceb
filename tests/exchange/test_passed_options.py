"""What wrappers pass on, quoted scripts hold, results tell of a server and other files state is read or listed."""

from __future__ import annotations

import json

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


@pytest.mark.parametrize(
    "quoted",
    [
        "bash -lc $'docker run --label owner=<USER> \\\\\\n vllm serve org/name \\\\\\n --tensor-parallel-size 4\\n'",
        "bash -c 'docker run --label owner=<USER> vllm serve org/name --tensor-parallel-size 4'",
        'bash -c "docker run --label owner=<USER> vllm serve org/name --tensor-parallel-size 4"',
        "docker run --label owner=<USER> --note 'é' vllm serve org/name --tensor-parallel-size 4",
    ],
)
def test_a_placeholder_in_a_quoted_script_does_not_end_it(quoted: str) -> None:
    keys = given(read(f"{quoted}\n"))
    assert (keys["layout.framework"], keys["layout.tp"]) == ("vllm", 4)


def test_the_type_of_a_configuration_may_be_that_of_its_class() -> None:
    """Experts of Qwen3 have a width of their own, those of Mixtral the one that the file states."""
    sizes = {"num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "intermediate_size": 2048}
    experts = {"num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 1000}
    for name, width in (("Qwen3MoeForCausalLM", None), ("MixtralForCausalLM", 2048)):
        reading = read(json.dumps({"architectures": [name], **sizes, **experts}, indent=1), name="config.json")
        assert given(reading).get("workload.model.expert_ffn_hidden") == width, name
        assert ("a default of its own" in unknown(reading)) is (width is None), name
        assert given(reading)["workload.model.experts"] == 8


def test_results_of_sglang_tell_of_its_server() -> None:
    result: dict[str, object] = {
        "completed": 10,
        "duration": 2.0,
        "request_throughput": 5.0,
        "output_throughput": 640.0,
    }
    result |= {"total_input_tokens": 10240, "total_output_tokens": 1280, "request_rate": "inf", "max_concurrency": 4}
    alone = read(json.dumps(result), "load-test")
    assert "layout.tp" not in given(alone) and "the client does not see the engine" in unknown(alone)
    cached = "/root/.cache/huggingface/hub/models--Qwen--Qwen3-32B/snapshots/0c35"
    server = {"model_path": cached, "tp_size": 4, "dp_size": 1, "pp_size": 2, "mem_fraction_static": 0.8387624}
    keys = given(read(json.dumps({**result, "server_info": server}), "load-test"))
    assert (keys["workload.model"], keys["layout.framework"]) == ("qwen3-32b", "sglang")
    assert (keys["layout.tp"], keys["layout.pp"]) == (4, 2)
    assert keys["workload.serving.memory_fraction"] == pytest.approx(0.8388)
    assert keys["workload.serving.concurrency"] == 4

"""Logs in which an inference engine prints its options: what they state, and whose engine it is."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

SERVER = "(APIServer pid=12) INFO 01-20 18:50:18 [utils.py:253] "
OPTIONS = (
    SERVER + "non-default args: {'model_tag': 'Qwen/Qwen2.5-14B-Instruct', 'model': 'Qwen/Qwen2.5-14B-Instruct', "
    "'port': 8901, 'max_model_len': 8192, 'served_model_name': ['qwen'], DEGREES'gpu_memory_utilization': 0.65, "
    "'speculative_config': {'method': 'ngram', 'num_speculative_tokens': 4}}\n"
)
ENGINE = (
    "(EngineCore_DP0 pid=40) INFO 01-20 18:50:26 [core.py:93] Initializing a V1 LLM engine (v0.13.0) with config: "
    "model='Qwen/Qwen2.5-14B-Instruct', dtype=torch.bfloat16, max_seq_len=8192, tensor_parallel_size=TP, "
    "pipeline_parallel_size=2, data_parallel_size=1, enforce_eager=False, "
    "compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, 'tensor_parallel_size': 64}\n"
)
SGLANG = (
    "[2026-02-26 05:19:58] server_args=ServerArgs(model_path='zai-org/GLM-5-FP8', trust_remote_code=False, "
    "context_length=None, kv_cache_dtype='fp8_e4m3', mem_fraction_static=0.85, max_running_requests=1024, "
    "chunked_prefill_size=2048, tp_size=8, dp_size=4, ep_size=8, nnodes=2, node_rank=RANK, "
    "enable_dp_attention=ATTENTION, disaggregation_mode='null', overrides='{\"tp_size\": 3}')\n"
)


def options(tp: int | None = None) -> str:
    return OPTIONS.replace("DEGREES", f"'tensor_parallel_size': {tp}, " if tp else "")


def sglang(rank: int = 0, *, attention: bool = True) -> str:
    return SGLANG.replace("RANK", str(rank)).replace("ATTENTION", str(attention))


def test_options_that_vllm_prints_are_those_of_its_command_line() -> None:
    reading = read(options(2), name="vllm.log")
    found = given(reading)
    assert (reading.kind, found["workload.model"], found["layout.tp"]) == ("serving", "qwen2.5-14b", 2)
    assert found["workload.serving.memory_fraction"] == 0.65
    assert (found["workload.serving.speculative.tokens"], found["workload.serving.speculative.method"]) == (4, "ngram")
    assert counts(reading)["max_model_len"] == 8192
    assert "layout.pp" not in found
    assert "served_model_name, port" in unknown(reading)


def test_a_configuration_that_vllm_prints_adds_the_degrees_that_its_options_leave_out() -> None:
    found = given(read(options() + ENGINE.replace("TP", "1"), name="vllm.log"))
    assert (found["layout.tp"], found["layout.pp"]) == (1, 2)
    found = given(read(ENGINE.replace("TP", "4"), name="vllm.log"))
    assert (found["layout.tp"], found["layout.pp"], found["workload.model"]) == (4, 2, "qwen2.5-14b")
    assert "workload.serving.memory_fraction" not in found


def test_nodes_of_one_engine_are_one_launch_and_engines_with_other_options_are_several() -> None:
    assert given(read(sglang(0) + sglang(1), name="a.log"))["layout.nodes"] == 2
    assert given(read(options(2) + options(2), name="a.log"))["layout.tp"] == 2
    with pytest.raises(SeveralParts, match="2 launches"):
        read(options(2) + options(4), name="a.log")


def test_options_that_sglang_prints_name_the_groups_of_attention() -> None:
    reading = read(sglang(), name="a.log")
    found = given(reading)
    assert (found["layout.tp"], found["layout.attention_dp"], found["layout.ep"]) == (8 // 4, 4, 8)
    assert (found["workload.serving.max_sequences"], found["workload.kv_precision"]) == (1024 // 4, "fp8")
    assert "workload.serving.chunk_tokens" not in found
    assert "chunked_prefill_size: 2048: a log may print it before or after" in unknown(reading)
    whole = given(read(sglang(attention=False), name="a.log"))
    assert (whole["layout.tp"], whole["layout.dp"], whole["workload.serving.chunk_tokens"]) == (8, 4, 2048)


def test_all_options_of_an_earlier_vllm_are_read_with_the_model_that_is_served() -> None:
    line = (
        "INFO 05-10 [api_server.py:1044] args: Namespace(subparser='serve', model_tag='Qwen/Qwen2.5-14B-Instruct', "
        "model='facebook/opt-125m', tensor_parallel_size=4, pipeline_parallel_size=1, enforce_eager=True, "
        "dispatch_function=<function ServeSubcommand.cmd at 0x7f>, max_num_seqs=None)\n"
    )
    found = given(read(line, name="vllm.log"))
    assert (found["workload.model"], found["layout.tp"], found["layout.pp"]) == ("qwen2.5-14b", 4, 1)
    assert found["workload.serving.captured_graphs"] is False
    assert "workload.serving.max_sequences" not in found


@pytest.mark.parametrize(
    "text",
    [
        options(2).replace("APIServer", "VllmGenerationWorker"),
        options(2) + "{'loss': 1.2, 'grad_norm': 0.5, 'epoch': 0.1}\n",
        f"# {options(2)}",
        f'LINES = ["{options(2)[:-1]}"]\n',
    ],
)
def test_an_engine_of_a_trainer_a_comment_and_a_quoted_line_are_no_server(text: str) -> None:
    with pytest.raises(FormatError):
        read(text, name="a.log")


def test_a_line_that_is_cut_off_states_only_whole_options() -> None:
    cut = options(16).partition("'tensor_parallel_size': 1")[0]
    assert given(read(cut + "'tensor_parallel_size': 1", name="a.log")).get("layout.tp") is None

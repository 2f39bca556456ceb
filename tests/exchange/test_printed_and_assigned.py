"""Configurations that a log prints, that a file of Python assigns, and results of AccelMark."""

from __future__ import annotations

import json

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

PRINTED = """\
+ python3 -m verl.trainer.main_ppo data.train_batch_size=512 actor_rollout_ref.model.path=Qwen/Qwen3-8B
(TaskRunner pid=16) {{'actor_rollout_ref': {{'actor': {{'checkpoint': {{'contents': ['model',
(TaskRunner pid=16)                                                              'extra']}},
(TaskRunner pid=16)                                  'ppo_micro_batch_size_per_gpu': 16,
(WorkerDict pid=99) loading {{'a': {{
(TaskRunner pid=16) /usr/lib/python3/vllm/connections.py:8: RuntimeWarning: Failed (to read:
(TaskRunner pid=16)   from vllm.version import __version__ as VLLM_VERSION
(TaskRunner pid=16)                                  'ppo_mini_batch_size': 256,
(TaskRunner pid=16)                                  'strategy': 'fsdp',
(TaskRunner pid=16)                                  'grad_clip': inf,
(TaskRunner pid=16)                                  'use_kl_loss': True}},
(TaskRunner pid=16)                        'hybrid_engine': True,
(TaskRunner pid=16)                        'model': {{'path': 'Qwen/Qwen2.5-0.5B', 'kind': <Kind.A: 1>}},
(TaskRunner pid=16)                        'rollout': {{'n': {n}, 'name': 'vllm', 'tensor_model_parallel_size': 2}}}},
(TaskRunner pid=16)  'algorithm': {{'adv_estimator': 'grpo'}},
(TaskRunner pid=16)  'data': {{'train_batch_size': 1024}},
(TaskRunner pid=16)  'trainer': {{'n_gpus_per_node': 2, 'nnodes': 1}}}}
(TaskRunner pid=16) step:1 - actor/loss:0.1
"""


def test_a_printed_configuration_decides_over_the_launch_of_the_same_log() -> None:
    """1,024 prompts in minibatches of 256 are four; other tasks and warnings write between its lines."""
    reading = read(PRINTED.format(n=5))
    keys = given(reading)
    rl = "workload.rl"
    assert (keys["workload.model"], keys["layout.micro_batch"], keys["layout.nodes"]) == ("qwen2.5-0.5b", 16, 1)
    names = ("prompts_per_step", "minibatches", "samples_per_prompt", "placement", "rollout.tp")
    assert [keys[f"{rl}.{name}"] for name in names] == [1024, 4, 5, "colocated", 2]
    lines = {".".join(map(str, each.path)): each.at.line for each in reading.given}
    assert (lines["layout.micro_batch"], lines[f"{rl}.minibatches"], lines[f"{rl}.samples_per_prompt"]) == (4, 8, 14)


def test_configurations_of_two_runs_in_one_log_stay_apart() -> None:
    text = PRINTED.format(n=5) + PRINTED.format(n=8)
    with pytest.raises(SeveralParts, match=r"holds 2 configurations that differ, on lines 2, 20"):
        read(text)
    assert given(read(text, kind="verl", part=2))["workload.rl.samples_per_prompt"] == 8
    assert given(read(PRINTED.format(n=5) * 2))["workload.rl.samples_per_prompt"] == 5  # the same run again


def test_a_configuration_that_breaks_off_leaves_the_launch() -> None:
    text = PRINTED.format(n=5).partition("(TaskRunner pid=16)  'algorithm'")[0]
    assert given(read(text))["workload.model"] == "qwen3-8b"


def test_nemo_rl_prints_its_configuration() -> None:
    """512 samples, 32 prompts with 16 each, are one minibatch; a packed micro-batch has no fixed size."""
    text = """\
        Loaded configuration from: grpo.yaml
        {'cluster': {'gpus_per_node': 8, 'num_nodes': 1},
         'grpo': {'num_generations_per_prompt': 16, 'num_prompts_per_step': 32},
         'policy': {'dtensor_cfg': {'enabled': True},
                    'dynamic_batching': {'enabled': True},
                    'generation': {'backend': 'vllm',
                                   'colocated': {'enabled': True, 'resources': {'num_nodes': None}},
                                   'vllm_cfg': {'gpu_memory_utilization': 0.6, 'tensor_parallel_size': 1}},
                    'model_name': 'google/gemma-3-1b-it',
                    'precision': 'bfloat16',
                    'train_global_batch_size': 512,
                    'train_micro_batch_size': 4}}
        2026-02-26 03:55:02,919 INFO worker.py:1630 -- Using address 10.0.0.1:6379
        """
    reading = read(text)
    keys = given(reading)
    assert (keys["workload.model"], keys["workload.precision"], keys["layout.nodes"]) == ("gemma-3-1b", "bf16", 1)
    assert (keys["workload.rl.minibatches"], keys["workload.rl.rollout.memory_fraction"]) == (1, 0.6)
    assert "filled up to a number of tokens" in unknown(reading)
    assert "layout.micro_batch" not in keys


ASSIGNED = """\
    from colossalai.amp import AMP_TYPE
    BATCH_SIZE = 8
    NUM_MICRO_BATCHES = 4
    SEQ_LEN = 1024
    PIPELINE = {stages}
    {more}
    model = dict(type=gpt2_small, checkpoint=True)
    parallel = dict(pipeline=PIPELINE, tensor=dict(size={size}, mode={mode}))
    """


@pytest.mark.parametrize(
    ("stages", "size", "mode", "more", "stated"),
    [
        # a pipeline divides the 8 sequences of a rank into 4 micro-batches; one stage takes all 8 at once
        (2, 2, "'1d'", "fp16 = dict(mode=AMP_TYPE.NAIVE)", {"layout.micro_batch": 2, "workload.precision": "fp16"}),
        (1, 1, "None", "", {"layout.micro_batch": 8, "layout.tp": 1, "workload.precision": None}),
        (1, 4, "'sequence'", "", {"layout.tp": 1, "layout.cp": 4, "layout.cp_method": "ring"}),
        (1, 8, "'2.5d'", "", {"layout.tp": None}),
        (1, 2, "'1d'", "zero = dict(model_config=dict(tensor_placement_policy='cpu'))", {"layout.sharding": "fsdp"}),
        (1, 2, "'1d'", "IMG_SIZE = 224", {"workload.sequence_length": None}),
    ],
)
def test_assignments_state_the_earlier_engine_of_colossal_ai(
    stages: int, size: int, mode: str, more: str, stated: dict[str, object]
) -> None:
    reading = read(ASSIGNED.format(stages=stages, size=size, mode=mode, more=more))
    keys = given(reading)
    expected: dict[str, object] = {
        "workload.kind": "train",
        "layout.pp": stages,
        "layout.tp": size,
        "layout.recompute": "full",
        "workload.sequence_length": 1024,
        **stated,
    }
    assert {name: keys.get(name) for name in expected} == expected
    assert "model gpt2_small: a class of Python" in unknown(reading)
    assert counts(reading)["sequences_per_replica_and_pass"] == 8
    assert ("2.5d of 8 ranks" in unknown(reading)) == (mode == "'2.5d'")
    assert keys.get("layout.offload.optimizer") == (1 if "cpu" in more else None)


def test_a_configuration_of_internevo_is_told_apart() -> None:
    with pytest.raises(FormatError, match="InternEvo"):
        read("parallel = dict(\n    tensor=dict(size=2, mode='mtp'),\n    zero1=dict(size=8),\n)\n")


def result(**metrics: object) -> str:
    """A result of AccelMark with two accelerators."""
    return json.dumps(
        {
            "suite_id": "suite_A",
            "implementation_id": "nvidia_vllm",
            "chip": {"name": "NVIDIA H100 80GB HBM3", "count": 2},
            "software": {"framework": "vLLM"},
            "model": {"model_id": "meta-llama/Meta-Llama-3-8B-Instruct", "precision": "W8A16"},
            "task": {
                "parallelism": {"tensor_parallel_size": 2, "pipeline_parallel_size": 1},
                "extra_config": {"max_num_seqs": 512, "engine_kwargs": {"enforce_eager": True}},
            },
            "metrics": metrics,
        },
        indent=1,
    )


ONLINE = {"results_by_qps": [{"target_qps": rate, "ttft_ms_p99": 50 * rate, "tpot_ms_p50": 20} for rate in (5, 25)]}


def test_one_load_of_accelmark_is_read_and_others_are_parts() -> None:
    text = result(online=ONLINE, interactive={"ttft_ms_p50": 151.0})
    with pytest.raises(SeveralParts, match=r"3 runs \(online 5 requests/s, online 25 requests/s, interactive\)"):
        read(text)
    reading = read(text, kind="accelmark", part=2)
    keys = given(reading)
    assert (keys["cluster.accelerator"], keys["layout.tp"], keys["layout.framework"]) == ("h100-sxm-80gb", 2, "vllm")
    assert (keys["workload.model"], keys["workload.parameter_precision"]) == ("llama-3-8b", "int8")
    serving = "workload.serving"
    assert (keys[f"{serving}.load"], keys[f"{serving}.request_rate"]) == ("open", 25)
    assert (keys[f"{serving}.max_sequences"], keys[f"{serving}.captured_graphs"]) == (512, False)
    assert counts(reading) == {"accelerators": 2, "p99_ttft_seconds": 1.25, "p50_tpot_seconds": 0.02}
    alone = given(read(text, kind="accelmark", part=3))
    assert (alone[f"{serving}.load"], alone[f"{serving}.concurrency"]) == ("closed", 1)


@pytest.mark.parametrize(("note", "counted"), [("output_only", 364.6), (None, None)])
def test_a_throughput_of_accelmark_counts_answers_where_it_says_so(note: str | None, counted: float | None) -> None:
    row = {"client_concurrency": 8, "throughput_tokens_per_sec": 364.6, "_throughput_note": note}
    reading = read(result(offline={"results_by_concurrency": [row]}))
    assert counts(reading).get("output_tokens_per_second") == counted
    assert ("with or without the tokens of prompts" in unknown(reading)) == (counted is None)
    assert "workload.serving.load" not in given(reading)


@pytest.mark.parametrize("ended", [True, False])
def test_a_run_of_accelmark_that_ended_without_memory_is_listed(ended: bool) -> None:
    reading = read(result(offline={"results_by_concurrency": [{"client_concurrency": 8, "oom": ended}]}))
    assert ("oom: the run ended without enough memory" in unknown(reading)) is ended


def test_a_summary_of_accelmark_without_a_load_of_its_own_is_refused() -> None:
    with pytest.raises(FormatError, match="has no run of its own"):
        read(result(scaling={"results_by_chip_count": []}))


@pytest.mark.parametrize(
    ("policy", "offloaded", "why"),
    [("cpu", 1, ""), ("auto", None, "moves parameters to the memory of the host as it runs"), ("cuda", None, "")],
)
def test_where_colossal_ai_keeps_parameters_is_read_from_its_line(policy: str, offloaded: int | None, why: str) -> None:
    more = f"zero = dict(model_config=dict(tensor_placement_policy='{policy}'))"
    text = ASSIGNED.format(stages=1, size=2, mode="'1d'", more=more)
    reading = read(text)
    assert given(reading).get("layout.offload.optimizer") == offloaded
    assert bool(why) is ("tensor_placement_policy: auto" in unknown(reading)) and why in unknown(reading)
    lines = {each.at.line for each in reading.given if each.path[:2] in {("layout", "sharding"), ("layout", "offload")}}
    assert lines == {next(at for at, line in enumerate(text.strip("\n").split("\n"), 1) if "zero" in line)}

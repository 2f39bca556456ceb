"""Readers of PaddleNLP, Colossal-AI and MindFormers: degrees, replicas and batches by hand, and what stays open."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

PADDLE = """\
{{
  "model_name_or_path": "meta-llama/Llama-2-7b",
  "input_dir": "./data",
  "per_device_train_batch_size": 2,
  "gradient_accumulation_steps": 8,
  "tensor_parallel_degree": 4,
  "pipeline_parallel_degree": {stages},
  "virtual_pp_degree": 2,
  "sharding": "{sharding}",
  "sequence_parallel": 1,
  "max_seq_length": 4096,
  "bf16": true,
  "recompute": true,
  "recompute_granularity": "{granularity}"
}}
"""
LAUNCH = (
    'python -u -m paddle.distributed.launch --nnodes {nodes} --gpus "0,1,2,3,4,5,6,7" run_pretrain.py '
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 8 --tensor_parallel_degree 4 "
    "--pipeline_parallel_degree 1 --sharding {sharding} --sharding_parallel_degree {group}\n"
)


def test_degrees_of_paddlenlp_are_those_of_its_options() -> None:
    reading = read(PADDLE.format(stages=2, sharding="stage1", granularity="full"), name="pretrain.json")
    values = given(reading)
    assert [values[f"layout.{name}"] for name in ("tp", "pp", "virtual_stages", "micro_batch")] == [4, 2, 2, 2]
    assert (values["layout.schedule"], values["layout.sharding"]) == ("interleaved", "zero1")
    assert (values["layout.recompute"], values["layout.sequence_parallel"]) == ("full", True)
    assert (values["workload.model"], values["workload.sequence_length"]) == ("llama-2-7b", 4096)
    assert "layout.dp" not in values  # the ranks are of the launch
    assert counts(reading)["sequences_per_replica_and_step"] == 2 * 8


@each(
    ("nodes", "sharding", "group", "stated"),
    [
        # two nodes of eight ranks, four a replica: four replicas, each of 2 x 8 sequences a step
        (2, "stage1", -1, {"layout.dp": 4, "workload.global_batch": 64, "layout.sharding": "zero1"}),
        (2, "stage3", 2, {"layout.sharding": "hsdp", "layout.shard_group": 2}),
        (2, "stage3", 4, {"layout.sharding": "fsdp", "layout.shard_group": None}),
        (2, "stage2", 2, {"layout.sharding": None}),
        (2, "stage2", 1, {"layout.sharding": "none"}),
        (1, "'stage2 offload'", 2, {"layout.dp": 2, "layout.sharding": "zero2", "layout.offload.optimizer": 1}),
    ],
)
def test_replicas_of_paddlenlp_are_what_its_degrees_leave(
    nodes: int, sharding: str, group: int, stated: dict[str, object]
) -> None:
    values = given(read(LAUNCH.format(nodes=nodes, sharding=sharding, group=group), name="run.sh"))
    assert {name: values.get(name) for name in stated} == stated


def test_a_part_of_a_layer_that_is_computed_again_is_not_all_of_it() -> None:
    text = PADDLE.format(stages=1, sharding="", granularity="GRANULARITY")
    assert given(read(text.replace("GRANULARITY", "core_attn"), name="a.json"))["layout.recompute"] == "selective"
    other = read(text.replace("GRANULARITY", "full_attn"), name="a.json")
    assert "layout.recompute" not in given(other)
    assert "recompute_granularity: full_attn" in unknown(other)


def test_losses_of_pairs_are_refused() -> None:
    for text, name, kind in (
        (LAUNCH.format(nodes=1, sharding="stage1", group=1).replace("run_pretrain", "run_dpo"), "a.sh", "paddlenlp"),
        ('{"per_device_train_batch_size": 1, "tensor_parallel_degree": 8, "beta": 0.1}', "a.json", "paddlenlp"),
        ("colossalai run --nproc_per_node 8 train_dpo.py --plugin zero2 --batch_size 4\n", "a.sh", "colossalai"),
    ):
        with pytest.raises(FormatError, match="reference, rewards or pairs"):
            read(text, kind, name)


@each(
    ("options", "stated"),
    [
        # eight ranks of one node, without a list of hosts; each passes 4 sequences twice
        (
            "--plugin zero2 --batch_size 4 --accumulation_steps 2",
            {"layout.sharding": "zero2", "layout.dp": 8, "layout.micro_batch": 4, "workload.global_batch": 64},
        ),
        # two by two ranks a replica: two replicas; the pipeline passes one sequence of the batch at a time
        (
            "--plugin 3d --tp 2 --pp 2 --zero_stage 1 --batch_size 16 --microbatch_size 1 --accumulation_steps 1",
            {"layout.sharding": "zero1", "layout.dp": 2, "layout.micro_batch": 1, "workload.global_batch": 32},
        ),
        (
            "--plugin 3d --tp 2 --pp 1 --batch_size 16",
            {"layout.dp": 4, "layout.micro_batch": 16, "layout.sharding": None},
        ),
        ("--plugin 3d --tp 2 --batch_size 16", {"layout.dp": None, "layout.micro_batch": None}),
        ("--plugin gemini --batch_size 2", {"layout.sharding": "fsdp", "layout.nodes": 1}),
        # degrees that not every program gives to the plugin
        ("--plugin gemini --tp_size 2 --pp_size 2 --batch_size 2", {"layout.tp": None, "layout.dp": None}),
        ("--plugin zero2_cpu --batch_size 2", {"layout.offload.optimizer": 1}),
        (
            "--plugin 3d --tp 2 --pp 1 --enable_sequence_parallelism --sp_mode split_gather",
            {"layout.sequence_parallel": True, "layout.cp": None, "layout.dp": 4},
        ),
        (
            "--plugin 3d --tp 1 --pp 1 --sp 4 --enable_sequence_parallelism --sp_mode all_to_all",
            {"layout.cp": 4, "layout.cp_method": "all-to-all", "layout.dp": 2},
        ),
    ],
)
def test_plugins_of_colossal_ai_state_sharding_and_replicas(options: str, stated: dict[str, object]) -> None:
    values = given(read(f"colossalai run --nproc_per_node 8 train.py {options}\n", name="run.sh"))
    assert {name: values.get(name) for name in stated} == stated


def test_a_list_of_hosts_counts_nodes_and_a_file_of_hosts_none() -> None:
    launch = "colossalai run --nproc_per_node 4 {} train.py --plugin zero2 --batch_size 1\n"
    assert given(read(launch.format("--host a,b,c"), name="run.sh"))["layout.dp"] == 12
    assert "layout.nodes" not in given(read(launch.format("--hostfile hosts"), name="run.sh"))


MIND = """\
run_mode: '{mode}'
use_parallel: {parallel}
runner_config:
  batch_size: 2
  gradient_accumulation_steps: 4
micro_batch_interleave_num: {copies}
optimizer:
  type: AdamW
parallel:
  parallel_mode: {division}
  enable_parallel_optimizer: {sharded}
parallel_config:
  data_parallel: 8
  model_parallel: 4
  pipeline_stage: {stages}
  micro_batch_num: 16
  use_seq_parallel: True
recompute_config:
  recompute: {again}
  select_recompute: False
model:
  model_config:
    type: LlamaConfig
    seq_length: 8192
    hidden_size: 8192
    num_layers: 80
    num_heads: 64
    n_kv_heads: 8
    ffn_dim_multiplier: 1.3
    multiple_of: 512
    vocab_size: 128256
    compute_dtype: "bfloat16"
"""
RUN = {
    "mode": "train",
    "parallel": True,
    "copies": 1,
    "division": 1,
    "sharded": False,
    "stages": 4,
    "again": True,
}


def mindformers(**changes: object) -> str:
    return MIND.format(**(RUN | changes))


def test_the_batch_of_mindformers_counts_micro_batches_of_a_pipeline_or_steps() -> None:
    values = given(read(mindformers(), name="run.yaml"))
    assert [values[f"layout.{name}"] for name in ("tp", "pp", "dp")] == [4, 4, 8]
    assert values["workload.global_batch"] == 2 * 16 * 8
    assert (values["layout.sharding"], values["layout.recompute"]) == ("none", "full")
    # without a pipeline the steps count, and two overlapping copies pass twice as many sequences
    other = given(read(mindformers(stages=1, copies=2), name="run.yaml"))
    assert (other["workload.global_batch"], other["layout.micro_batch"]) == (2 * 2 * 4 * 8, 4)


def test_the_width_of_a_network_follows_from_its_multiplier() -> None:
    # int(1.31 x 4 x 8192) = 42926, two thirds of it 28617, the next multiple of 512 is 28672: that of Llama 3.1 70B
    reading = read(mindformers(), name="run.yaml")
    assert given(reading)["workload.model.ffn_hidden"] == 28672
    assert counts(reading)["parameters"] == 70553706496


@each(
    ("model", "width", "gated"),
    [
        ("type: LlamaConfig", 28672, True),
        ("type: TelechatConfig", None, None),  # only a model of Llama has the width of its multiplier
        ("type: TelechatConfig\n    intermediate_size: 100", 100, None),
        ("type: TelechatConfig\n    intermediate_size: 100\n    hidden_act: swiglu", 100, True),
        ("type: TelechatConfig\n    intermediate_size: 100\n    hidden_act: gelu", 100, False),
        ("type: Qwen2Config\n    intermediate_size: 100\n    hidden_act: silu", 100, True),
        ("type: GPT2Config\n    intermediate_size: 100\n    hidden_act: relu", 100, False),
    ],
)
def test_a_network_is_gated_if_its_model_or_its_activation_is(
    model: str, width: int | None, gated: bool | None
) -> None:
    reading = read(mindformers().replace("type: LlamaConfig", model), name="run.yaml")
    found = given(reading)
    assert (found.get("workload.model.ffn_hidden"), found.get("workload.model.gated_ffn")) == (width, gated)
    told = "model_config.type" in unknown(reading)
    assert told is (width is not None and gated is None)


def test_degrees_that_do_not_hold_are_not_stated() -> None:
    for changes, what in (
        ({"parallel": False}, "use_parallel: False"),
        ({"division": 0}, "parallel_mode: 0"),
        ({"division": "hybrid_parallel"}, "parallel_mode: hybrid_parallel"),
    ):
        reading = read(mindformers(**changes), name="run.yaml")
        assert not {"layout.tp", "layout.pp", "layout.dp", "workload.global_batch"} & given(reading).keys()
        assert what in unknown(reading)


def test_a_sharded_optimizer_of_mindspore_is_no_stage() -> None:
    reading = read(mindformers(sharded=True, again=[3, 0]), name="run.yaml")
    assert not {"layout.sharding", "layout.recompute"} & given(reading).keys()
    assert all(what in unknown(reading) for what in ("enable_parallel_optimizer: True", "recompute: [3, 0]"))


def test_a_configuration_that_generates_is_refused() -> None:
    with pytest.raises(FormatError, match="run_mode predict"):
        read(mindformers(mode="predict"), name="run.yaml")


@each(
    ("options", "method", "recompute"),
    [
        ("", None, None),
        ("--lora true --lora_rank 8", "lora", None),
        ("--fine_tuning LoRA --lora_rank 8", "lora", None),
        ("--fine_tuning full --lora_rank 8", None, None),
        ("--lora false --lora_rank 8", None, None),
        ("--recompute true --recompute_granularity core_attn", None, "selective"),
        ("--recompute true --recompute_granularity full", None, "full"),
        ("--recompute false --recompute_granularity full", None, "none"),
        ("--recompute true --recompute_granularity full_attn", None, None),
        ("--recompute true", None, None),
    ],
)
def test_paddlenlp_trains_adapters_and_computes_again_where_an_option_says_so(
    options: str, method: str | None, recompute: str | None
) -> None:
    reading = read(LAUNCH.format(nodes=1, sharding="stage1", group=-1).replace("\n", f" {options}\n"), name="run.sh")
    values = given(reading)
    assert values.get("workload.trainable.method") == method
    assert values.get("workload.trainable.rank") == (8 if method else None)
    assert ("the modules of the adapters" in unknown(reading)) == (method is not None)
    assert values.get("layout.recompute") == recompute
    assert ("state layout.recompute" in unknown(reading)) == (recompute is None and "--recompute " in options)

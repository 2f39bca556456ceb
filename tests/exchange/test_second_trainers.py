"""Runs of LLaMA-Factory that do not train, its second trainer, slices of xpk, samples of TRL, machines of Nebius."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

EVALUATED = "model_name_or_path: meta-llama/Meta-Llama-3-8B\nstage: sft\nfinetuning_type: lora\n"
SECOND = """\
    model: Qwen/Qwen3-4B
    model_class: llm
    {more}
    dist_config:
      name: {name}
      config_file: null
    train_dataset: data/a.yaml
    micro_batch_size: 2
    global_batch_size: 16
    cutoff_len: 2048
    bf16: true
    """


@pytest.mark.parametrize("switch", ["do_predict: true", "do_eval: true", "do_train: false"])
def test_a_run_of_llama_factory_that_only_evaluates_is_refused(switch: str) -> None:
    with pytest.raises(FormatError, match="does not train"):
        read(f"{EVALUATED}{switch}\n", name="a.yaml")


@pytest.mark.parametrize("switches", ["", "do_train: true\ndo_eval: true\n"])
def test_a_run_of_llama_factory_that_also_evaluates_trains(switches: str) -> None:
    assert given(read(f"{EVALUATED}{switches}", name="a.yaml"))["workload.kind"] == "train"


@pytest.mark.parametrize(
    ("name", "more", "stated"),
    [
        ("fsdp2", "", {"layout.sharding": "fsdp", "layout.framework": "fsdp", "workload.precision": "bf16"}),
        ("deepspeed", "", {"layout.sharding": None, "layout.framework": "deepspeed"}),
        ("dp", "", {"layout.sharding": None, "layout.framework": None}),
        ("fsdp2", "cp_size: 2\n    cp_mode: ulysses", {"layout.cp": 2, "layout.cp_method": "all-to-all"}),
        ("fsdp2", "ep_size: 4", {"layout.ep": 4}),
        (
            "fsdp2",
            "peft_config: {name: lora, r: 16, target_modules: all}",
            {"workload.trainable.method": "lora", "workload.trainable.rank": 16},
        ),
        ("fsdp2", "peft_config: {name: freeze}", {"workload.trainable.method": None}),
    ],
)
def test_the_second_trainer_of_llama_factory_states_batch_and_sharding(
    name: str, more: str, stated: dict[str, object]
) -> None:
    reading = read(SECOND.format(name=name, more=more), name="a.yaml")
    keys = given(reading)
    assert (reading.kind, keys["layout.micro_batch"], keys["workload.global_batch"]) == ("llama-factory", 2, 16)
    assert {key: keys.get(key) for key in stated} == stated
    assert "workload.kind" not in keys  # the command, not the file, says sft, dpo or rm
    assert "sequences are cut at 2048" in unknown(reading)


@pytest.mark.parametrize(
    ("options", "chips", "slices"),
    [("--tpu-type=v6e-256 --num-slices=2", 512, 2), ("--device-type v6e-128", 128, 1)],
)
def test_a_workload_of_xpk_has_the_chips_of_its_slices(options: str, chips: int, slices: int) -> None:
    reading = read(f"python3 ~/xpk/xpk.py workload create \\\n  {options} \\\n  --command='python a.py'\n")
    assert (reading.kind, counts(reading)["slices"]) == ("xpk", slices)
    assert given(reading) == {"cluster.platform": "tpu-v6e", "cluster.accelerators": chips}


def test_an_entry_of_the_benchmarks_of_maxtext_is_listed_with_its_slices() -> None:
    reading = read("python3 -m benchmarks.benchmark_runner xpk --device_type=v6e-128 --model_name=llama3_1_70b\n")
    assert given(reading)["cluster.accelerators"] == 128
    assert "model_name llama3_1_70b" in unknown(reading)


def test_a_workload_of_xpk_on_a_device_in_a_variable_is_refused() -> None:
    with pytest.raises(FormatError, match="is a variable or not stated"):
        read("xpk workload create --tpu-type=$TYPE --num-slices=1\n", kind="xpk")


@pytest.mark.parametrize(
    ("server", "mode", "degree"),
    [
        ("trl vllm-serve --model a/b --tensor_parallel_size 4 &", "", 4),
        ("trl vllm-serve --model a/b --tensor_parallel_size 4 &", " --vllm_mode colocate", None),
        ("# trl vllm-serve --model a/b --tensor_parallel_size 4", "", None),
        ("trl vllm-serve --tensor_parallel_size 4 &\ntrl vllm-serve --tensor_parallel_size 2 &", "", None),
        ("trl vllm-serve --model a/b &\nvllm-other --tensor_parallel_size 8", "", None),
    ],
)
def test_the_only_server_of_samples_of_a_script_states_the_degree_of_the_engines(
    server: str, mode: str, degree: int | None
) -> None:
    launch = "accelerate launch grpo.py --per_device_train_batch_size 4 --num_generations 8 --use_vllm true"
    assert given(read(f"{server}\n{launch}{mode}\n", kind="trainer")).get("workload.rl.rollout.tp") == degree


NEBIUS = """\
    resource "nebius_mk8s_v1_node_group" "gpu" {{
      {count}
      template = {{
        boot_disk = {{ size = var.disk }}
        resources = {{ platform = "{platform}", preset = "{preset}" }}
      }}
    }}
    resource "nebius_compute_v1_filesystem" "shared" {{ size = var.jail }}
    """


@pytest.mark.parametrize(
    ("platform", "preset", "count", "stated"),
    [
        (
            *("gpu-h200-sxm", "8gpu-128vcpu-1600gb", "fixed_node_count = 4"),
            {"cluster.platform": "nebius-h200", "cluster.nodes": 4},
        ),
        (
            *("gpu-h100-sxm", "1gpu-16vcpu-200gb", "fixed_node_count = var.n"),
            {"cluster.accelerator": "h100-sxm-80gb", "cluster.accelerators_per_node": 1},
        ),
        (
            *("gpu-b200-sxm", "8gpu-160vcpu-1792gb", "autoscaling = { min_node_count = 1, max_node_count = 3 }"),
            {"cluster.platform": "nebius-b200"},
        ),
    ],
)
def test_a_platform_of_nebius_has_the_accelerators_of_its_preset(
    platform: str, preset: str, count: str, stated: dict[str, object]
) -> None:
    assert given(read(NEBIUS.format(platform=platform, preset=preset, count=count), name="main.tf")) == stated


def test_a_group_of_nebius_that_a_load_scales_has_no_number_of_nodes() -> None:
    group = """\
        resource "nebius_mk8s_node_group" "gpu" {
          instance_template {
            platform_id = "gpu-h100-sxm"
            resources { gpus = 8 }
          }
          scale_policy {
            auto_scale { min = 1 }
          }
        }
        """
    reading = read(group, name="main.tf")
    assert given(reading) == {"cluster.platform": "nebius-h100"}
    assert "gpu: by load" in unknown(reading)


def test_options_of_a_recipe_of_tensorrt_llm_are_those_of_command_and_api() -> None:
    recipe = "tp_size: 4\npp_size: 2\nep_size: 4\nllm_api_args:\n  kv_cache_config:\n    dtype: fp8\n"
    keys = given(read(recipe, name="a.yaml"))
    assert (keys["layout.tp"], keys["layout.pp"], keys["layout.ep"]) == (4, 2, 4)
    assert keys["workload.kv_precision"] == "fp8"


def test_a_configuration_with_the_batch_of_another_program_is_not_of_axolotl() -> None:
    own = "base_model: a/b\ngradient_accumulation_steps: 8\n"
    assert read(f"{own}micro_batch_size: 2\n", name="a.yaml").kind == "deepspeed"
    assert read(f"{own}per_device_batch_size: 1\n", name="a.yaml").kind == "settings"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("flavor: x\nnested:\n  inner: 1\ncolor: red\n", "its keys are flavor, nested, color"),
        ('{\n  "flavor": 1,\n  "nested": {\n    "inner": 2\n  }\n}\n', "its keys are flavor, nested"),
        ("[alpha]\nx = 1\n[beta]\ny = 2\n", "its keys are alpha"),
        ("Topology: [Ring]\nNpusCount: [8]\n", "a network of LIBRA"),
    ],
)
def test_a_file_of_an_unknown_format_is_refused_with_its_outer_keys(text: str, keys: str) -> None:
    with pytest.raises(FormatError) as refusal:
        read(text)
    assert keys in str(refusal.value)


PRINTED = """\
ds_config: {'train_batch_size': 256}
[INFO] [config.py:1071:print]   json = {
    "train_batch_size": 256,
    "train_micro_batch_size_per_gpu": 32,
    "gradient_accumulation_steps": 2,
    "zero_optimization": {
        "stage": 3
    },
    "steps_per_print": inf
}
Loading extension module utils...
"""


def test_a_log_has_the_configuration_that_deepspeed_prints_on_its_lines() -> None:
    reading = read(PRINTED, name="run.log")
    keys = given(reading)
    assert (keys["workload.global_batch"], keys["layout.micro_batch"], keys["layout.sharding"]) == (256, 32, "fsdp")
    assert keys["layout.dp"] == 4  # 256 / (32 x 2)
    assert next(each.at.line for each in reading.given if each.path == ("layout", "micro_batch")) == 4


def test_a_log_of_two_runs_of_deepspeed_is_refused() -> None:
    with pytest.raises(FormatError, match="several configurations"):
        read(PRINTED + PRINTED.replace("256", "512"), name="run.log")


def test_a_server_next_to_a_training_of_gpt_neox_is_no_single_workload() -> None:
    server = "python -m vllm.entrypoints.openai.api_server --model a/b --tensor-parallel-size 4 &\n"
    with pytest.raises(SeveralParts, match="training on line 2"):
        read(f"{server}python deepy.py train.py configs/a.yml\n")
    assert read(f"{server}# python deepy.py train.py configs/a.yml\n").kind == "serving"


def test_a_run_of_llm_foundry_with_a_teacher_is_not_training_of_one_model() -> None:
    run = "global_train_batch_size: 128\ndevice_train_microbatch_size: 8\nmodel:\n  name: hf_causal_lm\n"
    assert given(read(run, kind="llm-foundry", name="a.yaml"))["workload.kind"] == "train"
    taught = read(f"{run}knowledge_distillation:\n  teacher_name_or_path: a/b\n", kind="llm-foundry", name="a.yaml")
    assert "workload.kind" not in given(taught)
    assert given(taught)["layout.micro_batch"] == 8
    assert "a teacher runs forward" in unknown(taught)


@pytest.mark.parametrize(
    ("program", "kind"),
    [("run_qa.py", None), ("a/run_flax_glue.py", None), ("run_mlm_wwm.py", None), ("run_clm.py", "train")],
)
def test_programs_of_transformers_for_encoders_train_no_text_decoder(program: str, kind: str | None) -> None:
    reading = read(f"python {program} --per_device_train_batch_size 12\n")
    assert given(reading).get("workload.kind") == kind
    assert ("trains an encoder" in unknown(reading)) is (kind is None)


def test_openrlhf_without_engines_is_refused_by_name() -> None:
    with pytest.raises(FormatError, match="OpenRLHF without engines"):
        read("deepspeed --module openrlhf.cli.train_ppo --micro_train_batch_size 2\n")


@pytest.mark.parametrize(
    ("launcher", "nodes", "ranks"),
    [
        ("torchrun --nproc_per_node 4 --nnodes 2 --node_rank 0 -m ${commands}", 2, 4),
        ("deepspeed --num_gpus=8 --module $commands", None, 8),
        ("deepspeed --module $commands", None, None),
        ("torchrun --nproc_per_node $N -m $commands", None, None),
        ("torchrun --nproc_per_node 4 -m $commands\ntorchrun --nproc_per_node 8 -m $commands", None, None),
    ],
)
def test_the_launcher_of_a_program_in_a_variable_states_nodes_and_ranks(
    launcher: str, nodes: int | None, ranks: int | None
) -> None:
    text = "openrlhf.cli.train_sft --pretrain a/b --train_batch_size 256 --micro_train_batch_size 1 --zero_stage 2"
    reading = read(f"read -r -d '' commands <<EOF\n{text}\nEOF\n{launcher}\n", kind="openrlhf")
    assert (given(reading).get("layout.nodes"), counts(reading).get("ranks_per_node")) == (nodes, ranks)
    assert given(reading)["workload.global_batch"] == 256

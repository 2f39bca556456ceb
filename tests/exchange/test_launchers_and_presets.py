"""Launches of NeMo-Framework-Launcher, presets of Megatron Bridge, printed launches, and options next to a model."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

LAUNCHER = """\
NODES=2
python3 /opt/launcher_scripts/main.py stages=[{0}] {0}=gpt3/5b {0}.trainer.num_nodes=$NODES \\
  {0}.trainer.max_steps=100 {1}
"""
FINE_TUNED = "peft.model.tensor_model_parallel_size=4 peft.model.data.train_ds.max_seq_length=4096 {}"


def test_launch_of_a_launcher_states_nodes_and_lists_its_configuration() -> None:
    reading = read(LAUNCHER.format("training", ""))
    assert given(reading) == {"layout.framework": "nemo", "layout.nodes": 2}
    assert "training=gpt3/5b: a configuration of NeMo-Framework-Launcher" in unknown(reading)


def test_samples_filled_to_the_longest_length_have_it() -> None:
    filled = read(LAUNCHER.format("peft", FINE_TUNED.format("peft.model.data.train_ds.pad_to_max_length=true")))
    cut = read(LAUNCHER.format("peft", FINE_TUNED.format("")))
    assert given(filled)["workload.sequence_length"] == 4096
    assert "workload.sequence_length" not in given(cut)
    assert "cut at 4096" in unknown(cut)


PRESETS = """\
from dataclasses import replace
BASE = WorkloadBaseConfig(micro_batch_size=1)
A100_V1 = replace(BASE, num_gpus=64, tensor_model_parallel_size=2, global_batch_size=64)
{}
"""
SECOND = "H100_V1 = replace(A100_V1, tensor_model_parallel_size=4)"


def test_one_preset_of_a_module_is_read_with_its_base() -> None:
    reading = read(PRESETS.format(""), "megatron", "configs.py")
    assert given(reading)["layout.tp"] == 2
    assert given(reading)["layout.micro_batch"] == 1
    assert given(reading)["workload.global_batch"] == 64


def test_several_presets_are_a_choice() -> None:
    with pytest.raises(SeveralParts, match=r"2 recipes that differ \(A100_V1, H100_V1\)"):
        read(PRESETS.format(SECOND), "megatron", "configs.py")
    chosen = given(read(PRESETS.format(SECOND), "megatron", "configs.py", part=2))
    assert chosen["layout.tp"] == 4
    assert chosen["workload.global_batch"] == 64


LOG = """\
[INFO:swift] start
run sh: `python -m torch.distributed.run --nproc_per_node 4 /s/swift/cli/sft.py --model Qwen/Qwen3-8B --tuner_type full
{} --per_device_train_batch_size 2`
{{'loss': 1.25, 'grad_norm': 1.0}}
"""


def test_launch_that_a_log_prints_is_read() -> None:
    reading = read(LOG.replace("\n{}", " {}").format("--torch_dtype bfloat16"), name="stdout.log")
    assert given(reading)["workload.model"] == "qwen3-8b"
    assert given(reading)["layout.micro_batch"] == 2
    assert counts(reading)["ranks_per_node"] == 4


CASES = """\
_server_cmd: &server_cmd
  - "--tensor-parallel-size"
  - "4"
  - "--data-parallel-size"
  - "2"
{}
test_cases:
  - name: one
    model: Qwen/Qwen3-8B
    server_cmd: *server_cmd
"""


def test_options_of_an_engine_next_to_the_model_are_a_launch() -> None:
    reading = read(CASES.format('  - "--max-num-seqs"\n  - "16"'), name="case.yaml")
    assert given(reading)["layout.tp"] == 4
    assert given(reading)["layout.framework"] == "vllm"
    assert given(reading)["workload.model"] == "qwen3-8b"
    assert given(reading)["workload.serving.max_sequences"] == 16


PICO = """\
{"distributed": {"tp_size": 2, "pp_size": 1}, "model": {"name": "a", "num_hidden_layers": 16},
 "training": {"seq_length": 1024, "micro_batch_size": 32}}
"""
LIGHTNING = """\
trainer:
  strategy:
    class_path: site.FSDP2Strategy
    init_args: {tensor_parallel_size: 8}
  precision: bf16-true
"""


def test_settings_of_a_class_are_those_of_the_run() -> None:
    stated = given(read(LIGHTNING, name="run.yaml"))
    assert stated == {"layout.tp": 8, "workload.precision": "bf16"}


TUNED = """\
model_name_or_path: NousResearch/Llama-2-7b-hf
trainer:
  mp: p=f32,c=bfloat16
  train_batch_size: 128
  num_train_steps: 10
"""


def test_settings_next_to_a_part_of_a_model_are_read() -> None:
    stated = given(read(PICO, name="config.json"))
    assert stated["layout.tp"] == 2
    assert stated["layout.micro_batch"] == 32
    assert stated["workload.sequence_length"] == 1024


def test_checkpoint_that_levanter_tunes_is_the_model() -> None:
    stated = given(read(TUNED, name="tune.yaml"))
    assert stated["workload.model"] == "llama-2-7b"
    assert stated["workload.global_batch"] == 128


GROUPS = """\
model:
  _component_: torchtune.models.llama3_2.llama3_2_3b
batch_size: 2
grpo_samples: 16
ppo_epochs: 3
max_generated_tokens: 512
{}optimizer:
  _component_: torch.optim.AdamW
enable_activation_checkpointing: true
dtype: bf16
"""


def test_groups_of_samples_of_torchtune_are_read() -> None:
    """Two prompts of a rank with 16 answers each pass the model at once."""
    reading = read(GROUPS.format(""), name="grpo.yaml")
    stated = given(reading)
    assert stated["workload.kind"] == "rl"
    assert stated["workload.rl.samples_per_prompt"] == 16
    assert stated["workload.rl.epochs"] == 3
    assert stated["layout.micro_batch"] == 32
    assert stated["layout.recompute"] == "full"
    assert "workload.rl.prompts_per_step" not in stated
    assert "batch_size: prompts of one rank" in unknown(reading)


def test_samples_of_other_processes_are_refused() -> None:
    with pytest.raises(FormatError, match="apart from those that train"):
        read(GROUPS.format("orchestration: {num_inference_workers: 4}\n"), name="grpo.yaml")

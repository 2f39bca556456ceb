"""Configurations that a tracker keeps of a run, options of undecided branches, and states that FSDP keeps on hosts."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, InputFile
from clusterspec.exchange.tracked_runs import without_tracker
from tests.exchange.imports import given, read, unknown

TRACKED = """\
_wandb:
    value:
        cli_version: 0.27.2
        n_gpus_per_node: 4
actor_rollout_ref:
    value:
        actor:
            ppo_micro_batch_size_per_gpu: 2
        rollout:
            n: 8
            tensor_model_parallel_size: 2
data:
    value:
        train_batch_size: 96
trainer:
    value:
        n_gpus_per_node: 8
        nnodes: 3
"""


def test_a_tracked_configuration_is_read_as_the_program_had_it() -> None:
    """3 nodes of 8; the 4 under ``_wandb`` are of no key of the program."""
    found = read(TRACKED, name="config.yaml")
    values = given(found)
    assert (values["layout.nodes"], values["workload.rl.prompts_per_step"]) == (3, 96)
    assert (values["workload.rl.rollout.tp"], values["workload.rl.samples_per_prompt"]) == (2, 8)
    assert next(each.at.line for each in found.given if each.path == ("layout", "nodes")) == 18


def test_scalars_lists_and_texts_keep_their_lines() -> None:
    old = "wandb_version: 1\n\nbetas:\n  desc: null\n  value:\n  - 0.9\n  - 0.95\nbf16:\n  desc: null\n  value: true\n"
    kept = without_tracker(InputFile("config.yaml", old.encode())).text.split("\n")
    assert kept[4:7] == ["betas:", "- 0.9", "- 0.95"]
    assert kept[9] == "bf16: true"
    assert len(kept) == old.count("\n") + 1


@pytest.mark.parametrize("text", ["_wandb:\n    value: {}\nlayout:\n    tp: 4\n", "_wandb: 1\nlayout: 4\n"])
def test_another_file_with_such_a_key_stays_as_it_is(text: str) -> None:
    file = InputFile("config.yaml", text.encode())
    assert without_tracker(file) is file


CHOSEN = """\
model=$1
if [ "$model" == "small" ]; then
    model="Qwen/Qwen3-8B"
elif [ "$model" == "large" ]; then
    model="Qwen/Qwen3-32B"
fi
{serve} $model --tensor-parallel-size 4
"""


@pytest.mark.parametrize("serve", ["vllm serve", "trtllm-serve serve", "sglang serve --model-path"])
def test_a_model_that_an_argument_chooses_is_listed(serve: str) -> None:
    found = read(CHOSEN.format(serve=serve), name="start.sh")
    assert "workload.model" not in given(found)
    assert "depends on the test on line 2" in unknown(found)


def test_a_model_that_the_script_decides_is_stated() -> None:
    assert given(read(CHOSEN.replace("$1", "large").format(serve="vllm serve")))["workload.model"] == "qwen3-32b"


def test_a_program_with_other_options_for_the_batch_is_not_the_trainer() -> None:
    line = "python own.py --base_model a/b --per_device_train_batch_size 4 --micro_batch_size 1"
    with pytest.raises(FormatError, match="micro_batch_size is no option of the Trainer"):
        read(line, "trainer")
    assert given(read(f"{line} --bf16", "trainer"))["workload.precision"] == "bf16"


AXOLOTL = "base_model: a/b\nmicro_batch_size: 1\nfsdp: [full_shard]\nfsdp_config: {offload_params: true}\n"
LLAMA = "model_name_or_path: a/b\nstage: sft\ndo_train: true\nper_device_train_batch_size: 1\nfsdp: {0}\n"


@pytest.mark.parametrize(
    ("text", "offloaded"),
    [
        (AXOLOTL, 1),
        (AXOLOTL.replace("true", "false"), None),
        (LLAMA.format("full_shard offload"), 1),
        (LLAMA.format("full_shard"), None),
        ("torchrun train.py --per_device_train_batch_size 1 --fsdp 'full_shard offload'", 1),
        ("accelerate launch --use_fsdp --fsdp_offload_params true --num_processes 8 train.py", 1),
    ],
)
def test_the_optimizer_of_offloaded_parameters_is_on_the_host(text: str, offloaded: int | None) -> None:
    """FSDP keeps gradients with offloaded parameters, and so the optimizer steps there."""
    found = read(text)
    assert given(found).get("layout.offload.optimizer") == offloaded
    assert ("parameters in the memory of the host" in unknown(found)) is bool(offloaded)

"""Settings that a preset, a former name, a label or an environment states, and lengths and stages of an encoder."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

JOB = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: train
spec:
  replicatedJobs:
    - name: slice-job
      replicas: REPLICAS
      template:
        spec:
          parallelism: 16
          completions: 16
          template:
            spec:
              nodeSelector:
                cloud.google.com/gke-tpu-accelerator: tpu7x
                cloud.google.com/gke-tpu-topology: 4x4x4
              containers:
              - name: train
                command:
                - bash
                - -c
                - |
                  python3 -m MaxText.train MaxText/configs/base.yml model_name=llama3.1-70b \\
                    per_device_batch_size=2 max_target_length=8192 dcn_data_parallelism=-1 \\
                    ici_fsdp_parallelism=64 ici_data_parallelism=2 steps=10
                resources:
                  limits:
                    google.com/tpu: 4
"""


def jobset(replicas: object) -> str:
    return JOB.replace("REPLICAS", str(replicas))


@pytest.mark.parametrize("slices", [1, 2])
def test_axes_left_open_take_the_devices_of_the_slices_that_a_jobset_selects(slices: int) -> None:
    reading = read(jobset(slices), name="job.yaml")
    stated = given(reading)
    assert counts(reading)["slices"] == slices
    assert (stated["layout.sharding"], stated["layout.shard_group"]) == ("hsdp", 64)
    assert stated["layout.dp"] == 128 * slices  # 64 chips of two devices in each slice
    assert stated["workload.global_batch"] == 256 * slices
    assert "dcn_data_parallelism" not in unknown(reading)


def test_an_open_number_of_slices_leaves_the_axes_open() -> None:
    reading = read(jobset("${SLICES}"), name="job.yaml")
    assert "layout.sharding" not in given(reading)
    assert "dcn_data_parallelism: -1" in unknown(reading)


def test_the_former_name_of_an_offload_means_the_same() -> None:
    text = (
        '{"zero_optimization": {"stage": 2, "cpu_offload": %s, "cpu_offload_param": true}, "bf16": {"enabled": true}}'
    )
    reading = read(text % "true", "deepspeed")
    assert given(reading)["layout.offload.optimizer"] == 1
    assert "offload_param: the spec has no key" in unknown(reading)
    assert "layout.offload.optimizer" not in given(read(text % "false", "deepspeed"))


SWIFT = """\
    #!/bin/bash
    NPROC_PER_NODE=2 swift sft --model Qwen/Qwen3-8B --torch_dtype bfloat16 --per_device_train_batch_size 1 \\
        --gradient_checkpointing false {}
"""


def test_the_fsdp2_preset_of_ms_swift_shards_all_and_recomputes() -> None:
    stated = given(read(SWIFT.format("--fsdp fsdp2")))
    assert (stated["layout.sharding"], stated["layout.recompute"]) == ("fsdp", "full")
    assert given(read(SWIFT.format("")))["layout.recompute"] == "none"


def test_a_separate_file_of_fsdp_may_recompute() -> None:
    reading = read(SWIFT.format("--fsdp own_fsdp.json"))
    assert "layout.recompute" not in given(reading)
    assert "layout.recompute: the separate file of FSDP" in unknown(reading)


MEGATRON = """\
    torchrun --nproc_per_node 8 pretrain_vlm.py --tensor-model-parallel-size 2 --pipeline-model-parallel-size 3 \\
        --micro-batch-size 1 --global-batch-size 64 --train-iters 10 --bf16 --seq-length {} {}
"""


def test_two_lengths_of_an_encoder_and_a_decoder_leave_the_length_open() -> None:
    reading = read(MEGATRON.format(576, "--decoder-seq-length 2048"))
    assert not {"workload.sequence_length", "workload.tokens"} & given(reading).keys()
    assert "stated twice: seq_length 576 on line 2, decoder_seq_length 2048 on line 2" in unknown(reading)
    assert given(read(MEGATRON.format(2048, "")))["workload.sequence_length"] == 2048


def test_stages_of_an_encoder_are_listed() -> None:
    reading = read(MEGATRON.format(1024, "--encoder-pipeline-model-parallel-size 1"))
    assert given(reading)["layout.pp"] == 3
    assert "encoder_pipeline_model_parallel_size: 1: stages of an encoder" in unknown(reading)
    assert "encoder" not in unknown(read(MEGATRON.format(1024, "--encoder-pipeline-model-parallel-size 0")))


PRIMUS = """\
    #!/bin/bash
    export NNODES={}
    ./primus-cli {} -- train pretrain --config examples/megatron/configs/MI355X/llama3_8B.yaml \\
      --pipeline_model_parallel_size 1 --micro_batch_size 2 --global_batch_size $((64 * NNODES))
"""


def test_primus_takes_its_nodes_from_the_environment_where_it_starts_directly() -> None:
    stated = given(read(PRIMUS.format(4, "direct")))
    assert (stated["layout.nodes"], stated["workload.global_batch"]) == (4, 256)
    assert "layout.nodes" not in given(read(PRIMUS.format(4, "slurm srun -N 8")))


def test_a_label_of_crusoe_names_the_product() -> None:
    text = """\
        apiVersion: v1
        kind: Pod
        metadata: {{name: serve}}
        spec:
          nodeSelector: {{crusoe.ai/accelerator: {}}}
          containers:
            - name: serve
              resources: {{limits: {{amd.com/gpu: 8}}}}
    """
    assert given(read(text.format("amd-mi355x-288gb-roce")))["cluster.accelerator"] == "mi355x"
    assert "no catalog entry of this label" in unknown(read(text.format("amd-mi999x")))


def test_rack_units_of_a_whole_number_have_no_decimals() -> None:
    text = "manufacturer: Maker\nmodel: Box\nslug: box\nu_height: {}\n"
    assert str(counts(read(text.format("2.0"), "netbox"))["rack_units"]) == "2"
    assert counts(read(text.format("0.5"), "netbox"))["rack_units"] == 0.5


XPK = """\
    #!/bin/bash
    DEVICE_TYPE="${DEVICE_TYPE:-v5p-128}"
    CMD="python3 -m MaxText.train MaxText/configs/base.yml model_name=qwen3-8b per_device_batch_size=8 \\
      max_target_length=2048 OPTIONS"
    xpk workload create --tpu-type "${DEVICE_TYPE}" --num-slices "${NUM_SLICES}" --command "${CMD}"
"""


def test_slices_in_variables_of_the_script_are_read() -> None:
    reading = read(XPK.replace("DEVICE_TYPE=", "NUM_SLICES=2\n    DEVICE_TYPE=", 1).replace(" OPTIONS", ""), "maxtext")
    stated = given(reading)
    assert (stated["cluster.platform"], stated["cluster.accelerators"]) == ("tpu-v5p", 128)
    assert (stated["layout.dp"], stated["workload.global_batch"]) == (128, 1024)


def test_slices_in_variables_that_nothing_sets_are_listed() -> None:
    reading = read(XPK.replace(" OPTIONS", ""), "maxtext")
    assert "cluster.accelerators" not in given(reading)
    assert "the machine: v5p-128: a variable that the text does not state" in unknown(reading)


def test_replicas_of_diloco_leave_the_degree_and_the_batch_open() -> None:
    text = XPK.replace("DEVICE_TYPE=", "NUM_SLICES=2\n    DEVICE_TYPE=", 1)
    reading = read(text.replace("OPTIONS", "enable_diloco=true dcn_diloco_parallelism=2"), "maxtext")
    assert given(reading)["cluster.accelerators"] == 128
    assert not {"layout.dp", "workload.global_batch"} & given(reading).keys()
    assert "enable_diloco: replicas step alone" in unknown(reading)


def test_a_launch_in_a_debugger_by_a_module_is_the_same_launch() -> None:
    options = "pretrain_gpt.py --tensor-model-parallel-size 2 --micro-batch-size 4"
    text = f"""\
        if [ "$1" = "-d" ]; then
          debugpy-run -p :5678 -m torch.distributed.run -- --nproc_per_node 8 {options}
        else
          torchrun --nproc_per_node 8 {options}
        fi
    """
    assert given(read(text))["layout.tp"] == 2


def test_run_train_of_torchtitan_takes_its_ranks_from_the_environment() -> None:
    text = "NGPU=4 CONFIG=llama3_8b ./run_train.sh --parallelism.tensor_parallel_degree=2\n"
    reading = read(text)
    assert (reading.kind, counts(reading)["ranks_per_node"]) == ("torchtitan", 4)
    assert "ranks_per_node" not in counts(read(text.removeprefix("NGPU=4 ")))


def test_options_without_a_launch_leave_the_sharding_to_their_program() -> None:
    text = "MODEL_ARGS:\n  --tensor-model-parallel-size: 2\n  --micro-batch-size: 4\n  --bf16: true\n"
    assert "layout.sharding: use_distributed_optimizer is not stated" in unknown(read(text))
    stated = read(f"{text}  --use-distributed-optimizer: true\n")
    assert given(stated)["layout.sharding"] == "zero1"
    assert "layout.sharding" not in unknown(stated)


def test_a_provider_of_models_has_sizes_of_its_own() -> None:
    sizes = "--num-layers 32 --hidden-size 4096 --num-attention-heads 32"
    assert "model_provider: llava_vlm: builds its own model" in unknown(
        read(MEGATRON.format(1024, f"--model-provider llava_vlm {sizes}"))
    )
    assert "builds its own" not in unknown(read(MEGATRON.format(1024, f"--model-provider gpt {sizes}")))


def test_a_conversion_states_no_batches_or_lengths() -> None:
    options = "--tensor-model-parallel-size 2 --micro-batch-size 1 --seq-length 1 --max-position-embeddings 1"
    reading = read(f"torchrun --nproc_per_node 1 hf2mcore_qwen.py {options}\n")
    assert given(reading)["layout.tp"] == 2
    assert (
        not {"layout.micro_batch", "workload.sequence_length", "workload.model.max_sequence_length"}
        & given(reading).keys()
    )
    assert given(read(f"torchrun --nproc_per_node 2 pretrain_gpt.py {options}\n"))["layout.micro_batch"] == 1


def test_roles_of_chatlearn_have_no_single_layout() -> None:
    text = "python entry.py grpo models.policy_trainer.tensor_model_parallel_size=4 models.policy.seq_length=2048\n"
    with pytest.raises(FormatError, match="roles of reinforcement learning"):
        read(text, "megatron")


def test_degrees_in_a_table_of_the_model_are_of_another_trainer() -> None:
    text = "[model.parallelism]\ndata_parallel_shard_degree = -1\n[model]\nname = 'a'\n"
    with pytest.raises(FormatError, match="another trainer: torchtitan has no model"):
        read(text, name="sft.toml")
    assert given(read(text.replace("model.parallelism", "parallelism"), name="sft.toml"))["layout.sharding"] == "fsdp"


@pytest.mark.parametrize(("degree", "nodes"), [(16, 2), (32, None)])
def test_a_chip_with_two_devices_holds_two_ranks(degree: int, nodes: int | None) -> None:
    text = f"""\
        apiVersion: leaderworkerset.x-k8s.io/v1
        kind: LeaderWorkerSet
        metadata: {{name: serve}}
        spec:
          replicas: 1
          leaderWorkerTemplate:
            size: 2
            workerTemplate:
              spec:
                nodeSelector:
                  cloud.google.com/gke-tpu-accelerator: tpu7x
                  cloud.google.com/gke-tpu-topology: 2x2x2
                containers:
                - name: engine
                  args: [vllm, serve, Qwen/Qwen3-8B, --tensor-parallel-size, "{degree}"]
                  resources: {{limits: {{google.com/tpu: 4}}}}
    """
    assert given(read(text)).get("layout.nodes") == nodes


TITAN = """\
    [parallelism]
    data_parallel_replicate_degree = {}
    data_parallel_shard_degree = {}
    context_parallel_degree = {}
"""


@pytest.mark.parametrize(
    ("degrees", "sharding", "group"),
    [
        ((2, 8, 4), "hsdp", 32),
        ((2, 1, 4), "hsdp", 4),
        ((2, 8, 1), "hsdp", 8),
        ((2, 1, 1), "none", None),
        ((1, 1, 4), "fsdp", None),
        ((1, 8, 4), "fsdp", None),
        ((2, -1, 4), "hsdp", None),
    ],
)
def test_torchtitan_shards_over_the_context_ranks(
    degrees: tuple[int, int, int], sharding: str, group: int | None
) -> None:
    stated = given(read(TITAN.format(*degrees), name="train.toml"))
    assert (stated["layout.sharding"], stated.get("layout.shard_group")) == (sharding, group)


def test_maxtext_shards_over_the_context_ranks() -> None:
    axes = "ici_fsdp_parallelism: 4\nici_context_parallelism: 2\nici_data_parallelism: 1\ndcn_data_parallelism: 4\n"
    stated = given(read(f"base_emb_dim: 64\nper_device_batch_size: 1\n{axes}", "maxtext"))
    assert (stated["layout.sharding"], stated["layout.shard_group"], stated["layout.dp"]) == ("hsdp", 8, 16)

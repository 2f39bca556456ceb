"""Products that objects, tasks and labels name, options of forks of Megatron-LM, and settings that logs state."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: a}
spec:
  parallelism: 2
  template:
    spec:
      containers:
      - name: b
        resources:
          limits:
            %s: 4
"""


@pytest.mark.parametrize("resource", ["nvidia.com/gpu", "nvidia.com/a100", "nvidia.com/gh200", "nvidia.com/rtxa6000"])
def test_a_resource_named_after_a_product_is_an_accelerator(resource: str) -> None:
    reading = read(JOB % resource)
    assert given(reading)["cluster.accelerators_per_node"] == 4
    assert counts(reading)["accelerators"] == 8


@pytest.mark.parametrize("resource", ["nvidia.com/mig-1g.5gb", "nvidia.com/hostdev", "example.com/a100", "cpu"])
def test_a_slice_or_another_device_is_no_accelerator(resource: str) -> None:
    with pytest.raises(FormatError, match="ask for no accelerators"):
        read(JOB % resource)


@pytest.mark.parametrize(
    ("name", "accelerator"), [("h200", "h200-sxm-141gb"), ("a10g", "a10g"), ("a100", None), ("l4", None)]
)
def test_a_name_of_karpenter_is_a_product_where_all_its_instances_have_one(name: str, accelerator: str | None) -> None:
    selector = f"      nodeSelector:\n        karpenter.k8s.aws/instance-gpu-name: {name}\n"
    assert given(read(JOB % "nvidia.com/gpu" + selector)).get("cluster.accelerator") == accelerator


@pytest.mark.parametrize(
    ("name", "accelerator"),
    [
        ("H200-SXM", "h200-sxm-141gb"),
        ("A100-80GB-SXM", "a100-sxm-80gb"),
        ("H100-NVL", "h100-nvl-94gb"),
        ("MI300X", "mi300x"),
        ("L40S", "l40s"),
        ("H200", None),
        ("A100-80GB", None),
    ],
)
def test_a_task_names_a_product_where_its_form_and_memory_follow(name: str, accelerator: str | None) -> None:
    reading = read(f"resources:\n  accelerators: {name}:8\nnum_nodes: 2\nrun: |\n  python train.py\n")
    assert given(reading).get("cluster.accelerator") == accelerator
    assert ("does not tell the form" in unknown(reading)) is (accelerator is None)
    assert given(reading)["cluster.accelerators_per_node"] == 8


def test_workers_of_processors_alone_are_no_job_on_accelerators() -> None:
    text = """\
        apiVersion: kubeflow.org/v2beta1
        kind: MPIJob
        spec:
          slotsPerWorker: 1
          mpiReplicaSpecs:
            Worker:
              replicas: 2
              template:
                spec:
                  containers:
                  - name: worker
                    resources: {limits: {%s}}
        """
    with pytest.raises(FormatError, match="an MPIJob whose workers ask for no accelerators"):
        read(text % "cpu: 1")
    assert given(read(text % "nvidia.com/gpu: 8"))["cluster.accelerators_per_node"] == 8


def test_an_object_whose_number_of_accelerators_is_a_variable_states_nothing() -> None:
    text = """\
        apiVersion: apps/v1
        kind: Deployment
        spec:
          template:
            spec:
              containers:
              - name: a
                resources: {limits: {nvidia.com/gpu: "${GPUS}"}}
        """
    with pytest.raises(FormatError, match="a Deployment whose number of accelerators is a variable"):
        read(text)


MEGATRON = "torchrun --nproc_per_node 8 --nnodes 2 pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 24"


def test_an_optimizer_of_a_fork_leaves_the_sharding_open() -> None:
    reading = read(f"{MEGATRON} --overlapped-distributed-optimizer\n")
    assert "layout.sharding" not in given(reading)
    assert "layout.sharding: overlapped_distributed_optimizer" in unknown(reading)
    assert given(read(f"{MEGATRON} --log-num-zeros-in-grad\n"))["layout.sharding"] == "none"
    assert given(read(f"{MEGATRON} --use-distributed-optimizer\n"))["layout.sharding"] == "zero1"


def test_unequal_shares_of_unlike_devices_are_listed() -> None:
    reading = read(f"{MEGATRON} --hetero-mode pp --hetero-pipeline-stages 1 16 1 8\n")
    assert "hetero_pipeline_stages: 1 16 1 8" in unknown(reading) and "hetero_mode: pp" in unknown(reading)
    assert "unequal shares" not in unknown(read(f"{MEGATRON}\n"))


def test_an_option_of_each_branch_and_of_the_launch_is_certain_and_not_listed() -> None:
    reading = read(
        """\
        ARGS=(--tensor-model-parallel-size 4 --num-layers 24 --use-distributed-optimizer)
        CMD="torchrun pretrain_gpt.py ${ARGS[@]}"
        if [ -n "$PROFILER" ]; then
          CMD="$PROFILER torchrun pretrain_gpt.py ${ARGS[@]}"
        fi
        $CMD
        """
    )
    assert (given(reading)["layout.tp"], given(reading)["layout.sharding"]) == (4, "zero1")
    assert "tensor-model-parallel-size" not in unknown(reading)


def test_four_bits_with_adapters_of_axolotl_are_named() -> None:
    text = "base_model: a/b\nadapter: %s\nlora_r: 8\nlora_target_linear: true\nload_in_4bit: true\nsequence_len: 2048\n"
    reading = read(text % "lora", "deepspeed")
    assert given(reading)["workload.trainable.method"] == "lora" and "load_in_4bit" in unknown(reading)
    quantized = read(text % "qlora", "deepspeed")
    assert given(quantized)["workload.trainable.method"] == "qlora" and "load_in_4bit" not in unknown(quantized)


def test_a_job_of_whole_nodes_that_runs_a_benchmark_states_its_nodes_and_ranks() -> None:
    head = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=4\n"
    reading = read(f"{head}srun ./all_reduce_perf -b 8 -e 4G\n")
    assert (given(reading)["layout.nodes"], counts(reading)["ranks_per_node"]) == (2, 4)
    assert "cluster.accelerators_per_node" in unknown(reading)
    with pytest.raises(FormatError, match="without a count of accelerators"):
        read(f"{head}# srun ./all_reduce_perf\nsrun ./simulate\n")


SYSTEM = '{"number_of_nodes":"1","accelerators_per_node":"8","accelerator_model_name":"NVIDIA B200"}'
MLLOG = '0: :::MLLOG {"namespace": "", "event_type": "POINT_IN_TIME", "key": "%s", "value": %s, "metadata": {}}\n'


def test_a_log_of_mlperf_without_steps_states_its_settings_and_its_machine() -> None:
    reading = read(
        f"+ echo ':::SYSJSON {SYSTEM}'\n:::SYSJSON {SYSTEM}\n"
        + MLLOG % ("submission_benchmark", '"llama2_70b_lora"')
        + MLLOG % ("lora_rank", 16)
        + MLLOG % ("global_batch_size", 8)
        + MLLOG % ("gradient_accumulation_steps", 2),
    )
    found = given(reading)
    assert (found["workload.global_batch"], found["workload.trainable.rank"]) == (8, 16)
    assert (found["cluster.accelerator"], found["cluster.accelerators_per_node"]) == ("b200-sxm-180gb", 8)
    assert counts(reading)["gradient_accumulation_steps"] == 2
    assert "the time of a step" in unknown(reading)
    assert found["workload.model"] == "llama-2-70b"


@pytest.mark.parametrize(("benchmark", "model"), [("llama31_8b", "llama-3.1-8b"), ("dlrm_dcnv2", None)])
def test_a_benchmark_of_mlperf_that_trains_a_model_of_the_catalog_names_it(benchmark: str, model: str | None) -> None:
    log = MLLOG % ("submission_benchmark", f'"{benchmark}"') + MLLOG % ("global_batch_size", 8)
    assert given(read(log)).get("workload.model") == model
    assert ("cluster and workload.model: the log does not state them" in unknown(read(log))) == (model is None)
    assert ("cluster: the log does not state it" in unknown(read(log))) == (model is not None)


def test_a_setting_of_mlperf_that_another_run_states_otherwise_is_open() -> None:
    reading = read(MLLOG % ("global_batch_size", 8) + MLLOG % ("global_batch_size", 16), "step-log")
    assert "workload.global_batch" not in given(reading) and "global_batch_size" in unknown(reading)


def test_a_script_in_an_image_of_vllm_hands_options_on() -> None:
    text = """\
        services:
          a:
            image: vllm/vllm-openai-rocm@sha256:00
            entrypoint: [/opt/%s]
            command: [/hub/models--deepseek-ai--DeepSeek-V3/snapshots/0123, --max-num-seqs, "64"]
        """
    reading = read(text % "start.sh")
    assert (given(reading)["workload.model"], given(reading)["layout.framework"]) == ("deepseek-v3", "vllm")
    assert given(reading)["workload.serving.max_sequences"] == 64
    assert "start.sh: a script of its own" in unknown(reading)
    with pytest.raises(FormatError):
        read(text % "proxy")


def test_a_cache_beyond_the_accelerators_is_no_offload_of_the_layout() -> None:
    reading = read("vllm serve a/b --tensor-parallel-size 2 --kv-offloading-size 96\n")
    assert "blocks of the KV cache" in unknown(reading) and "layout.offload" not in unknown(reading)


SIZES = "--num-layers 24 --hidden-size 1024 --num-attention-heads 16 --tensor-model-parallel-size 2"


@pytest.mark.parametrize("passed", ["$2", "${13}", "${EXTRA:+--use-distributed-optimizer}", "${EXTRA:+$EXTRA}"])
def test_options_that_a_variable_or_an_argument_may_add_leave_defaults_open(passed: str) -> None:
    reading = read(f"torchrun pretrain_gpt.py {SIZES} \\\n  {passed} \\\n  --fp16\n")
    assert given(reading)["layout.tp"] == 2 and given(reading)["workload.precision"] == "fp16"
    assert "layout.sharding" not in given(reading) and "workload.model.gated_ffn" not in given(reading)
    assert "layout.sharding: options are left out" in unknown(reading)
    if passed.startswith("${EXTRA"):
        assert f"{passed}: options of the launch only where a variable is set" in unknown(reading)


def test_an_argument_as_a_value_and_a_variable_elsewhere_leave_the_launch_whole() -> None:
    reading = read(f"echo ${{NAME:+--name $NAME}}\ntorchrun pretrain_gpt.py {SIZES} --micro-batch-size $1 --fp16\n")
    assert given(reading)["layout.sharding"] == "none" and "micro_batch_size: $1" in unknown(reading)
    assert "only where a variable is set" not in unknown(reading)


def test_an_option_of_the_branch_that_chooses_the_program_is_open() -> None:
    reading = read(
        f"""\
        PROGRAM=pretrain_gpt.py
        TYPE=fp16
        if [[ $USE_CORE -eq 1 ]]; then
          PROGRAM=pretrain_gpt_core.py
          TYPE=bf16
        fi
        torchrun $PROGRAM {SIZES} --$TYPE
        """
    )
    assert "workload.precision" not in given(reading) and "--bf16: depends on the test" in unknown(reading)


@pytest.mark.parametrize("key", ["rl: dpo", "rl: grpo", "reward_model: true"])
def test_training_of_axolotl_with_pairs_or_rewards_is_refused(key: str) -> None:
    text = "base_model: a/b\nadapter: lora\nsequence_len: 2048\nmicro_batch_size: 1\n%s\n"
    with pytest.raises(FormatError, match="trains with a reference, rewards or pairs"):
        read(text % key, "deepspeed")
    assert given(read(text % "reward_model: false", "deepspeed"))["layout.micro_batch"] == 1


def test_memory_that_is_pinned_for_an_offload_is_no_offload_of_its_own() -> None:
    text = '{"zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu", "pin_memory": true}}}'
    reading = read(text)
    assert given(reading)["layout.offload.optimizer"] == 1
    assert "offload_optimizer.pin_memory: True" not in unknown(reading)


PPO = """\
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae actor_rollout_ref.actor.fsdp_config.param_offload=true \\
    actor_rollout_ref.actor.ppo_micro_batch_size=64 data.train_batch_size=512 trainer.n_gpus_per_node=8 %s
"""


@pytest.mark.parametrize(
    ("rest", "each"),
    [
        ("trainer.nnodes=2", 4),
        ("trainer.nnodes=2 actor_rollout_ref.actor.ulysses_sequence_parallel_size=4", 16),
        ("trainer.nnodes=2 actor_rollout_ref.rollout.n=4", None),
        ("trainer.nnodes=3", None),
        ("", None),
    ],
)
def test_a_micro_batch_of_all_replicas_of_verl_is_divided_among_them(rest: str, each: int | None) -> None:
    reading = read(PPO % rest)
    assert given(reading).get("layout.micro_batch") == each
    assert ("ppo_micro_batch_size: 64: of all replicas together" in unknown(reading)) is (each is None)


SIZES = (
    "torchrun --nproc_per_node 8 pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64"
    " --num-attention-heads 4 --seq-length 512 --micro-batch-size 1 --global-batch-size 8"
)


@pytest.mark.parametrize(
    ("option", "key"),
    [
        ("--use-gated-mlp", "gated_ffn"),
        ("--silu-glu", "gated_ffn"),
        ("--no-tie-embed-logits", "tied_embeddings"),
        ("--n-kv-heads 2", "kv_heads"),
        ("--multi-query-attention", "kv_heads"),
        ("--ffn-ratio 3", "ffn_hidden"),
        ("--intermediate-size 128", "ffn_hidden"),
    ],
)
def test_no_default_is_stated_for_what_an_option_of_a_fork_may_state(option: str, key: str) -> None:
    reading = read(f"{SIZES} {option}\n")
    assert f"workload.model.{key}" not in given(reading)
    assert f"workload.model.{key}: the option {option[2:].replace('-', '_').split()[0]}" in unknown(reading)
    assert key == "tied_embeddings" or not any("parameters" in name for name in counts(reading))


@pytest.mark.parametrize("option", ["", "--no-bias-swiglu-fusion", "--squared-relu", "--norm-epsilon 1e-5"])
def test_options_of_megatron_leave_its_defaults(option: str) -> None:
    found = given(read(f"{SIZES} {option}\n"))
    values = [found[f"workload.model.{key}"] for key in ("gated_ffn", "tied_embeddings", "ffn_hidden")]
    assert values == [False, True, 256]


@pytest.mark.parametrize("option", ["--t5-swiglu", "--glu-activation geglu"])
def test_a_gated_network_of_a_fork_has_no_default_width(option: str) -> None:
    reading = read(f"{SIZES} --num_attention_heads_kv 2 {option}\n")
    found = given(reading)
    assert (found["workload.model.gated_ffn"], found["workload.model.kv_heads"]) == (True, 2)
    assert "workload.model.ffn_hidden" not in found and "workload.model.ffn_hidden" in unknown(reading)
    wide = given(read(f"{SIZES} {option} --ffn-hidden-size 128\n"))
    assert (wide["workload.model.gated_ffn"], wide["workload.model.ffn_hidden"]) == (True, 128)


def test_parts_of_a_sequence_of_deepspeed_are_exchanged_for_heads() -> None:
    found = given(read(f"{SIZES} --ds-sequence-parallel-size 4 --use-flash-attn-triton\n"))
    assert (found["layout.cp"], found["layout.cp_method"], found["workload.attention"]) == (4, "all-to-all", "flash")
    alone = given(read(f"{SIZES} --ds-sequence-parallel-size 1\n"))
    assert alone["layout.cp"] == 1 and "layout.cp_method" not in alone


def test_the_tokens_of_an_expert_in_megatron_deepspeed() -> None:
    options = f"{SIZES} --num-experts 8 --moe-train-capacity-factor 1.5"
    assert given(read(f"{options}\n"))["layout.capacity_factor"] == 1.5
    assert "layout.capacity_factor" not in given(read(f"{options} --disable-moe-token-dropping\n"))

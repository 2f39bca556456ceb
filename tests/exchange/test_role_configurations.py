"""Configurations of reinforcement learning with roles: ROLL and NeMo RL; reward models of OpenRLHF; single pods."""

from __future__ import annotations

import textwrap

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.exchange.imports import counts, given, read, unknown

ROLL = """\
    num_gpus_per_node: 8
    pretrain: Qwen/Qwen3-8B
    rollout_batch_size: 32
    num_return_sequences_in_group: 4
    adv_estimator: reinforce
    actor_train:
      training_args: {{per_device_train_batch_size: 1, gradient_accumulation_steps: 16}}
      strategy_args:
        strategy_name: megatron_train
        strategy_config: {{tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2}}
      device_mapping: {}
    actor_infer:
      generating_args: {{num_return_sequences: "${{num_return_sequences_in_group}}"}}
      strategy_args:
        strategy_name: vllm
        strategy_config: {{gpu_memory_utilization: 0.7, tensor_parallel_size: 4}}
      device_mapping: {}
    """


@pytest.mark.parametrize(
    ("trainer", "engines", "stated", "listed"),
    [
        # 16 devices of 2 × 2 ranks are 4 replicas, each of 16 samples in an optimizer step: 64 of the 128 of a step
        ("list(range(0,16))", "list(range(0,16))", ("colocated", 2, None, 2), ""),
        ("list(range(0,16))", "list(range(16,24))", ("split", 2, 1, 2), ""),
        ("list(range(0,8)) + list(range(8,16))", "list(range(8,24))", (None, 2, None, 2), "8 devices have both roles"),
        ("list(range(0,4))", "list(range(4,8))", ("split", None, None, 8), "no whole nodes"),
        ("${devices}", "list(range(0,8))", (None, None, None, None), "layout.nodes: no listed devices"),
    ],
)
def test_devices_of_roles_decide_nodes_and_placement(
    trainer: str, engines: str, stated: tuple[object, ...], listed: str
) -> None:
    reading = read(ROLL.format(trainer, engines))
    keys = given(reading)
    rl = "workload.rl"
    found = tuple(
        keys.get(name) for name in (f"{rl}.placement", "layout.nodes", f"{rl}.rollout.nodes", f"{rl}.minibatches")
    )
    assert found == stated
    assert (keys["layout.tp"], keys[f"{rl}.rollout.tp"], keys[f"{rl}.samples_per_prompt"]) == (2, 4, 4)
    assert listed in unknown(reading)


def test_trajectories_of_environments_are_no_prompts() -> None:
    text = textwrap.dedent(ROLL.format("list(range(0,8))", "list(range(0,8))")) + "custom_envs: {a: {env_type: b}}\n"
    reading = read(text)
    assert "workload.rl.prompts_per_step" not in given(reading)
    assert "counts trajectories" in unknown(reading)


NEMO_RL = """\
    defaults: base.yaml
    grpo: {{num_prompts_per_step: 64, num_generations_per_prompt: 32, async_grpo: {{enabled: {}, {}: 2}}}}
    policy:
      train_global_batch_size: 512
      megatron_cfg: {{tensor_model_parallel_size: 4, pipeline_model_parallel_size: 2}}
      generation:
        colocated: {{enabled: {}, resources: {{num_nodes: 3, gpus_per_node: 8}}}}
        vllm_cfg: {{tensor_parallel_size: 2}}
    cluster: {{num_nodes: {}, gpus_per_node: 8}}
    """


@pytest.mark.parametrize(
    ("shared", "nodes", "stated", "listed"),
    [
        ("false", "8", ("split", 5, 3), ""),  # of 8 nodes, the engines have 3
        ("true", "8", ("colocated", 8, None), ""),
        ("false", "2", (None, None, None), "does not state the nodes of engines and trainer"),
        ("null", "8", (None, None, None), "share the nodes of the trainer"),
    ],
)
def test_engines_take_their_nodes_from_those_of_the_cluster(
    shared: str, nodes: str, stated: tuple[object, ...], listed: str
) -> None:
    reading = read(NEMO_RL.format("true", "max_trajectory_age_steps", shared, nodes))
    keys = given(reading)
    names = ("workload.rl.placement", "layout.nodes", "workload.rl.rollout.nodes")
    assert tuple(keys.get(name) for name in names) == stated
    assert listed in unknown(reading)
    assert (keys["workload.rl.minibatches"], keys["workload.rl.max_staleness"]) == (4, 2)  # 64 × 32 over 512
    assert "base.yaml: another file" in unknown(reading)


def test_a_recipe_that_is_not_asynchronous_states_no_staleness() -> None:
    keys = given(read(NEMO_RL.format("false", "max_trajectory_age_steps", "true", "1")))
    assert "workload.rl.max_staleness" not in keys


def test_batches_of_a_reward_model_count_pairs() -> None:
    reading = read("""\
        read -r -d '' words <<EOF
        openrlhf.cli.train_rm --train.batch_size 256 --train.micro_batch_size 2 --ds.zero_stage 3 --data.max_len 4096
        EOF
        deepspeed --module $words
        """)
    keys = given(reading)
    assert keys["layout.sharding"] == "fsdp"
    assert not {"workload.global_batch", "layout.micro_batch"} & set(keys)
    assert "train_batch_size: 256: counts pairs" in unknown(reading)


POD = """\
    apiVersion: v1
    kind: Pod
    spec:
      containers:
      - name: work
        resources: {{limits: {{nvidia.com/gpu: {}}}}}
    """


def test_a_pod_that_asks_for_accelerators_is_a_node() -> None:
    reading = read(POD.format(4))
    assert given(reading) == {"cluster.accelerators_per_node": 4, "layout.nodes": 1}
    assert counts(reading)["accelerators"] == 4


JOB_SET = """\
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    spec:
      replicatedJobs:
      - name: work
        template: {{spec: {{parallelism: {}, template: {{spec: {{containers: [{{resources: {{limits: {}}}}}]}}}}}}}}
    """


def test_a_job_states_the_accelerators_of_a_node_where_its_nodes_are_a_variable() -> None:
    reading = read(JOB_SET.format("$NODES", "{nvidia.com/gpu: 8}"))
    assert given(reading) == {"cluster.accelerators_per_node": 8}
    assert "layout.nodes: its replicas are not a number" in unknown(reading)
    assert "accelerators of a container is a variable" in unknown(
        read(JOB_SET.format(2, '{nvidia.com/gpu: "${GPUS}"}'))
    )


def test_deepspeed_next_to_a_launch_is_not_its_framework() -> None:
    text = """\
        OTHER="--deepspeed=zero2.json"
        OPTS="--tensor_model_parallel_size 2 --pipeline_model_parallel_size 1 --stage=dpo --use_mca"
        torchrun --nproc_per_node=8 run_train.py $OPTS --use_distributed_optimizer
        """
    reading = read(text)
    assert (given(reading)["layout.framework"], given(reading)["layout.sharding"]) == ("megatron-core", "zero1")
    assert "stage: dpo: trains with a reference" in unknown(reading)


def test_a_launch_of_maxdiffusion_is_not_one_of_maxtext() -> None:
    with pytest.raises(FormatError, match="no import format"):
        read("python src/maxdiffusion/generate_wan.py src/maxdiffusion/configs/a.yml ici_context_parallelism=4\n")

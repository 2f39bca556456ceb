"""Launches of verl, recipes of NeMo Automodel, and tasks: what they state, and what they leave open."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

VERL = """\
#!/bin/bash
ACTOR=(
    actor_rollout_ref.actor.ppo_mini_batch_size=128
    actor_rollout_ref.actor.megatron.tensor_model_parallel_size=${TP:-4}
    actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2
    actor_rollout_ref.actor.use_kl_loss=True
    actor_rollout_ref.actor.megatron.optimizer_offload=True
)
python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo \\
    actor_rollout_ref.model.path=Qwen/Qwen3-30B-A3B data.train_batch_size=512 data.max_response_length=8192 \\
    "${ACTOR[@]}" \\
    actor_rollout_ref.rollout.name=sglang actor_rollout_ref.rollout.tensor_model_parallel_size=8 \\
    actor_rollout_ref.rollout.n=16 actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\
    trainer.nnodes=4 trainer.n_gpus_per_node=8 "$@"
"""


def test_the_trainer_and_the_engines_of_verl_keep_their_own_degrees() -> None:
    reading = read(VERL)
    found = given(reading)
    assert (found["layout.tp"], found["layout.pp"], found["workload.rl.rollout.tp"]) == (4, 2, 8)
    assert (found["layout.framework"], found["workload.rl.rollout.framework"]) == ("megatron-core", "sglang")
    assert (found["workload.rl.prompts_per_step"], found["workload.rl.samples_per_prompt"]) == (512, 16)
    assert (found["workload.rl.minibatches"], found["workload.rl.algorithm"]) == (4, "grpo")
    assert (found["layout.nodes"], counts(reading)["ranks_per_node"]) == (4, 8)
    assert "layout.offload.optimizer" not in found and "while engines generate" in unknown(reading)
    assert "workload.rl.output_tokens" in unknown(reading)


def test_verl_without_a_reference_model_or_with_filled_batches_is_left_open() -> None:
    text = VERL.replace("use_kl_loss=True", "use_dynamic_bsz=True").replace("=128", "=100")
    reading = read(text.replace("megatron.", "fsdp_config."))
    found = given(reading)
    assert not {"workload.rl.algorithm", "workload.rl.minibatches", "layout.micro_batch", "layout.tp"} & set(found)
    assert (found["layout.framework"], found["layout.sharding"]) == ("fsdp", "fsdp")
    with pytest.raises(SeveralParts, match="2 launches"):
        read(f"{VERL}\n{VERL.replace('nnodes=4', 'nnodes=8')}")


def test_verl_trains_a_critic_unless_another_estimator_is_stated() -> None:
    critic = "critic.model.path=Qwen/Qwen3-4B reward_model.enable=True reward_model.model.path=a/scorer"
    text = VERL.replace("algorithm.adv_estimator=grpo", critic)
    reading = read(text)
    assert given(reading)["workload.rl.algorithm"] == "ppo"
    assert given(reading)["workload.rl.critic.model"] == "qwen3-4b"
    assert "reward a/scorer" in unknown(reading)
    known = read(text.replace("a/scorer", "meta-llama/Llama-3.1-8B"))
    assert given(known)["workload.rl.reward.model"] == "llama-3.1-8b"
    passed = VERL.replace("algorithm.adv_estimator=grpo", "")
    assert "workload.rl.algorithm" not in given(read(passed))  # "$@" may state it
    assert given(read(passed.replace(' "$@"', "")))["workload.rl.algorithm"] == "ppo"
    assert "workload.rl.critic.model" not in given(read(VERL.replace("=grpo", f"=grpo {critic}")))


def test_a_configuration_of_verl_states_the_same_and_comments_start_no_engine() -> None:
    listed = """\
        data: {train_batch_size: 512}
        actor_rollout_ref:
          hybrid_engine: True
          actor: {strategy: megatron, ppo_mini_batch_size: 128, megatron: {tensor_model_parallel_size: 4}}
          rollout: {name: "???", n: 16, tensor_model_parallel_size: 8}
        """
    found = given(read(listed))
    assert (found["layout.tp"], found["workload.rl.rollout.tp"], found["workload.rl.minibatches"]) == (4, 8, 4)
    assert found["workload.rl.placement"] == "colocated" and "workload.rl.rollout.framework" not in found
    assert given(read(VERL.replace("#!/bin/bash", "# vllm serve a/b"))) == given(read(VERL))


RECIPE = """\
recipe: TrainFinetuneRecipeForNextTokenPrediction
step_scheduler: {global_batch_size: 128, local_batch_size: 4}
distributed: {strategy: fsdp2, dp_size: none, tp_size: 2, cp_size: 1, pp_size: 1, ep_size: 8,
  activation_checkpointing: true, pipeline: {pp_microbatch_size: 1}}
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B
dataset: {seq_len: 4096}
"""


@pytest.mark.parametrize(("stages", "micro"), [(1, 4), (2, 1)])
def test_a_recipe_of_automodel_cuts_batches_for_pipeline_stages(stages: int, micro: int) -> None:
    found = given(read(RECIPE.replace("pp_size: 1", f"pp_size: {stages}")))
    assert (found["layout.pp"], found["layout.micro_batch"], found["layout.ep"]) == (stages, micro, 8)
    assert (found["workload.model"], found["workload.sequence_length"]) == ("qwen3-30b-a3b", 4096)
    assert (found["layout.framework"], found["layout.sharding"], found["layout.recompute"]) == ("fsdp", "fsdp", "full")


def test_a_recipe_of_automodel_without_stages_has_the_batch_of_a_rank() -> None:
    found = given(read(RECIPE.replace("pp_size: 1, ", "")))
    assert (found["layout.micro_batch"], "layout.pp" in found) == (4, False)
    assert "local_batch_size" not in counts(read(RECIPE))
    assert counts(read(RECIPE.replace("pp_size: 1", "pp_size: 2")))["local_batch_size"] == 4


def test_a_recipe_of_automodel_lists_what_has_no_entry() -> None:
    text = RECIPE.replace("fsdp2", "megatron_fsdp").replace(
        "dataset: {seq_len: 4096}", "peft: {_target_: a.Lora, dim: 8}"
    )
    reading = read(text)
    assert not {"layout.framework", "layout.sharding", "workload.sequence_length"} & set(given(reading))
    assert all(word in unknown(reading) for word in ("megatron_fsdp", "rank 8", "as long as"))


@pytest.mark.parametrize(
    ("text", "nodes", "each"),
    [
        ("resources: {cloud: gcp}\n  # \nnum_nodes: 2\nrun: x\n", None, None),
        ("resources:\n  accelerators: A100-80GB:8\nnum_nodes: 4\nrun: python a.py\n", 4, 8),
        ("resources:\n  accelerators: ['H100-SXM:1']\nrun: python a.py\n", 1, 1),
        ("resources:\n  accelerators: {H100: 8}\nrun: python a.py\n", 1, 8),
        ("resources:\n  accelerators: [H100:8, A100:8]\nrun: python a.py\n", 1, 8),
        ("type: task\nnodes: 2\nresources:\n  gpu: 24GB..80GB:8\n", 2, 8),
        ("type: task\nnodes: 2..4\nresources:\n  gpu: H100:4..8\n", None, None),
    ],
)
def test_a_task_states_what_it_asks_for(text: str, nodes: int | None, each: int | None) -> None:
    if "cloud" in text:
        with pytest.raises(FormatError):
            read(text)
        return
    found = given(read(text))
    assert (found.get("layout.nodes"), found.get("cluster.accelerators_per_node")) == (nodes, each)


RAY = """\
apiVersion: ray.io/v1
kind: RayCluster
spec:
  workerGroupSpecs:
  - {replicas: 4, template: {spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}}
"""


def test_a_ray_cluster_states_its_workers_unless_they_follow_the_load() -> None:
    assert given(read(RAY)) == {"cluster.accelerators_per_node": 8, "layout.nodes": 4}
    scaled = RAY.replace("spec:\n  worker", "spec:\n  enableInTreeAutoscaling: true\n  worker", 1)
    assert given(read(scaled)) == {"cluster.accelerators_per_node": 8}
    assert given(read(RAY.replace("replicas: 4", "replicas: 2, numOfHosts: 4")))["layout.nodes"] == 8
    with pytest.raises(FormatError, match="no accelerators"):
        read(RAY.replace("nvidia.com/gpu", "cpu"))
    with pytest.raises(FormatError, match="several groups"):
        read(RAY + RAY.splitlines()[-1] + "\n")


def test_a_ray_service_states_the_accelerators_of_a_node_and_no_number_of_nodes() -> None:
    service = RAY.replace("RayCluster", "RayService").replace("spec:\n", "spec:\n  rayClusterConfig:\n", 1)
    reading = read(service.replace("\n  worker", "\n    worker").replace("\n  - {", "\n    - {"))
    assert given(reading) == {"cluster.accelerators_per_node": 8}
    assert "layout.nodes: the deployments" in unknown(reading)


RUNS = "{name: a, command: [vllm, serve, x/y, --tensor-parallel-size, '4'], resources: {limits: {nvidia.com/gpu: 4}}}"


@pytest.mark.parametrize(
    ("spec", "nodes"),
    [
        (f"  containers: [{RUNS}]\n", 1),
        (f"  containers: [{RUNS}]\n  workerSpec: {{containers: [{RUNS}]}}\n", None),
        (f"  engineConfig: {{runner: {RUNS}}}\n", 1),
        (f"  engineConfig:\n    leader: {{runner: {RUNS}}}\n    worker: {{size: 2, runner: {RUNS}}}\n", 3),
    ],
)
def test_a_runtime_of_engines_states_the_machine_next_to_the_launch(spec: str, nodes: int | None) -> None:
    reading = read(f"apiVersion: a/v1\nkind: ClusterServingRuntime\nspec:\n{spec}")
    found = given(reading)
    assert (found["layout.tp"], found["cluster.accelerators_per_node"], found.get("layout.nodes")) == (4, 4, nodes)
    assert ("layout.nodes" in unknown(reading)) is (nodes is None)


ASKS = "template: {spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 8}}}]}}"
MPI = """\
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
spec:
  slotsPerWorker: 8
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: a, command: [mpirun, WORDS, /bin/all_reduce_perf, -n, "100"]}]}}}
    Worker: {replicas: 16, ASKS}
""".replace("ASKS", ASKS)
KUBEFLOW = "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n"
ELASTIC = (
    KUBEFLOW + f"    Worker: {{{{replicas: 3, {ASKS.replace('{', '{{').replace('}', '}}')}}}}}\n"
    "  elasticPolicy: {{minReplicas: {}, maxReplicas: {}, rdzvBackend: c10d}}\n"
)
BATCH = "apiVersion: batch/v1\nkind: Job\nspec:\n"
LEADER = (
    "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n  replicas: 3\n  leaderWorkerTemplate:\n"
)
RUNTIME = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec:\n  trainer:\n"
TRAINER = "    numNodes: 4\n    resourcesPerNode: {limits: {nvidia.com/gpu: 8}}\n"
HEAD = f"  headGroupSpec: {{OFFER{ASKS}}}\n  workerGroupSpecs:\n"


@pytest.mark.parametrize(
    ("text", "nodes", "told"),
    [
        (MPI.replace("WORDS", "--bind-to, none"), 16, ""),
        (MPI.replace("WORDS", '-np, "128"'), 16, ""),
        (MPI.replace("WORDS", '-np, "16", -N, "8"'), 2, "16 ranks, 8 a node: they fill 2 nodes"),
        (MPI.replace("WORDS", '-np, "64", --map-by, "ppr:4:node:PE=2"'), 16, ""),
        (KUBEFLOW + f"    Master: {{replicas: 1, {ASKS}}}\n    Worker: {{replicas: 3, {ASKS}}}\n", 4, ""),
        (KUBEFLOW + f"    Master: {{replicas: 1}}\n    Worker: {{replicas: 3, {ASKS}}}\n", 3, ""),
        (KUBEFLOW + f"    Master: {{{ASKS}}}\n", 1, ""),
        (ELASTIC.format(1, 3), 3, "elasticPolicy: 1 to 3 workers: the number of workers changes"),
        (ELASTIC.format(3, 3), 3, ""),
        (BATCH + f"  parallelism: 4\n  completions: 4\n  {ASKS}\n", 4, ""),
        (LEADER + f"    size: 2\n    worker{ASKS[0].upper()}{ASKS[1:]}\n", 2, ""),
        (RUNTIME + TRAINER, 4, ""),
        (RUNTIME + "    numNodes: 4\n", 4, "its runtime states them"),
        (RAY.replace("  workerGroupSpecs:\n", HEAD.replace("OFFER", "")), 5, ""),
        (RAY.replace("  workerGroupSpecs:\n", HEAD.replace("OFFER", 'rayStartParams: {num-gpus: "0"}, ')), 4, ""),
    ],
)
def test_the_nodes_of_a_job_are_the_pods_with_accelerators_that_run_ranks(text: str, nodes: int, told: str) -> None:
    reading = read(text, "kubernetes")
    assert given(reading)["layout.nodes"] == nodes
    assert told in unknown(reading)


TRAINING_RUNTIME = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata: {name: torch-distributed}
spec:
  mlPolicy: {NODES, torch: {}}
  template:
    spec:
      replicatedJobs:
      - name: dataset-initializer
        template: {spec: {template: {spec: {containers: [{name: init, image: a}]}}}}
      - name: node
        template:
          metadata: {labels: {trainer.kubeflow.org/trainjob-ancestor-step: STEP}}
          spec: {template: {spec: {containers: [{name: node, image: a, RESOURCES}]}}}
""".replace("STEP", "trainer")
ASKED = "resources: {limits: {nvidia.com/gpu: 8}}"
NAMED = "apiVersion: trainer.kubeflow.org/v1alpha1\nkind: TrainJob\nspec:\n  runtimeRef: {name: torch-distributed}\n"


def _runtime(nodes: str = "numNodes: 4", asked: str = ASKED) -> str:
    return TRAINING_RUNTIME.replace("NODES", nodes).replace("RESOURCES", asked)


@pytest.mark.parametrize(
    ("text", "nodes", "accelerators"),
    [
        (_runtime(), 4, 8),
        (_runtime("jax: {}"), 1, 8),
        (NAMED + "---\n" + _runtime(), 4, 8),
        (NAMED + "  trainer: {numNodes: 2}\n---\n" + _runtime(), 2, 8),
        (NAMED + "  trainer: {numNodes: 2, resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n---\n" + _runtime(), 2, 4),
        (
            NAMED + "  trainer: {resourcesPerNode: {limits: {nvidia.com/gpu: 4}}}\n---\n" + _runtime(asked="env: []"),
            4,
            4,
        ),
    ],
)
def test_the_nodes_of_a_train_job_are_its_own_or_those_of_the_runtime_that_it_names(
    text: str, nodes: int, accelerators: int
) -> None:
    found = given(read(text, "kubernetes"))
    assert found["layout.nodes"] == nodes and found["cluster.accelerators_per_node"] == accelerators


def test_a_train_job_with_the_runtime_of_another_name_has_what_it_states_itself() -> None:
    other = NAMED.replace("torch-distributed", "own") + "---\n" + _runtime()
    with pytest.raises(SeveralParts, match="choose one"):
        read(other, "kubernetes")
    assert "its runtime states them" in unknown(read(other, "kubernetes", part=1))
    assert given(read(other, "kubernetes", part=2))["layout.nodes"] == 4


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_runtime(asked="env: []"), "asks for no accelerators: a TrainJob that names it states them"),
        (_runtime().replace("step: trainer", "step: model-initializer"), "no label .*ancestor-step: trainer"),
    ],
)
def test_a_runtime_without_accelerators_or_a_training_step_is_refused(text: str, why: str) -> None:
    with pytest.raises(FormatError, match=why):
        read(text, "kubernetes")


def test_the_launcher_of_mpi_is_one_of_the_nodes_and_the_job_node_asks_for_their_accelerators() -> None:
    policy = "numNodes: 3, mpi: {numProcPerNode: 8, runLauncherAsNode: true}"
    text = (
        _runtime(policy).replace(", torch: {}", "").replace("metadata: {labels: {trainer", "metadata: {labels: {other")
    )
    found = given(read(text, "kubernetes"))
    assert found["layout.nodes"] == 3 and found["cluster.accelerators_per_node"] == 8


def test_jobs_of_one_file_are_choices() -> None:
    both = MPI + "---\n" + KUBEFLOW + f"    Worker: {{replicas: 3, {ASKS}}}\n"
    with pytest.raises(SeveralParts, match="MPIJob None, PyTorchJob None: choose one"):
        read(both, "kubernetes")
    assert given(read(both, "kubernetes", part=2))["layout.nodes"] == 3


SLICES = """\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
spec:
  replicatedJobs:
  - replicas: 2
    template:
      spec:
        parallelism: 16
        template:
          spec:
            nodeSelector:
              cloud.google.com/gke-tpu-accelerator: tpu-v5p-slice
              cloud.google.com/gke-tpu-topology: 4x4x4
            containers:
            - command: [bash, -c, "python3 MaxText/train.py MaxText/configs/base.yml model_name=llama3.1-8b \
                ici_fsdp_parallelism=64 dcn_data_parallelism=2 per_device_batch_size=4 max_target_length=8192"]
              resources: {limits: {google.com/tpu: 4}}
"""
GROUP_OF_TWO = """\
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec:
        containers:
        - command: [vllm, serve, meta-llama/Llama-3.1-405B, --tensor-parallel-size, "8", --pipeline-parallel-size, "2"]
          resources: {limits: {nvidia.com/gpu: 8}}
"""


def test_an_object_states_the_machine_and_its_command_the_layout() -> None:
    found = given(read(SLICES))
    machine = ("cluster.accelerator", "cluster.accelerators_per_node", "layout.nodes")
    assert [found[key] for key in machine] == ["tpu-v5p", 4, 32]
    launch = ("workload.model", "workload.sequence_length", "layout.framework", "layout.shard_group")
    assert [found[key] for key in launch] == ["llama-3.1-8b", 8192, "maxtext", 64]
    assert found["cluster.scale_up.shape"] == [4, 4, 4]
    served = given(read(GROUP_OF_TWO))
    both = ("layout.tp", "layout.pp", "layout.nodes", "cluster.accelerators_per_node")
    assert [served[key] for key in both] == [8, 2, 2, 8]
    assert "layout.tp" not in given(read(GROUP_OF_TWO, "kubernetes")), (
        "a named kind is read alone where it is a machine"
    )


def test_a_launch_has_the_accelerators_of_a_node_that_its_job_asks_for() -> None:
    job = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:4\n"
    launch = "srun tune run --nnodes=2 --nproc_per_node=4 lora_finetune_distributed --config a.yaml batch_size=2\n"
    reading = read(job + launch)
    assert reading.kind == "torchtune"
    assert given(reading)["cluster.accelerators_per_node"] == 4
    assert given(reading)["layout.nodes"] == 2
    several = read(f"{job}#SBATCH --gpus-per-node=8\n{launch}")
    assert "cluster.accelerators_per_node" not in given(several)
    for text in (several, read(f"{job}#SBATCH --gpus-per-node=8\nsrun ./own\n")):
        assert "cluster.accelerators_per_node" not in given(text)
        assert {(each.what.split(": ")[-1], each.at.line) for each in text.unknown if "per_node" in each.what} == {
            ("4", 3),
            ("8", 4),
        }
    alike = read(f"{job}#SBATCH --gpus-per-node=4\nsrun ./own\n")
    assert given(alike)["cluster.accelerators_per_node"] == 4
    assert "per_node" not in unknown(alike)


@pytest.mark.parametrize(("written", "share"), [("0.4837998673434856", 0.4838), ("0.9", 0.9), ("1.5", None)])
def test_a_share_of_memory_may_have_any_number_of_digits(written: str, share: float | None) -> None:
    reading = read(f"vllm serve Qwen/Qwen3-8B --gpu-memory-utilization {written}\n", "serving")
    assert given(reading).get("workload.serving.memory_fraction") == share
    assert ("no share" in unknown(reading)) is (share is None)


def test_supervised_training_with_verl_states_how_parameters_are_kept() -> None:
    text = (
        "torchrun --nproc_per_node=8 -m verl.trainer.fsdp_sft_trainer data.train_batch_size=64 "
        "model.partial_pretrain=Qwen/Qwen3-8B model.fsdp_config.model_dtype=bf16 model.fsdp_config.cpu_offload={}"
    )
    kept, moved = read(text.format("False")), read(text.format("True"))
    assert given(kept)["workload.parameter_precision"] == "bf16"
    assert "host" not in unknown(kept)
    assert "offload of parameters" in unknown(moved)


def test_states_in_host_memory_are_named_one_by_one() -> None:
    toml = "[parallelism]\ntensor_parallel_degree = 2\n[optimizer]\nname = 'AdamW'\nswap_optimizer = {}\nlr = 1e-5\n"
    assert "optimizer.swap_optimizer: True: not imported: states" in unknown(read(toml.format("true")))
    assert "host memory" not in unknown(read(toml.format("false")))
    launch = "deepspeed pretrain_gpt.py --tensor-model-parallel-size 2 --num-layers 4 --hidden-size 64 --deepspeed"
    assert given(read(f"{launch} --cpu-optimizer"))["layout.offload.optimizer"] == 1
    assert "layout.offload.optimizer" not in given(read(launch))


POD = "{containers: [{name: a, resources: {limits: {nvidia.com/gpu: 4}}}], initContainers: [{name: i}]}"


def test_objects_that_hold_a_ray_cluster_or_replicas_of_a_template_are_nodes() -> None:
    fleet = (
        RAY.replace("RayCluster", "RayClusterFleet")
        .replace("\n  ", "\n      ")
        .replace("spec:\n", "spec:\n  replicas: 3\n  template:\n    spec:\n", 1)
    )
    known, reading = read(RAY), read(fleet)
    assert given(reading) == given(known)
    assert counts(reading)["replicas"] == 3
    job = f"""
        apiVersion: sagemaker.amazonaws.com/v1
        kind: HyperPodPyTorchJob
        spec:
          nprocPerNode: 4
          replicaSpecs:
            - {{name: pods, replicas: 6, template: {{spec: {POD}}}}}
        """
    found = read(job)
    assert (given(found)["layout.nodes"], given(found)["cluster.accelerators_per_node"]) == (6, 4)
    assert counts(found)["accelerators"] == 24
    left_open = read(job.replace("replicas: 6", "replicas: $N"))
    assert "layout.nodes" not in given(left_open)
    assert given(left_open)["cluster.accelerators_per_node"] == 4


def test_an_object_of_another_kind_states_what_its_pods_ask_for_and_not_their_number() -> None:
    text = f"apiVersion: a/v1\nkind: OtherPodSet\nspec: {{template: {{cliques: [{{spec: {{podSpec: {POD}}}}}]}}}}\n"
    reading = read(text)
    assert given(reading) == {"cluster.accelerators_per_node": 4}
    assert "layout.nodes: how many pods a OtherPodSet has is not read" in unknown(reading)
    mixed = read(text.replace("[{spec", f"[{{spec: {{podSpec: {POD.replace('gpu: 4', 'gpu: 8')}}}}}, {{spec"))
    assert given(mixed) == {}
    assert "pods ask for different numbers" in unknown(mixed)
    with pytest.raises(FormatError, match="holds OtherPodSet"):
        read(text.replace("nvidia.com/gpu", "cpu"))


def test_a_device_type_without_a_slug_is_one() -> None:
    text = "manufacturer: J\nmodel: Q\nu_height: 1\ninterfaces:\n  - {name: e0, type: 400gbase-x-qsfpdd}\n"
    assert counts(read(text))["ports of 400 Gb/s"] == 1


def test_options_after_placeholders_of_several_words_and_several_options_of_a_directive_are_read() -> None:
    text = """
        #!/bin/bash
        #SBATCH <SLURM OPTIONS> --nodes=16 --exclusive --ntasks-per-node=8
        DATA="0.5 <PATH TO THE FIRST> 0.5 <PATH TO THE SECOND SET>"
        options="--tensor-model-parallel-size 8 --num-layers 4 --data-path ${DATA} \\
            --vocab-file <PATH TO vocab.json> --fp16 --checkpoint-activations "
        srun sh -c "python -u pretrain_gpt.py ${options}"
        """
    reading = read(text)
    assert reading.kind == "megatron"
    found = given(reading)
    assert (found["layout.nodes"], found["layout.tp"], found["workload.precision"]) == (16, 8, "fp16")
    assert found["layout.recompute"] == "full"
    assert counts(reading)["ranks_per_node"] == 8


def test_launches_whose_program_one_variable_holds_are_listed_by_the_lines_of_their_options() -> None:
    launch = "$P pretrain_gpt.py \\\n --tensor-model-parallel-size"
    text = f"P=deepspeed\n{launch} 2\n\n{launch} 4\n"
    with pytest.raises(SeveralParts, match="on lines 3, 6"):
        read(text)


@pytest.mark.parametrize(
    ("tasks", "accelerators"),
    [
        ("--nodes=1 --ntasks=1", 4),
        ("--nodes=1 --ntasks=2", 8),
        ("--nodes=3", 4),
        ("--nodes=3 --ntasks=3", 4),
        ("--nodes=3 --ntasks=6 --ntasks-per-node=2", 8),
        ("--nodes=3 --ntasks=6", None),
        ("--ntasks=1", 4),
        ("--ntasks=2", None),
    ],
)
def test_accelerators_of_a_task_are_those_of_a_node_if_its_tasks_are_known(
    tasks: str, accelerators: int | None
) -> None:
    """Four accelerators per task; without a number of tasks each node has one, one task is on one node, and six tasks
    on three nodes may lie unevenly.
    """
    reading = read(f"#!/bin/bash\n#SBATCH {tasks} --gpus-per-task=4\nsrun ./own\n")
    nodes = 3 if "--nodes=3" in tasks else None if tasks == "--ntasks=2" else 1
    assert given(reading).get("layout.nodes") == nodes
    assert given(reading).get("cluster.accelerators_per_node") == accelerators
    assert ("how many of the tasks are on one node" in unknown(reading)) == (accelerators is None)


def test_a_recipe_of_sparkrun_fills_in_its_defaults() -> None:
    recipe = (
        "recipe_version: '2'\nmodel: Qwen/Qwen3-8B\nruntime: vllm\n"
        "defaults: {tensor_parallel: 2, gpu_memory_utilization: 0.8}\n"
        "command: |\n  vllm serve {model} \\\n    --gpu-memory-utilization {gpu_memory_utilization} \\\n"
        "    --max-num-seqs {max_num_seqs} \\\n    -tp {tensor_parallel}\n"
    )
    reading = read(recipe)
    assert given(reading)["layout.tp"] == 2
    assert given(reading)["workload.model"] == "qwen3-8b"
    assert given(reading)["workload.serving.memory_fraction"] == 0.8
    assert "max_num_seqs: {max_num_seqs}: not an integer" in unknown(reading)


@pytest.mark.parametrize("mark", ["|", "|-", "|  # a comment"])
def test_a_script_in_a_block_has_the_lines_of_the_file(mark: str) -> None:
    """The first word of a block is on the line below its mark."""
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec:\n  containers:\n  - image: own\n"
        f"    command: [bash, -c]\n    args:\n    - {mark}\n      vllm serve Qwen/Qwen3-8B \\\n"
        "        --tensor-parallel-size 8\n"
    )
    found = {".".join(map(str, each.path)): each.at.line for each in read(pod).given}
    assert (found["workload.model"], found["layout.tp"]) == (10, 11)
    keyed = f"recipe: a\nserver_cmd: {mark}\n  vllm serve Qwen/Qwen3-8B \\\n    --tensor-parallel-size 8\n"
    assert {".".join(map(str, each.path)): each.at.line for each in read(keyed).given}["layout.tp"] == 4


@pytest.mark.parametrize(("degree", "nodes"), [(8, 1), (16, None)])
def test_a_pod_that_is_a_part_of_an_engine_states_no_nodes(degree: int, nodes: int | None) -> None:
    """Two pods of eight accelerators: one engine of 16 ranks on both, or two of eight ranks on one node each."""
    pods = (
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  replicas: 2\n  template:\n    spec:\n"
        "      containers:\n      - image: own\n        resources: {limits: {nvidia.com/gpu: 8}}\n        args:\n"
        f"        - |\n          python3 -m sglang.launch_server --model-path Qwen/Qwen3-8B --tp {degree}\n"
    )
    reading = read(pods)
    assert given(reading)["cluster.accelerators_per_node"] == 8
    assert given(reading).get("layout.nodes") == nodes
    assert ("nodes" in counts(reading)) == (nodes is not None)
    assert ("whose 8 accelerators are fewer than the 16 ranks" in unknown(reading)) == (nodes is None)


@pytest.mark.parametrize(
    ("steps", "nodes"),
    [
        ("srun -N 4 ", 4),
        ("srun --nodes=4 ", 4),
        ("srun ", 8),  # all nodes of the job
        ("srun -N $N ", None),
        ("srun -N 1 bash setup.sh\nsrun -N 4 ", 4),
        ("srun -N 4 bash setup.sh\nsrun ", 8),  # another step
    ],
)
def test_the_nodes_of_a_launch_are_those_of_its_own_step(steps: str, nodes: int | None) -> None:
    launch = "python pretrain_gpt.py --tensor-model-parallel-size 4 --num-layers 32 --seq-length 4096\n"
    reading = read(f"#!/bin/bash\n#SBATCH --nodes=8\n{steps}{launch}")
    assert given(reading).get("layout.nodes") == nodes
    assert ("layout.nodes: $N: the nodes of the step" in unknown(reading)) == (nodes is None)


def test_a_train_job_whose_runtime_asks_for_no_accelerators_either_leaves_them_open() -> None:
    reading = read(NAMED + "---\n" + _runtime(asked="env: []"), "kubernetes")
    assert given(reading)["layout.nodes"] == 4 and "cluster.accelerators_per_node" not in given(reading)
    assert "accelerators_per_node: neither the TrainJob nor its runtime requests accelerators" in unknown(reading)
    stated = read(NAMED + "---\n" + _runtime(), "kubernetes")
    assert "accelerators_per_node" not in unknown(stated)

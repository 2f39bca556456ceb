"""What a script only names, or never reaches, is no launch; what a program does in addition to training is told."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown


@each(
    "array",
    [
        'found=($(docker ps --filter "ancestor=vllm/vllm-openai:latest" --format "{{.Names}}"))',
        "found=(`docker ps -q --filter ancestor=vllm/vllm-openai`)",
        'declare -a found=($(podman ps --format "{{.Names}}" --filter ancestor=lmsysorg/vllm-openai))',
    ],
)
def test_containers_that_a_script_looks_for_are_no_launch(array: str) -> None:
    with pytest.raises(FormatError):
        read(f'#!/bin/bash\n{array}\nfor each in "${{found[@]}}"; do docker stop "$each"; done\n', name="stop.sh")


def test_an_array_of_words_is_a_launch_for_others() -> None:
    text = "#!/bin/bash\nSERVER=(vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2)\n"
    assert given(read(text, name="server.sh"))["layout.tp"] == 2


def test_what_a_command_prints_is_no_model() -> None:
    reading = read("vllm serve $(options_of_profile | tr '\\n' ' ')\n")
    assert "model $(" not in unknown(reading)
    assert "options of the engine: its launch leaves options out" in unknown(reading)
    assert given(read("vllm serve Qwen/Qwen3-8B --port $(free_port)\n"))["workload.model"] == "qwen3-8b"


SIZES = "--num-layers 8 --hidden-size 512 --num-attention-heads 8 --seq-length 256 --tensor-model-parallel-size 2"


@each(
    "program, framework, width",
    [
        # a package of its own, with options that torchrun would take for programs of Megatron-LM
        (f"python3 -m other_gpt.training {SIZES} --num-nodes 2 --num-gpus-per-node 8", None, None),
        (f"python3 other.py {SIZES} --num_nodes 2 --devices 8", None, None),
        (f"torchrun --nnodes 2 -m other_gpt.training {SIZES}", "megatron-core", 2048),
        (f"torchrun --nnodes 2 tools/pretrain_other.py {SIZES} --num-nodes 2", "megatron-core", None),
        (f"torchrun --nnodes 2 pretrain_gpt.py {SIZES}", "megatron-core", 2048),
    ],
)
def test_a_program_with_options_of_its_own_is_not_megatron(
    program: str, framework: str | None, width: int | None
) -> None:
    reading = read(program + "\n")
    keys = given(reading)
    assert keys["layout.tp"] == 2
    assert keys.get("layout.framework") == framework
    assert keys.get("workload.model.ffn_hidden") == width
    assert ("layout.framework of other" in unknown(reading)) is (framework is None)


@each("stage, told", [("dpo", True), ("rm", True), ("simpo", True), ("sft", False), ("3", False)])
def test_a_stage_with_preferences_is_told(stage: str, told: bool) -> None:
    text = unknown(read(f"torchrun posttrain_gpt.py {SIZES} --stage {stage}\n"))
    assert (f"stage: {stage}: trains with a reference" in text) is told


STOPPED = (
    "colossalai run --nproc_per_node 8 benchmark.py -c 7b -p 3d --tp 2 --pp 2 --mbs 4",
    "vllm serve Qwen/Qwen3-8B --tensor-parallel-size 2",
    "accelerate launch train.py --per_device_train_batch_size 4 --model_name_or_path Qwen/Qwen3-8B",
    "python3 -m verl.trainer.main_ppo data.train_batch_size=64 actor_rollout_ref.rollout.n=4 trainer.nnodes=1",
)


@each("launch", STOPPED)
def test_a_script_that_ends_before_any_launch_says_so(launch: str) -> None:
    stopped = f"#!/bin/bash\necho 'not ready'\nexit 1\n\n{launch}\n"
    found = [part.at.line for part in read(stopped, name="run.sh").unknown if part.what == "exit"]
    assert found == [3]
    for sound in (f"#!/bin/bash\n{launch}\nexit 0\n", f"#!/bin/bash\n[ -d /data ] || exit 1\n{launch}\n"):
        assert "exit" not in [part.what for part in read(sound, name="run.sh").unknown]


def test_the_end_of_another_script_of_a_text_ends_no_launch() -> None:
    page = f"Leave the container:\n```bash\nexit\n```\nThen:\n```bash\n{STOPPED[1]}\n```\n"
    pod = f"""\
        apiVersion: v1
        kind: Pod
        metadata: {{name: a}}
        spec:
          initContainers:
          - name: wait
            command: [bash, -c, "nc -z a 1 && exit 0"]
          containers:
          - name: engine
            image: vllm/vllm-openai:v0.9.0
            command: [bash, -c, "{STOPPED[1]}"]
        """
    for text in (page, pod):
        assert "exit" not in [part.what for part in read(text).unknown]


@each(
    "step, nodes, ranks",
    [
        ("srun --nodes=4 --ntasks-per-node=8", 4, 8),
        ("srun -N 4 --ntasks-per-node 8", 4, 8),
        ("srun", 2, None),
    ],
)
def test_the_nodes_of_a_step_are_read_and_not_listed(step: str, nodes: int, ranks: int | None) -> None:
    reading = read(f"#!/bin/bash\n#SBATCH --nodes=2\n{step} python pretrain_gpt.py {SIZES}\n", name="a.sbatch")
    assert given(reading)["layout.nodes"] == nodes
    assert counts(reading).get("ranks_per_node") == ranks
    assert not [part for part in reading.unknown if part.why.startswith("not imported: nodes")]
    assert "ntasks_per_node" not in unknown(reading)


OPEN_RLHF = """\
    read -r -d '' words <<EOF
    openrlhf.cli.train_{} --pretrain Qwen/Qwen3-8B --train_batch_size 256 --micro_train_batch_size 2 --zero_stage 3
    EOF
    deepspeed --module $words
    """


@each(
    "program, batch, second",
    [
        ("dpo", None, "a reference model"),
        ("kto", 256, "a reference model"),
        ("kd", 256, "a teacher"),
        ("rm", None, None),
        ("sft", 256, None),
    ],
)
def test_a_second_model_that_gives_logits_alone_is_told(program: str, batch: int | None, second: str | None) -> None:
    reading = read(OPEN_RLHF.format(program))
    keys = given(reading)
    assert (keys["layout.sharding"], keys["workload.model"]) == ("fsdp", "qwen3-8b")
    assert keys.get("workload.global_batch") == batch
    assert keys.get("workload.kind") == (None if second else "train")
    assert (f"openrlhf.cli.train_{program}: {second} runs forward" in unknown(reading)) is bool(second)


def test_rounds_of_several_programs_are_no_single_workload() -> None:
    generated = "    deepspeed --module openrlhf.cli.batch_inference --eval_task generate_vllm --tp_size 2\n"
    with pytest.raises(FormatError, match="samples of each round by another program"):
        read(generated + OPEN_RLHF.format("dpo"))
    reading = read(generated + OPEN_RLHF.format("sft"))
    assert given(reading)["workload.global_batch"] == 256
    assert "openrlhf.cli.batch_inference: writes samples or rewards" in unknown(reading)
    assert "batch_inference" not in unknown(read(OPEN_RLHF.format("sft")))


def test_an_object_that_only_names_an_engine_states_the_accelerators_of_its_pods() -> None:
    text = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: own-vllm-server-grpo}
    spec:
      replicas: 1
      template:
        spec:
          containers:
          - name: vllm-container
            image: own/image:1
            command: ["sh", "-c", "own-vllm --config /mnt/config.yaml"]  # Run vllm server
            resources: {limits: {nvidia.com/gpu: "8"}}
            ports: [{name: http-vllm, containerPort: 8000}]
    """
    reading = read(text, name="server.yaml")
    assert (reading.kind, given(reading)["cluster.accelerators_per_node"]) == ("kubernetes", 8)


def test_a_training_with_rewards_that_an_engine_generates_for_is_refused_as_a_training() -> None:
    text = """\
    base_model: Qwen/Qwen3-4B
    rl: grpo
    trl:
      use_vllm: true
      vllm_server_host: own-vllm-service
      vllm: {vllm_gpu_memory_utilization: 0.9}  # of the vllm server
    micro_batch_size: 12
    gradient_accumulation_steps: 2
    sequence_len: 8192
    datasets: [{path: own}]
    """
    with pytest.raises(FormatError, match="rl: grpo"):
        read(text, name="grpo.yaml")

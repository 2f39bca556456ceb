"""Settings of programs without a reader: names of one meaning are read, and nothing whose scope is open."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown


@pytest.mark.parametrize(
    ("name", "text", "stated", "told"),
    [
        (
            "a.yaml",
            "trainer: {num_nodes: 2, gpusPerNode: 8}\nmodel: {tensor_parallel_size: 4}\n",
            {"layout.nodes": 2, "layout.tp": 4, "ranks_per_node": 8},
            "only settings whose names have one meaning",
        ),
        (
            "a.yaml",
            "train: {micro_batch_size: 2}\ncritic: {micro_batch_size: 4}\n",
            {"layout.micro_batch": 2},
            "critic.micro_batch_size: 4: which model or part of the work",
        ),
        (
            "a.json",
            '{"global_batch_size": 64, "zero_stage": 3, "seq_len": 4096}\n',
            {"workload.global_batch": 64, "layout.sharding": "fsdp", "workload.sequence_length": 4096},
            "",
        ),
        (
            "a.toml",
            "[parallel]\npipeline_parallel_size = 2\ncontext_parallel_size = 4\n",
            {"layout.pp": 2, "layout.cp": 4},
            "",
        ),
        (
            "a.ini",
            "[parallel]\ntensor_parallel_size = 4\n[train]\nmicro_batch_size: 1 ; each\n",
            {"layout.tp": 4, "layout.micro_batch": 1},
            "",
        ),
        ("a.py", "size = 4\nparallel = dict(tensor_parallel=size)\n", {"layout.tp": 4}, ""),
        (
            "a.env",
            "export TENSOR_PARALLEL_SIZE=4\nGPU_MEMORY_UTILIZATION=.85\n",
            {"layout.tp": 4, "workload.serving.memory_fraction": 0.85},
            "",
        ),
        (
            "a.sh",
            "MBS=2\npython own.py --micro-batch-size $MBS --seq_len 512 model.expert_parallel_size=8\n",
            {"layout.micro_batch": 2, "workload.sequence_length": 512, "layout.ep": 8},
            "own.py: no reader knows it",
        ),
        (
            "a.sh",
            "torchrun --nnodes 2 --nproc_per_node 8 own.py --global_batch_size 64 --num_nodes 3 --lr 1\n",
            {"layout.nodes": 2, "ranks_per_node": 8, "workload.global_batch": 64},
            "num_nodes: 3: the launcher states 2",
        ),
        (
            "a.sh",
            "#SBATCH --nodes=2\n#SBATCH --gpus-per-node=4\nsrun python own.py --tp_size $TP --micro_batch_size 2\n",
            {"layout.nodes": 2, "cluster.accelerators_per_node": 4, "layout.micro_batch": 2},
            "tp_size: $TP: not an integer",
        ),
        (
            "a.yaml",
            "engine: {tensor_parallel_size: 2, gpu_memory_utilization: 0.9}\n",
            {"layout.tp": 2, "workload.serving.memory_fraction": 0.9},
            "",
        ),
        (
            "a.yaml",
            "engine: {tensor_parallel_size: 2}\nmicro_batch_size: 4\n",
            {"layout.micro_batch": 4},
            "engine.tensor_parallel_size: 2",
        ),
        (
            "a.yaml",
            "tensor_parallel_size: 2\nmodel: {tp_size: 4}\nnproc_per_node: 8\n",
            {"ranks_per_node": 8},
            "tp_size: 4: another setting of this meaning differs",
        ),
        (
            "a.sh",
            "lm_eval --model vllm --model_args pretrained=Qwen/Qwen2.5-7B,tensor_parallel_size=4,dtype=auto\n",
            {"layout.tp": 4, "workload.model": "qwen2.5-7b"},
            "lm_eval: no reader knows it",
        ),
        (
            "a.sh",
            "TP=2\nPP=1\nDP=$((64/TP))\nNNODES=8\nMBS=1\n. ./run.sh\nexit 0\n",
            {"layout.micro_batch": 1, "layout.tp": 2, "layout.pp": 1, "layout.dp": 32, "layout.nodes": 8},
            "",
        ),
        (
            "a.yaml",
            "micro_batch_size: 2\nlora: {lora_r: 64}\n",
            {"layout.micro_batch": 2, "workload.trainable.method": "lora", "workload.trainable.rank": 64},
            "",
        ),
        ("a.yaml", "micro_batch_size: 2\nuse_lora: false\nlora_r: 64\n", {"layout.micro_batch": 2}, "lora_r"),
        (
            "a.yaml",
            "distributed: {data_parallel_size: 4, sequence_parallel: true, zero_stage: 1}\nbase_model: a/b\n",
            {"layout.dp": 4, "layout.sequence_parallel": True, "layout.sharding": "zero1"},
            "model a/b: no catalog entry",
        ),
    ],
)
def test_a_name_of_one_meaning_states_its_value(name: str, text: str, stated: dict[str, object], told: str) -> None:
    reading = read(text, name=name)
    assert given(reading) | counts(reading) == stated
    assert told in unknown(reading)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.yaml", "num_nodes: 207\nseq_len: 96\n"),  # the nodes of a graph, and a series
        ("a.yaml", "gradient_accumulation_steps: 40\nbatch_size: 12\n"),  # steps of all ranks in nanoGPT
        ("a.sh", "gcloud container clusters create x --num-nodes 4 --tp_size 2\n"),
        ("a.sh", "python convert_checkpoint.py --tp_size 4\n"),
        ("a.sh", "# python own.py --tp_size 4\necho done\n"),
        ("a.sh", "exit 1\npython own.py --micro_batch_size 4\n"),
        ("a.md", "micro_batch_size: 4\ntensor_parallel_size: 4\n"),
        ("a.py", "micro_batch_size = 4\ndef train():\n    pass\n"),
        ("a.sh", "python own.py --batch_size_per_gpu 800 --gradcache_chunk_size 50\n"),
        ("a.yaml", "grpo: {micro_batch_size: 4}\nbf16: true\ngrad_accum: 8\n"),
        ("Dockerfile", 'FROM a/b\nENTRYPOINT ["python3", "-m", "vllm.entrypoints.openai.api_server"]\n'),
        ("a.yaml", "critic: {micro_batch_size: 4}\nreward: {tensor_parallel_size: 2}\n"),
    ],
)
def test_a_name_of_another_meaning_states_nothing(name: str, text: str) -> None:
    with pytest.raises(FormatError):
        read(text, name=name)


def test_launches_whose_settings_differ_are_parts() -> None:
    text = "python own.py --micro_batch_size 4\npython own.py --micro_batch_size 8\n"
    with pytest.raises(SeveralParts, match="holds 2 launches"):
        read(text, name="a.sh")
    assert given(read(text, name="a.sh", part=2)) == {"layout.micro_batch": 8}
    alike = "python own.py --micro_batch_size 4 --seed 1\npython own.py --micro_batch_size 4 --seed 2\n"
    assert given(read(alike, name="a.sh")) == {"layout.micro_batch": 4}


@pytest.mark.parametrize(
    ("name", "text", "stated", "told"),
    [
        ("a.sh", "#SBATCH -N 1\n#SBATCH --gres=gpu:a100\nsrun a\n", {"accelerators_per_node": 1, "nodes": 1}, ""),
        ("a.sh", "#SBATCH -N 2\n#SBATCH --gres=gpu\nsrun a\n", {"accelerators_per_node": 1, "nodes": 2}, ""),
        (
            "a.yaml",
            "resources:\n  any_of:\n    - accelerators: L4:2\n    - {accelerators: A10G:2, use_spot: true}\nrun: a\n",
            {"accelerators_per_node": 2, "nodes": 1},
            "L4:2, A10G:2: several choices",
        ),
        (
            "a.yaml",
            "resources:\n  ordered:\n    - accelerators: H100:8\n    - accelerators: A100:4\nrun: a\n",
            {"nodes": 1},
            "several choices",
        ),
    ],
)
def test_what_a_job_or_a_task_leaves_to_a_default_or_a_choice(
    name: str, text: str, stated: dict[str, object], told: str
) -> None:
    reading = read(text, name=name)
    assert {key.rpartition(".")[2]: value for key, value in given(reading).items()} == stated
    assert told in unknown(reading)


def test_a_placeholder_is_no_accelerator() -> None:
    with pytest.raises(FormatError):
        read("#SBATCH -N 1\n#SBATCH --gres=gpu:COUNT\nsrun a\n", name="a.sh")

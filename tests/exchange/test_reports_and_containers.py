"""Launches that containers list as words, output that people quote in reports, and texts that state less than they
seem to.
"""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError
from tests.effort import each
from tests.exchange.imports import counts, given, read, unknown

JOB = """\
    apiVersion: jobset.x-k8s.io/v1alpha2
    kind: JobSet
    metadata:
      name: train
    spec:
      replicatedJobs:
    """
SLICE = """\
    - name: {name}
      replicas: 2
      template:
        spec:
          parallelism: 1
          completions: 1
          template:
            spec:
              containers:
                - name: train
                  image: local/maxtext
                  resources:
                    limits:
                      google.com/tpu: 8
                  command: ["python3", "/deps/maxtext/MaxText/train.py", "/deps/maxtext/MaxText/configs/base.yml"]
                  args:
                    - model_name=llama2-7b
                    - ici_fsdp_parallelism=2
                    - ici_tensor_parallelism={tp}
                    - dcn_data_parallelism=2
                    - max_target_length=2048
                    - per_device_batch_size=3
              nodeSelector:
                cloud.google.com/gke-tpu-accelerator: tpu-v5-lite-podslice
                cloud.google.com/gke-tpu-topology: 2x4
    """


def job(*slices: tuple[str, int]) -> str:
    lines = JOB.replace("\n    ", "\n").strip()
    parts = (SLICE.format(name=name, tp=tp).replace("\n    ", "\n  ") for name, tp in slices)
    return lines + "\n" + "".join("  " + part.strip() + "\n" for part in parts)


def test_a_container_that_lists_the_words_of_maxtext_starts_it() -> None:
    found = given(read(job(("a", 4))))
    assert (found["workload.model"], found["workload.sequence_length"]) == ("llama-2-7b", 2048)
    assert (found["layout.tp"], found["layout.dp"], found["layout.shard_group"]) == (4, 4, 2)
    assert found["workload.global_batch"] == 3 * 16  # three sequences on each of 2 x 8 chips
    assert found["layout.nodes"] == 2


def test_launches_of_containers_that_differ_are_listed_and_none_is_read() -> None:
    reading = read(job(("a", 4), ("b", 2)))
    assert "layout.tp" not in given(reading)
    assert "launches of maxtext: it holds 2 launches with different options" in unknown(reading)


@each(
    ("ranks", "counted"),
    [
        ("${GPUS}", {"ranks_per_node": 4}),
        ("2", {"ranks_per_node": 2}),
        ("${OTHER}", {}),  # not stated: one task of each node starts an unknown number of them
    ],
)
def test_tasks_that_start_a_launcher_are_no_ranks(ranks: str, counted: dict[str, int]) -> None:
    text = (
        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks=2\n#SBATCH --ntasks-per-node=1\n#SBATCH --gpus-per-node=4\n"
        f'GPUS="${{GPUS:-4}}"\nsrun torchrun --nproc-per-node={ranks} -m own.train\n'
    )
    assert counts(read(text)) == counted


def test_adapters_that_a_mail_quotes_are_read() -> None:
    port = "Port 1:\nState: Active\nPhysical state: LinkUp\nRate: 200\nLink layer: InfiniBand\n"
    listed = "".join(f"CA 'mlx5_{n}'\nCA type: MT4123\n{port}" for n in range(2))
    for mark in ("", "> ", ">>> ", "> > "):
        found = given(read("".join(f"{mark}{line}\n" for line in listed.splitlines()), "ibstat"))
        assert found["cluster.scale_out.nics_per_node"] == 2
        assert found["cluster.scale_out.nic_bandwidth"] == "200 Gb/s"


ENGINE = (
    "INFO 01-20 18:50:18 [utils.py:253] non-default args: {{'model': 'Qwen/Qwen3-8B'{more}}}\n"
    "INFO 01-20 18:50:20 [scheduler.py:231] Chunked prefill is enabled with max_num_batched_tokens={tokens}.\n"
)


def test_the_tokens_of_a_step_that_an_engine_decided_are_those_of_its_log() -> None:
    key = "workload.serving.chunk_tokens"
    assert given(read(ENGINE.format(more="", tokens=8192)))[key] == 8192
    assert given(read(ENGINE.format(more=", 'max_num_batched_tokens': 4096", tokens=4096)))[key] == 4096
    two = ENGINE.format(more="", tokens=8192) + ENGINE.format(more="", tokens=2048)
    assert key not in given(read(two))


MATRIX = (
    "GPU 0: NVIDIA RTX A6000\n{on}GPU0\tNIC0\tCPU Affinity\tNUMA Affinity{off}\nGPU0\t X \tNODE\t0-31\t1\n"
    "NIC0\tNODE\t X \n\nLegend:\n  NIC0: mlx5_2\n"
)


@each(("on", "off"), [("", ""), ("\x1b[4m", "\x1b[0m"), ("\ufffd[4m", "\ufffd[0m")])
def test_a_header_is_known_with_the_codes_of_a_terminal_and_what_a_site_makes_of_them(on: str, off: str) -> None:
    reading = read(MATRIX.format(on=on, off=off))
    assert (reading.kind, given(reading)["cluster.accelerator"]) == ("nvidia-smi-topo", "rtx-a6000")


def test_a_launch_in_a_report_of_a_machine_is_listed() -> None:
    matrix = MATRIX.format(on="", off="")
    launch = "```bash\nvllm serve Qwen/Qwen3-8B --tensor-parallel-size 2\n```\n"
    assert "vllm serve: the text starts it: import it with the KIND serving" in unknown(read(launch + matrix))
    for other in ("", "The tool torchrun is not installed.\n"):  # a word of prose starts nothing
        assert "KIND serving" not in unknown(read(other + matrix))


def test_a_script_that_sets_keys_of_a_program_is_no_configuration() -> None:
    text = (
        '#!/usr/bin/env bash\nmode="${1:-run}"\npython - <<PY\ncfg.policy.megatron_cfg.tensor_model_parallel_size = 1\n'
        "try: pass\nPY\npython examples/run_grpo.py --config a.yaml\n"
    )
    with pytest.raises(
        FormatError, match=r"no launch with size keys of Megatron .*run_grpo\.py \(line 7, with --config"
    ):
        read(text)


def test_a_device_that_an_infrastructure_lacks_is_named() -> None:
    text = (
        "name: a\ndevices:\n- name: host\n  components:\n  - {name: xpu, choice: xpu, count: 1}\n"
        "instances:\n- {name: a, device: host, count: 2}\n- {name: b, device: switch-x, count: 1}\nedges: []\n"
    )
    with pytest.raises(FormatError, match="it lacks 'switch-x'"):
        read(text, "infragraph")


@each("option", ["train_group_size", "query_max_len", "passage_max_len"])
def test_groups_of_passages_are_no_samples_of_a_language_model(option: str) -> None:
    launch = "torchrun --nproc_per_node 2 -m own.run --model_name_or_path a/b --per_device_train_batch_size 2 --fp16"
    assert given(read(f"{launch}\n"))["layout.micro_batch"] == 2
    with pytest.raises(FormatError, match=option):
        read(f"{launch} --{option} 8\n")


def test_accelerators_of_a_job_are_not_those_of_a_pod() -> None:
    script = "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:1\n# other resources: --gres=gpu:4\nsrun own\n"
    assert "of a pod" not in unknown(read(script))
    pod = (
        "apiVersion: batch/v1\nkind: Job\nspec:\n  template:\n    spec:\n      containers:\n"
        "      - {name: a, resources: {limits: {nvidia.com/gpu: 1}}}\n"
    )
    assert "of a pod" in unknown(read(pod))


@each("name", ["$1", "${MODEL_PATH}", "/models/${NAME}-FP8"])
def test_a_model_that_only_an_argument_names_is_told_so(name: str) -> None:
    reading = read(f'vllm serve "{name}" --tensor-parallel-size 2\n')
    assert "workload.model" not in given(reading)
    assert "its config.json" not in unknown(reading)


def test_a_configuration_of_a_run_names_the_program_of_its_recipe() -> None:
    text = "training_config:\n  per_device_train_batch_size: 2\nmodel_config:\n  model_type: git_llm\n"
    with pytest.raises(FormatError, match="matches no import format"):
        read(text)


@each(
    ("launch", "pooled"),
    [
        ("python -m sglang.launch_server --model-path Qwen/Qwen3-8B --is-embedding", True),
        ("vllm serve Qwen/Qwen3-8B --runner pooling", True),
        ("vllm serve Qwen/Qwen3-8B --task embed", True),
        ("vllm serve Qwen/Qwen3-8B --convert classify", True),
        ("vllm serve Qwen/Qwen3-8B --task generate", False),
        ("vllm serve Qwen/Qwen3-8B --runner generate", False),
        ("vllm serve Qwen/Qwen3-8B", False),
    ],
)
def test_a_server_of_vectors_or_scores_generates_no_tokens(launch: str, pooled: bool) -> None:
    assert ("requests generate no tokens" in unknown(read(launch + "\n"))) == pooled


@each(
    ("directives", "nodes"),
    [
        ("--nodelist=a05,a09", 2),
        ("-w gpu[01-04,7]", 5),
        ("--nodelist=a05,a05", 1),
        ("--nodelist=a05 --nodes=3", 3),  # others as well
        ("--nodelist=a05,a09 --ntasks=16", None),  # as many as the tasks need
        ("--nodelist=/shared/hosts", None),  # a file of names
        ("--nodelist=a[05", None),
    ],
)
def test_a_job_that_states_no_number_has_the_hosts_that_it_lists(directives: str, nodes: int | None) -> None:
    text = f"#!/bin/bash\n#SBATCH {directives}\n#SBATCH --gres=gpu:8\nsrun own\n"
    assert given(read(text)).get("layout.nodes") == nodes


def test_the_nodes_of_a_list_are_those_of_a_variable_of_the_job() -> None:
    text = (
        "#!/bin/bash\n#SBATCH --nodelist=a05,a09\n#SBATCH --gres=gpu:8\nWORLD=$((SLURM_NNODES * 8))\n"
        'accelerate launch --num_machines "$SLURM_NNODES" --num_processes "$WORLD" own.py\n'
    )
    assert (given(read(text))["layout.nodes"], counts(read(text))["ranks"]) == (2, 16)


@each(("asked", "count"), [("H100:8", 8), ("H100", 1), ("$ACCELERATOR", None), ("H100:${GPUS}", None)])
def test_a_variable_states_no_accelerators_of_a_task(asked: str, count: int | None) -> None:
    found = given(read(f"resources:\n  accelerators: {asked}\nsetup: pip list\nrun: own\n", "task"))
    assert found.get("cluster.accelerators_per_node") == count


def test_accelerators_far_below_the_name_of_a_pod_are_its_own() -> None:
    names = "".join(f"            - {{name: V{n}, value: a}}\n" for n in range(80))
    text = (
        "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: a\nspec:\n  replicas: 2\n  template:\n    spec:\n"
        f"      containers:\n        - name: a\n          env:\n{names}"
        "          resources:\n            limits:\n              nvidia.com/gpu: 1\n"
    )
    assert "of a pod" in unknown(read(text))


def test_stages_of_an_engine_are_those_that_its_variable_states() -> None:
    launch = "{}vllm serve Qwen/Qwen2.5-32B-Instruct --pipeline-parallel-size 2\n"
    assert given(read(launch.format('export VLLM_PP_LAYER_PARTITION="24,40"\n')))["layout.stage_layers"] == [24, 40]
    assert given(read(launch.format("VLLM_PP_LAYER_PARTITION=30,34 ")))["layout.stage_layers"] == [30, 34]
    for line in ("# VLLM_PP_LAYER_PARTITION=24,40\n", "export SGLANG_PP_LAYER_PARTITION=24,40\n"):
        reading = read(launch.format(line))
        assert "layout.stage_layers" not in given(reading) and "PARTITION" not in unknown(reading), line
    for line, told in (
        ("export VLLM_PP_LAYER_PARTITION=20,20,24\n", "the launch has another number of stages (2)"),
        ("export VLLM_PP_LAYER_PARTITION=$SPLIT\n", "VLLM_PP_LAYER_PARTITION: $SPLIT"),
        ("export VLLM_PP_LAYER_PARTITION=24,40\nexport VLLM_PP_LAYER_PARTITION=32,32\n", "24,40 and 32,32: differing"),
    ):
        reading = read(launch.format(line))
        assert "layout.stage_layers" not in given(reading) and told in unknown(reading), line


def test_what_a_launch_states_is_not_missed_in_the_options_that_it_writes() -> None:
    text = (
        "cat > o.yml <<EOF\nenable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\nEOF\n"
        "B=4\ntrtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8 --extra_llm_api_options o.yml\n"
    )
    reading = read(text)
    assert (given(reading)["layout.attention_dp"], given(reading)["workload.kv_precision"]) == (8, "fp8")
    assert "not in this file" not in unknown(reading)
    alone = read("enable_attention_dp: true\nkv_cache_config:\n  dtype: fp8\n", name="o.yml")
    assert "layout.tp: not in this file" in unknown(alone)


def test_the_batch_of_an_engine_in_a_variable_is_read() -> None:
    text = "BATCH_SIZE={}\ntrtllm-serve a/b --tp_size 8 --max_batch_size {}\n"
    assert "BATCH_SIZE" not in unknown(read(text.format(4, "$BATCH_SIZE")))
    assert "BATCH_SIZE 16" in unknown(read(text.format(16, 4)))

"""Laws of models that a text downloads into the directory from which its launch loads them."""

from __future__ import annotations

import pytest

from .imports import given, read, unknown

SERVE = "vllm serve /models/q --tensor-parallel-size 2\n"


@pytest.mark.parametrize(
    "download",
    [
        "hf download Qwen/Qwen3-8B --local-dir /models/q",
        "huggingface-cli download --quiet Qwen/Qwen3-8B --revision main --local-dir=/models/q/",
        'M=Qwen/Qwen3-8B\nhf download "$M" \\\n  --local-dir /models/q',
        "modelscope download --model Qwen/Qwen3-8B --local_dir /models/q",
        "git clone --depth 1 https://huggingface.co/Qwen/Qwen3-8B /models/q",
    ],
)
def test_the_directory_of_a_download_is_the_model_that_was_downloaded(download: str) -> None:
    reading = read(f"#!/bin/bash\n{download}\n{SERVE}")
    assert given(reading)["workload.model"] == "qwen3-8b"
    assert "model /models/q" not in unknown(reading)


@pytest.mark.parametrize(
    "download",
    [
        "hf download Qwen/Qwen3-8B --local-dir /models/other",
        "hf download Qwen/Qwen3-8B",
        "hf download Qwen/Qwen3-8B --local-dir /models/q\nhf download Qwen/Qwen3-4B --local-dir /models/q",
        "# hf download Qwen/Qwen3-8B --local-dir /models/q",
    ],
)
def test_another_directory_or_several_models_in_one_leave_the_model_open(download: str) -> None:
    reading = read(f"#!/bin/bash\n{download}\n{SERVE}")
    assert "workload.model" not in given(reading)
    assert "model /models/q" in unknown(reading)


POD = """\
apiVersion: v1
kind: Pod
metadata: {name: engine}
spec:
  initContainers:
  - name: load
    image: python
    command: [%s]
  containers:
  - name: engine
    image: vllm/vllm-openai
    args: ["--model", "/models/q", "--tensor-parallel-size", "2"]
    resources: {limits: {nvidia.com/gpu: 2}}
"""


@pytest.mark.parametrize(
    "command",
    [
        '"hf", "download", "Qwen/Qwen3-8B-FP8", "--local-dir", "/models/q"',
        'sh, -c, "huggingface-cli login && huggingface-cli download Qwen/Qwen3-8B-FP8 --local-dir /models/q"',
        "python, -c, \"snapshot_download(repo_id='Qwen/Qwen3-8B-FP8', local_dir='/models/q')\"",
    ],
)
def test_a_container_that_runs_before_the_engine_downloads_its_model(command: str) -> None:
    found = given(read(POD % command, name="pod.yaml"))
    assert (found["workload.model"], found["workload.parameter_precision"]) == ("qwen3-8b", "fp8")
    assert found["layout.tp"] == 2


def test_a_training_loads_a_downloaded_model() -> None:
    launch = "torchrun --nproc_per_node 8 train.py --model_name_or_path ./q --per_device_train_batch_size 1 --bf16"
    assert given(read(f"hf download Qwen/Qwen3-8B --local-dir q\n{launch}\n"))["workload.model"] == "qwen3-8b"

"""Every exporter of a program refuses the accelerators on which the program does not run."""

from __future__ import annotations

import re

import pytest

from clusterspec.exchange.exporters.registry import EXPORTERS, NotExportable, exporter_of
from tests.exchange.test_exporters import source

TRAINING = "workload: {model: llama-3.1-8b, sequence_length: 4096, global_batch: 256}\nlayout: {sharding: zero1}"
SERVING = (
    "workload: {kind: serve, model: llama-3.1-8b, serving: {input_tokens: 1000, output_tokens: 100, concurrency: 8}}\n"
    "layout: {tp: 1%s}"
)
ENGINES = {"vllm": "vllm", "sglang": "sglang", "trt-llm": "trt-llm", "dynamo": "vllm", "llm-d": "vllm"}
OF_PROGRAMS = (
    *("megatron", "megatron-bridge", "torchtitan", "deepspeed", "maxtext", *ENGINES),
    *("sbatch", "mpijob", "jobset", "mpirun", "superbench", "azure-nhc", "nvcre", "aicr", "health-scanner", "cvs"),
    *("nhc", "node-problem-detector", "nccl-env", "prometheus"),
)
"""Exporters for programs that run on, or read, accelerators; the others describe the machine."""


def refused(kind: str, platform: str) -> str:
    """Why an exporter refuses two nodes of a platform; empty if it writes them."""
    work = SERVING % f", framework: {ENGINES[kind]}" if kind in ENGINES else TRAINING
    try:
        exporter_of(kind).write(source(f"platform: {platform}, nodes: 2", work))
    except NotExportable as why:
        return str(why)
    return ""


@pytest.mark.parametrize("kind", OF_PROGRAMS)
def test_a_part_with_software_of_its_own_is_no_accelerator_of_its_vendor(kind: str) -> None:
    assert refused(kind, "groq-3-lpx")
    assert kind == "cvs" or not refused(kind, "dgx-h100")


def test_machines_without_programs_are_described() -> None:
    others = {each.name for each in EXPORTERS} - {*OF_PROGRAMS}
    assert {"slurm-topology", "kueue-topology", "infragraph", "netbox", "cabling"} <= others
    assert not refused("slurm-topology", "groq-3-lpx")


@pytest.mark.parametrize("kind", ["vllm", "trt-llm", "dynamo", "llm-d"])
def test_engines_of_the_release_that_is_written_do_not_run_on_volta(kind: str) -> None:
    assert "does not run on V100 SXM2 32 GB (sm_70)" in refused(kind, "dgx-1")


@pytest.mark.parametrize("platform", ["gaudi3-hls", "tpu-v6e", "aws-trn2-48xlarge", "cloudmatrix384", "cerebras-cs-3"])
def test_environments_and_checks_of_gpus_are_refused_elsewhere(platform: str) -> None:
    for kind in ("nccl-env", "nhc", "node-problem-detector", "sbatch", "nvcre", "cvs", "aicr", "prometheus", "trt-llm"):
        assert refused(kind, platform), kind


@pytest.mark.parametrize(("platform", "tests"), [("mi300x-ubb8", "RCCL"), ("dgx-h100", "NCCL")])
@pytest.mark.parametrize("kind", ["mpijob", "jobset", "kubernetes-job"])
def test_images_have_the_benchmark_of_the_accelerators(kind: str, platform: str, tests: str) -> None:
    content = exporter_of(kind).write(source(f"platform: {platform}, nodes: 2", TRAINING)).content
    assert set(re.findall(r"image: (\S+)", str(content))) == {f"IMAGE-WITH-{tests}-TESTS"}

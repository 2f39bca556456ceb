"""Configurations of VeOmni, clusters of Ray's launcher, and requests to NQSV."""

from __future__ import annotations

import pytest

from clusterspec.exchange.import_result import FormatError, SeveralParts
from tests.exchange.imports import counts, given, read, unknown

NEW = """\
    model: {{model_path: Qwen3-8B-Base{model}}}
    data:
      data_type: {data}
      max_seq_len: 2048
    train:
      accelerator:
        ulysses_size: 4
        {mesh}
        fsdp_config:
          fsdp_mode: {mode}
          {inner}
      global_batch_size: 32
      micro_batch_size: 2
      {more}
    """
OLD = """\
    model:
      model_path: Qwen3-8B-Base
    data:
      max_seq_len: 4096
    train:
      data_parallel_mode: fsdp1
      ulysses_parallel_size: 2
      expert_parallel_size: 8
      enable_gradient_checkpointing: false
      enable_full_shard: false
      micro_batch_size: 1
      global_batch_size: 64
      optimizer: adamw
    """
PLAIN = {"data": "plaintext", "mesh": "ep_size: 1", "mode": "fsdp2", "inner": "offload: false", "more": "", "model": ""}
ADAPTERS = ", lora_config: {rank: 8, lora_modules: [q_proj, v_proj]}"


@pytest.mark.parametrize(
    ("changed", "stated", "listed"),
    [
        ({}, {"layout.cp": 4, "layout.cp_method": "all-to-all", "layout.ep": 1, "layout.framework": "fsdp"}, ""),
        ({}, {"workload.precision": "bf16", "layout.recompute": "full", "workload.sequence_length": 2048}, ""),
        ({"mesh": "cp_size: 2"}, {"layout.cp": None}, "all-to-all 4, ring 2: both at once"),
        ({"mesh": "dp_replicate_size: 2"}, {"layout.sharding": "hsdp"}, ""),
        ({"inner": "reshard_after_forward: false"}, {"layout.sharding": "zero2"}, ""),
        ({"inner": "mixed_precision: {enable: false}"}, {"workload.precision": None}, "mixed precision: off"),
        ({"inner": "mixed_precision: {param_dtype: float16}"}, {"workload.precision": "fp16"}, ""),
        ({"inner": "offload: true"}, {}, "offload: states or activations are in host memory"),
        ({"mode": "ddp"}, {"layout.sharding": "none", "layout.framework": None}, ""),
        ({"mode": "other"}, {"layout.sharding": None}, "mode other"),
        ({"more": "gradient_checkpointing: {enable: false}"}, {"layout.recompute": "none"}, ""),
        ({"more": "dyn_bsz: false"}, {"workload.sequence_length": 2048}, ""),
        ({"more": "dyn_bsz: false", "data": "conversation"}, {"workload.sequence_length": None}, "are cut at 2048"),
        ({"data": "dpo"}, {"workload.kind": None, "workload.global_batch": None}, "counts pairs"),
        ({"model": ADAPTERS}, {"workload.trainable.rank": 8, "workload.trainable.modules": ["attention"]}, ""),
    ],
)
def test_configurations_of_veomni_state_batch_and_layout(
    changed: dict[str, str], stated: dict[str, object], listed: str
) -> None:
    reading = read(NEW.format(**{**PLAIN, "more": "dyn_bsz: true", **changed}), name="a.yaml")
    keys = given(reading)
    plain = {"workload.kind": "train", "workload.global_batch": 32, "workload.model": "qwen3-8b"}
    expected = {**plain, "layout.micro_batch": 2 if changed.get("data") != "dpo" else None, **stated}
    assert {name: keys.get(name) for name in expected} == expected
    assert listed in unknown(reading)


def test_earlier_configurations_of_veomni_have_flat_names() -> None:
    assert given(read(OLD, name="a.yaml")) == {
        "workload.kind": "train",
        "workload.model": "qwen3-8b",
        "layout.micro_batch": 1,
        "workload.global_batch": 64,
        "layout.ep": 8,
        "layout.framework": "fsdp",
        "layout.sharding": "zero2",
        "workload.precision": "bf16",
        "layout.cp": 2,
        "layout.cp_method": "all-to-all",
        "workload.sequence_length": 4096,
        "layout.recompute": "none",
        "workload.optimizer": "adamw",
    }


def test_configurations_of_veomni_for_images_are_refused() -> None:
    with pytest.raises(FormatError, match="trains a diffusion model"):
        read(NEW.format(**{**PLAIN, "data": "diffusion"}), name="a.yaml")


CLUSTER = """\
    cluster_name: a
    max_workers: 8
    provider: {{type: aws, region: us-west-2}}
    head_node_type: head
    available_node_types:
      head:
        node_config: {{InstanceType: {head}}}
      worker:
        {counts}
        resources: {{CPU: 96}}
        node_config: {{InstanceType: {worker}}}
    """
LEGACY = """\
    cluster_name: a
    min_workers: {least}
    max_workers: {most}
    provider: {{type: aws}}
    head_node: {{InstanceType: p4d.24xlarge}}
    worker_nodes: {{InstanceType: p4d.24xlarge}}
    """


@pytest.mark.parametrize(
    ("head", "counted", "nodes", "limits"),
    [
        ("m5.large", "min_workers: 4\n        max_workers: 4", 4, {}),
        ("p4d.24xlarge", "min_workers: 4\n        max_workers: 4", 5, {}),
        ("m5.large", "min_workers: 8", 8, {}),
        ("m5.large", "min_workers: 2", None, {"least_nodes": 2, "most_nodes": 8}),
        ("m5.large", "max_workers: 3", None, {"least_nodes": 0, "most_nodes": 3}),
        ("m5.large", "max_workers: few", None, {}),
    ],
)
def test_clusters_of_ray_have_the_workers_that_do_not_scale(
    head: str, counted: str, nodes: int | None, limits: dict[str, int]
) -> None:
    reading = read(CLUSTER.format(head=head, worker="p4d.24xlarge", counts=counted), name="a.yaml")
    assert given(reading) == {"cluster.platform": "aws-p4d-24xlarge"} | ({"cluster.nodes": nodes} if nodes else {})
    assert counts(reading) == limits
    assert ("cluster.nodes" in unknown(reading)) == (nodes is None)


@pytest.mark.parametrize(("least", "most", "nodes"), [(3, 3, 4), (0, 0, 1), (1, 3, None)])
def test_earlier_clusters_of_ray_count_the_head_as_well(least: int, most: int, nodes: int | None) -> None:
    assert given(read(LEGACY.format(least=least, most=most), name="a.yaml")).get("cluster.nodes") == nodes


def test_clusters_of_ray_state_accelerators_or_a_machine_that_has_them() -> None:
    unlisted = CLUSTER.format(head="m5.large", worker="p3.16xlarge", counts="min_workers: 8")
    with pytest.raises(FormatError, match="of an instance type with accelerators of the catalog"):
        read(unlisted, name="a.yaml")
    keys = given(read(unlisted.replace("CPU: 96", "GPU: 8"), name="a.yaml"))
    assert keys == {"cluster.accelerators_per_node": 8, "cluster.nodes": 8}
    both = CLUSTER.format(head="g5.xlarge", worker="p4d.24xlarge", counts="min_workers: 8")
    with pytest.raises(SeveralParts, match="2 machines"):
        read(both, name="a.yaml")
    assert given(read(both, "ray-launcher", "a.yaml", part=1)) == {
        "cluster.platform": "aws-g5-xlarge",
        "cluster.nodes": 1,
    }


def test_requests_to_nqsv_count_hosts_and_their_accelerators() -> None:
    text = "#PBS -q gpu\n#PBS -b 4\n#PBS --gpunum-lhost=8\n#PBS -l elapstim_req=01:00:00\npython train.py\n"
    assert given(read(text)) == {"layout.nodes": 4, "cluster.accelerators_per_node": 8}


def test_the_reason_why_a_text_is_no_yaml_is_the_one_that_ends_it() -> None:
    with pytest.raises(FormatError, match="line 3: not YAML: a value cannot start with `%`"):
        read("AWSTemplateFormatVersion: 2010-09-09\na: !Ref b\nc: %d\n", "cloudformation", "a.yaml")

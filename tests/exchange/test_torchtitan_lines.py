"""Every figure of a configuration of torchtitan, worked out by hand from the layout."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from clusterspec.exchange.exporters.registry import NotExportable
from tests.effort import each
from tests.exchange.test_exporters import WORK, exported, pod

DENSE = "{tp: 4, pp: 4, cp: 2, sharding: hsdp, shard_group: 8, micro_batch: 2, recompute: full}"
UNEVEN = DENSE.replace("full", "full, stage_layers: [19, 20, 20, 21]")
EXPERTS = "workload: {model: qwen3-30b-a3b, sequence_length: 4096, global_batch: 512, precision: fp8}\n"


def lines(rest: str, nodes: int = 64) -> list[str]:
    """The lines of a design on DGX H100, without their indentation."""
    return [line.strip() for line in exported("torchtitan", pod(nodes=nodes, rest=rest)).split("\n")]


def test_degrees_and_tokens_are_those_of_the_layout() -> None:
    """512 ranks / (4 × 4 × 2) are 16 replicas. The 8 ranks of a shard group are 4 replicas of 2 context ranks.
    A replica has 512 / (16 × 2) micro-batches.
    """
    found = lines(f"{WORK}layout: {DENSE}\n")
    assert found[0] == 'r"""pod: 512 ranks on 64 nodes.'
    assert "torchrun --nnodes 64 --nproc_per_node 8 … \\" in found
    assert "-m torchtitan.train --module clusterspec_design --config design" in found
    first = found.index("def design() -> Trainer.Config:")
    assert found[first + 1 :] == [
        "config = llama3_70b()",
        'assert hasattr(config.training, "max_context_length"), "written for torchtitan after 0.3.0 (b5bcd76c)"',
        "config.training.max_context_length = 8192",
        "config.training.num_tokens_per_microbatch_per_dp_rank = 2 * 8192",
        "config.training.num_tokens_per_train_step = 512 * 8192",
        'config.training.mixed_precision_param = "bfloat16"',
        "config.training.disable_cuda_graphs = True",
        "config.activation_checkpoint = FullAC.Config()",
        "config.parallelism = ParallelismConfig(",
        "data_parallel_replicate_degree=4,",
        "data_parallel_shard_degree=4,",
        "tensor_parallel_degree=4,",
        "enable_sequence_parallel=True,",
        "context_parallel_degree=2,",
        "pipeline_parallel_degree=4,",
        "expert_parallel_degree=1,",
        'pipeline_parallel_schedule="1F1B",',
        "num_pp_microbatches=16,",
        "pipeline_parallel_layers_per_stage=20,",
        "pipeline_parallel_first_stage_less_layers=0,",
        "pipeline_parallel_last_stage_less_layers=0,",
        ")",
        "return config",
        "",
    ]
    assert [line for line in found if line.startswith("from ")] == [
        "from torchtitan.config import ParallelismConfig",
        "from torchtitan.distributed.activation_checkpoint import FullAC",
        "from torchtitan.models.llama3.config_registry import llama3_70b",
        "from torchtitan.trainer import Trainer",
    ]


def test_a_release_counts_sequences() -> None:
    """16 micro-batches of two sequences in a pipeline; without one, a step of a rank is one micro-batch of two."""
    release = "{software: torchtitan 0.3.0, "
    found = lines(f"{WORK}layout: {DENSE.replace('{', release)}\n")
    first = found.index("config = llama3_70b()")
    assert found[first + 1 : first + 5] == [
        'assert hasattr(config.training, "local_batch_size"), "written for torchtitan 0.3.0"',
        "config.training.seq_len = 8192",
        "config.training.local_batch_size = 2 * 16",
        "config.training.global_batch_size = 512",
    ]
    assert "pipeline_parallel_microbatch_size=2," in found
    assert not [line for line in found if "num_" in line]
    flat = lines(f"{WORK}layout: {release}tp: 8, sharding: fsdp, micro_batch: 2}}\n")
    assert "config.training.local_batch_size = 2 * 1" in flat


def test_uneven_stages_name_each_layer_once_in_order() -> None:
    """19, 20, 20 and 21 of 80 layers; the embedding is in the first stage, the loss in the last."""
    found = lines(f"{WORK}layout: {UNEVEN}\n")
    start = found.index("module_fqns_per_model_part=[")
    stages = [line.strip("[],").replace("'", "").split(", ") for line in found[start + 1 : start + 5]]
    assert found[start + 5] == "],"
    assert [len(names) for names in stages] == [20, 20, 20, 23]
    assert [name for names in stages for name in names] == [
        "tok_embeddings",
        *(f"layers.{number}" for number in range(80)),
        "norm",
        "lm_head",
    ]
    assert not [line for line in found if "layers_per_stage" in line]


def test_experts_have_their_dispatcher_and_converters_and_all_ranks_shard() -> None:
    found = lines(f"{EXPERTS}layout: {{tp: 1, ep: 8, dispatcher: hybrid, sharding: fsdp}}\n")
    linear = 'Float8LinearConverter.Config(filter_fqns=["lm_head", "router.gate"])'
    converters = f"[{linear}, Float8GroupedExpertsConverter.Config()]"
    given = f'"30B-A3B", moe_comm_backend="hybridep", converters={converters}'
    assert f"config.model_spec = model_registry({given})" in found
    assert "config.activation_checkpoint = None" in found
    for line in ("replicate_degree=1,", "shard_degree=512,"):
        assert f"data_parallel_{line}" in found
    assert "expert_parallel_degree=8," in found and "enable_sequence_parallel=True," in found
    assert not [line for line in found if "pp_microbatches" in line]


@each(
    ("keys", "line", "written"),
    [
        ("tp: 8", "config.training.disable_cuda_graphs = True", False),
        ("tp: 8, pp: 2", "config.training.disable_cuda_graphs = True", True),
        ("tp: 8, sequence_parallel: false", "enable_sequence_parallel=False,", True),
        ("tp: 1, sharding: fsdp", "enable_sequence_parallel=True,", True),
        ("tp: 8, offload: {optimizer: 1}", "config.training.enable_cpu_offload = True", True),
        ("tp: 8, offload: {optimizer: 0.5}", "config.training.enable_cpu_offload = True", False),
        ("tp: 8, recompute: selective", "config.activation_checkpoint = SelectiveAC.Config()", True),
        ("tp: 8, recompute: none", "config.activation_checkpoint = None", True),
    ],
)
def test_a_key_is_written_where_the_layout_needs_it(keys: str, line: str, written: bool) -> None:
    assert (line in lines(f"{WORK}layout: {{{keys}}}\n")) is written


@pytest.mark.parametrize(
    ("layout", "batch", "refused"),
    [
        ("schedule: interleaved, virtual_stages: 2", 4 * 8, ""),
        ("schedule: interleaved, virtual_stages: 2", 4 * 7, ""),  # one round of seven
        ("schedule: interleaved, virtual_stages: 2", 4 * 9, "multiple of its 2 rounds"),
        ("schedule: zero-bubble, virtual_stages: 2", 4 * 9, "multiple of its 2 rounds"),
        ("schedule: dualpipe, virtual_stages: 2", 4 * 8, ""),
    ],
)
def test_micro_batches_that_a_schedule_refuses_are_not_written(layout: str, batch: int, refused: str) -> None:
    """Four replicas of 4 × 4 ranks: 32 sequences a step are eight micro-batches, two rounds of four stages."""
    work = WORK.replace("512", str(batch))
    rest = f"{work}layout: {{framework: torchtitan, tp: 4, pp: 4, micro_batch: 1, {layout}}}\n"
    with pytest.raises(NotExportable, match=refused) if refused else nullcontext():
        lines(rest, nodes=8)


@pytest.mark.parametrize("target", ["torchtitan", "maxtext"])
def test_groups_that_divide_the_context_ranks_are_refused(target: str) -> None:
    layout = "{tp: 4, cp: 4, sharding: hsdp, shard_group: 2, micro_batch: 2, recompute: full}"
    with pytest.raises(NotExportable, match="the 4 context ranks share states, and groups of 2 divide them"):
        exported(target, pod(nodes=64, rest=f"{WORK}layout: {layout}\n"))
    assert exported(target, pod(nodes=64, rest=f"{WORK}layout: {layout.replace('group: 2', 'group: 4')}\n"))

"""No value of a file is lost without a line: keys that set nothing are listed, those that matter in full."""

from __future__ import annotations

from clusterspec.exchange.workloads.unused_keys import is_aside
from tests.effort import each
from tests.exchange.imports import read

LAUNCH = (
    "torchrun pretrain_gpt.py --num-layers 8 --hidden-size 512 --num-attention-heads 8 --tensor-model-parallel-size 2"
)


def test_all_unused_keys_are_listed_except_some_of_learning_and_output() -> None:
    unknown = [f"--moe-option-{n} {n}" for n in range(80)]
    logs = [f"--log-option-{n} {n}" for n in range(80)]
    lines = " \\\n  ".join((LAUNCH, *logs, *unknown))
    listed = next(part for part in read(lines).unknown if part.what == "160 keys")
    assert all(f"moe_option_{n}" in listed.why for n in range(80)) and listed.why.endswith("moe_option_79, …")


@each(
    "text, listed",
    [
        (
            "trainer: {devices: 8, num_nodes: 1}\nmodel:\n  tensor_model_parallel_size: 2\n  num_layers: 8\n"
            "  hidden_size: 64\n  fp8_amax: 3\noptim:\n  name: novograd",
            "optim.name: novograd",
        ),
        (
            "compute_environment: LOCAL_MACHINE\nnum_machines: 1\nmixed_precision: bf16\n"
            "num_processes: eight\ndistributed_type: FSDP\nfsdp_config:\n  fsdp_sharding_strategy: FULL_SHARD",
            "num_processes: eight",
        ),
    ],
)
def test_a_key_that_is_read_and_sets_nothing_is_listed(text: str, listed: str) -> None:
    assert listed in {part.what for part in read(text).unknown}


@each(
    "name, aside",
    [
        ("optimizer.lr", True),
        ("trainer.save_freq", True),
        ("data_path", True),
        ("MODEL_ARGS.log_interval", True),
        ("context_parallel_size", False),
        ("save_activations", False),
        ("kv_cache_dtype", False),
        ("load_in_4bit", False),
        ("moe_router_dtype", False),
        ("train_batch_size", False),
    ],
)
def test_keys_of_learning_and_output_are_told_from_those_of_a_layout(name: str, aside: bool) -> None:
    assert is_aside(name) is aside

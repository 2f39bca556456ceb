"""One setting more in a file of a trainer: the keys that change, and no others, with their values."""

from __future__ import annotations

import textwrap

from tests.effort import each
from tests.exchange.imports import given, read
from tests.exchange.test_role_configurations import ROLL
from tests.exchange.test_trainers_of_accelerators import mindformers

COLOSSAL = "colossalai run --nproc_per_node 8 train.py --plugin zero2 --batch_size 2\n"
ROLES = textwrap.dedent(ROLL.format("list(range(0,16))", "list(range(0,16))"))
"""16 devices: 2 × 2 ranks of each of four replicas, with 32 × 4 samples and 16 of each replica in an optimizer step."""
DEGREES = "tensor_model_parallel_size: 2"
Changes = dict[str, object]


def changed(base: str, other: str, name: str) -> Changes:
    """The keys that two files state otherwise, with the values of the second; None where it states none."""
    before, after = given(read(base, name=name)), given(read(other, name=name))
    return {key: after.get(key) for key in {*before, *after} if before.get(key) != after.get(key)}


@each(
    ("options", "expected"),
    [
        ("--mixed_precision bf16", {"workload.precision": "bf16"}),
        ("--mixed_precision fp16", {"workload.precision": "fp16"}),
        ("--precision fp32", {"workload.precision": "fp32"}),
        ("--use_grad_checkpoint", {"layout.recompute": "full"}),
        ("--grad_checkpoint", {"layout.recompute": "full"}),
        ("--grad_ckpt", {"layout.recompute": "full"}),
        ("-g", {"layout.recompute": "full"}),
        ("--use_flash_attn", {"workload.attention": "flash"}),
        ("--benchmark --max_length 4096", {"workload.sequence_length": 4096}),
        ("--max_length 4096", {}),  # shorter sequences stay
        ("--lora_rank 8", {"workload.trainable.method": "lora", "workload.trainable.rank": 8}),
        ("--zero_cpu_offload", {"layout.offload.optimizer": 1}),
        ("--accumulation_steps 4", {"workload.global_batch": 2 * 8 * 4}),
        ("--enable_sequence_parallelism --sp_mode ring", {}),  # of hybrid plugins alone
    ],
)
def test_an_option_of_colossalai_states_its_key(options: str, expected: Changes) -> None:
    assert changed(COLOSSAL, f"{COLOSSAL[:-1]} {options}\n", "run.sh") == expected


@each(
    ("options", "expected"),
    [
        ("--enable_sequence_parallelism --sp_mode ring", {"layout.sequence_parallel": True}),
        ("--enable_sequence_parallelism --sp_mode split_gather", {"layout.sequence_parallel": True}),
        (
            "--enable_sequence_parallelism --sp_mode all_to_all --sp_size 2",
            {"layout.cp": 2, "layout.cp_method": "all-to-all", "layout.dp": 2},
        ),
        (
            "--enable_sequence_parallelism --sp_mode ring_attn --sp_size 4",
            {"layout.cp": 4, "layout.cp_method": "ring", "layout.dp": 1},
        ),
        ("--enable_sequence_parallelism --sp_mode ring_attn", {"layout.dp": None}),
        ("--sp_mode all_to_all --sp_size 2", {}),
        ("--zero_stage 1", {"layout.sharding": "zero1"}),
        ("--zero_stage 0", {"layout.sharding": "none"}),
    ],
)
def test_an_option_of_a_hybrid_plugin_states_its_key(options: str, expected: Changes) -> None:
    hybrid = COLOSSAL[:-1].replace("zero2", "3d --tp 2 --pp 1")
    assert changed(f"{hybrid}\n", f"{hybrid} {options}\n", "run.sh") == expected


@each(
    ("old", "new", "expected"),
    [
        (DEGREES, f"{DEGREES}, use_distributed_optimizer: true", {"layout.sharding": "zero1"}),
        (DEGREES, f"{DEGREES}, use_distributed_optimizer: false", {}),
        (DEGREES, f"{DEGREES}, sequence_parallel: true", {"layout.sequence_parallel": True}),
        (
            DEGREES,
            f"{DEGREES}, virtual_pipeline_model_parallel_size: 2",
            {"layout.schedule": "interleaved", "layout.virtual_stages": 2},
        ),
        (DEGREES, f"{DEGREES}, recompute_granularity: full", {"layout.recompute": "full"}),
        (DEGREES, f"{DEGREES}, recompute_granularity: selective", {"layout.recompute": "selective"}),
        (DEGREES, f"{DEGREES}, recompute_granularity: full, recompute_method: block", {}),
        (DEGREES, f"{DEGREES}, moe_token_dispatcher_type: alltoall", {"layout.dispatcher": "all-to-all"}),
        (DEGREES, f"{DEGREES}, moe_token_dispatcher_type: allgather", {"layout.dispatcher": "all-gather"}),
        # two replicas instead of four: 32 of 128 samples in an optimizer step
        (DEGREES, f"{DEGREES}, context_parallel_size: 2", {"layout.cp": 2, "workload.rl.minibatches": 4}),
        (
            DEGREES,
            f"{DEGREES}, expert_model_parallel_size: 2, expert_tensor_parallel_size: 1",
            {"layout.ep": 2, "layout.expert_tp": 1},
        ),
        ("adv_estimator: reinforce", "adv_estimator: gae", {"workload.rl.algorithm": "ppo"}),
        ("actor_train:\n", "ppo_epochs: 2\nactor_train:\n", {"workload.rl.epochs": 2}),
        ("actor_train:\n", "actor_train:\n  model_args: {dtype: bf16}\n", {"workload.precision": "bf16"}),
        ("megatron_train", "deepspeed_train", {"layout.framework": "deepspeed", "workload.rl.minibatches": None}),
        ("vllm", "sglang", {"workload.rl.rollout.framework": "sglang"}),
    ],
)
def test_a_setting_of_roles_states_its_key(old: str, new: str, expected: Changes) -> None:
    assert changed(ROLES, ROLES.replace(old, new, 1), "roles.yaml") == expected


INTERLEAVED = "parallel:\n  pipeline_config: {pipeline_interleave: True}\n"


@each(
    ("old", "new", "expected"),
    [
        ("    vocab", "    tie_word_embeddings: True\n    vocab", {"workload.model.tied_embeddings": True}),
        ("    vocab", "    tie_word_embeddings: False\n    vocab", {"workload.model.tied_embeddings": False}),
        ("    vocab", "    use_flash_attention: True\n    vocab", {"workload.attention": "flash"}),
        ("    vocab", "    use_flash_attention: False\n    vocab", {}),
        ("    vocab", "    pp_interleave_num: 2\n    vocab", {}),  # unless the pipeline is interleaved
        (
            "  use_seq_parallel: True",
            "  use_seq_parallel: True\n  context_parallel: 2\n  context_parallel_algo: ulysses_cp",
            {"layout.cp": 2, "layout.cp_method": "all-to-all"},
        ),
        (
            "  use_seq_parallel: True",
            "  use_seq_parallel: True\n  context_parallel: 2\n  context_parallel_algo: colossalai_cp",
            {"layout.cp": 2, "layout.cp_method": "ring"},
        ),
        ("recompute: True", "recompute: False", {"layout.recompute": "none"}),
        ("bfloat16", "float16", {"workload.precision": "fp16"}),
        ("AdamW", "adam", {"workload.optimizer": "adam"}),
    ],
)
def test_a_setting_of_mindformers_states_its_key(old: str, new: str, expected: Changes) -> None:
    base = mindformers()
    assert changed(base, base.replace(old, new, 1), "run.yaml") == expected


def test_copies_of_stages_count_where_the_pipeline_is_interleaved() -> None:
    base = mindformers().replace("parallel:\n", INTERLEAVED, 1)
    copies = base.replace("    vocab", "    pp_interleave_num: 2\n    vocab", 1)
    assert changed(base, copies, "run.yaml") == {"layout.schedule": "interleaved", "layout.virtual_stages": 2}

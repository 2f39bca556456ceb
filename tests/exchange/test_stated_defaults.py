"""What a launch leaves to the defaults of its program holds where it states all its options, and is open elsewhere."""

from __future__ import annotations

import pytest

from tests.exchange.imports import given, read, unknown

VERL = """\
python3 -m {program} actor_rollout_ref.model.path=a/b data.train_batch_size=64 trainer.nnodes=1 \\
  trainer.n_gpus_per_node=8 actor_rollout_ref.actor.use_dynamic_bsz=True {rest}
"""


@pytest.mark.parametrize(
    ("program", "rest", "sharding", "listed"),
    [
        ("verl.trainer.main_ppo", "", "fsdp", ""),
        ("fork.verl.trainer.main_ppo", "", "fsdp", ""),
        ("verl.trainer.main_ppo", "$@", None, "layout.sharding: not stated: FSDP of all ranks by default"),
        ("verl.trainer.main_ppo", "--config-name=own", None, "--config-name own"),
        ("recipe.own.main", "", None, ""),
        ("verl.trainer.main_ppo", "actor_rollout_ref.actor.strategy=veomni", None, "strategy: veomni"),
        ("verl.trainer.main_ppo", "actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2", None, ""),
    ],
)
def test_verl_shards_over_all_ranks_unless_another_strategy_may_be_given(
    program: str, rest: str, sharding: str | None, listed: str
) -> None:
    reading = read(VERL.format(program=program, rest=rest))
    assert given(reading).get("layout.sharding") == sharding
    assert listed in unknown(reading)


OPENRLHF = """\
ray job submit -- python3 -m openrlhf.cli.train_ppo_ray --pretrain a/b --actor_num_nodes 1 --vllm_num_engines 2 \\
  --rollout_batch_size 1024 --train_batch_size 128 --ref_num_nodes 1 --ref_num_gpus_per_node 2 \\
  --critic_num_nodes 1 --critic_num_gpus_per_node 4 --reward_num_nodes 1 --reward_num_gpus_per_node 4 {}
"""


@pytest.mark.parametrize(
    ("options", "samples", "minibatches", "apart"),
    [
        ("", 1, 8, "ref (1 × 2), critic (1 × 4), reward (1 × 4)"),
        ("--n_samples_per_prompt 4", 4, 32, "ref (1 × 2), critic (1 × 4), reward (1 × 4)"),
        ("$@", None, None, "ref (1 × 2), critic (1 × 4), reward (1 × 4)"),
        ("--colocate_actor_ref", 1, 8, "engines, critic (1 × 4), reward (1 × 4)"),
        ("--colocate_actor_ref --colocate_critic_reward", 1, 8, "engines, reward (1 × 4)"),
    ],
)
def test_openrlhf_samples_a_prompt_once_and_joins_roles_by_option(
    options: str, samples: int | None, minibatches: int | None, apart: str
) -> None:
    reading = read(OPENRLHF.format(options))
    found = given(reading)
    assert found.get("workload.rl.samples_per_prompt") == samples
    assert found.get("workload.rl.minibatches") == minibatches
    assert apart in unknown(reading)

"""Reinforcement learning: parts of a step worked out by hand, and laws of placements and lengths."""

from __future__ import annotations

import json
from typing import Any

import pytest

from clusterspec.cluster.model import Trainable
from clusterspec.cluster.requests import Lengths
from clusterspec.cost.headline import headline_terms
from clusterspec.cost.reinforcement.explain import rl_term
from clusterspec.cost.reinforcement.memory import critic_bytes, scorer_weights
from clusterspec.cost.reinforcement.roles import flops_of_step, own_roles
from clusterspec.cost.reinforcement.rollout import _EngineRun, batch_rollout, rollout_design, sample_lengths
from clusterspec.cost.reinforcement.times import RlTimes, forward_seconds
from clusterspec.cost.reinforcement.weights import CROSSING, SINGLE, checkpoint_tensors, weight_bytes
from clusterspec.cost.serving.times import serving_pools
from clusterspec.exchange.exporters.registry import steps_of_run
from clusterspec.records import replace
from clusterspec.studies import Study, study_text
from tests.cost.expressions import evaluate
from tests.cost.plans import design, plan, spec
from tests.effort import telling
from tests.settings import SETTINGS
from tests.studies.test_fleets import fleet_of

LENGTHS = {"mean": 2000, "p99": 9000, "max": 16384}


def described(nodes: int = 4, layout: dict[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """Qwen2.5 7B, 64 prompts with 8 samples each, on four DGX H100."""
    rollout = {"tp": 1, "memory_fraction": 0.6, **changes.pop("rollout", {})}
    rl = {"algorithm": "grpo", "prompts_per_step": 64, "samples_per_prompt": 8, "input_tokens": 512}
    rl |= {"output_tokens": LENGTHS, "placement": "colocated", "rollout": rollout, **changes}
    work = {"kind": "rl", "model": rl.pop("model", "qwen2.5-7b"), "rl": rl}
    cut = {"framework": "megatron-core", "tp": 2, "recompute": "full", **(layout or {})}
    return {"clusterspec": 1, "cluster": {"platform": "dgx-h100", "nodes": nodes}, "workload": work, "layout": cut}


def times(*args: Any, **changes: Any) -> RlTimes:
    found = study_text(json.dumps(described(*args, **changes)), SETTINGS).plan.rl
    assert found is not None
    return found


def test_a_step_is_the_sum_of_its_roles_where_they_take_turns() -> None:
    found = times()
    whole = found.rollout.batch + found.log_probabilities + found.update + found.driver + found.sync.seconds
    assert found.step == pytest.approx(whole + found.switch)
    assert found.tokens == 512 * 2512
    assert found.tokens_per_second_per_accelerator == pytest.approx(512 * 2512 / found.step / 32)
    assert {part.role for part in found.parts} >= {"rollout", "log_probabilities", "update", "weight_sync", "switch"}
    assert all(0 <= part.idle_share <= 1 for part in found.parts)
    full = {"log_probabilities", "driver", "weight_sync", "switch"}
    assert {part.idle_share for part in found.parts if part.role in full} == {0.0}, "no accelerator waits for others"


def test_slots_that_wait_for_the_longest_samples_are_idle_in_every_placement() -> None:
    """Rollout on nodes of its own is idle for what exceeds the work of its slots, with and without staleness."""
    for ahead in (0, 1):
        found = times(rollout={"nodes": 2}, placement="split", max_staleness=ahead)
        idle = next(part.idle_share for part in found.parts if part.role == "rollout")
        assert idle == pytest.approx((found.step - found.rollout.busy) / found.step)
        assert found.rollout.busy < found.rollout.batch
        trained = found.log_probabilities + found.update + found.driver
        waiting = next(part.idle_share for part in found.parts if part.role == "update")
        assert waiting == pytest.approx(max(0.0, 1 - trained / found.step)), "the trainer waits for what it does not do"


def test_ahead_of_the_weights_the_slower_role_sets_the_step() -> None:
    """One step ahead: training and its transfer, generation and its transfer, or the longest sample of one batch."""
    one = times(rollout={"nodes": 2}, placement="split", max_staleness=1, algorithm="dapo")
    sync = one.sync.seconds
    assert one.step == pytest.approx(max(one.training_seconds + sync, one.rollout.busy + sync, one.rollout.batch))
    assert one.switch == 0 and one.memory is None
    many = times(rollout={"nodes": 2}, placement="split", max_staleness=8)
    serial = times(rollout={"nodes": 2}, placement="split", max_staleness=0)
    assert many.step <= one.step <= serial.step
    assert serial.step == pytest.approx(serial.rollout.batch + serial.training_seconds + serial.sync.seconds)


def test_lengths_have_their_mean_and_the_expected_longest() -> None:
    """Quantiles of a cut log-normal distribution: ascending, with the stated mean, the last at most the cut."""
    lengths = sample_lengths(Lengths(2000, 9000, 16384), 512, 512)
    assert lengths == sorted(lengths)
    assert sum(lengths[:-1]) / 511 == pytest.approx(2000, rel=0.02)
    assert 9000 < lengths[-1] <= 16384
    assert sample_lengths(Lengths(1000, 1000, None), 4, 512) == [1000.0] * 4
    assert sample_lengths(Lengths(2000, 9000, 4096), 64, 512)[-1] == 4096
    assert sample_lengths(Lengths(2000, 9000, None), 64, 65536)[-1] > lengths[-1]


def test_laws_of_rollout() -> None:
    """Equal samples leave no tail; a longer tail, fewer engines or slower environments never help."""
    equal, varied = times(output_tokens=2000), times()
    assert equal.rollout.idle_share == pytest.approx(0.0, abs=1e-9)
    assert varied.rollout.idle_share > 0.2
    assert times(output_tokens={**LENGTHS, "p99": 14000}).rollout.batch > varied.rollout.batch
    assert times(8).rollout.batch < varied.rollout.batch
    # as many samples for each engine: the fullest of four ends after one that is alone
    alone, beside = (times(nodes, rollout={"tp": 8}, prompts_per_step=32 * nodes) for nodes in (1, 4))
    assert alone.rollout.batch < beside.rollout.batch < 1.5 * alone.rollout.batch
    late = times(turns=4, environment_time="3 s")
    assert late.rollout.batch == pytest.approx(varied.rollout.batch + 12)
    assert times(rollout={"max_sequences": 4}).rollout.batch > varied.rollout.batch
    assert times(placement="partial", rollout={"nodes": 1}, nodes=5, minibatches=4).step < varied.step


def test_the_models_of_an_algorithm_take_part() -> None:
    """GRPO runs the policy and a reference forward; DAPO the policy; PPO a critic, too, which it also trains."""
    dapo, grpo, ppo = (times(algorithm=name) for name in ("dapo", "grpo", "ppo"))
    assert grpo.log_probabilities == pytest.approx(2 * dapo.log_probabilities)
    assert ppo.log_probabilities == pytest.approx(3 * dapo.log_probabilities)
    assert ppo.update == pytest.approx(2 * grpo.update)
    apart = times(reference={"nodes": 1}, nodes=5)
    assert apart.log_probabilities == pytest.approx(dapo.log_probabilities)


def test_a_model_on_separate_nodes_works_in_parallel_with_the_others() -> None:
    """Qwen2.5 72B has 72.7B weights, 71.5B of them in matrices: about 10 times the 7.1B of the trained one. On one node
    with four it takes about 40 times as long as they take for a forward pass of the trained model; a second node
    halves it. The efficiency of the training loop (0.8) is not that of an engine.
    """
    judge = {"model": "qwen2.5-72b"}
    alone, one, two = times(), *(times(nodes=4 + n, layout={"nodes": 4}, reward={**judge, "nodes": n}) for n in (1, 2))
    forward = alone.log_probabilities / 2 * 0.8  # GRPO: policy and reference
    assert alone.waits == 0 and not alone.roles
    assert one.roles[0].seconds == pytest.approx(40 * forward, rel=0.1)
    assert one.roles[0].seconds == pytest.approx(2 * two.roles[0].seconds)
    assert one.waits == 0 and one.step == pytest.approx(alone.step)
    heavy = times(nodes=5, layout={"nodes": 4}, reward={"model": "llama-3.1-405b", "nodes": 1})
    assert 0 < heavy.waits == pytest.approx(heavy.roles[0].seconds - heavy.rollout.batch)
    assert heavy.step == pytest.approx(alone.step + heavy.waits)
    assert one.accelerators == 40 and alone.accelerators == 32
    ahead = {"rollout": {"nodes": 2}, "placement": "split", "max_staleness": 1, "layout": {"nodes": 2}}
    late = times(nodes=5, **ahead, reward={"model": "llama-3.1-405b", "nodes": 1})
    assert times(nodes=4, **ahead).step < late.step == pytest.approx(late.roles[0].seconds + late.sync.seconds)
    shared = times(reward=judge)
    assert shared.log_probabilities == pytest.approx(alone.log_probabilities * (1 + 10 / 2), rel=0.05)
    critics = [times(algorithm="ppo", nodes=5, layout={"nodes": 4}, critic={"nodes": 1}), times(algorithm="ppo")]
    assert critics[0].update == pytest.approx(critics[1].update / 2)
    assert critics[0].roles[0].seconds == pytest.approx(4 * (forward / 0.8 + critics[0].update))
    sparse = times(algorithm="ppo", critic={"model": "qwen3-30b-a3b"})  # 30.5B weights, of which a token meets 3.3B
    assert 1.3 < sparse.update / critics[0].update < 1.6


def test_a_role_on_a_pool_of_faster_accelerators_takes_less_time() -> None:
    """A B200 has 2,250 TFLOP/s in bf16, an H100 989; one node of each has 8 accelerators."""
    found = []
    for platform in ("dgx-h100", "dgx-b200"):
        judge = {"model": "qwen2.5-72b", "pool": "judge", "nodes": 1}
        text = described(reward=judge)
        text["pools"] = {"judge": {"platform": platform, "nodes": 1}, "train": text.pop("cluster")}
        text["jobs"] = {"grpo": {"pool": "train", "workload": text.pop("workload"), "layout": text.pop("layout")}}
        study = fleet_of(json.dumps(text)).jobs["grpo"]
        (role,) = own_roles(study.design, 1.0, 1.0, 0.8)
        found.append(role.seconds)
    assert found[0] / found[1] == pytest.approx(2250 / 989, rel=0.02)


def test_bytes_of_a_transfer() -> None:
    """Llama 3.1 8B: 7 matrices and 2 norms in each of 32 layers, two tables and a norm; two bytes of a weight. Qwen2.5
    has three other biases, Qwen3 two norms of heads. PEFT counts 41,943,040 weights in its adapters of rank 16.
    """
    found = design(spec(workload={"model": "llama-3.1-8b"}))
    assert found.workload is not None and found.layout is not None
    assert checkpoint_tensors(found.workload.model) == 3 + 32 * 9
    tables = 2 * 128256 * 4096
    assert weight_bytes(found.workload, found.layout, "bf16") == 2 * 8_030_261_248
    assert weight_bytes(found.workload, found.layout, "fp8") == 8_030_261_248 - tables + 2 * tables
    tuned = replace(found.workload, trainable=Trainable("lora", 16, ("attention", "ffn")))
    assert weight_bytes(tuned, found.layout, "bf16") == 2 * 41_943_040
    one = times(weight_sync={"method": "ipc"}).sync
    assert one.seconds == pytest.approx(one.sent / one.bandwidth + one.tensors * one.overhead + one.fixed)
    assert one.tensors == 3 + 28 * 12
    split = {"rollout": {"nodes": 2}, "placement": "split"}
    disk, nccl = (times(**split, weight_sync={"method": each}).sync for each in ("disk", "nccl"))
    assert disk.seconds > 10 * nccl.wire > 0


SINGLY = [  # the trainer's layout, and the collectives that gather 1,152 expert matrices of Qwen3 30B A3B by themselves
    ({"ep": 8, "tp": 1}, 48 * 2 * 128 / 8),
    ({"ep": 4, "tp": 2, "expert_tp": 1}, 48 * 2 * 128 / 4 + 3 + 48 * 7),
    ({"framework": "fsdp", "sharding": "fsdp"}, 3 + 48 * (4 + 2 + 2 + 1 + 3 * 128)),
    ({"ep": 16, "tp": 1}, 48 * 2 * 128 / 16),
]


@pytest.mark.parametrize(("layout", "collectives"), SINGLY)
def test_tensors_that_are_not_packed_cost_a_collective_or_a_handle_each(
    layout: dict[str, Any], collectives: float
) -> None:
    """A layer of Qwen3 30B A3B has 4 projections, 2 norms of heads, 2 norms, a router and 3 matrices of 128 experts; in
    Megatron 2 projections and 2 matrices. All of expert parallelism gather the expert at one place of a rank at once.
    """
    split: dict[str, Any] = {"rollout": {"nodes": 2}, "placement": "split", "model": "qwen3-30b-a3b"}
    packed = times(**split, layout=layout, weight_sync={"method": "nccl"}).sync
    gathered = times(**split, layout=layout, weight_sync={"method": "nccl", "gather": "single"}).sync
    handed = times(**split, layout=layout, weight_sync={"method": "nccl", "load": "single"}).sync
    assert packed.messages == 0
    assert gathered.messages == collectives
    assert handed.messages == handed.tensors == 3 + 48 * (4 + 2 + 2 + 1 + 3 * 128)
    crosses = layout.get("sharding") == "fsdp" or layout["ep"] > 8  # two nodes of 8 ranks train
    cost = CROSSING.value if crosses else SINGLE.value
    assert gathered.seconds == pytest.approx(packed.seconds + collectives * cost)


def test_every_expert_in_a_broadcast_of_its_own_is_a_message() -> None:
    """96 matrices of 128 experts in 8 ranks of one domain; over 2 stages of 8 ranks the 48 layers' 7 other tensors, 3
    more, and the sixteen experts of one place pass between domains, too.
    """
    split: dict[str, Any] = {"rollout": {"nodes": 2}, "placement": "split", "model": "qwen3-30b-a3b"}
    sync = {"method": "nccl", "gather": "every-expert"}
    one, two = (times(**split, layout={"ep": 8, "tp": 1, "pp": pp}, weight_sync=sync).sync for pp in (1, 2))
    assert one.messages == 96 * 128
    assert one.each == pytest.approx(SINGLE.value)
    crossing = 3 + 48 * 7 + 96 * 16
    assert two.messages == 96 * 128 + crossing
    assert two.each * two.messages == pytest.approx(one.each * one.messages + crossing * CROSSING.value)


def test_samples_in_flight_are_those_of_the_stated_batches_else_of_the_staleness() -> None:
    """Full slots set the rate at which samples end (Little's law), so fewer in flight end more slowly."""
    split: dict[str, Any] = {"rollout": {"nodes": 2}, "placement": "split", "max_staleness": 4}
    four, same = times(**split).rollout, times(**split, batches_in_flight=4).rollout
    assert four == same
    found = {part: times(**split, batches_in_flight=part).rollout for part in (0.5, 1.5, 3)}
    for part, rollout in found.items():
        assert rollout.slots == pytest.approx(rollout.samples * part)
        busy = rollout.samples * rollout.mean * rollout.step / rollout.slots + rollout.prompts
        assert rollout.busy == pytest.approx(busy)
    assert four.busy < found[3].busy < found[1.5].busy < found[0.5].busy


def test_engines_that_keep_their_requests_lose_no_time_to_stop() -> None:
    stopped, kept = (times(weight_sync={"requests": each}).sync for each in ("stopped", "kept"))
    assert (stopped.fixed, kept.fixed) == (0.5, 0.0)
    assert stopped.seconds == pytest.approx(kept.seconds + 0.5)


def test_each_rank_sends_and_receives_its_part_over_its_own_nics() -> None:
    """An engine of 8 ranks on one of two nodes of rollout: each receives an eighth of the weights at 0.9 of 50 GB/s,
    and each of 16 senders sends as much. With experts on all of them it receives an eighth of these, and all others.
    """
    split: dict[str, Any] = {"placement": "split", "model": "qwen3-30b-a3b", "weight_sync": {"method": "rdma"}}
    cut = times(**split, rollout={"nodes": 2, "tp": 8}).sync
    assert cut.wire == pytest.approx(cut.weights / 8 / (0.9 * 50e9))
    wide = times(**split, rollout={"nodes": 2, "tp": 1, "attention_dp": 8, "ep": 8}).sync
    experts = 2 * 48 * 128 * 3 * 2048 * 768
    assert wide.sent == pytest.approx(experts / 8 + wide.weights - experts)
    assert wide.tensors == 3 + 48 * (4 + 2 + 2 + 1) + 48 * 3 * 128 / 8 < cut.tensors
    placed = times(**split | {"weight_sync": {"method": "rdma", "load": "in-place"}}, rollout={"nodes": 2, "tp": 8})
    assert placed.sync.tensors == 3 + 48 * (4 + 2 + 2 + 1 + 3) and placed.sync.wire == cut.wire


def test_what_shares_an_accelerator_is_offloaded_where_both_do_not_fit() -> None:
    wide, narrow = times(rollout={"memory_fraction": 0.9}).memory, times(rollout={"memory_fraction": 0.1}).memory
    assert wide is not None and narrow is not None
    assert wide.offloaded > 0 == narrow.offloaded
    assert narrow.rollout > 0.1 * (narrow.capacity or 0)


def test_every_expression_of_a_step_gives_its_value() -> None:
    split = {"rollout": {"nodes": 2}, "placement": "split"}
    judged = {"reward": {"model": "qwen2.5-72b", "nodes": 1}, "nodes": 5}
    kinds: tuple[dict[str, Any], ...] = ({}, split, {**split, "max_staleness": 2}, {**split, "placement": "partial"})
    late = {**judged, "layout": {"nodes": 4}}, {**split, "max_staleness": 2, **judged, "layout": {"nodes": 2}}
    for changes in kinds + late:
        for term in rl_term(times(**changes)).walk():
            names = {name: figure.value for name, figure in term.inputs} | {
                part.name: part.value for part in term.parts
            }
            assert evaluate(term.formula, names) == pytest.approx(term.value), term.name


def test_the_trainer_packs_whole_samples() -> None:
    """Tokens of an update are those of its samples, for any length of sequences."""
    for length in (None, 4096, 32768):
        whole = described(minibatches=2)
        whole["workload"] |= {"sequence_length": length} if length else {}
        one = study_text(json.dumps(whole), SETTINGS)
        work = one.design.workload
        assert work is not None
        assert work.global_batch * work.filled_length == pytest.approx(256 * 2512)
        assert work.sequence_length == (length or 512 + 16384)


def test_what_is_missing_or_contradicts_is_reported_at_its_key() -> None:
    def found(**changes: Any) -> set[tuple[str, str]]:
        one: Study = study_text(json.dumps(described(**changes)), SETTINGS)
        return {(finding.rule, ".".join(map(str, finding.path))) for finding in one.findings}

    assert ("missing-key", "workload.rl.output_tokens") in found(output_tokens=None) | found(output_tokens={"max": 9})
    assert ("keys-disagree", "workload.rl.minibatches") in found(minibatches=7)
    assert ("keys-disagree", "workload.rl.rollout.nodes") in found(placement="split", rollout={"nodes": 9})


def test_one_rank_sends_over_its_own_nics() -> None:
    """A node has eight NICs of 50 GB/s, and one rank one of them: 0.9 of 1 / (1 / 450 + 1 / 50) GB/s."""
    split: dict[str, Any] = {"rollout": {"nodes": 2}, "placement": "split"}
    every, single = (times(**split, weight_sync={"method": "nccl", "ranks": each}).sync for each in ("all", "one"))
    assert single.wire == pytest.approx(single.sent / (0.9 * 1e9 / (1 / 450 + 1 / 50)))
    assert every.wire == pytest.approx(every.sent / (0.9 * 1e9 / (1 / 450 + 1 / 400)))


PRECISIONS = [  # a platform, the precision in which the engines keep weights, and that of their products
    ("dgx-h100", None, "bf16"),
    ("dgx-h100", "fp8", "fp8"),
    ("dgx-a100", "fp8", "bf16"),  # has no peak in fp8: weights are widened
    ("dgx-h100", "mxfp4", "bf16"),
    ("dgx-h100", "nvfp4", "bf16"),  # widened by kernels of CUDA
    ("mi300x-ubb8", "nvfp4", "fp4"),  # which this accelerator does not have
    ("dgx-b200", "mxfp4", "fp4"),
    ("dgx-b200", "nvfp4", "fp4"),
]


def test_engines_compute_in_the_precision_of_their_weights_where_they_can() -> None:
    for platform, kept, products in PRECISIONS:
        spec = described(rollout={"parameter_precision": kept} if kept else {})
        spec["cluster"]["platform"] = platform
        one = study_text(json.dumps(spec), SETTINGS).design
        assert one.workload is not None and one.workload.rl is not None
        engines = rollout_design(one, one.workload.rl, 4).workload
        assert engines is not None and engines.precision == products, (platform, kept)
        assert engines.parameter_precision == (kept or "bf16")


def test_recorded_log_probabilities_save_a_pass_and_single_launches_cost_time() -> None:
    usual, recorded = times(), times(log_probabilities="rollout")
    assert recorded.log_probabilities == pytest.approx(usual.log_probabilities / 2)  # that of the reference is left
    assert times(algorithm="dapo", log_probabilities="rollout").log_probabilities == 0
    assert times(rollout={"captured_graphs": False}).rollout.batch > 1.5 * usual.rollout.batch


def test_forward_passes_take_the_forward_parts_of_the_steps_of_their_minibatches() -> None:
    """Four stages: every micro-batch sends once each way, of which a forward pass has half; three stages wait."""
    cut = {"framework": "megatron-core", "tp": 2, "pp": 4, "overlap": {"pp": False}, "recompute": "none"}
    record = plan(layout=cut).step
    assert record is not None
    inputs, count = record.inputs, record.inputs.micro_batches
    share = inputs.stage.forward / inputs.stage.total
    waits = (inputs.every - inputs.stage.total) * share
    for minibatches in (1, 4):
        sends = (minibatches * record.times.sends + record.times.fill_sends) / 2
        bare = forward_seconds(replace(record, inputs=inputs._replace(send=0.0)), minibatches)
        straggling = 1 + record.times.straggling / (record.times.total - record.times.straggling)
        passes = minibatches * count * inputs.stage.forward + waits
        fixed = record.choices.overhead + record.choices.data_loading
        assert bare == pytest.approx((passes + fixed) * straggling)
        assert forward_seconds(record, minibatches) - bare == pytest.approx(sends * straggling)


def test_the_flops_of_a_step_are_those_of_its_passes() -> None:
    """DAPO generates and reads its samples (2 passes), and trains on them (3 more per epoch). PPO adds a pass of the
    reference and of the critic, which it also trains. A pass over a token takes 2 FLOPs per weight in a matrix, 7.07e9
    of Qwen2.5 7B, and attention.
    """
    found = {}
    jobs: dict[str, dict[str, Any]] = {
        "dapo": {},
        "epochs": {"epochs": 3},
        "recorded": {"log_probabilities": "rollout"},
        "ppo": {"algorithm": "ppo"},
        "longer": {"samples_per_prompt": 16},
    }
    for name, changes in jobs.items():
        settings: dict[str, Any] = {"algorithm": "dapo", **changes}
        made = design(described(**settings))
        assert made.workload is not None and made.workload.rl is not None
        found[name] = flops_of_step(made, made.workload.rl)
    once = found["dapo"] / 5
    passes = {name: flops / once for name, flops in found.items()}
    assert passes == pytest.approx({"dapo": 5, "epochs": 11, "recorded": 4, "ppo": 10, "longer": 10})
    assert 1.0 < once / (2 * 7.07e9 * 512 * 2512) < 1.15


@telling(1)
@pytest.mark.parametrize("platform", ["dgx-h100", "mi250x-4"])
def test_states_stay_with_an_engine_while_the_accelerator_has_memory_for_both(platform: str) -> None:
    """All ranks of an accelerator count: two on MI250X. The engine takes its fraction; 3 GB stay for both programs."""
    kept = []
    for percent in range(5, 95, 5):
        described_job = described(rollout={"memory_fraction": percent / 100})
        described_job["cluster"]["platform"] = platform
        found = study_text(json.dumps(described_job), SETTINGS).plan.rl
        assert found is not None and found.memory is not None and found.memory.capacity is not None
        memory, capacity = found.memory, found.memory.capacity
        engine = percent / 100 * capacity + 3e9
        kept.append(not memory.offloaded)
        states = memory.offloaded or memory.rollout - engine
        assert memory.rollout == pytest.approx(engine + (0.0 if memory.offloaded else states))
        assert (engine + states <= capacity) is (not memory.offloaded)
    assert kept == sorted(kept, reverse=True) and any(kept) and not all(kept)


def test_samples_beyond_those_simulated_singly_are_scaled() -> None:
    """An engine of one node has 4,096 and 8,192 samples of equal length: twice the work takes twice the time."""
    one, two = (
        times(nodes=1, rollout={"tp": 8}, prompts_per_step=prompts, output_tokens=2000).rollout
        for prompts in (512, 1024)
    )
    assert one.busy * 2 == pytest.approx(two.busy, rel=0.05)
    assert one.batch * 2 == pytest.approx(two.batch, rel=0.1)


@pytest.mark.parametrize(
    ("batches", "slots"),
    [
        (0.01, 1.0),  # one sample at least
        (0.5, 1.5625),
        (1.0, 4.0),  # of a whole batch the last slot is taken as well
        (2.0, 6.25),
    ],
)
def test_samples_in_flight_fill_the_slots_of_a_batch_from_a_whole_batch_on(batches: float, slots: float) -> None:
    """100 samples on 32 engines of an accelerator are 3.125 for each."""
    made = design(described())
    assert made.workload is not None and made.workload.rl is not None
    engines = rollout_design(made, made.workload.rl, 4)
    pools = serving_pools(engines)
    assert pools is not None and pools.decode.attention_ranks == 32
    rl = replace(made.workload.rl, prompts=25, samples_per_prompt=4, max_staleness=1)
    found = batch_rollout(pools, replace(rl, batches_in_flight=batches), engines)
    assert (found.samples, found.slots) == (3.125, slots)


@pytest.mark.parametrize("slots", [1.0, 3.0, 8.0])
@pytest.mark.parametrize("lengths", [[40, 90, 10, 60, 20], [5] * 6, [100, 1, 1, 1, 1, 1, 1]])
def test_a_batch_of_samples_ends_when_each_token_was_decoded_in_its_step(slots: float, lengths: list[int]) -> None:
    """Against a simulation of every step: the next sample takes a slot when one ends; a step takes as long as it does
    for the samples in flight at the mean of their lengths so far.
    """
    made = design(described())
    assert made.workload is not None and made.workload.rl is not None
    pools = serving_pools(rollout_design(made, made.workload.rl, 4))
    assert pools is not None
    run = _EngineRun(pools, 512, slots)
    running: list[list[int]] = []
    waiting, now, drained = list(lengths), run.prompts(float(len(lengths))), 0.0
    while waiting or running:
        while waiting and len(running) < int(slots):
            running.append([waiting.pop(0), 0])
        if not waiting and not drained:
            drained = now
        now += run.step(float(len(running)), 512 + sum(done for _, done in running) / len(running) + 0.5)
        running = [[length, done + 1] for length, done in running if done + 1 < length]
    ended, started = run.batch([float(length) for length in lengths])
    assert ended == pytest.approx(now, rel=1e-6)
    assert started == pytest.approx(drained, rel=1e-6)


def test_prompts_run_eight_at_a_time_and_one_alone() -> None:
    """Each step of prompts reads the weights once: three steps of eight take three times one, and fewer than eight
    prompts share a step that takes less than one for each."""
    made = design(described())
    assert made.workload is not None and made.workload.rl is not None
    pools = serving_pools(rollout_design(made, made.workload.rl, 4))
    assert pools is not None
    run = _EngineRun(pools, 16, 64)
    eight = run.prompts(8.0)
    assert run.prompts(24.0) == pytest.approx(3 * eight)
    assert run.prompts(12.0) == pytest.approx(1.5 * eight)
    assert run.prompts(1.0) < run.prompts(4.0) < 4 * run.prompts(1.0)
    assert run.prompts(0.5) == pytest.approx(run.prompts(1.0) / 2)
    assert eight < 2 * run.prompts(4.0)


@pytest.mark.parametrize(
    ("minibatches", "epochs", "steps", "updates"), [(1, 1, 778, 778), (4, 1, 778, 3112), (4, 2, 778, 6224)]
)
def test_a_run_has_the_steps_of_its_samples_not_of_padded_sequences(
    minibatches: int, epochs: int, steps: int, updates: int
) -> None:
    """512 samples of 512 + 2,000 tokens are 1,286,144 a step, and 1B tokens 777.5 steps, however they are packed."""
    given = described(minibatches=minibatches, epochs=epochs)
    given["workload"]["tokens"] = "1B"
    study = study_text(json.dumps(given), SETTINGS)
    work, found = study.design.workload, {term.name: term for term in headline_terms(study.plan)}
    assert work is not None and study.plan.rl is not None
    assert work.steps_of_run == steps
    assert work.tokens_of_step == 1_286_144 / minibatches / epochs
    assert steps_of_run(work, []) == updates
    run = found["time to train"]
    assert run.value == pytest.approx(1e9 / 1_286_144 * study.plan.rl.step) == study.plan.time_to_train
    for name in ("time to train", "tokens per second", "MFU", "tokens per second of updates", "MFU of updates"):
        names = {key: figure.value for key, figure in found[name].inputs}
        assert evaluate(found[name].formula, names) == pytest.approx(found[name].value), name


@pytest.mark.parametrize(("batch", "refused"), [(512, False), (128, False), (256, True), (127, True)])
def test_a_batch_may_count_samples_or_the_sequences_that_hold_them(batch: int, refused: bool) -> None:
    """512 samples of 2,512 tokens, 4 of them in a sequence of 12,288, are 128 sequences."""
    given = described()
    given["workload"] |= {"global_batch": batch, "sequence_length": 12288}
    study = study_text(json.dumps(given), SETTINGS)
    found = [each.message for each in study.findings if each.rule == "keys-disagree"]
    assert bool(found) == refused
    if refused:
        assert f"512 samples, packed into 128 sequences, and `global_batch` is {batch}" in found[0]


SPLIT: dict[str, Any] = {"placement": "split", "rollout": {"nodes": 2}}
HALF = 7_615_691_776  # Qwen2.5 7B in bf16 over tp 2: 7,615,616,512 weights and what the embedding is padded by
REWARD = {"model": "llama-3.1-405b"}


@pytest.mark.parametrize(
    ("changes", "staying", "returning"),
    [
        ({"algorithm": "dapo"}, 0, 0),
        ({}, HALF, 0),
        ({"reference": {"offload": True}}, 0, HALF),
        ({"reference": {"nodes": 1}, "nodes": 5, "layout": {"nodes": 2}}, 0, 0),
        # 405,853,388,800 weights in 16 bits over the 16 accelerators of the trainer
        ({"reward": REWARD}, HALF + 2 * 405_853_388_800 / 16, 0),
        ({"reward": REWARD | {"offload": True}}, HALF, 2 * 405_853_388_800 / 16),
        ({"reward": REWARD | {"offload": True}, "reference": {"offload": True}}, 0, 2 * 405_853_388_800 / 16),
    ],
)
def test_models_that_score_on_the_trainers_nodes_take_memory_of_it(
    changes: dict[str, Any], staying: float, returning: float
) -> None:
    found = study_text(json.dumps(described(**SPLIT, **changes)), SETTINGS).plan
    assert found.rl is not None and found.memory_bytes is not None
    memory = found.rl.memory
    if not staying and not returning:
        assert memory is None and found.fullest_phase(found.memory_bytes) == found.memory_bytes
        return
    assert memory is not None and memory.scorers == pytest.approx(staying)
    assert memory.training == pytest.approx(found.memory_bytes + staying)
    assert memory.rollout == memory.sync == 0
    states = memory.scoring - staying - returning
    alone = study_text(json.dumps(described(**SPLIT, algorithm="dapo")), SETTINGS).plan
    assert alone.stored is not None
    rank = alone.stored.rank
    assert states == pytest.approx(sum(line.value for line in (*rank.weights, *rank.gradients, *rank.optimizer)))
    assert memory.update == found.memory_bytes
    assert found.fullest_phase(found.memory_bytes) == pytest.approx(max(memory.training, memory.scoring))
    assert found.fullest_phase(found.memory_bytes + 7e9) == pytest.approx(
        max(memory.training + 7e9, memory.scoring)  # the other phases do not depend on what an update takes
    )
    assert found.fits is (memory.fullest_bytes <= (memory.capacity or 0))


def test_the_reference_of_adapters_is_the_base_that_is_there() -> None:
    job = described(**SPLIT)
    job["workload"]["trainable"] = {"method": "lora", "rank": 16}
    found = study_text(json.dumps(job), SETTINGS).plan
    assert found.rl is not None and found.rl.memory is None


def test_models_that_score_on_the_ranks_of_an_engine_move_to_the_host_with_the_states() -> None:
    wide, narrow = times(rollout={"memory_fraction": 0.9}).memory, times(rollout={"memory_fraction": 0.1}).memory
    bare = times(rollout={"memory_fraction": 0.9}, algorithm="dapo").memory
    assert wide is not None and narrow is not None and bare is not None
    assert wide.offloaded == pytest.approx(bare.offloaded + HALF)
    assert narrow.rollout == pytest.approx(0.1 * (narrow.capacity or 0) + 3e9 + wide.offloaded)


def test_each_rank_of_an_accelerator_holds_a_critic_and_a_reference() -> None:
    """An accelerator of two ranks has two parts of each; a critic is as large as the states of the trained model."""
    found = study_text(json.dumps(described(algorithm="ppo")), SETTINGS).plan
    stored = found.stored
    assert stored is not None and stored.ranks == 1
    states = sum(line.value for line in (*stored.rank.weights, *stored.rank.gradients, *stored.rank.optimizer))
    for ranks in (1, 2, 4):
        one = replace(found, stored=stored._replace(ranks=ranks))
        assert critic_bytes(one) == pytest.approx(ranks * states)
        assert scorer_weights(one) == pytest.approx((ranks * HALF, 0.0))
    elsewhere: list[dict[str, Any]] = [
        {"algorithm": "grpo"},
        {"algorithm": "ppo", "critic": {"offload": True}},
        {"algorithm": "ppo", "critic": {"nodes": 1}, "nodes": 5, "layout": {"nodes": 4}},
    ]
    for changes in elsewhere:
        assert critic_bytes(study_text(json.dumps(described(**changes)), SETTINGS).plan) == 0.0

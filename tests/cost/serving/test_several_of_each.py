"""Plans with several engines, ranks and stages, and with unlike prompts: factors that are 1 in most plans."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cluster.requests import Lengths
from clusterspec.cost.drafters import _network_without_dense
from clusterspec.cost.formulas.queues import bunched_requests, variation_wait
from clusterspec.cost.parameters import model_weights
from clusterspec.cost.serving.bounds import least_prompt_time
from clusterspec.cost.serving.plan_engines import cache_bytes_per_token, is_in_one_domain
from clusterspec.cost.serving.pools import Pools, prompts_per_step
from clusterspec.cost.serving.waits.delays import bunched_sequences, own_sequence, sequences_of_step
from clusterspec.cost.serving.waits.prompts import prompts_at_rate, seconds_of_prompts, variation_seconds
from clusterspec.records import replace
from tests.designs import SERVED, TRAINED, changed, engines_of, layout_of, machine_of, work_of
from tests.effort import each

RATE = SERVED.replace("concurrency: 16", "request_rate: 4")


def loaded(text: str = SERVED, **load: Any) -> Pools:
    return changed(engines_of(text), {f"load.{name}": value for name, value in load.items()})


@each(
    ("load", "requests", "concurrency", "at_once"),
    [
        ("closed", 16, 16, True),
        ("closed", 17, 16, False),
        ("closed", 1, None, False),
        ("closed", None, 16, False),
        ("offline", 1000, None, True),
        ("offline", None, None, False),
        ("open", 16, None, False),
    ],
)
def test_a_run_sends_all_requests_at_once_where_as_many_are_in_flight(
    load: str, requests: int | None, concurrency: int | None, at_once: bool
) -> None:
    assert loaded(load=load, requests=requests, concurrency=concurrency).sent_at_once is at_once


@each(
    ("requests", "engines", "share"),
    [(1, 1, 0.0), (4, 1, 3 / 4), (4, 2, 3 / 4), (3, 2, 2 / 3), (6, 5, 1 / 3), (4, 4, 0.0), (4, 8, 0.0)],
)
def test_a_request_of_a_loop_finds_others_where_engines_have_more_than_one(
    requests: int, engines: int, share: float
) -> None:
    pools = changed(engines_of(SERVED), {"load.concurrency": requests, "decode.replicas": engines})
    assert pools.share_with_others == pytest.approx(share)


def engine(text: str) -> Any:
    return engines_of(text).decode


SINGLE = (
    "cluster: {accelerator: h100-sxm-80gb, accelerators_per_node: 1, nodes: 2, "
    "scale_out: {technology: infiniband-ndr, nics_per_node: 1}}"
)
"""Two nodes of one accelerator each."""


@each(
    ("machine", "layout", "inside"),
    [
        ("cluster: {platform: dgx-h100, nodes: 2}", "tp: 1", True),
        ("cluster: {platform: dgx-h100, nodes: 2}", "tp: 8", True),
        ("cluster: {platform: dgx-h100, nodes: 2}", "tp: 8, pp: 2", False),
        (SINGLE, "tp: 1", True),
        (SINGLE, "tp: 2", False),
    ],
)
def test_the_ranks_of_an_engine_share_a_domain_or_not(machine: str, layout: str, inside: bool) -> None:
    text = SERVED.replace("cluster: {platform: dgx-h100, nodes: 1}", machine).replace("tp: 1", layout)
    assert is_in_one_domain(engine(text)) is inside


def test_a_token_takes_keys_and_values_of_every_layer_for_any_sharding() -> None:
    """Llama 3.1 8B: 32 layers × 8 heads × 128 × 2 × 2 bytes."""
    for layout in ("tp: 1", "tp: 4", "tp: 2, pp: 2"):
        assert cache_bytes_per_token(engine(SERVED.replace("tp: 1", layout))) == 32 * 8 * 128 * 2 * 2


def test_a_prompt_takes_two_operations_of_each_weight_and_token() -> None:
    """Layers of 4,096 × (4,096 + 2 × 1,024 + 4,096) and 3 × 4,096 × 14,336 weights and two norms, and one norm behind
    them; 512 tokens, of which half are cached; over two stages, and over the four ranks of an engine.
    """
    work, layout = work_of(SERVED), layout_of(SERVED)
    assert work.serving is not None
    matrices, norms = 32 * 4096 * (2 * 4096 + 2 * 1024 + 3 * 14336), (2 * 32 + 1) * 4096
    peak = 989.4e12
    for cached, stages, ranks in ((0.0, 1, 1), (0.5, 1, 1), (0.0, 2, 1), (0.0, 1, 4)):
        load = replace(work.serving, prefix_hit=cached)
        found = least_prompt_time(machine_of(SERVED), work, replace(layout, pp=stages, tp=ranks), load)
        operations = 2 * (matrices / ranks + norms) * 512 * (1 - cached) / stages
        assert found == pytest.approx(operations / peak, rel=1e-3)


def test_experts_of_a_token_are_divided_over_all_ranks_of_an_engine() -> None:
    """Mixtral 8x7B: two of eight experts with three matrices of 4,096 × 14,336 in each of 32 layers."""
    work = work_of(SERVED.replace("llama-3.1-8b", "mixtral-8x7b"))
    assert work.serving is not None
    layout = layout_of(SERVED)
    attention, experts = 32 * 4096 * (2 * 4096 + 2 * 1024), 32 * 2 * 3 * 4096 * 14336
    for tp, replicas in ((1, 1), (2, 1), (2, 2)):
        cut = replace(layout, tp=tp, attention_dp=replicas, ep=1)
        found = least_prompt_time(machine_of(SERVED), work, cut, work.serving)
        wanted = 2 * (attention / tp + experts / (tp * replicas)) * 512 / 989.4e12
        assert found == pytest.approx(wanted, rel=1e-3)


def test_a_drafting_layer_without_dense_networks_has_the_experts_of_a_token() -> None:
    model = work_of(TRAINED.replace("llama-3.1-8b", "deepseek-v3")).model
    assert _network_without_dense(model) == 0.0, "the first layers are dense"
    bare = replace(model, ffn_hidden=0)
    whole = model_weights(bare)
    shared, one = 3 * 7168 * 2048, 3 * 7168 * 2048
    assert (whole.shared, whole.expert) == (shared, one)
    assert _network_without_dense(bare) == shared + 8 * one


@each(
    ("cv", "lengths", "bunching"),
    [(1.0, None, 0.0), (2.0, None, 3.0), (1.0, Lengths(512, 2048, None), 0.0), (2.0, Lengths(512, 2048, None), 3.0)],
)
def test_prompts_wait_longer_where_arrivals_come_in_bursts_or_lengths_vary(
    cv: float, lengths: Lengths | None, bunching: float
) -> None:
    """Two ranks share the bursts: (cv² - 1) / 2 of each. Of those in a step, half wait for the other half."""
    pools = changed(engines_of(RATE), {"load.arrival_cv": cv, "load.input_lengths": lengths})
    for ranks in (1, 2):
        each_of = changed(pools, {"decode.replicas": ranks, "prompts.replicas": ranks})
        spread, part = lengths.variation if lengths else 0.0, bunching / each_of.prompts.attention_ranks
        assert each_of.prompts.attention_ranks == ranks
        behind = part * 0.5 ** (1 / 3) / 2
        wanted = variation_wait(0.5, 0.2, part, spread) + behind * 0.2 if part or spread else 0.0
        assert variation_seconds(each_of, 0.5, 0.2) == pytest.approx(wanted)
    assert variation_seconds(changed(pools, {"load.concurrency": 4}), 0.5, 0.2) == 0.0


@each(
    ("load", "cv", "output", "bursts"),
    [("open", 2.0, 128, True), ("closed", 2.0, 128, False), ("open", 1.0, 128, False), ("open", 2.0, 1, False)],
)
def test_requests_of_bursts_meet_more_sequences_on_each_rank(load: str, cv: float, output: int, bursts: bool) -> None:
    pools = loaded(RATE, load=load, arrival_cv=cv, output_tokens=output)
    for ranks in (1, 4):
        each_of = changed(pools, {"decode.replicas": ranks})
        wanted = bunched_requests(6.0 * ranks, 3.0) / ranks if bursts else 0.0
        assert bunched_sequences(each_of, 6.0) == pytest.approx(wanted)


@each(
    ("load", "output", "engines", "own"),
    [("open", 128, 1, 1.0), ("open", 128, 4, 5 / 8), ("closed", 128, 4, 0.0), ("open", 1, 4, 0.0)],
)
def test_a_request_decodes_with_itself_on_the_emptiest_engine(load: str, output: int, engines: int, own: float) -> None:
    pools = changed(loaded(RATE, load=load, output_tokens=output), {"decode.replicas": engines})
    assert own_sequence(pools) == pytest.approx(own)


def test_a_step_has_the_sequences_of_one_stage() -> None:
    pools = engines_of(SERVED)
    for stages, met, sequences in ((1, 12.0, 12.0), (4, 12.0, 3.0), (4, 2.0, 1.0)):
        found = sequences_of_step(changed(pools, {"decode.layout.pp": stages}), met)
        assert found.sequences == sequences


def test_prompts_of_a_run_at_a_rate_come_during_a_step_and_during_each_other() -> None:
    """Four requests a second on two ranks: 0.2 in a step of 0.1 s. On one rank prompts of 1 ms take 0.4 % of the time;
    none takes longer than its part of a full step, of which each stage takes its part.
    """
    alone = loaded(RATE, requests=100)
    two = changed(alone, {"decode.replicas": 2, "prompts.replicas": 2})
    assert two.prompts.attention_ranks == 2
    assert prompts_at_rate(loaded(RATE, requests=None), 0.1, 0.0) == 0.0
    assert prompts_at_rate(loaded(RATE, requests=100, load="closed"), 0.1, 0.0) == 0.0
    assert prompts_at_rate(two, 0.1, 0.0) == pytest.approx(0.2)
    one = changed(alone, {"decode.replicas": 1, "prompts.replicas": 1})
    assert prompts_at_rate(one, 0.1, 1e-3) == pytest.approx(0.4 / (1 - 4e-3))

    for stages in (1, 2):
        deep = changed(two, {"decode.layout.pp": stages, "prompts.layout.pp": stages})
        most = prompts_per_step(deep)
        longest = seconds_of_prompts(deep, most) / most / stages
        assert prompts_at_rate(deep, 0.1, 1e9) == pytest.approx(0.2 / (1 - 2 * longest))

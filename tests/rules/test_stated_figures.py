"""Figures in messages and remedies: worked out by hand, or those of the changed design estimated afresh."""

from __future__ import annotations

import re
from functools import cache

import pytest
import yaml

from clusterspec.cost.plan import Plan
from clusterspec.finding import Finding
from clusterspec.rules.pages import page
from clusterspec.studies import study_text
from clusterspec.units import display, percent
from tests.effort import each
from tests.settings import SETTINGS

from .conftest import Check


def example(rule: str, number: int = 0) -> str:
    return page(rule).fires[number].text


def finding(rule: str, number: int, check: Check) -> Finding:
    (found,) = [one for one in check(example(rule, number), rule) if one.rule == rule]
    return found


@cache
def plan(text: str) -> Plan:
    return study_text(text, SETTINGS).plan


def with_keys(text: str, **sections: dict[str, object]) -> Plan:
    """The plan of a spec with changed keys of sections; a key with the value None is removed."""
    spec = yaml.safe_load(text)
    for section, keys in sections.items():
        whole = spec.setdefault(section, {}) | keys
        spec[section] = {key: value for key, value in whole.items() if value is not None}
    return plan(yaml.safe_dump(spec, sort_keys=False))


@each(
    ("rule", "number", "message", "remedy"),
    [
        # 7 × 8,192 tokens × 128,256 words × 4 B, of 85.5 GB
        ("logits-fill-memory", 0, "one micro-batch take 29.4 GB on the last stage, 34 % of", ""),
        # 8 × 85.5 GB of HBM
        ("small-host-memory", 0, "256 GB of host memory are 37 % of the 684 GB of the 8", "685 GB"),
        # 33.7 billion weights × (2 + 12) B, whole on each node: 94.5 % of 500 GB
        ("small-host-memory", 1, "takes 472 GB per node, 94 % of the 500 GB", ""),
        # 70.55 billion weights × 12 B over two nodes
        ("offload-exceeds-host-memory", 0, "423 GB offloaded by 8 accelerators are 165 % of the 256 GB", ""),
        ("offload-exceeds-host-memory", 2, "423 GB offloaded by 8 accelerators and 565 GB copied", ""),
        ("offload-exceeds-host-memory", 2, "988 GB are 99 % of the 1 TB", ""),
        # 80.9 GB of 85.5 GB
        ("tight-memory", 0, "94.6 % of the memory of 85.5 GB (sold as 80 GB): 80.9 GB, with 4.61 GB free", "a tenth"),
        # 70.55 billion weights × 2 B at 2 GB/s
        ("cold-start-faster-than-storage", 0, "weights of 141 GB at 2 GB/s for 70.6 s", ""),
        # 80 layers × 8 heads × 128 × 2 × 2 B × 8,000 tokens, at 80 % of 100 Gb/s
        ("cache-handoff-exposed", 0, "prompt, 2.62 GB, takes 262 ms: 34 % of the 779 ms", "more or faster NICs"),
        # 2 a second × (6,000 × 0.6 + 400) tokens × 327,680 B; a day of it in units of 15 TB
        (
            "cache-tier-wears-out",
            1,
            "write 2.62 GB/s of cache to 15 TB: 15 times",
            "use 227 TB, or drives for 15.1 over",
        ),
        (
            "cache-tier-wears-out",
            0,
            "write 2.29 GB/s of cache to 15 TB: 13 times",
            "use 199 TB, or drives for 13.3 over",
        ),
        # 989.4 TFLOP/s dense over 3.35 TB/s; 8,000 / 128 chunks; 295 / 128
        (
            "small-prefill-chunks",
            0,
            "from 295 tokens on: chunks of 128 read the weights 62.5 times per",
            "at least 512",
        ),
        ("small-prefill-chunks", 0, "up to 2.3 times as long", ""),
        # the weights without the input embedding, 139 GB, and a cache of 2,000 tokens at 2 and 8 × 3.35 TB/s
        ("tpot-target-unreachable", 0, "its request in 20.9 ms at the full memory bandwidth of tp 2", "use tp 8, pred"),
        ("tpot-target-unreachable", 1, "the memory roofline is 5.21 ms", "raise the target, store weights"),
        # 2 × 68.45 billion weights × 16,000 tokens at 8 × 989.4 TFLOP/s
        ("ttft-target-unreachable", 0, "a prompt of 16,000 tokens takes 277 ms at the dense peak", ""),
        ("ttft-target-unreachable", 1, "a single prompt of 16,000 tokens is", ""),
        ("ttft-target-unreachable", 1, "its GEMMs take 277 ms", ""),
        # 12 × 256 tokens a second
        ("requests-queue", 0, "12 requests a second ask for 3,072 output tokens a second", "a quarter more"),
        # 8,000 + 1,000 / 2 tokens of each of 175 requests
        ("concurrency-beyond-cache", 0, "exceed the 175 that the cache holds (1,490,000 tokens, 8,500 per", "to 175,"),
        # 8.03 billion weights of 1 B, and 0.525 billion of the output layer and of the embedding of 1 B more
        ("tp-on-small-weights", 0, "tp 8 leaves 1.14 GB of weights on a rank, tp 2 4.54 GB", "4 times the replicas"),
        # 2.4 PB at 1.25 GB/s
        ("slow-data-transfer", 0, "take 22.2 days over the frontend network at 10 Gb/s, 74 % of the term", ""),
        # 15T tokens × (6 × 7.5 billion weights + 12 × 32 × 4,096 × 8,192 of attention) at 256 × 989.4 TFLOP/s
        ("run-longer-than-target", 0, "even at the dense peak it takes 39.7 days", ""),
        # 310,000 / 8 over 4,383 h; 98.32 / 8 over 43,830 h
        ("purchase-dearer-than-rent", 0, "costs 8.84 USD for each hour", ""),
        ("purchase-dearer-than-rent", 1, "over 5 years the rent of an accelerator is 538,671 USD", ""),
        # 38 % of the stated figure, 76 % of its half
        ("measured-suggests-duplex-mistake", 0, "is 38 % of the stated 1000 GB/s unidirectional, and 76 % of", ""),
        # 7 / (16 + 7) of the time; 7 / (63 + 7) = 0.1, with 8 replicas; 7 / (4 × 16 + 7) = 0.099
        ("pipeline-bubble", 0, "bubble is 30 % of the time", "a global batch of 504 (63 micro-batches), or 4 virtual"),
        ("pipeline-bubble", 0, "more than a quarter of the machine: pp 8 with 16 micro-batches", ""),
        # 1 × 64 × 2,048 / 64 tokens
        ("fsdp-gather-exposed", 0, "all-gathers over 8 nodes expose", "hsdp inside the domain, or more NICs"),
        ("fsdp-gather-exposed", 0, "a micro-batch of 2,048 tokens", ""),
        ("dp-reduction-exposed", 0, "(1 micro-batch per step)", "(a larger batch, or fewer replicas)"),
        ("full-precision-gradient-reduction", 0, "twice the bytes of bf16", ""),
    ],
)
def test_a_message_and_its_remedy_state_figures_worked_out_by_hand(
    rule: str, number: int, message: str, remedy: str, check: Check
) -> None:
    found = finding(rule, number, check)
    assert message in found.message, found.message
    assert remedy in found.help, found.help


def exposed(of: Plan, *axes: str) -> float:
    return sum(row.exposed for row in of.communication if row.axis in axes)


def test_an_exposed_reduction_is_that_of_the_replicas(check: Check) -> None:
    """The remedies are predicted for the changed keys."""
    text, found = example("dp-reduction-exposed"), finding("dp-reduction-exposed", 0, check)
    now = plan(text)
    assert now.step_seconds is not None
    seconds = exposed(now, "dp_cp", "expert_dp", "replicate")
    assert found.message.startswith(f"{display(seconds, 's')} of reducing gradients and gathering weights, ")
    assert f", {percent(seconds / now.step_seconds, 2)} of the step" in found.message
    for lever, changed in (
        ("gradient_precision: bf16", with_keys(text, workload={"gradient_precision": "bf16"})),
        ("gradient_compression: 4", with_keys(text, layout={"gradient_compression": 4})),
    ):
        assert changed.step_seconds is not None
        less = percent(1 - changed.step_seconds / now.step_seconds, 2)
        assert f"`{lever}` ({display(changed.step_seconds, 's')} per step, {less} less)" in found.help


def test_an_exposed_gather_is_that_of_the_shards(check: Check) -> None:
    now, found = plan(example("fsdp-gather-exposed")), finding("fsdp-gather-exposed", 0, check)
    assert now.step is not None and now.step_seconds is not None
    axes = ("dp_cp", "expert_dp", "shard")
    seconds, sent = exposed(now, *axes), sum(row.seconds for row in now.communication if row.axis in axes)
    assert f"expose {display(seconds, 's')}, {percent(seconds / now.step_seconds, 2)} of the step" in found.message
    assert f"; about {int(2048 * sent / now.step.computing_seconds):,} tokens would overlap it" in found.message


def test_the_exchange_of_experts_is_compared_with_the_decode_step(check: Check) -> None:
    found, times = finding("expert-exchange-exposed", 0, check), plan(example("expert-exchange-exposed")).serving
    assert times is not None
    seconds = sum(part.seconds for part in times.decode.parts if part.name == "expert_exchange")
    whole = sum(part.seconds for part in times.decode.parts)
    said = f"{display(seconds, 's')} of a decode step of {display(whole, 's')} ({percent(seconds / whole, 2)})"
    assert f"dispatch and combine take {said}, and nothing overlaps them" == found.message


def test_the_share_of_prefill_and_of_decoding_are_the_whole_time_of_a_token(check: Check) -> None:
    found = finding("prefill-over-half", 0, check)
    (share, whole, rest) = re.findall(r"([\d.]+) (?:%|ms)", found.message)
    assert float(rest) == pytest.approx(float(whole) * (1 - float(share) / 100), rel=0.02)
    times = plan(example("prefill-over-half")).serving
    assert times is not None and display(times.tpot, "s") == f"{whole} ms"


def test_a_queue_is_emptied_by_a_quarter_more_engines_than_the_mean_load_takes(check: Check) -> None:
    found, times = finding("requests-queue", 0, check), plan(example("requests-queue")).serving
    assert times is not None
    rate = times.output_tokens_per_second / 256
    assert f"use {12 / rate * 1.25:.2g} times as many engines" in found.help
    (less,) = re.findall(r"at most ([\d.]+) requests a second", found.help)
    assert 0.9 * rate < float(less) <= rate
    eased = check(example("requests-queue").replace("request_rate: 12", f"request_rate: {less}"))
    assert not [one for one in eased if "the queue grows without end" in one.message]


def test_files_that_are_opened_are_those_of_the_tokens_of_a_step(check: Check) -> None:
    """2,048 × 4,096 tokens in a step, 600B / 4B = 150 in a file."""
    now, found = plan(example("data-loading-exposed", 1)), finding("data-loading-exposed", 1, check)
    assert now.step_seconds is not None
    files = 2048 * 4096 / 150 / now.step_seconds
    (stated,) = re.findall(r"open ([\d,]+) files a second", found.message)
    assert float(stated.replace(",", "")) == pytest.approx(files, rel=1e-4)
    assert f"training waits {percent(1 - 8000 / files, 2)} of the time" in found.message


STEP = re.compile(
    r"predicted ([\d.]+ m?s) per step, ([\d.]+ m?s) with `([^`]+)` \(([\d.]+) % less(?:; ([\d.]+ GB) per)?"
)
TOKENS = re.compile(r"predicted ([\d,]+) output tokens per second, ([\d,]+) with `([^`]+)` \(([\d.]+) % more")
FREED = {"dp": None}
"""The degree of replicas follows from the others."""


@each(
    ("rule", "number"),
    [
        ("pipeline-bubble", 0),
        ("degrees-beyond-need", 0),
        ("degrees-beyond-need", 2),
        ("recompute-without-need", 0),
        ("fsdp-across-nodes", 0),
        ("narrow-expert-slices", 0),
        ("surplus-virtual-stages", 0),
        ("tp-over-pcie", 0),
        ("tp-crosses-scale-up-domain", 0),
    ],
)
def test_a_shorter_step_is_that_of_the_design_with_the_keys_that_the_remedy_names(
    rule: str, number: int, check: Check
) -> None:
    found, text = finding(rule, number, check), example(rule, number)
    matched = STEP.search(f"{found.message}; {found.help}")
    assert matched is not None, found
    now, changed = plan(text), with_keys(text, layout=FREED | yaml.safe_load(f"{{{matched[3]}}}"))
    assert now.step_seconds is not None and changed.step_seconds is not None
    assert (matched[1], matched[2]) == (display(now.step_seconds, "s"), display(changed.step_seconds, "s"))
    assert percent(1 - changed.step_seconds / now.step_seconds, 2) == f"{matched[4]} %"
    assert changed.memory is not None
    assert matched[5] == display(changed.memory.total.value, "B")


@each("rule", ["tp-on-small-weights", "tp-over-latent-attention", "pipeline-where-model-fits"])
def test_a_higher_throughput_is_that_of_the_design_with_the_keys_that_the_remedy_names(rule: str, check: Check) -> None:
    found, text = finding(rule, 0, check), example(rule)
    matched = TOKENS.search(found.message)
    assert matched is not None, found
    now, changed = plan(text).serving, with_keys(text, layout=FREED | yaml.safe_load(f"{{{matched[3]}}}")).serving
    assert now is not None and changed is not None
    rates = [times.output_tokens_per_second for times in (now, changed)]
    assert [matched[1], matched[2]] == [f"{rate:,.0f}" for rate in rates]
    assert percent(rates[1] / rates[0] - 1, 2) == f"{matched[4]} %"

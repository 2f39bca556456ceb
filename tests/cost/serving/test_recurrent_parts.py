"""Linear attention and state-space recurrences: prompts, states of sequences that decode, and their pool of memory."""

from __future__ import annotations

from functools import cache
from math import sqrt

import pytest

from clusterspec.analysis.simulation.steps import StepTables
from clusterspec.cost.serving.engine import Engine
from clusterspec.cost.serving.parts.recurrent import OTHER_KERNELS, floor_seconds, kept_bytes, prompt_parts, state_bytes
from clusterspec.cost.serving.plan_engines import cache_capacity
from clusterspec.cost.serving.step_times import decode_step, prompt_step
from clusterspec.records import replace
from tests.cluster.resolving import clean
from tests.cost.serving.test_steps import numbers

HYBRIDS = ("qwen3.6-27b", "qwen3.6-35b-a3b", "nemotron-3-nano", "qwen3-next-80b-a3b")
PLATFORMS = ("dgx-h200", "dgx-b200", "dgx-a100")


@cache
def engine(model: str = "qwen3.6-27b", *, tp: int = 1, platform: str = "dgx-h200", by: str = "sglang") -> Engine:
    design = clean(
        f"cluster: {{platform: {platform}, nodes: 1}}\n"
        f"workload: {{kind: serve, model: {model}, serving: {{input_tokens: 8192, output_tokens: 1024}}}}\n"
        f"layout: {{framework: {by}, tp: {tp}}}\n"
    )
    assert design.cluster and design.workload and design.layout
    found = Engine.of(design.cluster, design.workload, design.layout, design.layout.dp)
    assert found is not None
    return found


def prompt_seconds(one: Engine, tokens: float, fresh: float) -> float:
    return sum(part.seconds for part in prompt_parts(one, tokens, fresh))


def test_a_prompt_of_8192_tokens_on_h200_by_hand() -> None:
    """Qwen3.6-27B: 48 layers of 48 heads of 128 values, on 16 heads of keys; SGLang's kernels have 48 us, 30 ns for
    each token of the longest prompt and 3 ns for each token and head of 1,408 elements.
    """
    elements = 2 * 2048 + 2 * 6144 + 2 * (6144 + 6144) + 2 * 128 * 6144 / 64
    assert elements == 65536
    beside, behind = 8192 * elements / 1408 * 3e-9, 8192 * 30e-9
    assert beside == pytest.approx(1.144e-3, rel=1e-3) and behind == pytest.approx(0.246e-3, rel=1e-3)
    expected = 48 * (48e-6 + sqrt(beside**2 + behind**2))
    assert expected == pytest.approx(58.5e-3, rel=2e-3)
    assert prompt_seconds(engine(), 8192.0, 8192.0) == pytest.approx(expected, rel=1e-6)


def test_64_states_are_read_and_written_in_each_step() -> None:
    """A state has 48 x 128 x 128 elements and three of the convolution for each of 10,240 channels, in 32 bits."""
    state = 48 * 4 * (48 * 128 * 128 + 3 * 10240)
    assert state_bytes(engine()) == pytest.approx(state, rel=1e-9)
    found = numbers(decode_step(engine(), 64.0, 8192.0), "recurrent_state")
    assert found["moved"] * found["calls"] == pytest.approx(64 * 2 * state)
    assert found["bandwidth"] == pytest.approx(0.78 * 4.8e12)
    assert found["floor"] == pytest.approx(5.8e-6 + OTHER_KERNELS.value)
    assert kept_bytes(engine(), 8192.0) == pytest.approx(16 * 8192 * 2 * 4 * 256 * 2)


@pytest.mark.parametrize("model", HYBRIDS)
@pytest.mark.parametrize("platform", PLATFORMS)
def test_more_tokens_sequences_and_heads_never_take_less(model: str, platform: str) -> None:
    one, two = engine(model, platform=platform, tp=2), engine(model, platform=platform, tp=4)
    before = 0.0
    for tokens in (1.0, 64.0, 1000.0, 8192.0, 65536.0):
        now = prompt_seconds(one, tokens, tokens)
        assert now >= before and prompt_seconds(two, tokens, tokens) <= now
        before = now
    before = 0.0
    for sequences in (1.0, 8.0, 64.0, 512.0):
        now = decode_step(one, sequences, 4096.0).total
        assert now >= before
        before = now


def test_prompts_that_share_a_step_take_no_longer_than_one_of_as_many_tokens() -> None:
    for model in HYBRIDS:
        one = engine(model, tp=2)
        assert prompt_seconds(one, 8192.0, 1024.0) <= prompt_seconds(one, 8192.0, 8192.0)


def test_no_recurrence_without_layers_that_have_one() -> None:
    one = engine("qwen3-32b")
    assert prompt_parts(one, 8192.0, 8192.0) == () and floor_seconds(one) == 0.0
    assert "recurrent_state" not in {part.name for part in decode_step(one, 8.0, 4096.0).parts}


@pytest.mark.parametrize("model", HYBRIDS)
def test_the_simulation_has_the_same_step(model: str) -> None:
    one = engine(model, tp=2)
    tables = StepTables.of(one)
    assert tables.decode_seconds(64.0, 4096.0, 64.0) == pytest.approx(decode_step(one, 64.0, 4096.0).total, rel=0.02)
    prompt = tables.mixed_seconds((0.0, 0.0), (8192.0, tables.attention_seconds(0.0, 8192.0), 1), 1.0)
    assert prompt == pytest.approx(prompt_step(one, 8192.0, 8192.0, 1.0).total, rel=0.02)


def test_states_and_tokens_have_pools_of_their_own_in_sglang() -> None:
    """Of the memory that weights leave, 0.9 / 1.9 is for states, five for each request; vLLM has one pool for both."""
    one, other = engine(), engine(by="vllm")
    load = one.workload.serving
    assert load is not None and other.workload.serving is not None
    held = load.input_tokens + load.output_tokens / 2
    state, kept = state_bytes(one), kept_bytes(one, held)
    tokens, requests = cache_capacity(one, load)
    by_tokens = tokens / held
    free = by_tokens * kept * 1.9
    assert requests == pytest.approx(min(by_tokens, free * 0.9 / 1.9 / (5 * state)), rel=1e-6)
    tokens, requests = cache_capacity(other, other.workload.serving)
    assert tokens == pytest.approx(requests * held)


def test_more_memory_never_holds_fewer_requests() -> None:
    one, before = engine("qwen3.6-35b-a3b"), 0.0
    load = one.workload.serving
    assert load is not None
    for fraction in (0.7, 0.8, 0.9, 0.95):
        now = cache_capacity(one, replace(load, memory_fraction=fraction))[1]
        assert now >= before
        before = now

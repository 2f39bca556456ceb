"""Memory against published sums: worked by hand, by the papers, and by measurements that were not looked at."""

from __future__ import annotations

import pytest

from clusterspec.cost.formulas import memory, pipeline
from clusterspec.cost.memory.fullest import memory_use
from clusterspec.cost.term import MemoryUse, Term
from tests.cost.memory.designs import design, model

GIB = 2**30


def used(*args: object, **kwargs: object) -> MemoryUse:
    found, _ = memory_use(design(*args, **kwargs))  # type: ignore[arg-type]
    assert found is not None
    return found


def part(term: Term, name: str) -> float:
    return sum(each.value for each in term.walk() if each.name.startswith(name) and not each.parts)


LLAMA_70B_12 = model(layers=12, hidden=8192, heads=64, ffn_hidden=28672, vocab=128256)
LLAMA_405B_4 = model(layers=4, hidden=16384, heads=128, kv_heads=16, ffn_hidden=53248, vocab=128256)
DEEPSEEK_V3_4 = model(
    layers=4, hidden=7168, heads=128, kv_heads=128, head_dim=128, ffn_hidden=18432, vocab=129280, experts=256,
    experts_per_token=8, expert_ffn_hidden=2048, moe_layers=3, shared_experts=1, latent_q=1536, latent_kv=512,
    latent_rope=64,
)  # fmt: skip
LONG = {"sequence_length": 32768}
SIMUMAX = [
    (LLAMA_70B_12, {"tp": 1, "pp": 2, "dp": 4}, {}, 66.55),
    (LLAMA_70B_12, {"tp": 2, "dp": 4}, {}, 60.68),
    (LLAMA_70B_12, {"tp": 4, "dp": 2}, {}, 39.07),
    (LLAMA_70B_12, {"tp": 8}, {}, 28.29),
    (LLAMA_405B_4, {"tp": 1, "pp": 2, "dp": 4}, {}, 87.08),
    (LLAMA_405B_4, {"tp": 8}, {}, 38.57),
    (DEEPSEEK_V3_4, {"ep": 8, "dp": 8}, {}, 104.30),
    (DEEPSEEK_V3_4, {"ep": 4, "pp": 2, "dp": 4}, {}, 114.0),
    (LLAMA_70B_12, {"tp": 2, "cp": 4, "cp_method": "all-to-all"}, LONG, 68.43),
    (LLAMA_70B_12, {"tp": 1, "cp": 8, "cp_method": "all-to-all"}, LONG, 104.51),
]


@pytest.mark.parametrize(("of", "cut", "work", "gib"), SIMUMAX)
def test_allocated_memory_of_megatron_on_b200(
    of: object, cut: dict[str, object], work: dict[str, object], gib: float
) -> None:
    """Peaks that Megatron-LM's allocator counted (MooreThreads/SimuMax, B200 release v1.2).

    The counter sees neither contexts nor communication buffers nor fragmentation, and the loss
    was fused, so two bytes a logit are counted in place of six.
    """
    found = used(of, {"sequence_length": 4096, **work}, **cut)
    allocated = found.total.value - found.other.value - part(found.activations, "logits_and_loss") * 2 / 3
    assert allocated == pytest.approx(gib * GIB, rel=0.03)


BLOOM = [  # layers, hidden, dp, tp, pp, micro-batch, precision, GB on the first or last node
    (80, 14400, 1, 8, 10, 1, "fp16", 73),
    (80, 14400, 2, 8, 10, 1, "bf16", 53),
    (80, 14400, 4, 8, 10, 4, "fp16", 55),
    (72, 14336, 4, 8, 12, 1, "fp16", 29),
    (72, 14336, 4, 8, 12, 8, "fp16", 69),
    (72, 14336, 8, 4, 12, 4, "fp16", 60),
    (72, 14336, 16, 2, 12, 2, "fp16", 63),
    (72, 14336, 8, 2, 24, 2, "fp16", 53),
    (106, 12288, 8, 4, 12, 4, "bf16", 79),
    (100, 12288, 8, 8, 6, 4, "bf16", 72),
    (70, 14336, 8, 4, 12, 2, "bf16", 59),
]


@pytest.mark.parametrize(("layers", "hidden", "dp", "tp", "pp", "micro_batch", "precision", "gigabytes"), BLOOM)
def test_memory_of_blooms_rehearsals(
    layers: int, hidden: int, dp: int, tp: int, pp: int, micro_batch: int, precision: str, gigabytes: float
) -> None:
    """What nvidia-smi showed in the rehearsals of BLOOM (bigscience-workshop, chronicles-prequel.md).

    One snapshot each; two of the same layout differ there by 15 %.
    """
    of = model(
        layers=layers, hidden=hidden, heads=64, kv_heads=64, ffn_hidden=4 * hidden, vocab=250880, gated_ffn=False
    )
    found = used(
        of,
        {"precision": precision, "attention": "plain"},
        dp=dp,
        tp=tp,
        pp=pp,
        micro_batch=micro_batch,
        micro_batches=64,
        recompute="full",
        framework="megatron-deepspeed",
        software_year=2022,
        sequence_parallel=False,
    )
    assert found.total.value == pytest.approx(gigabytes * 1e9, rel=0.09)


TORCHTITAN = [  # ranks, GiB reserved: Llama 3 8B, FSDP, local batch 2, selective checkpointing
    (8, 77.0),
    (128, 62.0),
]


@pytest.mark.parametrize(("ranks", "gib"), TORCHTITAN)
def test_memory_of_torchtitan_at_the_end_of_2024(ranks: int, gib: float) -> None:
    """pytorch/torchtitan, benchmarks/llama3_h100_202412_torchtitan.md, tables 1 and 3."""
    of = model(layers=32, hidden=4096, heads=32, ffn_hidden=14336, vocab=128256)
    found = used(
        of,
        {"sequence_length": 8192},
        dp=ranks,
        sharding="fsdp",
        micro_batch=2,
        micro_batches=1,
        recompute="selective",
        framework="torchtitan",
        software_year=2024,
    )
    assert found.total.value == pytest.approx(gib * GIB, rel=0.06)


def test_states_are_what_the_zero_paper_counts() -> None:
    """Figure 1: 7.5 billion parameters on 64 ranks take 120, 31.4, 16.6 and 1.9 GB."""
    whole, ranks = 7.5e9, 64
    assert memory.sharded_bytes(whole, 16, 1) == 120e9
    stage_1 = memory.sharded_bytes(whole, 4, 1) + memory.sharded_bytes(whole, 12, ranks)
    assert stage_1 / 1e9 == pytest.approx(31.4, abs=0.05)
    stage_2 = memory.sharded_bytes(whole, 2, 1) + memory.sharded_bytes(whole, 14, ranks)
    assert stage_2 / 1e9 == pytest.approx(16.6, abs=0.05)
    assert memory.sharded_bytes(whole, 16, ranks) / 1e9 == pytest.approx(1.9, abs=0.05)


def test_megatron_keeps_six_bytes_and_twelve_sharded() -> None:
    """Megatron-LM, training/theoretical_memory_usage.py: 6 + 12 / dp with the distributed optimizer, else 18."""
    of, weights = model(), 0.0
    for sharding, each in (("none", 18.0), ("zero1", 6 + 12 / 4)):
        found = used(of, dp=4, sharding=sharding)
        weights = part(found.weights, "weights") / 2
        kept = sum(part(term, name) for term, name in _kept(found))
        assert kept == pytest.approx(weights * each)


def _kept(found: MemoryUse) -> list[tuple[Term, str]]:
    return [
        (found.weights, "weights"),
        (found.gradients, "gradients"),
        (found.optimizer, "master_weights"),
        (found.optimizer, "moments"),
    ]


def test_a_layer_of_gpt_stores_what_korthikanti_counts() -> None:
    """Equation 1: s b h (34 + 5 a s / h) bytes of a layer with 16-bit activations and plain attention."""
    s, b, h, a = 2048, 4, 6144, 64
    tokens = s * b
    stored = (
        2 * memory.residual_bytes(tokens, h, 1)
        + memory.attention_bytes(tokens, h, h, 1)
        + memory.ffn_bytes(tokens, 4 * h, 2, 1)
        + 2 * tokens * h  # two dropout masks
        + memory.scores_bytes(tokens, s, a, 1)
    )
    assert stored == pytest.approx(tokens * h * (34 + 5 * a * s / h))


def test_interleaving_costs_what_korthikanti_says() -> None:
    """Section 4.2.3: L (1 + (p − 1) / (p m)) layers on the first stage."""
    p, v, layers = 8, 3, 48
    chunks = pipeline.stored_interleaved_passes(p, 0, v, 1000)
    assert chunks * layers / (p * v) == pytest.approx(layers * (1 + (p - 1) / (p * v)))

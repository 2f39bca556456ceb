"""Low-rank adapters in addition to frozen weights, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from clusterspec.cost.adapters import model_adapters
from clusterspec.cost.compute import Role
from clusterspec.cost.plan import Plan
from tests.cost.plans import plan

LORA = {"method": "lora", "rank": 16, "modules": ["attention", "ffn"]}
MATRICES = 32 * (4096 * (4096 + 2 * 1024 + 4096) + 3 * 4096 * 14336)
"""Weights of the matrices of Llama 3.1 8B's layers: queries, keys, values, output, and three of the network."""
TABLES = 2 * 128256 * 4096 + 65 * 4096
"""Embedding, head, and two norms of each layer with the last one."""
Q_AND_O, K_OR_V, NETWORK = 4096 + 4096, 4096 + 1024, 4096 + 14336
"""Inputs and outputs of the matrices: an adapter of rank r has r of each."""
ADAPTERS = 32 * 16 * (2 * Q_AND_O + 2 * K_OR_V + 3 * NETWORK)


def tuned(trainable: dict[str, Any] | None, layout: dict[str, Any] | None = None, **work: Any) -> Plan:
    """Llama 3.1 8B on one DGX H100."""
    workload = {"global_batch": 32, "sequence_length": 4096, "trainable": trainable, **work}
    return plan({"nodes": 1}, workload=workload, layout={"tp": 1, "sharding": "none", **(layout or {})})


def leaves(found: Plan) -> dict[str, float]:
    assert found.memory is not None
    return {term.name: term.value for term in found.memory.total.walk() if not term.parts}


def test_adapters_count_as_peft_prints_them() -> None:
    """PEFT prints 41,943,040 trainable parameters for rank 16 on all linear layers of Llama 3.1 8B."""
    assert ADAPTERS == 41_943_040
    held = leaves(tuned(LORA))
    assert held["adapters_dense"] == 2 * ADAPTERS
    assert held["gradients_dense"] == 4 * ADAPTERS
    assert held["master_weights_dense"] == 4 * ADAPTERS
    assert held["moments_dense"] == 8 * ADAPTERS
    attention = leaves(tuned({**LORA, "rank": 8, "modules": ["attention"]}))
    assert attention["adapters_dense"] == 2 * 32 * 8 * (2 * Q_AND_O + 2 * K_OR_V)


def test_frozen_weights_have_no_gradients_and_nf4_has_4_127_bits() -> None:
    """A 4-bit number, an 8-bit scale for 64 of them, and a 32-bit scale for 256 of those."""
    held, quantized = leaves(tuned(LORA)), leaves(tuned({**LORA, "method": "qlora"}))
    assert held["frozen_weights_dense"] == 2 * MATRICES
    assert quantized["frozen_weights_dense"] == pytest.approx((4 + 8 / 64 + 32 / 64 / 256) / 8 * MATRICES)
    assert held["frozen_weights_tables_and_norms"] == quantized["frozen_weights_tables_and_norms"] == 2 * TABLES
    cut = leaves(tuned({**LORA, "method": "qlora"}, {"sharding": "fsdp"}))
    assert cut["frozen_weights_dense"] == quantized["frozen_weights_dense"] / 8


def test_tensor_parallelism_copies_half_of_an_adapter() -> None:
    """Whole are the inputs of queries, keys, values and two matrices of the network, and the outputs of attention and
    network: seven times the hidden width. The other sides are divided."""
    whole = 7 * 4096
    cut = 4096 + 2 * 1024 + 4096 + 2 * 14336 + 14336
    held = leaves(tuned(LORA, {"tp": 2}))
    assert held["adapters_dense"] == 2 * 32 * 16 * (whole + cut / 2)


@pytest.mark.parametrize(
    ("model", "layouts"),
    [
        ("llama-3.1-8b", [{"tp": 2}, {"tp": 4, "cp": 2}, {"pp": 4}]),
        ("mixtral-8x7b", [{"ep": 2}, {"ep": 8}, {"tp": 2, "pp": 4}]),
    ],
)
def test_the_adapters_of_a_model_do_not_depend_on_its_layout(model: str, layouts: list[dict[str, Any]]) -> None:
    """Rank 16 on attention: 2 × 16 × (4096 + 1024) × 32 layers for keys and values, and 4096 + 4096 for the others."""
    counts = []
    for layout in ({"tp": 1}, *layouts):
        made = tuned({**LORA, "modules": ["attention"]}, layout, model=model).design
        assert made.workload is not None and made.layout is not None
        counts.append(model_adapters(made.workload, made.layout))
    assert counts == [32 * 16 * (2 * Q_AND_O + 2 * K_OR_V)] * len(counts)


def test_the_backward_pass_computes_no_weight_gradients_of_frozen_matrices() -> None:
    frozen, full = tuned({**LORA, "rank": 1}), tuned(None)
    assert frozen.step is not None and full.step is not None
    layer, whole = frozen.step.parts[0][0], full.step.parts[0][0]

    def flops(part: Any, role: Role) -> float:
        return float(sum(kernel.flops for kernel, _ in part.backward.kernels if kernel.role is role))

    assert flops(whole, Role.WEIGHT_GRADIENT) == flops(whole, Role.INPUT_GRADIENT)
    assert flops(layer, Role.WEIGHT_GRADIENT) < 0.01 * flops(layer, Role.INPUT_GRADIENT)
    assert frozen.mfu is not None and full.mfu is not None
    sent = {row.collective: row.bytes for row in frozen.communication if row.axis == "dp_cp"}
    assert sent == {"all-reduce": 4 * ADAPTERS / 16}


@pytest.mark.parametrize("framework", ["megatron-core", "torchtitan"])
@pytest.mark.parametrize(("method", "width"), [("lora", 2.0), ("qlora", (4 + 8 / 64 + 32 / 64 / 256) / 8)])
def test_full_shards_gather_frozen_weights_as_they_are_stored(framework: str, method: str, width: float) -> None:
    """Four micro-batches gather the layers forward and backward, and the tables once; adapters in 16 bits. Their
    gradients are reduced in 32 bits by Megatron Core and FSDP alike.
    """
    found = tuned({**LORA, "method": method}, {"sharding": "fsdp", "framework": framework})
    sent = {row.collective: row.bytes for row in found.communication if row.axis == "dp_cp"}
    assert sent["all-gather"] == pytest.approx(4 * (2 * width * MATRICES + 2 * TABLES + 2 * 2 * ADAPTERS), rel=1e-4)
    assert sent["reduce-scatter"] == 4 * 4 * ADAPTERS


def moved(found: Plan, ending: str, backward: bool) -> float:
    """Bytes of the kernels of one layer whose names end so, in one pass."""
    assert found.step is not None
    layer = found.step.parts[0][0]
    kernels = (layer.backward if backward else layer.forward).kernels
    return float(sum(kernel.traffic for kernel, _ in kernels if kernel.name.endswith(ending)))


@pytest.mark.parametrize(("fused", "outputs", "scaled"), [(True, 3, 0), (None, 3, 0), (False, 5, 2)])
def test_sums_of_adapters_and_widened_weights_are_counted_whatever_is_fused(
    fused: bool | None, outputs: int, scaled: int
) -> None:
    """4,096 tokens: outputs are 4096 + 2 × 1024 + 4096 wide in attention and 2 × 14336 + 4096 in the network, inputs
    2 × 4096 and 4096 + 14336. Eager PyTorch scales outputs, and their gradients, before it adds them.
    """
    found = tuned({**LORA, "method": "qlora"}, {"framework": "fsdp", "fused_kernels": fused})
    wide, narrow = 3 * 4096 + 2 * 1024 + 2 * 14336, 3 * 4096 + 14336
    assert moved(found, "adapter sum", backward=False) == 2 * 4096 * outputs * wide
    assert moved(found, "adapter sum", backward=True) == 2 * 4096 * (3 * narrow + scaled * wide)
    stored = (4 + 8 / 64 + 32 / 64 / 256) / 8 + 2
    for backward in (False, True):
        assert moved(found, "dequantization", backward) == pytest.approx(stored * MATRICES / 32)


def test_adapters_of_all_experts_add_the_rows_of_each() -> None:
    """Mixtral: 4,096 tokens visit 2 of 8 experts, 8,192 rows. Two numbers are read and one is written, forward, for
    the 2 × 14,336 + 4,096 outputs of a row.
    """
    found = tuned({**LORA, "modules": ["experts"]}, model="mixtral-8x7b")
    assert moved(found, "adapter sum", backward=False) == pytest.approx(2 * 3 * 8192 * (2 * 14336 + 4096))


@pytest.mark.parametrize(("framework", "matrices"), [("fsdp", 7), ("megatron-core", 4)])
def test_each_matrix_of_its_own_launches_its_adapter(framework: str, matrices: int) -> None:
    """Seven matrices of a layer, or four where queries, keys and values, and both halves of the gate, are one each.

    Forward two GEMMs and a sum, backward four GEMMs and a sum; widened weights one kernel in each pass.
    """
    found = tuned({**LORA, "method": "qlora", "precision": "bf16"}, {"framework": framework})
    assert found.step is not None
    layer = found.step.parts[0][0]
    for part, kernels in ((layer.forward, 3), (layer.backward, 5)):
        launches = {"adapter": 0.0, "dequantization": 0.0}
        for kernel, _ in part.kernels:
            for name in launches:
                launches[name] += kernel.launches * (name in kernel.name)
        assert launches == {"adapter": kernels * matrices, "dequantization": matrices}


INPUTS, OUTPUTS = 4 * 4096 + 2 * 4096 + 14336, 4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096
"""Inputs and outputs of the seven matrices of a layer, each by itself."""


@pytest.mark.parametrize(
    ("trainable", "layout", "traffic", "launches"),
    [
        ({}, {}, (12 * INPUTS, 12 * INPUTS), (28, 28)),  # widened for the adapter, narrowed by autocast
        ({"precision": "fp32"}, {}, (12 * INPUTS, 12 * INPUTS), (28, 28)),
        ({"precision": "bf16"}, {}, (0, 0), (0, 0)),
        ({}, {"fused_kernels": True}, (0, 0), (14, 14)),  # both matrices narrowed, or their gradients widened
        ({"method": "qlora"}, {}, (4 * OUTPUTS, 0), (21, 14)),  # outputs of 4-bit matrices copied
        ({"autocast": False}, {}, (8 * INPUTS + 16 * OUTPUTS, 10 * INPUTS + 20 * OUTPUTS), (14, 21)),
        ({"autocast": False, "method": "qlora"}, {}, (8 * INPUTS + 20 * OUTPUTS, 10 * INPUTS + 20 * OUTPUTS), (21, 21)),
        ({}, {"framework": "megatron-core"}, (0, 0), (0, 0)),
        ({"precision": "fp32"}, {"framework": "megatron-core"}, (12 * INPUTS, 12 * INPUTS), (16, 16)),
    ],
)
def test_adapters_in_fp32_convert_their_inputs_and_matrices(
    trainable: dict[str, Any], layout: dict[str, Any], traffic: tuple[float, float], launches: tuple[int, int]
) -> None:
    """Adapters of PEFT are kept in fp32; 4,096 tokens through one layer, by matrix."""
    found = tuned({**LORA, **trainable}, {"framework": "fsdp", **layout})
    ending = "adapter conversions"
    assert (moved(found, ending, backward=False), moved(found, ending, backward=True)) == (
        4096 * traffic[0],
        4096 * traffic[1],
    )
    assert found.step is not None
    layer = found.step.parts[0][0]
    counted = [
        sum(k.launches for k, _ in part.kernels if k.name.endswith(ending)) for part in (layer.forward, layer.backward)
    ]
    assert tuple(counted) == launches


def test_laws_of_adapters() -> None:
    """Less is trained: less memory and time. A higher rank is never cheaper. QLoRA trades time for memory."""
    full, lora, qlora = tuned(None), tuned(LORA), tuned({**LORA, "method": "qlora"})
    wide = tuned({**LORA, "rank": 256})
    times = [each.step_seconds or 0.0 for each in (full, lora, qlora, wide)]
    sizes = [each.memory_bytes or 0.0 for each in (full, lora, qlora, wide)]
    assert times[0] > times[1] < times[2] and times[3] > times[1]
    assert sizes[0] > sizes[1] > sizes[2] and sizes[3] > sizes[1]
    assert tuned({"method": "full"}).step_seconds == times[0]


def test_packed_documents_attend_to_themselves() -> None:
    """Four documents of 1,024 tokens in 4,096 have a quarter of the pairs of one sequence; all else is the same."""
    packed, whole = tuned(None, document_tokens=1024), tuned(None)
    assert packed.step is not None and whole.step is not None

    def core(found: Plan) -> float:
        assert found.step is not None
        layer = found.step.parts[0][0]
        return float(sum(kernel.flops for kernel, _ in layer.forward.kernels if kernel.name == "flash attention"))

    assert core(packed) == pytest.approx(core(whole) / 4, rel=1e-3)
    assert packed.step.seconds < whole.step.seconds
    assert packed.memory_bytes == whole.memory_bytes
    varied = tuned(None, document_tokens={"mean": 500, "p99": 3000})
    assert core(packed) < core(varied) < core(whole)

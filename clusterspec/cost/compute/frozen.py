"""Kernels of layers with frozen weights: no weight gradients, the GEMMs of low-rank adapters, and dequantization.

Each matrix of k × n weights in an adapted module has two trained matrices, k × r and r × n (Hu et al., LoRA, arXiv
2106.09685, section 4.1).
"""

from __future__ import annotations

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import Kernel, Role, Shard, Work, is_product, linear_work, streaming_work
from clusterspec.quantity import precision_width

ATTENTION, NETWORK, EXPERTS = "attention", "ffn", "experts"
MODULES = (ATTENTION, NETWORK, EXPERTS)
"""The modules that may have adapters: token mixing; dense networks and shared experts; routed experts."""
QLORA = "qlora"
SUM_PASSES = assumed_figure(
    "adapters",
    "sum.passes",
    3.0,
    "reads and writes of one row to add the output of an adapter to that of its frozen matrix: two reads and one write",
).value
SCALE_PASSES = assumed_figure(
    "adapters",
    "scale.passes",
    2.0,
    "reads and writes of one row to scale the output of an adapter, or its gradient, in eager PyTorch: one read and "
    "one write",
).value
PEFT = "(huggingface/peft at 5d602fd, tuners/lora/layer.py and bnb.py); by count"
AUTOCAST_BYTES = assumed_figure(
    "adapters",
    "autocast",
    12.0,
    "bytes moved in each pass for each input of an adapter that is kept in fp32 under autocast: 6 to widen it to"
    f" the precision of the adapter and 6 to narrow it again {PEFT}",
    "B",
).value
CLONE_BYTES = assumed_figure(
    "adapters",
    "clone",
    4.0,
    f"bytes moved to copy each output of a 4-bit matrix before the output of the adapter is added {PEFT}",
    "B",
).value
WIDE_INPUT_BYTES = (
    assumed_figure(
        "adapters",
        "wide.inputs",
        8.0,
        "bytes moved forward for each input of an adapter that multiplies in fp32, beyond one in 16 bits: 6 to"
        f" widen it, 2 more to read it {PEFT}",
        "B",
    ).value,
    assumed_figure(
        "adapters",
        "wide.inputs.backward",
        10.0,
        "bytes moved backward for each input of an adapter that multiplies in fp32, beyond one in 16 bits: 2 more"
        f" to read it for the weight gradient, 2 more to write its gradient, 6 to narrow that {PEFT}",
        "B",
    ).value,
)
WIDE_OUTPUT_BYTES = (
    assumed_figure(
        "adapters",
        "wide.outputs",
        16.0,
        "bytes moved forward for each output of an adapter that multiplies in fp32, beyond one in 16 bits: 6 to"
        f" write and scale it in 4 bytes, 4 to sum it, 6 to narrow it {PEFT}",
        "B",
    ).value,
    assumed_figure(
        "adapters",
        "wide.outputs.backward",
        20.0,
        "bytes moved backward for each output of an adapter that multiplies in fp32, beyond one in 16 bits: 12 to"
        f" widen its gradient and narrow it for the frozen matrix, 8 to scale it and read it in both products {PEFT}",
        "B",
    ).value,
)
_PARTS = {"projections": ATTENTION, "output": ATTENTION, "feed-forward": NETWORK, "experts": NETWORK}


def module_of_kernel(part: str, kernel: Kernel) -> str | None:
    """The module of a weight matrix by the part of the layer; None for kernels without weights, and for the router."""
    if not is_product(kernel) or part not in _PARTS:
        return None
    return EXPERTS if kernel.shape is not None and kernel.shape.experts else _PARTS[part]


def matrices_of_kernel(shard: Shard, kernel: Kernel) -> int:
    """The number of matrices that a fused GEMM multiplies, each with a separate adapter (as in PEFT): three for
    queries, keys and values, two for the halves of a gated network.
    """
    if kernel.name == "query, key, value":
        return 2 if shard.model.shared_kv else 3
    return 2 if kernel.name.endswith(" in") and shard.model.gated_ffn and kernel.name != "recurrence in" else 1


def frozen_work(part: str, work: Work, shard: Shard, wide: bool = False, fused: bool = False) -> Work:
    """The work of one part of a layer whose weights are frozen: no weight gradients, and the adapters' GEMMs.

    Where weights are stored in 4 bits, each pass first widens them to 16. With ``wide`` adapters are kept in fp32, with
    ``fused`` separate kernels apply them.
    """
    trainable = shard.trainable
    if trainable is None:
        return work
    back = tuple(kernel for kernel in work.backward if kernel.role is not Role.WEIGHT_GRADIENT)
    result = Work(work.forward, back)
    for kernel in work.forward:
        module = module_of_kernel(part, kernel)
        if module is not None and trainable.method == QLORA:
            result += _launched_work(_dequantization_work(kernel), _launched_matrices(shard, kernel))
        if module in trainable.modules:
            result += _launched_work(_adapter_work(shard, kernel), _launched_matrices(shard, kernel))
            if wide:
                result += _conversion_work(shard, kernel, fused)
    return result


def _launched_matrices(shard: Shard, kernel: Kernel) -> int:
    """The matrices of a GEMM that the software multiplies one after another, each with an adapter (huggingface/peft,
    tuners/lora/layer.py; unslothai/unsloth, kernels/fast_lora.py); 1 where it multiplies them at once.
    """
    return matrices_of_kernel(shard, kernel) if shard.separate else 1


def _launched_work(work: Work, launches: int) -> Work:
    """The same kernels, each divided into ``launches`` kernels with separate launches."""
    return Work(*(tuple(each._replace(launches=launches) for each in part) for part in (work.forward, work.backward)))


def _adapter_work(shard: Shard, kernel: Kernel) -> Work:
    """The two GEMMs of the adapters of a GEMM, both passes, and the addition of their output."""
    shape, trainable = kernel.shape, shard.trainable
    assert shape is not None and trainable is not None
    rank = float(trainable.rank)
    inner = rank * matrices_of_kernel(shard, kernel)
    rows = shard.width * shape.m * shape.batch
    scaled = SCALE_PASSES if shard.eager else 0.0
    outputs, inputs = rows * shape.n, rows * shape.k
    traffic = (SUM_PASSES + scaled) * outputs, SUM_PASSES * inputs + scaled * outputs
    added = streaming_work(f"{kernel.name} adapter sum", traffic, role=Role.COUNTED)
    return (
        linear_work(f"{kernel.name} adapter in", shape._replace(n=inner), shard.kept)
        + linear_work(f"{kernel.name} adapter out", shape._replace(k=rank), shard.kept)
        + added
    )


def _dequantization_work(kernel: Kernel) -> Work:
    """Each pass reads a matrix in 4 bits and writes it in 16 (Dettmers et al., QLoRA, arXiv 2305.14314, section 3)."""
    assert kernel.shape is not None
    _, inputs, outputs, batch, *_ = kernel.shape
    moved = batch * inputs * outputs * (precision_width("nf4") + precision_width("bf16"))
    return streaming_work(f"{kernel.name}: dequantization", (moved, moved), role=Role.COUNTED)


def _conversion_work(shard: Shard, kernel: Kernel, fused: bool) -> Work:
    """Conversions around the adapters of a GEMM that are kept in fp32.

    Under autocast, and in kernels of one's own (unslothai/unsloth at 015bdef, kernels/utils.py, matmul_lora), each pass
    narrows both matrices of an adapter, or widens their gradients: two launches. Modules of PEFT also widen their
    inputs. Autocast narrows these to 16 bits again, unless the frozen matrix has 4 bits; without autocast the modules
    multiply in fp32.
    """
    shape, trainable = kernel.shape, shard.trainable
    assert shape is not None and trainable is not None
    matrices, rows = matrices_of_kernel(shard, kernel), shape.m * shape.batch
    inputs, outputs = rows * shape.k * matrices, rows * shape.n
    cloned = CLONE_BYTES * outputs if trainable.method == QLORA else 0.0
    if fused:
        traffic, launches = (0.0, 0.0), (2, 2)
    elif not trainable.autocast:
        forward, backward = (
            one * inputs + other * outputs for one, other in zip(WIDE_INPUT_BYTES, WIDE_OUTPUT_BYTES, strict=True)
        )
        traffic, launches = (forward + cloned, backward), (2 + bool(cloned), 3)
    elif cloned:
        traffic, launches = (cloned, 0.0), (3, 2)
    else:
        traffic, launches = (AUTOCAST_BYTES * inputs, AUTOCAST_BYTES * inputs), (4, 4)
    launched = _launched_matrices(shard, kernel)
    forward_kernel, backward_kernel = (
        Kernel(f"{kernel.name} adapter conversions", 0.0, moved, launches=launched * each, role=Role.COUNTED)
        for moved, each in zip(traffic, launches, strict=True)
    )
    return Work((forward_kernel,), (backward_kernel,))

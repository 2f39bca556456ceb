"""Biases of experts and limits of their activation, where the software applies them operation by operation."""

from __future__ import annotations

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import BIASES, Kernel, Role, Shard, Work, streaming_work

_SOURCE = "(Megatron-LM at 2065b5a, core/{}; by count)"
_EXPERTS, _ACTIVATION = _SOURCE.format("transformer/moe/experts.py"), _SOURCE.format("fusions/fused_bias_geglu.py")
LIMIT_BYTES = (
    assumed_figure(
        BIASES,
        "limit.forward",
        8.0,
        "bytes moved for each number of 16 bits to limit the inputs of an activation: each half is read and"
        f" written, and both are joined again {_ACTIVATION}",
        "B",
    ).value,
    assumed_figure(
        BIASES,
        "limit.backward",
        10.0,
        "bytes moved in the backward pass for each number of 16 bits whose range the activation limits: the"
        f" gradient and the input of each half are read and one is written, and both are joined again {_ACTIVATION}",
        "B",
    ).value,
)
BIAS_BYTES = (
    assumed_figure(
        BIASES,
        "bias.forward",
        28.0,
        "bytes moved for each number of 16 bits to add a bias of experts, scaled by the weights of tokens in fp32:"
        " the product and the sum are written in fp32, the sums of all experts are joined, and converted to 16 bits"
        f" {_EXPERTS}",
        "B",
    ).value,
    assumed_figure(
        BIASES,
        "bias.backward",
        40.0,
        "bytes moved in the backward pass for each number of 16 bits with a bias of experts: two conversions, a"
        " product and a sum for the gradient of the bias and for that of the weights, and gradients joined again"
        f" {_EXPERTS}",
        "B",
    ).value,
)
REPEATED_BYTES = assumed_figure(
    BIASES,
    "repeated",
    6.0,
    "bytes moved for each number of 16 bits to add the bias of its expert, repeated for each row of the expert: two are"
    " read and one is written (torchtitan, models/gpt_oss/model/moe.py; by count)",
    "B",
).value
REPEATS = 3
"""Kernels that repeat the biases of one product: sums of the counts of rows, positions, and the gather."""
LAUNCHES = (2.0, 5.0)
"""Kernels for the bias of each expert, forward and backward."""


def limit_work(shard: Shard, rows: float, share: float) -> Work:
    """Kernels that limit the inputs of the activations of experts; none for a model without limits."""
    model = shard.model
    if not share or not model.limited_activation:
        return Work()
    inputs = share * rows * shard.width / 2 * (2 if model.gated_ffn else 1) * model.expert_ffn_hidden / shard.expert_tp
    forward, backward = (each * inputs for each in LIMIT_BYTES)
    return streaming_work("limited activation", (forward, backward), 3, Role.COUNTED)


def biased_expert_work(shard: Shard, rows: float, experts: float, share: float) -> Work:
    """Kernels that limit the inputs of the experts' activations and that add biases to the experts' outputs.

    ``rows`` counts the rows of all experts of a rank; a ``share`` of both runs operation by operation.
    """
    limits = limit_work(shard, rows, share)
    if not share or not shard.model.expert_biases:
        return limits
    outputs = share * rows * shard.width / 2 * shard.model.expert_width
    there, back = (
        Kernel("biases of experts", 0.0, each * outputs, launches=2 + count * experts, role=Role.COUNTED)
        for each, count in zip(BIAS_BYTES, LAUNCHES, strict=True)
    )
    return limits + Work((there,), (back,))


def repeated_bias_work(shard: Shard, rows: float, share: float) -> Work:
    """Kernels that limit the inputs of the experts' activations, and those that repeat the biases of both products of
    an expert for each of its rows, add them, and sum their gradients.

    A gather repeats the biases, so that their gradients are sums into as many rows as a rank has experts, one atomic
    addition for each number.
    """
    limits, model = limit_work(shard, rows, share), shard.model
    if not share or not model.expert_biases:
        return limits
    inner = (2 if model.gated_ffn else 1) * model.expert_ffn_hidden / shard.expert_tp
    numbers = share * rows * shard.width / 2 * (inner + model.expert_width)
    repeats = Kernel("repeated biases", 0.0, 2 * numbers, launches=2 * REPEATS, role=Role.GATHER)
    added = Kernel("biases of experts", 0.0, REPEATED_BYTES * numbers, launches=2, role=Role.COUNTED)
    sums = Kernel("gradients of biases", 0.0, 3 * 2 * numbers, launches=2, role=Role.SCATTER)
    return limits + Work((repeats, added), (sums,))

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
LAUNCHES = (2.0, 5.0)
"""Kernels for the bias of each expert, forward and backward."""


def biased_expert_work(shard: Shard, rows: float, experts: float, share: float) -> Work:
    """Kernels that limit the inputs of the experts' activations and that add biases to the experts' outputs.

    ``rows`` counts the rows of all experts of a rank; a ``share`` of both runs operation by operation.
    """
    model, numbers = shard.model, share * rows * shard.width / 2
    work = Work()
    if share and model.limited_activation:
        inputs = numbers * (2 if model.gated_ffn else 1) * model.expert_ffn_hidden / shard.expert_tp
        forward, backward = (each * inputs for each in LIMIT_BYTES)
        work += streaming_work("limited activation", (forward, backward), 3, Role.COUNTED)
    if share and model.expert_biases:
        outputs = numbers * model.expert_width
        there, back = (
            Kernel("biases of experts", 0.0, each * outputs, launches=2 + count * experts, role=Role.COUNTED)
            for each, count in zip(BIAS_BYTES, LAUNCHES, strict=True)
        )
        work += Work((there,), (back,))
    return work

"""Kernels of models that run operation by operation: layer norms, activations, biases and scores of attention.

A root-mean-square norm, a rotation and a gate of transformers consist of many operations. PyTorch has one kernel for
``torch.nn.LayerNorm`` and one for ``torch.nn.GELU``, in each pass (aten/src/ATen/native/cuda/layer_norm_kernel.cu and
ActivationGeluKernel.cu).
"""

from __future__ import annotations

from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import KERNELS, Kernel, Role, Shard, Work, streaming_work
from clusterspec.cost.compute.layer import Parts

SCORE_PASSES = (
    assumed_figure(
        KERNELS,
        "scores.eager.forward",
        10.0,
        "reads and writes of scores of 16 bits that run operation by operation: scale, mask, and a softmax in fp32 with"
        " its cast (transformers, models/llama/modeling_llama.py)",
    ).value,
    assumed_figure(KERNELS, "scores.eager.backward", 10.0, "reads and writes of the gradients of these scores").value,
)
CAST_SCORE_PASSES = (
    assumed_figure(
        KERNELS,
        "scores.cast.forward",
        18.5,
        "the same under automatic casting: scale and mask, a cast to fp32, softmax and dropout in fp32, and a cast"
        " (karpathy/minGPT, mingpt/model.py)",
    ).value,
    assumed_figure(KERNELS, "scores.cast.backward", 20.5, "reads and writes of the gradients of these scores").value,
)


def eager_score_passes(shard: Shard) -> tuple[float, float]:
    """The reads and writes of the scores; automatic casting shows by fp32 weights that products read as copies."""
    return CAST_SCORE_PASSES if shard.copies_weights else SCORE_PASSES


def native_norm_work(shard: Shard, share: float) -> Work:
    """The ``share`` of two layer norms, two dropouts and two additions to the residual stream.

    A norm reads its input and writes its output; backward it reads the input and the gradient for the gradient of
    each, that of its weights in a second kernel. An addition reads two tensors and writes one; backward two gradients
    of the residual stream are added. Automatic casting leaves norms and sums in fp32: their outputs, and the gradients
    that leave the stream, are cast.
    """
    wide, narrow = shard.residual_width, shard.width
    cast = wide + narrow if wide > narrow else 0.0
    dropout = 2 * narrow + 1  # and a mask of one byte for each number
    forward = (2 * wide + cast) + dropout + (2 * wide + narrow)
    backward = (5 * wide + cast) + dropout + (3 * wide + cast)
    numbers = 2 * share * shard.rows * shard.model.hidden
    launches = share * (8 if cast else 6)
    return streaming_work("norms and residuals", (forward * numbers, backward * numbers), launches, Role.COUNTED)


def with_native_norms(parts: Parts, shard: Shard, share: float) -> Parts:
    """The parts of a layer with native norms and activations, and with the gradients of biases if these are trained;
    ``share`` as for `native_norm_work`. Models that no entry describes have biases, as GPT-2 has.
    """
    native = {name: _with_native_activation(work) for name, work in parts.items()}
    block = shard.model.block
    if shard.trainable is None and (block is None or block.bias == "all"):
        native = {name: work + bias_gradient_work(work, shard.width) for name, work in native.items()}
    return {**native, "norms": native_norm_work(shard, share)}


def _with_native_activation(work: Work) -> Work:
    """The work with activations that move what they read and write once."""
    return Work(*(tuple(_counted_activation(kernel) for kernel in part) for part in (work.forward, work.backward)))


def _counted_activation(kernel: Kernel) -> Kernel:
    return kernel._replace(role=Role.COUNTED) if kernel.name.endswith("activation") else kernel


def bias_gradient_work(work: Work, width: float) -> Work:
    """The sums of the gradients of outputs over the rows of each trained matrix, of ``width`` bytes a number: the
    gradients of biases, which products do not compute.
    """
    return Work(backward=tuple(_bias_kernel(k, width) for k in work.backward if k.role is Role.WEIGHT_GRADIENT))


def _bias_kernel(kernel: Kernel, width: float) -> Kernel:
    assert kernel.shape is not None
    _, rows, outputs, batch, *_ = kernel.shape
    return Kernel(f"{kernel.name}: bias", 0.0, width * rows * outputs * batch, role=Role.COUNTED)

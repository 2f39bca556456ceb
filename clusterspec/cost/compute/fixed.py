"""Kernel figures that apply to every accelerator and framework, each with its reason."""

from __future__ import annotations

from clusterspec.cost.constants import CONSTANTS, assumed

KERNELS = "kernels"
FIXED = CONSTANTS.setdefault(KERNELS, {})
"""All of these figures by name; a plan lists them among its assumptions."""


def _taken(name: str, value: float, why: str, unit: str = "1") -> float:
    return assumed(KERNELS, name, value, why, unit).value


TILES = (
    (256.0, 128.0, 1.0),
    (
        128.0,
        128.0,
        _taken(
            "tile.128x128",
            0.93,
            "rate of GEMMs in tiles of 128 × 128 over those in tiles of 256 × 128: operands are read a third more often"
            " (NVIDIA, Matrix Multiplication Background User's Guide)",
        ),
    ),
    (128.0, 64.0, _taken("tile.128x64", 0.8, "the same of tiles of 128 × 64: twice as often")),
)
"""Tiles of GEMM libraries: rows, columns, and the rate relative to the largest tile."""
DEPTH_START = _taken(
    "tile.depth", 50.0, "depth of a GEMM whose multiplication takes as long as filling and draining one tile"
)
LENGTH_START = _taken(
    "attention.length",
    500.0,
    "tokens of a sequence at which attention kernels reach half of the rate that they have on long ones"
    " (FlashAttention-2, arXiv 2307.08691, figure 5, about)",
)
SCORE_PASSES = (
    _taken(
        "scores.forward",
        4.5,
        "how often plain attention reads or writes its scores between the products: scale, mask and softmax read and"
        " write them, dropout reads and writes them and a mask of half their width (Megatron-LM, fused_softmax.py)",
    ),
    _taken("scores.backward", 5.5, "the same of the backward pass: the gradients of both read two and write one"),
)
LOSS_FORWARD = _taken(
    "loss.forward",
    0.6,
    "part of the loss's traffic that the forward pass moves: a cast, a maximum and a softmax against one product",
)
WEIGHT_SHARE = _taken(
    "backward.weights", 0.5, "part of a backward pass that computes weight gradients: one of two equal products"
)
SOFTMAX_BATCHES = 4
"""Fused softmax kernels of Megatron-LM and Apex need a multiple of this many score matrices on a rank (sequences of the
micro-batch times heads); else PyTorch's operations run one by one (Megatron-LM, fused_softmax.py, is_kernel_available).
"""
SOFTMAX_STEPS = _taken(
    "softmax.steps",
    4.0,
    "further operations of a softmax that is not fused: cast, scale, mask, softmax and cast instead of one"
    " (Megatron-LM, fused_softmax.py, forward_torch_softmax)",
)
SOFTMAX_PASSES = _taken(
    "softmax.passes",
    16.0,
    "further reads and writes of the scores, in 16 bits, that these operations make in 32 bits, either way",
)
NORM_PASSES = _taken(
    "norms.passes",
    10.0,
    "reads and writes of one row by two norms (one and one; backward two and one) and two additions to the residual"
    " stream with dropout (two and one; backward one and one)",
)
ROUTER_BYTES = _taken(
    "router.bytes", 12.0, "moved for each score of a token and an expert in fp32: softmax, choice, scatter", "B"
)
NARROW_LAUNCHES = _taken(
    "experts.narrow.launches",
    4.0,
    "kernels for each expert of a grouped product in 8 or 4 bits with scales for blocks, over one in 16 bits: its rows"
    " are narrowed, the scales of both operands reordered, then multiplied (Transformer Engine 2,"
    " pytorch/module/grouped_linear.py and common/gemm/cublaslt_gemm.cu)",
)
USUAL = {
    "matmul": _taken("usual.matmul", 0.75, "best GEMM over the peak, for accelerators without a figure"),
    "sustained": _taken(
        "usual.sustained", 0.9, "the share of it in training, likewise: the median of the accelerators with a figure"
    ),
    "attention": _taken("usual.attention", 0.45, "attention core over the peak, likewise"),
    "attention.backward": _taken("usual.attention.backward", 0.78, "backward core over the forward one, likewise"),
    "memory": _taken("usual.memory", 0.82, "streaming kernels over the memory bandwidth, likewise"),
}
FLASH_BACKWARD = _taken(
    "flash.backward",
    2.5,
    "products in the backward pass of flash attention over those of the forward pass: five over two, since it"
    " computes the scores again (FlashAttention-2, arXiv 2307.08691)",
)
FLASH_BACKWARD_TRAFFIC = _taken(
    "flash.backward.traffic",
    2.5,
    "the same of its reads and writes: queries, keys, values, outputs and their gradients",
)
ALTERNATE = _taken("recompute.alternate", 0.5, "part of a forward pass that runs again where every second one does")
CAST = _taken("usual.cast", 4.0, "bytes that narrowing one number moves, for stacks without a figure", "B")
LOSS = _taken("usual.loss", 12.0, "bytes that the loss moves for each logit, likewise", "B")

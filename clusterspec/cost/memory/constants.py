"""Constants of memory that no data sheet states, each with its range and its reason."""

from __future__ import annotations

from clusterspec.catalog.framework_memory import Spread
from clusterspec.cost.constants import assumed
from clusterspec.records import NamedTuple

GROUP = "memory"


def _spread(name: str, unit: str, values: tuple[float, float, float], why: str) -> Spread:
    """A constant with its low, typical and high value."""
    low, value, high = values
    return Spread(assumed(GROUP, name, value, why, unit), low, high)


COMMUNICATOR = _spread(
    "communicator",
    "B",
    (0.0, 0.25e9, 0.6e9),
    "buffers of one communicator: NCCL keeps 4 MiB and more for each channel and peer (NCCL_BUFFSIZE)",
)
ROUTING = _spread("routing", "1", (1.0, 1.0, 1.5), "tokens spread evenly over the experts")


class Range(NamedTuple):
    """The factors from a predicted size to the ends of its range, and their reason."""

    low: float
    high: float
    why: str


_TENSORS = Range(0.9, 1.1, "frameworks differ in the tensors of a layer that they save: ±10 %, by judgment")
_GATHERS = Range(0.5, 1.5, "the number of layers gathered at a time depends on prefetching; by judgment")
RANGES = {
    "normalizations": _TENSORS,
    "dropout masks": Range(0.0, 1.0, "no dropout masks without dropout"),
    "attention": _TENSORS,
    "quantized attention output": _TENSORS,
    "softmax": _TENSORS,
    "scores": Range(0.4, 1.1, "fused kernels store two of the five bytes per score, unfused ones an additional copy"),
    "attention gate": _TENSORS,
    "compressed latents": _TENSORS,
    "sparse index": Range(0.5, 1.5, "kernels store the selected tokens or select them again"),
    "linear attention": Range(0.7, 1.4, "kernels differ in the inputs and outputs of the convolution that they store"),
    "latents": _TENSORS,
    "expanded latents": _TENSORS,
    "attention output": _TENSORS,
    "feed-forward": _TENSORS,
    "shared experts": _TENSORS,
    "router": _TENSORS,
    "experts": Range(0.9, 1.4, "the fullest rank has more tokens than the mean, up to 1.5 times with a capacity limit"),
    "layer inputs": Range(1.0, 1.1, "some layers have a copy in another precision; by judgment"),
    "layer outputs": Range(1.0, 1.1, "as layer inputs"),
    "projections": Range(0.8, 2.0, "recipes also save the attention output, or save less"),
    "pipeline buffers": Range(0.5, 1.1, "inputs are freed if the first layer stores them itself"),
    "outputs kept": Range(0.5, 1.0, "one of the copies may be freed earlier"),
    "placeholders": Range(0.0, 1.0, "needed only by fused weight-gradient kernels"),
    "gathered tables": Range(0.5, 1.0, "a tied or sharded table is gathered in part"),
    "gathered layers": _GATHERS,
    "layer being reduced": Range(0.3, 1.5, "reduced in buckets smaller than a layer, or with those of the next layer"),
    "working space": Range(0.6, 1.4, "gradients stored at once depend on the order of kernels; by judgment"),
    "context exchange": Range(0.5, 1.0, "gradients are sent only in the backward pass"),
    "buckets": Range(0.25, 1.0, "buffers are allocated on first use"),
    "step activations": Range(0.5, 1.5, "kernels of serving frameworks fuse more or less, by judgment"),
}
"""The uncertainty range of each size; a size without an entry follows from counts exactly."""
FACTOR_RANGES = {
    "every_second": Range(0.2, 1.6, "the share of checkpointed layers is set by users, from one fifth to four fifths"),
}
"""The uncertainty range by a factor of the size; it precedes that of the size's name."""
for _name, _range in (RANGES | FACTOR_RANGES).items():
    for _end, _factor in (("low", _range.low), ("high", _range.high)):
        assumed(GROUP, f"range.{_name.replace(' ', '_')}.{_end}", _factor, _range.why)

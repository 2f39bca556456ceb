"""The behavior of a generation of training software, as the numbers that kernels are built with."""

from __future__ import annotations

from clusterspec.catalog.stacks import Stack
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import KERNELS
from clusterspec.records import dataclass

CAST = assumed_figure(
    KERNELS, "usual.cast", 4.0, "bytes moved to quantize one number, for stacks without a figure", "B"
).value
LOSS = assumed_figure(
    KERNELS, "usual.loss", 12.0, "bytes that the loss moves for each logit, for stacks without a figure", "B"
).value


@dataclass(frozen=True)
class SoftwareBehavior:
    """The figures of one stack (`catalog.entries.Stack`) as floats.

    Of kernels: ``products`` the rate of GEMMs over the best that the accelerator sustains; ``grouped`` that of the
    experts' GEMMs over it; ``fusion`` the traffic of fully fused memory-bound kernels over that of its own kernels,
    ``routing`` the same for the kernels that route tokens, beside gathers and sums of rows, ``copies`` for each
    permutation, ``placements`` of rows in a layer, and ``biases`` the share of the biases and limits of experts that
    kernels of their own apply; ``small_kernels`` the launches for scores and counts in a layer of experts, forward and
    backward, which move next to nothing; ``cast`` bytes moved to convert one number, ``accumulation`` to add one
    weight's gradient to an fp32 sum, ``loss`` per logit.

    Of the host: ``interval`` seconds between launches, ``interval_expert`` for each expert of a grouped GEMM where it
    launches experts one by one, which captured graphs leave to it, since routing decides on the rows of each (scopes of
    graphs in Megatron Bridge 0.5, scripts/performance/utils/overrides.py); ``gap`` seconds that the device idles at
    each launch, ``step`` fixed seconds per step.

    Of communication: ``tensor_hidden`` the share of tensor-parallel traffic that it pipelines with the GEMMs around it;
    ``gather`` the rate of fully sharded weights and gradients over that of the same collectives otherwise;
    ``interference`` the share of the device that overlapped traffic takes; ``unevenness`` the spread of the loads of
    single experts; ``jitter`` the mean delay of one node relative to its step.
    """

    stack: Stack
    products: float
    grouped: float
    fusion: float
    routing: float
    copies: float
    placements: float
    small_kernels: tuple[float, float]
    biases: float
    cast: float
    accumulation: float
    loss: float
    interval: float
    interval_expert: float
    gap: float
    step: float
    tensor_hidden: float
    gather: float
    interference: float
    unevenness: float
    jitter: float

    @classmethod
    def of(cls, stack: Stack) -> SoftwareBehavior:
        """The stack's figures; a figure that its entry lacks adds no cost."""

        def figure(name: str, otherwise: float) -> float:
            found = stack.achievable.get(name)
            return otherwise if found is None else found.value

        return cls(
            stack=stack,
            products=figure("products", 1.0),
            grouped=figure("products.grouped", 1.0),
            fusion=_fusion(stack.fused, figure("fusion", 1.0)),
            routing=figure("fusion.routing", 1.0),
            copies=figure("routing.copies", 0.0),
            placements=figure("routing.placements", 0.0),
            small_kernels=(figure("routing.launches", 0.0), figure("routing.launches.backward", 0.0)),
            biases=0.0 if stack.fused else figure("routing.biases", 0.0),
            cast=figure("cast", CAST),
            accumulation=figure("accumulation", 0.0),
            loss=_loss(stack.loss, figure("loss", LOSS)),
            interval=0.0 if stack.captured else figure("launch.interval", 0.0),
            interval_expert=figure("launch.expert", 0.0),
            gap=0.0 if stack.captured else figure("launch.gap", 0.0),
            step=figure("step", 0.0),
            tensor_hidden=figure("hidden.tensor", 0.0),
            gather=figure("gather", 1.0),
            interference=figure("interference", 0.0),
            unevenness=figure("unevenness", 0.0),
            jitter=figure("jitter", 0.0),
        )

    @property
    def kernel_figures(self) -> tuple[float, ...]:
        """The figures on which the kernels of a layer depend, at given rates."""
        routed = self.routing, self.copies, self.placements, *self.small_kernels, self.biases, self.unevenness
        return self.fusion, *routed, self.cast, self.accumulation

    @property
    def part_figures(self) -> tuple[object, ...]:
        """The figures on which the time of a part of a model depends, at given rates and overlap."""
        host = self.interval, self.interval_expert, self.gap
        return *self.kernel_figures, self.loss, *host, self.interference, self.stack.selective

    def overlaps(self, axis: str) -> bool:
        """Whether it can overlap this communication with computation."""
        return axis in self.stack.hides


FUSED = assumed_figure(
    "kernels",
    "fusion.fused",
    0.67,
    "traffic of fully fused memory-bound kernels over that of kernels fused by a compiler or by hand: the prior of the"
    " fits of tuned stacks",
)
EAGER = assumed_figure(
    "kernels",
    "fusion.eager",
    0.2,
    "the same where PyTorch runs each operation by itself: of the norms in fp32, rotary embeddings, gates and additions"
    " of the Llama of transformers 4.34, fused kernels move 0.21 to 0.26 of its traffic; a step of LitGPT implies 0.18",
)


FUSED_LOSS = assumed_figure(
    "kernels",
    "loss.fused",
    10.0,
    "bytes that a fused loss moves for one logit: 16 bits read for their maximum and sum, read again and written as the"
    " gradient, which is scaled in place (Liger Kernel, ops/cross_entropy.py); by count",
    "B",
)


def _loss(kind: str | None, usual: float) -> float:
    """Bytes that the loss moves for one logit, both ways; ``usual`` where nothing is stated or the loss is plain."""
    return usual if kind in (None, "plain") else min(usual, FUSED_LOSS.value)


def _fusion(fused: bool | None, usual: float) -> float:
    """Traffic of fully fused memory-bound kernels relative to fused, eager, or (None) ``usual`` kernels."""
    if fused is None:
        return usual
    return max(usual, FUSED.value) if fused else min(usual, EAGER.value)

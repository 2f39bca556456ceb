"""The behavior of a generation of training software, as the numbers that kernels are built with."""

from __future__ import annotations

from clusterspec.catalog.entries import Stack
from clusterspec.cost.compute.fixed import CAST, LOSS
from clusterspec.records import dataclass


@dataclass(frozen=True, slots=True)
class SoftwareBehavior:
    """The figures of one stack (`catalog.entries.Stack`) as floats.

    Of kernels: ``products`` the rate of GEMMs over the best that the accelerator sustains; ``grouped`` that of the
    experts' GEMMs over it; ``fusion`` the traffic of fully fused memory-bound kernels over that of its own kernels,
    ``routing`` the same for the kernels that route tokens; ``cast`` bytes moved to convert one number, ``accumulation``
    to add one weight's gradient, ``loss`` per logit.

    Of the host: ``interval`` seconds between launches, ``interval_expert`` for each expert of a grouped GEMM where it
    launches experts one by one, ``gap`` seconds that the device idles at each launch, ``step`` fixed seconds per step.

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
            fusion=figure("fusion", 1.0),
            routing=figure("fusion.routing", 1.0),
            cast=figure("cast", CAST),
            accumulation=figure("accumulation", 0.0),
            loss=figure("loss", LOSS),
            interval=figure("launch.interval", 0.0),
            interval_expert=figure("launch.expert", 0.0),
            gap=figure("launch.gap", 0.0),
            step=figure("step", 0.0),
            tensor_hidden=figure("hidden.tensor", 0.0),
            gather=figure("gather", 1.0),
            interference=figure("interference", 0.0),
            unevenness=figure("unevenness", 0.0),
            jitter=figure("jitter", 0.0),
        )

    def hides(self, axis: str) -> bool:
        """Whether it can overlap this communication with computation."""
        return axis in self.stack.hides

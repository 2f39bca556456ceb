"""The matrix products of an optimizer that makes the update of each matrix orthogonal, as Muon does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost import assumed_figure
from clusterspec.cost.compute import GemmShape, Kernel, Role, Shard, gemm_kernel
from clusterspec.cost.compute.layer import SoftwareBehavior, layer_parts
from clusterspec.cost.compute.rates import Speed
from clusterspec.cost.formulas import pipeline
from clusterspec.cost.layers import model_layers
from clusterspec.cost.parameters import model_weights
from clusterspec.cost.step import NO_PRODUCTS, UpdateProducts
from clusterspec.cost.term import Term, computed_figure, leaf_term
from clusterspec.quantity import Figure
from clusterspec.records import replace
from clusterspec.standard import recent, sum_of

ITERATIONS = assumed_figure(
    "update",
    "orthogonal.iterations",
    5.0,
    "Newton-Schulz iterations of Muon on one matrix, in 16 bits, one matrix after another: the default of torch.optim"
    " (_muon.py, DEFAULT_NS_STEPS) and of Megatron-LM (--muon-num-ns-steps)",
)


def update_products(workload: Workload, layout: Layout, software: SoftwareBehavior, speed: Speed) -> UpdateProducts:
    """The products of the update by a mean over the weights of the model; those of adapters are not counted."""
    if workload.trainable is not None:
        return NO_PRODUCTS
    whole = replace(layout, tp=1, cp=1, pp=1, ep=1, expert_tp=1, micro_batch=1, sequence_parallel=False)
    return _mean_products(workload, whole, software, speed)


@recent(4)
def _mean_products(workload: Workload, whole: Layout, software: SoftwareBehavior, speed: Speed) -> UpdateProducts:
    found = [
        (number * kernel.flops, number * speed.seconds(kernel))
        for (rows, columns), number in matrix_counts(workload, whole, software).items()
        for kernel in orthogonal_kernels(rows, columns)
    ]
    flops, seconds = (ITERATIONS.value * sum_of(each) for each in zip(*found, strict=True))
    return UpdateProducts(flops / model_weights(workload.model).total, flops / seconds)


def matrix_counts(workload: Workload, whole: Layout, software: SoftwareBehavior) -> Counter[tuple[float, float]]:
    """The number of matrices of each shape in all layers; ``whole`` is a layout without tensor and expert parallelism.
    Embedding and head, which Muon leaves to Adam, are not among them.
    """
    found: Counter[tuple[float, float]] = Counter()
    for layer, layers in Counter(model_layers(workload.model)).items():
        shard = Shard.of(workload, whole, layer.mixer, layer.wide)
        for work in layer_parts(layer.network, shard, software).values():
            for kernel in work.backward:
                if kernel.role is Role.WEIGHT_GRADIENT and kernel.shape:
                    found[kernel.shape.m, kernel.shape.n] += layers * int(kernel.shape.batch)
    return found


def orthogonal_kernels(rows: float, columns: float) -> Iterator[Kernel]:
    """The products of one iteration, X (m × n) with m ≤ n: A = X Xᵀ, A A, and a polynomial of A times X.

    Source: Jordan, "Muon: An optimizer for hidden layers in neural networks", 2024, kellerjordan.github.io/posts/muon.
    """
    m, n = sorted((rows, columns))
    for name, shape in (("gram", (m, n, m)), ("square", (m, m, m)), ("polynomial", (m, m, n))):
        yield gemm_kernel(f"orthogonal {name}", GemmShape(*shape), "bf16")


def products_term(products: UpdateProducts, weights: Figure, offloaded: Figure) -> Term:
    """The seconds of the products of an update."""
    inputs = {
        "weights": weights,
        "flops_each": computed_figure(products.flops, "operations of all matrices / weights of the model"),
        "rate": computed_figure(products.rate, "operations / seconds of these products", "FLOP/s"),
        "offloaded": offloaded,
    }
    return leaf_term("update_products", pipeline.orthogonal_update_time, inputs)

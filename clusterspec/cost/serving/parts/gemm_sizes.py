"""The weights of each dense GEMM of a layer on one rank, as larger GEMMs reach more of the peak, and their scales."""

from __future__ import annotations

from clusterspec.catalog.models import Model
from clusterspec.cost.formulas.memory import share_of_heads
from clusterspec.cost.layers import Chunk, Mixer, model_of_mixer
from clusterspec.cost.serving.rates import KernelRates
from clusterspec.records import NamedTuple
from clusterspec.standard import sum_of


class Products(NamedTuple):
    """GEMMs of equal size: the ``weights`` of each on one rank, and their ``number`` in one pass through all layers.

    An all-reduce over the tensor-parallel ranks follows each of them if they are ``reduced``. Each element of a result
    is a sum of ``depth`` products; 0 where it is not known, and where other kernels run at the same time.
    """

    weights: float
    number: float
    reduced: bool = False
    depth: float = 0.0


def dense_products(model: Model, whole: Chunk, tp: int, *, weights: float, gemms: float) -> tuple[Products, ...]:
    """The GEMMs of all layers on one of ``tp`` ranks, those of routed experts excluded: ``gemms`` with ``weights`` in
    all.

    As engines combine them: queries with keys and values, gate with up projection (vLLM, QKVParallelLinear and
    MergedColumnParallelLinear), both compressions of latent attention. The GEMMs of linear and compressed attention
    count as equally large.
    """
    found = _known_products(model, whole, tp)
    others, number = (
        weights - sum_of(each.weights * each.number for each in found),
        gemms - sum_of(each.number for each in found),
    )
    return (*found, Products(others / number, number)) if others > 0 and number > 0 else found


def _known_products(model: Model, whole: Chunk, tp: int) -> tuple[Products, ...]:
    kinds = () if model.compressed else ((Mixer.FULL, whole.full_layers), (Mixer.WINDOW, whole.window_layers))
    attention = (
        Products(weights, float(layers), reduced, depth)
        for mixer, layers in kinds
        if layers
        for weights, reduced, depth in _attention_products(model_of_mixer(model, mixer), tp)
    )
    networks = ((model.ffn_hidden, whole.dense_layers, True), (model.shared_width, whole.moe_layers, False))
    dense = (
        Products(float(matrices * model.hidden * width) / tp, float(layers), alone and last, depth if alone else 0.0)
        for width, layers, alone in networks  # shared experts run in parallel with routed ones
        if width and layers
        for matrices, last, depth in ((model.ffn_matrices - 1, False, float(model.hidden)), (1, True, width / tp))
    )
    return (*attention, *dense)


def _attention_products(model: Model, tp: int) -> tuple[tuple[float, bool, float], ...]:
    """The weights of each GEMM of one layer with softmax attention, whether an all-reduce follows, and its depth."""
    heads, keys = share_of_heads(model.heads, tp), share_of_heads(model.kv_heads, tp)
    output = (heads * model.value_width * model.hidden, True, heads * model.value_width)
    hidden = float(model.hidden)
    if not model.latent:
        widths = heads * model.head_dim + keys * (model.head_dim + model.value_width)
        return (hidden * widths, False, hidden), output
    queries = (model.latent_q or model.hidden) * heads * (model.head_dim + model.latent_rope)
    compressions = hidden * (model.latent_q + model.latent_kv + model.latent_rope)
    absorbed = ((heads * model.latent_kv * width, False, 0.0) for width in (model.head_dim, model.value_width))
    return (compressions, False, hidden), (queries, False, float(model.latent_q or hidden)), *absorbed, output


def has_scaled_blocks(model: Model, precision: str) -> bool:
    """Whether blocks of weights have scales in the GEMMs of a precision, as in a checkpoint trained in 8 bits."""
    return precision == "fp8" == model.checkpoint_precision and bool(model.fp8_block)


def sizes_share(rates: KernelRates, precision: str, products: tuple[Products, ...], software: str) -> float:
    """The rate of all GEMMs in ``precision`` together, relative to the median shape, from their sizes."""
    work = sum_of(each.weights * each.number for each in products)
    lasting = sum_of(
        each.weights * each.number / rates.weights_share(precision, each.weights, software) for each in products
    )
    return work / lasting if lasting else 1.0

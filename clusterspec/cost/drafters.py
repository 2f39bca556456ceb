"""Weights and cache for drafting tokens: modules of multi-token prediction, layers of EAGLE, heads of Medusa."""

from __future__ import annotations

from clusterspec.catalog.models import Model, TokenPrediction
from clusterspec.cluster.model import Layout, Workload
from clusterspec.cost.formulas import memory
from clusterspec.cost.layers import Chunk, FeedForward, Layer, Mixer
from clusterspec.cost.mixers import sequence_cache
from clusterspec.cost.parameters import StoredWeights, model_weights
from clusterspec.quantity import precision_width
from clusterspec.records import replace

DRAFT_WEIGHTS, DRAFT_EXPERTS = "draft weights", "draft experts"
PUBLISHED_WIDTH = 2.0
"""Bytes per weight of published draft heads and layers, which are trained after the model itself."""


def drafter_weights(work: Workload, layout: Layout) -> tuple[StoredWeights, ...]:
    """The weights that draft tokens on a rank of the last stage; empty if nothing drafts or the size is unknown.

    A module of multi-token prediction has a layer of the model and a projection of two hidden states, in the precisions
    of the model; its embedding and its head are those of the model. A layer of EAGLE has the same with a dense network,
    in 16 bits. Medusa has a square matrix and a head of its own for each drafted token. n-gram matches have no weights;
    no key states the size of a separate draft model.

    Source: DeepSeek-V3, arXiv 2412.19437, section 2.2; EAGLE, arXiv 2401.15077, section 3.1; Medusa, arXiv 2401.10774,
    section 2.1.1.
    """
    method, model = _method(work), work.model
    if method == "medusa":
        drafts = work.serving.draft_tokens if work.serving is not None else 0
        heads = drafts * (model.hidden * model.hidden + model.hidden * model.vocab)
        return (StoredWeights(DRAFT_WEIGHTS, heads / layout.tp, PUBLISHED_WIDTH),)
    if method == "eagle":
        layer = model_weights(replace(model, prediction=TokenPrediction(1, "dense"))).prediction
        return (StoredWeights(DRAFT_WEIGHTS, (layer + _network_without_dense(model)) / layout.tp, PUBLISHED_WIDTH),)
    if method != "mtp":
        return ()
    part = _modules(model)
    whole = model_weights(replace(model, prediction=part))
    experts = part.layers * model.experts * whole.expert if part.ffn == "experts" else 0.0
    dense = StoredWeights(
        DRAFT_WEIGHTS, (whole.prediction - experts) / layout.tp, precision_width(work.parameter_precision)
    )
    if not experts:
        return (dense,)
    width = precision_width(work.expert_parameter_precision)
    return dense, StoredWeights(DRAFT_EXPERTS, experts / (layout.ep * layout.expert_tp), width)


def drafter_cache_bytes(work: Workload, tokens: float, ranks: int) -> float:
    """Bytes of keys and values of the drafting layers for a sequence of ``tokens`` tokens on one of ``ranks`` ranks; 0
    for Medusa heads and n-gram matches.
    """
    method, model = _method(work), work.model
    layers = _modules(model).layers if method == "mtp" else 1 if method == "eagle" else 0
    if not layers or not model.attention_layers:
        return 0.0
    layer = Layer(Mixer.FULL if model.full_layers else Mixer.WINDOW, FeedForward.NONE)
    kept = sequence_cache(model, (Chunk.of((layer,) * layers, first=False, last=False),), tokens, ranks)
    return kept.stored_bytes(work.kv_precision).total


def _method(work: Workload) -> str | None:
    """The method by which a plan drafts tokens; None if it drafts none."""
    load = work.serving
    return load.drafter if load is not None and load.draft_tokens else None


def _modules(model: Model) -> TokenPrediction:
    """The multi-token prediction modules of a model; if its entry has none, one module like the model's layers."""
    return model.prediction or TokenPrediction(1, "experts" if model.experts else "dense")


def _network_without_dense(model: Model) -> float:
    """The weights that a token uses in an expert layer, if the model has no dense network whose size a drafting layer
    could have; else 0.
    """
    if model.ffn_hidden:
        return 0.0
    whole = model_weights(model)
    return whole.shared + whole.experts_per_token * whole.expert


def drafter_bytes(work: Workload, layout: Layout) -> float:
    """Bytes of `drafter_weights`."""
    return float(sum(memory.sharded_bytes(kind.weights, kind.width, 1.0) for kind in drafter_weights(work, layout)))

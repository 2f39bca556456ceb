"""What a design uses, in the words of the support matrix (`catalog.support`)."""

from __future__ import annotations

from collections.abc import Iterator

from clusterspec.catalog.models import Model
from clusterspec.cluster.model import Cluster, Layout, Serving, Workload

FULL_SHARDING = frozenset({"fsdp", "hsdp"})
_SHARDED = {"none": "unsharded"}


def settings(cluster: Cluster, workload: Workload | None, layout: Layout) -> frozenset[str]:
    """The uses that search does not vary: those of the machine, the workload and the settings of the layout."""
    found = {cluster.accelerator.architecture, layout.cp_method, *_settings_of_layout(layout)}
    if workload is not None:
        found |= {*_settings_of_workload(workload), *model_uses(workload.model)}
        found |= {*_settings_of_serving(workload.serving)} if workload.serving else set()
        if workload.kind == "train":
            found |= {f"master-{layout.master_precision}", f"moments-{layout.moments_precision}"}
    return frozenset(found - {""})


def _settings_of_layout(layout: Layout) -> Iterator[str]:
    yield {"deepep": "deepep", "hybrid": "hybrid-dispatcher"}.get(layout.dispatcher.kind, "")
    yield "optimizer-offload" if layout.offload_optimizer else ""
    yield "activation-offload" if layout.offload_activations else ""
    yield "tp-overlap" if layout.overlap.tp == "full" else ""


def _settings_of_workload(workload: Workload) -> Iterator[str]:
    yield workload.kind
    yield f"precision-{workload.precision}"
    yield f"weights-{workload.parameter_precision}"
    yield f"expert-weights-{workload.expert_parameter_precision}" if workload.model.experts else ""
    yield f"recipe-{workload.recipe}" if workload.recipe else ""
    yield f"quantization-{workload.quantization}" if workload.quantization else ""
    yield "plain-attention" if workload.attention == "plain" else ""
    if workload.kind == "train":
        yield f"optimizer-{workload.optimizer}"
        yield f"gradients-{workload.gradient_precision}"
    else:
        yield f"cache-{workload.kv_precision}"


def model_uses(model: Model) -> Iterator[str]:
    """The uses that follow from a model: its kinds of attention, its experts, its head."""
    yield "experts" if model.experts else ""
    yield "latent-attention" if model.latent else ""
    yield "compressed-attention" if model.compressed else ""
    yield "sparse-attention" if model.sparse else ""
    yield "linear-attention" if model.linear else ""
    yield "sliding-window" if model.window else ""
    yield "tied-embeddings" if model.tied_embeddings else ""
    yield "token-prediction" if model.prediction else ""
    grouped = not model.latent and not model.compressed and 0 < model.kv_heads < model.heads
    yield "grouped-query-attention" if grouped else ""


def _settings_of_serving(serving: Serving) -> Iterator[str]:
    if serving.draft_tokens:
        yield "speculation"
        yield f"speculation-{serving.draft_method}" if serving.draft_method else ""
    yield "prefix-cache" if serving.prefix_hit else ""
    yield "disaggregation" if serving.prefill else ""


def sharding_use(sharding: str) -> str:
    """The use that a sharding is; empty where it is not decided."""
    return _SHARDED.get(sharding, sharding)


def recomputation_uses(recompute: str | tuple[str, ...]) -> Iterator[str]:
    """The uses that a recomputation is; none where it is not decided."""
    if recompute and recompute != "none":
        yield "recomputation"
    if recompute == "full":
        yield "full-recomputation"
